"""Settings for plan search and decoding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from groundling.errors import SettingError
from groundling.settings import Settings, idle_setting, setting

_LONGEST = 4


@dataclass(frozen=True, repr=False)
class Search(Settings):
    """Settings for plan search and decoding.

    Parameters
    ----------
    max_length
        Maximum plan length; `None` chooses it from the demonstrations (see `Follower.choices_`).
    min_length
        Minimum plan length.
    beam
        Number of unfinished plans kept at each length, if not all plans can be enumerated.
        `None` keeps all, merging equal states if the model allows it (Viterbi).
    budget
        Maximum number of plans to enumerate before falling back to beam search, and of
        (state, action) pairs to score before a search gives up.
    planning
        Whether to look ahead. With False, use the paper's reflex agent, which takes the best next
        action at each step.
    decode
        `plan`: the most probable plan. `outcome`: the end state with the highest total
        probability over all plans that lead to it. `transitions`: the plan with the highest
        expected overlap of transitions with the other plans (minimum Bayes risk); a transition
        is a pair of outcomes of consecutive states.
    threshold
        Confidence below which the follower abstains.
    memory
        Size limit of the LRU cache of worlds, graphs and plans, in megabytes. It affects speed,
        not results.

    Examples
    --------
    >>> Search(beam=10, decode="outcome")
    Search(beam=10, decode='outcome')
    >>> Search(decode="outcomes")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Search.decode must be one of ...; got 'outcomes'. Did you mean
    'outcome'?
    """

    max_length: int | None = setting(None, least=1, most=10_000)
    min_length: int = setting(1, least=1, most=10_000)
    beam: int | None = setting(15, least=1)
    budget: int = setting(20_000, least=1)
    planning: bool = True
    decode: Literal["plan", "outcome", "transitions"] = "plan"
    threshold: float = setting(0.0, least=0.0, most=1.0)
    memory: int = setting(100, least=1, most=1_000_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_length is not None and self.min_length > self.max_length:
            raise SettingError(
                f"Search.min_length must be <= max_length ({self.max_length}); "
                f"got {self.min_length}."
            )
        if not self.planning and "beam" in self.changed():
            raise idle_setting(
                "Search.beam",
                "with planning=False, which keeps a single plan",
                "Leave it out, or use planning=True.",
            )

    @property
    def longest(self) -> int:
        """The maximum plan length; at least 4 if `max_length` is not set.

        >>> Search(max_length=3).longest, Search().longest
        (3, 4)
        """
        return max(_LONGEST, self.min_length) if self.max_length is None else self.max_length

    def extended(self, extra: int) -> Search:
        """Return the settings with `extra` added to the maximum length.

        Nothing changes if the minimum and maximum lengths are equal.

        >>> Search(max_length=3).extended(1).max_length
        4
        """
        if extra <= 0 or self.min_length == self.longest:
            return self
        return replace(self, max_length=self.longest + extra)
