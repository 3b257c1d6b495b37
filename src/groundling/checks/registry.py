"""Registry of checks for problems in worlds, demonstrations and trained models.

To add a check, write a function that yields the problems of a `Subject`, each with a suggested fix,
and decorate it with `check`. The warnings of `fit`, the findings of `diagnose` and the table of the
troubleshooting page all come from here.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

from groundling.checks.mistakes import (
    Attempt,
    TrainingIndex,
    advise,
    are,
    explain_mistake,
    follow_examples,
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
from groundling.selection.profile import graph_values, labels_of, words_of
from groundling.world.environment import Demonstration, Environment, State
from groundling.world.graph import GroundingGraph

_Plans: TypeAlias = frozenset[tuple[GroundingGraph, ...]]
_When: TypeAlias = Literal["fit", "teach", "diagnose"]


@dataclass(frozen=True)
class Finding:
    """A problem and a suggested fix; `kind` is the name of the check.

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
    """The input of a check: a fitted model and the examples to check.

    `places` are the environments and initial states in which the model is to be used.
    """

    learnt: Learnt
    examples: Sequence[Example]
    places: Sequence[Place] = ()
    index: TrainingIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = TrainingIndex(self.learnt)

    @cached_property
    def sample(self) -> list[Example]:
        """A sample of the training examples and of the examples to check."""
        found = {id(each): each for each in (*_spread(self.index.shown), *_spread(self.examples))}
        return list(found.values())

    @cached_property
    def offered(self) -> list[list[GroundingGraph]]:
        """The graphs of all possible actions, for a sample of the visited states."""
        few = [*self.index.shown[: 2 * SAMPLED_STARTS], *self.examples[: 2 * SAMPLED_STARTS]]
        states = {
            (id(each.world), state): (each.world, state)
            for each in few
            if not each.world.labels_follow_text  # otherwise, some labels are missing
            for state in each.trajectory.states[:-1]
        }
        return [
            [world.ground(state, action) for action in world.some_actions(state)]
            for world, state in states.values()
        ]

    @property
    def scores_transitions(self) -> bool:
        """Whether decoding chooses single transitions, so that few whole plans are right."""
        return self.learnt.search.decode == "transitions"

    @cached_property
    def followed(self) -> tuple[list[Attempt], str]:
        """The results of following a sample of the examples, and a remark on its size.

        Following is slow, so the whole sample is followed only if some of the first few examples
        are wrong.
        """
        long = {id(each) for each in which_too_long(self.learnt, self.examples)}
        rest = [each for each in self.examples if id(each) not in long]
        words, few = 0, list[Example]()
        for each in _spread(rest, 2 * SAMPLED_STARTS):  # long texts are slow
            words += sum(map(len, each.instructions))
            if few and words > A_FEW * LONG_TEXT:
                break
            few.append(each)
        seen = follow_examples(self.learnt, few[::A_FEW])
        if not all(each.right or (self.scores_transitions and each.chance) for each in seen):
            seen = follow_examples(self.learnt, few)
        return seen, f" ({len(seen)} of {len(rest)} were tried)" if len(rest) > len(seen) else ""


