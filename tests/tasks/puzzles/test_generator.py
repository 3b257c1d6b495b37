"""Generated puzzles: solvable, reproducible, with hints that single out each strike."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import SettingError
from groundling.tasks.puzzles import generate_corpus, read_corpus
from groundling.tasks.puzzles.board import Board, Strike
from groundling.tasks.puzzles.environment import PuzzleEnvironment
from groundling.tasks.puzzles.generator import (
    cardinal,
    generate_puzzle,
    hint_for,
    ordinal,
    write_hints,
)
from groundling.world import CachedEnvironment
from tools.corpus_files import write_puzzles


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10**6), st.data())
def test_generated_puzzle_is_solved_by_its_plan(height, width, seed, data):
    k = data.draw(st.integers(1, max(height, width)))
    density = data.draw(st.sampled_from([0.2, 0.6, 1.0]))
    puzzle = generate_puzzle(height, width, k, seed=seed, density=density)
    world = CachedEnvironment(PuzzleEnvironment())
    trace = world.trace(puzzle.start, puzzle.plan)
    assert puzzle.board.blocks > 0
    assert world.is_goal(trace.states[-1])
    assert len(puzzle.hints) == len(puzzle.plan)


def test_generate_same_seed_same_puzzle():
    first, again, other = (generate_puzzle(7, 6, 3, seed=seed) for seed in (5, 5, 6))
    assert first == again != other


def test_generate_partial_share_makes_longer_lines():
    def parts(share):
        puzzles = [generate_puzzle(8, 8, 3, seed=s, partial=share) for s in range(10)]
        return sum(action.kind == "partial" for each in puzzles for action in each.plan)

    assert parts(0.0) < parts(1.0)


def test_generated_corpus_round_trip(tmp_path):
    corpus = generate_corpus(12, seed=3, sizes=(2, 7))
    write_puzzles(corpus, tmp_path)
    assert read_corpus(tmp_path) == corpus
    assert len(corpus.usable) == 12


def test_generate_large_board():
    puzzle = generate_puzzle(30, 30, 5, seed=1, density=0.3)
    assert puzzle.board.blocks == 270


@pytest.mark.parametrize(
    "wrong",
    [
        {"height": 0},
        {"k": 0},
        {"k": 6},
        {"density": 1.5},
        {"partial": -1},
    ],
)
def test_generate_bad_settings(wrong):
    given_settings = {"height": 4, "width": 5, "k": 2, "seed": 0, **wrong}
    with pytest.raises(SettingError):
        generate_puzzle(**given_settings)


def test_generate_corpus_bad_settings():
    with pytest.raises(SettingError, match=r"`sizes` must .* got \(5, 3\)"):
        generate_corpus(3, seed=0, sizes=(5, 3))


def test_numbers_in_words():
    assert [cardinal(n) for n in (0, 13, 20, 99)] == ["zero", "thirteen", "twenty", "ninety-nine"]
    assert [ordinal(n) for n in (2, 5, 9, 19, 30, 41)] == [
        "second",
        "fifth",
        "ninth",
        "nineteenth",
        "thirtieth",
        "forty-first",
    ]
    with pytest.raises(SettingError, match="100"):
        cardinal(100)


def test_hints_single_out_parts():
    board = Board.read(["######", "......"])
    said = {
        hint_for(board, 2, Strike("row", (0,), first, first + 1), random.Random(0))
        for first in range(5)
    }
    assert said == {
        "the left two off the top row",
        "the left two but one off the top row",
        "the middle two off the top row",
        "the right two but one off the top row",
        "the right two off the top row",
    }


def test_hints_single_out_lines():
    board = Board.read(["##....", "##....", "..##..", "....##", "...##."])

    def said(*lines):
        return hint_for(board, 2, Strike("row", lines), random.Random(3))

    assert said(0) == "the top row"
    assert said(3) == "the second row from the bottom"
    assert said(0, 1).startswith("the top two rows")
    assert said(3, 4).startswith("the bottom two rows")
    assert said(0, 2, 4) == "rows one three and five"
    assert said(0, 1, 2, 3, 4).startswith("the five rows")


def test_write_hints_keeps_the_marks_for_splitting():
    board = Board.read(["##", "##"])
    assert write_hints(board, 2, [Strike("row", (0, 1))], random.Random(0)).endswith(" .")
