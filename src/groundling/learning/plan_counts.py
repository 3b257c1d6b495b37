"""Estimates of the number of plans, and of the lengths at which all can be listed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State

ENUMERABLE = 20_000
"""Maximum number of plans that are listed from a start; the default of `Search.budget`."""
_STEPS = 500  # steps to count from one start before extrapolating
_AT_ONCE = 10_000  # approximate maximum of steps per further action
_COVERED = 0.95  # share of demonstrations that must be covered if the longest are too long
_CHEAP = 2_000  # plans from a start that are cheap to list
_MANY = 10_000  # plans from a start that are affordable for few demonstrations
_QUICK = 200_000  # plans of all demonstrations that can be listed repeatedly
_ONCE = 600_000  # plans of all demonstrations: half a minute of training
_ALTOGETHER = 1_000_000  # plans of all demonstrations: minutes of training
_ENDLESS = 1e100  # maximum growth factor
_LOG_ENDLESS = math.log(_ENDLESS)
_WORK = 30_000  # actions that can be grounded in half a minute


class PlanCounts:
    """The approximate number of plans by length, as a mean over several starts.

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
        """Return the approximate number of plans of up to `length` actions from a start."""
        return self._counted(length)[0]

    def actions(self, length: int) -> float:
        """Return about how many actions must be grounded to list plans up to `length`."""
        return self._counted(length)[1]

    def _counted(self, length: int) -> tuple[float, float]:
        if length not in self._counts:
            found = [count_plans(world, start, length) for world, start in self.starts]
            plans, actions = (sum(each) / len(found) for each in zip(*found, strict=True))
            self._counts[length] = (plans, actions)
        return self._counts[length]


class Lengths:
    """The plan lengths at which all plans can be listed in acceptable time.

    `lengths` counts demonstrations by their number of actions. `different` is the approximate
    number of different starts. `given` is the plan length that the user set, if any.
    """

    def __init__(
        self, counts: PlanCounts, lengths: Counter[int], different: int, given: int | None = None
    ) -> None:
        self.counts = counts
        self.lengths = lengths
        self.different = different
        self.given = given

    def covering(self, share: float) -> int:
        """Return the shortest plan length that covers a share of the demonstrations."""
        seen = 0
        for length in sorted(self.lengths):
            seen += self.lengths[length]
            if seen >= share * self.lengths.total():
                break
        return length

    def work(self, length: int) -> float:
        """Return the approximate number of actions to ground in order to list all plans."""
        return self.different * self.counts.actions(length)

    def _within(self, length: int, each: int, together: int, work: int = _WORK) -> bool:
        plans = self.counts.plans(length)
        altogether = plans * self.lengths.total()
        return plans <= each and altogether <= together and self.work(length) <= work

    @cached_property
    def of_trials(self) -> int | None:
        """The plan length for comparing settings; None if listing plans takes too long."""
        longest = max(self.lengths) if self.given is None else self.given
        if longest == 1:
            return longest
        needed = self.covering(_COVERED) if self.given is None else longest
        cheap = self.counts.plans(longest) <= _CHEAP and self.work(longest) <= _WORK
        # A few long demonstrations do not justify trials that take minutes.
        if cheap and (longest == needed or self._within(longest, _CHEAP, _QUICK)):
            return longest
        return needed if self._within(needed, ENUMERABLE, _ALTOGETHER) else None

    @cached_property
    def of_plans(self) -> int | None:
        """The plan length for training; None if listing plans takes too long.

        It is the length of the longest demonstration if possible, otherwise `of_trials`.
        """
        tried, longest = self.of_trials, max(self.lengths)
        if tried is None or self.given is not None or tried == longest:
            return tried
        return longest if self._within(longest, _MANY, _ONCE, 2 * _WORK) else tried


def count_plans(world: CachedEnvironment, start: State, length: int) -> tuple[float, float]:
    """Return the approximate number of plans from a start, and of actions to ground."""
    length += world.extra_length(start)
    layer: dict[State, float] = {start: 1.0}
    total, steps, each = 0.0, 0.0, 1.0
    for done in range(1, length + 1):
        following: dict[State, float] = {}
        # A large layer is sampled.
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
        if steps > _STEPS and done < length:  # extrapolate the growth per action
            further = length - done
            more = _ENDLESS if further * math.log(each or 1) > _LOG_ENDLESS else each**further
            return total + ways * more, steps * more
        if not layer or total > 100 * ENUMERABLE:
            break
    return total, steps
