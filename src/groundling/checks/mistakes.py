"""Reasons and suggested fixes for demonstrations that are not followed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from textwrap import shorten
from typing import Any

import numpy as np

from groundling.answers import decoded
from groundling.features.labels import LABEL, kind_of
from groundling.features.lexicon import matches_name
from groundling.inference.search import Search
from groundling.language.units import split_units
from groundling.models.base import Request
from groundling.models.example import Example
from groundling.models.learnt import Learnt
from groundling.overlay.batch import Reals
from groundling.selection.constants import (
    A_FEW,
    NEARLY_ALL,
    NEGLIGIBLE_MARGIN,
    NEGLIGIBLE_WEIGHT,
    SAMPLED_STARTS,
)
from groundling.selection.profile import action_labels, is_reordered, labels_of
from groundling.ties import margin
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, State
from groundling.world.graph import GroundingGraph, Label
from groundling.world.judgement import Judgement
from groundling.world.trajectory import ScoredTrajectory, Trajectory

_SHOWN = 90  # maximum characters of a text in a message


@dataclass(frozen=True)
class Mistake:
    """A demonstration that is not followed, with the reason and a suggested fix.

    `why` is one of:

    - `too long`: the demonstrated plan is longer than the search allows.
    - `not found`: the search dropped the demonstrated plan.
    - `same graph`: the chosen plan has the same grounding graphs, so a label is missing.
    - `contradiction`: other demonstrations with the same words and a similar start have different
      actions.
    - `tie`: the graphs differ, but hardly any weight distinguishes them.
    - `length`: the chosen plan omits or adds actions.
    - `order`: the chosen plan has the same actions in another order.
    - `lower score`: the demonstrated plan has a lower score; see `features`.

    `unknown_words` do not occur in training. `rare_words` maps rare words to their counts.
    `missing_labels` are labels that only the demonstrated actions have and that no word of the
    text supports. `misleading_words` favour the chosen plan.
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
        quote = f", “{shorten(said, _SHOWN, placeholder='…')}”" if self.demonstration.name else ""
        return f"{self.demonstration}{quote} ({self.why}): {self.detail} {self.cure}"


@dataclass(frozen=True)
class Attempt:
    """The result of following a demonstration: the chosen plan and all plans found.

    `right` is true if the chosen plan (`answer`) is correct.
    """

    example: Example
    request: Request
    answer: ScoredTrajectory | None
    found: Sequence[ScoredTrajectory]
    right: bool

    @property
    def shown(self) -> tuple[Trajectory, ...]:
        """The demonstrated plan, and other plans that are equally correct."""
        return (self.example.trajectory, *self.example.also)

    @cached_property
    def chance(self) -> float:
        """The share of correct plans among those found."""
        judgement = Judgement.among(self.example.world, self.shown)
        right = sum(judgement.accepts(plan) for plan in self.found)
        return right / len(self.found) if self.found else 0.0


def follow_examples(learnt: Learnt, examples: Sequence[Example]) -> list[Attempt]:
    """Follow examples without `Learning.recall`, to test the weights alone."""
    learnt, found = learnt.without_memory(), []
    requests = [Request(each.instructions, each.world, each.trajectory.start) for each in examples]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    for each, request, result in zip(examples, requests, results, strict=True):
        told = decoded(learnt, request, result, learnt.search)
        answer = None if told is None else told.answer
        right = Judgement.among(each.world, (each.trajectory, *each.also)).accepts(answer)
        found.append(Attempt(each, request, answer, () if told is None else told.found, right))
    return found


