"""Manners: ways to carry out actions, learnt from demonstrated primitive moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from groundling.errors import WorldError

Primitive: TypeAlias = Hashable
Route: TypeAlias = Sequence[tuple[Sequence[Primitive], Primitive]]
"""The steps of a route; each step has the turns before a move, and the move itself."""
Slot: TypeAlias = Literal["before turns", "before move", "after move"]
_SLOTS: tuple[Slot, ...] = ("before turns", "before move", "after move")


@dataclass(frozen=True)
class Manner:
    """A way to carry out a route: its kind, and the moves to repeat at each step.

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
                f"`slot` must be set if and only if `pattern` is; got {self.slot!r} with "
                f"{self.pattern!r}. Set both or neither."
            )

    def render(self, route: Route) -> tuple[Primitive, ...]:
        """Return the primitive moves that carry out a route in this manner."""
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
    """Yield every manner in which one of the routes gives the sequence of moves.

    The moves that are not in the route must be one pattern, at the same place in every step.

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
    """Choose a small set of manners that explains all sequences, most frequent first.

    `explained` holds the possible manners of each sequence (see `explain_sequence`). A sequence
    without a possible manner is ignored. Manners are chosen greedily.

    >>> slow, slower = (Manner(("stay",) * count, "after move") for count in (1, 2))
    >>> learn_manners([[PLAIN], [slow, PLAIN], [slower], []]) == (PLAIN, slower)
    True
    """
    left = [dict.fromkeys(each) for each in explained]
    found = []
    while any(left):
        counts = Counter(manner for each in left for manner in each)
        # Break ties by pattern length, then by name, so that runs are reproducible.
        best = min(counts, key=lambda each: (-counts[each], len(each.pattern), str(each)))
        found.append(best)
        left = [each for each in left if each and best not in each]
    return tuple(found)
