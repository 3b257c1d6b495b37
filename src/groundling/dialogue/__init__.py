"""Dialogue: descriptions, prediction sets, clarification questions and answers."""