def explain_mistake(index: TrainingIndex, attempt: Attempt) -> Mistake:
    """Explain why the chosen plan differs from the demonstrated plan."""
    request, shown, best = attempt.request, attempt.shown, attempt.answer
    each = attempt.example.demonstration
    search, world, gold = index.learnt.search, request.world, shown[0]
    longest = search.extended(world.extra_length(each.start)).longest
    if len(gold) > longest:
        return Mistake(
            each, "too long",
            f"It has {some(len(gold), 'action')}; the search considers only plans of up to "
            f"{longest}.",
            f"Use {advise(index.learnt, 'Search', max_length=len(gold))}.",
        )  # fmt: skip
    if best is None or not attempt.chance:
        scores = plan_scores(index.learnt, request, shown if best is None else [best, *shown])
        if max(scores[best is not None :]) == -np.inf:
            return Mistake(
                each, "not found",
                f"No reading of the text leads to its {some(len(gold), 'action')}.",
                f"Use a smaller unit of text (Overlay.unit is {index.encoder.overlay.unit!r}), or "
                "a model that lets a unit name several actions.",
            )  # fmt: skip
        if best is None or max(scores[1:]) >= scores[0] - NEGLIGIBLE_WEIGHT:
            scored = "" if best is None else ", which scores higher than the best plan found"
            detail = f"The search did not keep its plan{scored}."
            return Mistake(each, "not found", detail, wider(search))
        gold = shown[int(np.argmax(scores[1:]))]  # a wider beam would not prefer it either
    rivals = _Rivals(index, each, request, gold, best, attempt.found)
    if graphs(world, gold) == graphs(world, best):
        detail = f"The plan {listed(best.actions)} has the same grounding graphs."
        cure = "Add a label that distinguishes the two plans."
        return Mistake(each, "same graph", detail, cure, unknown_words=rivals.unknown)
    return rivals.explain()


