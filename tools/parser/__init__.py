"""Trains the parser that ships with the package, and measures it."""
