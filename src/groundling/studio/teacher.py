"""Learning from one more demonstration: what the studio asks of a follower."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from groundling.follower import Follower
from groundling.learning.rounds import ProgressCallback
from groundling.plan import Plan
from groundling.ties import at_least
from groundling.world.environment import Demonstration

__all__ = ["learn", "threshold_of", "understood"]

UNDERSTOOD = 0.5  # below this confidence one asks what was meant, where no threshold was calibrated


def threshold_of(follower: Follower | None) -> float:
    """Return the confidence below which studio and service ask what was meant.

    It is the follower's own threshold; one that has none would take any guess for understood.

    >>> from groundling import Search
    >>> threshold_of(Follower(search=Search(threshold=0.35))), threshold_of(Follower())
    (0.35, 0.5)
    """
    return (follower.threshold if follower is not None else 0) or UNDERSTOOD


def understood(follower: Follower | None, plan: Plan) -> bool:
    """Tell whether a plan is sure enough to be carried out.

    A text of which not one word is known is not understood, however few plans there are.
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
    """Return a follower that knows the demonstrations; nothing if there are none.

    The follower that answers meanwhile is left as it is, so that nobody waits.

    Parameters
    ----------
    make
        Returns the follower, untrained.
    base, shown
        What it learns from; those shown go by names that change when they are edited.
    progress
        Is called after every step.
    known
        A follower that knows some of them; only what it does not know is learnt.

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
