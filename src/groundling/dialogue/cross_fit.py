"""Cross-fitting: demonstrations seen by followers that did not learn from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import NamedTuple

from groundling.data.own import folds
from groundling.dialogue.outcomes import Listener
from groundling.errors import GroundlingWarning
from groundling.world.environment import Demonstration


class HeldOutFold(NamedTuple):
    """A follower, what it learnt from, and demonstrations that it has not seen."""

    follower: Listener
    learnt: list[Demonstration]
    held_out: list[Demonstration]


def cross_fit(
    follower: Listener, demonstrations: Iterable[Demonstration], parts: int = 4
) -> list[HeldOutFold]:
    """Hold out each of several parts in turn, and learn from the others by the same settings.

    Demonstrations of one group stay together.

    >>> from groundling import Follower
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration(text, Lamp(), "off", ("on",)) for text in ("on", "light", "shine")]
    >>> follower = Follower(parser="chain").fit(shown, check=False)
    >>> [(len(each.learnt), len(each.held_out)) for each in cross_fit(follower, shown, 3)]
    [(2, 1), (2, 1), (2, 1)]
    """
    found = []
    for rest, part in folds(demonstrations, parts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GroundlingWarning)  # the fit on all has told
            found.append(HeldOutFold(follower.chosen().fit(rest, check=False), rest, part))
    return found
