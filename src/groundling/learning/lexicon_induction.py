"""Lexicon induction: learning by cross-fitting which words mean which values.

A word c that is not in the lexicon keeps its own features. For every value v, it also gets the slot
features that it would have if it meant v, multiplied by an extent 0 ≤ L[c, v] ≤ 1.5.

θ fits its training data so closely that an L fitted to the same data would only fit noise. The data
are therefore split into folds: each θ_k is fitted without fold k, and a single L is fitted on all
folds, each fold with the θ_k that has not seen it.

If no word spells a value, there is at first no evidence for the slots. L is then initialised with
words found by a score test (`find_words`), which cross-fitting can remove again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from groundling.errors import SettingError
from groundling.features.feature_settings import Features
from groundling.features.labels import NUMBER, ORDINAL
from groundling.features.lexicon import Lexicon, Meaning
from groundling.language.instruction import Instruction
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.context import context_penalties
from groundling.learning.evidence import PlanValues, find_words
from groundling.learning.optimise import minimise
from groundling.learning.rounds import Progress, ProgressCallback
from groundling.learning.settings import Learning
from groundling.models.base import Model, Objective, TrainingData
from groundling.models.example import Example
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder
from groundling.ties import at_least


@dataclass(frozen=True)
class LexiconLearning:
    """Settings of lexicon induction: folds, rounds, iterations and entry costs.

    Entries whose context makes them at least `dearest` times as costly as others are left out. They
    are the majority of all entries, and would take most of the time.
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
    # If no word spells a value: the minimum evidence for initial words, and for those that define
    # typical contexts, as a share of the largest deviation expected by chance.
    evidence: float = 0.7
    sure: float = 1.05


def learn_lexicon(
    model: Model,
    data: TrainingData,
    features: Features,
    learning: Learning,
    *,
    settings: LexiconLearning = LexiconLearning(),
    seed: int = 0,
    progress: ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
) -> Lexicon:
    """Return the lexicon that best explains the demonstrations.

    Known entries are kept. If some words spell values, new entries are learnt only from the
    original demonstrations, because mirror images and compositions add no evidence. If no word
    spells a value, mirror images and compositions are used too.
    """
    encoder = data.encoder
    examples: Sequence[Example] = [
        replace(each, weight=each.shown.weight) for each in data.examples if each.shown is not None
    ]
    if not [kind for kind in features.slots if kind != NUMBER]:
        raise SettingError(
            "Features.slots must list at least one label if "
            "Features.lexicon='learn'; got none. Set Features.slots."
        )
    known = encoder.reader.lexicon
    shown = known
    numbers: tuple[float, ...] = ()
    first: dict[tuple[str, Meaning], float] = {}
    entries: list[tuple[str, Meaning]] = []
    penalties: list[float] = []

    def open_up() -> None:
        """Add candidate entries to the lexicon, with entry numbers in place of extents."""
        words = _candidates(encoder, examples, settings)
        pairs: list[Meaning] = [
            (kind, value)
            for kind in sorted(encoder.values)
            if kind != NUMBER
            for value in sorted(encoder.values[kind])
        ]
        pairs += [(NUMBER, number) for number in numbers]
        words += sorted({word for word, _ in first if " " in word})
        possible = [(word, pair) for word in words for pair in pairs]
        judged = context_penalties(encoder, shown, examples, possible).tolist() if possible else []
        for entry, penalty in zip(possible, judged, strict=True):
            alone = " " not in entry[0]
            if (alone and penalty < settings.dearest) or entry in first:
                entries.append(entry)
                penalties.append(min(penalty, settings.dearest))
        learnt: dict[str, dict[Meaning, float]] = {}
        for number, (word, pair) in enumerate(entries):
            learnt.setdefault(word, {})[pair] = number + 2.0
        encoder.reader.lexicon = replace(known, learnt=learnt)

    objective = model.objective(replace(data, examples=examples))
    objective.survey()
    unknown = _unknown_kinds(encoder, examples, settings)
    if unknown:
        examples = data.examples
        objective = model.objective(replace(data, space=features.space())).prepare()
        # No word spells these values, so find initial words by a score test.
        found = _first_words(objective, unknown, learning, settings, seed, progress)
        if found is None:
            return known
        numbers = tuple(sorted({m[1] for _, m, _ in found if isinstance(m[1], float)}))
        sure = {(word, pair) for word, pair, share in found if share >= settings.sure}
        shown = replace(known, given={**known.given, **_gathered(sure)})
        first = {(word, pair): 1.0 for word, pair, _ in found}
        encoder.reader.lexicon = known
        objective = model.objective(replace(data, space=features.space()))
        objective.survey()
    open_up()
    objective.encode()
    if not entries:
        return replace(known, learn=False)
    counts = _counts(encoder, examples, [word for word, _ in entries])
    costs = np.array(penalties) * (settings.cost + settings.cost_per_count * counts)
    # The amount of each label, whatever its meaning.
    shares = np.array(
        [
            encoder.reader.labeller.amount(label.name)
            for content in objective.scorer.encoding.sets
            for label, _ in content
        ]
    )
    fit = _CrossFit(objective, len(entries), learning, settings, seed, shares)
    begun = np.array([first.get(entry, 0.0) for entry in entries])
    extents = fit.run(begun, costs, progress, checkpoint)
    learnt: dict[str, dict[Meaning, float]] = {}
    for (word, pair), extent in zip(entries, extents.tolist(), strict=True):
        if at_least(extent, settings.least):
            learnt.setdefault(word, {})[pair] = round(extent, 6)
    return replace(known, learnt=learnt, learn=False)


