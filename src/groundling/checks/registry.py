"""The registry of checks: what each looks for, when it applies, its message, and a suggested fix.

A new check is a function that yields findings from a `Subject`, and a row in `CHECKS`. Warnings of
`fit`, `diagnose` and the table of the troubleshooting page come from here.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Literal, TypeAlias

from groundling.answers import decoded
from groundling.checks.mistakes import (
    TrainingIndex,
    advise,
    explain_mistake,
    graphs,
    looks,
    plan_scores,
    some,
    wider,
)
from groundling.errors import GroundlingError, LearningWarning, did_you_mean
from groundling.features.labels import LABEL, NUMBER, ORDINAL, kind_of
from groundling.features.reader import Text
from groundling.language.instruction import Instruction
from groundling.language.sentences import is_unspaced, split_words
from groundling.learning.plan_counts import PlanCounts
from groundling.models.base import Request
from groundling.models.example import Example, Skipped
from groundling.models.learnt import Learnt
from groundling.selection.constants import (
    A_FEW,
    HARDLY_ANY,
    LONG_TEXT,
    NEARLY_ALL,
    NEGLIGIBLE_WEIGHT,
    POOR_ACCURACY,
    PROFILE_SIZE,
    SAMPLED_STARTS,
)
from groundling.selection.label_profile import Place, UsualLabels, usual_labels
from groundling.selection.profile import graph_values, words_of
from groundling.world.environment import Demonstration, State
from groundling.world.graph import GroundingGraph, Label
from groundling.world.judgement import Judgement
from groundling.world.trajectory import ScoredTrajectory

_Plan: TypeAlias = tuple[GroundingGraph, ...]
_When: TypeAlias = Literal["fit", "teach", "diagnose"]


@dataclass(frozen=True)
class Finding:
    """Something that cannot work, and what to do about it; `kind` is the name of the check.

    >>> print(Finding("constant label", "The label 'size' is 'big' everywhere.", "Leave it out."))
    The label 'size' is 'big' everywhere. Leave it out.
    """

    kind: str
    message: str
    cure: str

    def __str__(self) -> str:
        return f"{self.message} {self.cure}"


@dataclass
class Subject:
    """What is checked: what was learnt, the examples, and the places where it is to follow."""

    learnt: Learnt
    examples: Sequence[Example]
    places: Sequence[Place] = ()
    index: TrainingIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = TrainingIndex(self.learnt)

    @cached_property
    def sample(self) -> list[Example]:
        """Some examples, and some that were learnt from."""
        found = {id(each): each for each in (*_spread(self.index.shown), *_spread(self.examples))}
        return list(found.values())

    @cached_property
    def offered(self) -> Offered:
        """The labels of all that could be done in some of them."""
        few = [*self.index.shown[: 2 * SAMPLED_STARTS], *self.examples[: 2 * SAMPLED_STARTS]]
        return Offered(list({id(each): each for each in few}.values()))


def _spread(examples: Sequence[Example], most: int = PROFILE_SIZE) -> list[Example]:
    return list(examples[:: max(1, len(examples) // most)][:most])


@dataclass(frozen=True)
class Check:
    """A check: its name, when it runs, what it looks for and what to do, and how it finds it."""

    name: str
    when: tuple[_When, ...]
    applies: str
    fix: str
    find: Callable[[Subject], Iterator[Finding]]


def run_checks(subject: Subject, when: _When) -> list[Finding]:
    """Return what the checks of an occasion find."""
    return [found for each in CHECKS if when in each.when for found in each.find(subject)]


def warn(findings: Iterable[Finding]) -> None:
    """Emit findings as warnings."""
    for each in findings:
        warnings.warn(str(each), LearningWarning, stacklevel=3)  # the caller of Follower.fit


def table() -> str:
    """Return the checks as the table of the troubleshooting page."""
    lines = ["| check | when | what it finds | what to do |", "|---|---|---|---|"]
    lines += [
        f"| `{each.name}` | {', '.join(f'`{name}`' for name in each.when)} | {each.applies} | "
        f"{each.fix} |"
        for each in CHECKS
    ]
    return "\n".join(lines)


def another_world(usual: UsualLabels, places: Iterable[Place]) -> Iterator[Finding]:
    """Find that graphs lack labels that they had wherever the follower learnt."""
    missing = usual.missing(places)
    if missing:
        listed = ", ".join(map(repr, missing[: 2 * A_FEW]))
        more = f" and {len(missing) - 2 * A_FEW} more" if len(missing) > 2 * A_FEW else ""
        yield Finding(
            "another world",
            f"No graph of what can be done here has the label{'s' * (len(missing) > 1)} {listed}"
            f"{more}, which graphs had wherever it learnt.",
            "Follow in the world that it learnt in, or learn again in this one.",
        )


def _elsewhere(subject: Subject) -> Iterator[Finding]:
    yield from another_world(usual_labels(subject.learnt), subject.places)


def _name_some(some: Iterable[Demonstration], count: int) -> str:
    """Return the names of the first of so many demonstrations."""
    shown = ", ".join(str(each).removeprefix("The demonstration ") for each in some)
    return shown + (f" and {count - A_FEW} more" if count > A_FEW else "")


def _name_them(examples: Sequence[Example]) -> str:
    """Return the names of the first of some examples, and how many more there are."""
    return _name_some((each.demonstration for each in examples[:A_FEW]), len(examples))


def left_out(skipped: Sequence[Skipped]) -> Finding:
    """Return the sentence about demonstrations that were left out."""
    named = _name_some((each.demonstration for each in skipped[:A_FEW]), len(skipped))
    return Finding(
        "left out",
        f"{len(skipped)} demonstrations cannot be used and were left out: {named}.",
        f"See skipped_ for the reasons; the first is: {skipped[0].problem}",
    )


def which_too_long(learnt: Learnt, examples: Sequence[Example]) -> list[Example]:
    """Return those whose plans are longer than any that is searched."""
    search = learnt.search
    return [
        each for each in examples
        if len(each.trajectory) > search.extended(each.world.extra_length(each.trajectory.start))
        .longest
    ]  # fmt: skip


def _too_long(subject: Subject) -> Iterator[Finding]:
    """Find plans that are longer than any that is searched, and say what it costs to list them."""
    learnt, examples = subject.learnt, subject.examples
    long = which_too_long(learnt, examples)
    if not long:
        return
    longest = learnt.search.longest
    most = max(
        len(each.trajectory) - each.world.extra_length(each.trajectory.start) for each in long
    )
    cost = ""
    if learnt.model.member_model.lists_plans:
        counts = PlanCounts([(each.world, each.trajectory.start) for each in long[:A_FEW]])
        cost = (
            f" That makes about {counts.plans(most):,.0f} plans from a start instead of "
            f"{counts.plans(longest):,.0f}, and learning takes longer by as much."
        )
    yield Finding(
        "too long",
        f"{len(long)} of {len(examples)} demonstrations are longer than Search.max_length="
        f"{longest}, so that their plans are never found: {_name_them(long)}.",
        f"Use {advise(learnt, 'Search', max_length=most)}.{cost}",
    )


def _numbered(index: TrainingIndex, examples: Sequence[Example]) -> str:
    """Return the names of demonstrations, each with their places among those learnt from."""
    places = {id(each): place for place, each in enumerate(index.shown, 1)}
    named: dict[str, list[int]] = {}
    for each in examples:
        name = str(each.demonstration).removeprefix("The demonstration ")
        named.setdefault(name, []).append(places[id(each)])
    shown = [
        f"{name} (number{'s' * (len(found) > 1)} "
        f"{', '.join(map(str, sorted(found)[: 2 * A_FEW]))}"
        f"{', …' * (len(found) > 2 * A_FEW)})"
        for name, found in list(named.items())[:A_FEW]
    ]
    more = len(named) - A_FEW
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


def _contradictions(subject: Subject) -> Iterator[Finding]:
    """Find what was learnt from with the same words and start, and ends otherwise."""
    found = []
    known = subject.index
    among = {id(each) for each in subject.examples} & {id(each) for each in known.shown}
    texts = list(known.by_text)
    if among:
        texts = list(dict.fromkeys(known.words(e) for e in known.shown if id(e) in among))
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


def _shown_labels(example: Example) -> Iterator[Label]:
    """Yield the labels of the demonstrated actions."""
    for state, action in example.trajectory.decisions():
        for labels in example.world.ground(state, action).node_labels:
            yield from labels


def _slots(subject: Subject) -> Iterator[Finding]:
    """Find slots that no graph has, or that no word of the texts stands for."""
    examples, encoder = subject.sample, subject.learnt.fitted.encoder
    slots = [kind for kind in encoder.nodes.slots if kind not in (LABEL, NUMBER)]
    if not slots:
        return
    strings = {
        (kind_of(e), e.value)
        for each in examples
        for e in _shown_labels(each)
        if isinstance(e.value, str)
    }
    known = {kind for kind, _ in strings}
    # What a follower from a file learnt from is known by its words only.
    words = {word for each in examples for word in words_of(each)} | set(encoder.reader.counts)
    presumed = {kind for each in examples for kind in each.world.presumed_slots}
    for kind in (each for each in slots if each not in presumed):
        values = encoder.values.get(kind, set()) | {value for k, value in strings if k == kind}
        if not values:
            yield Finding(
                "idle slot",
                f"No grounding graph has a string label {kind!r}, which is in Features.slots.",
                f"Name one that they have.{did_you_mean(kind, known)}",
            )
            continue
        only = {kind: values}
        if any(
            label.kind == kind for each in examples for s in each.instructions for label in s.labels
        ):
            continue  # sentences come with labels that speak of these values
        if not any(
            encoder.reader.lexicon.look_up(word, only, language=encoder.reader.language)
            or word in encoder.reader.lexicon.learnt
            for word in words
        ):
            such = ", ".join(sorted(values)[:A_FEW])
            yield Finding(
                "idle slot",
                f"No word of the texts stands for a value of the slot {kind!r}, such as {such}.",
                f"{_learn_lexicon(subject.learnt)}ive a lexicon, or leave the slot out.",
            )


def _learn_lexicon(learnt: Learnt) -> str:
    """Return the advice to learn a lexicon, unless one is learnt already."""
    if learnt.settings.features.learns_lexicon:
        return "G"
    return f"Use {advise(learnt, 'Features', lexicon='learn')}, g"


def _nodes(subject: Subject) -> Iterator[Finding]:
    """Find nodes that no word can lie on."""
    examples, encoder = subject.sample, subject.learnt.fitted.encoder
    overlay = encoder.overlay
    if overlay.nodes == "flat" or overlay.skeleton == "bag" or overlay.adjacency == "soft":
        return
    reached: dict[str, bool] = {}
    for each in examples:
        for state, action in each.trajectory.decisions():
            graph = encoder.ground(each.world, state, action)
            if all(reached.get(name) for name in graph.names):
                continue
            waiting = [place for place, enters in enumerate(graph.shape.enters) if enters]
            seen = set(waiting)
            while waiting:
                for neighbour, _ in graph.shape.near[waiting.pop()]:
                    if neighbour not in seen:
                        seen.add(neighbour)
                        waiting.append(neighbour)
            for place, name in enumerate(graph.names):
                reached[name] = reached.get(name, False) or place in seen
    for name in sorted(name for name, ever in reached.items() if not ever):
        yield Finding(
            "unreachable node",
            f"No relation leads to the node {name!r}, so that no word can lie on it.",
            "Give the graph an edge to it, or use Overlay(adjacency='soft') or Overlay.flat().",
        )


def _tokens(subject: Subject) -> Iterator[Finding]:
    """Find that the parser does not know where words begin."""
    examples = subject.examples
    # A word that comes with labels stands for a sentence on purpose.
    sentences = [s for each in examples for s in each.instructions if not s.labels]
    alone = [
        s.tokens[0]
        for s in sentences
        if len(s) == 1
        and len(s.tokens[0]) >= (SAMPLED_STARTS / 2 if is_unspaced(s.tokens[0]) else SAMPLED_STARTS)
    ]
    if 2 * len(alone) > len(sentences):
        yield Finding(
            "one token",
            f"{len(alone)} of {len(sentences)} sentences are one word each, such as "
            f"{alone[0][:SAMPLED_STARTS]!r}: the parser does not know where words begin.",
            "Give a parser of this language with parser=…, such as "
            "ChainParser(language=Language(…, spaced=False)) where it writes no spaces; or texts "
            "with spaces between words.",
        )


def _offered(examples: Sequence[Example]) -> set[tuple[str, str]]:
    """Return the string labels of all that could be done, each a kind and a value."""
    found: set[tuple[str, str]] = set()
    for each in examples:
        for state in each.trajectory.states[:-1]:
            for action in each.world.some_actions(state):
                found |= graph_values(each.world, state, action)
    return found


def _entries(subject: Subject) -> Iterator[Finding]:
    """Find words of a lexicon that stand for nothing: of no slot, of no graph, or two in one."""
    examples, encoder = subject.sample[: 2 * SAMPLED_STARTS], subject.learnt.fitted.encoder
    given = {word: pairs for word, pairs in encoder.reader.lexicon.given.items() if pairs}
    if not given:
        return
    slots = {*encoder.nodes.slots, NUMBER, ORDINAL}
    offered = _offered(examples) | {(k, v) for k, values in encoder.values.items() for v in values}
    # Such values are there only where a text names them.
    hidden = any(each.world.labels_follow_text for each in examples)
    idle = []
    for word, pairs in given.items():
        if len(word.split()) > 1:
            idle.append(f"{word!r} is more than one word, and is never looked up")
        for kind, value in pairs:
            known = {v for k, v in offered if k == kind}
            if kind not in slots:
                label = any(k == kind for k, _ in offered)
                why = "is not in Features.slots" if label else "is no label of any graph"
                hint = "" if label else did_you_mean(kind, slots - {NUMBER, ORDINAL})
                idle.append(
                    f"{word!r} is given a value of {kind!r}, which {why}.{hint}".rstrip(".")
                )
            elif kind in encoder.nodes.slots and value not in known and not hidden:
                hint = did_you_mean(value, known)
                idle.append(
                    f"{word!r} is given {kind}:{value}, which no graph has.{hint}".rstrip(".")
                )
    if idle:
        more = f" And {len(idle) - A_FEW} more." if len(idle) > A_FEW else ""
        yield Finding(
            "idle entry",
            "Words of the lexicon stand for nothing that could be done: "
            f"{'; '.join(idle[:A_FEW])}.{more}".replace("?.", "?"),
            "Write entries as one word with the label and the value that graphs have: "
            "{'bench': [('item', 'sofa')]}, or bench = item:sofa in a file.",
        )


class Offered:
    """The labels of all that could be done in the states that examples pass."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.values: dict[tuple[str, str], dict[object, None]] = {}  # by node and name
        self.having: Counter[tuple[str, str]] = Counter()  # in how many graphs they are
        self.count, self.differ, self.chosen_from = 0, False, 0
        seen: set[tuple[int, State]] = set()
        for each in examples:
            if each.world.labels_follow_text:
                continue  # values that a text does not name are missing: the others look constant
            for state in each.trajectory.states[:-1]:
                if (id(each.world), state) not in seen:
                    seen.add((id(each.world), state))
                    offered = each.world.some_actions(state)
                    self._look_at([each.world.ground(state, a) for a in offered])

    def _look_at(self, shown: Sequence[GroundingGraph]) -> None:
        self.count += len(shown)
        self.chosen_from += len(shown) > 1
        self.differ |= len(set(shown)) > 1
        for graph in shown:
            for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
                for label in labels:
                    if label.value is not None:
                        self.values.setdefault((name, label.name), {})[label.value] = None
                        self.having[name, label.name] += 1


