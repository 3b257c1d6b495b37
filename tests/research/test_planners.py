"""Plain searches, and the command that compares them with the planner."""

import json
import random

import pytest

from groundling.errors import SettingError
from groundling.tasks.puzzles import Board
from groundling.tasks.puzzles.board import strike
from groundling.tasks.puzzles.generator import generate_puzzle
from groundling.tasks.puzzles.planner import SearchBudget
from research.planners.compare import compare, main, spoil, stress, summarise
from research.planners.searches import beam_search, depth_first, read_hints, widening_beam

BUDGET = SearchBudget(nodes=2000, seconds=None)


def cleared(board, k, strikes):
    for action in strikes:
        board = strike(board, k, action)
    return not board.cells


@pytest.mark.parametrize("search", [depth_first, beam_search, widening_beam])
def test_rivals_solve_small_puzzles(search):
    puzzle = generate_puzzle(4, 4, 2, seed=3)
    verdict = search(puzzle.board, 2, BUDGET)
    assert verdict.status == "solved"
    assert cleared(puzzle.board, 2, verdict.strikes)


def test_depth_first_proves_by_exhaustion():
    assert depth_first(Board.read(["##.", "..#"]), 2, BUDGET).status == "unsolvable"


def test_beam_never_claims_a_proof():
    assert beam_search(Board.read(["##.", "..#"]), 2, BUDGET).status == "budget exhausted"


def test_rivals_say_when_the_budget_runs_out():
    board = generate_puzzle(10, 10, 5, seed=1, density=0.8).board
    for search in (depth_first, beam_search, widening_beam):
        verdict = search(board, 5, SearchBudget(nodes=20, seconds=None))
        assert (verdict.status, verdict.nodes) == ("budget exhausted", 20)


def test_hints_let_a_narrow_beam_solve_more():
    puzzles = [generate_puzzle(7, 7, 3, seed=seed) for seed in range(10)]
    blind = sum(beam_search(p.board, 3, BUDGET, width=3).status == "solved" for p in puzzles)
    reading = sum(
        beam_search(p.board, 3, BUDGET, width=3, guide=read_hints(p.hints)).status == "solved"
        for p in puzzles
    )
    assert reading > blind


def test_widening_beam_counts_the_boards_of_all_its_beams():
    puzzles = [generate_puzzle(7, 7, 3, seed=seed) for seed in range(8)]
    narrow = [beam_search(p.board, 3, BUDGET, width=1) for p in puzzles]
    widened = [widening_beam(p.board, 3, BUDGET) for p in puzzles]
    assert any(each.status != "solved" for each in narrow)
    for first, after in zip(narrow, widened, strict=True):
        assert after.nodes == first.nodes or (first.status, after.nodes > first.nodes) == (
            "budget exhausted",
            True,
        )


def test_beam_bad_width():
    with pytest.raises(SettingError, match="`width` must be >= 1; got 0"):
        beam_search(Board.read(["##"]), 2, BUDGET, width=0)


def test_spoil_keeps_the_number_of_blocks():
    board = generate_puzzle(6, 6, 3, seed=1).board
    spoiled = spoil(board, random.Random(1))
    assert spoiled != board
    assert spoiled.blocks == board.blocks


def test_stress_solves_what_was_made_solvable():
    rows = stress([5], each=3, budget=BUDGET)
    assert all(row["solved"] == 3 for row in rows if row["kind"] == "solvable")
    assert any(row["unsolvable"] for row in rows if row["kind"] == "spoiled")


def test_summary_lists_when_each_puzzle_was_solved():
    runs = compare([generate_puzzle(5, 5, 2, seed=s) for s in range(4)], BUDGET, widths=[5])
    for row in summarise(runs):
        assert row["solved after"] == sorted(row["solved after"])
        assert len(row["solved after"]) == row["solved"] * row["puzzles"]
        nodes = [r["nodes"] for r in runs if r["search"] == row["search"]]
        assert set(row["solved after"]) <= set(nodes)


def test_command_writes_results(tmp_path, capsys):
    out = tmp_path / "results.json"
    main(["--sides", "3", "--each", "2", "--widths", "2", "--stress", "1", "--out", str(out)])
    results = json.loads(out.read_text())
    assert [row["search"] for row in results["summary"]] == [
        "planner",
        "depth-first",
        "beam 2",
        "beam 2 with hints",
        "widening beam",
        "widening beam with hints",
    ]
    assert {row["k"] for row in results["stress"]} == {2, 3}
    assert str(tmp_path) not in out.read_text()
    assert "planner" in capsys.readouterr().out