def _counts(encoder: Encoder, examples: Sequence[Example], words: Sequence[str]) -> Reals:
    """Return how often each word occurs, weighted by the weights of demonstrations."""
    counts: Counter[str] = Counter()
    fold = encoder.reader.language.fold
    for example in examples:
        for instruction in example.instructions:
            for word in instruction.tokens:
                counts[fold(word)] += example.weight  # type: ignore[assignment]
            if not encoder.reader.language.spaced:
                for pair in _pairs_of(encoder, instruction):
                    counts[pair] += example.weight  # type: ignore[assignment]
    return np.array([counts[word] for word in words], np.float64)


def _pairs_of(encoder: Encoder, instruction: Instruction) -> list[str]:
    """Return each pair of neighbouring words, joined by a space."""
    words = [encoder.reader.language.fold(word) for word in instruction.tokens]
    return [f"{one} {two}" for one, two in pairwise(words) if one.isalpha() and two.isalpha()]


def _candidates(
    encoder: Encoder, examples: Sequence[Example], settings: LexiconLearning
) -> list[str]:
    words = sorted(
        {
            encoder.reader.language.fold(word)
            for example in examples
            for instruction in example.instructions
            for word in instruction.tokens
            if word.isalpha() or not word.isascii()
        }
    )
    counts = _counts(encoder, examples, words)
    reader = encoder.reader
    return [
        word
        for word, count in zip(words, counts.tolist(), strict=True)
        if at_least(count, settings.min_count)
        and word not in reader.labeller.stop_words
        and not reader.sense(word, encoder.values)
    ]


def _unknown_kinds(
    encoder: Encoder, examples: Sequence[Example], settings: LexiconLearning
) -> list[str]:
    """Return the labels whose values match almost no word of the texts."""
    counts: Counter[str] = Counter()
    for example in examples:
        for instruction in example.instructions:
            # Digits are understood in every language, but are no evidence for number words.
            read = encoder.reader.compound(instruction, encoder.values)[0]
            for word in filter(str.isalpha, read.tokens):
                for kind, _ in encoder.reader.sense(
                    encoder.reader.language.fold(word), encoder.values
                ):
                    counts[NUMBER if kind == ORDINAL else kind] += 1
    unknown = [kind for kind in sorted(encoder.values) if counts[kind] < settings.min_count]
    if NUMBER in unknown and not _has_numbers(encoder, examples):
        unknown.remove(NUMBER)
    return unknown


def _has_numbers(encoder: Encoder, examples: Sequence[Example]) -> bool:
    """Return whether any demonstrated action has a number that a word could mean."""
    return any(
        label.kind == NUMBER and isinstance(label.value, float)
        for example in examples
        for state, action in example.trajectory.decisions()
        for label, _ in encoder.ground(example.world, state, action).prior
    )


def _gathered(entries: Iterable[tuple[str, Meaning]]) -> dict[str, tuple[Meaning, ...]]:
    found: dict[str, list[Meaning]] = {}
    for word, pair in sorted(entries, key=str):
        found.setdefault(word, []).append(pair)
    return {word: tuple(pairs) for word, pairs in found.items()}