def _same_graphs(subject: Subject) -> Iterator[Finding]:
    """Find that all actions of a state look alike."""
    offered = subject.offered
    if offered.chosen_from and not offered.differ:
        yield Finding(
            "same graphs",
            "All actions of a state have the same grounding graph, so that nothing tells them "
            "apart.",
            "Let ground give labels that say what an action does and to what.",
        )


def _constant_labels(subject: Subject) -> Iterator[Finding]:
    """Find labels with a value that is the same in all that could be done."""
    offered = subject.offered
    if offered.chosen_from and not offered.differ:
        return
    for (node, name), found in sorted(offered.values.items(), key=lambda pair: pair[0]):
        # What only some actions have tells them from others. Ranks come all or none of them.
        everywhere = offered.having[node, name] == offered.count
        if len(found) == 1 and everywhere and offered.count >= 2 * A_FEW and ".rank" not in name:
            [value] = found
            yield Finding(
                "constant label",
                f"The label {name!r} of the node {node!r} is {value!r} in all that could be done, "
                "so that nothing can be learnt from it.",
                "Let it vary, or leave it out.",
            )


@dataclass(frozen=True)
class _Again:
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


def _follow(learnt: Learnt, examples: Sequence[Example]) -> list[_Again]:
    learnt = learnt.without_memory()  # which would hide what the weights have not learnt
    requests = [Request(each.instructions, each.world, each.trajectory.start) for each in examples]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    seen = []
    for each, request, result in zip(examples, requests, results, strict=True):
        told = decoded(learnt, request, result, learnt.search)
        if told is None:
            seen.append(_Again(each, None, (), False, 0.0))
            continue
        judgement = Judgement.among(each.world, (each.trajectory, *each.also))
        alike = [judgement.accepts_end(plan.end) for plan in told.found]
        chance = sum(alike) / len(alike)
        seen.append(_Again(each, told.answer, told.found, alike[told.best], chance))
    return seen


