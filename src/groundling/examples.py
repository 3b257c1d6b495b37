"""The small world that the examples of the reference are about."""

from __future__ import annotations

from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph


class Lamp:
    """A lamp to be switched: states are `"on"` and `"off"`, and so are actions.

    >>> Lamp().step("off", "on")
    'on'
    """

    def actions(self, state: str) -> tuple[str, ...]:
        """Return what can be done, whatever the lamp does now."""
        return ("on", "off")

    def step(self, state: str, action: str) -> str:
        """Return what the lamp does after an action."""
        return action

    def ground(self, state: str, action: str, after: str) -> GroundingGraph:
        """Return the lamp with the action."""
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
