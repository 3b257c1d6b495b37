"""Interning: equal items get the same index, so that each is scored once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Interner(Generic[T]):
    """A table that numbers items; equal items get the same index.

    >>> words = Interner[str]()
    >>> [words(each) for each in ("go", "left", "go")], words.items
    ([0, 1, 0], ['go', 'left'])
    """

    def __init__(self, items: Iterable[T] = ()) -> None:
        self.items: list[T] = []
        self._place: dict[T, int] = {}
        for item in items:
            self(item)

    def __call__(self, item: T) -> int:
        """Return the index of an item; a new item is added."""
        place = self._place.get(item)
        if place is None:
            place = self._place[item] = len(self.items)
            self.items.append(item)
        return place

    def find(self, items: Iterable[T]) -> list[int | None]:
        """Return the index of each item, or None if it is unknown."""
        return list(map(self._place.get, items))

    def add(self, item: T) -> int:
        """Add an item without searching for an equal one, and return its index."""
        self.items.append(item)
        return len(self.items) - 1

    def __contains__(self, item: object) -> bool:
        return item in self._place

    def __len__(self) -> int:
        return len(self.items)
