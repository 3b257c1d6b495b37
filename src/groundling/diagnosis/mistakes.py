"""Why a demonstration is followed otherwise than demonstrated, and what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice

import numpy as np

from groundling.diagnosis.between import Between
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
from groundling.models.base import Request
from groundling.models.examples import Example
from groundling.models.interpretation import Interpretation
from groundling.overlay.batch import Reals
from groundling.selection.profile import is_reordered
from groundling.ties import margin
from groundling.world.environment import Demonstration
from groundling.world.trajectory import ScoredTrajectory, Trajectory

__all__ = ["Mistake", "explain_mistake"]

_FEATURES = 3
_SHOWN = 80  # letters of a text
_NAMED = 3  # labels and words that a sentence names
SLIGHT = 0.01
"""A lead of which nobody would say that a plan is likelier: by one part in a hundred."""


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
            f", “{said[:_SHOWN]}{'…' * (len(said) > _SHOWN)}”" if self.demonstration.name else ""
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
        missing = [each for each in self._missing if each[0] not in slots][:_NAMED]
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
        first = np.argsort(-gains, kind="stable")[:_FEATURES]
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
