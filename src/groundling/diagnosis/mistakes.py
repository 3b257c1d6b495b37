"""Why a demonstration is followed otherwise than demonstrated, and what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice

import numpy as np

from groundling.diagnosis.known import (
    NOTHING,
    Known,
    TextWords,
    advise,
    amount,
    graphs,
    listed,
    looks,
    plan_scores,
    quoted,
    some,
    wider,
    within,
)
from groundling.features.lexicon import matches_name
from groundling.language.units import split_units
from groundling.learning.wording import is_turned
from groundling.models.base import Request
from groundling.models.examples import Example
from groundling.models.interpretation import Interpretation
from groundling.overlay.batch import Reals
from groundling.world.environment import Demonstration
from groundling.world.graph import Label
from groundling.world.trajectory import Trajectory

__all__ = ["Mistake", "explain_mistake"]

_FEATURES = 3
_SHOWN = 80  # letters of a text
_NAMED = 3  # labels and words that a sentence names


@dataclass(frozen=True)
class Mistake:
    """A demonstration that is followed otherwise than demonstrated, and why.

    `why` is one of: `too long` (its plan is not in the search space), `not found` (the search
    dropped it), `same graph` (the plan that was chosen looks alike, so that a label that would
    decide is missing), `contradiction` (others with the same words and a start that looks alike do
    something else), `tie` (they look different, but no weight tells them apart), `length` (the plan
    that was chosen is the same with actions left out or added), `order` (it has the same actions in
    another order), `lower score` (`features` say by what).

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
            f", “{said[:_SHOWN]}{'…' * (len(said) > _SHOWN)}”" if self.demonstration.name else ""
        )
        return f"{self.demonstration}{named} ({self.why}): {self.detail} {self.cure}"


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
            f"Use {advise(known.learnt, 'Search', max_length=len(gold))}.",
        )  # fmt: skip
    ends = {world.outcome(plan.end) for plan in shown}
    if best is None or not any(world.outcome(plan.end) in ends for plan in found):
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
    return _Rivals(known, each, request, gold, best).explain()


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
        self.text = TextWords(known, request, gold)
        learnt = known.learnt
        self.one, self.other = learnt.model.interpret(
            learnt.fitted, request, [gold, best], learnt.search
        )
        self.least = learnt.settings.features.min_word_count
        self.rare = self.text.rare(self.least)

    def explain(self) -> Mistake:
        rival, behind = listed(self.best.actions), self.other.score - self.one.score
        doing = self._otherwise()
        if doing:
            return self._mistake("contradiction", doing, "Correct those that are wrong, give what "
                                 "is right as well in also=…, or add a label that tells their "
                                 "starts apart.")  # fmt: skip
        said = [*self._turned_cures(), *self._rank_cures(), *self._number_cures()]
        cures = " ".join([*said, *(() if self._only_numbers else self._cures())])
        if abs(behind) < 1e-9:
            return self._mistake("tie", f"The plan {rival} scores the same: no weight tells them "
                                 "apart.", cures)  # fmt: skip
        features = self._pulling
        by = ", ".join(f"{name} {amount(gain, '+')}" for name, gain in features)
        detail = f"The plan {rival} scores {amount(behind)} more{f', by {by}' if by else ''}."
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
        if len(self.gold) > 1 and is_turned(example, self.known.encoder.nodes.slots, spells):
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
                strings = [label.name for label in self._only_gold if isinstance(label.value, str)]
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

    def _rank_cures(self) -> Iterator[str]:
        """Name ranks where a number tells the plans apart and the text may speak of its rank."""
        numbers = [label.name for label in self._only_gold if isinstance(label.value, float)]
        if not numbers or any(".rank" in name for name in numbers):
            return
        language = self.text.reader.language
        said = [word for word in self.text.words if language.ordinal(word) is not None]
        if len(numbers) == len(self._only_gold):  # else an unknown word may speak of the others
            said += [word for word in self.text.unknown if word not in said]
        if said:
            yield (
                f"The number {numbers[0]!r} tells the actions apart: if {quoted(said[:_NAMED])} "
                "speaks of its rank (first, largest, leftmost), put the environment in "
                "RankedEnvironment(…)."
            )

    @cached_property
    def _only_numbers(self) -> bool:
        """Whether numbers alone tell the plans apart, and no word of the text can mean them.

        Where numbers are only compared with numerals, another word learns nothing of them.
        """
        numbers = [each.value for each in self._only_gold if isinstance(each.value, float)]
        if not numbers or len(numbers) < len(self._only_gold) or not self.text.words:
            return False
        language = self.text.reader.language
        said = {read(word) for word in self.text.words for read in
                (language.numeral, language.ordinal)}  # fmt: skip
        return self.known.encoder.nodes.numbers == ("equal",) and not said & set(numbers)

    def _number_cures(self) -> Iterator[str]:
        if not self._only_numbers:
            return
        name, nodes = self._only_gold[0].name, self.known.encoder.nodes
        gold, best = ({nodes.interval(label.value) for graph in graphs(self.world, plan)
                       for labels in graph.node_labels for label in labels
                       if label.name == name and isinstance(label.value, float)}
                      for plan in (self.gold, self.best))  # fmt: skip
        edges = ", ".join(f"{edge:g}" for edge in nodes.bins)
        label = (
            f"a string label beside the number, such as {name + ' said'!r}, with a value "
            "for each range that people speak of"
        )
        if gold - best:
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

    @cached_property
    def _only_gold(self) -> list[Label]:
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
