"""The settings of inference: how plans are searched for and decoded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from groundling.errors import SettingError
from groundling.settings import Settings, idle_setting, setting

_LONGEST = 4


@dataclass(frozen=True, repr=False)
class Search(Settings):
    """How plans are searched for.

    Parameters
    ----------
    max_length
        The longest plan that is considered; `None` leaves it to the demonstrations (see
        `Follower.choices_`).
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
    threshold
        Below this confidence the follower says that it does not understand.
    memory
        How many megabytes may be spent on remembering worlds, graphs and plans that were asked
        about, to answer faster. What was not used lately gives way; answers stay what they are.

    Examples
    --------
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
                f"Search.min_length ({self.min_length}) is over max_length ({self.max_length})."
            )
        if not self.planning and "beam" in self.changed():
            raise idle_setting(
                "Search.beam",
                "with planning=False, which keeps one plan",
                "Leave it out, or use planning=True.",
            )

    @property
    def longest(self) -> int:
        """The longest plan that is considered; four where no demonstrations have told.

        >>> Search(max_length=3).longest, Search().longest
        (3, 4)
        """
        return max(_LONGEST, self.min_length) if self.max_length is None else self.max_length

    def extended(self, extra: int) -> Search:
        """Return the search with a longer limit; a length that was told stays as it is.

        >>> Search(max_length=3).extended(1).max_length
        4
        """
        if extra <= 0 or self.min_length == self.longest:
            return self
        return replace(self, max_length=self.longest + extra)
