"""The settings of inference: how plans are searched for and decoded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundling.errors import SettingError, did_you_mean

__all__ = ["Search"]

_CHOICES = {
    "decode": ("plan", "outcome", "transitions"),
    "compare": ("score", "text"),
}


@dataclass(frozen=True)
class Search:
    """How plans are searched for.

    Parameters
    ----------
    max_length
        The longest plan that is considered.
    min_length
        The shortest one.
    beam
        How many unfinished plans are kept at each length when not all can be; `None`
        keeps all (with equal states merged where the model allows it: Viterbi).
    budget
        How many plans may be enumerated before the beam takes over, and how many
        (state, action) pairs a search may look at before it gives up.
    planning
        Without planning, the agent is the paper's reflex agent: it takes the best next
        action, one after another, and never looks ahead.
    decode
        `plan`: the most probable plan; `outcome`: the end state with the most
        probability over all plans that lead there; `transitions`: the plan with the
        most expected transitions in common with the others (minimum Bayes risk), where a
        transition leads from one state's outcome to the next one's.
    restarts, rounds
        For the paper's alternation between alignment and plan: how many random
        alignments to start from, and how often to alternate.
    compare
        For the alternation: whether the plans that it ends with are compared by their
        whole `score`, or by how well they fit the `text` only.
    joint
        Instead of the alternation: search plan and alignment together and exactly, among
        all states that can be reached (`inference/joint.py`). An agent without planning
        alternates all the same.
    bonus
        What each action adds to the score of a plan that is read unit by unit. Decisions
        that are normalised one by one favour short plans: after a wrong turn nothing
        seems worth doing, and doing nothing costs little.
    evidence
        For plans that are read unit by unit: the power of each decision's normaliser that
        its probability is multiplied by. With 0, a unit that fits nothing that can be done
        does not speak against the plan so far; with more, it does.
    threshold
        Below this confidence the follower says that it does not understand.

    Examples
    --------
    >>> Search(decode="outcomes")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Search.decode cannot be 'outcomes'. Did you mean 'outcome'?
    """

    max_length: int = 4
    min_length: int = 1
    beam: int | None = 15
    budget: int = 20_000
    planning: bool = True
    decode: str = "plan"
    restarts: int = 10
    rounds: int = 5
    compare: str = "score"
    joint: bool = False
    bonus: float = 0.0
    evidence: float = 0.0
    threshold: float = 0.0

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise SettingError(
                    f"Search.{name} cannot be {value!r}.{did_you_mean(value, known)}"
                )
        for name in ("max_length", "min_length", "budget", "restarts", "rounds"):
            if getattr(self, name) < 1:
                raise SettingError(f"Search.{name} is at least 1, not {getattr(self, name)}.")
        if self.min_length > self.max_length:
            raise SettingError(
                f"Search.min_length ({self.min_length}) is over max_length ({self.max_length})."
            )
        if self.beam is not None and self.beam < 1:
            raise SettingError(f"Search.beam is at least 1, or None for all, not {self.beam}.")
        if not 0 <= self.threshold <= 1:
            raise SettingError(f"Search.threshold is between 0 and 1, not {self.threshold}.")

    def extended(self, extra: int) -> Search:
        """Return the search with a longer limit; a length that was told stays as it is.

        >>> Search(max_length=3).extended(1).max_length
        4
        """
        if extra <= 0 or self.min_length == self.max_length:
            return self
        return replace(self, max_length=self.max_length + extra)
