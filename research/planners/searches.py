"""Plain searches to compare with the planner: depth-first, and a beam that may read hints."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from groundling.errors import SettingError
from groundling.tasks.puzzles.board import Board, Strike, each_strike, strike
from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState
from groundling.tasks.puzzles.generator import hint_for
from groundling.tasks.puzzles.planner import SearchBudget, Verdict
from tools.corpus_files import expand

__all__ = ["Guide", "beam_search", "depth_first", "read_hints", "widening_beam"]

Guide: TypeAlias = Callable[[int, PuzzleState, Strike], float]
"""Function that scores an action: (number of previous actions, state, action) to a number."""


def depth_first(board: Board, k: int, budget: SearchBudget) -> Verdict:
    """Return the verdict of a search that tries all strikes in a fixed order.

    >>> depth_first(Board.read([".#.", "###"]), 2, SearchBudget(nodes=100)).status
    'solved'
    """
    begin, nodes = time.perf_counter(), 0
    path: list[Strike] = []
    stack = [(board, each_strike(board, k))]
    while stack and stack[-1][0].cells:
        here, untried = stack[-1]
        action = next(untried, None)
        if action is None:
            stack.pop()
            if path:
                path.pop()
            continue
        if nodes >= budget.nodes or _late(begin, budget):
            return Verdict("budget exhausted", (), nodes, time.perf_counter() - begin)
        nodes += 1
        after = strike(here, k, action)
        path.append(action)
        stack.append((after, each_strike(after, k)))
    seconds = time.perf_counter() - begin
    return Verdict("solved" if stack else "unsolvable", tuple(path), nodes, seconds)


def beam_search(
    board: Board,
    k: int,
    budget: SearchBudget,
    *,
    width: int = 100,
    guide: Guide | None = None,
    seed: int = 0,
) -> Verdict:
    """Return the verdict of a beam search, which breaks ties at random.

    An empty beam does not prove that there is no solution, so the verdict is then that the budget
    is exhausted.

    Parameters
    ----------
    board, k, budget
        The puzzle, and the limits of the search.
    width
        Number of states that are kept.
    guide
        Function that scores actions; the score of a state is the sum over its actions. Without it,
        all states have equal scores.
    seed
        Seed of the random order that breaks ties.

    Examples
    --------
    >>> beam_search(Board.read([".#.", "###"]), 2, SearchBudget(nodes=100)).status
    'solved'
    """
    if width < 1:
        raise SettingError(f"`width` must be >= 1; got {width}.")
    begin, nodes, rng = time.perf_counter(), 0, random.Random(seed)
    environment = PuzzleEnvironment()
    beam: dict[PuzzleState, tuple[float, tuple[Strike, ...]]] = {PuzzleState(board, k): (0.0, ())}
    length = 0
    while beam:
        for state, (_, plan) in beam.items():
            if environment.is_goal(state):
                seconds = time.perf_counter() - begin
                return Verdict("solved", expand(plan), nodes, seconds)
        after: dict[PuzzleState, tuple[float, tuple[Strike, ...]]] = {}
        for state, (score, plan) in beam.items():
            if nodes >= budget.nodes or _late(begin, budget):
                return Verdict("budget exhausted", (), nodes, time.perf_counter() - begin)
            nodes += 1
            for action in environment.actions(state):
                better = score + (guide(length, state, action) if guide else 0.0)
                reached = environment.step(state, action)
                if reached not in after or after[reached][0] < better:
                    after[reached] = (better, (*plan, action))
        order = sorted(after.items(), key=lambda item: (-item[1][0], rng.random()))
        beam = dict(order[:width])
        length += 1
    return Verdict("budget exhausted", (), nodes, time.perf_counter() - begin)


def widening_beam(
    board: Board, k: int, budget: SearchBudget, *, guide: Guide | None = None, seed: int = 0
) -> Verdict:
    """Return the verdict of beam searches with 1, 2, 4, … states, within the budget.

    >>> widening_beam(Board.read([".#.", "###"]), 2, SearchBudget(nodes=100)).status
    'solved'
    """
    begin, nodes, width = time.perf_counter(), 0, 1
    while nodes < budget.nodes and not _late(begin, budget):
        rest = replace(budget, nodes=budget.nodes - nodes)
        verdict = beam_search(board, k, rest, width=width, guide=guide, seed=seed)
        nodes, width = nodes + verdict.nodes, 2 * width
        if verdict.status == "solved":
            return replace(verdict, nodes=nodes, seconds=time.perf_counter() - begin)
    return Verdict("budget exhausted", (), nodes, time.perf_counter() - begin)


def _late(begin: float, budget: SearchBudget) -> bool:
    return budget.seconds is not None and time.perf_counter() - begin > budget.seconds


def read_hints(hints: Sequence[str]) -> Guide:
    """Return a guide that compares each hint with a generated hint for an action.

    Nothing is learnt: the score is the share of common words. The hint for an action is the one at
    the position of the action in the plan.

    >>> guide = read_hints(["take the row", "and the column"])
    >>> state = PuzzleState(Board.read([".#.", "###"]), 2)
    >>> row, column = Strike("row", (1,), 0, 1), Strike("column", (1,))
    >>> guide(0, state, row) < guide(1, state, column)
    True
    """
    words = [set(hint.split()) - {"."} for hint in hints]
    memory: dict[tuple[PuzzleState, Strike], set[str]] = {}

    def score(number: int, state: PuzzleState, action: Strike) -> float:
        if number >= len(words):
            return 0.0
        key = (state, action)
        if key not in memory:
            # a fixed choice among equivalent words, so that equal actions get equal scores
            memory[key] = set(hint_for(state.board, state.k, action, random.Random(0)).split())
        said, ours = words[number], memory[key]
        return len(said & ours) / max(len(said | ours), 1)

    return score
