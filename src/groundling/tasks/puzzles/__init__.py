"""Puzzles: hints that solve Crossblock boards."""
