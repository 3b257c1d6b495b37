"""Worlds: each environment with the memory of what it has answered."""

from __future__ import annotations

from groundling.memory import Budget
from groundling.world.environment import Environment, World

__all__ = ["Worlds"]


class Worlds:
    """The worlds of environments, each found by the very environment it is of.

    All of them share one budget of memory; an environment of which nothing is remembered any more
    is let go. An environment that has changed can be forgotten.

    >>> class Lamp:
    ...     lit = ("on",)
    ...     def actions(self, state): return self.lit
    >>> lamp, worlds = Lamp(), Worlds()
    >>> worlds.of(lamp) is worlds.of(lamp), worlds.of(lamp).actions("dark")
    (True, ('on',))
    >>> lamp.lit = ("on", "bright")
    >>> worlds.forget(lamp)
    >>> worlds.of(lamp).actions("dark")
    ('on', 'bright')
    """

    def __init__(
        self, budget: Budget | None = None, most: int = 1000, *, keep_graphs: bool = True
    ) -> None:
        self.keep_graphs = keep_graphs
        self.budget = Budget() if budget is None else budget
        self.most = most
        self._worlds: dict[int, World] = {}
        self._shrunk = 0

    def of(self, environment: Environment | World) -> World:
        """Return the world of an environment, with its memory."""
        asked = environment.environment if isinstance(environment, World) else environment
        known = self._worlds.get(id(asked))
        # Numbers of objects are used again, and copies of this have others; hence the look.
        if known is None or known.environment is not asked:
            if isinstance(environment, World):
                known = environment
            else:
                known = World(environment, self.budget, keep_graphs=self.keep_graphs)
            self._let_go()
            self._worlds[id(asked)] = known
        return known

    def _let_go(self) -> None:
        """Make room for one more world: first come those of which nothing is remembered."""
        if self._shrunk != self.budget.shrunk:
            self._shrunk = self.budget.shrunk
            self._worlds = {key: each for key, each in list(self._worlds.items())
                            if not each.is_blank}  # fmt: skip
        while len(self._worlds) >= self.most:
            self._worlds.pop(next(iter(self._worlds)), None)

    def forget_all(self) -> None:
        """Forget what all environments have answered."""
        for known in self._worlds.values():
            known.forget()

    def forget(self, environment: Environment) -> None:
        """Forget what an environment has answered, because it has changed."""
        known = self._worlds.get(id(environment))
        if known is not None and known.environment is environment:
            known.forget()