def _again(subject: Subject) -> Iterator[Finding]:
    """Follow some demonstrations that were learnt from, and find what goes wrong with them."""
    learnt = subject.learnt
    long = {id(each) for each in which_too_long(learnt, subject.examples)}
    rest = [each for each in subject.examples if id(each) not in long]
    words = 0
    few: list[Example] = []
    for each in _spread(rest, 2 * SAMPLED_STARTS):  # long texts take long
        words += sum(map(len, each.instructions))
        if few and words > A_FEW * LONG_TEXT:
            break
        few.append(each)
    seen = _follow(learnt, few)
    looked = f" ({len(seen)} of {len(rest)} were looked at)" if len(rest) > len(seen) else ""
    lost = [each.example for each in seen if not each.chance and _is_lost(learnt, each)]
    if len(lost) > HARDLY_ANY * len(seen):
        yield Finding(
            "not found",
            f"Of {len(seen)} demonstrations{looked}, the search does not find the plans of "
            f"{len(lost)}: {_name_them(lost)}.",
            wider(learnt.search),
        )
    wrong = [each for each in seen if not each.right]
    right, chance = len(seen) - len(wrong), sum(each.chance for each in seen)
    if len(seen) < SAMPLED_STARTS / 2 or learnt.search.decode == "transitions":
        return
    if right < POOR_ACCURACY * len(seen) and chance < NEARLY_ALL * len(seen):
        reasons = Counter(
            explain_mistake(
                subject.index, each.example.demonstration, each.request,
                (each.example.trajectory, *each.example.also), each.answer, each.found,
            ).why
            for each in wrong[:SAMPLED_STARTS]
        )  # fmt: skip
        [(why, count)] = reasons.most_common(1)
        yield Finding(
            "poor fit",
            f"Only {right} of {len(seen)} demonstrations that it learnt from are followed as "
            f"demonstrated{looked}, where chance would be {chance:.1f}.",
            f"The most frequent reason is {why!r}, {count} of "
            f"{some(min(len(wrong), SAMPLED_STARTS), 'mistake')} looked into: "
            "follower.diagnose(demonstrations) says of each what to do.",
        )


