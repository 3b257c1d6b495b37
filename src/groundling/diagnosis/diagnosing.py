"""What keeps a follower from learning or following: findings, each with its cure."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from groundling.answers import decoded
from groundling.diagnosis.findings import (
    Finding,
    another_world,
    contradictions,
    name_some,
    too_long,
    which_too_long,
)
from groundling.diagnosis.following import follow_again
from groundling.diagnosis.known import Known
from groundling.diagnosis.mistakes import Mistake, explain_mistake
from groundling.diagnosis.offered import Offered, constant_labels, mixed_labels, shown_labels
from groundling.errors import DemonstrationError, LearningWarning, did_you_mean
from groundling.features.labels import NUMBER, ORDINAL, kind_of
from groundling.language.sentences import is_unspaced
from groundling.learning.usual import usual_labels
from groundling.learning.wording import graph_values, words_of
from groundling.models.base import Request
from groundling.models.examples import Example, Skipped
from groundling.models.learnt import Learnt
from groundling.world.environment import Demonstration

__all__ = ["Diagnosis", "Finding", "check_learnt", "check_taught", "diagnose", "left_out", "warn"]

_LOOKED_AT = 120  # demonstrations whose graphs and texts are looked at
_ALL_ACTIONS = 24  # of which all that could be done is looked at
_NAMED = 3  # demonstrations that a sentence names
_HARDLY_RIGHT = 0.5  # share of what was kept apart, below which it is told
_LONG_TOKEN = 12  # letters from which one word in a sentence is hardly all of it,
_LONG_UNSPACED = 5  # where letters are syllables or words


@dataclass(frozen=True)
class Diagnosis:
    """What was found wrong with what was learnt, and with each demonstration that goes wrong.

    >>> print(Diagnosis((), (), 4, 4))
    4 of 4 demonstrations are followed as demonstrated. Nothing else was found wrong.
    """

    findings: tuple[Finding, ...]
    mistakes: tuple[Mistake, ...]
    right: int
    count: int

    @property
    def reasons(self) -> dict[str, int]:
        """How many mistakes there are for which reason, most first."""
        return dict(Counter(each.why for each in self.mistakes).most_common())

    def __str__(self) -> str:
        return self.summary()

    def summary(self, most: int | None = 10, rest: str = "in .mistakes") -> str:
        """Return all of it as text, with so many mistakes, and where the rest is.

        >>> Diagnosis((), (), 1, 1).summary(None)
        '1 of 1 demonstrations are followed as demonstrated. Nothing else was found wrong.'
        """
        lines = [f"{self.right} of {self.count} demonstrations are followed as demonstrated."]
        if not self.findings and not self.mistakes:
            lines[0] += " Nothing else was found wrong."
        lines += [f"- {each}" for each in self.findings]
        if self.mistakes:
            shown = ", ".join(f"{why} {count}" for why, count in self.reasons.items())
            lines.append(f"The others by reason: {shown}.")
            lines += [f"- {each}" for each in self.mistakes[:most]]
            if most is not None and len(self.mistakes) > most:
                lines.append(f"- and {len(self.mistakes) - most} more {rest}")
        return "\n".join(lines)


def joined(diagnoses: Sequence[Diagnosis]) -> Diagnosis:
    """Return the diagnoses of several demonstrations as one; what all found is said once.

    >>> print(joined([Diagnosis((), (), 1, 1), Diagnosis((), (), 2, 2)]))
    3 of 3 demonstrations are followed as demonstrated. Nothing else was found wrong.
    """
    return Diagnosis(
        tuple(dict.fromkeys(finding for each in diagnoses for finding in each.findings)),
        tuple(mistake for each in diagnoses for mistake in each.mistakes),
        sum(each.right for each in diagnoses),
        sum(each.count for each in diagnoses),
    )


def warn(findings: Iterable[Finding]) -> None:
    """Tell what cannot work as warnings."""
    for each in findings:
        warnings.warn(str(each), LearningWarning, stacklevel=3)  # the caller of Follower.fit


def left_out(skipped: Sequence[Skipped]) -> Finding:
    """Return the sentence about demonstrations that were left out."""
    named = name_some((each.demonstration for each in skipped[:_NAMED]), len(skipped))
    return Finding(
        "left out",
        f"{len(skipped)} demonstrations cannot be used and were left out: {named}.",
        f"See skipped_ for the reasons; the first is: {skipped[0].problem}",
    )


def check_learnt(learnt: Learnt) -> list[Finding]:
    """Return what cannot work in what was learnt; raise where nothing can be learnt."""
    examples = [each for each in learnt.examples if each.shown is not None]
    if not len(learnt.fitted.theta):
        raise DemonstrationError(
            "Nothing can be learnt: no label of an action goes with any word or action of the "
            "demonstrations. Add labels to the grounding graphs, or lower Features.min_count."
        )
    long = which_too_long(learnt, examples)
    if len(long) == len(examples) and learnt.model.member_model.lists_plans:
        [told] = too_long(learnt, examples)
        raise DemonstrationError(f"Nothing can be learnt: {told}")
    some = _sampled(examples)
    found = list(too_long(learnt, examples))
    found += contradictions(Known(learnt))
    found += _slots(learnt, some)
    found += _nodes(learnt, some)
    offered = Offered(some[:_ALL_ACTIONS])
    found += mixed_labels(some, offered)
    found += _trials(learnt)
    found += constant_labels(offered)
    found += _repeated_actions(examples)
    found += _tokens(examples)
    found += _lexicon(learnt)
    found += _entries(learnt, some[:_ALL_ACTIONS])
    apart = {id(each) for each in long}  # of which it was told why they are not found
    rest = [each for each in examples if id(each) not in apart]
    if rest:
        found += follow_again(learnt, rest)
    return found


def check_taught(learnt: Learnt, new: Iterable[Demonstration]) -> list[Finding]:
    """Return what cannot work in demonstrations that were learnt last, or beside the others."""
    last = {id(each) for each in new}
    examples = [each for each in learnt.examples if id(each.shown) in last]
    return [*too_long(learnt, examples), *contradictions(Known(learnt), examples)]


def _sampled(examples: Sequence[Example]) -> list[Example]:
    return list(examples[:: max(1, len(examples) // _LOOKED_AT)][:_LOOKED_AT])


def diagnose(
    learnt: Learnt, demonstrations: Sequence[Demonstration], requests: Sequence[Request]
) -> Diagnosis:
    """Follow demonstrations and say of each that goes wrong why."""
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    known = Known(learnt)
    mistakes, right = [], 0
    examples = []
    for each, request, result in zip(demonstrations, requests, results, strict=True):
        world = request.world
        shown = [world.trace(each.start, a, str(each)) for a in (each.actions, *each.also)]
        ends = {world.outcome(plan.end) for plan in shown}
        examples.append(
            Example(each, request.text, world, shown[0], tuple(shown[1:]), 1.0, "", each)
        )
        told = decoded(learnt, request, result, learnt.search)
        if told is not None and world.outcome(told.answer.end) in ends:
            right += 1
            continue
        best, found = (None, ()) if told is None else (told.answer, told.found)
        mistakes.append(explain_mistake(known, each, request, shown, best, found))
    # A few texts say nothing of what the others that were learnt from have.
    some = [*_sampled(known.shown), *examples[:_LOOKED_AT]]
    varied = [*known.shown[:_ALL_ACTIONS], *examples[:_ALL_ACTIONS]]
    offered = Offered(varied)
    starts = [(request.world, request.start) for request in requests]
    findings = [
        *another_world(usual_labels(learnt), starts), *too_long(learnt, examples),
        *contradictions(known), *_slots(learnt, some), *_nodes(learnt, some),
        *mixed_labels(some, offered), *constant_labels(offered), *_tokens(examples),
        *_lexicon(learnt), *_entries(learnt, varied),
    ]  # fmt: skip
    return Diagnosis(tuple(findings), tuple(mistakes), right, len(demonstrations))


# ---- what cannot work ---------------------------------------------------------------------


def _slots(learnt: Learnt, examples: Sequence[Example]) -> Iterator[Finding]:
    encoder = learnt.fitted.encoder
    slots = [kind for kind in encoder.nodes.slots if kind != NUMBER]
    if not slots:
        return
    strings = {
        (kind_of(e), e.value)
        for each in examples
        for e in shown_labels(each)
        if isinstance(e.value, str)
    }
    known = {kind for kind, _ in strings}
    # What a follower from a file learnt from is known by its words only.
    words = {word for each in examples for word in words_of(each)} | set(encoder.reader.counts)
    # A world may presume slots that its users did not ask for, or set them in a place of its own.
    worlds = [each.demonstration.environment for each in examples]
    presumed = {kind for each in worlds for kind in getattr(each, "presumed_slots", ())}
    place = next((each.slots_place for each in worlds if hasattr(each, "slots_place")), None)
    for kind in slots:
        if kind in presumed:
            continue
        values = encoder.values.get(kind, set()) | {value for k, value in strings if k == kind}
        if not values:
            yield Finding(
                "unknown slot",
                f"No grounding graph has a string label {kind!r}, which is in "
                f"{place or 'Features.slots'}.",
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
            such = ", ".join(sorted(values)[:_NAMED])
            yield Finding(
                "unmatched slot",
                f"No word of the texts stands for a value of the slot {kind!r}, such as {such}.",
                "Use Features(lexicon='learn') or give a lexicon, or leave the slot out.",
            )


def _nodes(learnt: Learnt, examples: Sequence[Example]) -> Iterator[Finding]:
    encoder = learnt.fitted.encoder
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


def _trials(learnt: Learnt) -> Iterator[Finding]:
    """Tell if little was right of what was kept apart when settings were tried."""
    scores = [score for each in getattr(learnt.choices, "tried", ())[-1:] for score in each.scores]
    if scores and max(scores) < _HARDLY_RIGHT:
        features = learnt.settings.features
        lexicon = "" if features.slots or not features.words else (
            "say in a lexicon which words stand for which values, as none of them spells one "
            "(Features(slots=…, lexicon=…)); "
        )  # fmt: skip
        yield Finding(
            "poor trial",
            f"When settings were tried, {max(scores):.0%} of the demonstrations that were not "
            "learnt from were followed right; other texts may go wrong as often.",
            "Give the graphs labels that the words of the texts speak of (the page “Labels that "
            f"words can learn” says how); {lexicon}or give more demonstrations. "
            "follower.diagnose(demonstrations, parts=3) says what goes wrong.",
        )


def _repeated_actions(examples: Sequence[Example]) -> Iterator[Finding]:
    """Find actions that a world lists twice."""
    told = next((each.world.repeated for each in examples if each.world.repeated), "")
    if told:
        yield Finding(
            "repeated action", f"{told} lists an action twice; it is taken once.",
            "List every action once.",
        )  # fmt: skip


def _tokens(examples: Sequence[Example]) -> Iterator[Finding]:
    # A word that comes with labels stands for a sentence on purpose.
    sentences = [s for each in examples for s in each.instructions if not s.labels]
    alone = [
        s.tokens[0]
        for s in sentences
        if len(s) == 1
        and len(s.tokens[0]) >= (_LONG_UNSPACED if is_unspaced(s.tokens[0]) else _LONG_TOKEN)
    ]
    if 2 * len(alone) > len(sentences):
        yield Finding(
            "one token",
            f"{len(alone)} of {len(sentences)} sentences are one word each, such as "
            f"{alone[0][:40]!r}: the parser does not know where words begin.",
            "Give a parser of this language with parser=…, such as "
            "ChainParser(language=Language(…, spaced=False)) where it writes no spaces; or texts "
            "with spaces between words.",
        )


def _offered(examples: Sequence[Example]) -> set[tuple[str, str]]:
    """Return the string labels of all that could be done, each a kind and a value."""
    found: set[tuple[str, str]] = set()
    for each in examples:
        for state in each.trajectory.states[:-1]:
            for action in each.world.actions(state):
                found |= graph_values(each.world, state, action)
    return found


def _entries(learnt: Learnt, examples: Sequence[Example]) -> Iterator[Finding]:
    """Find words of a lexicon that stand for nothing: of no slot, of no graph, or two in one."""
    encoder = learnt.fitted.encoder
    given = {word: pairs for word, pairs in encoder.reader.lexicon.given.items() if pairs}
    if not given:
        return
    slots = {*encoder.nodes.slots, NUMBER, ORDINAL}
    offered = _offered(examples) | {(k, v) for k, values in encoder.values.items() for v in values}
    # Such values are there only where a text names them.
    hidden = any(
        getattr(e.demonstration.environment, "labels_follow_text", False) for e in examples
    )
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
        more = f" And {len(idle) - _NAMED} more." if len(idle) > _NAMED else ""
        yield Finding(
            "idle entry",
            "Words of the lexicon stand for nothing that could be done: "
            f"{'; '.join(idle[:_NAMED])}.{more}".replace("?.", "?"),
            "Write entries as one word with the label and the value that graphs have: "
            "{'bench': [('item', 'sofa')]}, or bench = item:sofa in a file.",
        )


def _lexicon(learnt: Learnt) -> Iterator[Finding]:
    lexicon = learnt.fitted.encoder.reader.lexicon
    if not learnt.settings.features.learns_lexicon or lexicon.learnt or lexicon.given:
        return
    yield Finding(
        "empty lexicon",
        "The lexicon that was to be learnt is empty: no word goes with a value of a slot.",
        "Give more demonstrations, or some words: Lexicon({word: [(kind, value)]}, learn=True); or "
        "leave lexicon='learn' out.",
    )
