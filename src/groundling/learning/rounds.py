"""Training: rounds of realignment and L-BFGS, with progress and checkpoints."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from groundling.errors import ConvergenceWarning
from groundling.learning.checkpoints import Checkpoint, Recorder
from groundling.learning.optimise import minimise
from groundling.learning.settings import Learning
from groundling.models.base import Tell
from groundling.overlay.batch import Reals


@dataclass(frozen=True)
class Progress:
    """The progress of training: stage, step, maximum number of steps and loss.

    The loss is NaN before training starts.
    """

    stage: str
    step: int
    steps: int
    loss: float


class Minimised(Protocol):
    """Protocol of objectives that training can minimise, such as a sum over shards."""

    @property
    def width(self) -> int:
        """The number of weights in θ."""

    @property
    def begins_aligned(self) -> bool:
        """Whether the first round uses the initial alignments."""

    def first(self, width: int, seed: int) -> Reals:
        """Return the weights from which training starts."""

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss Σ weight · -log p, and its gradient."""

    def realign(self, theta: Reals) -> bool:
        """Adapt to θ before another round; return whether the objective changed."""


ProgressCallback = Callable[[Progress], object]
"""Called after every step; returns True to stop training as if it had converged."""


def early(progress: ProgressCallback | None) -> Tell:
    """Return a callback that reports the stages before training, but cannot stop them.

    >>> early(print)("reading", 3, 5)
    Progress(stage='reading', step=3, steps=5, loss=nan)
    """

    def tell(stage: str, step: int, steps: int) -> None:
        if progress is not None:
            progress(Progress(stage, step, steps, math.nan))

    return tell


def train(
    objective: Minimised,
    learning: Learning,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
    start: Reals | None = None,
    l2: float | Reals | None = None,
) -> tuple[float, Reals]:
    """Minimise an objective, from `start` or its own initial θ; return the loss and θ.

    `l2` is the penalty of each weight, if they differ. With a checkpoint, evaluations are saved
    every `checkpoint.every` iterations. Training that was interrupted replays them, and reaches the
    same θ as without an interruption.
    """
    run = _Run(objective, learning, progress, checkpoint, learning.l2 if l2 is None else l2)
    first = objective.first(objective.width, seed) if start is None else start
    value, theta, done = run.train(first)
    if not done:
        warnings.warn(
            f"Training stopped at Learning.iterations={learning.iterations} before it converged. "
            "Raise this limit, or raise Learning.tolerance if the loss hardly changes.",
            ConvergenceWarning,
            stacklevel=5,  # the caller of Follower.fit
        )
    return value, theta


_TRIAL = 15  # iterations for comparing starts; later, their order rarely changes


def better_start(
    objective: Minimised, learning: Learning, starts: Sequence[Reals], l2: float | Reals
) -> Reals:
    """Run a few iterations from several starts; return the θ with the lowest loss."""
    tried = [
        minimise(
            objective.loss, start, l1=learning.l1, l2=l2,
            iterations=min(_TRIAL, learning.iterations), tolerance=learning.tolerance,
        )
        for start in starts
    ]  # fmt: skip
    return min(tried, key=lambda found: found[0])[1]


class _Run:
    """The rounds of a training run; each realigns the objective and runs L-BFGS."""

    def __init__(
        self,
        objective: Minimised,
        learning: Learning,
        progress: ProgressCallback | None,
        checkpoint: Checkpoint | None,
        l2: float | Reals,
    ) -> None:
        self.l2 = l2
        self.objective = objective
        self.learning = learning
        self.progress = progress
        self.checkpoint = checkpoint
        self.stopped = False

    def train(self, theta: Reals) -> tuple[float, Reals, bool]:
        learning, value, done = self.learning, np.inf, False
        for number in range(learning.rounds):
            if number or not self.objective.begins_aligned:
                changed = self.objective.realign(theta)
                if number and not changed:
                    break
            value, theta, done = self._round(number, theta)
            if self.stopped:
                return value, theta, True
        return value, theta, done

    def _round(self, number: int, theta: Reals) -> tuple[float, Reals, bool]:
        checkpoint, key = self.checkpoint, f"0.{number}"
        if checkpoint is None:
            return self._minimise(number, theta, self.objective.loss, None)
        kept = checkpoint.load(key, len(theta))
        if kept is None:
            recorder = Recorder(checkpoint, key, self.objective.loss)
            kept = self._minimise(number, theta, recorder.loss, recorder)
            # After an early stop, θ is not a state of uninterrupted training.
            if not self.stopped and checkpoint.save(key, *kept):
                recorder.forget()
        return kept

    def _minimise(
        self,
        number: int,
        theta: Reals,
        loss: Callable[[Reals], tuple[float, Reals]],
        recorder: Recorder | None,
    ) -> tuple[float, Reals, bool]:
        learning = self.learning
        value, theta, done = minimise(
            loss,
            theta,
            l1=learning.l1,
            l2=self.l2,
            iterations=learning.iterations,
            tolerance=learning.tolerance,
            progress=self._reporter(number, recorder),
        )
        return value, theta, done or self.stopped

    def _reporter(self, number: int, recorder: Recorder | None) -> Callable[[int, float], bool]:
        report = self.progress
        stage = "training" if number == 0 else f"training, round {number + 1}"

        def tell(step: int, loss: float) -> bool:
            if recorder is not None:
                recorder.iterated()
            if report is not None:
                wish = report(Progress(stage, step, self.learning.iterations, loss))
                self.stopped = self.stopped or wish is True
            return self.stopped

        return tell
