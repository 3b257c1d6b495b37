"""Why a demonstration is followed otherwise than demonstrated, and what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from groundling.language.units import split_units
from groundling.learning.trainer import Learnt
from groundling.models.base import Request
from groundling.models.examples import Example
from groundling.models.interpretation import Interpretation
from groundling.overlay.batch import Reals
from groundling.world.environment import Demonstration, State, World
from groundling.world.graph import GroundingGraph
from groundling.world.trajectory import Trajectory

__all__ = ["Known", "Mistake", "explain_mistake"]

_FEATURES = 3
_NAMED = 3  # labels and words that a sentence names
_SELDOM = 2  # times a word was shown that little was learnt of
_NOTHING = 1e-6  # weights below which nothing was learnt


@dataclass(frozen=True)
class Mistake:
    """A demonstration that is followed otherwise than demonstrated, and why.

    `why` is one of: `too long` (its plan is not in the search space), `not found` (the search
    dropped it), `same graph` (the plan that was chosen looks alike, so that a label that would
    decide is missing), `contradiction` (others with the same words and a start that looks alike do
    something else), `tie` (they look different, but no weight tells them apart), `length` (the plan
    that was chosen is the same with actions left out or added), `lower score` (`features` say by
    what).

    `unknown_words` were never shown, `rare_words` so often. `missing_labels` are on the
    demonstrated actions only, and no word of the text goes with them. `misleading_words` speak for
    the plan that was chosen.
    """

    demonstration: Demonstration
    why: str
    detail: str
    cure: str
    features: tuple[tuple[str, float], ...] = ()
    unknown_words: tuple[str, ...] = ()
    rare_words: tuple[tuple[str, int], ...] = ()
    missing_labels: tuple[str, ...] = ()
    misleading_words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.demonstration} ({self.why}): {self.detail} {self.cure}"


class Known:
    """What was learnt, with what is asked again for every mistake."""

    def __init__(self, learnt: Learnt) -> None:
        self.learnt = learnt
        self.encoder = learnt.fitted.encoder
        self.shown = [each for each in learnt.examples if each.shown is not None]

    @cached_property
    def theta(self) -> Reals:
        """The weights of all members."""
        return np.concatenate([member.theta for member in self.learnt.fitted.members])

    @cached_property
    def names(self) -> list[str]:
        """The names of all features."""
        return [name for member in self.learnt.fitted.members for name in member.space.names()]

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        """The places of features that join words with a label and have a weight, by the label."""
        found: dict[str, list[int]] = {}
        for place in np.flatnonzero(np.abs(self.theta) > _NOTHING).tolist():
            _, joined, label = self.names[place].partition(" ∧ ")
            if joined:
                found.setdefault(label, []).append(place)
        return found

    @cached_property
    def by_text(self) -> dict[tuple[str, ...], list[Example]]:
        """What was learnt from, by its words."""
        found: dict[tuple[str, ...], list[Example]] = {}
        for each in self.shown:
            found.setdefault(self.words(each), []).append(each)
        return found

    def words(self, of: Example | Request) -> tuple[str, ...]:
        """Return the words of a text, one after another."""
        text = of.instructions if isinstance(of, Example) else of.text
        fold = self.encoder.reader.language.fold
        return tuple(fold(word) for sentence in text for word in sentence.tokens)


def explain_mistake(
    known: Known,
    each: Demonstration,
    request: Request,
    shown: Sequence[Trajectory],
    best: Trajectory | None,
    found: Sequence[Trajectory],
) -> Mistake:
    """Say why `best`, of all plans that were found, is none of those shown."""
    search, world, gold = known.learnt.search, request.world, shown[0]
    longest = search.extended(world.extra_length(each.start)).longest
    if len(gold) > longest:
        return Mistake(
            each, "too long",
            f"It has {len(gold)} actions, and plans of up to {longest} are searched.",
            f"Use Search(max_length={len(gold)}).",
        )  # fmt: skip
    ends = {world.outcome(plan.end) for plan in shown}
    if best is None or not any(world.outcome(plan.end) in ends for plan in found):
        return Mistake(each, "not found", "The search did not keep its plan.",
                       f"Raise Search.beam (it is {search.beam}) or Search.budget (it is "
                       f"{search.budget:,}).")  # fmt: skip
    if _graphs(world, gold) == _graphs(world, best):
        return Mistake(each, "same graph", f"The plan {_listed(best.actions)} has the same "
                       "grounding graphs.", "Add a label that tells the two apart.",
                       unknown_words=_Text(known, request, gold).unknown)  # fmt: skip
    return _Rivals(known, each, request, gold, best).explain()


class _Text:
    """The words of a text, and what they stand for."""

    def __init__(self, known: Known, request: Request, plan: Trajectory) -> None:
        encoder = known.encoder
        self.reader = encoder.reader
        # Where features have no words, it does not matter which there are.
        reads = bool(known.learnt.settings.features.words)
        self.words = tuple(dict.fromkeys(known.words(request))) if reads else ()
        self.values = {kind: set(values) for kind, values in encoder.values.items()}
        for state, action in plan.decisions():
            for kind, value in encoder.ground(request.world, state, action).values:
                if kind in self.values:
                    self.values[kind].add(value)

    def kinds(self, word: str) -> set[str]:
        """Return the kinds of values that a word stands for."""
        return {kind for kind, _ in self.reader.sense(word, self.values)}

    @cached_property
    def _plain(self) -> list[str]:
        alphabetic = [word for word in self.words if word.isalpha()]
        return [word for word in alphabetic if not self.kinds(word)]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Words that training never saw and that spell no value."""
        return tuple(word for word in self._plain if word not in self.reader.counts)

    def rare(self, least: int) -> tuple[tuple[str, int], ...]:
        """Return words that training saw so seldom that little was learnt of them."""
        counts = self.reader.counts
        seldom = max(_SELDOM, least - 1)
        return tuple(
            (word, counts[word]) for word in self._plain if 0 < counts.get(word, 0) <= seldom
        )


