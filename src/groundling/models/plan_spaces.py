"""Plan spaces: all plans from a start, listed and laid out once for the many texts about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundling.inference.plan_space import enumerate_plans
from groundling.inference.settings import Search
from groundling.overlay.candidates import Candidates
from groundling.overlay.encoder import Encoder
from groundling.world.environment import State, World
from groundling.world.trajectory import Trajectory

__all__ = ["PlanSpace", "PlanSpaces"]

_REMEMBERED = 2000  # starts whose plans are kept


@dataclass(frozen=True, eq=False)
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
    """The plan spaces of one encoder, remembered by world, start and limits."""

    def __init__(self, encoder: Encoder, most: int | None = None) -> None:
        self.encoder = encoder
        self.most = most
        self._known: dict[tuple[World, State, tuple[int, int, int]], PlanSpace | None] = {}

    @classmethod
    def of(cls, encoder: Encoder) -> PlanSpaces:
        """Return the plan spaces that an encoder remembers."""
        found = encoder.memory.get("plan spaces")
        if found is None:
            found = encoder.memory["plan spaces"] = cls(encoder, _REMEMBERED)
        assert isinstance(found, cls)
        return found

    def plans(self, world: World, start: State, search: Search) -> PlanSpace | None:
        """Return all plans from a start, or nothing if there are too many."""
        key = (world, start, (search.min_length, search.max_length, search.budget))
        if key not in self._known:
            if self.most is not None and len(self._known) >= self.most:
                self._known.clear()
            plans = enumerate_plans(world, start, search)
            space = None
            if plans is not None:
                space = PlanSpace(plans, self.encoder.candidates(world, plans))
            self._known[key] = space
        return self._known[key]
