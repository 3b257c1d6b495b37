"""Checks: what cannot work in what was learnt, and why demonstrations go wrong."""