def _held_out(subject: Subject) -> Iterator[Finding]:
    """Find that little was right of what the race held out."""
    tried = getattr(subject.learnt.choices, "tried", None)
    if tried is not None and 2 * tried.right < 1:
        yield Finding(
            "poor trial",
            f"In the race between configurations, {tried.right:.0%} of the demonstrations that "
            "were held out were followed right; other texts may go wrong as often.",
            "Give the graphs labels that the words of the texts speak of (the page “Labels that "
            "words can learn” says how), or give more demonstrations. "
            "follower.diagnose(demonstrations, parts=3) says what goes wrong.",
        )


def _is_lost(learnt: Learnt, each: _Again) -> bool:
    """Tell whether a wider search would help: a plan that was shown scores more than any found."""
    if not each.found:
        return True
    best = max(each.found, key=lambda plan: plan.score)
    plans = [best, each.example.trajectory, *each.example.also]
    scores = plan_scores(learnt, each.request, plans)
    return max(scores[1:]) >= scores[0] - NEGLIGIBLE_WEIGHT


def warn_of_long_texts(demonstrations: Sequence[Demonstration]) -> None:
    """Warn of texts with more than 200 words that are ten times as long as most.

    All words of a text are laid over every plan, so that time grows with their number.
    """
    counts = [_count_words(each.instructions) for each in demonstrations]
    usual = median(counts) if counts else 0
    long = [
        (count, each)
        for count, each in zip(counts, demonstrations, strict=True)
        if count > LONG_TEXT and HARDLY_ANY * count > usual
    ]
    if not long:
        return
    named = ", ".join(f"{str(each)[:90]} ({count:,} words)" for count, each in long[:A_FEW])
    more = f" and {len(long) - A_FEW} more" if len(long) > A_FEW else ""
    warnings.warn(
        f"{len(long)} of {len(demonstrations)} texts are far longer than the others, which have "
        f"{usual:g} words in the median, and take most of the time: {named}{more}. Cut them into "
        "demonstrations of their own, or leave them out.",
        LearningWarning,
        stacklevel=3,  # the caller of Follower.fit
    )


