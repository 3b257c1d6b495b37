"""Plan spaces: all plans from a start, listed and laid out once for the many texts about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundling.inference.plan_space import enumerate_plans
from groundling.inference.settings import Search
from groundling.memory import Budget, Memory
from groundling.overlay.candidates import Candidates
from groundling.overlay.encoder import Encoder
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State
from groundling.world.trajectory import Trajectory

__all__ = ["PlanSpace", "PlanSpaces"]


@dataclass(frozen=True, eq=False, slots=True)
class PlanSpace:
    """Plans, and the same plans as candidates of one encoder.

    `whole` is the space that a part was taken from.
    """

    plans: Sequence[Trajectory]
    candidates: Candidates
    whole: PlanSpace | None = None

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.plans)

    def __getitem__(self, place: int) -> Trajectory:
        return self.plans[place]


class PlanSpaces:
    """The plan spaces of one encoder, remembered by world, start and limits.

    What is remembered is bounded in bytes; old plans give way to new ones.
    """

    def __init__(self, encoder: Encoder, budget: Budget | None = None) -> None:
        self.encoder = encoder
        self.budget = encoder.budget if budget is None else budget
        self._known: Memory[
            tuple[CachedEnvironment, State, tuple[int, ...]], PlanSpace | _TooMany
        ] = Memory(self.budget)

    @classmethod
    def of(cls, encoder: Encoder) -> PlanSpaces:
        """Return the plan spaces that an encoder remembers."""
        found = encoder.memory.get("plan spaces")
        if found is None:
            found = encoder.memory["plan spaces"] = cls(encoder)
        assert isinstance(found, cls)
        return found

    @property
    def bytes(self) -> int:
        """No bytes but those that the budget counts."""
        return 0

    def plans(self, world: CachedEnvironment, start: State, search: Search) -> PlanSpace | None:
        """Return all plans from a start, or nothing if there are too many."""
        limits = (search.min_length, search.longest, search.budget, world.generation)
        key = (world, start, limits)
        found = self._known.find(key)
        if found is None:
            plans = enumerate_plans(world, start, search)
            if plans is None:
                found = _TOO_MANY
                self._known.keep(key, found, 0)
            else:
                found = PlanSpace(plans, self.encoder.candidates(world, plans))
                self._known.keep(key, found, plans.nbytes + found.candidates.nbytes)
        return None if isinstance(found, _TooMany) else found


class _TooMany:
    """Stands for plans that are too many to be listed."""


_TOO_MANY = _TooMany()
