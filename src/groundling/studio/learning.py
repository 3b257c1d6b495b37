"""Learning from one more demonstration: what the studio asks of a follower."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from groundling.follower import Follower
from groundling.learning.training import ProgressCallback
from groundling.world.environment import Demonstration

__all__ = ["learn"]


def learn(
    make: Callable[[], Follower],
    base: Sequence[Demonstration],
    shown: Mapping[str, Demonstration],
    progress: ProgressCallback | None = None,
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

    Examples
    --------
    >>> from groundling.studio.kitchen import Kitchen
    >>> from groundling.studio.presets import lesson_follower
    >>> kitchen = Kitchen()
    >>> shown = {"1": Demonstration("zum Tisch", kitchen, kitchen.start, ("go to the table",))}
    >>> learn(lesson_follower, (), shown).follow("zum Tisch", kitchen, kitchen.start).actions
    ('go to the table',)
    >>> learn(lesson_follower, (), {}) is None
    True
    """
    everything = [*base, *shown.values()]
    if not any(each.weight > 0 for each in everything):
        return None
    return make().fit(everything, progress=progress, check=False)
