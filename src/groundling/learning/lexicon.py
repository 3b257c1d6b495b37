"""Learning the lexicon: which words stand for which values, by cross-fitting.

A word c that the lexicon does not know keeps its own features and gains, for every value v,
the slot features it would have if it stood for v, by an extent 0 ≤ L[c, v] ≤ 1.5. θ follows
its training data so closely that L fitted on the same data sees only noise; so the data are
split, each θ_k is fitted without fold k, and one L is fitted on all folds against the θ that
did not see them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from groundling.errors import SettingError
from groundling.features.labels import NUMBER
from groundling.features.lexicon import Lexicon
from groundling.features.settings import Features
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.context import context_penalties
from groundling.learning.optimise import minimise
from groundling.learning.settings import Learning
from groundling.learning.training import Progress, ProgressCallback
from groundling.models.base import Model, Objective, TrainingData
from groundling.models.examples import Example
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder
from groundling.ties import at_least

__all__ = ["LexiconLearning", "learn_lexicon"]


@dataclass(frozen=True)
class LexiconLearning:
    """How a lexicon is learnt: folds, rounds, iterations, and what an entry costs.

    Entries whose context speaks so much against them that they would cost `dearest` times
    as much as others are left out: they are most of all pairs, and would take most of the time.
    """

    folds: int = 2
    rounds: int = 2
    first_iterations: int = 25
    iterations: int = 12
    min_count: float = 3.0
    cost: float = 1.0
    cost_per_count: float = 0.03
    dearest: float = 2.0
    most: float = 1.5
    least: float = 0.05


def learn_lexicon(
    model: Model,
    data: TrainingData,
    features: Features,
    learning: Learning,
    *,
    settings: LexiconLearning = LexiconLearning(),  # noqa: B008 - a frozen value
    seed: int = 0,
    progress: ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
) -> Lexicon:
    """Return the lexicon that explains the demonstrations best, beside what is known."""
    encoder, examples = data.encoder, data.examples
    if not [kind for kind in features.slots if kind != NUMBER]:
        raise SettingError(
            "Features.lexicon='learn' needs Features.slots: the kinds of values to learn words for."
        )
    known = encoder.reader.lexicon
    entries: list[tuple[str, tuple[str, str]]] = []
    penalties: list[float] = []

    def open_up() -> None:
        """Let candidates stand for values, numbered from 2 up for finding them again."""
        words = _candidates(encoder, examples, settings)
        pairs = [
            (kind, value)
            for kind in sorted(encoder.values)
            if kind != NUMBER
            for value in sorted(encoder.values[kind])
        ]
        possible = [(word, pair) for word in words for pair in pairs]
        judged = context_penalties(encoder, known, examples, possible).tolist() if possible else []
        for entry, penalty in zip(possible, judged, strict=True):
            if penalty < settings.dearest:
                entries.append(entry)
                penalties.append(penalty)
        learnt: dict[str, dict[tuple[str, str], float]] = {}
        for number, (word, pair) in enumerate(entries):
            learnt.setdefault(word, {})[pair] = number + 2.0
        encoder.reader.lexicon = replace(known, learnt=learnt)

    objective = model.objective(replace(data, before_labels=open_up))
    if not entries:
        return known
    costs = np.array(penalties) * (
        settings.cost + settings.cost_per_count * _counts(examples, [word for word, _ in entries])
    )
    # How much each label of the texts counts, whatever it stands for.
    shares = np.array(
        [
            encoder.reader.labeller.amount(label.name)
            for content in objective.scorer.encoding.sets
            for label, _ in content
        ]
    )
    fit = _CrossFit(objective, len(entries), learning, settings, seed, shares)
    extents = fit.run(costs, progress, checkpoint)
    learnt: dict[str, dict[tuple[str, str], float]] = {}
    for (word, pair), extent in zip(entries, extents.tolist(), strict=True):
        if at_least(extent, settings.least):
            learnt.setdefault(word, {})[pair] = round(extent, 6)
    return replace(known, learnt=learnt)


def _counts(examples: Sequence[Example], words: Sequence[str]) -> Reals:
    """How often words occur, mirror images counted with their originals as one."""
    counts: Counter[str] = Counter()
    for example in examples:
        for instruction in example.instructions:
            for word in instruction.tokens:
                counts[word.lower()] += example.weight  # type: ignore[assignment]
    return np.array([counts[word] for word in words], np.float64)


def _candidates(
    encoder: Encoder, examples: Sequence[Example], settings: LexiconLearning
) -> list[str]:
    words = sorted(
        {
            word.lower()
            for example in examples
            for instruction in example.instructions
            for word in instruction.tokens
            if word.isalpha()
        }
    )
    counts = _counts(examples, words)
    reader = encoder.reader
    return [
        word
        for word, count in zip(words, counts.tolist(), strict=True)
        if at_least(count, settings.min_count)
        and word not in reader.labeller.stop_words
        and not reader.lexicon.look_up(word, encoder.values, rare=0 < reader.counts[word] < 4)
    ]


class _CrossFit:
    """Alternates θ_k without fold k and one L on all folds."""

    def __init__(
        self,
        objective: Objective,
        entries: int,
        learning: Learning,
        settings: LexiconLearning,
        seed: int,
        shares: Reals,
    ) -> None:
        self.objective = objective
        self.scorer = objective.scorer
        self.learning = learning
        self.settings = settings
        self.entries = entries
        self.amounts = self.scorer.tables.set_amount
        # Extents were numbered from 2 up when the texts were encoded.
        numbered = np.rint(self.amounts / shares).astype(np.int64)
        self.open = numbered >= 2
        self.number = np.where(self.open, numbered - 2, -1)
        self.shares = shares[self.open]
        self.weights = self.scorer.batch.instance_weight.copy()
        self.fold = _folds(objective, settings.folds, seed)
        self.thetas = [np.zeros(len(objective.data.space)) for _ in range(settings.folds)]

    def run(
        self, costs: Reals, progress: ProgressCallback | None, checkpoint: Checkpoint | None
    ) -> Reals:
        extents = np.zeros(self.entries)
        steps = self.settings.rounds * (self.settings.folds + 1)
        for number in range(self.settings.rounds):
            size = len(self.thetas) * len(self.thetas[0]) + self.entries
            kept = checkpoint.load(f"lexicon.{number}", size) if checkpoint is not None else None
            if kept is not None:
                # θ_k and L of the round, one after another.
                width = len(self.thetas[0])
                *rows, extents = np.split(
                    kept[1], [width * k for k in range(1, len(self.thetas) + 1)]
                )
                self.thetas = [row.copy() for row in rows]
                continue
            self._set(extents)
            for fold in range(self.settings.folds):
                self._weigh(self.fold != fold)
                loss, self.thetas[fold], _ = minimise(
                    self.objective.loss,
                    self.thetas[fold],
                    l1=self.learning.l1,
                    l2=self.learning.l2,
                    iterations=self.settings.iterations
                    if number
                    else self.settings.first_iterations,
                    tolerance=self.learning.tolerance,
                )
                step = number * (self.settings.folds + 1) + fold + 1
                if self._told_to_stop(progress, step, steps, loss):
                    return extents
            loss, extents = self._fit_extents(extents, costs)
            if checkpoint is not None:
                state = np.concatenate([*self.thetas, extents])
                checkpoint.save(f"lexicon.{number}", loss, state, True)
            step = (number + 1) * (self.settings.folds + 1)
            if self._told_to_stop(progress, step, steps, loss):
                return extents
        return extents

    @staticmethod
    def _told_to_stop(
        progress: ProgressCallback | None, step: int, steps: int, loss: float
    ) -> bool:
        if progress is None:
            return False
        return progress(Progress("learning the lexicon", step, steps, loss)) is True

    def _weigh(self, chosen: NDArray[np.bool_]) -> None:
        """Let only some instances count."""
        self.scorer.batch.instance_weight[:] = np.where(chosen, self.weights, 0.0)

    def _set(self, extents: Reals) -> None:
        self.amounts[self.open] = extents[self.number[self.open]] * self.shares

    def _fit_extents(self, extents: Reals, costs: Reals) -> tuple[float, Reals]:
        def loss(values: Reals) -> tuple[float, Reals]:
            self._set(values)
            total = float(costs @ values) + 0.5 * float(values @ values)
            gradient = costs + values
            for fold in range(self.settings.folds):
                self._weigh(self.fold == fold)
                value, slopes = self.scorer.amount_loss(self.thetas[fold])
                total += value
                gradient += np.bincount(
                    self.number[self.open],
                    weights=slopes[self.open] * self.shares,
                    minlength=self.entries,
                )
            return total, gradient

        result = minimize(
            loss, extents, jac=True, method="L-BFGS-B",
            bounds=[(0.0, self.settings.most)] * self.entries,
            options={"maxiter": self.settings.iterations},
        )  # fmt: skip
        return float(result.fun), np.asarray(result.x, np.float64)


def _folds(
    objective: Objective, folds: int, seed: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Deal the groups of examples into folds; return the fold of every instance."""
    examples = objective.data.examples
    groups = sorted({example.group for example in examples})
    order = np.random.default_rng(seed).permutation(len(groups))
    fold_of = {groups[place]: number % folds for number, place in enumerate(order.tolist())}
    return np.array([fold_of[examples[e].group] for e in objective.owners()], np.int64)
