"""Why a demonstration is followed otherwise than demonstrated, and what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from textwrap import shorten
from typing import Any

import numpy as np

from groundling.features.labels import LABEL
from groundling.features.lexicon import matches_name
from groundling.inference.search import Search
from groundling.language.units import split_units
from groundling.models.base import Request
from groundling.models.example import Example
from groundling.models.interpretation import Interpretation
from groundling.models.learnt import Learnt
from groundling.overlay.batch import Reals
from groundling.selection.constants import MOSTLY, NOTHING, SAMPLE, SEVERAL, SHARING, SLIGHT
from groundling.selection.profile import graph_values, is_reordered
from groundling.ties import margin
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, State
from groundling.world.graph import GroundingGraph, Label
from groundling.world.judgement import Judgement
from groundling.world.trajectory import ScoredTrajectory, Trajectory


@dataclass(frozen=True)
class Mistake:
    """A demonstration that is followed otherwise than demonstrated, and why.

    `why` is one of: `too long` (its plan is not in the search space), `not found` (the search
    dropped it), `same graph` (the plan that was chosen looks alike, so that a label that would
    decide is missing), `contradiction` (others with the same words and a start that looks alike do
    something else), `tie` (they look different, but no weight, or next to none, tells them apart),
    `length` (the plan that was chosen is the same with actions left out or added), `order` (it has
    the same actions in another order), `lower score` (`features` say by what).

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
        text = self.demonstration.instructions
        said = " ".join(map(str, text)) if isinstance(text, (list, tuple)) else str(text)
        named = (
            f", “{shorten(said, SAMPLE // 2, placeholder='…')}”" if self.demonstration.name else ""
        )
        return f"{self.demonstration}{named} ({self.why}): {self.detail} {self.cure}"


def explain_mistake(
    known: Known,
    each: Demonstration,
    request: Request,
    shown: Sequence[Trajectory],
    best: Trajectory | None,
    found: Sequence[ScoredTrajectory],
) -> Mistake:
    """Say why `best`, of all plans that were found, is none of those shown."""
    search, world, gold = known.learnt.search, request.world, shown[0]
    longest = search.extended(world.extra_length(each.start)).longest
    if len(gold) > longest:
        return Mistake(
            each, "too long",
            f"It has {len(gold)} actions, and plans of up to {longest} are searched.",
            f"Use {advise(known.learnt, 'Search', max_length=len(gold))}.",
        )  # fmt: skip
    judgement = Judgement.among(world, shown)
    if best is None or not any(judgement.accepts_end(plan.end) for plan in found):
        scores = plan_scores(known.learnt, request, shown if best is None else [best, *shown])
        if max(scores[best is not None :]) == -np.inf:
            actions = some(len(gold), "action")
            return Mistake(
                each, "not found", f"No reading of the text leads to its {actions}.",
                f"Use a smaller unit of text (Overlay.unit is {known.encoder.overlay.unit!r}), or "
                "a model that lets a unit name several actions.",
            )  # fmt: skip
        if best is None or max(scores[1:]) >= scores[0] - NOTHING:
            scored = "" if best is None else ", which scores more than what it found"
            return Mistake(each, "not found", f"The search did not keep its plan{scored}.",
                           wider(search))  # fmt: skip
        gold = shown[int(np.argmax(scores[1:]))]  # a wider beam would not prefer it either
    if graphs(world, gold) == graphs(world, best):
        return Mistake(each, "same graph", f"The plan {listed(best.actions)} has the same "
                       "grounding graphs.", "Add a label that tells the two apart.",
                       unknown_words=TextWords(known, request, gold).unknown)  # fmt: skip
    return _Rivals(known, each, request, gold, best, found).explain()


