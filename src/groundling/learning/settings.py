"""Training settings: penalties and optimiser."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.settings import Settings, setting


@dataclass(frozen=True, repr=False)
class Learning(Settings):
    """Settings of training, for every model.

    Parameters
    ----------
    l1, l2
        Strengths of the penalties l1·Σ|θ| and l2/2·Σθ².
    iterations
        L-BFGS iterations per round.
    rounds
        Rounds of alternating alignments and θ, or of searching competing plans if they cannot all
        be enumerated.
    tolerance
        L-BFGS stops when the relative decrease of the loss is below this.
    augment
        Whether to train on the environment's mirror images, too.
    composed
        Weight of composed demonstrations: two consecutive ones of a group, joined into one (see
        `compose`), if the plan is within `Search.max_length`. 0 turns them off.
    recall
        Strength of the `DemonstrationMemory`: a text similar to a demonstrated one tends to mean
        the same. 0 turns it off; None chooses it by leave-one-out cross-validation.
    rare_words
        Whether to penalise the weight of a word and a label that occur once, together, as if there
        were only one demonstration (see `RareWords`).
    grow
        Whether to train on a random quarter of the demonstrations first, and to continue from
        there if the loss is lower after a few iterations. Avoids poor local optima if the objective
        is not convex, such as with relations between many things. Not available in shards.

    Examples
    --------
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
