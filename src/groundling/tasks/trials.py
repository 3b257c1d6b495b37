"""Trials: a follower trained on some data, and its answers to other data."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Generic, NamedTuple, TypeVar

from groundling.follower import Follower
from groundling.inference.settings import Search

__all__ = ["Seconds", "Trial", "median_seconds", "with_search"]

AnswerT = TypeVar("AnswerT")


class Seconds(NamedTuple):
    """Seconds of the processor: to train, and to follow."""

    train: float
    follow: float


@dataclass(frozen=True)
class Trial(Generic[AnswerT]):
    """A follower trained on some data, and its answers to other data."""

    follower: Follower
    answers: tuple[AnswerT, ...]
    seconds: Seconds


def median_seconds(seconds: Sequence[Seconds]) -> dict[str, float]:
    """Return how long a trial takes in the median, as a row of a table keeps it.

    >>> median_seconds([Seconds(1.0, 0.5), Seconds(2.0, 0.1), Seconds(4.0, 0.3)])
    {'train': 2.0, 'follow': 0.3}
    """
    if not seconds:
        return {}
    return {
        "train": median(each.train for each in seconds),
        "follow": median(each.follow for each in seconds),
    }


def with_search(follower: Follower, search: Search) -> Follower:
    """Return a follower that searches in another way and shares what was learnt.

    >>> first = Follower(search=Search(beam=5))
    >>> with_search(first, Search(beam=9)).search.beam, first.search.beam
    (9, 5)
    """
    if hasattr(follower, "with_search"):
        changed: Follower = follower.with_search(search)
    else:
        changed = copy.copy(follower)
        changed.search = search
    return changed
