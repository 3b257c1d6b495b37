"""A maze as an environment whose actions are to walk, turn or stay."""

from __future__ import annotations

from collections.abc import Sequence

from groundling.errors import WorldError, check_known
from groundling.tasks.images import spoken_words
from groundling.tasks.mazes.actions import (
    STAY,
    MazeAction,
    MazeState,
    canonical,
    face,
    move,
    rotate,
)
from groundling.tasks.mazes.maze import COMPASS, DIRECTIONS, Maze, Position
from groundling.tasks.mazes.maze_graphs import paper_graph, rich_graph
from groundling.tasks.mazes.mirror import Swaps, mirror_demonstration
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph

TURNS = (90, 180, 270)
SHAPES = ("rich", "paper")


class MazeEnvironment:
    """Environment of a maze: an agent walks, turns or stays.

    Parameters
    ----------
    maze
        The maze.
    shape
        Shape of the grounding graph: `"rich"` (the view to the front, left, right and back after
        the action) or `"paper"` (event, place, and its neighbours without direction).
    by_action
        Prefix the rich labels of places with `t:` (turn), `m:` (move) or `s:` (stay), so that a
        word can have a different meaning for a turn and for a move.
    canonical
        Allow one plan for each path through the maze: no two turns or two moves in a row, no way
        back after an about-turn, and `stay` only as a whole plan. If False, every action is always
        possible, as in the paper's program.
    swaps
        Pairs of words that mirror images exchange, if the texts are not English (`find_swaps`).

    Examples
    --------
    >>> maze = Maze(
    ...     "Small",
    ...     {(0, 0): "", (1, 0): "sofa", (2, 0): ""},
    ...     [((0, 0), (1, 0), "brick", "fish"), ((1, 0), (2, 0), "brick", "fish")],
    ... )
    >>> world = MazeEnvironment(maze)
    >>> start = world.start((0, 0), 90)
    >>> world.actions(start)
    (move(1), move(2), rotate(90), rotate(180), rotate(270), stay)
    >>> world.actions(world.step(start, rotate(180)))
    ()
    >>> world.actions(world.start((0, 0), None))
    (face(0), face(90), face(180), face(270), stay)
    >>> print(world.ground(start, rotate(180), world.step(start, rotate(180))))
    event*: rotate, rotate-around
    here: t:floor=brick, t:halls=1
    front: t:blocked
    left: t:blocked
    right: t:blocked
    back: t:floor=brick, t:hall-length=2, t:item=sofa, t:open, t:sees:item=sofa, t:wall=fish
    event -> here: to
    here -> front: front
    here -> left: left
    here -> right: right
    here -> back: back
    """

    def __init__(
        self,
        maze: Maze,
        shape: str = "rich",
        *,
        by_action: bool = True,
        canonical: bool = True,
        swaps: Swaps | None = None,
    ) -> None:
        check_known(shape, SHAPES, "MazeEnvironment has no shape")
        self.maze = maze
        self.shape = shape
        self.by_action = by_action
        self.canonical = canonical
        self.swaps = swaps
        self._mirrored: MazeEnvironment | None = None

    def start(self, position: Position, orientation: int | None = None) -> MazeState:
        """Return an initial state; pass None for an unknown orientation."""
        if position not in self.maze:
            raise WorldError(
                f"The position must be a place in {self.maze!r}; got {position}. Choose one of "
                "maze.positions."
            )
        if orientation is not None and orientation not in DIRECTIONS:
            raise WorldError(
                f"The orientation must be one of {list(DIRECTIONS)} or None (unknown); got "
                f"{orientation!r}."
            )
        return MazeState(position, orientation)

    def restart(self, state: MazeState) -> MazeState:
        """Return a final state as the initial state of a new plan."""
        return state._replace(last="start")

    def actions(self, state: MazeState) -> tuple[MazeAction, ...]:
        """Return the possible actions in a state."""
        position, orientation, last = state
        if last == "stay":
            return ()
        stay = (STAY,) if last == "start" or not self.canonical else ()
        if orientation is None:
            return tuple(face(direction) for direction in DIRECTIONS) + stay
        moves: tuple[MazeAction, ...] = ()
        if not self.canonical or last in ("start", "turn"):
            ahead = self.maze.ahead(position, orientation)
            moves = tuple(move(distance) for distance in range(1, len(ahead) + 1))
        turns: tuple[MazeAction, ...] = ()
        if not self.canonical or last in ("start", "move"):
            turns = tuple(rotate(angle) for angle in TURNS)
        return moves + turns + stay

    def step(self, state: MazeState, action: MazeAction) -> MazeState:
        """Return the state after an action."""
        position, orientation, last = state
        if action.kind == "stay":
            return MazeState(position, orientation, "stay" if self.canonical else "start")
        if action.kind == "face" and orientation is None:
            return self._after(position, action.amount, "turn")
        if action.kind == "rotate" and orientation is not None:
            back = last == "move" and action.amount == 180
            turned = (orientation + action.amount) % 360
            return self._after(position, turned, "return" if back else "turn")
        if action.kind == "move" and orientation is not None:
            ahead = self.maze.ahead(position, orientation)
            if 1 <= action.amount <= len(ahead):
                return self._after(ahead[action.amount - 1], orientation, "move")
        raise WorldError(
            f"The action {action} is impossible {self.describe(state)}. Choose one of "
            "actions(state)."
        )

    def _after(self, position: Position, orientation: int, last: str) -> MazeState:
        # without canonical plans, the last action is irrelevant; dropping it means fewer states
        return MazeState(position, orientation, last if self.canonical else "start")

    def ground(self, state: MazeState, action: MazeAction, next_state: MazeState) -> GroundingGraph:
        """Return the grounding graph of an action between two states."""
        if self.shape == "paper":
            return paper_graph(self.maze, action, next_state)
        return rich_graph(self.maze, state, action, next_state, by_action=self.by_action)

    def is_terminal(self, state: MazeState) -> bool:
        """Return whether the plan has ended with `stay`."""
        return state.last == "stay"

    def outcome(self, state: MazeState) -> tuple[Position, int | None]:
        """Return the position and the orientation of a state."""
        return state.position, state.orientation

    def extra_length(self, start: MazeState) -> int:
        """Return the number of extra actions: 1 (`face`) without an orientation, else 0."""
        return int(start.orientation is None)

    def label_plan(
        self, start: MazeState, actions: Sequence[MazeAction], states: Sequence[MazeState]
    ) -> dict[str, bool]:
        """Return the labels of a plan: its length and the kinds of its actions, in order."""
        pattern = "-".join(action.kind for action in actions)
        return {"plan": True, f"length={len(actions)}": True, f"pattern={pattern}": True}

    def canonical_plan(
        self, start: MazeState, actions: Sequence[MazeAction]
    ) -> tuple[MazeAction, ...]:
        """Return the canonical form of a plan; without `canonical`, the plan itself."""
        return canonical(actions) if self.canonical else tuple(actions)

    def mirrored(self) -> MazeEnvironment:
        """Return the mirrored environment, with left and right exchanged."""
        if self._mirrored is None:
            self._mirrored = MazeEnvironment(
                self.maze.mirrored(),
                self.shape,
                by_action=self.by_action,
                canonical=self.canonical,
                swaps=self.swaps,
            )
            self._mirrored._mirrored = self
        return self._mirrored

    def mirror(self, demonstration: Demonstration) -> tuple[Demonstration, ...]:
        """Return the mirror image of a demonstration, with half its weight.

        A text with an unpaired word has no mirror image (see `Swaps`). Callers must also halve the
        weight of the original, so that both together count as much as the original alone.
        """
        unpaired = self.swaps.unpaired if self.swaps is not None else frozenset()
        if unpaired and not unpaired.isdisjoint(spoken_words(demonstration.instructions)):
            return ()
        return (mirror_demonstration(demonstration, self.mirrored(), self.swaps),)

    def describe(self, state: MazeState) -> str:
        """Return a one-line description of a state."""
        position, orientation, _ = state
        item = self.maze.item(position)
        beside = f" by the {item}" if item else ""
        if orientation is None:
            return f"at {position}{beside}, facing nowhere yet"
        hall = self.maze.hall(position, orientation)
        view = f"along the {hall.floor} hall" if hall else "a blank wall"
        return f"at {position}{beside}, facing {COMPASS[orientation]} {view}"

    def draw(self, state: MazeState, way: Sequence[MazeState] = ()) -> str:
        """Return an SVG drawing of the maze with the agent and its path."""
        from groundling.tasks.mazes.maze_drawing import draw_maze

        return draw_maze(self, state, way)

    def name_action(self, action: MazeAction) -> str:
        """Return a description of an action in words, such as *turn left*."""
        from groundling.tasks.mazes.maze_drawing import name_maze_action

        return name_maze_action(action)

    def __repr__(self) -> str:
        return f"MazeEnvironment({self.maze!r}, shape={self.shape!r})"