class _Rivals:
    """A demonstrated plan and another one that scores as much or more."""

    def __init__(
        self,
        known: Known,
        each: Demonstration,
        request: Request,
        gold: Trajectory,
        best: Trajectory,
    ) -> None:
        self.known, self.each, self.request = known, each, request
        self.gold, self.best, self.world = gold, best, request.world
        self.text = _Text(known, request, gold)
        learnt = known.learnt
        self.one, self.other = learnt.model.interpret(
            learnt.fitted, request, [gold, best], learnt.search
        )
        self.least = learnt.settings.features.min_word_count
        self.rare = self.text.rare(self.least)

    def explain(self) -> Mistake:
        rival, behind = _listed(self.best.actions), self.other.score - self.one.score
        doing = self._otherwise()
        if doing:
            return self._mistake("contradiction", doing, "Correct those that are wrong, or add a "
                                 "label that tells their starts apart.")  # fmt: skip
        if abs(behind) < 1e-9:
            return self._mistake("tie", f"The plan {rival} scores the same: no weight tells them "
                                 "apart.", " ".join(self._cures()))  # fmt: skip
        features = self._pulling
        by = ", ".join(f"{name} {gain:+.2f}" for name, gain in features)
        detail = f"The plan {rival} scores {behind:.2f} more{f', by {by}' if by else ''}."
        changed = self._length_change()
        if changed:
            cures = [self._length_cure(), *islice(self._word_cures(), 1)]
            return self._mistake("length", f"{detail} It is the same with {changed}.",
                                 " ".join(cures), features)  # fmt: skip
        return self._mistake("lower score", detail, " ".join(self._cures()), features)

    def _mistake(
        self, why: str, detail: str, cure: str, features: tuple[tuple[str, float], ...] = ()
    ) -> Mistake:
        return Mistake(
            self.each, why, detail, cure, features, self.text.unknown, self.rare,
            tuple(name for name, _ in self._missing), self._misleading,
        )  # fmt: skip

    # ---- what was demonstrated otherwise ------------------------------------------------

    def _otherwise(self) -> str:
        """Say how many that were learnt from have the same words and start, and do otherwise."""
        done = _graphs(self.world, self.gold)
        alike = [
            other
            for other in self.known.by_text.get(self.known.words(self.request), ())
            if _looks(other.world, other.trajectory.start) == _looks(self.world, self.each.start)
        ]
        others = [
            other
            for other in alike
            if not any(
                _graphs(other.world, plan) == done for plan in (other.trajectory, *other.also)
            )
        ]
        if not others:
            return ""
        name = str(others[0].demonstration).removeprefix("The demonstration ")
        do = "does" if len(others) == 1 else "do"
        return (
            f"Of {len(alike)} that were learnt from with the same words and a start that looks "
            f"alike, {len(others)} {do} something else, such as {name}: "
            f"{_listed(others[0].trajectory.actions)}."
        )

    # ---- what is too short or too long --------------------------------------------------

    def _length_change(self) -> str:
        gold, best = self.gold.actions, self.best.actions
        if len(best) < len(gold) and _within(best, gold):
            return f"{_some(len(gold) - len(best), 'action')} of {len(gold)} left out"
        if len(best) > len(gold) and _within(gold, best):
            return f"{_some(len(best) - len(gold), 'action')} added to {len(gold)}"
        return ""

    def _length_cure(self) -> str:
        model = self.known.learnt.model.member_model
        if cure := model.length_cure(short=len(self.best) < len(self.gold)):
            return cure
        overlay, count = self.known.encoder.overlay, len(self.gold)
        found = {
            unit: sum(len(split_units(sentence, unit)) for sentence in self.request.text)
            for unit in ("sentence", "clause")
        }
        if overlay.unit in found:
            off = {unit: abs(units - count) for unit, units in found.items()}
            other = "clause" if overlay.unit == "sentence" else "sentence"
            if off[other] < off[overlay.unit]:
                return (
                    f"The text has {_some(found[overlay.unit], overlay.unit)} and "
                    f"{_some(found[other], other)} for {_some(count, 'action')}: try "
                    f"Overlay(unit={other!r})."
                )
        shown = self.known.shown
        if not shown:
            return f"Demonstrate more plans of {_some(count, 'action')}."
        as_long = sum(len(each.trajectory) == count for each in shown)
        return (
            f"{as_long} of {len(shown)} that were learnt from have {_some(count, 'action')}: "
            "demonstrate more of them."
        )

    # ---- what the words say -------------------------------------------------------------

    def _cures(self) -> list[str]:
        found = [*self._word_cures(), *self._label_cures()]
        if self._misleading:
            found.append(
                f"{_quoted(self._misleading)} speak{'s' * (len(self._misleading) == 1)} for the "
                "other plan: demonstrate more texts that have such words and mean this."
            )
        if not found and self._pulling:
            found.append(
                "No word of the text speaks for the other plan: it is like what was demonstrated "
                "most. Demonstrate more that is otherwise."
            )
        return found or ["Demonstrate more that differs in what tells the two apart."]

    def _word_cures(self) -> Iterator[str]:
        if self.text.unknown:
            slots = "" if not self.known.encoder.nodes.slots else (
                ", or say in a lexicon what value it stands for"
            )  # fmt: skip
            yield (
                f"Never learnt: {_quoted(self.text.unknown)}. Demonstrate texts that have "
                f"{'it' if len(self.text.unknown) == 1 else 'them'}{slots}."
            )
        if self.rare:
            named = ", ".join(f"“{word}” ({_some(count, 'time')})" for word, count in self.rare)
            too_rare = any(count < self.least for _, count in self.rare)
            why = f"; less than {self.least} times is not learnt" if too_rare else ""
            yield f"Seldom shown: {named}{why}. Demonstrate more with such words."

    def _label_cures(self) -> Iterator[str]:
        missing = self._missing[:_NAMED]
        if not missing:
            return
        labels = ", ".join(name for name, _ in missing)
        said = [word for _, words in missing for word in words][:_NAMED]
        known = f" Elsewhere {', '.join(said)} {'do' if len(said) > 1 else 'does'}." if said else ""
        yield (
            f"No word of the text goes with {labels}, which only the demonstrated actions "
            f"have.{known} Demonstrate texts that say so in such words, or add a label that these "
            "words speak of."
        )

    @cached_property
    def _gains(self) -> Reals:
        gains: Reals = (self.other.counts() - self.one.counts()) * self.known.theta
        return gains

    @cached_property
    def _pulling(self) -> tuple[tuple[str, float], ...]:
        """Return the features that speak most for the other plan."""
        gains = self._gains
        top = [place for place in np.argsort(-gains, kind="stable")[:_FEATURES] if gains[place] > 0]
        return tuple((self.known.names[place], float(gains[place])) for place in top)

    @cached_property
    def _misleading(self) -> tuple[str, ...]:
        """The words of the text in the features that speak most for the other plan."""
        found: dict[str, None] = {}
        for name, _ in self._pulling:
            said, joined, _ = name.partition(" ∧ ")
            if not joined:
                continue
            spelled = set(re.findall(r"=([^\s=‹]+)", said))
            kinds = set(re.findall(r"‹(.+?)›", said))
            for word in self.text.words:
                if word in spelled or kinds & self.text.kinds(word):
                    found[word] = None
        return tuple(found)

    @cached_property
    def _missing(self) -> list[tuple[str, list[str]]]:
        """Labels of the demonstrated actions only that no word of the text goes with.

        Each has what goes with it in other texts, most first. Nothing, if words go with any of
        them: then these decide.
        """
        if not self.text.words:
            return []
        theirs, found = self._labels(self.best), []
        counted = _text_counts(self.one)
        for label, joined in self._labels(self.gold).items():
            if label in theirs:
                continue
            places = [place for name in joined for place in self.known.by_label.get(name, ())]
            if any(abs(counted[place]) > _NOTHING for place in places):
                return []
            places.sort(key=lambda place: -self.known.theta[place])
            said = [
                self.known.names[place].partition(" ∧ ")[0]
                for place in places
                if self.known.theta[place] > 0
            ]
            found.append((label, list(dict.fromkeys(said))))
        return found

    def _labels(self, plan: Trajectory) -> dict[str, tuple[str, ...]]:
        """Return the labels of the actions of a plan, each as features name what words join."""
        found: dict[str, tuple[str, ...]] = {}
        for state, action in plan.decisions():
            for node in self.known.encoder.ground(self.world, state, action).nodes:
                for label, _ in node:
                    name = label.name if label.value is None else f"{label.name}={label.value}"
                    found[name] = (name, f"{label.name}~")
        return found


def _text_counts(read: Interpretation) -> Reals:
    return np.asarray(np.sum([*read.text], axis=0))


def _listed(actions: Sequence[Hashable]) -> str:
    return ", ".join(map(str, actions))


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _some(count: int, what: str) -> str:
    """Return a number of things.

    >>> _some(1, "clause"), _some(2, "clause")
    ('1 clause', '2 clauses')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def _within(few: Sequence[Hashable], many: Sequence[Hashable]) -> bool:
    """Tell whether actions are among others in the same order.

    >>> _within("ac", "abc"), _within("ca", "abc")
    (True, False)
    """
    rest = iter(many)
    return all(each in rest for each in few)


def _graphs(world: World, plan: Trajectory) -> list[GroundingGraph]:
    return [world.ground(state, action) for state, action in plan.decisions()]


def _looks(world: World, start: State) -> Counter[GroundingGraph]:
    """Return what can be done from a start, as graphs show it."""
    return Counter(world.ground(start, action) for action in world.actions(start))
