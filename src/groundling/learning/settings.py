"""The settings of learning: how weights are penalised and optimised."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.settings import Settings, setting


@dataclass(frozen=True, repr=False)
class Learning(Settings):
    """How θ is learnt, whatever the model.

    Parameters
    ----------
    l1, l2
        Strengths of the penalties l1·Σ|θ| and l2/2·Σθ².
    iterations
        L-BFGS iterations per round.
    rounds
        Rounds of alternating alignments and θ, or of finding new plans to win against where
        not all can be enumerated.
    tolerance
        L-BFGS stops when the loss falls by less than this, relatively.
    augment
        Whether demonstrations that the environment offers as mirror images are used too.
    composed
        The weight of composed demonstrations: two of one group that follow each other, joined
        into one (see `compose`), if their plan is no longer than those searched for. 0: none.
    rare_words
        Whether the weight of a word and a label that were shown once, together, is penalised as
        if nothing else had been shown (see `RareWords`).

    Examples
    --------
    >>> Learning(l2=-1)
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Learning.l2 is at least 0, not -1.0.
    """

    l1: float = setting(0.0, least=0)
    l2: float = setting(1.0, least=0)
    iterations: int = setting(100, least=1)
    rounds: int = setting(5, least=1)
    tolerance: float = setting(1e-7, least=0)
    augment: bool = True
    composed: float = setting(0.0, least=0)
    rare_words: bool = False
