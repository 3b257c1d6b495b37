"""Bounded caches that share a budget of bytes.

This module is used instead of cachetools because many caches share one budget, sizes are estimated
from samples, and copies of a cache in other processes start empty.
"""

from __future__ import annotations

import sys
import weakref
from array import array
from collections.abc import Hashable, Iterator
from itertools import chain, islice
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENTRY = 100  # approximate bytes of a dictionary entry
_SAMPLES = (8, 4, 2, 2, 2)  # items measured at each level of nesting
_FIRST = 2  # number of first entries that are all measured
_MEASURED = 64  # of later entries, one in this many is measured
_RECENT = 8  # window of the running mean
_SIGHTINGS = 8191  # slots for keys that occurred before


def _own_size(value: object) -> int:
    try:
        return sys.getsizeof(value, 64)
    except Exception:  # a user-defined __sizeof__ may raise
        return 64


def size_of(value: object, level: int = 0) -> int:
    """Estimate the size of a value in bytes from a sample of its contents.

    >>> size_of("a" * 1000) > 1000, size_of((1.0,) * 1000) > 1000
    (True, True)
    >>> size_of([(1, 2)] * 1_000_000) > 1_000_000
    True
    """
    own = _own_size(value)
    if level >= len(_SAMPLES) or isinstance(value, (str, bytes, int, float, type(None))):
        return own
    sample = _SAMPLES[level]
    if isinstance(value, dict):
        held: list[Any] = [part for item in islice(value.items(), sample) for part in item]
        count = 2 * len(value)
    elif isinstance(value, (tuple, list, set, frozenset)):
        held, count = list(islice(value, sample)), len(value)
    else:
        attributes = getattr(value, "__dict__", None)
        held = list(attributes.values()) if isinstance(attributes, dict) else []
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                held.append(getattr(value, name, None))
        count = len(held)
        held = held[:64]
    if not held:
        return own
    return own + count * sum([size_of(each, level + 1) for each in held]) // len(held)


def size_beyond(value: object, base: object, level: int = 0) -> int:
    """Estimate the size of a value in bytes, excluding parts shared with `base`.

    >>> long = ("a" * 1000, "b")
    >>> size_beyond((*long[:1], "c"), long) < 200
    True
    """
    if value is base:
        return 0
    held, other = _fields(value), _fields(base)
    if type(value) is not type(base) or held is None or other is None or level > len(_SAMPLES):
        return size_of(value, level)
    if len(held) == len(other):
        pairs = zip(held, other, strict=True)
        return _own_size(value) + sum(size_beyond(one, two, level + 1) for one, two in pairs)
    shared = {id(each) for each in other}
    return _own_size(value) + sum(size_of(e, level + 1) for e in held if id(e) not in shared)


def _fields(value: object) -> list[object] | None:
    if isinstance(value, tuple):
        return list(value)
    attributes = getattr(value, "__dict__", None)
    return list(attributes.values()) if isinstance(attributes, dict) else None


class Sightings:
    """A fixed-size record of the keys seen before; it may forget some of them.

    >>> seen = Sightings()
    >>> seen.again("lamp"), seen.again("lamp"), seen.again("sofa")
    (False, True, False)
    """

    def __init__(self) -> None:
        self._hashes = array("q", bytes(8 * _SIGHTINGS))

    def again(self, key: Hashable) -> bool:
        """Return whether a key occurred before, and record it."""
        hashed = hash(key)
        place = hashed % _SIGHTINGS
        if self._hashes[place] == hashed:
            return True
        self._hashes[place] = hashed
        return False

    def __reduce__(self) -> tuple[Any, ...]:
        return Sightings, ()  # hashes differ between processes


class CacheBudget:
    """A budget in bytes that several caches share.

    >>> budget = CacheBudget(10_000)
    >>> numbers = Cache(budget)
    >>> for number in range(1000):
    ...     numbers.put(number, number)
    >>> budget.used <= 10_000, len(numbers) < 1000
    (True, True)
    """

    def __init__(self, most: int = 100_000_000) -> None:
        self.most = most
        self.used = 0
        self.shrunk = 0  # number of times older entries were dropped
        self._fresh = 0  # bytes cached since entries were last dropped
        self._caches: weakref.WeakSet[Cache[Any, Any]] = weakref.WeakSet()
        self.drops = 0  # number of times that entries were dropped
        self.lasts = True  # whether new entries are kept after the request
        self._passing: list[Cache[Any, Any]] = []  # caches with temporary entries

    def begin(self, *, lasts: bool) -> None:
        """Begin a request, and drop the temporary entries of earlier ones.

        Unless the request `lasts`, all entries added during it are temporary.

        >>> budget = CacheBudget()
        >>> numbers: Cache[int, int] = Cache(budget)
        >>> budget.begin(lasts=False)
        >>> numbers.put(1, 1)
        >>> numbers.get(1)
        1
        >>> budget.begin(lasts=True)
        >>> numbers.get(1) is None
        True
        """
        self.lasts = lasts
        self.drops += 1
        for each in self._passing:
            each.drop_passing()
        self._passing.clear()

    def pass_by(self, cache: Cache[Any, Any]) -> None:
        """Register a cache with temporary entries, which the next request drops."""
        self._passing.append(cache)

    def take(self, size: int) -> None:
        """Count newly cached bytes; drop old entries when they reach half the budget.

        Entries added or used since old entries were last dropped are kept.
        """
        self.used += size
        self._fresh += size
        if self._fresh > self.most // 2 or self.used > self.most:
            self._shrink()

    def allow(self, most: int) -> None:
        """Change the budget, and drop the entries that exceed it.

        >>> budget = CacheBudget(10_000)
        >>> numbers: Cache[int, int] = Cache(budget)
        >>> for number in range(50):
        ...     numbers.put(number, number)
        >>> budget.allow(1000)
        >>> budget.used <= 1000
        True
        """
        self.most = most
        self.take(0)

    def count_again(self) -> None:
        """Set the number of used bytes to the sum over all caches that still exist."""
        self.used = sum(each.bytes for each in list(self._caches))

    def _shrink(self) -> None:
        self.shrunk += 1
        self.drops += 1
        self._fresh = 0
        for _ in range(2):
            for each in list(self._caches):
                each.age()
            self.count_again()
            if self.used <= self.most:
                return

    def __reduce__(self) -> tuple[Any, ...]:
        return CacheBudget, (self.most,)  # copies start empty


