"""Splitting of texts with several commands, which are followed one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from groundling.inference.search import Search
from groundling.language.coordination import (
    Segment,
    cuts_of,
    is_polite,
    readings,
    segmentations,
)
from groundling.language.units import split_commands
from groundling.models.base import Request
from groundling.models.learnt import Learnt
from groundling.plan import Plan
from groundling.ties import at_least
from groundling.world.environment import State

_LIKELY = 0.5  # confidence below which a polite text is not treated as a command
_SURELY = 0.8  # minimum confidence to prefer a split that ignores fewer names
_CLEARLY = 1.02  # factor by which words from a neighbour must raise a part's confidence

Follow = Callable[[Sequence[Request], Search], Iterator[Plan | None]]


@dataclass(frozen=True)
class Commands:
    """A splitter of texts with several commands.

    If every demonstration has a single action, a text such as *turn off the lamp and lock the front
    door* is split at its connectives. An incomplete part gets the missing words from its neighbour
    (*open the blinds in the kitchen and the hall*). The split is used if its parts are followed
    with a higher confidence than the whole text. The confidences are weighted by the probability
    that the connective separates commands.

    `follow` returns the plan of an unsplit text. `is_open` is true if the plan length was chosen
    automatically.
    """

    learnt: Learnt
    follow: Follow
    is_open: bool = True

    def answer(self, request: Request, plan: Plan | None, search: Search) -> Plan | None:
        """Return `plan`, or a plan that joins the plans of the commands in the text.

        The plan is empty if the text is only polite, or excludes everything (*none of the lamps*).
        """
        language = self.learnt.fitted.encoder.reader.language
        words = [word for sentence in request.text for word in sentence.tokens]
        polite = plan is not None and plan.confidence < _LIKELY and is_polite(words, language)
        if polite or request.world.denies(request.start):
            return Plan((), (request.start,), 0.0, 1.0)
        segments = cuts_of(request.text, language)
        if len(segments) < 2 or request.world.has_goal:
            return plan
        if search.longest == 1 and self.is_open:
            return self._several(request, segments, plan, search)
        parts = [p for sentence in request.text for p in split_commands(sentence, language)]
        named = [part for part in parts if not is_polite(part.tokens, language)]
        if len(named) <= search.longest or plan is None:
            return plan
        if self.is_open and not self.learnt.model.member_model.lists_plans:
            longer = replace(search, max_length=len(named) + (len(named) + 3) // 4)
            return next(self.follow([request], longer)) or plan
        if self.is_open:
            done = self._in_turn(request, [[tuple(part.tokens)] for part in named], search)
            return plan if done is None else self._joined(request, done, search)
        return replace(plan, asked=len(named))

    def _several(
        self, request: Request, segments: Sequence[Segment], plan: Plan | None, search: Search
    ) -> Plan | None:
        language = self.learnt.fitted.encoder.reader.language
        segments = [each for each in segments if not is_polite(each, language)] or segments[:1]
        best, most = plan, plan.confidence if plan is not None else 0.0
        left = self._left_out(request, plan)
        joint = next(iter(language.connectives), ",")
        odds = self._odds_of_several(request)
        # In environments with sets, one action can cover a coordinated description.
        borrows = "set" not in request.world.open_values
        for parts in segmentations(segments, joint):
            said = [
                readings(parts, n, language)[: None if borrows else 1] for n in range(len(parts))
            ]
            done = self._in_turn(request, said, search)
            if done is None:
                continue
            confidence = math.prod(each.confidence for each in done)
            if len({each.actions for each in done}) < len(done):
                continue
            joined = self._joined(request, done, search)
            explains = confidence >= _SURELY and self._left_out(request, joined) < left
            if explains or odds * confidence > most:
                best, most, left = joined, odds * confidence, self._left_out(request, joined)
        return best

    def _odds_of_several(self, request: Request) -> float:
        """Return the odds that the connectives of a text separate commands.

        By the rule of succession: the odds are 1 to *n* + 1 if the connectives occurred in *n*
        demonstrations of a single action.
        """
        reader = self.learnt.fitted.encoder.reader
        words = {reader.language.fold(word) for each in request.text for word in each.tokens}
        joints = words.intersection(reader.language.connectives)
        return 1 / (1 + max((reader.counts.get(word, 0) for word in joints), default=0))

    def _left_out(self, request: Request, plan: Plan | None) -> int:
        """Count the words that name something in the state but are not used by the plan."""
        encoder, world = self.learnt.fitted.encoder, request.world
        words = [word for sentence in request.text for word in sentence.tokens]
        graphs = [encoder.ground(world, request.start, e) for e in world.actions(request.start)]
        spans = encoder.names_in(words, graphs)
        has: set[tuple[str, str]] = set()
        for state, action in zip(plan.states, plan.actions, strict=False) if plan else ():
            has.update(encoder.ground(world, state, action).values)
        said = {place for span in spans for place in span.places}
        return len(said - {p for e in spans if (e.kind, e.value) in has for p in e.places})

    def _in_turn(
        self, request: Request, parts: Sequence[Sequence[Segment]], search: Search
    ) -> list[Plan] | None:
        """Follow the parts in turn, choosing the most confident reading of each."""
        encoder, state, done = self.learnt.fitted.encoder, request.start, []
        for said in parts:
            texts = encoder.reader.read_many(" ".join(words) for words in said)
            asked = [
                Request(text, encoder.bind(request.world.unbound, text), state) for text in texts
            ]
            best: Plan | None = None
            for plan in self.follow(asked, search):
                if plan is not None and (
                    best is None or plan.confidence > _CLEARLY * best.confidence
                ):
                    best = plan
            if best is None:
                return None
            done.append(best)
            state = best.end
        return done

    def _joined(self, request: Request, plans: Sequence[Plan], search: Search) -> Plan:
        """Join consecutive plans into one."""
        actions = tuple(action for plan in plans for action in plan.actions)
        states: list[State] = [request.start]
        for plan in plans:
            states += plan.states[1:]
        confidence = math.prod(plan.confidence for plan in plans)
        return Plan(
            actions, tuple(states), sum(plan.log_probability for plan in plans), confidence,
            at_least(confidence, search.threshold),
            unexplained=tuple(word for plan in plans for word in plan.unexplained),
            parts=tuple(plans),
        )  # fmt: skip
