"""The followers that the studio begins with: one for the lesson, one for all worlds."""

from __future__ import annotations

from groundling.features.feature_settings import Features
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.overlay.settings import Overlay

__all__ = ["lesson_follower", "plain_follower"]

UNDERSTOOD = 0.5  # below this confidence the studio asks what was meant


def lesson_follower() -> Follower:
    """Return the follower of the lesson: words in a row, of any language.

    >>> lesson_follower().parser
    'chain'
    """
    return Follower(
        parser="chain",
        # The verb may stand anywhere, so any word may lie on any node.
        overlay=Overlay(unit="word", entry="any"),
        features=Features(words=("word",)),
        learning=Learning(l2=0.1),
        # After ten demonstrations nobody is sure of much.
        search=Search(max_length=4, threshold=0.35),
    )


def plain_follower() -> Follower:
    """Return the follower of a world of one's own, untrained.

    >>> plain_follower().search.threshold
    0.5
    """
    return Follower(search=Search(threshold=UNDERSTOOD))
