"""Puzzles: Crossblock boards that are solved by following hints."""

from groundling.tasks.puzzles.board import Board, Strike
from groundling.tasks.puzzles.corpus import Puzzle, read_corpus
from groundling.tasks.puzzles.environment import PuzzleEnvironment
from groundling.tasks.puzzles.generator import generate_corpus
from groundling.tasks.puzzles.planner import Planner, is_winnable, solve

__all__ = [
    "Board",
    "Planner",
    "Puzzle",
    "PuzzleEnvironment",
    "Strike",
    "generate_corpus",
    "is_winnable",
    "read_corpus",
    "solve",
]
