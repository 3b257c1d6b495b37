"""How states look: SVG of the environment's own, of the tasks', or a line of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from groundling.errors import GroundlingError
from groundling.studio.drawings.svg import clean
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, Environment, State, class_name

__all__ = ["Picture", "name_action", "picture"]


@dataclass(frozen=True)
class Picture:
    """A state as people see it: a drawing if there is one, words, and what went wrong."""

    svg: str | None
    text: str
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the picture as JSON-ready data."""
        return {"svg": self.svg, "text": self.text, "problem": self.problem}


def picture(environment: Environment, way: Sequence[State]) -> Picture:
    """Return how the last state of a way looks; drawing that fails is told, not raised.

    >>> class Lamp:
    ...     def draw(self, state):
    ...         return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{state}</text></svg>'
    >>> picture(Lamp(), ["off", "on"]).svg
    '<svg xmlns="http://www.w3.org/2000/svg"><text>on</text></svg>'
    >>> class Dark:
    ...     def draw(self, state): raise ValueError("no light")
    >>> picture(Dark(), ["on"]).problem
    "Dark.draw('on') raised ValueError: no light. Here is the state in words."
    """
    state = way[-1]
    try:
        text = CachedEnvironment(environment).describe(state)
    except GroundlingError as error:
        return Picture(None, str(state), str(error))
    draw = _drawing(environment)
    name = class_name(environment)
    try:
        if hasattr(environment, "draw"):
            return Picture(clean(environment.draw(state), f"{name}.draw"), text)
        return Picture(draw(environment, state, way) if draw else None, text)
    except GroundlingError as error:
        return Picture(None, text, f"{error} Here is the state in words.")
    except Exception as error:
        return Picture(
            None,
            text,
            f"{name}.draw({state!r:.60}) raised {type(error).__name__}: {error}. "
            "Here is the state in words.",
        )


def name_action(environment: Environment, action: Action) -> str:
    """Return what an action is called, in words where the task has some.

    >>> name_action(object(), ("take", "cup"))
    "('take', 'cup')"
    """
    from groundling.tasks.mazes.environment import MazeEnvironment

    if isinstance(environment, MazeEnvironment):
        from groundling.studio.drawings.mazes import name_maze_action

        return name_maze_action(action)  # type: ignore[arg-type]
    return str(action)


def _drawing(environment: Environment) -> Callable[[Any, Any, Sequence[Any]], str] | None:
    """Find the drawing of a task's environment by its type."""
    from groundling.gym.episode import Episode
    from groundling.tasks.maps.environment import MapEnvironment
    from groundling.tasks.mazes.environment import MazeEnvironment
    from groundling.tasks.puzzles.environment import PuzzleEnvironment

    if isinstance(environment, MazeEnvironment):
        from groundling.studio.drawings.mazes import draw_maze

        return draw_maze
    if isinstance(environment, MapEnvironment):
        from groundling.studio.drawings.maps import draw_map

        return draw_map
    if isinstance(environment, PuzzleEnvironment):
        from groundling.studio.drawings.puzzles import draw_puzzle

        return draw_puzzle
    if isinstance(environment, Episode) and hasattr(environment.scene, "layout"):
        from groundling.studio.drawings.babyai import draw_babyai

        return draw_babyai
    return None
