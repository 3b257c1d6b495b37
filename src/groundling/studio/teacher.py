"""Incremental training for the studio and the service."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from groundling.follower import Follower
from groundling.learning.rounds import ProgressCallback
from groundling.plan import Plan
from groundling.ties import at_least
from groundling.world.environment import Demonstration

UNDERSTOOD = 0.5  # threshold of followers that have no calibrated threshold


def threshold_of(follower: Follower | None) -> float:
    """Return the minimum confidence of a plan that counts as understood.

    This is the follower's threshold, or 0.5 if the follower has none.

    >>> from groundling import Search
    >>> threshold_of(Follower(search=Search(threshold=0.35))), threshold_of(Follower())
    (0.35, 0.5)
    """
    return (follower.threshold if follower is not None else 0) or UNDERSTOOD


def understood(follower: Follower | None, plan: Plan) -> bool:
    """Return whether a plan is confident enough to be carried out.

    A text with only unknown words never counts as understood, even if there is only one plan.
    """
    if plan.unexplained and len(plan.unexplained) == len(plan.words):
        return False
    return plan.understood and at_least(plan.confidence, threshold_of(follower))


def learn(
    make: Callable[[], Follower],
    base: Sequence[Demonstration],
    shown: Mapping[str, Demonstration],
    progress: ProgressCallback | None = None,
    known: Follower | None = None,
) -> Follower | None:
    """Return a follower trained on the demonstrations, or None if there are none.

    The follower `known` is not modified, so that it can answer requests during training.

    Parameters
    ----------
    make
        Function that returns an unfitted follower.
    base, shown
        The training demonstrations. The keys of `shown` must change when a demonstration is edited.
    progress
        Function that is called after each training step.
    known
        A follower trained on some of the demonstrations; training then learns only the changes.

    Examples
    --------
    >>> from groundling.studio.kitchen import Kitchen
    >>> kitchen = Kitchen()
    >>> shown = {"1": Demonstration("zum Tisch", kitchen, kitchen.start, ("go to the table",))}
    >>> learn(Follower, (), shown).follow("zum Tisch", kitchen, kitchen.start).actions
    ('go to the table',)
    >>> learn(Follower, (), {}) is None
    True
    """
    named = {name: replace(each, name=name) for name, each in shown.items()}
    everything = [*base, *named.values()]
    if not any(each.weight > 0 for each in everything):
        return None
    knows = [] if known is None else [each.name for each in known.demonstrations_[len(base) :]]
    kept = [name for name in knows if name in named]
    if known is None or not (base or kept) or not known.demonstrations_:
        return make().fit(everything, progress=progress, check=False)
    follower = copy(known)
    if len(kept) < len(knows):
        follower.forget(set(knows) - set(kept), progress=progress)
    new = [each for name, each in named.items() if name not in kept]
    return follower.teach(new, progress=progress, check=False) if new else follower
