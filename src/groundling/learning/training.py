"""Training: alternate alignments and L-BFGS over θ, with restarts, progress and checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundling.errors import ConvergenceWarning
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.objectives import Objective
from groundling.learning.optimise import minimise
from groundling.learning.settings import Learning
from groundling.model.kernels import Reals

__all__ = ["Progress", "ProgressCallback", "train"]


@dataclass(frozen=True)
class Progress:
    """How far training has come: which stage, how many steps of at most how many, the loss."""

    stage: str
    step: int
    steps: int
    loss: float


ProgressCallback = Callable[[Progress], None]


def train(
    objective: Objective,
    width: int,
    learning: Learning,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
    l2: Reals | None = None,
    warn: bool = True,
) -> tuple[float, Reals]:
    """Minimise an objective over θ of the given width; return the best loss and θ.

    `l2` replaces the strength in the settings, weight by weight.

    With a checkpoint, L-BFGS is restarted every `checkpoint.every` iterations, whether or
    not training is interrupted there; so an interrupted training resumes to the same θ.
    """
    best: tuple[float, Reals] | None = None
    settled = True
    for restart in range(learning.restarts):
        run = _Run(objective, learning, restart, progress, checkpoint, l2)
        value, theta, done = run.train(_first(width, learning, seed, restart))
        settled = settled and done
        if best is None or value < best[0]:
            best = (value, theta)
    assert best is not None
    if warn and not settled:
        warnings.warn(
            f"Training stopped after {learning.iterations} iterations before it converged. "
            "Raise Learning.iterations, or Learning.tolerance if the loss no longer moves.",
            ConvergenceWarning,
            stacklevel=5,  # the caller of Follower.fit
        )
    return best


def _first(width: int, learning: Learning, seed: int, restart: int) -> Reals:
    """Return the θ to begin with: random for the paper's alternation, else zero first."""
    if learning.alignment != "viterbi" and restart == 0:
        return np.zeros(width)
    random = np.random.default_rng([seed, restart])
    return random.normal(size=width) * learning.spread


class _Run:
    """One start: rounds of realigning and L-BFGS, each in segments between checkpoints."""

    def __init__(
        self,
        objective: Objective,
        learning: Learning,
        restart: int,
        progress: ProgressCallback | None,
        checkpoint: Checkpoint | None,
        l2: Reals | None,
    ) -> None:
        self.objective = objective
        self.learning = learning
        self.restart = restart
        self.progress = progress
        self.checkpoint = checkpoint
        self.l2 = learning.l2 if l2 is None else l2

    def train(self, theta: Reals) -> tuple[float, Reals, bool]:
        learning, value, done = self.learning, np.inf, False
        for number in range(learning.rounds):
            changed = (number == 0 and learning.begin == "alignment") or self.objective.realign(
                theta
            )
            if number and not changed:
                break
            value, theta, done = self._round(number, theta)
        return value, theta, done

    def _round(self, number: int, theta: Reals) -> tuple[float, Reals, bool]:
        learning, checkpoint = self.learning, self.checkpoint
        every = learning.iterations if checkpoint is None else checkpoint.every
        value, done, start = np.inf, False, 0
        while start < learning.iterations and not done:
            key = f"{self.restart}.{number}.{start}"
            kept = checkpoint.load(key, len(theta)) if checkpoint is not None else None
            if kept is None:
                kept = minimise(
                    self.objective.loss,
                    theta,
                    l1=learning.l1,
                    l2=self.l2,
                    iterations=min(every, learning.iterations - start),
                    tolerance=learning.tolerance,
                    progress=self._reporter(number, start),
                )
                if checkpoint is not None:
                    checkpoint.save(key, *kept)
            value, theta, done = kept
            start += every
        return value, theta, done

    def _reporter(self, number: int, start: int) -> Callable[[int, float], None] | None:
        if self.progress is None:
            return None
        report = self.progress
        stage = "training" if number == 0 else f"training, round {number + 1}"
        if self.restart:
            stage += f", start {self.restart + 1}"

        def tell(step: int, loss: float) -> None:
            report(Progress(stage, start + step, self.learning.iterations, loss))

        return tell