def _first_words(
    objective: Objective,
    kinds: Sequence[str],
    learning: Learning,
    settings: LexiconLearning,
    seed: int,
    progress: ProgressCallback | None,
) -> list[tuple[str, Meaning, float]] | None:
    """Return words with values and evidence, or None if the callback stopped training.

    The evidence is relative to the largest deviation expected by chance.
    """
    scorer, examples = objective.scorer, objective.data.examples
    encoder, batch = objective.data.encoder, scorer.batch
    fold, weights = _folds(objective, settings.folds, seed), batch.instance_weight.copy()
    blind = np.zeros(len(batch.candidate_gold))
    owner = np.repeat(fold, np.diff(batch.instance_candidates))
    for number in range(settings.folds):
        batch.instance_weight[:] = np.where(fold != number, weights, 0.0)
        loss, theta, _ = minimise(
            objective.loss, np.zeros(len(objective.data.space)), l1=learning.l1, l2=learning.l2,
            iterations=settings.first_iterations, tolerance=learning.tolerance,
        )  # fmt: skip
        batch.instance_weight[:] = weights
        chosen = owner == number
        blind[chosen] = scorer.candidate_scores(theta)[chosen]
        step = Progress("finding first words", number + 1, settings.folds, loss)
        if progress is not None and progress(step) is True:
            return None
    words = _candidates(encoder, examples, settings)
    pairs: dict[int, list[str]] = {}
    if not encoder.reader.language.spaced:
        for number, example in enumerate(examples):
            instructions = example.instructions
            pairs[number] = [p for each in instructions for p in _pairs_of(encoder, each)]
        known = sorted({pair for each in pairs.values() for pair in each})
        counts = _counts(encoder, examples, known)
        words += [word for word, n in zip(known, counts, strict=True) if n >= settings.min_count]
    place = {word: number for number, word in enumerate(words)}
    said = np.zeros((len(weights), len(words)))
    for instance, number in enumerate(objective.owners()):
        tokens = [token for each in examples[number].instructions for token in each.tokens]
        for word in (*map(encoder.reader.language.fold, tokens), *pairs.get(number, ())):
            if word in place:
                said[instance, place[word]] = 1.0
    finite = np.where(np.isfinite(blind), blind, -1e30)  # plans without any alignment
    values = PlanValues(scorer.encoding, kinds)
    chance = float(np.sqrt(2 * np.log(max(len(words) * len(values.meanings), 2))))
    found = find_words(values, finite, said, weights, least=settings.evidence * chance)
    return [(words[each.word], each.meaning, each.strength / chance) for each in found]


class _CrossFit:
    """Alternates between fitting each θ_k without fold k and fitting L on all folds."""

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
        # Extents from 2 up encode the index of an entry (see `open_up`).
        numbered = np.rint(self.amounts / shares).astype(np.int64)
        self.open = numbered >= 2
        self.number = np.where(self.open, numbered - 2, -1)
        self.shares = shares[self.open]
        self.weights = self.scorer.batch.instance_weight.copy()
        self.fold = _folds(objective, settings.folds, seed)
        self.thetas = [np.zeros(len(objective.data.space)) for _ in range(settings.folds)]

    def run(
        self,
        extents: Reals,
        costs: Reals,
        progress: ProgressCallback | None,
        checkpoint: Checkpoint | None,
    ) -> Reals:
        steps = self.settings.rounds * (self.settings.folds + 1)
        for number in range(self.settings.rounds):
            size = len(self.thetas) * len(self.thetas[0]) + self.entries
            kept = checkpoint.load(f"lexicon.{number}", size) if checkpoint is not None else None
            if kept is not None:
                # The state consists of all θ_k of the round, followed by L.
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
        """Set the weights of all instances outside a set to 0."""
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
                value, slopes = self.scorer.amount_loss(self.thetas[fold], self.open)
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
    """Assign groups of examples to folds, and return the fold of each instance."""
    examples = objective.data.examples
    groups = sorted({example.group for example in examples})
    order = np.random.default_rng(seed).permutation(len(groups))
    fold_of = {groups[place]: number % folds for number, place in enumerate(order.tolist())}
    return np.array([fold_of[examples[e].group] for e in objective.owners()], np.int64)
