"""The worker, which reads, encodes, stores and evaluates shards in its process."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import DemonstrationError, SettingError
from groundling.features.space import FeatureSpace
from groundling.learning.rare_words import RareWords, find_rare_words
from groundling.learning.trainer import content_of, paused_collector
from groundling.models.base import Model, Objective, TrainingData
from groundling.models.example import Example
from groundling.models.transducer import UnreadableError
from groundling.overlay.batch import Reals
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.encoder import Encoder
from groundling.overlay.scorer import Scorer
from groundling.scale.count_pass import CountingSpace, word_uses
from groundling.scale.job import Encoded, ShardJob, Survey
from groundling.scale.shard_file import (
    OpenShard,
    number_features,
    open_shard,
    write_own,
    write_shard,
)
from groundling.scale.shard_sums import Place, Total, TreeSum
from groundling.scale.shards import Shard


class ShardWorker:
    """Worker that encodes shards, stores them in files, and evaluates them.

    A missing file is created again; its content depends only on the shard and the job.

    Parameters
    ----------
    folder
        Folder of the encoded shards.
    memory
        Approximate memory of the process, in bytes.
    threads
        Number of shards evaluated at a time.
    """

    def __init__(self, folder: Path, memory: int, threads: int = 1) -> None:
        self.folder = folder
        self.memory = memory
        self.threads = threads
        self._encoders: dict[str, Encoder] = {}
        self._building = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    # ---- preparation --------------------------------------------------------------------

    def survey(self, shard: Shard, job: ShardJob) -> Survey:
        """Return the values and word counts of a shard, which are needed to label words."""
        with self._building, paused_collector():
            encoder = self._encoder(job)
            examples = self._examples(shard, job, encoder)
            encoder.values = {kind: set() for kind in encoder.values}
            data = self._data(shard, job, encoder, examples, job.settings.features.space())
            job.trainer.model.objective(data).survey()
            digest = hashlib.sha256(json.dumps([*map(content_of, examples)]).encode()).hexdigest()
            found = Survey(
                encoder.values, encoder.reader.counts, len(examples), _weight(examples), digest
            )
            self._tidy()
            return found

    def encode(self, shard: Shard, job: ShardJob) -> Encoded:
        """Encode a shard with its own numbering of features, and return its counts."""
        with self._building, paused_collector():
            features = job.settings.features
            encoder = self._encoder(job)
            examples = self._examples(shard, job, encoder)
            space = CountingSpace.like(features.space())
            noting = _NotingEncoder(encoder)
            job.prepare(noting)
            data = self._data(shard, job, noting, examples, space)
            objective = job.trainer.model.objective(replace(data, surveyed=True)).prepare()
            _check_arrays_suffice(objective, job.trainer.model.member_model)
            assert space.counts is not None
            counts = space.counts
            if features.min_word_count > 1:
                assert noting.grown is not None
                counts = replace(counts, uses=word_uses(noting.grown))
            write_own(self._path(shard, f"{job.key}-own"), objective, _weight(examples))
            found = Encoded(
                counts, job.trainer.model.lengths(encoder, examples), objective.begins_aligned,
                objective.realigns, objective.forgets,
                find_rare_words(encoder, examples, encoder.reader.counts)
                if job.trainer.learning.rare_words
                else RareWords(),
            )  # fmt: skip
            self._tidy()
            return found

    def realign(self, shard: Shard, job: ShardJob) -> bool:
        """Realign a shard at the latest θ of a job; return whether any alignment changed."""
        with self._building, paused_collector():
            return self._build(shard, job)

    # ---- evaluation ---------------------------------------------------------------------

    def evaluate(
        self, shards: Sequence[Shard], of: int, job: ShardJob, theta: Reals
    ) -> dict[Place, Total]:
        """Return losses and gradients of the given shards; neighbouring shards are summed.

        `of` is the total number of shards.
        """
        total, adding = TreeSum(of), threading.Lock()
        self._tidy()

        def work(shard: Shard) -> None:
            found = self._evaluate(shard, job, theta)
            with adding:
                total.add((0, shard.number), found)

        if self.threads == 1:
            for shard in shards:
                work(shard)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(work, shards))
        return total.parts

    def _evaluate(self, shard: Shard, job: ShardJob, theta: Reals) -> Total:
        opened = self._opened(shard, job)
        try:
            loss, gradient = job.trainer.model.member_model.loss(opened.scorer, opened.parts, theta)
        except UnreadableError as error:
            named = self._examples(shard, job, self._encoder(job))[error.place].demonstration
            raise DemonstrationError(
                f"{named}: its text must have an alignment with its actions; got none. Use a "
                "smaller Overlay.unit, or correct the demonstration."
            ) from None
        return Total(float(loss), gradient, opened.weight)

    def _opened(self, shard: Shard, job: ShardJob) -> OpenShard:
        """Map a shard file into memory for one evaluation.

        Only shards in use take up memory of the process. The operating system caches files while
        memory is free, so mapping a file again is fast.
        """
        path = self._path(shard, job.key)
        if not path.exists():
            with self._building, paused_collector():
                if not path.exists():
                    self._make(shard, job)
        assert job.space is not None
        return open_shard(path, job.space, job.trainer.model.terms().skip)

    def _make(self, shard: Shard, job: ShardJob) -> None:
        """Write a shard file: renumber the features of an existing one, or build it anew."""
        own = self._path(shard, f"{job.key.partition('-features')[0]}-own")
        if job.history or not own.exists():
            self._build(shard, job)
            return
        assert job.space is not None
        number_features(own, self._path(shard, job.key), job.space)
        own.unlink()

    def _build(self, shard: Shard, job: ShardJob) -> bool:
        encoder = self._encoder(job)
        job.prepare(encoder)
        examples = self._examples(shard, job, encoder)
        assert job.space is not None
        data = self._data(shard, job, encoder, examples, job.space)
        data = replace(data, grow=False, surveyed=True)
        objective = job.trainer.model.objective(data).prepare()
        changed = False
        for theta in job.history:
            changed = objective.realign(theta)
        # The initial alignments of every objective are the same.
        write_shard(self._path(shard, job.key), objective, _weight(examples))
        self._tidy()
        return changed

    # ---- shared ----------------------------------------------------------

    def _encoder(self, job: ShardJob) -> Encoder:
        """Return an encoder that caches worlds and graphs as long as memory allows."""
        name = f"{job.key.partition('-')[0]}"
        encoder = self._encoders.get(name)
        if encoder is None:
            self._encoders.clear()  # encoders are for another ensemble member
            encoder = self._encoders[name] = job.encoder()
        return encoder

    def _examples(self, shard: Shard, job: ShardJob, encoder: Encoder) -> list[Example]:
        try:
            return job.trainer.prepare(encoder, shard.read())
        except DemonstrationError as error:
            if getattr(shard.source, "files", ()):
                raise
            raise DemonstrationError(f"The {shard} cannot be prepared. {error}") from error

    @staticmethod
    def _data(
        shard: Shard,
        job: ShardJob,
        encoder: Encoder,
        examples: Sequence[Example],
        space: FeatureSpace,
    ) -> TrainingData:
        trainer = job.trainer
        # With a single shard, random draws are the same as without shards.
        seed = [trainer.seed, shard.number] if shard.number else trainer.seed
        return TrainingData(encoder, space, examples, trainer.search, np.random.default_rng(seed))

    def _path(self, shard: Shard, key: str) -> Path:
        return self.folder / f"shard-{shard.number:06d}-{key}.safetensors"

    def _tidy(self) -> None:
        """Drop cached worlds and graphs when memory is low."""
        if self._encoders and memory_used() > self.memory // 2:
            self._encoders.clear()
            gc.collect()


class _NotingEncoder(Encoder):
    """An encoder that shares another's state, and keeps the last encoding with `grow`."""

    def __init__(self, encoder: Encoder) -> None:
        self.__dict__.update(encoder.__dict__)
        self.grown: Encoding | None = None

    def encode(self, *arguments: Any, grow: bool = False, **options: Any) -> Scorer:
        scorer = super().encode(*arguments, grow=grow, **options)
        if grow:
            self.grown = scorer.encoding
        return scorer


def _weight(examples: Sequence[Example]) -> float:
    return float(sum(example.weight for example in examples))


def _check_arrays_suffice(objective: Objective, model: Model) -> None:
    """Raise an error for a custom model whose loss cannot be computed from arrays."""
    for name in ("loss", "first"):
        own = getattr(type(objective), name) is not getattr(Objective, name)
        if own and getattr(type(model), name) is getattr(Model, name):
            raise SettingError(
                f"{type(model).__name__} must define {name} to be trained in shards, because "
                f"{type(objective).__name__} overrides it. Add {type(model).__name__}.{name} (see "
                f"Model.{name})."
            )


def memory_used() -> int:
    """Return this process's resident memory in bytes or, if unknown, its maximum so far.

    >>> memory_used() > 10_000_000
    True
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return most_memory_used()


def most_memory_used() -> int:
    """Return the maximum memory of this process so far, in bytes; 0 if unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
