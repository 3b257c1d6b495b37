"""Checks for problems in trained models, and explanations of mistakes."""
