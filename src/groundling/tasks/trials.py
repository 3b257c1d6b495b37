"""Trials: a follower trained on some data, and its answers to other data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Generic, NamedTuple, TypeVar

from groundling.follower import Follower

__all__ = ["Seconds", "Trial", "median_seconds"]

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
