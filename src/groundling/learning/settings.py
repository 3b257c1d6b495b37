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
    recall
        The strength of the memory of demonstrations (see `Memory`): a text that is like one that
        was shown tends to mean what was shown. 0: nothing is remembered; None: chosen by leaving
        demonstrations out.
    rare_words
        Whether the weight of a word and a label that were shown once, together, is penalised as
        if nothing else had been shown (see `RareWords`).
    grow
        Whether to learn from a quarter of the demonstrations first, drawn by the seed, and to go on
        from there if that has the lower loss after a few iterations. Where the objective is not
        convex, as with relations between many things, it keeps out of poor local optima. Not for
        training in shards.

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
    recall: float | None = setting(0.0, least=0, most=100)
    rare_words: bool = False
    grow: bool = False
