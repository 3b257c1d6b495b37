"""The response to a command: carry it out, ask about it, or decline it.

The response is chosen in three steps:

1. A text with unknown words is declined, or the only likely plan is offered for confirmation.
2. The plans that fit the text are kept (see `CommandFit.fitting`). If there are none, the command
   is fulfilled already or cannot be carried out.
3. If one outcome of these plans is probable enough, it is acted on; otherwise, the best outcomes
   are offered (see `decide`). Things that the text describes equally well are offered together.

If the agent is calibrated, the second step is left out, because it would invalidate the guaranteed
coverage of prediction sets. However, all three steps apply to a text with a universal word that no
demonstration contains (*all lamps*).
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from groundling.dialogue.command_fit import CommandFit
from groundling.dialogue.options import Option
from groundling.dialogue.outcomes import Considered
from groundling.dialogue.prediction_sets import MOST_OFFERED, Decision, PredictionSets, decide
from groundling.ties import margin

QUESTION_MARKS = frozenset("?？")


class Unknown(NamedTuple):
    """The unexplained words of a text, case-folded.

    `new` words occur neither in demonstrations nor in names. `others` are known words that belong
    to no action which is possible in this state.
    """

    new: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


class CommandResponse(NamedTuple):
    """The response to a command: to act on it, to ask about it or to decline it.

    Attributes
    ----------
    kind
        `act` on all options, `ask` about them, or `decline`.
    reason
        One sentence for explanations.
    options
        The options to act on or to ask about.
    phrase
        The key of the phrase with which to decline. The phrase `unknown` lists the unknown words
        and can also precede a question.
    complete
        Whether a question can do without the option *none of these*.
    confidence
        The confidence of the response, by default that of the plan.
    """

    kind: Literal["act", "ask", "decline"]
    reason: str
    options: tuple[Option, ...] = ()
    phrase: str = ""
    complete: bool = True
    confidence: float | None = None


def choose_response(
    found: Considered, fit: CommandFit, unknown: Unknown, sets: PredictionSets | None
) -> CommandResponse:
    """Choose the response to a text with one command: act, ask or decline."""
    options, chance = found.options, 1.0 / len(found.options)
    if (
        len(options) > MOST_OFFERED
        and options[0].probability <= chance + margin(chance)
        and not fit.names_any_of(found.plan)
    ):
        why = f"None of the {len(options)} outcomes is above chance level."
        return CommandResponse("decline", why, phrase="decline")
    decision = decide(options, sets)
    if sets is None and (overlooked := _overlooked(fit, unknown)):
        return CommandResponse("ask", "No likely outcome has everything that is named.", overlooked)
    particles = fit.particles(found.plan)
    if unknown.new or unknown.others or particles:
        return _unexplained(found, fit, unknown, particles, decision)
    if sets is not None and not fit.means_all:
        if decision.kind == "act" and found.plan.understood:
            why = "One outcome is in the prediction set."
            return CommandResponse("act", why, decision.options, confidence=found.plan.confidence)
        size = len(sets.select(options))
        why = f"The {sets.coverage:.0%} prediction set has {size} outcome{'s' * (size != 1)}."
        return CommandResponse("ask", why, decision.options, complete=decision.complete)
    return _uncalibrated(found, fit, decision)


def _overlooked(fit: CommandFit, unknown: Unknown) -> tuple[Option, ...]:
    """Return unlikely options that have everything that the text names.

    The result is empty if a likely option has everything that the text names.
    """
    if any(fit.names_all_of(each.plan) for each in fit.likely):
        return ()
    if not fit.named.issuperset(unknown.new):
        return ()
    named = [each for each in fit.others if fit.names_all_of(each.plan)]
    return fit.fitting(named)[:MOST_OFFERED]


def _unexplained(
    found: Considered,
    fit: CommandFit,
    unknown: Unknown,
    particles: tuple[str, ...],
    decision: Decision,
) -> CommandResponse:
    """Decline a text with unexplained words, or offer the only likely plan."""
    new = unknown.new or particles
    if fit.is_fulfilled(strange=new):
        return _fulfilled()
    if not new:
        return _impossible()
    why = f"Unknown word{'s' * (len(new) != 1)}: {', '.join(new)}."
    if any(word in fit.language.negations for word in new):
        return CommandResponse("decline", "The text has an unknown negation.", phrase="decline")
    # A known verb with an unknown word can be confirmed, an unknown verb cannot.
    if len(decision.options) == 1 and fit.names_action(found.plan) and not particles:
        return CommandResponse("ask", why, decision.options, "unknown")
    return CommandResponse("decline", why, phrase="unknown")


def _fulfilled() -> CommandResponse:
    return CommandResponse("decline", "The command is fulfilled already.", phrase="already")


def _impossible() -> CommandResponse:
    return CommandResponse("decline", "No plan here does what the verb means.", phrase="no plan")


def _uncalibrated(found: Considered, fit: CommandFit, first: Decision) -> CommandResponse:
    """Return the response of an agent without calibration.

    `first` is the decision between all options.
    """
    plan = found.plan
    fitting, sure = fit.fitting(fit.likely), True
    if not fitting:
        if fit.is_fulfilled():
            return _fulfilled()
        if fit.is_proven:
            return _impossible()
        fitting, sure = fit.likely, False
    options = found.options
    if len(fitting) < len(fit.likely):
        total = math.fsum(each.probability for each in fitting)
        options = tuple(e._replace(probability=e.probability / total) for e in fitting)
    words = {*fit.words}
    if sure and fit.means_all:
        same = fit.equals(options[0], options)
        if len(same) > 1:
            return CommandResponse("act", "All things that fit are meant.", same, confidence=1.0)
    decision = decide(options)
    best = decision.options[0] if decision.options else options[0]
    why, confidence = "One outcome is likely.", plan.confidence
    if decision.kind == "act" and first.kind == "act":
        # Ask rather than act against the follower's own choice.
        sure &= plan.understood and best.outcome == first.options[0].outcome
    elif decision.kind == "act":
        why = "The other likely outcomes do another kind of action or change nothing."
        sure &= fit.is_certain and fit.names_all_of(best.plan)
        confidence = best.probability
    unsure = ""
    if words & QUESTION_MARKS and not words & QUESTION_MARKS & {*fit.counts}:
        unsure = "The text is a question, and no question was demonstrated."
    elif not fit.names_action(best.plan) and fit.has_several_types:
        unsure = "The text names no action."
    if decision.kind == "act" and sure and not unsure:
        same = fit.equals(best, options)
        if len(same) > 1:
            why = "Several things fit the description equally well."
            complete = len(same) <= MOST_OFFERED
            return CommandResponse("ask", why, same[:MOST_OFFERED], complete=complete)
        done, idle = same[0].plan, fit.changes_nothing(same[0])
        if idle and fit.is_fulfilled(done):
            return _fulfilled()
        if not idle or len(done.actions) == 1 or fit.was_shown(done):
            return CommandResponse("act", why, same, confidence=confidence)
        unsure = "The plan leads back to the current state."
    count = len(decision.options)
    likely = "One outcome is" if count == 1 else f"{count} outcomes are"
    why = unsure or f"{likely} likely, but below 80 %."
    asked = decision.options
    if not fit.is_proven and found.options[0] not in fitting:
        asked = (found.options[0], *asked)[:MOST_OFFERED]  # the follower may know better
    offered = tuple(
        each for each in asked if not (fit.changes_nothing(each) and fit.is_fulfilled(each.plan))
    )
    if not offered:  # all of them are fulfilled already
        named = fit.names_action(best.plan)
        return _fulfilled() if named else CommandResponse("decline", why, phrase="decline")
    return CommandResponse("ask", why, offered, complete=decision.complete)
