"""The settings of learning: what is normalised over what, and how alignments are treated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundling.errors import SettingError, did_you_mean
from groundling.trust import check_pattern

__all__ = ["Learning"]

_CHOICES = {
    "normalise": ("plans", "decisions"),
    "alignment": ("marginal", "best", "viterbi", "all"),
    "alternatives_from": ("decision", "path"),
    "begin": ("weights", "alignment"),
}


@dataclass(frozen=True)
class Learning:
    """How θ is learnt.

    Parameters
    ----------
    normalise
        `plans`: the demonstrated plan against all other plans (enumerated, or sampled
        and beamed where there are too many); `decisions`: each demonstrated action
        against the alternatives in its state.
    alignment
        `marginal`: sum over all alignments of text to actions; `viterbi`: the paper's
        alternation between the best alignment and θ; `all`: every unit with every action
        (with `decisions`); `best`: read unit by unit as with `marginal` and `decisions`, but
        keep only the best reading of each plan.
    alternatives
        How many alternatives Ỹ are sampled per decision (`None`: all), and from where:
        the state of the decision, or all states of the path. With `plans`: how many
        plans are sampled where they cannot be enumerated.
    begin
        With `viterbi`: whether the alternation begins with random weights, or with units
        spread evenly over the actions.
    silence
        With `viterbi`: the score at which a unit may align with no action; `None` if
        every unit must align.
    again
        With `decisions` and `marginal`: whether one unit may name several actions.
    idle, repeat
        With `decisions` and `marginal`: what a unit costs that names no action, and each
        further action that a unit names. Without, text is free once nothing can be done.
    last_to_last
        With `viterbi`: the last unit aligns with the last action.
    l1, l2
        Strengths of the penalties l1·Σ|θ| and l2/2·Σθ².
    stiff
        Regular expressions, each with a factor: features whose names match are penalised so
        many times as strongly by L2.
    iterations, rounds
        L-BFGS iterations per round, and rounds of the alternation (or of beaming new
        rival plans).
    tolerance
        L-BFGS stops when the loss falls by less than this, relatively.
    restarts, spread
        How many random starts to try, and the standard deviation of the first θ (the
        first start is at zero unless `alignment="viterbi"`).
    mirror
        Whether demonstrations that the environment offers as mirror images are used too.

    Examples
    --------
    >>> Learning(normalise="plan")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Learning.normalise cannot be 'plan'. Did you mean 'plans'?
    """

    normalise: str = "plans"
    alignment: str = "marginal"
    alternatives: int | None = None
    alternatives_from: str = "decision"
    begin: str = "weights"
    silence: float | None = None
    again: bool = True
    idle: float = 0.0
    repeat: float = 0.0
    last_to_last: bool = False
    l1: float = 0.0
    l2: float = 1.0
    stiff: tuple[tuple[str, float], ...] = ()
    iterations: int = 100
    rounds: int = 5
    tolerance: float = 1e-7
    restarts: int = 1
    spread: float = 0.1
    mirror: bool = True

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise SettingError(
                    f"Learning.{name} cannot be {value!r}.{did_you_mean(value, known)}"
                )
        if self.normalise == "plans" and self.alignment in ("all", "best"):
            raise SettingError(
                f"Learning.alignment={self.alignment!r} goes with normalise='decisions'; for whole "
                "plans use 'marginal', or Overlay(skeleton='bag')."
            )
        for name in ("iterations", "rounds", "restarts"):
            if getattr(self, name) < 1:
                raise SettingError(f"Learning.{name} is at least 1, not {getattr(self, name)}.")
        for name in ("l1", "l2", "spread", "tolerance", "idle", "repeat"):
            if not getattr(self, name) >= 0:
                raise SettingError(f"Learning.{name} is 0 or more, not {getattr(self, name)}.")
        if self.alternatives is not None and self.alternatives < 1:
            raise SettingError(
                f"Learning.alternatives is at least 1, or None for all, not {self.alternatives}."
            )
        object.__setattr__(self, "stiff", tuple((str(p), float(f)) for p, f in self.stiff))
        for pattern, factor in self.stiff:
            try:
                check_pattern(pattern)
                re.compile(pattern)
            except (re.error, ValueError) as error:
                raise SettingError(
                    f"Learning.stiff holds {pattern[:60]!r}, which cannot be used: {error}."
                ) from error
            if not factor >= 0:
                raise SettingError(f"Learning.stiff: the factor of {pattern!r} is {factor}.")

    @property
    def reads(self) -> bool:
        """Whether the text is read unit by unit, on the lattice."""
        return self.normalise == "decisions" and self.alignment in ("marginal", "best")

    def strengths(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the strength of L2 for each feature.

        >>> Learning(l2=2.0, stiff=(("side=", 10.0),)).strengths(["word=up", "side=East"])
        array([ 2., 20.])
        """
        found = np.full(len(names), self.l2)
        for pattern, factor in self.stiff:
            found *= [factor if re.search(pattern, name) else 1.0 for name in names]
        return found
