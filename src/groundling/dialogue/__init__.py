"""Dialogue: prediction sets, clarification questions, answers and descriptions."""
