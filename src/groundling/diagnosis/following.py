"""Whether a follower follows what it learnt from: some of it is followed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from groundling.answers import decoded
from groundling.diagnosis.findings import Finding, name_them
from groundling.diagnosis.known import NOTHING, Known, advise, plan_scores, some, wider
from groundling.diagnosis.mistakes import explain_mistake
from groundling.models.base import Request
from groundling.models.examples import Example
from groundling.models.learnt import Learnt
from groundling.world.trajectory import ScoredTrajectory

__all__ = ["Again", "follow_again", "judge", "sample"]

FOLLOWED = 24
"""How many demonstrations are followed again."""
_WORDS = 1000  # that they have together, about: long texts take long
_TELLING = 8  # demonstrations of which the share that is right tells something
_FEWEST = 4  # of one action, and of several, that can be compared
_POOR, _APART = 0.6, 0.35  # shares of right answers
_EXPLAINED = 6  # mistakes that are looked into


@dataclass(frozen=True)
class Again:
    """An example that was followed again: the answer, what else was found, and whether it is right.

    `chance` is the share of the plans found that are right.
    """

    example: Example
    answer: ScoredTrajectory | None
    found: Sequence[ScoredTrajectory]
    right: bool
    chance: float

    @property
    def request(self) -> Request:
        """What was asked."""
        each = self.example
        return Request(each.instructions, each.world, each.trajectory.start)


def sample(examples: Sequence[Example], most: int) -> list[Example]:
    """Return some examples, one or more: of one action and of several in turn, while they last."""
    kinds = [
        [each for each in examples if (len(each.trajectory) > 1) is several]
        for several in (False, True)
    ]
    half = most // 2
    counts = [min(len(kind), max(half, most - len(other))) for kind, other in
              zip(kinds, reversed(kinds), strict=True)]  # fmt: skip
    spread = [_spread(kind, count) for kind, count in zip(kinds, counts, strict=True)]
    found: list[Example] = []
    words = 0
    for each in chain.from_iterable(zip_longest(*spread)):
        if each is None:
            continue
        words += sum(map(len, each.instructions))
        if found and words > _WORDS:
            break
        found.append(each)
    return found


def _spread(examples: Sequence[Example], count: int) -> list[Example]:
    """Return so many examples, from the first to the last at equal distances."""
    return [examples[number * len(examples) // count] for number in range(count)]


def follow_again(
    learnt: Learnt, examples: Sequence[Example], most: int = FOLLOWED
) -> Iterator[Finding]:
    """Follow some of the examples that were learnt from, and find what goes wrong with them."""
    yield from judge(learnt, _follow(learnt, sample(examples, most)), examples)


def _follow(learnt: Learnt, examples: Sequence[Example]) -> list[Again]:
    requests = [Request(each.instructions, each.world, each.trajectory.start) for each in examples]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    seen = []
    for each, request, result in zip(examples, requests, results, strict=True):
        told, world = decoded(learnt, request, result, learnt.search), each.world
        if told is None:
            seen.append(Again(each, None, (), False, 0.0))
            continue
        ends = {world.outcome(plan.end) for plan in (each.trajectory, *each.also)}
        alike = [world.outcome(plan.end) in ends for plan in told.found]
        chance = sum(alike) / len(alike)
        seen.append(Again(each, told.answer, told.found, alike[told.best], chance))
    return seen


def judge(learnt: Learnt, seen: Sequence[Again], examples: Sequence[Example]) -> Iterator[Finding]:
    """Find what goes wrong with those that were followed again, of all examples."""
    count, total = len(seen), len(examples)
    looked = f" ({count} of {total} were looked at)" if total > count else ""
    lost = [each.example for each in seen if not each.chance and _is_lost(learnt, each)]
    if len(lost) > 0.1 * count:
        yield Finding(
            "not found",
            f"Of {count} demonstrations{looked}, the search does not find the plans of "
            f"{len(lost)}: {name_them(lost)}.",
            wider(learnt.search),
        )
    several = list(_lengths(learnt, seen, looked))
    if not several or _right(_split(seen)[0]) < _POOR * len(_split(seen)[0]):
        yield from _fit(learnt, seen, examples, looked)
    yield from several


def _is_lost(learnt: Learnt, each: Again) -> bool:
    """Tell whether a wider search would help: a plan that was shown scores more than any found."""
    if not each.found:
        return True
    best = max(each.found, key=lambda plan: plan.score)
    plans = [best, each.example.trajectory, *each.example.also]
    scores = plan_scores(learnt, each.request, plans)
    return max(scores[1:]) >= scores[0] - NOTHING


def _split(seen: Sequence[Again]) -> tuple[list[Again], list[Again]]:
    """Return those of one action, and those of several."""
    several = [len(each.example.trajectory) > 1 for each in seen]
    return (
        [each for each, more in zip(seen, several, strict=True) if not more],
        [each for each, more in zip(seen, several, strict=True) if more],
    )


def _right(seen: Sequence[Again]) -> int:
    return sum(each.right for each in seen)


def _share(seen: Sequence[Again], examples: Sequence[Example]) -> float:
    """Return the share of all examples that is right, as those that were followed tell.

    Those of one action and those of several count by how many there are, not by how many of them
    were followed.
    """
    more = sum(len(each.trajectory) > 1 for each in examples)
    kinds = zip(_split(seen), (len(examples) - more, more), strict=True)
    told = [(_right(kind) / len(kind), count) for kind, count in kinds if kind]
    return sum(share * count for share, count in told) / sum(count for _, count in told)


def _fit(
    learnt: Learnt, seen: Sequence[Again], examples: Sequence[Example], looked: str
) -> Iterator[Finding]:
    """Find that little is followed of what was learnt from."""
    count, right, chance = len(seen), _right(seen), sum(each.chance for each in seen)
    if count < _TELLING:
        return
    share = _share(seen, examples)
    one, several = _split(seen)
    by_length = (
        f", {_right(one)} of {len(one)} of one action and {_right(several)} of {len(several)} of "
        "several" if one and several else ""
    )  # fmt: skip
    only = (
        f"Only {right} of {count} demonstrations that it learnt from are followed as demonstrated"
        f"{by_length}{looked}{f', about {share:.0%} of all' if looked and by_length else ''}"
    )
    if chance < 0.9 * count and right - chance <= 0.1 * (count - chance):
        guessed = f"{chance:.1f}" if chance >= 0.1 else "next to none"
        yield Finding("near chance", f"{only}, where chance would be {guessed}.",
                      _cure(learnt, seen))  # fmt: skip
    elif share < _POOR and learnt.search.decode != "transitions":
        yield Finding("poor fit", f"{only}.", _cure(learnt, seen))


def _cure(learnt: Learnt, seen: Sequence[Again]) -> str:
    """Return the most frequent reason of mistakes, and where to read of the others."""
    wrong = [each for each in seen if not each.right][:_EXPLAINED]
    known = Known(learnt)
    reasons = Counter(
        explain_mistake(
            known, each.example.demonstration, each.request,
            (each.example.trajectory, *each.example.also), each.answer, each.found,
        ).why
        for each in wrong
    )  # fmt: skip
    [(why, count)] = reasons.most_common(1)
    return (
        f"The most frequent reason is {why!r}, {count} of {some(len(wrong), 'mistake')} looked "
        "into: follower.diagnose(demonstrations) says of each what to do."
    )


def _lengths(learnt: Learnt, seen: Sequence[Again], looked: str) -> Iterator[Finding]:
    """Find that texts of several actions are followed much worse than those of one."""
    one, several = _split(seen)
    if min(len(one), len(several)) < _FEWEST or learnt.search.decode == "transitions":
        return
    share = _right(several) / len(several)
    if share >= _POOR or _right(one) / len(one) - share < _APART:
        return
    unit = learnt.fitted.encoder.overlay.unit
    if unit in ("sentence", "clause") and learnt.model.member_model.lists_plans:
        cure = f"Try {advise(learnt, 'Overlay', unit='word')}, or Overlay.flat()."
    else:
        cure = f"Demonstrate more of them. {_cure(learnt, several)}"
    yield Finding(
        "several actions",
        f"Texts of several actions go wrong under unit={unit!r}: {_right(several)} of "
        f"{len(several)} that it learnt from are followed as demonstrated, and {_right(one)} of "
        f"{len(one)} of one action{looked}.",
        cure,
    )
