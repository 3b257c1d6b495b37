"""Grounded SCAN: commands on a grid of coloured shapes, with held-out combinations."""

from groundling.tasks.gscan.corpus import Example, read_corpus
from groundling.tasks.gscan.environment import Command, Grid, GridThing, GscanEnvironment

__all__ = ["Command", "Example", "Grid", "GridThing", "GscanEnvironment", "read_corpus"]
