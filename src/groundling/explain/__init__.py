"""Explanations of plans: data, figures and text."""
