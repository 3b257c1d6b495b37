"""Incremental learning: demonstrations added to a fitted model.

Encodings of earlier examples are kept, and new examples are encoded separately. Features that first
occur in new examples are used only for these examples at first; earlier examples get them at the
next complete encoding, which happens occasionally. Unset settings are chosen again from all
demonstrations. The model is trained from scratch only if a setting changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from groundling.errors import DemonstrationError, did_you_mean
from groundling.learning.optimise import minimise
from groundling.learning.rounds import Progress, ProgressCallback, early
from groundling.learning.trainer import WARM_TOLERANCE, Trainer, paused_collector
from groundling.models.base import FittedModel, Member, Objective
from groundling.models.example import Example
from groundling.models.learnt import Learnt
from groundling.overlay.batch import Reals
from groundling.world.environment import Demonstration

ChooseAgain = Callable[
    [Learnt, Sequence[Demonstration], Callable[[str], object]], tuple[Trainer, tuple[Any, ...]]
]
"""Function that returns the settings for the current demonstrations, and the choices."""

_NEAR = 24  # number of known examples that tell which words of new ones are rare
_SHARE = 0.05  # maximum share of new examples before all examples are encoded again


def teach(
    learnt: Learnt,
    demonstrations: Iterable[Demonstration],
    known: Iterable[Demonstration] = (),
    progress: ProgressCallback | None = None,
    choose: ChooseAgain | None = None,
) -> Learnt:
    """Return the model after training on additional demonstrations.

    `known` contains the earlier training demonstrations, if the model does not store them. The
    function `choose` is called to choose unset settings again.
    """
    trainer, encoder = Trainer.of(learnt), learnt.fitted.encoder
    before = learnt.examples
    if not before:
        listed = list(known)
        if not listed:
            raise DemonstrationError(
                "`known` must contain the training demonstrations of a loaded follower; got none. "
                "Pass known=[…], or fit a follower to all demonstrations."
            )
        before = tuple(trainer.prepare(encoder, listed))
    new = trainer.prepare(encoder, demonstrations)
    everything = (*before, *new)
    trainer, choices = _chosen_again(learnt, everything, progress, choose)
    if _differs(trainer, Trainer.of(learnt)):
        return _learn_anew(learnt, trainer, choices, everything, progress)
    return _go_on(replace(learnt, settings=trainer, choices=choices), everything, progress)


def forget(
    learnt: Learnt,
    names: Iterable[str],
    progress: ProgressCallback | None = None,
    choose: ChooseAgain | None = None,
) -> Learnt:
    """Return the model trained without the demonstrations that have the given names."""
    unwanted = {names} if isinstance(names, str) else set(names)
    has = {name for each in learnt.examples for name in each.names}
    for name in sorted(unwanted - has):
        raise DemonstrationError(
            "`names` must contain only names of training demonstrations; got "
            f"{name!r}.{did_you_mean(name, has - {''})}"
        )
    kept = [e for e in learnt.examples if unwanted.isdisjoint(e.names)]
    trainer, choices = _chosen_again(learnt, kept, progress, choose)
    if _differs(trainer, Trainer.of(learnt)):
        return _learn_anew(learnt, trainer, choices, kept, progress)
    return trainer.go_on(replace(learnt, settings=trainer, choices=choices), kept, progress)


def _chosen_again(
    learnt: Learnt,
    examples: Sequence[Example],
    progress: ProgressCallback | None,
    choose: ChooseAgain | None,
) -> tuple[Trainer, tuple[Any, ...]]:
    """Choose unset settings again for these examples; return the settings and choices."""
    if choose is None or not examples:
        return Trainer.of(learnt), learnt.choices
    # Cached environments have already answered most queries.
    world: Any = learnt.fitted.encoder.world
    shown = [
        replace(each.shown, environment=world(each.shown.environment))
        for each in examples
        if each.shown is not None
    ]
    tell = early(progress)
    return choose(learnt, shown, lambda what: tell(what, 0, len(shown)))


def _differs(now: Trainer, before: Trainer) -> bool:
    """Return whether the new settings require training from scratch."""
    old = before.learning
    return replace(now, learning=replace(now.learning, l2=old.l2, recall=old.recall)) != before


def _learn_anew(
    learnt: Learnt,
    trainer: Trainer,
    choices: tuple[Any, ...],
    examples: Sequence[Example],
    progress: ProgressCallback | None,
) -> Learnt:
    shown = [each.shown for each in examples if each.shown is not None]
    return replace(trainer.fit(shown, progress), choices=choices, temperature=learnt.temperature)


def _go_on(
    learnt: Learnt, everything: Sequence[Example], progress: ProgressCallback | None
) -> Learnt:
    """Continue training on examples, of which the first ones are already encoded.

    Everything is encoded again if no encoding was kept, if there are many new examples, or if
    encodings depend on θ.
    """
    trainer = Trainer.of(learnt)
    if not learnt.encoded or len(everything) > (1 + _SHARE) * len(learnt.encoded[0].data.examples):
        return trainer.go_on(learnt, everything, progress)
    members = trainer.model.all_members(trainer.overlay, trainer.features)
    loss, fitted = 0.0, []
    for member, known, base in zip(members, learnt.fitted.members, learnt.encoded, strict=True):
        lesson = _Lesson(trainer, member, known, base, everything)
        if lesson.recent.realigns:
            return trainer.go_on(learnt, everything, progress)
        more, theta = lesson.learn(progress)
        loss += more
        fitted.append(
            replace(
                known, encoder=lesson.encoder, space=lesson.space, theta=theta,
                lengths=trainer.model.lengths(lesson.encoder, everything),
            )
        )  # fmt: skip
    first, *others = fitted
    fitted_now = replace(first, others=tuple(others))
    return trainer.remember(
        replace(learnt, fitted=fitted_now, loss=loss, examples=tuple(everything))
    )


def _words(example: Example) -> list[str]:
    return [word.lower() for text in example.instructions for word in text.tokens]


def _like(before: Sequence[Example], new: Sequence[Example]) -> list[Example]:
    """Return the known examples that share the rarest words with the new ones."""
    words = [set(_words(each)) for each in before]
    often = Counter(word for each in words for word in each)
    asked = {word for each in new for word in _words(each)}
    alike = np.array([sum(1 / often[word] for word in each & asked) for each in words])
    order = np.argsort(-alike, kind="stable")[:_NEAR]
    return [before[place] for place in order if alike[place] > 0]


class _Lesson:
    """The loss of an ensemble member on all examples, both earlier and new ones."""

    def __init__(
        self,
        trainer: Trainer,
        member: Member,
        known: FittedModel,
        base: Objective,
        examples: Sequence[Example],
    ) -> None:
        self.trainer = trainer
        self.known = known
        self.encoder = known.encoder.fork()
        self.space = member.features.space()
        self.space.word_names = dict(known.space.word_names)
        self.space.node_names = dict(known.space.node_names)
        with paused_collector():
            self.recent = self._recent(base.data.examples, examples, member)
        self.parts = (base, self.recent)
        self.penalty = trainer.penalty(self.encoder, examples, self.space)
        self.places = [self.space.places(part.data.space.keys) for part in self.parts]

    def _recent(
        self, before: Sequence[Example], examples: Sequence[Example], member: Member
    ) -> Objective:
        """Encode the new examples, with the features that first occur in them."""
        new, model, reader = examples[len(before) :], self.trainer.model, self.known.encoder.reader
        counts = Counter(word for each in examples for word in _words(each))
        near = _like(before, new) if member.features.min_word_count > 1 else []
        data = replace(
            self.trainer.data(self.encoder, member.features, [*near, *new]), space=self.space
        )
        growing = model.objective(data)
        growing.survey()
        # All examples determine the context words.
        self.encoder.reader.counts, self.encoder.reader.labeller = counts, reader.labeller
        growing.encode()  # finds new features
        self.space.keys = np.union1d(self.known.space.keys, self.space.keys)
        return model.objective(replace(data, examples=new, grow=False)).prepare()

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        total, gradient = 0.0, np.zeros(len(theta))
        for part, places in zip(self.parts, self.places, strict=True):
            value, slope = part.loss(theta[places])
            total += value
            gradient[places] += slope
        return total, gradient

    def learn(self, progress: ProgressCallback | None) -> tuple[float, Reals]:
        learning = self.trainer.learning

        def tell(step: int, value: float) -> bool:
            if progress is None:
                return False
            return progress(Progress("training", step, learning.iterations, value)) is True

        start = np.zeros(len(self.space))
        places = self.space.places(self.known.space.keys)
        start[places[places >= 0]] = self.known.theta[places >= 0]
        value, theta, _ = minimise(
            self.loss, start, l1=learning.l1, l2=self.penalty, iterations=learning.iterations,
            tolerance=max(learning.tolerance, WARM_TOLERANCE), progress=tell,
        )  # fmt: skip
        return value, theta
