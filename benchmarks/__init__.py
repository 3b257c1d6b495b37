"""Benchmarks of speed and accuracy, run from the root of the repository."""
