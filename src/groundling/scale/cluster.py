"""Training on a Dask cluster: shard assignment, recovery from failures, errors."""

from __future__ import annotations

import contextlib
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from groundling.errors import DemonstrationError, SettingError, WorkerError, WorldError
from groundling.learning.checkpoints import states_in
from groundling.overlay.batch import Reals
from groundling.scale.executor import Executor, Task
from groundling.scale.job import ShardJob, check_versions, versions_here
from groundling.scale.shard_sums import Place, Total, TreeSum
from groundling.scale.shards import Shard, Shards
from groundling.scale.worker import ShardWorker

T = TypeVar("T")
_FAN = 16  # maximum number of results added in one process; more are added in a tree
_PATIENCE = 60.0  # maximum seconds to wait for the first worker
_LOOK = 2.0
_CONNECT = 15.0
_HERE = "127.0.0.1"
_LOCAL = {
    # On a busy machine, a killed worker may take long to restart. By default, Dask gives up after a
    # few seconds and does not replace the worker.
    "distributed.deploy.lost-worker-timeout": "1 hour",
    # Dask profiles itself, which takes 2% of a core in each process.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
}
_DEATHS = 3  # maximum deaths of workers for a task, each after Dask's own retries


@contextlib.contextmanager
def connected(cluster: Any, memory: int | None = None) -> Iterator[Any]:
    """Yield a Dask client: the given one, or one for an address or a local cluster.

    >>> with connected("local:many") as client:
    ...     pass
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: `cluster` must be local:N or an address; got 'local:many'. Write
    local:2 for two workers here, or the address of a scheduler, such as tcp://10.0.0.7:8786.
    """
    if isinstance(cluster, str):
        kind, _, number = cluster.partition(":")
        if (kind == "local" and not (number.isdecimal() and int(number) > 0)) or not cluster:
            raise SettingError(
                f"`cluster` must be local:N or an address; got {cluster!r}. Write local:2 for two "
                "workers here, or the address of a scheduler, such as tcp://10.0.0.7:8786."
            )
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    if isinstance(cluster, str) and cluster.startswith("local:"):
        import dask

        with dask.config.set(_LOCAL):  # workers inherit the settings when they start
            started = _local(distributed)(
                n_workers=int(cluster.partition(":")[2]),
                threads_per_worker=1,
                memory_limit="auto" if memory is None else memory,
                # Dask has no authentication, so its servers listen on this machine only.
                host=_HERE,
                dashboard_address=f"{_HERE}:0",
                worker_dashboard_address=f"{_HERE}:0",
                silence_logs="ERROR",
            )
            with started, distributed.Client(started) as client:
                yield client
        return
    try:
        client = distributed.Client(cluster, timeout=_CONNECT)
    except (OSError, ValueError, TypeError, TimeoutError) as error:
        raise WorkerError(
            f"No scheduler answered at {cluster} ({type(error).__name__}). Start one with `dask "
            "scheduler`, or use local:2 for two workers on this machine."
        ) from error
    with client:
        yield client


def _local(distributed: Any) -> Any:
    """Return a local cluster class that accepts repeated reports of a dead worker."""

    class Cluster(distributed.LocalCluster):  # type: ignore[misc]
        def _update_worker_status(self, op: str, msg: Any) -> None:
            if op != "remove" or msg in self.scheduler_info["workers"]:
                super()._update_worker_status(op, msg)

    return Cluster


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise SettingError(
            "`cluster` needs Dask, which is not installed. Run `pip install 'groundling[cluster]'`."
        ) from error
    return distributed


@contextlib.contextmanager
def explained(say: Callable[[], str]) -> Iterator[None]:
    """Convert Dask's errors to Groundling's; `say` returns a note on checkpoints.

    >>> with explained(lambda: "All is kept."):
    ...     raise ConnectionError
    Traceback (most recent call last):
        ...
    groundling.errors.WorkerError: The connection to the cluster's scheduler was lost
    (ConnectionError). Restart the scheduler. All is kept.
    """
    distributed = _distributed()
    lost = (
        distributed.comm.CommClosedError, distributed.client.FutureCancelledError,
        distributed.client.FuturesCancelledError, distributed.client.CancelledError,
        TimeoutError, ConnectionError,
    )  # fmt: skip
    try:
        yield
    except (WorldError, DemonstrationError) as error:
        if isinstance(error, WorldError) or isinstance(error.__cause__, WorldError):
            raise WorldError(f"An error occurred on a worker: {error}") from error
        raise
    except (ImportError, AttributeError) as error:
        if isinstance(error, AttributeError) and "get attribute" not in str(error):
            raise  # the error is not from unpickling
        raise WorldError(
            f"A worker cannot import a module that the demonstrations use ({error}). Install it on "
            "all machines, or send it with client.upload_file."
        ) from error
    except distributed.KilledWorker as error:
        raise WorkerError(
            "Several workers died while running the same task, perhaps because they ran "
            "out of memory. Give each worker more memory, or write the demonstrations into "
            f"smaller files. {say()}"
        ) from error
    except MemoryError as error:
        raise WorkerError(
            "A worker has too little memory for a shard. Give each worker more memory, or "
            f"write the demonstrations into smaller files. {say()}"
        ) from error
    except lost as error:
        raise WorkerError(
            f"The connection to the cluster's scheduler was lost ({type(error).__name__}). Restart "
            f"the scheduler. {say()}"
        ) from error
    except OSError as error:
        raise WorkerError(
            f"A worker could not read or write a file ({error}). Check the disks and permissions "
            f"of the workers. {say()}"
        ) from error


