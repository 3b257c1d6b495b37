"""The maze as an environment: walk, turn, stay; what can be done where, and how it looks."""

from __future__ import annotations

from collections.abc import Sequence

from groundling.errors import SettingError, WorldError, did_you_mean
from groundling.language.instruction import Instruction
from groundling.language.sentences import split_words
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
from groundling.tasks.mazes.maze_graphs import Described, paper_graph, rich_graph
from groundling.tasks.mazes.mirror import Swaps, mirror_demonstration
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph

TURNS = (90, 180, 270)
SHAPES = ("rich", "paper")


class MazeEnvironment:
    """A maze to act in.

    Parameters
    ----------
    maze
        The maze.
    shape
        The grounding graph: `"rich"` (what lies in front, left, right and behind after
        the action) or `"paper"` (event, place, and its neighbours without direction).
    by_action
        Prefixes the rich labels of places with `t:` (turn), `m:` (move) or `s:` (stay),
        so that a word can mean one thing for a turn and another for a move.
    canonical
        Allows one plan only for each way through the maze: never two turns or two moves
        in a row, no way back after an about turn, and `stay` only on its own. Without
        it every action is possible at any time, as in the program of the paper.
    swaps
        The words that mirror images exchange, if the texts are not English: see `find_swaps`.

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
        if shape not in SHAPES:
            raise SettingError(
                f"MazeEnvironment has no shape {shape!r}.{did_you_mean(shape, SHAPES)}"
            )
        self.maze = maze
        self.shape = shape
        self.by_action = by_action
        self.canonical = canonical
        self.swaps = swaps
        self._mirrored: MazeEnvironment | None = None
        self._described: Described = {}  # as much as the maze has places, and ways from each

    def start(self, position: Position, orientation: int | None = None) -> MazeState:
        """Return the state in which a plan begins; without orientation it is unknown."""
        if position not in self.maze:
            raise WorldError(f"There is no place at {position} in {self.maze!r}.")
        if orientation is not None and orientation not in DIRECTIONS:
            raise WorldError(
                f"The orientation {orientation!r} is none of {list(DIRECTIONS)} or None (unknown)."
            )
        return MazeState(position, orientation)

    def restart(self, state: MazeState) -> MazeState:
        """Return the state as the start of a new plan (the next sentence of a route)."""
        return state._replace(last="start")

    def actions(self, state: MazeState) -> tuple[MazeAction, ...]:
        """Return the actions possible in a state."""
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
        raise WorldError(f"The action {action} is impossible {self.describe(state)}.")

    def _after(self, position: Position, orientation: int, last: str) -> MazeState:
        # without canonical plans the past does not matter, and fewer states are fewer questions
        return MazeState(position, orientation, last if self.canonical else "start")

    def ground(self, state: MazeState, action: MazeAction, next_state: MazeState) -> GroundingGraph:
        """Return the grounding graph of an action between two states."""
        if self.shape == "paper":
            return paper_graph(self.maze, action, next_state)
        return rich_graph(
            self.maze, state, action, next_state, by_action=self.by_action, known=self._described
        )

    def is_terminal(self, state: MazeState) -> bool:
        """Tell whether the plan has ended: nothing follows `stay`."""
        return state.last == "stay"

    def outcome(self, state: MazeState) -> tuple[Position, int | None]:
        """Return what counts of a final state: where the agent stands and looks."""
        return state.position, state.orientation

    def extra_length(self, start: MazeState) -> int:
        """Return one where the orientation is unknown: the agent must first face somewhere."""
        return int(start.orientation is None)

    def label_plan(
        self, start: MazeState, actions: Sequence[MazeAction], states: Sequence[MazeState]
    ) -> dict[str, bool]:
        """Return the labels of a whole plan: its length and the pattern of its actions."""
        pattern = "-".join(action.kind for action in actions)
        return {"plan": True, f"length={len(actions)}": True, f"pattern={pattern}": True}

    def canonical_plan(
        self, start: MazeState, actions: Sequence[MazeAction]
    ) -> tuple[MazeAction, ...]:
        """Return a plan with turns and moves merged, if only such plans are possible here."""
        return canonical(actions) if self.canonical else tuple(actions)

    def mirrored(self) -> MazeEnvironment:
        """Return the same environment with left and right exchanged; its mirror is this one."""
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
        """Return the demonstration as a mirror shows it, with half its weight.

        A text with a word that belongs to one side and has no pair has no image.

        The original should be given half its weight too, so that both together count
        as much as the original did alone.
        """
        if self.swaps is not None and self.swaps.unpaired:
            texts = demonstration.instructions
            parts = [texts] if isinstance(texts, (str, Instruction)) else texts
            words = {
                word.lower()
                for part in parts
                for word in (split_words(part) if isinstance(part, str) else part.tokens)
            }
            if words & self.swaps.unpaired:
                return ()
        return (mirror_demonstration(demonstration, self.mirrored(), self.swaps),)

    def describe(self, state: MazeState) -> str:
        """Return a line of text about a state."""
        position, orientation, _ = state
        item = self.maze.item(position)
        beside = f" by the {item}" if item else ""
        if orientation is None:
            return f"at {position}{beside}, facing nowhere yet"
        hall = self.maze.hall(position, orientation)
        view = f"along the {hall.floor} hall" if hall else "a blank wall"
        return f"at {position}{beside}, facing {COMPASS[orientation]} {view}"

    def draw(self, state: MazeState, way: Sequence[MazeState] = ()) -> str:
        """Return the SVG of the maze with the agent and the way that it came."""
        from groundling.tasks.mazes.maze_drawing import draw_maze

        return draw_maze(self, state, way)

    def name_action(self, action: MazeAction) -> str:
        """Return what an action is called, in words."""
        from groundling.tasks.mazes.maze_drawing import name_maze_action

        return name_maze_action(action)

    def __repr__(self) -> str:
        return f"MazeEnvironment({self.maze!r}, shape={self.shape!r})"
