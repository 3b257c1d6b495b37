"""Judgement of a command: carry it out, ask about it, or decline it.

One rule decides, in this order:

1. A text with unknown words is declined, or one likely plan is offered for confirmation.
2. The plans that fit the text are kept (see `Reading.fitting`). If there are none, the command is
   fulfilled already or cannot be carried out.
3. Of the outcomes of these plans, one that is probable enough is acted on; otherwise the best are
   offered (see `decide`). Things that the text describes equally well are offered together.

Calibrated prediction sets replace the second step, so that they keep their guarantee; but they do
not hold for texts about all things, unless some were demonstrated.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from groundling.dialogue.options import Option
from groundling.dialogue.outcomes import Considered
from groundling.dialogue.prediction_sets import MOST_OFFERED, Decision, PredictionSets, decide
from groundling.dialogue.reading import Reading
from groundling.ties import margin

QUESTION_MARKS = frozenset("?？")


class Unknown(NamedTuple):
    """The unexplained words of a text.

    `new` are those that occur neither in demonstrations nor in names; `others` are known, but
    belong to no action here. All are case-folded.
    """

    new: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """What to do about a command.

    Attributes
    ----------
    kind
        `act` on the options, all of them if there are several; `ask` about them; or `decline`.
    reason
        One sentence for explanations.
    options
        The options; the question is complete if it need not offer *none of these*.
    phrase
        The name of the phrase to decline with, or `unknown` to list the unknown words, which can
        also precede a question.
    confidence
        The probability of the only option, unless it is that of the plan.
    """

    kind: Literal["act", "ask", "decline"]
    reason: str
    options: tuple[Option, ...] = ()
    phrase: str = ""
    complete: bool = True
    confidence: float | None = None


def judge(
    found: Considered, reading: Reading, unknown: Unknown, sets: PredictionSets | None
) -> Judgement:
    """Judge a text with one command."""
    options, chance = found.options, 1.0 / len(found.options)
    if (
        len(options) > MOST_OFFERED
        and options[0].probability <= chance + margin(chance)
        and not reading.names_any_of(found.plan)
    ):
        why = f"None of the {len(options)} outcomes is above chance level."
        return Judgement("decline", why, phrase="decline")
    decision = decide(options, sets)
    if sets is None and (overlooked := _overlooked(reading, unknown)):
        return Judgement("ask", "No likely outcome has everything that is named.", overlooked)
    particles = reading.particles(found.plan)
    if unknown.new or unknown.others or particles:
        return _unexplained(found, reading, unknown, particles, decision)
    if sets is not None and not reading.means_all:
        if decision.kind == "act" and found.plan.understood:
            why = "One outcome is in the prediction set."
            return Judgement("act", why, decision.options, confidence=found.plan.confidence)
        size = len(sets.select(options))
        why = f"{size} outcomes are in the {sets.coverage:.0%} prediction set."
        return Judgement("ask", why, decision.options, complete=decision.complete)
    return _uncalibrated(found, reading, decision)


def _overlooked(reading: Reading, unknown: Unknown) -> tuple[Option, ...]:
    """Return unlikely options that fit and have everything named, if no likely one has."""
    if any(reading.names_all_of(each.plan) for each in reading.likely):
        return ()
    if not reading.named.issuperset(unknown.new):
        return ()
    named = [each for each in reading.others if reading.names_all_of(each.plan)]
    return reading.fitting(named)[:MOST_OFFERED]


def _unexplained(
    found: Considered,
    reading: Reading,
    unknown: Unknown,
    particles: tuple[str, ...],
    decision: Decision,
) -> Judgement:
    """Decline a text with unexplained words, or offer the only likely plan."""
    new = unknown.new or particles
    if reading.is_fulfilled(strange=new):
        return _fulfilled()
    if not new:
        return _impossible()
    why = f"Unknown words: {', '.join(new)}."
    if any(word in reading.language.negations for word in new):
        return Judgement("decline", "The text has an unknown negation.", phrase="decline")
    # A known verb with an unknown word can be confirmed, an unknown verb cannot.
    if len(decision.options) == 1 and reading.names_action(found.plan) and not particles:
        return Judgement("ask", why, decision.options, "unknown")
    return Judgement("decline", why, phrase="unknown")


def _fulfilled() -> Judgement:
    return Judgement("decline", "The command is fulfilled already.", phrase="already")


def _impossible() -> Judgement:
    return Judgement("decline", "No plan here does what the verb means.", phrase="no plan")


def _uncalibrated(found: Considered, reading: Reading, first: Decision) -> Judgement:
    """Judge by the plans that fit; `first` is the decision among all plans."""
    plan = found.plan
    fitting, sure = reading.fitting(reading.likely), True
    if not fitting:
        if reading.is_fulfilled():
            return _fulfilled()
        if reading.is_certain:
            return _impossible()
        fitting, sure = reading.likely, False
    options = found.options
    if len(fitting) < len(reading.likely):
        total = math.fsum(each.probability for each in fitting)
        options = tuple(e._replace(probability=e.probability / total) for e in fitting)
    words = {*reading.words}
    if sure and reading.means_all:
        same = reading.equals(options[0], options)
        if len(same) > 1:
            return Judgement("act", "All things that fit are meant.", same, confidence=1.0)
    decision = decide(options)
    best = decision.options[0] if decision.options else options[0]
    why, confidence = "One outcome is likely.", plan.confidence
    if decision.kind == "act" and first.kind == "act":
        # Ask rather than act against the follower's own choice.
        sure &= plan.understood and best.outcome == first.options[0].outcome
    elif decision.kind == "act":
        why = "The other likely outcomes do another kind of action or change nothing."
        sure &= reading.is_certain and reading.names_all_of(best.plan)
        confidence = best.probability
    unsure = ""
    if words & QUESTION_MARKS and not words & QUESTION_MARKS & {*reading.counts}:
        unsure = "The text is a question, and no question was demonstrated."
    elif not reading.names_action(best.plan) and reading.has_several_types:
        unsure = "The text names no action."
    if decision.kind == "act" and sure and not unsure:
        same = reading.equals(best, options)
        if len(same) > 1:
            why = "Several things fit the description equally well."
            complete = len(same) <= MOST_OFFERED
            return Judgement("ask", why, same[:MOST_OFFERED], complete=complete)
        done, idle = same[0].plan, reading.changes_nothing(same[0])
        if idle and reading.is_fulfilled(done):
            return _fulfilled()
        if not idle or len(done.actions) == 1 or reading.was_shown(done):
            return Judgement("act", why, same, confidence=confidence)
        unsure = "The plan leads back to the current state."
    why = unsure or f"{len(decision.options)} outcomes are likely; none reaches 80 %."
    offered = tuple(
        each
        for each in decision.options
        if not (reading.changes_nothing(each) and reading.is_fulfilled(each.plan))
    )
    if not offered:  # all of them are fulfilled already
        named = reading.names_action(best.plan)
        return _fulfilled() if named else Judgement("decline", why, phrase="decline")
    return Judgement("ask", why, offered, complete=decision.complete)