class Cache(Generic[K, V]):
    """A cache with approximate LRU eviction.

    Entries are in one of two generations. An entry that is used moves to the younger generation.
    When the younger generation has half of the budget, the older one is dropped. An entry larger
    than a tenth of the budget is not cached. `CacheBudget.begin` defines which entries are dropped
    at the next request.

    >>> cache = Cache(CacheBudget())
    >>> cache.put("two", 2)
    >>> cache.get("two"), cache.get("three")
    (2, None)
    """

    def __init__(self, budget: CacheBudget) -> None:
        self.budget = budget
        self.bytes = 0
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._old_mean = 0  # mean bytes of an old entry
        self._young_bytes = 0
        self._passing: dict[K, V] = {}
        self._passing_bytes = 0
        self._passes = False  # whether the most recently used entry is temporary
        self._kept = 0
        self._mean = 0.0  # mean bytes of an entry, and mean shallow size
        self._glance = 0.0
        budget._caches.add(self)

    def get(self, key: K) -> V | None:
        """Return the cached value of a key, or None if it is not cached."""
        found = self._young.get(key)
        self._passes = False
        if found is None and self._passing:
            found = self._passing.get(key)
            self._passes = found is not None
        if found is None:
            found = self._old.pop(key, None) if self._old else None
            if found is None:
                return None
            self._young[key] = found
            self._young_bytes += self._old_mean
        return found

    def put(self, key: K, value: V, size: int | None = None) -> None:
        """Cache a value, which must not be None; its size is estimated unless given."""
        taken = _ENTRY + (self._estimate(key, value) if size is None else size)
        if taken > self.budget.most // 10:
            return
        if key in self._young or key in self._passing:
            return
        self._passes = not self.budget.lasts
        if self._passes and not self._passing:
            self.budget.pass_by(self)
        (self._passing if self._passes else self._young)[key] = value
        self.grow(taken)

    def grow(self, size: int) -> None:
        """Add the number of bytes by which the most recently used value has grown."""
        if self._passes:
            self._passing_bytes += size
        else:
            self._young_bytes += size
        self.bytes += size
        self.budget.take(size)

    def drop_passing(self) -> None:
        """Drop the temporary entries."""
        self.bytes -= self._passing_bytes
        self.budget.used = max(0, self.budget.used - self._passing_bytes)
        self._passing, self._passing_bytes = {}, 0

    def _estimate(self, key: K, value: V) -> int:
        """Estimate the size of an entry; most entries are assumed to have the mean size."""
        self._kept += 1
        glance = _own_size(key) + _own_size(value)
        if self._kept > _FIRST and self._kept % _MEASURED and glance <= 2 * self._glance:
            return round(self._mean)
        measured = size_of(key) + size_of(value)
        share = 1 / min(self._kept, _RECENT)
        self._mean += share * (measured - self._mean)
        self._glance += share * (glance - self._glance)
        return measured

    def age(self) -> None:
        """Drop entries not used since the last call."""
        self._old, self._young, self._passing = self._young | self._passing, {}, {}
        self.bytes = self._young_bytes + self._passing_bytes
        self._old_mean = self.bytes // max(1, len(self._old))
        self._young_bytes = self._passing_bytes = 0

    def values(self) -> Iterator[V]:
        """Iterate over the cached values."""
        return chain(self._young.values(), self._old.values(), self._passing.values())

    def clear(self) -> None:
        """Drop all entries, including temporary ones."""
        self.budget.used = max(0, self.budget.used - self.bytes)
        self._young, self._old, self._passing = {}, {}, {}
        self.bytes = self._young_bytes = self._passing_bytes = 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old) + len(self._passing)

    def __reduce__(self) -> tuple[Any, ...]:
        return Cache, (self.budget,)
