"""What goes wrong with what was learnt from: too long, contradicting, not followed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from groundling.diagnosis.known import Known, advise, graphs, looks
from groundling.errors import GroundlingError
from groundling.learning.counting import PlanCounts
from groundling.learning.usual import Place, UsualLabels
from groundling.models.examples import Example
from groundling.models.learnt import Learnt
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph

__all__ = [
    "Finding", "another_world", "contradictions", "name_some", "name_them", "too_long",
    "which_too_long",
]  # fmt: skip

_Plan: TypeAlias = tuple[GroundingGraph, ...]
_NAMED = 3  # demonstrations that a sentence names
_LABELS = 6  # labels that a sentence names
_PLACES = 6  # numbers of demonstrations with one text


@dataclass(frozen=True)
class Finding:
    """Something that cannot work, and what to do about it.

    `kind` is one of: `too long`, `contradiction`, `unknown slot`, `unmatched slot`, `unreachable
    node`, `same graphs`, `constant label`, `mixed label`, `one token`, `empty lexicon`, `idle
    entry`, `not found`, `near chance`, `poor fit`, `several actions`, `poor trial`, `repeated
    action`, `left out`, `another world`.

    >>> print(Finding("constant label", "The label 'size' is 'big' everywhere.", "Leave it out."))
    The label 'size' is 'big' everywhere. Leave it out.
    """

    kind: str
    message: str
    cure: str

    def __str__(self) -> str:
        return f"{self.message} {self.cure}"


def another_world(usual: UsualLabels, places: Iterable[Place]) -> Iterator[Finding]:
    """Find that graphs lack labels that they had wherever the follower learnt."""
    missing = usual.missing(places)
    if missing:
        listed = ", ".join(map(repr, missing[:_LABELS]))
        more = f" and {len(missing) - _LABELS} more" if len(missing) > _LABELS else ""
        yield Finding(
            "another world",
            f"No graph of what can be done here has the label{'s' * (len(missing) > 1)} {listed}"
            f"{more}, which graphs had wherever it learnt.",
            "Follow in the world that it learnt in, or learn again in this one.",
        )


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
        f"{longest}, so that their plans are never found: {name_them(long)}.",
        f"Use {advise(learnt, 'Search', max_length=most)}.{cost}",
    )


def name_them(examples: Sequence[Example]) -> str:
    """Return the names of the first of some examples, and how many more there are."""
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
