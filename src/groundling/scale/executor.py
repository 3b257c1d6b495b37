"""Executors, which run tasks on all shards, in this process or on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

from groundling.overlay.batch import Reals
from groundling.scale.job import ShardJob
from groundling.scale.shard_sums import Total, TreeSum
from groundling.scale.shards import Shard, Shards
from groundling.scale.worker import ShardWorker

T = TypeVar("T")
Task = Callable[[ShardWorker, Shard, ShardJob], T]


class Executor(ABC):
    """Interface for running tasks on all shards; all executors give the same results."""

    shards: Shards

    @abstractmethod
    def each(self, task: Task[T], job: ShardJob) -> Iterator[T]:
        """Yield the result of a task for each shard, in order."""

    @abstractmethod
    def total(self, job: ShardJob, theta: Reals) -> Total | None:
        """Return the loss and gradient over all shards, or None if any shard is missing."""


class LocalExecutor(Executor):
    """Executor that runs tasks in this process, with one shard in memory at a time."""

    def __init__(self, shards: Shards, worker: ShardWorker) -> None:
        self.shards = shards
        self.worker = worker

    def each(self, task: Task[T], job: ShardJob) -> Iterator[T]:
        """Yield the result of a task for each shard, in order."""
        for shard in self.shards.parts:
            yield task(self.worker, shard, job)

    def total(self, job: ShardJob, theta: Reals) -> Total | None:
        """Return the loss and gradient over all shards."""
        found = TreeSum(len(self.shards))
        found.update(self.worker.evaluate(self.shards.parts, len(self.shards), job, theta))
        return found.whole
