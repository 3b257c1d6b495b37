"""Names of actions and plans that are the same everywhere, for deciding between equal scores."""

from __future__ import annotations

from collections.abc import Sequence

from groundling.data.canonical import canonical
from groundling.world.environment import Action

__all__ = ["ActionNames"]


class ActionNames:
    """Canonical texts of actions, each made once.

    They depend neither on the order in which an environment lists its actions nor on how
    Python happens to hash them. An action that has an attribute `canonical_name` is called
    that, so that whoever makes a world can say which of equal plans comes first.

    >>> names = ActionNames()
    >>> names(("strike", frozenset({2, 1})))
    '["strike",{"$set":[1,2]}]'
    >>> names.plan(("turn", "go")) < names.plan(("go", "go", "go"))  # shorter plans first
    True
    """

    def __init__(self) -> None:
        self._known: dict[Action, str] = {}

    def __call__(self, action: Action) -> str:
        """Return the name of an action."""
        found = self._known.get(action)
        if found is None:
            try:
                found = str(getattr(action, "canonical_name", "")) or canonical(action)
            except Exception:  # a class of somebody else: its actions keep the world's order
                found = type(action).__name__
            self._known[action] = found
        return found

    def plan(self, actions: Sequence[Action]) -> tuple[int, tuple[str, ...]]:
        """Return the name of a plan."""
        return len(actions), tuple(map(self, actions))

    def order(self, actions: Sequence[Action]) -> list[int]:
        """Return the places of actions in the order of their names."""
        return sorted(range(len(actions)), key=lambda place: self(actions[place]))
