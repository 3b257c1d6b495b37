"""The strength of the memory of demonstrations, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundling.answers import decoded
from groundling.inference.decoder import log_softmax
from groundling.models.base import Request
from groundling.models.example import Example
from groundling.models.learnt import Learnt
from groundling.models.memory import (
    BEST,
    DemonstrationMemory,
    added,
    compare_plans,
    latest,
    words_of,
)
from groundling.overlay.batch import Reals
from groundling.ties import rank
from groundling.world.judgement import Judgement

STRENGTHS = (0.0, 2.0, 4.0, 8.0)
CASES = 40  # number of demonstrations used for the choice
AGAIN = 0.5  # assumed share of future texts that repeat a demonstration


def remember(learnt: Learnt, recall: float | None) -> Learnt:
    """Return the model with a memory of its demonstrations.

    `recall` is the strength of the memory. With None, the strength is chosen by cross-validation.
    With 0, there is no memory.

    >>> from groundling import Demonstration, Follower, Learning
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
    >>> follower = Follower(parser="chain", learning=Learning(recall=3.0)).fit(shown)
    >>> follower.learnt_.memory.strength, len(follower.learnt_.memory.shown)
    (3.0, 1)
    """
    if recall == 0:
        return learnt.without_memory()
    memory = DemonstrationMemory.of(learnt.examples)
    strength = choose_strength(learnt, memory) if recall is None else recall
    return replace(learnt, memory=memory.with_strength(strength))


def choose_strength(learnt: Learnt, memory: DemonstrationMemory) -> float:
    """Return the strength that maximises the likelihood of the demonstrations.

    Each demonstration is used twice: as a repeated text, with the whole memory, and as a new text,
    with the memory of the other demonstrations. If two strengths are equally good, the weaker one
    is returned.
    """
    shown = latest(learnt.examples)
    if len(shown) > CASES:
        shown = [shown[place] for place in np.linspace(0, len(shown) - 1, CASES).astype(int)]
    cases = _cases(learnt.without_memory(), memory.with_strength(1.0), shown)
    losses = [sum(case.loss(strength) for case in cases) for strength in STRENGTHS]
    return STRENGTHS[int(np.argmin(np.round(losses, 9)))]


@dataclass(frozen=True)
class _Case:
    """The best plans for a demonstration, with their scores and correctness.

    `logs` are the scores without the memory. `whole` and `others` are the terms that the memory
    adds: with all demonstrations, and without the group of this one.
    """

    logs: Reals
    whole: Reals
    others: Reals
    right: NDArray[np.bool_]

    def loss(self, strength: float) -> float:
        """Return the expected negative log-likelihood of the correct plans."""
        said_again, new = (
            -float(np.logaddexp.reduce(log_softmax(self.logs + strength * added)[self.right]))
            for added in (self.whole, self.others)
        )
        return AGAIN * said_again + (1 - AGAIN) * new


def _cases(learnt: Learnt, memory: DemonstrationMemory, shown: Sequence[Example]) -> list[_Case]:
    requests = [Request(each.instructions, each.world, each.trajectory.start) for each in shown]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    cases = []
    for each, request, result in zip(shown, requests, results, strict=True):
        told = decoded(learnt, request, result, learnt.search)
        if told is None or result.settled:
            continue
        best = rank(told.logs, most=BEST)[:BEST]
        plans = [told.found[place] for place in best]
        judgement = Judgement.among(each.world, (each.trajectory, *each.also))
        right = np.array([judgement.accepts(plan) for plan in plans])
        if right.any() and not right.all():
            logs = told.logs[best]
            like = memory.like(words_of(request.text))
            graphs = compare_plans(like, request.world, [plan.decisions() for plan in plans])
            new = [n for n, (shown, _) in enumerate(like) if shown.group != each.group]
            whole, others = (
                added([like[n] for n in some], graphs[:, some], memory.strength)
                for some in (list(range(len(like))), new)
            )
            cases.append(_Case(logs, whole, others, right))
    return cases
