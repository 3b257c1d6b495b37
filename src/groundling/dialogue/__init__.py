"""Dialogue: describing plans, prediction sets, clarification questions and answers."""
