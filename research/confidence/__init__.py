"""Accuracy of confidence on the tasks."""