def assign(count: int, owners: dict[int, str], threads: dict[str, int]) -> dict[str, list[int]]:
    """Assign shards to workers in proportion to their threads, moving few shards.

    Parameters
    ----------
    count
        Number of shards.
    owners
        The previous worker of each shard, which may have left the cluster.
    threads
        The current workers, with their numbers of threads.

    Examples
    --------
    >>> assign(5, {}, {"one": 1, "two": 1})
    {'one': [0, 1, 2], 'two': [3, 4]}
    >>> assign(5, {0: "one", 1: "one", 2: "one", 3: "two", 4: "two"}, {"two": 1, "three": 1})
    {'two': [3, 4, 0], 'three': [1, 2]}
    """
    total, before, quota = sum(threads.values()), 0, {}
    for address, share in threads.items():
        # Round cumulative quotas, so that the quotas add up to the number of shards.
        until = -(-count * (before + share) // total)
        quota[address] = until - -(-count * before // total)
        before += share
    found: dict[str, list[int]] = {address: [] for address in threads}
    waiting = []
    for shard in range(count):
        owner = owners.get(shard, "")
        if owner in found and len(found[owner]) < quota[owner]:
            found[owner].append(shard)
        else:
            waiting.append(shard)
    for address, mine in found.items():
        room = quota[address] - len(mine)
        mine += waiting[:room]
        waiting = waiting[room:]
    return {address: mine for address, mine in found.items() if mine}


@dataclass(frozen=True)
class Evaluation:
    """Seconds of an evaluation and of its slowest worker, and the number of workers."""

    seconds: float
    working: float
    workers: int


@dataclass(frozen=True)
class _Answer:
    parts: dict[Place, Total]
    seconds: float


class ClusterExecutor(Executor):
    """Executor on a Dask cluster; if a worker dies, the others rebuild its shards.

    Parameters
    ----------
    client
        A client of the cluster.
    shards
        The shards. Workers must be able to read the files; other data are sent to workers.
    memory
        Approximate memory per worker, in bytes.
    kept
        Folder of the checkpoints, for messages.

    Attributes
    ----------
    evaluations : list of Evaluation
        The duration of each evaluation.
    """

    def __init__(
        self, client: Any, shards: Shards, memory: int, kept: str | Path | None = None
    ) -> None:
        self.client = client
        self.shards = shards
        self.memory = memory
        self.evaluations: list[Evaluation] = []
        self._owners: dict[int, str] = {}
        self._jobs: dict[str, Any] = {}
        self._names: set[str] = set()
        self._kept = None if kept is None else Path(kept)

    def __enter__(self) -> ClusterExecutor:
        with explained(self._advice):
            self._threads()  # wait for workers
            self._check_versions()
            self._stock = self._send(self.shards)
        return self

    def _advice(self) -> str:
        """Return a sentence about checkpoints for error messages."""
        if self._kept is None:
            return "Nothing was saved; pass checkpoint=… to be able to resume."
        if not states_in(self._kept):
            return "No checkpoint was written yet."
        return f"Checkpoints are in {self._kept}; run the same training again to resume."

    def __exit__(self, *_: object) -> None:
        self._jobs.clear()
        self._stock = None
        with contextlib.suppress(Exception):  # the cluster may be gone
            self.client.run(_clear, sorted(self._names), on_error="ignore")

    # ---- tasks --------------------------------------------------------------------------

    def each(self, task: Task[T], job: ShardJob) -> Iterator[T]:
        """Yield the result of a task for each shard, in order."""
        with explained(self._advice):
            sent = self._sent(job)
            futures: list[Any] = [None] * len(self.shards)
            for address, mine in self._assign().items():
                for number in mine:
                    futures[number] = self._submit(
                        _work, task, number, self._stock, sent, self.memory, at=address
                    )
        for place, future in enumerate(futures):
            with explained(self._advice):
                [found] = self._results([future])
            futures[place] = None  # workers can now release the result
            yield found

    def total(self, job: ShardJob, theta: Reals) -> Total | None:
        """Return the loss and gradient over all shards, or None if any shard is missing."""
        began = time.perf_counter()
        with explained(self._advice):
            sent, shares = self._sent(job), self._assign()
            # A few workers get θ with each task; many workers fetch it from each other.
            weights = theta if len(shares) <= _FAN else self._send(theta)
            futures = [
                self._submit(_evaluate, mine, self._stock, sent, weights, self.memory, at=address)
                for address, mine in shares.items()
            ]
            while len(futures) > _FAN:
                groups = (futures[i : i + _FAN] for i in range(0, len(futures), _FAN))
                futures = [self._submit(_merge, len(self.shards), *group) for group in groups]
            found = _merge(len(self.shards), *self._results(futures))
        seconds = time.perf_counter() - began
        self.evaluations.append(Evaluation(seconds, found.seconds, len(shares)))
        total = TreeSum(len(self.shards))
        total.update(found.parts)
        return total.whole

    def _submit(self, function: Callable[..., Any], *arguments: Any, at: str = "") -> Any:
        with warnings.catch_warnings():
            # Arguments stay with the scheduler, so that tasks can run again on other workers.
            warnings.filterwarnings("ignore", message="Sending large graph")
            where = {"workers": [at], "allow_other_workers": True} if at else {}
            return self.client.submit(function, *arguments, pure=False, **where)

    def _send(self, value: object) -> Any:
        # Send pickled bytes, as for any Dask task (between processes of one cluster, never from a
        # file), so that a failing import raises an error instead of killing the worker.
        return self._submit(_receive, _distributed().protocol.pickle.dumps(value))

    def _sent(self, job: ShardJob) -> Any:
        self._names.add(_name(job))
        if job.key not in self._jobs:
            self._jobs = {job.key: self._send(job)}
        return self._jobs[job.key]

    def _assign(self) -> dict[str, list[int]]:
        shares = assign(len(self.shards), self._owners, self._threads())
        self._owners = {number: address for address, mine in shares.items() for number in mine}
        return shares

    # ---- failures ----------------------------------------------------------------

    def _threads(self) -> dict[str, int]:
        """Return the current workers and their threads; if there are none, wait for one."""
        until = time.monotonic() + _PATIENCE
        while True:
            if self.client.status in ("closing", "closed"):
                raise ConnectionError(
                    "`cluster` must be an open Dask client; got a closed one. Pass a new client."
                )
            workers = self.client.scheduler_info(n_workers=-1).get("workers")
            if workers:
                return {address: each["nthreads"] for address, each in sorted(workers.items())}
            if time.monotonic() > until:
                raise WorkerError(
                    f"The cluster has no workers. Start at least one. {self._advice()}"
                )
            self.client.sync(_pause, self.client)

    def _check_versions(self) -> None:
        here = versions_here()
        for address, versions in self.client.run(versions_here, on_error="return").items():
            if isinstance(versions, OSError):
                continue  # the worker died; its replacement is checked before it works
            if isinstance(versions, ImportError):
                raise WorkerError(
                    f"The worker {address} cannot import Groundling ({versions}). Install the same "
                    "version on all machines."
                ) from versions
            if isinstance(versions, BaseException):
                raise versions
            check_versions(versions, here, f"The worker {address}")

    def _results(self, futures: Sequence[Any]) -> list[Any]:
        """Wait for results; repeat the tasks of workers that die."""
        distributed = _distributed()
        deaths = 0
        while True:
            try:
                distributed.wait(futures, timeout=_LOOK)
                results: list[Any] = self.client.gather(futures)
                return results
            except TimeoutError:
                self._threads()
            except distributed.KilledWorker:
                deaths += 1
                if deaths == _DEATHS:
                    raise  # `explained` converts this error
                self.client.retry(futures)


# ---- run on workers ---------------------------------------------------------------


async def _pause(client: Any) -> None:
    import asyncio

    await asyncio.sleep(0.2)


def _receive(packed: bytes) -> Any:
    """Unpack a value on a worker; Dask can repeat this task if the worker dies."""
    return _distributed().protocol.pickle.loads(packed)


def _name(job: ShardJob) -> str:
    return job.key.partition(".")[0]


def _shard_worker(job: ShardJob, memory: int) -> ShardWorker:
    """Return the `ShardWorker` that this Dask worker uses for a training run."""
    worker = _distributed().get_worker()
    known: dict[str, ShardWorker] = worker.__dict__.setdefault("groundling_workers", {})
    name = _name(job)
    if name not in known:
        check_versions(versions_here(), job.versions, f"The worker {worker.address}")
        folder = Path(worker.local_directory) / f"groundling-{name}"
        known[name] = ShardWorker(folder, memory, worker.state.nthreads)
    return known[name]


def _work(task: Task[T], number: int, shards: Shards, job: ShardJob, memory: int) -> T:
    return task(_shard_worker(job, memory), shards.parts[number], job)


def _evaluate(
    numbers: Sequence[int], shards: Shards, job: ShardJob, theta: Reals, memory: int
) -> _Answer:
    began = time.perf_counter()
    mine: list[Shard] = [shards.parts[number] for number in numbers]
    parts = _shard_worker(job, memory).evaluate(mine, len(shards), job, theta)
    return _Answer(parts, time.perf_counter() - began)


def _merge(shards: int, *answers: _Answer) -> _Answer:
    total = TreeSum(shards)
    for each in answers:
        total.update(each.parts)
    return _Answer(total.parts, max(each.seconds for each in answers))


def _clear(names: Sequence[str], dask_worker: Any = None) -> None:
    for name in names:
        dask_worker.__dict__.get("groundling_workers", {}).pop(name, None)
        shutil.rmtree(Path(dask_worker.local_directory) / f"groundling-{name}", ignore_errors=True)
