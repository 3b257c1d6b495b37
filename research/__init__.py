"""Dated notes on how settings were chosen, with their scripts; not part of the package."""
