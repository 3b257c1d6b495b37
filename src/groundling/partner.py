"""A partner: another way to lay text over plans, whose scores a follower averages in."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.features.settings import Features
from groundling.model.settings import Overlay

__all__ = ["Partner"]


@dataclass(frozen=True)
class Partner:
    """A second model that learns from the same demonstrations and has an equal say.

    Models that look at different sides of a text make different mistakes: one that reads
    along the dependencies and one that reads word by word are together better than either.
    The score of a plan is the mean of all scores. A partner shares the follower's parser,
    lexicon, learning and search; its `Features.lexicon`, `promote` and `stop_words` are not
    asked.

    Parameters
    ----------
    overlay
        How this model lays text over plans.
    features
        Which joined features this model has.

    Examples
    --------
    >>> from groundling import Features, Follower, Overlay
    >>> chain = Partner(Overlay(skeleton="chain"), Features(words=("word", "previous")))
    >>> Follower(partners=[chain]).partners[0].overlay.skeleton
    'chain'
    """

    overlay: Overlay
    features: Features
