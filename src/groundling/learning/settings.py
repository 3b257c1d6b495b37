"""Settings of training: penalties, optimiser and data."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.settings import Settings, setting


@dataclass(frozen=True, repr=False)
class Learning(Settings):
    """Settings of training that apply to every model.

    Parameters
    ----------
    l1, l2
        Strengths of the penalties l1·Σ|θ| and l2/2·Σθ².
    iterations
        Maximum number of L-BFGS iterations per round.
    rounds
        Maximum number of rounds. Each realigns the units of texts with actions or, if not all plans
        can be enumerated, searches for competing plans.
    tolerance
        Relative decrease of the loss below which L-BFGS stops.
    augment
        Whether to train also on the mirror images that the environment returns.
    composed
        Weight of composed demonstrations, that is, two consecutive demonstrations of a group joined
        into one (see `compose`) whose plan is within `Search.max_length`. 0 turns them off.
    recall
        Strength of the `DemonstrationMemory`, by which a text similar to a demonstrated one tends
        to mean the same. 0 turns it off; None chooses it by leave-one-out cross-validation.
    rare_words
        Whether to use a weaker penalty for a word and a label that occur once, in the same
        demonstration (see `RareWords`).
    grow
        Whether to train first on a random quarter of the demonstrations, and to continue from there
        if the loss is lower after a few iterations. This avoids poor local optima of objectives
        that are not convex, as with relations between many things. Not available in shards.

    Examples
    --------
    >>> Learning(l2=0.5)
    Learning(l2=0.5)
    >>> Learning(l2=-1)
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Learning.l2 must be >= 0; got -1.0.
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
