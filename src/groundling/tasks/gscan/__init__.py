"""Grounded SCAN: commands on a grid, with held-out combinations."""

from groundling.tasks.gscan.corpus import GscanExample, read_corpus
from groundling.tasks.gscan.environment import Grid, GridThing, GscanCommand, GscanEnvironment

__all__ = ["Grid", "GridThing", "GscanCommand", "GscanEnvironment", "GscanExample", "read_corpus"]
