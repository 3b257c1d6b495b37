"""Pictures of states: an SVG drawn by the environment, or a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundling.errors import GroundlingError
from groundling.svg import draw_way
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, Environment, State


@dataclass(frozen=True)
class Picture:
    """Picture of a state: an SVG drawing if there is one, and a text.

    `problem` is the error message if drawing failed.
    """

    svg: str | None
    text: str
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the picture as data for JSON."""
        return dict(vars(self))


def picture(environment: Environment, way: Sequence[State]) -> Picture:
    """Return a picture of the last of several states; an error becomes its `problem`.

    >>> class Lamp:
    ...     def draw(self, state):
    ...         return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{state}</text></svg>'
    >>> picture(Lamp(), ["off", "on"]).svg
    '<svg xmlns="http://www.w3.org/2000/svg"><text>on</text></svg>'
    >>> class Dark:
    ...     def draw(self, state): raise ValueError("no light")
    >>> picture(Dark(), ["on"]).problem
    "Dark.draw('on') raised ValueError: no light. Correct the method. The state is shown as text."
    """
    try:
        text = CachedEnvironment(environment).describe(way[-1])
    except GroundlingError as error:
        return Picture(None, str(way[-1]), str(error))
    if not hasattr(environment, "draw"):
        return Picture(None, text)
    try:
        return Picture(draw_way(environment, way), text)
    except GroundlingError as error:
        return Picture(None, text, f"{error} The state is shown as text.")


def name_action(environment: Environment, action: Action) -> str:
    """Return the name of an action: the environment's `name_action`, or else `str`.

    >>> name_action(object(), ("take", "cup"))
    "('take', 'cup')"
    """
    name = getattr(environment, "name_action", str)
    return str(name(action))