class _Rivals:
    """A demonstrated plan (`gold`) and the plan that was chosen instead (`best`)."""

    def __init__(
        self,
        index: TrainingIndex,
        each: Demonstration,
        request: Request,
        gold: Trajectory,
        best: Trajectory,
        found: Sequence[ScoredTrajectory],
    ) -> None:
        self.index, self.each, self.request, self.found = index, each, request, found
        self.gold, self.best, self.world = gold, best, request.world
        self.learnt, self.encoder = index.learnt, index.encoder
        self.reader, self.language = self.encoder.reader, self.encoder.reader.language
        # Without word features, the words of the text do not matter.
        features = self.learnt.settings.features
        self.words = tuple(dict.fromkeys(index.words(request))) if features.words else ()
        self.least = features.min_word_count

    def explain(self) -> Mistake:
        rival, behind = listed(self.best.actions), self._behind
        if doing := self._contradicting():
            return self._mistake(
                "contradiction", doing,
                "Correct the wrong ones, list other correct plans in also=…, or add a label that "
                "distinguishes their starts.",
            )  # fmt: skip
        said = [*self._order_cures(), *self._rank_cures(), *self._number_cures()]
        cures = " ".join([*said, *(() if self._only_numbers else self._cures())])
        if 0 <= behind < NEGLIGIBLE_MARGIN:
            lead = f"{amount(behind)} more: hardly any" if behind else "the same: no"
            detail = f"The plan {rival} scores {lead} weight distinguishes the two plans."
            return self._mistake("tie", detail, cures)
        features = self._favouring_best
        by = ", ".join(f"{name} {amount(gain, '+')}" for name, gain in features)
        lead = f"scores {amount(behind)} more" if behind > 0 else (
            "leads to an outcome that is more probable over all plans that lead there"
        )  # fmt: skip
        detail = f"The plan {rival} {lead}{f', by {by}' if by else ''}."
        if changed := self._length_change():
            cures = " ".join([*said, self._length_cure(), *self._word_cures()][: len(said) + 2])
            detail = f"{detail} The only difference: {changed}."
            return self._mistake("length", detail, cures, features)
        if Counter(self.gold.actions) == Counter(self.best.actions):
            detail = f"{detail} It has the same actions in another order."
            return self._mistake("order", detail, self._order_cure(), features)
        return self._mistake("lower score", detail, cures, features)

    def _mistake(
        self, why: str, detail: str, cure: str, features: tuple[tuple[str, float], ...] = ()
    ) -> Mistake:
        return Mistake(
            self.each, why, detail, cure, features, self.unknown, self._rare,
            tuple(name for name, _ in self._missing), self._misleading,
        )  # fmt: skip

    @cached_property
    def _behind(self) -> float:
        """The score of the chosen plan minus that of the demonstrated plan."""
        # A search may drop readings of a text, so its scores are slightly lower.
        searched = {plan.actions: plan.score for plan in self.found}
        gold, best = (searched.get(plan.actions) for plan in (self.gold, self.best))
        if gold is None or best is None:
            gold, best = self._readings[0].score, self._readings[1].score
        return 0.0 if abs(best - gold) <= margin(best) else best - gold

    @cached_property
    def _readings(self) -> Sequence[Any]:
        plans = [self.gold, self.best]
        return self.learnt.model.interpret(
            self.learnt.fitted, self.request, plans, self.learnt.search
        )

    # ---- contradiction, length, order -----------------------------------------------------

    def _contradicting(self) -> str:
        """Return a note on training demonstrations that contradict this one, or ""."""
        done = graphs(self.world, self.gold)
        start = looks(self.world, self.each.start)
        alike = [
            other
            for other in self.index.by_text.get(self.index.words(self.request), ())
            if looks(other.world, other.trajectory.start) == start
        ]
        others = [
            other
            for other in alike
            if all(graphs(other.world, plan) != done for plan in (other.trajectory, *other.also))
        ]
        if not others:
            return ""
        name = str(others[0].demonstration).removeprefix("The demonstration ")
        return (
            f"{len(others)} of {some(len(alike), 'training demonstration')} with the same words "
            f"and a similar start {'does' if len(others) == 1 else 'do'} something else, such as "
            f"{name}: {listed(others[0].trajectory.actions)}."
        )

    def _length_change(self) -> str:
        gold, best = self.gold.actions, self.best.actions
        if len(best) < len(gold) and within(best, gold):
            return f"{some(len(gold) - len(best), 'action')} of {len(gold)} left out"
        if len(best) > len(gold) and within(gold, best):
            return f"{some(len(best) - len(gold), 'action')} added to {len(gold)}"
        return ""

    def _length_cure(self) -> str:
        model, unit = self.learnt.model.member_model, self.encoder.overlay.unit
        if cure := model.length_cure(short=len(self.best) < len(self.gold)):
            return cure
        count = len(self.gold)
        found = {
            each: sum(len(split_units(sentence, each)) for sentence in self.request.text)
            for each in ("sentence", "clause")
        }
        other = "clause" if unit == "sentence" else "sentence"
        if unit in found and abs(found[other] - count) < abs(found[unit] - count):
            return (
                f"The text has {some(found[unit], unit)} and {some(found[other], other)} for "
                f"{some(count, 'action')}: try Overlay(unit={other!r})."
            )
        as_long = sum(len(each.trajectory) == count for each in self.index.shown)
        return (
            f"{as_long} of {some(len(self.index.shown), 'training demonstration')} "
            f"{'has' if as_long == 1 else 'have'} {some(count, 'action')}: add more of that length."
        )

    def _order_cures(self) -> Iterator[str]:
        example = Example(self.each, self.request.text, self.world, self.gold, (), 1.0, "", None)
        spells = partial(matches_name, language=self.language)
        if is_reordered(example, self.encoder.nodes.slots, spells):
            found = "The text names things in a different order from the actions."
            yield f"{found} {self._order_cure()}"

    def _order_cure(self) -> str:
        if self.learnt.settings.features.reorder:
            return "Add demonstrations with the same connective: rare ones are not learnt."
        return (
            "If the text names things in a different order from the actions, use "
            f"{advise(self.learnt, 'Features', reorder=True)}, which learns connectives."
        )

    # ---- words of the text ----------------------------------------------------------------

    @cached_property
    def _values(self) -> dict[str, set[str]]:
        """The known values of each slot, including those of the demonstrated plan."""
        found = {kind: set(values) for kind, values in self.encoder.values.items()}
        for state, action in self.gold.decisions():
            for kind, value in self.encoder.ground(self.world, state, action).values:
                if kind in found:
                    found[kind].add(value)
        return found

    def _kinds(self, word: str) -> set[str]:
        """Return the kinds of values that a word can mean."""
        return {kind for kind, _ in self.reader.sense(word, self._values)}

    @cached_property
    def _plain(self) -> list[str]:
        """Words of the text, except numbers and symbols, that match no value of a slot."""
        return [word for word in self.words if word.isalpha() and not self._kinds(word)]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Words of the text that neither occur in training nor match a value of a slot."""
        return tuple(word for word in self._plain if word not in self.reader.counts)

    @cached_property
    def _rare(self) -> tuple[tuple[str, int], ...]:
        """Words of the text that were too rare in training to be learnt well, with counts."""
        counts, seldom = self.reader.counts, max(2, self.least - 1)
        return tuple((w, counts[w]) for w in self._plain if 0 < counts.get(w, 0) <= seldom)

    def _is_common(self, word: str) -> bool:
        """Return whether a word is a stop word or occurs in most texts."""
        stop = {*self.language.stop_words, *self.learnt.settings.features.stop_words}
        count = self.reader.counts.get(word, 0)
        return word in stop or 2 * count > len(self.index.shown) >= SAMPLED_STARTS

    def _cures(self) -> list[str]:
        found = [*self._word_cures(), *self._label_cures()]
        if words := self._misleading:
            found.append(
                f"{quoted(words)} favour{'s' * (len(words) == 1)} the other plan: add "
                "demonstrations in which these words mean this plan."
            )
        if not found and self._favouring_best:
            found.append(
                "No word of the text favours the other plan; it resembles the most common "
                "behaviour. Add demonstrations of the less common behaviour."
            )
        return found or ["Add demonstrations that show the difference between the two plans."]

    def _word_cures(self) -> Iterator[str]:
        if self.unknown:
            slots = ", or add a lexicon entry with its value"
            if not self.encoder.nodes.slots:
                strings = [each.name for each in self._labels if isinstance(each.value, str)]
                slots = "" if not strings else (
                    f"; if it means a value of {strings[0]!r}, add that label to "
                    "Features.slots and the value to a lexicon"
                )  # fmt: skip
            it, s = ("it", "") if len(self.unknown) == 1 else ("them", "s")
            yield f"Unknown word{s}: {quoted(self.unknown)}. Demonstrate texts with {it}{slots}."
        if self._rare:
            named = ", ".join(f"“{word}” ({some(count, 'time')})" for word, count in self._rare)
            too_rare = any(count < self.least for _, count in self._rare)
            why = (
                f"; words that occur fewer than {self.least} times are not learnt"
                if too_rare
                else ""
            )
            s = "s" * (len(self._rare) != 1)
            yield f"Rare word{s}: {named}{why}. Add demonstrations with such words."

    # ---- labels and numbers that distinguish the plans --------------------------------------

    @cached_property
    def _labels(self) -> list[Label]:
        """Labels of the demonstrated actions that the actions of the chosen plan lack."""
        gold, best = (
            dict.fromkeys(chain(*(action_labels(self.world, *e) for e in plan.decisions())))
            for plan in (self.gold, self.best)
        )
        return [label for label in gold if label not in best]

    @cached_property
    def _numbers(self) -> dict[str, list[float]]:
        """The values of numeric labels that only the demonstrated actions have, by name."""
        found: dict[str, list[float]] = {}
        for each in self._labels:
            if isinstance(each.value, float):
                found.setdefault(each.name, []).append(each.value)
        return found

    def _named(self, plan: Trajectory) -> dict[str, tuple[str, str, str | float | None]]:
        """Return the labels of a plan's actions by their names in features.

        Each label is a triple of its name, its kind and its value.
        """
        found: dict[str, tuple[str, str, str | float | None]] = {}
        for state, action in plan.decisions():
            for node in self.encoder.ground(self.world, state, action).nodes:
                for label in (each for each, _ in node if each.kind != LABEL):
                    name = label.name if label.value is None else f"{label.name}={label.value}"
                    found[name] = (label.name, label.kind, label.value)
        return found

    @cached_property
    def _gains(self) -> Reals:
        """The contribution of each feature to the lead of the chosen plan."""
        one, other = self._readings
        gains: Reals = (other.counts() - one.counts()) * self.index.theta
        return gains

    @cached_property
    def _favouring_best(self) -> tuple[tuple[str, float], ...]:
        """The features that favour the chosen plan most."""
        first = np.argsort(-self._gains, kind="stable")[:A_FEW]
        top = [place for place in first if self._gains[place] > NEGLIGIBLE_WEIGHT]
        return tuple((self.index.names[place], float(self._gains[place])) for place in top)

    @cached_property
    def _misleading(self) -> tuple[str, ...]:
        """Words of the text that favour the chosen plan; empty for a tie."""
        if 0 <= self._behind < NEGLIGIBLE_MARGIN:
            return ()
        found: dict[str, None] = {}
        for name, _ in self._favouring_best:
            said, joined, _ = name.partition(" ∧ ")
            spelled = set(re.findall(r"=([^\s=‹]+)", said)) if joined else set()
            kinds = set(re.findall(r"‹(.+?)›", said)) if joined else set()
            for word in self.words:
                if (word in spelled or kinds & self._kinds(word)) and not self._is_common(word):
                    found[word] = None
        return tuple(found)

    @cached_property
    def _missing(self) -> list[tuple[str, list[str]]]:
        """Labels that only the demonstrated actions have and that no word supports.

        Each label comes with the words that support it in other texts, strongest first. The result
        is empty if a word of the text supports any of these labels.
        """
        if not self.words:
            return []
        found = []
        counted = np.asarray(np.sum([*self._readings[0].text], axis=0))
        theirs, theta = self._named(self.best), self.index.theta
        for name, (label, _, _) in self._named(self.gold).items():
            if name in theirs:
                continue
            by_label = self.index.by_label
            places = [*by_label.get(name, ()), *by_label.get(f"{label}~", ())]
            if any(abs(counted[place]) > NEGLIGIBLE_WEIGHT for place in places):
                return []
            places.sort(key=lambda place: -theta[place])
            said = [
                self.index.names[place].partition(" ∧ ")[0] for place in places if theta[place] > 0
            ]
            found.append((name, list(dict.fromkeys(said))))
        return found

    def _label_cures(self) -> Iterator[str]:
        named = self._named(self.gold)
        slots = [
            name for name, _ in self._missing
            if named[name][1] in self.encoder.nodes.slots and isinstance(named[name][2], str)
        ]  # fmt: skip
        if slots:
            _, kind, value = named[slots[0]]
            yield self._slot_cure(kind, str(value))
        missing = [each for each in self._missing if each[0] not in slots][:A_FEW]
        if missing:
            labels = ", ".join(name for name, _ in missing)
            said = [word for _, words in missing for word in words][:A_FEW]
            known = f" In other texts, they go with {', '.join(said)}." if said else ""
            yield (
                "No word of the text is associated with the labels that only the demonstrated "
                f"actions have: {labels}.{known} Add demonstrations with the words of this text "
                "and these labels, or add a label that the words can mean."
            )

    def _slot_cure(self, kind: str, value: str) -> str:
        """Return advice for a value of a slot that no word of the text spells."""
        words = [word for word in self._plain if not self._is_common(word)]
        shares = {word: self.index.share_with(word, kind, value) for word in words}
        word = max(words, key=lambda word: shares[word], default="")
        if shares.get(word, 0.0) < NEARLY_ALL:
            word = next(iter(self.unknown), "WORD")
        missing = (
            f"No word of the text spells {value!r}, the value of {kind!r} that only the "
            "demonstrated actions have"
        )
        line = f"Add a line to a lexicon, such as “{word} = {kind}:{value}”"
        if "value" in self.learnt.settings.features.joins:
            return (
                f"{missing}, and there are too few texts to learn which word means it. Add "
                f"demonstrations with these words. {line}."
            )
        return (
            f"{missing}: {kind!r} is in Features.slots, so words mean its values by their "
            f"spelling or by a lexicon. {line}; or give the node a label that words can learn "
            f"in addition to the value, {{{kind!r}: {value!r}, {value!r}: True}}."
        )

    def _rank_cures(self) -> Iterator[str]:
        """Suggest `things(state)` if a word may mean the rank of a number (*the largest*)."""
        if not self._numbers or self.world.has_things:
            return
        said = [word for word in self.words if self.language.ordinal(word) is not None]
        if all(isinstance(each.value, float) for each in self._labels):
            said += [word for word in self.unknown if word not in said]
        if said:
            yield (
                f"The number {next(iter(self._numbers))!r} distinguishes the actions: if "
                f"{quoted(said[:A_FEW])} refers to its rank (first, largest, leftmost), give the "
                "environment a method things(state)."
            )

    @cached_property
    def _only_numbers(self) -> bool:
        """Whether the two plans differ only in numbers that the text does not state."""
        values = set(chain(*self._numbers.values()))
        if not values or not self.words or any(e.name not in self._numbers for e in self._labels):
            return False
        reads = (self.language.numeral, self.language.ordinal)
        said = {read(word) for word in self.words for read in reads}
        return self.encoder.nodes.numbers == ("equal",) and not said & values

    def _number_cures(self) -> Iterator[str]:
        """Suggest intervals for a number, or a label if intervals do not help."""
        if not self._only_numbers:
            return
        nodes = self.encoder.nodes
        theirs = {
            (label.name, nodes.interval(label.value))
            for decision in self.best.decisions()
            for label in action_labels(self.world, *decision)
            if isinstance(label.value, float)
        }
        split = [
            name for name, values in self._numbers.items()
            if any((name, nodes.interval(value)) not in theirs for value in values)
        ]  # fmt: skip
        # Intervals are narrowest for small numbers.
        name = min(split or self._numbers, key=lambda each: min(map(abs, self._numbers[each])))
        label = f"a string label for each range that people name, such as {name + ' said'!r}"
        use = advise(self.learnt, "Features", numbers=("equal", "bins"))
        edges = ", ".join(f"{edge:g}" for edge in nodes.bins)
        cure = f"Use {use}, which has edges at {edges}; or add {label}."
        if not split:
            cure = f"Add {label}; the intervals of 'bins', {edges}, do not separate the values."
        yield (
            f"The number {name!r} distinguishes the actions, but Features.numbers=('equal',) "
            f"compares it with numerals only. {cure}"
        )


class TrainingIndex:
    """Index of training data and weights, which is built once for all mistakes."""

    def __init__(self, learnt: Learnt) -> None:
        self.learnt = learnt
        self.encoder = learnt.fitted.encoder
        self.shown = [each for each in learnt.examples if each.shown is not None]

    @cached_property
    def theta(self) -> Reals:
        """The weights of all ensemble members, concatenated."""
        return np.concatenate([member.theta for member in self.learnt.fitted.members])

    @cached_property
    def names(self) -> list[str]:
        """The names of the features of all ensemble members, in the order of `theta`."""
        return [name for member in self.learnt.fitted.members for name in member.space.names()]

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        """The indices of word features with a nonzero weight, by node label."""
        found: dict[str, list[int]] = {}
        for place in np.flatnonzero(np.abs(self.theta) > NEGLIGIBLE_WEIGHT).tolist():
            _, joined, label = self.names[place].partition(" ∧ ")
            if joined:
                found.setdefault(label, []).append(place)
        return found

    @cached_property
    def by_text(self) -> dict[tuple[str, ...], list[Example]]:
        """The training examples, grouped by the words of their texts."""
        found: dict[tuple[str, ...], list[Example]] = {}
        for each in self.shown:
            found.setdefault(self.words(each), []).append(each)
        return found

    def share_with(self, word: str, kind: str, value: str) -> float:
        """Return the smoothed share of texts with a word whose actions have a value."""
        said = [each for each in self.shown if word in self.words(each)]
        having = sum(
            any((kind_of(label), label.value) == (kind, value) for label in labels_of(each))
            for each in said
        )
        return (having + 0.5) / (len(said) + 1)

    def words(self, of: Example | Request) -> tuple[str, ...]:
        """Return the words of a text as a key for looking up equal texts."""
        text = of.instructions if isinstance(of, Example) else of.text
        fold = self.encoder.reader.language.fold
        return tuple(fold(word) for sentence in text for word in sentence.tokens)


def advise(learnt: Learnt, group: str, **values: Any) -> str:
    """Return code that changes settings of a group.

    The code keeps the settings chosen by `fit`.
    """
    chosen = {each.what.partition(".")[0].lower() for each in learnt.choices}
    if chosen & {group.lower(), "configuration"}:
        told = ", ".join(f"{group.lower()}__{name}={value!r}" for name, value in values.items())
        return f"follower.chosen().set_params({told})"
    return f"{group}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def plan_scores(learnt: Learnt, request: Request, plans: Sequence[Trajectory]) -> list[float]:
    """Return the scores of plans for a text, whether or not the search keeps them."""
    return learnt.model.scores(learnt.fitted, request, plans, learnt.search)


def wider(search: Search) -> str:
    """Return advice on how to find more plans, and what it costs.

    >>> wider(Search())
    'Raise Search.beam (now 15) or Search.budget (now 20,000); each search then takes
    proportionally longer.'
    """
    return (
        f"Raise Search.beam (now {search.beam}) or Search.budget (now {search.budget:,}); "
        "each search then takes proportionally longer."
    )


def amount(number: float, sign: str = "") -> str:
    """Format a number with two decimals, or more if it is small.

    >>> amount(1.234), amount(0.0004), amount(0.5, "+")
    ('1.23', '0.0004', '+0.50')
    """
    return f"{number:{sign}.2f}" if abs(number) >= 0.005 else f"{number:{sign}.1g}"


def listed(actions: Sequence[Hashable]) -> str:
    """Return the names of actions, separated by commas."""
    return ", ".join(map(str, actions))


def quoted(words: Sequence[str]) -> str:
    """Return words in quotation marks, separated by commas."""
    return ", ".join(f"“{word}”" for word in words)


def are(count: int, total: int | None = None) -> str:
    """Return the verb after "`count`" or "`count` of `total`": "is" or "are".

    >>> are(1), are(2), are(0, 1)
    ('is', 'are', 'is')
    """
    return "is" if 1 in (count, total) else "are"


def some(count: int, what: str) -> str:
    """Return a count and its noun, in the singular or plural.

    >>> some(1, "clause"), some(2, "clause")
    ('1 clause', '2 clauses')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def within(few: Sequence[Hashable], many: Sequence[Hashable]) -> bool:
    """Return whether the actions `few` are a subsequence of `many`.

    >>> within("ac", "abc"), within("ca", "abc")
    (True, False)
    """
    rest = iter(many)
    return all(each in rest for each in few)


def graphs(world: CachedEnvironment, plan: Trajectory) -> list[GroundingGraph]:
    """Return the grounding graph of each action of a plan."""
    return [world.ground(state, action) for state, action in plan.decisions()]


def looks(world: CachedEnvironment, start: State) -> Counter[GroundingGraph]:
    """Return the graphs of all possible actions in a state, and how often each occurs."""
    return Counter(world.ground(start, action) for action in world.some_actions(start))