def _spread(examples: Sequence[Example], most: int = PROFILE_SIZE) -> list[Example]:
    return list(examples[:: max(1, len(examples) // most)][:most])


_Problems: TypeAlias = Iterator[tuple[str, str]]
"""Messages about problems, each with a suggested fix."""
_Find: TypeAlias = Callable[[Subject], _Problems]


class Check(NamedTuple):
    """A check: its name, when it runs, a suggested fix, and the function that runs it."""

    name: str
    when: tuple[_When, ...]
    fix: str
    find: _Find


CHECKS: list[Check] = []
"""All checks, in the order in which they run."""


def check(name: str, when: tuple[_When, ...], fix: str) -> Callable[[_Find], _Find]:
    """Return a decorator that registers a function as a check.

    The docstring of the function (*Find …*) says what the check finds.
    """

    def add(find: _Find) -> _Find:
        CHECKS.append(Check(name, when, fix, find))
        return find

    return add


def run_checks(subject: Subject, when: _When) -> list[Finding]:
    """Run the checks of `fit`, `teach` or `diagnose`, and return their findings."""
    return [
        Finding(each.name, message, fix)
        for each in CHECKS if when in each.when
        for message, fix in each.find(subject)
    ]  # fmt: skip


def warn(findings: Iterable[Finding]) -> None:
    """Emit a `LearningWarning` for each finding."""
    for each in findings:
        warnings.warn(str(each), LearningWarning, stacklevel=3)  # the caller of Follower.fit


def missing_labels(
    learnt: Learnt, places: Iterable[tuple[Environment, State]]
) -> tuple[Finding, ...]:
    """Report labels that every training world had and these environments lack.

    >>> from groundling import Demonstration, Follower, GroundingGraph
    >>> class Lamp:
    ...     def __init__(self, **more): self.more = more
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"lamp": {action: True, **self.more}})
    >>> shown = [Demonstration("light it", Lamp(colour="red"), "off", ("on",))]
    >>> follower = Follower(parser="chain").fit(shown)
    >>> missing_labels(follower.learnt_, [(Lamp(colour="blue"), "off")])
    ()
    >>> print(*missing_labels(follower.learnt_, [(Lamp(), "off")]))
    No possible action here has the label 'colour', which some action had at every start in
    training. Follow in the training world, or train again in this one.
    """
    asked = [(learnt.fitted.encoder.world(world), state) for world, state in places]
    problems = _another_world(usual_labels(learnt), asked)
    return tuple(Finding("another world", *each) for each in problems)


def _another_world(usual: UsualLabels, places: Iterable[Place]) -> _Problems:
    missing = usual.missing(places)
    if missing:
        listed = ", ".join(map(repr, missing[: 2 * A_FEW]))
        more = f" and {len(missing) - 2 * A_FEW} more" if len(missing) > 2 * A_FEW else ""
        yield (
            f"No possible action here has the label{'s' * (len(missing) > 1)} {listed}{more}, "
            "which some action had at every start in training.",
            "Follow in the training world, or train again in this one.",
        )


def _name(demonstrations: Sequence[Demonstration]) -> str:
    """Return the names of a few demonstrations, followed by the number of others."""
    first = (str(e).removeprefix("The demonstration ") for e in demonstrations[:A_FEW])
    more = len(demonstrations) - A_FEW
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


def left_out(skipped: Sequence[Skipped]) -> Finding:
    """Return a finding that names demonstrations which cannot be used."""
    was = "was" if len(skipped) == 1 else "were"
    return Finding(
        "left out",
        f"{some(len(skipped), 'demonstration')} cannot be used, and {was} left out: "
        f"{_name([each.demonstration for each in skipped])}.",
        f"See skipped_ for the reasons; the first is: {skipped[0].problem}",
    )


def which_too_long(learnt: Learnt, examples: Sequence[Example]) -> list[Example]:
    """Return the examples whose plans are longer than `Search.max_length` allows."""
    search = learnt.search
    return [
        each for each in examples
        if len(each.trajectory) > search.extended(each.world.extra_length(each.trajectory.start))
        .longest
    ]  # fmt: skip


def warn_of_long_texts(demonstrations: Sequence[Demonstration]) -> None:
    """Warn about texts of over 200 words that are ten times as long as the median.

    All words of a text are aligned with every plan, so training time grows with their number.
    """
    counts = [_count_words(each.instructions) for each in demonstrations]
    usual = median(counts) if counts else 0
    long = [each for each, count in zip(demonstrations, counts, strict=True)
            if count > LONG_TEXT and HARDLY_ANY * count > usual]  # fmt: skip
    if long:
        first = _count_words(long[0].instructions)
        finding = Finding(
            "long text",
            f"{len(long)} of {some(len(demonstrations), 'text')} {are(len(long))} far longer than "
            f"the median of {usual:g} word{'s' * (usual != 1)}, which takes most of the time: "
            f"{_name(long)} ({first:,} words).",
            "Split them into several demonstrations, or leave them out.",
        )
        warnings.warn(str(finding), LearningWarning, stacklevel=3)  # the caller of Follower.fit


def _count_words(text: Text) -> int:
    parts = [text] if isinstance(text, (str, Instruction)) else text
    if not isinstance(parts, (list, tuple)):
        return 0  # not a text; parsing raises the error
    return sum(
        len(split_words(part)) if isinstance(part, str) else len(part)
        for part in parts
        if isinstance(part, (str, Instruction))
    )


@check(
    "too long", ("fit", "teach", "diagnose"),
    "raise it: the message says how, and how many more plans there will be",
)  # fmt: skip
def _too_long(subject: Subject) -> _Problems:
    """Find demonstrations with more actions than `Search.max_length` allows.

    If all demonstrations are too long, `fit` raises an error.
    """
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
            f"{counts.plans(longest):,.0f}, and training takes longer in proportion."
        )
    yield (
        f"{len(long)} of {some(len(examples), 'demonstration')} {are(len(long))} longer than "
        f"Search.max_length={longest}, the limit of the search: "
        f"{_name([each.demonstration for each in long])}.",
        f"Use {advise(learnt, 'Search', max_length=most)}.{cost}",
    )


def _could(one: Example, other: Example) -> bool:
    """Return whether two plans are possible at each other's start, with equal graphs."""
    for each, elsewhere in ((one, other), (other, one)):
        plan, world = each.trajectory, elsewhere.world
        try:
            instead = world.trace(elsewhere.trajectory.start, plan.actions, "")
        except GroundlingError:  # it is not possible there
            return False
        if graphs(world, instead) != graphs(each.world, plan):
            return False
    return True


@check(
    "contradiction", ("fit", "teach", "diagnose"),
    "correct them; use `also=` if several plans are right; or add a label that distinguishes the "
    "starts",
)  # fmt: skip
def _contradictions(subject: Subject) -> _Problems:
    """Find demonstrations with equal words and similar starts, but different actions."""
    index, found = subject.index, []
    among = {id(each) for each in subject.examples} & {id(each) for each in index.shown}
    for alike in index.by_text.values():
        if len(alike) < 2 or (among and not any(id(each) in among for each in alike)):
            continue
        starts: dict[frozenset[tuple[GroundingGraph, int]], dict[_Plans, list[Example]]] = {}
        for each in alike:
            look = frozenset(looks(each.world, each.trajectory.start).items())
            plans = (each.trajectory, *each.also)
            key = frozenset(tuple(graphs(each.world, plan)) for plan in plans)
            starts.setdefault(look, {}).setdefault(key, []).append(each)
        for doing in starts.values():
            for key, same in doing.items():
                others = (e for other, (e, *_) in doing.items() if not key & other)
                if any(_could(same[0], other) for other in others):
                    found += same
    if found:
        numbers = {id(each): number for number, each in enumerate(index.shown, 1)}
        first = ", ".join(str(numbers[id(each)]) for each in found[: 2 * A_FEW])
        yield (
            f"{len(found)} demonstrations contradict each other: the same words and similar "
            f"starts, but different actions: {_name([each.demonstration for each in found])} "
            f"(numbers {first}{', …' * (len(found) > 2 * A_FEW)}).",
            "Correct the wrong ones; if several plans are right, list them in also=… of each; or "
            "add a label that distinguishes the starts.",
        )


@check(
    "idle slot", ("fit", "diagnose"),
    "use the suggested name, add a lexicon, or leave the slot out",
)  # fmt: skip
def _slots(subject: Subject) -> _Problems:
    """Find slots in `Features.slots` that no graph has, or whose values no word means."""
    examples, encoder = subject.sample, subject.learnt.fitted.encoder
    reader = encoder.reader
    strings = [
        (kind_of(e), e.value) for each in examples for e in labels_of(each)
        if isinstance(e.value, str)
    ]  # fmt: skip
    # A loaded follower has only the words of its training texts.
    words = {word for each in examples for word in words_of(each)} | set(reader.counts)
    labelled = {e.kind for each in examples for s in each.instructions for e in s.labels}
    presumed = {kind for each in examples for kind in each.world.presumed_slots}
    for kind in encoder.nodes.slots:
        if kind in (LABEL, NUMBER) or kind in presumed:
            continue
        values = encoder.values.get(kind, set()) | {value for k, value in strings if k == kind}
        only = {kind: values}
        if not values:
            yield (
                f"No grounding graph has a string label {kind!r}, which is in Features.slots.",
                "Use a label that the graphs have."
                f"{did_you_mean(kind, {kind for kind, _ in strings})}",
            )
        elif kind not in labelled and not any(
            reader.lexicon.look_up(word, only, language=reader.language)
            or word in reader.lexicon.learnt
            for word in words
        ):
            fix = "Add a lexicon, or leave the slot out."
            if not subject.learnt.settings.features.learns_lexicon:
                fix = f"Use {advise(subject.learnt, 'Features', lexicon='learn')}, a{fix[1:]}"
            such = ", ".join(sorted(values)[:A_FEW])
            yield (
                f"No word in the texts means a value of the slot {kind!r}, such as {such}.",
                fix,
            )


@check(
    "idle entry", ("fit", "diagnose"),
    "correct the named entries; see [the format of a lexicon](your-environment.md)",
)  # fmt: skip
def _entries(subject: Subject) -> _Problems:
    """Find lexicon entries of several words, or whose label or value no graph has."""
    examples, encoder = subject.sample[: 2 * SAMPLED_STARTS], subject.learnt.fitted.encoder
    slots = {*encoder.nodes.slots, NUMBER, ORDINAL}
    given = encoder.reader.lexicon.given
    offered: dict[str, set[str]] = {kind: set(values) for kind, values in encoder.values.items()}
    for each in examples if given else ():
        for state in each.trajectory.states[:-1]:
            for action in each.world.some_actions(state):
                for name, own in graph_values(each.world, state, action):
                    offered.setdefault(name, set()).add(own)
    # These values exist only if a text names them.
    hidden = any(each.world.labels_follow_text for each in examples)
    idle = [
        f"{word!r} is more than one word, and is never looked up"
        for word, pairs in given.items() if pairs and len(word.split()) > 1
    ]  # fmt: skip
    for word, (kind, value) in ((w, pair) for w, pairs in given.items() for pair in pairs):
        if kind not in slots and kind in offered:
            idle.append(f"{word!r} has a value of {kind!r}, which is not in Features.slots")
        elif kind not in slots:
            hint = did_you_mean(kind, slots - {NUMBER, ORDINAL})
            idle.append(f"{word!r} has a value of {kind!r}, which no graph has as a label.{hint}")
        elif kind in encoder.nodes.slots and value not in offered.get(kind, ()) and not hidden:
            hint = did_you_mean(str(value), offered.get(kind, ()))
            idle.append(f"{word!r} has {kind}:{value}, which no graph has.{hint}")
    if idle:
        more = f" And {len(idle) - A_FEW} more." if len(idle) > A_FEW else ""
        shown = "; ".join(each.rstrip(".") for each in idle[:A_FEW])
        yield (
            f"Lexicon entries match no label of any action: {shown}.{more}".replace("?.", "?"),
            "Write entries as one word with a label and a value of the graphs: "
            "{'bench': [('item', 'sofa')]}, or bench = item:sofa in a file.",
        )


@check(
    "unreachable node", ("fit", "diagnose"),
    "add an edge, or use `Overlay(adjacency=\"soft\")` or `Overlay.flat()`",
)  # fmt: skip
def _nodes(subject: Subject) -> _Problems:
    """Find nodes to which no relation leads, under hard adjacency.

    No word can align with such a node.
    """
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
        yield (
            f"No relation leads to the node {name!r}, so no word can align with it.",
            "Add an edge to it, or use Overlay(adjacency='soft') or Overlay.flat().",
        )


def _look_alike(subject: Subject) -> bool:
    """Return whether all actions that are possible in a state have the same graph.

    This must hold for all sampled states. Returns False if no state has several actions.
    """
    return any(len(shown) > 1 for shown in subject.offered) and all(
        len(set(shown)) < 2 for shown in subject.offered
    )


@check(
    "same graphs", ("fit", "diagnose"),
    "add labels that say what an action does, and to what",
)  # fmt: skip
def _same_graphs(subject: Subject) -> _Problems:
    """Find states whose actions all have the same grounding graph."""
    if _look_alike(subject):
        yield (
            "All actions of a state have the same grounding graph, so nothing distinguishes them.",
            "Return labels from ground that say what an action does, and to what.",
        )


@check("constant label", ("fit", "diagnose"), "let it vary, or leave it out")
def _constant_labels(subject: Subject) -> _Problems:
    """Find labels with the same value on all possible actions."""
    shown = [graph for each in subject.offered for graph in each]
    found: dict[tuple[str, str], list[object]] = {}
    for graph in shown:
        for node, labels in zip(graph.node_names, graph.node_labels, strict=True):
            for label in labels:
                if label.value is not None and ".rank" not in label.name:  # ranks come as a set
                    found.setdefault((node, label.name), []).append(label.value)
    if _look_alike(subject) or len(shown) < 2 * A_FEW:
        return
    for (node, name), values in sorted(found.items(), key=lambda pair: pair[0]):
        # A label that only some actions have distinguishes them from the others.
        if len(set(values)) == 1 and len(values) == len(shown):
            yield (
                f"The label {name!r} of the node {node!r} is {values[0]!r} on all possible "
                "actions, so nothing can be learnt from it.",
                "Let it vary, or leave it out.",
            )


@check(
    "one token", ("fit", "diagnose"),
    "pass `parser=…`, such as `ChainParser(language=Language(…, spaced=False))`; or put spaces "
    "between words",
)  # fmt: skip
def _tokens(subject: Subject) -> _Problems:
    """Find texts parsed as one long word, a sign of an unsupported language."""
    examples = subject.examples
    # A word with labels of its own represents a whole sentence on purpose.
    sentences = [s for each in examples for s in each.instructions if not s.labels]
    alone = [
        s.tokens[0]
        for s in sentences
        if len(s) == 1
        and len(s.tokens[0]) >= (SAMPLED_STARTS / 2 if is_unspaced(s.tokens[0]) else SAMPLED_STARTS)
    ]
    if 2 * len(alone) > len(sentences):
        yield (
            f"{len(alone)} of {some(len(sentences), 'sentence')} {are(len(alone))} parsed as a "
            f"single word, such as {alone[0][:SAMPLED_STARTS]!r}: the parser does not find word "
            "boundaries.",
            "Pass a parser for this language as parser=…, such as "
            "ChainParser(language=Language(…, spaced=False)) if it is written without spaces; or "
            "put spaces between words.",
        )


@check("poor trial", ("fit",), "add labels that words can learn, or more demonstrations")
def _held_out(subject: Subject) -> _Problems:
    """Find an accuracy below one half on held-out demonstrations."""
    tried = getattr(subject.learnt.choices, "tried", None)
    if tried is not None and 2 * tried.right < 1:
        yield (
            f"In cross-validation, {tried.right:.0%} of the held-out demonstrations were followed "
            "correctly; expect a similar accuracy on other texts.",
            "Add labels that words can learn (see the page “Labels that words can learn”), or more "
            "demonstrations. follower.diagnose(demonstrations, parts=3) explains the mistakes.",
        )


@check("not found", ("fit",), "raise `Search.beam` or `Search.budget`")
def _lost_plans(subject: Subject) -> _Problems:
    """Find demonstrated plans that the search misses, in a sample of demonstrations."""
    seen, looked = subject.followed
    lost = [each.example.demonstration for each in seen if _is_lost(subject.learnt, each)]
    if len(lost) > HARDLY_ANY * len(seen):
        yield (
            f"The search does not find the plan{'s' * (len(lost) != 1)} of {len(lost)} of "
            f"{some(len(seen), 'demonstration')}{looked}: {_name(lost)}.",
            wider(subject.learnt.search),
        )


@check(
    "poor fit", ("fit",),
    "the message names the most frequent reason; `diagnose` explains each mistake",
)  # fmt: skip
def _refit(subject: Subject) -> _Problems:
    """Find an accuracy below 60 % on a sample of the training demonstrations."""
    seen, looked = subject.followed
    wrong = [each for each in seen if not each.right]
    right = len(seen) - len(wrong)
    if (
        len(seen) < SAMPLED_STARTS / 2
        or subject.scores_transitions
        or right >= POOR_ACCURACY * len(seen)
    ):
        return
    chance = sum(each.chance for each in seen)
    if chance < NEARLY_ALL * len(seen):
        tried = wrong[:SAMPLED_STARTS]
        reasons = Counter(explain_mistake(subject.index, each).why for each in tried)
        [(why, count)] = reasons.most_common(1)
        yield (
            f"Only {right} of {len(seen)} training demonstrations{looked} {are(right)} followed as "
            f"demonstrated; chance would be {chance:.1f}.",
            f"The most frequent reason is {why!r} ({count} of {len(tried)}): "
            "follower.diagnose(demonstrations) suggests a fix for each.",
        )


def _is_lost(learnt: Learnt, each: Attempt) -> bool:
    """Return whether a wider search would help: a demonstrated plan scores best."""
    if each.right or each.chance:
        return False
    if not each.found:
        return True
    best = max(each.found, key=lambda plan: plan.score)
    scores = plan_scores(learnt, each.request, [best, *each.shown])
    return max(scores[1:]) >= scores[0] - NEGLIGIBLE_WEIGHT


@check("another world", ("diagnose",), "follow in the training world, or train again")
def _elsewhere(subject: Subject) -> _Problems:
    """Find labels that some action had at every start in training, but none has here."""
    yield from _another_world(usual_labels(subject.learnt), subject.places)
