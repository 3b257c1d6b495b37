"""Manners: how something is done, found from demonstrated sequences of primitive moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from groundling.errors import WorldError

Primitive: TypeAlias = Hashable
Route: TypeAlias = Sequence[tuple[Sequence[Primitive], Primitive]]
"""The steps of a way: for each the turns before it, and the move itself."""
Slot: TypeAlias = Literal["before turns", "before move", "after move"]
_SLOTS: tuple[Slot, ...] = ("before turns", "before move", "after move")


@dataclass(frozen=True)
class Manner:
    """A way to choose the route, and what is done in place at every step of it.

    Examples
    --------
    >>> hesitantly = Manner(pattern=("stay",), slot="after move")
    >>> hesitantly.render([(("left",), "walk"), ((), "walk")])
    ('left', 'walk', 'stay', 'walk', 'stay')
    >>> print(hesitantly)
    stay after move
    """

    pattern: tuple[Primitive, ...] = ()
    slot: Slot | None = None
    route: str = ""

    def __post_init__(self) -> None:
        if bool(self.pattern) != (self.slot is not None):
            raise WorldError(
                "`slot` must be given with a pattern, and only then; got "
                f"{self.slot!r} with {self.pattern!r}."
            )

    def render(self, route: Route) -> tuple[Primitive, ...]:
        """Return the primitive moves of a route in this manner."""
        found: list[Primitive] = []
        for turns, move in route:
            parts = ((), turns, (), (move,), ())
            for place, part in enumerate(parts):
                found += part
                if place % 2 == 0 and self.slot == _SLOTS[place // 2]:
                    found += self.pattern
        return tuple(found)

    def __str__(self) -> str:
        said = f"{' '.join(map(str, self.pattern))} {self.slot}" if self.pattern else ""
        return " ".join(filter(None, (said, self.route))) or "plain"


PLAIN = Manner()


def explain_sequence(
    sequence: Sequence[Primitive], routes: Mapping[str, Route]
) -> Iterator[Manner]:
    """Yield every manner in which one of several routes gives a sequence.

    What is left of a sequence beside the route must be one pattern, repeated at every step in the
    same place.

    >>> walked = ["look", "walk", "look", "walk"]
    >>> [str(each) for each in explain_sequence(walked, {"": [((), "walk"), ((), "walk")]})]
    ['look before turns', 'look before move']
    """
    wanted = tuple(sequence)
    for name, route in routes.items():
        length = sum(len(turns) + 1 for turns, _ in route)
        extra = len(wanted) - length
        if extra == 0 and Manner(route=name).render(route) == wanted:
            yield Manner(route=name)
        if not route or extra <= 0 or extra % len(route):
            continue
        size, turns = extra // len(route), len(route[0][0])
        for slot, start in zip(_SLOTS, (0, turns, turns + 1), strict=True):
            found = Manner(wanted[start : start + size], slot, name)
            if found.render(route) == wanted:
                yield found


def learn_manners(explained: Iterable[Iterable[Manner]]) -> tuple[Manner, ...]:
    """Return the fewest manners that explain all sequences, the most frequent first.

    Each sequence is given by the manners that explain it (see `explain_sequence`); sequences that
    none explains are left out.

    >>> slow, slower = (Manner(("stay",) * count, "after move") for count in (1, 2))
    >>> learn_manners([[PLAIN], [slow, PLAIN], [slower], []]) == (PLAIN, slower)
    True
    """
    left = [dict.fromkeys(each) for each in explained]
    found = []
    while any(left):
        counts = Counter(manner for each in left for manner in each)
        # Ties: the shortest pattern, then the order of their names, so that runs agree.
        best = min(counts, key=lambda each: (-counts[each], len(each.pattern), str(each)))
        found.append(best)
        left = [each for each in left if each and best not in each]
    return tuple(found)
