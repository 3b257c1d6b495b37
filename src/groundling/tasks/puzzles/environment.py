"""A Crossblock puzzle as an environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

from groundling.errors import WorldError, check_known
from groundling.tasks.images import image_of
from groundling.tasks.puzzles.board import (
    ORIENTATIONS,
    Board,
    ShuffledStrike,
    Strike,
    each_strike,
    full_lines,
    is_stuck,
    strike,
    struck_cells,
)
from groundling.tasks.puzzles.board_graphs import ground_fully, ground_like_paper
from groundling.tasks.puzzles.planner import Planner, SearchBudget
from groundling.world import Demonstration, GroundingGraph

PLAN_SPACES = ("original", "subsets")
SHAPES = ("full", "paper")


@dataclass(frozen=True)
class PuzzleState:
    """State of a puzzle: the board, the blocks per strike, and the last strike.

    >>> PuzzleState(Board.read(["##"]), 2).last is None
    True
    """

    board: Board
    k: int
    last: Strike | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise WorldError(f"`k` must be >= 1; got {self.k}.")


def offered_sizes(lines: int) -> tuple[int, ...]:
    """Return how many lines one strike may remove if `lines` whole lines can be struck.

    Of up to five lines, a strike may remove any number. Of more lines, it may remove one, two or
    all and, of six to eight lines, also three. This limits the number of actions.

    >>> offered_sizes(4), offered_sizes(7), offered_sizes(9)
    ((1, 2, 3, 4), (1, 2, 3, 7), (1, 2, 9))
    """
    if lines <= 5:
        return tuple(range(1, lines + 1))
    return (1, 2, 3, lines) if lines <= 8 else (1, 2, lines)


def offered_plan(board: Board, k: int, plan: Iterable[Strike]) -> tuple[Strike, ...]:
    """Return a plan in which strikes of sizes that are not offered are split.

    >>> rows = [2 * row * "." + "##" + (10 - 2 * row) * "." for row in range(6)]
    >>> plan = offered_plan(Board.read(rows), 2, [Strike("row", (0, 1, 2, 3, 5))])
    >>> [str(action) for action in plan]
    ['rows 1, 2 and 3', 'rows 4 and 6']
    """
    parts: list[Strike] = []
    for action in plan:
        lines = action.lines
        able = len(full_lines(board, k, action.orientation))
        while action.is_full and len(lines) not in offered_sizes(able):
            size = max(size for size in offered_sizes(able) if size < able)
            parts.append(Strike(action.orientation, lines[:size]))
            lines, able = lines[size:], able - size
        parts.append(replace(action, lines=lines))
        board = strike(board, k, action)
    return tuple(parts)


class PuzzleEnvironment:
    """Environment of Crossblock: strike k blocks of a line until the board is empty.

    Parameters
    ----------
    plan_space
        With `"original"`, an action strikes part of a line, one line of k blocks, or all such lines
        of one orientation. With `"subsets"`, it strikes part of a line, or any set of such lines
        of one orientation. Full strikes of one orientation are then never consecutive, because
        they form one action (unless its size is not offered; see `offered_sizes`).
    shape
        Shape of the grounding graph: `"full"` (lines, parts and the previous strike) or `"paper"`
        (one node with the type, the orientation and whether the game is lost).
    winning_only
        Offer only actions that are not proven to lose.
    goal
        Whether plans must end with an empty board. If False, the environment has no goal test.
    order
        Seed of a random order of strikes, which breaks ties between plans. By default, strikes are
        in reading order.
    planner
        Planner that finds dead ends. By default, it expands at most 300 boards per call, so that
        its results are deterministic.

    Examples
    --------
    >>> environment = PuzzleEnvironment()
    >>> state = PuzzleState(Board.read(["##.", "##.", "..."]), 2)
    >>> [str(action) for action in environment.actions(state)]
    ['row 1', 'row 2', 'rows 1 and 2', 'column 1', 'column 2', 'columns 1 and 2']
    >>> after = environment.step(state, Strike("row", (0,)))
    >>> environment.actions(after), environment.is_dead_end(after), environment.is_goal(after)
    ((), True, False)
    """

    def __init__(
        self,
        plan_space: str = "subsets",
        *,
        shape: str = "full",
        winning_only: bool = False,
        goal: bool = True,
        order: int | None = None,
        planner: Planner | None = None,
    ) -> None:
        check_known(plan_space, PLAN_SPACES, "PuzzleEnvironment has no plan_space")
        check_known(shape, SHAPES, "PuzzleEnvironment has no shape")
        self.plan_space = plan_space
        self.shape = shape
        self.winning_only = winning_only
        self.order = order
        if goal:
            # `is_terminal` is optional; without it there is no goal test
            self.is_goal = self.is_terminal
        self.planner = planner or Planner(SearchBudget(nodes=300, seconds=None, megabytes=256))
        self._lost: dict[tuple[Board, int], bool] = {}

    def actions(self, state: PuzzleState) -> tuple[Strike, ...]:
        """Return the possible strikes: parts, then whole rows, then whole columns."""
        offered = tuple(map(self.in_order, self._offered(state)))
        if self.winning_only:
            offered = tuple(
                action for action in offered if not self.is_dead_end(self.step(state, action))
            )
        return offered

    def in_order(self, action: Strike) -> Strike:
        """Return a strike with a sort key that depends on this environment's `order`."""
        if self.order is None:
            return action
        return ShuffledStrike(
            action.orientation, action.lines, action.first, action.last, self.order
        )

    def _offered(self, state: PuzzleState) -> Iterator[Strike]:
        board, k = state.board, state.k
        yield from (action for action in each_strike(board, k) if not action.is_full)
        for orientation in ORIENTATIONS:
            lines = full_lines(board, k, orientation)
            if self.plan_space == "original":
                sizes: Iterable[int] = sorted({min(1, len(lines)), len(lines)} - {0})
            else:
                sizes = offered_sizes(len(lines))
            for size in sizes:
                for chosen in combinations(lines, size):
                    action = Strike(orientation, chosen)
                    if self._may_follow(state, action, len(lines)):
                        yield action

    def _may_follow(self, state: PuzzleState, action: Strike, now: int) -> bool:
        """Return whether an action may follow the last one; false if both form one action."""
        last = state.last
        if self.plan_space == "original" or last is None or not last.is_full:
            return True
        if last.orientation != action.orientation:
            return True
        # Full strikes of one orientation do not change each other's lines. So the number of
        # lines before the last action is the number that it struck plus the number now.
        sizes = offered_sizes(len(last.lines) + now)
        largest_part = max((size for size in sizes if size < len(last.lines) + now), default=0)
        return (
            len(last.lines) + len(action.lines) not in sizes
            and len(last.lines) == largest_part
            and action.lines[0] > last.lines[-1]
        )

    def step(self, state: PuzzleState, action: Strike) -> PuzzleState:
        """Return the state after a strike; raise `WorldError` if the rules forbid it."""
        return PuzzleState(strike(state.board, state.k, action), state.k, action)

    def ground(self, state: PuzzleState, action: Strike, next_state: PuzzleState) -> GroundingGraph:
        """Return the grounding graph of a strike."""
        lost = is_stuck(next_state.board, state.k)
        if self.shape == "paper":
            return ground_like_paper(action, lost)
        dead = lost or self.is_dead_end(next_state)
        return ground_fully(state.board, state.k, state.last, action, next_state.board, lost, dead)

    def is_terminal(self, state: PuzzleState) -> bool:
        """Return whether the board is empty, which is the goal."""
        return not state.board.cells

    def is_dead_end(self, state: PuzzleState) -> bool:
        """Return whether the planner proves that no plan clears the board."""
        board, k, last = state.board, state.k, state.last
        if not board.cells:
            return False
        if self._is_lost(board, k):
            return True
        if self.plan_space == "original" or last is None or not last.is_full:
            return False
        # A winning plan must also start with an action that may follow the last one. After a
        # strike of one line, the remaining strikes of any winning plan can be joined into actions.
        for action in each_strike(board, k):
            joins = action.is_full and action.orientation == last.orientation
            if not joins and not self._is_lost(board.without(struck_cells(board, action)), k):
                return False
        return not any(
            action.is_full
            and action.orientation == last.orientation
            and not self.is_dead_end(self.step(state, action))
            for action in self._offered(state)
        )

    def _is_lost(self, board: Board, k: int) -> bool:
        """Return whether the planner proves that a board is lost; the result is cached."""
        if (board, k) not in self._lost:
            self._lost[board, k] = self.planner.is_winnable(board, k) is False
        return self._lost[board, k]

    def label_plan(
        self, start: PuzzleState, actions: Sequence[Strike], states: Sequence[PuzzleState]
    ) -> dict[str, bool | float]:
        """Return the labels of a plan: its length, kinds of strikes, and whether it wins."""
        kinds = [action.kind for action in actions]
        turns = sum(one.orientation != two.orientation for one, two in pairwise(actions))
        return {
            "win": bool(states) and not states[-1].board.cells,
            "length": float(len(kinds)),
            "partial": float(kinds.count("partial")),
            "single": float(kinds.count("single")),
            "multi": float(kinds.count("multi")),
            "turns": float(turns),
        }

    def mirror(self, demonstration: Demonstration) -> tuple[Demonstration, ...]:
        """Return the demonstration with rows and columns swapped, also in its text.

        Reflections are not used, because “the third row” would need another number.
        """
        start = demonstration.start
        if not isinstance(start, PuzzleState):
            return ()
        name = f"{demonstration.name} transposed" if demonstration.name else ""
        return (image_of(demonstration, _swap_words, _transposed, _swap, name=name),)

    def describe(self, state: PuzzleState) -> str:
        """Return a one-line description of a state."""
        board = state.board
        if not board.cells:
            return "The board is empty."
        return (
            f"{board.blocks} block{'s' * (board.blocks != 1)} on {board.height} × {board.width}, "
            f"{state.k} in a strike: " + " / ".join("".join(row.split()) for row in board.rows())
        )

    def draw(self, state: PuzzleState, way: Sequence[PuzzleState] = ()) -> str:
        """Return an SVG drawing of the board; removed blocks show their strike's number."""
        from groundling.tasks.puzzles.board_drawing import draw_puzzle

        return draw_puzzle(self, state, way)


_PAIRS = (
    ("row", "column"),
    ("rows", "columns"),
    ("horizontal", "vertical"),
    ("top", "left"),
    ("bottom", "right"),
    ("highest", "leftmost"),
    ("lowest", "rightmost"),
    ("up", "left"),
    ("down", "right"),
    ("top-right", "bottom-left"),
    ("top-left", "top-left"),
    ("bottom-right", "bottom-right"),
)
# the first pair with a word is used: left becomes top, not up
_SWAPS: dict[str, str] = {}
for _one, _two in _PAIRS:
    _SWAPS.setdefault(_one, _two)
    _SWAPS.setdefault(_two, _one)


def _swap_word(word: str) -> str:
    swapped = _SWAPS.get(word.lower())
    if swapped is None:
        return "-".join(map(_swap_word, word.split("-"))) if "-" in word.strip("-") else word
    return swapped.capitalize() if word[0].isupper() else swapped


def _swap_words(text: str) -> str:
    return " ".join(map(_swap_word, text.split()))


def _transposed(state: PuzzleState) -> PuzzleState:
    return replace(state, board=state.board.transposed(), last=state.last and _swap(state.last))


def _swap(action: Any) -> Any:
    return replace(action, orientation="column" if action.orientation == "row" else "row")
