"""Products: actions as lazy combinations of factors (verb, things, manner)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import Any, overload

from groundling.errors import WorldError
from groundling.limits import WORLD_ACTIONS

_LISTED = 300  # up to this many combinations, listing is as fast as searching


class Product(Sequence[Any]):
    """A lazy sequence of all combinations of factors, returned by `actions(state)`.

    If there are many combinations, search scores the values of each factor separately and combines
    the best ones. Training contrasts a demonstrated action with those that differ in one factor.

    Parameters
    ----------
    factors
        The values of each factor, in order.
    make
        A callable that takes one value of each factor and returns an action, such as a `NamedTuple`
        class. `tuple(action)` must return the values. Default: a plain tuple.

    Examples
    --------
    >>> moves = Product(("push", "pull"), ("box", "cart", "sled"))
    >>> len(moves), moves[4], ("push", "sled") in moves
    (6, ('pull', 'cart'), True)
    >>> list(moves.around(("pull", "box")))
    [('push', 'box'), ('pull', 'box'), ('pull', 'cart'), ('pull', 'sled')]
    """

    def __init__(
        self, *factors: Sequence[Hashable], make: Callable[..., Any] | None = None
    ) -> None:
        self.factors = tuple(tuple(dict.fromkeys(each)) for each in factors)
        if len(self.factors) < 2:
            raise WorldError(
                f"A `Product` must have two or more factors; got {len(self.factors)}. Return a "
                "tuple of actions instead."
            )
        WORLD_ACTIONS.check(sum(map(len, self.factors)), WorldError, "The factors of a Product")
        self.make = make
        self._sets = tuple(map(frozenset, self.factors))
        self._length = math.prod(map(len, self.factors))

    def action(self, parts: Sequence[Hashable]) -> Any:
        """Return the action for one value of each factor."""
        return tuple(parts) if self.make is None else self.make(*parts)

    @property
    def is_large(self) -> bool:
        """Whether there are too many combinations to list."""
        return len(self) > max(_LISTED, 2 * sum(map(len, self.factors)))

    def around(self, action: Any) -> Iterator[Any]:
        """Yield an action and all actions that differ from it in one factor."""
        parts = tuple(action)
        seen = set()
        for place, values in enumerate(self.factors):
            for value in values:
                other = (*parts[:place], value, *parts[place + 1 :])
                if other not in seen:
                    seen.add(other)
                    yield self.action(other)

    def some(self) -> Iterator[Any]:
        """Yield all actions, or enough of a large product to cover every factor value."""
        return self.around(self[0]) if self.is_large else iter(self)

    def __len__(self) -> int:
        return self._length

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, tuple) or len(action) != len(self.factors):
            return False
        parts = zip(action, self._sets, strict=True)
        return all(part in values for part, values in parts) and self.action(action) == action

    def __iter__(self) -> Iterator[Any]:
        return map(self.action, product(*self.factors))

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(
                f"The index must be from {-len(self)} to {len(self) - 1}; got {place}."
            )
        if place in (0, -1):  # fast path for the most frequent indices
            return self.action([values[place] for values in self.factors])
        place %= len(self)
        parts = []
        for values in reversed(self.factors):
            place, rest = divmod(place, len(values))
            parts.append(values[rest])
        return self.action(parts[::-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Product):
            return NotImplemented
        return (self.factors, self.make) == (other.factors, other.make)

    def __hash__(self) -> int:
        return hash((self.factors, self.make))

    def __repr__(self) -> str:
        return f"Product({' × '.join(str(len(each)) for each in self.factors)} = {len(self)})"
