"""`Follower.fit` within a memory limit or on a cluster."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from groundling.errors import SettingError
from groundling.learning.rounds import ProgressCallback, early
from groundling.learning.trainer import Trainer
from groundling.models.example import listed_demonstrations
from groundling.models.learnt import Learnt
from groundling.scale.executor import LocalExecutor
from groundling.scale.sharded_rounds import fit_shards
from groundling.scale.shards import SHARD, Shards, split
from groundling.scale.worker import ShardWorker
from groundling.selection.choices import choose

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip
_LEAST, _DEFAULT = 100_000_000, 4_000_000_000
_CHOSEN_FROM = 2000  # maximum number of demonstrations for choosing unset settings


def parse_memory(given: str | int | None) -> int:
    """Return a memory size in bytes; None stands for the default, 4 GB.

    >>> parse_memory("4GB"), parse_memory("512 MiB"), parse_memory(None)
    (4000000000, 536870912, 4000000000)
    >>> parse_memory("lots")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: `memory` must be a size such as '4GB' or '512MiB'; got 'lots'.
    """
    if given is None:
        return _DEFAULT
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(given).lower())
    if found is None or found[2] not in _UNITS:
        raise SettingError(f"`memory` must be a size such as '4GB' or '512MiB'; got {given!r}.")
    memory = int(float(found[1]) * _UNITS[found[2]])
    if memory < _LEAST:
        raise SettingError(f"`memory` must be >= 100MB, which Python itself needs; got {given!r}.")
    return memory


def fit_at_scale(
    settings: Trainer | Mapping[str, Any],
    demonstrations: Any,
    progress: ProgressCallback | None = None,
    checkpoint: str | Path | None = None,
    every: int = 25,
    cluster: Any = None,
    memory: str | int | None = None,
    *,
    size: int = SHARD,
) -> Learnt:
    """Train in shards, in this process within a memory limit or on a cluster.

    θ equals that of an ordinary fit up to rounding, except that each shard samples its own
    alternatives. Settings left at `"auto"` are chosen from at most 2,000 demonstrations, and a
    lexicon is learnt from at most 5,000, both drawn from all shards. The demonstrations are not
    stored, so pass them to `teach` as `known`.

    Parameters
    ----------
    settings
        The settings of a follower, by name.
    demonstrations
        As for `groundling.scale.shards.split`.
    progress, checkpoint, every
        As for `Follower.fit`.
    cluster
        A Dask client or cluster, the address of a scheduler, or `"local:2"` for two local
        workers. Default: this process alone.
    memory
        Approximate memory per process. Default: 4 GB.
    size
        Maximum number of demonstrations per shard.
    """
    room = parse_memory(memory)
    with tempfile.TemporaryDirectory(prefix="groundling-") as name:
        folder = Path(name)
        if cluster is None:
            shards = split(demonstrations, folder, size=size)
            trainer, choices = _chosen(settings, shards, progress)
            executor = LocalExecutor(shards, ShardWorker(folder / "shards", room, trainer.threads))
            learnt = fit_shards(trainer, executor, progress, checkpoint, every)
            return replace(learnt, choices=choices)
        from groundling.scale.cluster import ClusterExecutor, connected

        with connected(cluster, None if memory is None else room) as client:
            shards = split(demonstrations, folder, size=size, apart=True)
            trainer, choices = _chosen(settings, shards, progress)
            with ClusterExecutor(client, shards, room, kept=checkpoint) as workers:
                learnt = fit_shards(trainer, workers, progress, checkpoint, every)
                return replace(learnt, choices=choices)


def refuse_in_shards(skip_bad: bool) -> None:
    """Raise an error for options of `fit` that do not work in shards."""
    if skip_bad:
        raise SettingError(
            "`skip_bad` must be False with memory=… or cluster=…. Skip bad records when reading "
            "instead: Demonstrations.read(…, skip_bad=True, check=True)."
        )


def _chosen(
    settings: Trainer | Mapping[str, Any], shards: Shards, progress: ProgressCallback | None
) -> tuple[Trainer, tuple[Any, ...]]:
    """Replace settings equal to `"auto"` by choices from samples of all shards."""
    if isinstance(settings, Trainer):
        return settings, ()
    tell = early(progress)
    most = -(-_CHOSEN_FROM // max(1, len(shards)))
    some = [each for part in shards.parts for each in islice(part.read(), most)]
    some = listed_demonstrations(some)
    return choose(settings, some, lambda what: tell(what, 0, len(some)))
