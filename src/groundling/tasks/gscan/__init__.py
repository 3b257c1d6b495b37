"""Grounded SCAN: commands on a grid, with held-out combinations."""
