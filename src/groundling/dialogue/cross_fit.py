"""Cross-fitting: followers applied to demonstrations held out from their training."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import NamedTuple

from groundling.data.own import folds
from groundling.dialogue.outcomes import Listener
from groundling.errors import GroundlingWarning
from groundling.world.environment import Demonstration


class HeldOutFold(NamedTuple):
    """A follower with its training demonstrations and its held-out demonstrations."""

    follower: Listener
    learnt: list[Demonstration]
    held_out: list[Demonstration]


def cross_fit(
    follower: Listener, demonstrations: Iterable[Demonstration], parts: int = 4
) -> list[HeldOutFold]:
    """Train one follower for each fold on all other folds, with the same settings.

    `parts` is the number of folds. Demonstrations of one group stay in the same fold.

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
            # A fit on all demonstrations has already emitted these warnings.
            warnings.simplefilter("ignore", GroundlingWarning)
            found.append(HeldOutFold(follower.chosen().fit(rest, check=False), rest, part))
    return found
