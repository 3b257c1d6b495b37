"""Puzzles: Crossblock boards that are solved by following hints."""

from groundling.tasks.puzzles.board import Board, Strike
from groundling.tasks.puzzles.board_drawing import draw_puzzle
from groundling.tasks.puzzles.corpus import Puzzle, PuzzleCorpus, read_corpus, write_corpus
from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState
from groundling.tasks.puzzles.generator import generate_corpus, generate_puzzle
from groundling.tasks.puzzles.planner import Planner, SearchBudget, Verdict, is_winnable, solve

__all__ = [
    "Board",
    "Planner",
    "Puzzle",
    "PuzzleCorpus",
    "PuzzleEnvironment",
    "PuzzleState",
    "SearchBudget",
    "Strike",
    "Verdict",
    "draw_puzzle",
    "generate_corpus",
    "generate_puzzle",
    "is_winnable",
    "read_corpus",
    "solve",
    "write_corpus",
]
