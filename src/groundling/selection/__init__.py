"""Automatic settings: facts about the data, a table of configurations, and a race between them."""