def _count_words(text: Text) -> int:
    parts = [text] if isinstance(text, (str, Instruction)) else text
    if not isinstance(parts, (list, tuple)):
        return 0  # no text: reading it says so
    return sum(
        len(split_words(part)) if isinstance(part, str) else len(part)
        for part in parts
        if isinstance(part, (str, Instruction))
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "too long", ("fit", "teach", "diagnose"),
        "demonstrations have more actions than `Search.max_length`; it raises if all have",
        "raise it: the message says how, and how many more plans that makes", _too_long,
    ),
    Check(
        "contradiction", ("fit", "teach", "diagnose"),
        "the same words, starts that look alike, and different actions",
        "correct them; `also=` where several plans are right; or a label that tells the starts "
        "apart", _contradictions,
    ),
    Check(
        "idle slot", ("fit", "diagnose"),
        "`Features.slots` names a label that no graph has, or of whose values no word speaks",
        "the name that the message suggests, a lexicon, or leave the slot out", _slots,
    ),
    Check(
        "idle entry", ("fit", "diagnose"),
        "words of a lexicon have a label or a value that no graph has, or are two words",
        "what the warning names; [how a lexicon is written](your-environment.md)", _entries,
    ),
    Check(
        "unreachable node", ("fit", "diagnose"),
        "under hard adjacency no relation leads to a node, so that no word can lie on it",
        "an edge in the graph, `Overlay(adjacency=\"soft\")`, or `Overlay.flat()`", _nodes,
    ),
    Check(
        "same graphs", ("fit", "diagnose"),
        "all actions of a state have the same grounding graph",
        "labels that say what an action does, and to what", _same_graphs,
    ),
    Check(
        "constant label", ("fit", "diagnose"),
        "a label has the same value in all that could be done", "let it vary, or leave it out",
        _constant_labels,
    ),
    Check(
        "one token", ("fit", "diagnose"),
        "most sentences are one long word: the parser does not know this language",
        "`parser=…`, such as `ChainParser(language=Language(…, spaced=False))`; or texts with "
        "spaces", _tokens,
    ),
    Check(
        "poor trial", ("fit",),
        "less than half of what the race held out was followed right",
        "labels that words speak of, or more demonstrations", _held_out,
    ),
    Check(
        "poor fit", ("fit",),
        "less than 60 % of some demonstrations that it learnt from are followed right; or the "
        "search does not find their plans (`not found`)",
        "the message names the most frequent reason, or `Search.beam`; `diagnose` explains each",
        _again,
    ),
    Check(
        "another world", ("diagnose",),
        "labels that some action had at every start it learnt from are missing here",
        "follow in the world that the model learnt in, or learn again", _elsewhere,
    ),
)  # fmt: skip
"""All checks, in the order in which they run."""
