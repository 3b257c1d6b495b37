"""Automatic settings: a data profile, a table of configurations, and a race."""
