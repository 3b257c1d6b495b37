"""Trying settings out: learning from some demonstrations and following the others."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from groundling.errors import GroundlingError, GroundlingWarning
from groundling.learning.facts import Facts
from groundling.learning.presets import learning_for
from groundling.learning.trainer import Trainer
from groundling.models.base import Request
from groundling.models.learnt import Learnt
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration
from groundling.world.trajectory import Trajectory

__all__ = ["briefly", "count_right", "in_common", "pilot", "split"]

_LONG = 30  # units of text that take their time
_GROUPS = 6  # from which on whole groups can be left out
_MANY = 45  # demonstrations of which a third is enough to test on
_ITERATIONS = 20
_BEAM = 15  # plans that are kept where only the best one counts


def briefly(trainer: Trainer, facts: Facts) -> Trainer:
    """Return the same with plans as long as can be listed again and again."""
    length, longest = facts.trial_length, trainer.search.max_length
    if not trainer.model.member_model.lists_plans or length is None or longest is None:
        return trainer
    length = max(trainer.search.min_length, min(length, longest))
    return replace(trainer, search=replace(trainer.search, max_length=length))


def pilot(trainer: Trainer, facts: Facts) -> float:
    """Return the share of right answers on parts of the sample, learning from the rest."""
    features = replace(trainer.features, reorder=False)
    if features.learns_lexicon:
        features = replace(features, lexicon="strings")
        if facts.opaque:  # which nothing matches without a lexicon
            features = replace(features, slots=())
    search = trainer.search
    if search.decode == "transitions" and search.planning:
        # A wide beam is for what plans have in common; here the best one counts.
        search = replace(search, beam=min(search.beam or search.budget, _BEAM))
    right, tested = 0.0, 0
    shown = facts.remembered
    if facts.units > _LONG:
        shown = shown[:_MANY]
    for test, learn in split(shown):
        l2 = learning_for(facts, trainer.model, len(learn)).l2
        quick = replace(trainer.learning, iterations=_ITERATIONS, l2=l2, augment=False,
                        composed=0.0)  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GroundlingWarning)
                quickly = replace(trainer, learning=quick, features=features, search=search)
                learnt = quickly.fit(learn)
                right += count_right(learnt, test)
        except GroundlingError:  # a configuration that cannot work here is none to choose
            return 0.0
        tested += len(test)
    return right / tested


def count_right(learnt: Learnt, test: Sequence[Demonstration]) -> float:
    """Return in how many demonstrations the best plan ends as demonstrated.

    Where the world has a goal, in which all plans end, the actions count; where transitions are
    decoded, plans count by what they have in common.
    """
    encoder = learnt.fitted.encoder
    texts = encoder.reader.read_many(each.instructions for each in test)
    requests = [
        Request(text, encoder.world(each.environment), each.start)
        for text, each in zip(texts, test, strict=True)
    ]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    right = 0.0
    for each, request, result in zip(test, requests, results, strict=True):
        world = request.world
        best = max(result.plans, key=lambda plan: plan.score, default=None)
        shown = world.trace(each.start, each.actions, str(each))
        if best is None:
            continue
        if learnt.search.decode == "transitions":
            right += in_common(world, best, shown)
        elif world.has_goal:
            right += best.actions in (shown.actions, *map(tuple, each.also))
        else:
            right += world.outcome(best.end) == world.outcome(shown.end)
    return right


def in_common(world: CachedEnvironment, one: Trajectory, other: Trajectory) -> float:
    """Return the share of transitions from outcome to outcome that two plans have in common."""
    first, second = (
        Counter(pairwise(world.outcome(state) for state in each.states)) for each in (one, other)
    )
    return 2 * (first & second).total() / (first.total() + second.total())


def split(
    shown: Sequence[Demonstration],
) -> Iterator[tuple[list[Demonstration], list[Demonstration]]]:
    """Yield thirds to test on, each with the rest that is not of the same groups.

    One third is enough of many demonstrations; few are all tested on.
    """
    for part in range(1 if len(shown) >= _MANY else 3):
        test = list(shown[part::3])
        groups = {each.group for each in test} - {""}
        rest = [each for place, each in enumerate(shown) if place % 3 != part]
        learn = [each for each in rest if each.group not in groups]
        if len(learn) < len(test):
            yield _by_groups(shown, part) or (test, rest)
        else:
            yield test, learn


def _by_groups(
    shown: Sequence[Demonstration], part: int
) -> tuple[list[Demonstration], list[Demonstration]] | None:
    """Return a third of the groups and the rest; of few groups nothing: better mixed than so."""
    groups = list(dict.fromkeys(each.group for each in shown))
    if len(groups) < _GROUPS:
        return None
    chosen = set(groups[part::3])
    test = [each for each in shown if each.group in chosen]
    return test, [each for each in shown if each.group not in chosen]
