"""How many plans there are: what listing them costs, and which length can be borne."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State

ENUMERABLE = 20_000
"""How many plans can be listed from a start: the default of `Search.budget`."""
_STEPS = 500  # steps that counting may take from one start,
_AT_ONCE = 10_000  # and about how many more for one further action
_COVERED = 0.95  # of the demonstrations, if the longest ones are too long to list plans for
_CHEAP = 2_000  # plans from a start that cost little to list
_MANY = 10_000  # plans from a start that a few demonstrations are worth
_QUICK = 200_000  # plans of all demonstrations that can be learnt from several times over
_ONCE = 600_000  # plans of all demonstrations that can be learnt from once in half a minute
_ALTOGETHER = 1_000_000  # plans of all demonstrations that can be learnt from in minutes
_ENDLESS = 1e100  # times as many, beyond which numbers need not differ
_LOG_ENDLESS = math.log(_ENDLESS)
_WORK = 30_000  # actions that can be grounded in half a minute


class PlanCounts:
    """About how many plans there are from some starts; each length is counted once.

    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    >>> PlanCounts([(CachedEnvironment(Lamp()), "off")]).plans(3)
    14.0
    """

    def __init__(self, starts: Sequence[tuple[CachedEnvironment, State]]) -> None:
        self.starts = starts
        self._counts: dict[int, tuple[float, float]] = {}

    def plans(self, length: int) -> float:
        """Return about how many plans of up to so many actions there are from a start."""
        return self._counted(length)[0]

    def actions(self, length: int) -> float:
        """Return about how many actions in different states these plans have."""
        return self._counted(length)[1]

    def _counted(self, length: int) -> tuple[float, float]:
        if length not in self._counts:
            found = [count_plans(world, start, length) for world, start in self.starts]
            plans, actions = (sum(each) / len(found) for each in zip(*found, strict=True))
            self._counts[length] = (plans, actions)
        return self._counts[length]


class Lengths:
    """How long plans may be so that all can be listed.

    `lengths` says how many demonstrations have how many actions; `different` from how many
    starts actions are to be grounded that hardly share one; `given` is a length that was asked
    for.
    """

    def __init__(
        self, counts: PlanCounts, lengths: Counter[int], different: int, given: int | None = None
    ) -> None:
        self.counts = counts
        self.lengths = lengths
        self.different = different
        self.given = given

    def covering(self, share: float) -> int:
        """Return the length within which a share of the demonstrations lies."""
        seen = 0
        for length in sorted(self.lengths):
            seen += self.lengths[length]
            if seen >= share * self.lengths.total():
                break
        return length

    def work(self, length: int) -> float:
        """Return about how many actions are to be grounded so that all plans can be listed."""
        return self.different * self.counts.actions(length)

    def _within(self, length: int, each: int, together: int, work: int = _WORK) -> bool:
        plans = self.counts.plans(length)
        altogether = plans * self.lengths.total()
        return plans <= each and altogether <= together and self.work(length) <= work

    @cached_property
    def of_trials(self) -> int | None:
        """The length for several configurations that are tried; nothing if that is too short."""
        longest = max(self.lengths) if self.given is None else self.given
        if longest == 1:
            return longest
        needed = self.covering(_COVERED) if self.given is None else longest
        cheap = self.counts.plans(longest) <= _CHEAP and self.work(longest) <= _WORK
        # The longest few of many demonstrations are not worth trials that take minutes.
        if cheap and (longest == needed or self._within(longest, _CHEAP, _QUICK)):
            return longest
        return needed if self._within(needed, ENUMERABLE, _ALTOGETHER) else None

    @cached_property
    def of_plans(self) -> int | None:
        """The length to learn by: that of the trials, or the longest where once can be borne."""
        tried, longest = self.of_trials, max(self.lengths)
        if tried is None or self.given is not None or tried == longest:
            return tried
        return longest if self._within(longest, _MANY, _ONCE, 2 * _WORK) else tried


def count_plans(world: CachedEnvironment, start: State, length: int) -> tuple[float, float]:
    """Count the plans from a start, and the actions in different states; many, roughly."""
    length += world.extra_length(start)
    layer: dict[State, float] = {start: 1.0}
    total, steps, each = 0.0, 0.0, 1.0
    for done in range(1, length + 1):
        following: dict[State, float] = {}
        # Of very many states some stand for all.
        some = list(layer)[:: max(1, -int(-len(layer) * each // _AT_ONCE))]
        asked = 0
        for state in some:
            for action in world.some_actions(state):
                after = world.step(state, action)
                following[after] = following.get(after, 0.0) + layer[state]
                asked += 1
        before, ways = sum(layer.values()), sum(following.values())
        ways *= before / sum(layer[state] for state in some)
        steps += asked * len(layer) / len(some)
        each = ways / before
        layer = following
        total += ways
        if steps > _STEPS and done < length:  # as many times more for each further action
            further = length - done
            more = _ENDLESS if further * math.log(each or 1) > _LOG_ENDLESS else each**further
            return total + ways * more, steps * more
        if not layer or total > 100 * ENUMERABLE:
            break
    return total, steps
