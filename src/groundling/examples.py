"""The lamp world, used by the examples in docstrings."""

from __future__ import annotations

from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph


class Lamp:
    """A lamp whose states and actions are `"on"` and `"off"`.

    >>> Lamp().step("off", "on")
    'on'
    """

    def actions(self, state: str) -> tuple[str, ...]:
        """Return both actions, which are possible in every state."""
        return ("on", "off")

    def step(self, state: str, action: str) -> str:
        """Return the state after an action."""
        return action

    def ground(self, state: str, action: str, after: str) -> GroundingGraph:
        """Return the grounding graph of an action."""
        return GroundingGraph({"lamp": {action: True}})


def lamp_demonstrations() -> list[Demonstration[str, str]]:
    """Return one demonstration of each action.

    >>> [shown.instructions for shown in lamp_demonstrations()]
    ['light the lamp', 'darken the lamp']
    """
    return [
        Demonstration("light the lamp", Lamp(), "off", ("on",)),
        Demonstration("darken the lamp", Lamp(), "on", ("off",)),
    ]