class _Rivals:
    """A demonstrated plan and another one that scores as much or more."""

    def __init__(
        self,
        known: Known,
        each: Demonstration,
        request: Request,
        gold: Trajectory,
        best: Trajectory,
        found: Sequence[ScoredTrajectory],
    ) -> None:
        self.known, self.each, self.request, self.found = known, each, request, found
        self.gold, self.best, self.world = gold, best, request.world
        self.text = TextWords(known, request, gold)
        learnt = known.learnt
        self.one, self.other = learnt.model.interpret(
            learnt.fitted, request, [gold, best], learnt.search
        )
        self.least = learnt.settings.features.min_word_count
        self.rare = self.text.rare(self.least)
        self.between = Between(known, request, self.text, gold, best)

    @cached_property
    def _behind(self) -> float:
        """By how much the other plan scores more, as the search sees it if it found both."""
        # A search may drop readings of a text, so that its scores are a little less than all.
        searched = {plan.actions: plan.score for plan in self.found}
        gold, best = (searched.get(plan.actions) for plan in (self.gold, self.best))
        if gold is None or best is None:
            gold, best = self.one.score, self.other.score
        return 0.0 if abs(best - gold) <= margin(best) else best - gold

    def explain(self) -> Mistake:
        rival, behind = listed(self.best.actions), self._behind
        doing = self._otherwise()
        if doing:
            return self._mistake("contradiction", doing, "Correct those that are wrong, give what "
                                 "is right as well in also=…, or add a label that tells their "
                                 "starts apart.")  # fmt: skip
        between = self.between
        said = [*self._turned_cures(), *between.rank_cures(), *between.number_cures()]
        cures = " ".join([*said, *(() if between.only_numbers else self._cures())])
        if not behind:
            return self._mistake("tie", f"The plan {rival} scores the same: no weight tells them "
                                 "apart.", cures)  # fmt: skip
        if 0 < behind < SLIGHT:
            return self._mistake("tie", f"The plan {rival} scores {amount(behind)} more, which is "
                                 "next to nothing: hardly any weight tells them apart.",
                                 cures)  # fmt: skip
        features = self._pulling
        by = ", ".join(f"{name} {amount(gain, '+')}" for name, gain in features)
        lead = f"scores {amount(behind)} more" if behind > 0 else (
            "leads to what is likelier, over all plans that lead there"
        )  # fmt: skip
        detail = f"The plan {rival} {lead}{f', by {by}' if by else ''}."
        changed = self._length_change()
        if changed:
            cures = " ".join([*said, self._length_cure(), *islice(self._word_cures(), 1)])
            return self._mistake("length", f"{detail} It is the same with {changed}.", cures,
                                 features)  # fmt: skip
        if Counter(self.gold.actions) == Counter(self.best.actions):
            return self._mistake("order", f"{detail} It has the same actions in another order.",
                                 self._order_cure(), features)  # fmt: skip
        return self._mistake("lower score", detail, cures, features)

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
        done = graphs(self.world, self.gold)
        alike = [
            other
            for other in self.known.by_text.get(self.known.words(self.request), ())
            if looks(other.world, other.trajectory.start) == looks(self.world, self.each.start)
        ]
        others = [
            other
            for other in alike
            if not any(
                graphs(other.world, plan) == done for plan in (other.trajectory, *other.also)
            )
        ]
        if not others:
            return ""
        name = str(others[0].demonstration).removeprefix("The demonstration ")
        do = "does" if len(others) == 1 else "do"
        return (
            f"Of {len(alike)} that were learnt from with the same words and a start that looks "
            f"alike, {len(others)} {do} something else, such as {name}: "
            f"{listed(others[0].trajectory.actions)}."
        )

    # ---- what is too short or too long --------------------------------------------------

    def _length_change(self) -> str:
        gold, best = self.gold.actions, self.best.actions
        if len(best) < len(gold) and within(best, gold):
            return f"{some(len(gold) - len(best), 'action')} of {len(gold)} left out"
        if len(best) > len(gold) and within(gold, best):
            return f"{some(len(best) - len(gold), 'action')} added to {len(gold)}"
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
                    f"The text has {some(found[overlay.unit], overlay.unit)} and "
                    f"{some(found[other], other)} for {some(count, 'action')}: try "
                    f"Overlay(unit={other!r})."
                )
        shown = self.known.shown
        if not shown:
            return f"Demonstrate more plans of {some(count, 'action')}."
        as_long = sum(len(each.trajectory) == count for each in shown)
        return (
            f"{as_long} of {len(shown)} that were learnt from have {some(count, 'action')}: "
            "demonstrate more of them."
        )

    def _turned_cures(self) -> Iterator[str]:
        """Say that a text names things in another order than they are done, if it does."""
        example = Example(self.each, self.request.text, self.world, self.gold, (), 1.0, "", None)
        language = self.text.reader.language
        spells = partial(matches_name, language=language)
        if len(self.gold) > 1 and is_reordered(example, self.known.encoder.nodes.slots, spells):
            yield f"The text names things in another order than they are done. {self._order_cure()}"

    def _order_cure(self) -> str:
        learnt = self.known.learnt
        if learnt.settings.features.reorder:
            return (
                "Demonstrate more texts that are turned around as this one is: connectives that "
                "were shown seldom are not learnt."
            )
        return (
            "If the text says things in another order than they are done, use "
            f"{advise(learnt, 'Features', reorder=True)}, which learns connectives."
        )

    # ---- what the words say -------------------------------------------------------------

    def _cures(self) -> list[str]:
        found = [*self._word_cures(), *self._label_cures()]
        if self._misleading:
            found.append(
                f"{quoted(self._misleading)} speak{'s' * (len(self._misleading) == 1)} for the "
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
            slots = ", or say in a lexicon what value it stands for"
            if not self.known.encoder.nodes.slots:
                strings = [
                    label.name for label in self.between.labels if isinstance(label.value, str)
                ]
                slots = "" if not strings else (
                    f"; if it stands for a value of {strings[0]!r}, name that label in "
                    "Features.slots and say in a lexicon which value"
                )  # fmt: skip
            yield (
                f"Never learnt: {quoted(self.text.unknown)}. Demonstrate texts that have "
                f"{'it' if len(self.text.unknown) == 1 else 'them'}{slots}."
            )
        if self.rare:
            named = ", ".join(f"“{word}” ({some(count, 'time')})" for word, count in self.rare)
            too_rare = any(count < self.least for _, count in self.rare)
            why = f"; less than {self.least} times is not learnt" if too_rare else ""
            yield f"Seldom shown: {named}{why}. Demonstrate more with such words."

    def _label_cures(self) -> Iterator[str]:
        slots = [name for name, _ in self._missing if name in self.between.slots]
        if slots:
            yield self.between.slot_cure(slots)
        missing = [each for each in self._missing if each[0] not in slots][:SEVERAL]
        if not missing:
            return
        labels = ", ".join(name for name, _ in missing)
        said = [word for _, words in missing for word in words][:SEVERAL]
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
        first = np.argsort(-gains, kind="stable")[:SEVERAL]
        top = [place for place in first if gains[place] > NOTHING]
        return tuple((self.known.names[place], float(gains[place])) for place in top)

    @cached_property
    def _misleading(self) -> tuple[str, ...]:
        """The words of the text in the features that speak most for the other plan.

        None, if it is hardly ahead: then as much speaks against it.
        """
        if 0 <= self._behind < SLIGHT:
            return ()
        found: dict[str, None] = {}
        for name, _ in self._pulling:
            said, joined, _ = name.partition(" ∧ ")
            if not joined:
                continue
            spelled = set(re.findall(r"=([^\s=‹]+)", said))
            kinds = set(re.findall(r"‹(.+?)›", said))
            for word in self.text.words:
                if self.known.is_common(word):
                    continue
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
        found = []
        counted = _text_counts(self.one)
        for label, joined in self.between.joined.items():
            places = [place for name in joined for place in self.known.by_label.get(name, ())]
            if any(abs(counted[place]) > NOTHING for place in places):
                return []
            places.sort(key=lambda place: -self.known.theta[place])
            said = [
                self.known.names[place].partition(" ∧ ")[0]
                for place in places
                if self.known.theta[place] > 0
            ]
            found.append((label, list(dict.fromkeys(said))))
        return found


def _text_counts(read: Interpretation) -> Reals:
    return np.asarray(np.sum([*read.text], axis=0))


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
        for place in np.flatnonzero(np.abs(self.theta) > NOTHING).tolist():
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

    @cached_property
    def _texts(self) -> dict[str, list[int]]:
        """The places of the texts that were learnt from, by each of their words."""
        found: dict[str, list[int]] = {}
        for place, each in enumerate(self.shown):
            for word in dict.fromkeys(self.words(each)):
                found.setdefault(word, []).append(place)
        return found

    @cached_property
    def _values(self) -> list[frozenset[tuple[str, str]]]:
        """The string labels of what was shown with each text, each a kind and a value."""
        return [
            frozenset().union(
                *(graph_values(each.world, *done) for done in each.trajectory.decisions())
            )
            for each in self.shown
        ]

    def is_common(self, word: str) -> bool:
        """Tell whether a word says little: a stop word, or one of most texts learnt from."""
        stop = {*self.encoder.reader.language.stop_words, *self.learnt.settings.features.stop_words}
        return word in stop or 2 * len(self._texts.get(word, ())) > len(self.shown) >= SHARING

    def speaks_of(self, word: str, kind: str, value: str) -> float:
        """Return how much a word goes with a value: of the texts with it, the share shown with it.

        Shares of few texts are drawn to one half.
        """
        texts = self._texts.get(word, ())
        with_value = sum((kind, value) in self._values[place] for place in texts)
        return (with_value + 0.5) / (len(texts) + 1)

    def words(self, of: Example | Request) -> tuple[str, ...]:
        """Return the words of a text, one after another."""
        text = of.instructions if isinstance(of, Example) else of.text
        fold = self.encoder.reader.language.fold
        return tuple(fold(word) for sentence in text for word in sentence.tokens)


class TextWords:
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
    def plain(self) -> list[str]:
        """Words of letters that stand for no value."""
        alphabetic = [word for word in self.words if word.isalpha()]
        return [word for word in alphabetic if not self.kinds(word)]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Words that training never saw and that spell no value."""
        return tuple(word for word in self.plain if word not in self.reader.counts)

    def rare(self, least: int) -> tuple[tuple[str, int], ...]:
        """Return words that training saw so seldom that little was learnt of them."""
        counts = self.reader.counts
        seldom = max(2, least - 1)
        return tuple(
            (word, counts[word]) for word in self.plain if 0 < counts.get(word, 0) <= seldom
        )


def advise(learnt: Learnt, group: str, **values: Any) -> str:
    """Return how settings of a group are changed: on top of what was chosen, or by hand."""
    chosen = {each.what.partition(".")[0].lower() for each in learnt.choices}
    if chosen & {group.lower(), "configuration"}:
        told = ", ".join(f"{group.lower()}__{name}={value!r}" for name, value in values.items())
        return f"follower.chosen().set_params({told})"
    return f"{group}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def plan_scores(learnt: Learnt, request: Request, plans: Sequence[Trajectory]) -> list[float]:
    """Return what plans score under a text, whether the search would keep them or not."""
    return learnt.model.scores(learnt.fitted, request, plans, learnt.search)


def wider(search: Search) -> str:
    """Return how a search finds more, and what that costs.

    >>> wider(Search())
    'Raise Search.beam (it is 15) or Search.budget (it is 20,000); following takes longer by
    about as much.'
    """
    return (
        f"Raise Search.beam (it is {search.beam}) or Search.budget (it is {search.budget:,}); "
        "following takes longer by about as much."
    )


def amount(number: float, sign: str = "") -> str:
    """Return a number with two digits after the point, or with as many as it takes to see it.

    >>> amount(1.234), amount(0.0004), amount(0.5, "+")
    ('1.23', '0.0004', '+0.50')
    """
    return f"{number:{sign}.2f}" if abs(number) >= 0.005 else f"{number:{sign}.1g}"


def listed(actions: Sequence[Hashable]) -> str:
    """Return actions one after another."""
    return ", ".join(map(str, actions))


def quoted(words: Sequence[str]) -> str:
    """Return words in quotes."""
    return ", ".join(f"“{word}”" for word in words)


def some(count: int, what: str) -> str:
    """Return a number of things.

    >>> some(1, "clause"), some(2, "clause")
    ('1 clause', '2 clauses')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def within(few: Sequence[Hashable], many: Sequence[Hashable]) -> bool:
    """Tell whether actions are among others in the same order.

    >>> within("ac", "abc"), within("ca", "abc")
    (True, False)
    """
    rest = iter(many)
    return all(each in rest for each in few)


def graphs(world: CachedEnvironment, plan: Trajectory) -> list[GroundingGraph]:
    """Return the graphs of the actions of a plan."""
    return [world.ground(state, action) for state, action in plan.decisions()]


def looks(world: CachedEnvironment, start: State) -> Counter[GroundingGraph]:
    """Return what can be done from a start, as graphs show it."""
    return Counter(world.ground(start, action) for action in world.some_actions(start))


class Between:
    """The labels that a demonstrated plan has and another has not, and how words can mean them."""

    def __init__(
        self, known: Known, request: Request, text: TextWords, gold: Trajectory, best: Trajectory
    ) -> None:
        self.known, self.world, self.text = known, request.world, text
        self.gold, self.best = gold, best

    @cached_property
    def labels(self) -> list[Label]:
        """Labels that the demonstrated actions have, and those of the other plan have not."""
        gold, best = (
            [
                label
                for graph in graphs(self.world, plan)
                for labels in graph.node_labels
                for label in labels
            ]
            for plan in (self.gold, self.best)
        )
        return [label for label in dict.fromkeys(gold) if label not in best]

    @cached_property
    def joined(self) -> dict[str, tuple[str, ...]]:
        """The same as features name them, each with what names in features words join."""
        theirs = self._named(self.best)
        return {
            name: (name, f"{label}~")
            for name, (label, _, _) in self._named(self.gold).items()
            if name not in theirs
        }

    @cached_property
    def slots(self) -> dict[str, tuple[str, str]]:
        """Those that are values of slots, each with its kind and value."""
        kinds = self.known.encoder.nodes.slots
        return {
            name: (kind, value)
            for name, (_, kind, value) in self._named(self.gold).items()
            if kind in kinds and isinstance(value, str)
        }

    def _named(self, plan: Trajectory) -> dict[str, tuple[str, str, str | float | None]]:
        """Return the labels of the actions of a plan by their names: label, kind, value."""
        found: dict[str, tuple[str, str, str | float | None]] = {}
        for state, action in plan.decisions():
            for node in self.known.encoder.ground(self.world, state, action).nodes:
                for label in (each for each, _ in node if each.kind != LABEL):
                    name = label.name if label.value is None else f"{label.name}={label.value}"
                    found[name] = (label.name, label.kind, label.value)
        return found

    # ---- values of slots ----------------------------------------------------------------

    def slot_cure(self, names: Sequence[str]) -> str:
        """Say how words of the text can mean a value of a slot that none of them spells.

        Of several values it is the one that a word of the text goes with most.
        """
        words = [word for word in self.text.plain if not self.known.is_common(word)]
        pairs = [(self.known.speaks_of(word, *self.slots[name]), word, name)
                 for name in names for word in words]  # fmt: skip
        share, word, name = max(pairs, key=lambda pair: pair[0], default=(0.0, "", names[0]))
        if share < MOSTLY:
            word, name = next(iter(self.text.unknown), "WORD"), names[0]
        kind, value = self.slots[name]
        missing = (
            f"No word of the text spells {value!r}, the value of {kind!r} that only the "
            "demonstrated actions have"
        )
        line = f"a line in a lexicon, such as “{word} = {kind}:{value}”"
        if "value" in self.known.learnt.settings.features.joins:
            return (
                f"{missing}, and too few texts were shown from which to learn which does. "
                f"Demonstrate more that say it in these words; or give the word {line}."
            )
        return (
            f"{missing}: {kind!r} is in Features.slots, so that words mean its values by their "
            f"spelling or by a lexicon. Give the word that means it {line}; or give the node a "
            "label that words can learn beside the value, "
            f"{{{kind!r}: {value!r}, {value!r}: True}}."
        )

    # ---- numbers ------------------------------------------------------------------------

    def rank_cures(self) -> Iterator[str]:
        """Name ranks where a number tells the plans apart and the text may speak of its rank."""
        numbers = [label.name for label in self.labels if isinstance(label.value, float)]
        if not numbers or self.world.has_things:
            return
        language = self.text.reader.language
        said = [word for word in self.text.words if language.ordinal(word) is not None]
        if len(numbers) == len(self.labels):  # else an unknown word may speak of the others
            said += [word for word in self.text.unknown if word not in said]
        if said:
            yield (
                f"The number {numbers[0]!r} tells the actions apart: if {quoted(said[:SEVERAL])} "
                "speaks of its rank (first, largest, leftmost), give the environment a method "
                "things(state)."
            )

    @cached_property
    def only_numbers(self) -> bool:
        """Whether numbers alone tell the plans apart, and no word of the text can mean them.

        Where numbers are only compared with numerals, another word learns nothing of them.
        """
        numbers = [each.value for each in self.labels if isinstance(each.value, float)]
        if not numbers or len(numbers) < len(self.labels) or not self.text.words:
            return False
        language = self.text.reader.language
        said = {read(word) for word in self.text.words for read in
                (language.numeral, language.ordinal)}  # fmt: skip
        return self.known.encoder.nodes.numbers == ("equal",) and not said & set(numbers)

    def number_cures(self) -> Iterator[str]:
        """Name the number that intervals would tell apart, and other labels if none would."""
        if not self.only_numbers:
            return
        sizes: dict[str, float] = {}  # bins are finest where numbers are small
        for each in self.labels:
            if isinstance(each.value, float):
                sizes[each.name] = min(abs(each.value), sizes.get(each.name, abs(each.value)))
        parted = [name for name in sizes if self._is_parted(name)]
        name = min(parted or sizes, key=lambda name: sizes[name])
        edges = ", ".join(f"{edge:g}" for edge in self.known.encoder.nodes.bins)
        label = (
            f"a string label beside the number, such as {name + ' said'!r}, with a value "
            "for each range that people speak of"
        )
        if parted:
            use = advise(self.known.learnt, "Features", numbers=("equal", "bins"))
            cure = (
                f"Use {use}, where a number falls between two of the edges {edges}; or give it "
                f"{label}."
            )
        else:
            cure = f"Give it {label}: the edges of 'bins', {edges}, do not part these."
        yield (
            f"The number {name!r} tells the actions apart, and with Features.numbers=('equal',) "
            f"only a numeral means it: other words learn nothing of a number. {cure}"
        )

    def _is_parted(self, name: str) -> bool:
        """Tell whether intervals of a number tell the plans apart."""
        gold, best = ({self.known.encoder.nodes.interval(label.value)
                       for graph in graphs(self.world, plan)
                       for labels in graph.node_labels for label in labels
                       if label.name == name and isinstance(label.value, float)}
                      for plan in (self.gold, self.best))  # fmt: skip
        return bool(gold - best)
