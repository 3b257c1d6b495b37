"""Learning the lexicon: which words stand for which values, by cross-fitting.

A word c that the lexicon does not know keeps its own features and gains, for every value v,
the slot features it would have if it stood for v, by an extent 0 ≤ L[c, v] ≤ 1.5. θ follows
its training data so closely that L fitted on the same data sees only noise; so the data are
split, each θ_k is fitted without part k, and one L is fitted on all parts against the θ that
did not see them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from groundling.errors import SettingError
from groundling.features.labels import NUMBER
from groundling.features.lexicon import Lexicon
from groundling.features.settings import Features
from groundling.inference.settings import Search
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.context import context_penalties
from groundling.learning.examples import Example
from groundling.learning.objectives import Objective, make_objective
from groundling.learning.optimise import minimise
from groundling.learning.settings import Learning
from groundling.learning.training import Progress, ProgressCallback
from groundling.model.builder import Builder
from groundling.model.kernels import Reals

__all__ = ["LexiconLearning", "learn_lexicon"]


@dataclass(frozen=True)
class LexiconLearning:
    """How a lexicon is learnt: parts, rounds, iterations, and what an entry costs.

    Entries whose context speaks so much against them that they would cost `dearest` times
    as much as others are left out: they are most of all pairs, and would take most of the time.
    """

    parts: int = 2
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
    builder: Builder,
    features: Features,
    examples: Sequence[Example],
    learning: Learning,
    search: Search,
    *,
    settings: LexiconLearning = LexiconLearning(),  # noqa: B008 - a frozen value
    seed: int = 0,
    threads: int = 1,
    progress: ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
) -> Lexicon:
    """Return the lexicon that explains the demonstrations best, beside what is known."""
    if learning.reads:
        raise SettingError(
            "Features.lexicon='learn' goes with Learning.normalise='plans', or with fixed "
            "alignments ('viterbi', 'all'). Give a lexicon, or 'strings'."
        )
    if not [kind for kind in features.slots if kind != NUMBER]:
        raise SettingError(
            "Features.lexicon='learn' needs Features.slots: the kinds of values to learn words for."
        )
    known = builder.reader.lexicon
    entries: list[tuple[str, tuple[str, str]]] = []
    penalties: list[float] = []

    def open_up() -> None:
        """Let candidates stand for values, numbered from 2 up for finding them again."""
        words = _candidates(builder, examples, settings)
        pairs = [
            (kind, value)
            for kind in sorted(builder.values)
            if kind != NUMBER
            for value in sorted(builder.values[kind])
        ]
        possible = [(word, pair) for word in words for pair in pairs]
        judged = context_penalties(builder, known, examples, possible).tolist() if possible else []
        for entry, penalty in zip(possible, judged, strict=True):
            if penalty < settings.dearest:
                entries.append(entry)
                penalties.append(penalty)
        learnt: dict[str, dict[tuple[str, str], float]] = {}
        for number, (word, pair) in enumerate(entries):
            learnt.setdefault(word, {})[pair] = number + 2.0
        builder.reader.lexicon = replace(known, learnt=learnt)

    space = features.space()
    objective = make_objective(
        builder, space, examples, learning, search, np.random.default_rng(seed),
        threads=threads, min_word_count=features.min_word_count, before_labels=open_up,
    )  # fmt: skip
    if not entries:
        return known
    costs = np.array(penalties) * (
        settings.cost + settings.cost_per_count * _counts(examples, [word for word, _ in entries])
    )
    # How much each label of the texts counts, whatever it stands for.
    shares = np.array(
        [
            builder.reader.labeller.amount(label.name)
            for content in objective.model.encoding.sets
            for label, _ in content
        ]
    )
    strengths = learning.strengths(space.names())
    fit = _CrossFit(objective, examples, strengths, len(entries), learning, settings, seed, shares)
    extents = fit.run(costs, progress, checkpoint)
    learnt: dict[str, dict[tuple[str, str], float]] = {}
    for (word, pair), extent in zip(entries, extents.tolist(), strict=True):
        if extent >= settings.least:
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
    builder: Builder, examples: Sequence[Example], settings: LexiconLearning
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
    reader = builder.reader
    return [
        word
        for word, count in zip(words, counts.tolist(), strict=True)
        if count >= settings.min_count
        and word not in reader.labeller.stop_words
        and not reader.lexicon.look_up(word, builder.values, rare=0 < reader.counts[word] < 4)
    ]


class _CrossFit:
    """Alternates θ_k without part k and one L on all parts."""

    def __init__(
        self,
        objective: Objective,
        examples: Sequence[Example],
        l2: Reals,
        entries: int,
        learning: Learning,
        settings: LexiconLearning,
        seed: int,
        shares: Reals,
    ) -> None:
        self.objective = objective
        self.model = objective.model
        self.learning = learning
        self.settings = settings
        self.entries = entries
        self.amounts = self.model.scores.set_amount
        # Extents were numbered from 2 up when the texts were encoded.
        numbered = np.rint(self.amounts / shares).astype(np.int64)
        self.open = numbered >= 2
        self.number = np.where(self.open, numbered - 2, -1)
        self.shares = shares[self.open]
        self.weights = self.model.charts.problem_weight.copy()
        self.part = _parts(objective, examples, settings.parts, seed)
        self.l2 = l2  # of each weight
        self.thetas = [np.zeros(len(l2)) for _ in range(settings.parts)]

    def run(
        self, costs: Reals, progress: ProgressCallback | None, checkpoint: Checkpoint | None
    ) -> Reals:
        extents = np.zeros(self.entries)
        steps = self.settings.rounds * (self.settings.parts + 1)
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
            for part in range(self.settings.parts):
                self.model.charts.problem_weight[:] = np.where(self.part != part, self.weights, 0.0)
                loss, self.thetas[part], _ = minimise(
                    self.objective.loss,
                    self.thetas[part],
                    l1=self.learning.l1,
                    l2=self.l2,
                    iterations=self.settings.iterations
                    if number
                    else self.settings.first_iterations,
                    tolerance=self.learning.tolerance,
                )
                self._tell(progress, number * (self.settings.parts + 1) + part + 1, steps, loss)
            loss, extents = self._fit_extents(extents, costs)
            self._tell(progress, (number + 1) * (self.settings.parts + 1), steps, loss)
            if checkpoint is not None:
                state = np.concatenate([*self.thetas, extents])
                checkpoint.save(f"lexicon.{number}", loss, state, True)
        self.model.charts.problem_weight[:] = self.weights
        return extents

    @staticmethod
    def _tell(progress: ProgressCallback | None, step: int, steps: int, loss: float) -> None:
        if progress is not None:
            progress(Progress("learning the lexicon", step, steps, loss))

    def _set(self, extents: Reals) -> None:
        self.amounts[self.open] = extents[self.number[self.open]] * self.shares

    def _fit_extents(self, extents: Reals, costs: Reals) -> tuple[float, Reals]:
        def loss(values: Reals) -> tuple[float, Reals]:
            self._set(values)
            total = float(costs @ values) + 0.5 * float(values @ values)
            gradient = costs + values
            for part in range(self.settings.parts):
                self.model.charts.problem_weight[:] = np.where(self.part == part, self.weights, 0.0)
                value, slopes = self.model.amount_loss(self.thetas[part])
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


def _parts(
    objective: Objective, examples: Sequence[Example], parts: int, seed: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Deal the groups of examples into parts; return the part of every problem."""
    groups = sorted({example.group for example in examples})
    order = np.random.default_rng(seed).permutation(len(groups))
    part_of = {groups[place]: number % parts for number, place in enumerate(order.tolist())}
    return np.array([part_of[examples[e].group] for e in objective.owners()], np.int64)
