"""What goes wrong with what was learnt from: too long, contradicting, not followed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from groundling.answers import possible_plans
from groundling.diagnosis.known import NOTHING, Known, advise, graphs, looks, plan_scores, wider
from groundling.errors import GroundlingError
from groundling.learning.counting import PlanCounts
from groundling.learning.trainer import Learnt
from groundling.models.base import Request
from groundling.models.examples import Example
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph
from groundling.world.trajectory import ScoredTrajectory

__all__ = ["Finding", "contradictions", "follow_again", "name_some", "too_long", "which_too_long"]

_Plan: TypeAlias = tuple[GroundingGraph, ...]
_NAMED = 3  # demonstrations that a sentence names
_PLACES = 6  # numbers of demonstrations with one text
_TELLING = 8  # demonstrations of which the share that is right tells something
_FEWEST = 4  # of one action, and of several, that can be compared
_POOR, _POOR_SEVERAL, _APART = 1 / 3, 0.6, 0.35  # shares of right answers


@dataclass(frozen=True)
class Finding:
    """Something that cannot work, and what to do about it.

    `kind` is one of: `too long`, `contradiction`, `unknown slot`, `unmatched slot`, `unreachable
    node`, `same graphs`, `constant label`, `one token`, `empty lexicon`, `idle entry`, `not found`,
    `near chance`, `poor fit`, `several actions`, `repeated action`, `left out`.

    >>> print(Finding("constant label", "The label 'size' is 'big' everywhere.", "Leave it out."))
    The label 'size' is 'big' everywhere. Leave it out.
    """

    kind: str
    message: str
    cure: str

    def __str__(self) -> str:
        return f"{self.message} {self.cure}"


def name_some(some: Iterable[Demonstration], count: int) -> str:
    """Return the names of the first of so many demonstrations."""
    shown = ", ".join(str(each).removeprefix("The demonstration ") for each in some)
    return shown + (f" and {count - _NAMED} more" if count > _NAMED else "")


def which_too_long(learnt: Learnt, examples: Sequence[Example]) -> list[Example]:
    """Return those whose plans are longer than any that is searched."""
    search = learnt.search
    return [
        each for each in examples
        if len(each.trajectory) > search.extended(each.world.extra_length(each.trajectory.start))
        .longest
    ]  # fmt: skip


def too_long(learnt: Learnt, examples: Sequence[Example]) -> Iterator[Finding]:
    """Find plans that are longer than any that is searched, and say what it costs to list them."""
    long = which_too_long(learnt, examples)
    if not long:
        return
    longest = learnt.search.longest
    most = max(
        len(each.trajectory) - each.world.extra_length(each.trajectory.start) for each in long
    )
    cost = ""
    if learnt.model.member_model.lists_plans:
        counts = PlanCounts([(each.world, each.trajectory.start) for each in long[:_NAMED]])
        cost = (
            f" That makes about {counts.plans(most):,.0f} plans from a start instead of "
            f"{counts.plans(longest):,.0f}, and learning takes longer by as much."
        )
    yield Finding(
        "too long",
        f"{len(long)} of {len(examples)} demonstrations are longer than Search.max_length="
        f"{longest}, so that their plans are never found: {_named(long)}.",
        f"Use {advise(learnt, 'Search', max_length=most)}.{cost}",
    )


def _named(examples: Sequence[Example]) -> str:
    return name_some((each.demonstration for each in examples[:_NAMED]), len(examples))


def _numbered(known: Known, examples: Sequence[Example]) -> str:
    """Return the names of demonstrations, each with their places among those learnt from."""
    places = {id(each): place for place, each in enumerate(known.shown, 1)}
    named: dict[str, list[int]] = {}
    for each in examples:
        name = str(each.demonstration).removeprefix("The demonstration ")
        named.setdefault(name, []).append(places[id(each)])
    shown = [
        f"{name} (number{'s' * (len(found) > 1)} {', '.join(map(str, sorted(found)[:_PLACES]))}"
        f"{', …' * (len(found) > _PLACES)})"
        for name, found in list(named.items())[:_NAMED]
    ]
    more = len(named) - _NAMED
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _could(one: Example, other: Example) -> bool:
    """Tell whether each of two could have been done in place of the other, and look the same."""
    for each, elsewhere in ((one, other), (other, one)):
        plan, world = each.trajectory, elsewhere.world
        try:
            instead = world.trace(elsewhere.trajectory.start, plan.actions, "")
        except GroundlingError:  # it is not possible there
            return False
        if graphs(world, instead) != graphs(each.world, plan):
            return False
    return True


def contradictions(known: Known, among: Sequence[Example] | None = None) -> Iterator[Finding]:
    """Find what was learnt from with the same words and start, and ends otherwise.

    With `among`, only in texts of these examples.
    """
    found = []
    texts = known.by_text if among is None else dict.fromkeys(map(known.words, among))
    for text in texts:
        alike = known.by_text[text]
        starts: dict[frozenset[tuple[GroundingGraph, int]], list[Example]] = {}
        if len(alike) > 1:
            for each in alike:
                look = frozenset(looks(each.world, each.trajectory.start).items())
                starts.setdefault(look, []).append(each)
        for same in starts.values():
            doing: dict[frozenset[_Plan], list[Example]] = {}
            for each in same:
                plans = (each.trajectory, *each.also)
                key = frozenset(tuple(graphs(each.world, plan)) for plan in plans)
                doing.setdefault(key, []).append(each)
            wrong = [
                key
                for key, (each, *_) in doing.items()
                if any(not key & other and _could(each, e) for other, (e, *_) in doing.items())
            ]
            found += [each for key in wrong for each in doing[key]]
    if found:
        yield Finding(
            "contradiction",
            f"{len(found)} demonstrations contradict each other: the same words, starts that look "
            f"alike, and other actions: {_numbered(known, found)}.",
            "Correct those that are wrong; where several plans are right, give them in also=… of "
            "each; or add a label that tells the starts apart.",
        )


def follow_again(
    learnt: Learnt, examples: Sequence[Example], total: int | None = None
) -> Iterator[Finding]:
    """Follow some of what was learnt from, of which there are `total`."""
    requests = [Request(each.instructions, each.world, each.trajectory.start) for each in examples]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    right, chance, lost = [], 0.0, []
    for each, result in zip(examples, results, strict=True):
        world, found = each.world, possible_plans(result)
        ends = {world.outcome(plan.end) for plan in (each.trajectory, *each.also)}
        alike = [world.outcome(plan.end) in ends for plan in found]
        if any(alike):
            best = int(np.argmax([plan.score for plan in found]))
            right.append(alike[best])
            chance += sum(alike) / len(alike)
        else:
            if _is_lost(learnt, each, found):
                lost.append(each)
            right.append(False)
    count = len(examples)
    looked = f" ({count} of {total} were looked at)" if total and total > count else ""
    if len(lost) > 0.1 * count:
        yield Finding(
            "not found",
            f"Of {count} demonstrations{looked}, the search does not find the plans of "
            f"{len(lost)}: {_named(lost)}.",
            wider(learnt.search),
        )
    yield from _fit(learnt, count, sum(right), chance, looked)
    yield from _lengths(learnt, examples, right, looked)


def _is_lost(learnt: Learnt, each: Example, found: Sequence[ScoredTrajectory]) -> bool:
    """Tell whether a wider search would help: a plan that was shown scores more than any found."""
    if not found:
        return True
    request = Request(each.instructions, each.world, each.trajectory.start)
    best = max(found, key=lambda plan: plan.score)
    scores = plan_scores(learnt, request, [best, each.trajectory, *each.also])
    return max(scores[1:]) >= scores[0] - NOTHING


def _fit(
    learnt: Learnt, count: int, right: int, chance: float, looked: str = ""
) -> Iterator[Finding]:
    """Find that hardly anything is followed of what was learnt from."""
    if count < _TELLING:
        return
    only = (
        f"Only {right} of {count} demonstrations that it learnt from are followed as demonstrated"
        f"{looked}"
    )
    cure = "Call follower.diagnose(demonstrations) to see why."
    if chance < 0.9 * count and right - chance <= 0.1 * (count - chance):
        guessed = f"{chance:.1f}" if chance >= 0.1 else "next to none"
        yield Finding("near chance", f"{only}, where chance would be {guessed}.", cure)
    elif right < _POOR * count and learnt.search.decode != "transitions":
        yield Finding("poor fit", f"{only}.", cure)


def _lengths(
    learnt: Learnt, examples: Sequence[Example], right: Sequence[bool], looked: str
) -> Iterator[Finding]:
    """Find that texts of several actions are followed much worse than those of one."""
    both: dict[bool, list[bool]] = {False: [], True: []}
    for each, good in zip(examples, right, strict=True):
        both[len(each.trajectory) > 1].append(good)
    one, several = both[False], both[True]
    if min(len(one), len(several)) < _FEWEST or learnt.search.decode == "transitions":
        return
    share = sum(several) / len(several)
    if share >= _POOR_SEVERAL or sum(one) / len(one) - share < _APART:
        return
    unit = learnt.fitted.encoder.overlay.unit
    cure = "Demonstrate more of them; follower.diagnose(demonstrations) says what goes wrong."
    if unit in ("sentence", "clause") and learnt.model.member_model.lists_plans:
        cure = f"Try {advise(learnt, 'Overlay', unit='word')}, or Overlay.flat()."
    yield Finding(
        "several actions",
        f"Texts of several actions go wrong under unit={unit!r}: {sum(several)} of {len(several)} "
        f"that it learnt from are followed as demonstrated, and {sum(one)} of {len(one)} of one "
        f"action{looked}.",
        cure,
    )
