"""Custom components for Home Assistant: Groundling."""
