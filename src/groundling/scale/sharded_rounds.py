"""Training in shards: collect statistics, merge them, encode, then run L-BFGS."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from groundling.errors import DemonstrationError, WorkerError
from groundling.features.lexicon import Lexicon
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.rare_words import RareWords
from groundling.learning.rounds import Progress, ProgressCallback, train
from groundling.learning.trainer import Trainer
from groundling.models.base import FittedModel
from groundling.models.learnt import Learnt
from groundling.models.lengths import LengthModel
from groundling.overlay.batch import Reals
from groundling.scale.count_pass import CountsSum
from groundling.scale.executor import Executor, Task
from groundling.scale.job import Encoded, ShardJob, Survey
from groundling.scale.shard_sums import Total, TreeSum
from groundling.scale.worker import ShardWorker

_LOG = logging.getLogger(__name__)
_LEXICON_FROM = 5000  # maximum number of demonstrations for learning a lexicon
T = TypeVar("T")


class ShardedObjective:
    """The sum of the objectives of all shards, to be passed to `train`."""

    def __init__(self, executor: Executor, job: ShardJob, encoded: Encoded, weight: float) -> None:
        self.executor = executor
        self.job = job
        self.weight = weight
        self.begins_aligned = encoded.begins_aligned
        self.realigns = encoded.realigns
        self.forgets = encoded.forgets
        assert job.space is not None
        self.width = len(job.space)

    def first(self, width: int, seed: int) -> Reals:
        """Return the weights from which training starts."""
        return self.job.trainer.model.first(width, seed)

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p and its gradient; raise an error if shards are missing."""
        found = self.executor.total(self.job, theta)
        if found is None or found.weight != self.weight:
            covered = 0.0 if found is None else found.weight
            raise WorkerError(
                "The gradient must cover demonstrations with a total weight of "
                f"{self.weight:g}; got {covered:g}. Train again, and do not change the files "
                "during training."
            )
        return found.loss, found.gradient

    def realign(self, theta: Reals) -> bool:
        """Realign every shard at θ; return whether any alignment changed."""
        if not self.realigns:
            return False
        self.job = self.job.realigned(theta, self.forgets)
        return any([*self.executor.each(ShardWorker.realign, self.job)])


def fit_shards(
    trainer: Trainer,
    executor: Executor,
    progress: ProgressCallback | None = None,
    checkpoint: str | Path | None = None,
    every: int = 25,
) -> Learnt:
    """Train on all shards, in the steps of `Trainer.fit`; return the learnt model."""
    trainer.model.check(trainer.overlay, trainer.features, trainer.learning.rounds, trainer.search)
    if not executor.shards.parts:
        raise DemonstrationError(
            "`fit` needs at least one demonstration; got none. Pass a Demonstration."
        )
    name = secrets.token_hex(6)
    lexicon = trainer.features.first_lexicon()
    first = ShardJob(f"{name}.0", trainer, 0, lexicon)
    surveys = [*_told(executor, ShardWorker.survey, first, "reading", progress)]
    state = None
    if checkpoint is not None:
        digest = trainer.fingerprint(each.digest for each in surveys)
        state = Checkpoint(Path(checkpoint), every, digest)
    if trainer.features.learns_lexicon:
        lexicon, state = _learn_lexicon(trainer, executor, first, surveys, progress, state)
    loss, fitted = 0.0, []
    members = trainer.model.all_members(trainer.overlay, trainer.features)
    for number, _ in enumerate(members):
        job = replace(first, key=f"{name}.{number}", member=number, lexicon=lexicon)
        if number:
            surveys = [*_told(executor, ShardWorker.survey, job, "reading", progress)]
        own = state
        if state is not None and number:
            own = replace(state, folder=state.folder / f"{number}")
        more, found = _train(executor, job, surveys, progress, own)
        loss += more
        fitted.append(found)
    return Learnt(trainer, replace(fitted[0], others=tuple(fitted[1:])), loss)


def _train(
    executor: Executor,
    job: ShardJob,
    surveys: list[Survey],
    progress: ProgressCallback | None,
    checkpoint: Checkpoint | None,
) -> tuple[float, FittedModel]:
    trainer, features = job.trainer, job.settings.features
    weights = TreeSum(len(executor.shards))
    for place, each in enumerate(surveys):
        weights.add((0, place), Total(0.0, np.zeros(0), each.weight))
    assert weights.whole is not None
    survey = Survey.merged(surveys)
    job = job.with_survey(survey)
    counts, lengths, rare = CountsSum(), [], []
    began = time.perf_counter()
    encoded: Encoded | None = None
    for found in _told(executor, ShardWorker.encode, job, "encoding", progress):
        counts.add(found.counts)
        lengths.append(found.lengths)
        rare.append(found.rare)
        realigns = found.realigns or (encoded is not None and encoded.realigns)
        encoded = replace(found, realigns=realigns)
    assert encoded is not None
    space = features.space()
    counts.decide(space, features.min_word_count)
    _LOG.info(
        "encoded %d demonstrations with %d features in %d shards in %.1f s",
        survey.examples, len(space), len(executor.shards), time.perf_counter() - began,
    )  # fmt: skip
    objective = ShardedObjective(executor, job.with_space(space), encoded, weights.whole.weight)
    loss, theta = train(
        objective, trainer.learning, seed=trainer.seed, progress=progress, checkpoint=checkpoint,
        l2=RareWords.merged(rare).penalty(trainer.learning.l2, space),
    )  # fmt: skip
    _LOG.info("trained to a loss of %.6g in %.1f s", loss, time.perf_counter() - began)
    encoder = job.encoder()
    job.prepare(encoder)
    merged = LengthModel.merged(lengths)
    return loss, FittedModel(features, encoder, space, theta, merged, trainer.seed)


def _learn_lexicon(
    trainer: Trainer,
    executor: Executor,
    job: ShardJob,
    surveys: list[Survey],
    progress: ProgressCallback | None,
    state: Checkpoint | None,
) -> tuple[Lexicon, Checkpoint | None]:
    """Learn the lexicon in this process; large shards are sampled."""
    encoder = job.encoder()
    most = max(1, _LEXICON_FROM // len(executor.shards))
    if sum(each.examples for each in surveys) <= _LEXICON_FROM:
        most = _LEXICON_FROM
    shown = (each for shard in executor.shards.parts for each in islice(shard.read(), most))
    examples = trainer.prepare(encoder, shown)
    state = trainer.learn_lexicon(encoder, examples, progress, state)
    return encoder.reader.lexicon, state


def _told(
    executor: Executor, task: Task[T], job: ShardJob, stage: str, progress: ProgressCallback | None
) -> Iterator[T]:
    """Run a task on each shard, and report the progress."""
    report: Callable[[Progress], object] = progress or (lambda step: None)
    for number, found in enumerate(executor.each(task, job), 1):
        report(Progress(stage, number, len(executor.shards), 0.0))
        yield found
