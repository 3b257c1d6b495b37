"""Who works on shards: this process alone, one shard after another, or a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

from groundling.overlay.batch import Reals
from groundling.scale.job import ShardJob
from groundling.scale.shard_sums import Total, TreeSum
from groundling.scale.shards import Shard, Shards
from groundling.scale.workshop import Workshop

T = TypeVar("T")
Task = Callable[[Workshop, Shard, ShardJob], T]


class Crew(ABC):
    """Carries out tasks on all shards; the answers never depend on who did what."""

    shards: Shards

    @abstractmethod
    def each(self, task: Task[T], job: ShardJob) -> Iterator[T]:
        """Yield what a task returns for each shard, in the order of shards."""

    @abstractmethod
    def total(self, job: ShardJob, theta: Reals) -> Total | None:
        """Return loss and gradient over all shards, or nothing if some are missing."""


class SoloCrew(Crew):
    """The process itself: one shard after another, each in memory only while it is worked on."""

    def __init__(self, shards: Shards, workshop: Workshop) -> None:
        self.shards = shards
        self.workshop = workshop

    def each(self, task: Task[T], job: ShardJob) -> Iterator[T]:
        """Yield what a task returns for each shard."""
        for shard in self.shards.parts:
            yield task(self.workshop, shard, job)

    def total(self, job: ShardJob, theta: Reals) -> Total | None:
        """Return loss and gradient over all shards."""
        found = TreeSum(len(self.shards))
        found.update(self.workshop.evaluate(self.shards.parts, len(self.shards), job, theta))
        return found.whole
