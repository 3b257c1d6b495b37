"""Prediction sets: sets that contain the right outcome with a given probability.

The method is split conformal prediction. Each outcome of a text gets a nonconformity score. The
threshold is a quantile of the scores of right outcomes in held-out demonstrations. The prediction
set of a text consists of the outcomes whose score is at most the threshold. If later texts are like
the held-out ones (exchangeable), the set contains the right outcome with at least the requested
probability, whatever the model (Vovk et al. 2005; for clarification questions, Ren et al. 2023).
Texts about a new world are not exchangeable with those about the old one, so calibrate on texts
about the new world.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from groundling.dialogue.options import Option
from groundling.errors import DemonstrationError, SettingError
from groundling.models.learnt import Learnt
from groundling.ties import margin

Score = Literal["probability", "ratio"]
"""Nonconformity score: `probability` is 1 − p; `ratio` is log (best p / p), 0 for the best."""

Case = tuple[Sequence[Option], Collection[Hashable]]
"""A calibration case: the options for a text, most probable first, and the right outcomes."""

MOST_OFFERED = 3
"""Maximum number of options that a question offers."""
SURE = 0.8
"""Minimum total probability of an uncalibrated set."""


@dataclass(frozen=True)
class PredictionSets:
    """Conformal prediction sets: a calibrated threshold on nonconformity scores.

    Parameters
    ----------
    coverage
        The required probability that a set contains the right outcome.
    threshold
        The largest score in a set. It is infinite, so that sets contain every outcome, if the
        search missed the right outcome too often.
    count
        The number of calibration demonstrations.
    score
        The nonconformity score. With the default, `ratio`, sets are never empty, and contain a
        single outcome more often.

    Notes
    -----
    Scores equal to the threshold are in the set, so ties never lower coverage, and the same text
    always gets the same set. The threshold depends on the follower's temperature: either calibrate
    the temperature first, on other demonstrations, or do not calibrate it.

    Examples
    --------
    >>> from groundling import Plan
    >>> def options(*probabilities):
    ...     return [Option(place, p, Plan((), (place,), math.log(p), p))
    ...             for place, p in enumerate(probabilities)]
    >>> cases = [(options(0.9, 0.1), {0})] * 8 + [(options(0.6, 0.4), {1})] * 2
    >>> sets = PredictionSets.calibrate(cases, coverage=0.8)
    >>> [each.outcome for each in sets.select(options(0.55, 0.44, 0.01))]
    [0, 1]
    >>> [each.outcome for each in sets.select(options(0.95, 0.05))]
    [0]
    >>> PredictionSets.from_dict(sets.to_dict()) == sets
    True
    """

    coverage: float
    threshold: float
    count: int
    score: Score = "ratio"

    def __post_init__(self) -> None:
        _check(self.coverage, self.score)

    @classmethod
    def calibrate(
        cls, cases: Iterable[Case], coverage: float = 0.9, *, score: Score = "ratio"
    ) -> Self:
        """Calibrate prediction sets with the given coverage on held-out cases.

        `cases` are pairs of the options and the right outcomes of a text not used for training.
        With n cases, the threshold is the ⌈(n + 1) · coverage⌉-th smallest score of a right
        outcome.
        """
        _check(coverage, score)
        scores = sorted(_right_score(options, right, score) for options, right in cases)
        place = math.ceil((len(scores) + 1) * coverage - 1e-9)
        if place > len(scores):
            raise DemonstrationError(
                f"Calibration for a coverage of {coverage:g} needs at least "
                f"{math.ceil(coverage / (1 - coverage) - 1e-9)} demonstrations; got "
                f"{len(scores)}. Add demonstrations, or lower `coverage`."
            )
        return cls(float(coverage), scores[place - 1], len(scores), score)

    def select(self, options: Sequence[Option]) -> tuple[Option, ...]:
        """Return the options that belong to the prediction set, most probable first.

        The result may be empty if `score` is `probability`.
        """
        bound = self.threshold + margin(self.threshold)
        scores = nonconformity([each.probability for each in options], self.score)
        return tuple(each for each, s in zip(options, scores, strict=True) if s <= bound)

    def to_dict(self) -> dict[str, Any]:
        """Return the sets as JSON-ready data; an infinite threshold is None."""
        return asdict(self) | {"threshold": _finite(self.threshold)}

    @classmethod
    def of(cls, learnt: Learnt) -> Self | None:
        """Return the calibrated sets of a model, or None if it is not calibrated."""
        return None if learnt.sets is None else cls.from_dict(learnt.sets)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore the sets from the output of `to_dict`."""
        try:
            given = data["threshold"]
            threshold = math.inf if given is None else float(given)
            return cls(float(data["coverage"]), threshold, int(data["count"]), data["score"])
        except (KeyError, TypeError, ValueError) as error:
            raise SettingError(
                "Prediction sets must have a coverage, a threshold, a count and a score; "
                f"got {str(data)[:80]} ({error!r}). Calibrate and save the model again."
            ) from error


def _check(coverage: float, score: str) -> None:
    if not 0 < coverage < 1:
        raise SettingError(f"`coverage` must be above 0 and below 1; got {coverage}.")
    if score not in get_args(Score):
        raise SettingError(f"`score` must be one of {', '.join(get_args(Score))}; got {score!r}.")


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def nonconformity(probabilities: Sequence[float], score: Score) -> list[float]:
    """Return the nonconformity score of each outcome, given all probabilities.

    >>> nonconformity([0.5, 0.5], "probability"), nonconformity([0.5, 0.5], "ratio")
    ([0.5, 0.5], [0.0, 0.0])
    """
    values = np.asarray(probabilities, dtype=float)
    if score == "probability" or not len(values):
        return [1.0 - each for each in values.tolist()]
    with np.errstate(divide="ignore"):  # a probability of 0 gives an infinite score
        logs = np.log(values)
    return (logs.max() - logs).tolist() if np.isfinite(logs.max()) else [0.0] * len(logs)


def _right_score(options: Sequence[Option], right: Collection[Hashable], score: Score) -> float:
    """Return the lowest score of a right outcome; infinity if no right one was found."""
    scores = nonconformity([each.probability for each in options], score)
    found = [s for each, s in zip(options, scores, strict=True) if each.outcome in right]
    return min(found, default=math.inf)


# ---- acting or asking -------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """A decision to act on an option, to ask about several, or to decline.

    If `complete` is true, the options are the whole prediction set. Otherwise, a question should
    also offer *none of these*.
    """

    kind: Literal["act", "ask", "decline"]
    options: tuple[Option, ...]
    complete: bool


def decide(
    options: Sequence[Option],
    sets: PredictionSets | None = None,
    *,
    most: int = MOST_OFFERED,
    sure: float = SURE,
    least: float = 0.0,
) -> Decision:
    """Decide to act if the prediction set has one outcome, else to ask or decline.

    All agents use this rule. Without `sets`, the prediction set is the smallest set of outcomes
    whose total probability reaches `sure`, plus all outcomes tied with the last one. Such a set has
    no guaranteed coverage, but avoids guessing between equally probable outcomes.

    This set is also used if a calibrated set has a single outcome with a probability of at most one
    half, because demonstrations may be clearer than later texts. Options with a probability below
    `least` are not offered; if none remain, the decision is to decline.

    >>> from groundling import Plan
    >>> def options(*probabilities):
    ...     return [Option(place, p, Plan((), (place,), math.log(p), p))
    ...             for place, p in enumerate(probabilities)]
    >>> decide(options(0.85, 0.15)).kind, decide(options(0.3, 0.3, 0.3, 0.1)).kind
    ('act', 'ask')
    >>> decide(options(0.35, 0.2, 0.1), sure=0.3, least=0.15).kind
    'act'
    >>> found = decide(options(0.25, 0.2, 0.1), sure=0.3, least=0.15)
    >>> found.kind, [each.outcome for each in found.options]
    ('ask', [0, 1])
    >>> decide(options(0.1, 0.05), sure=0.3, least=0.15).kind
    'decline'
    """
    if not options:
        raise SettingError(
            "`options` must contain at least one option; got none. Pass at least one."
        )
    chosen = _considered(options, sets, sure)
    if len(chosen) == 1 and (sets is not None or chosen[0].probability + margin(1.0) >= sure):
        return Decision("act", chosen, True)
    offered = tuple(each for each in (chosen[:most] or options[:most]) if each.probability >= least)
    if not offered:
        return Decision("decline", (), True)
    return Decision("ask", offered, 1 < len(chosen) <= most)


def _considered(
    options: Sequence[Option], sets: PredictionSets | None, sure: float = SURE
) -> tuple[Option, ...]:
    """Return the prediction set, enlarged if its only outcome is improbable."""
    chosen = None if sets is None else sets.select(options)
    if chosen is None or (len(chosen) == 1 and chosen[0].probability <= 0.5):
        return _nominal(options, sure)
    return chosen


def _nominal(options: Sequence[Option], sure: float) -> tuple[Option, ...]:
    chosen: list[Option] = []
    for each in options:
        total = math.fsum(one.probability for one in chosen)
        if total + margin(1.0) >= sure:
            last = chosen[-1].probability
            if each.probability < last - margin(last):
                break
        chosen.append(each)
    return tuple(chosen)


# ---- evaluation -------------------------------------------------------------------------


@dataclass(frozen=True)
class DialogueScores:
    """Scores of a dialogue agent on a set of texts.

    Attributes
    ----------
    coverage
        Share of texts whose prediction set contains a right outcome.
    alone, asked
        Share of texts on which the agent acts without asking, and share of the other texts.
    options
        The mean size of prediction sets.
    success_alone
        Share of texts on which the agent acts correctly, among those on which it acts without
        asking; 0 if there are none.
    success_after_one_answer
        Share of texts on which the agent acts correctly, without asking or after one answer.
    overask
        Share of texts about which the agent asks although the most probable outcome is right.
    overstep
        Share of texts on which the agent acts incorrectly without asking.
    count
        The number of texts.
    """

    coverage: float
    alone: float
    asked: float
    options: float
    success_alone: float
    success_after_one_answer: float
    overask: float
    overstep: float
    count: int

    @classmethod
    def mean(cls, scores: Iterable[DialogueScores]) -> DialogueScores:
        """Return the mean of several evaluations.

        All evaluations have the same weight, except that `success_alone` is weighted by `alone`.
        `count` is summed.
        """
        listed = list(scores)
        if not listed:
            raise SettingError(
                "`scores` must contain at least one evaluation; got none. Pass at least one."
            )
        names = [name for name in asdict(listed[0]) if name not in ("success_alone", "count")]
        means = {name: math.fsum(getattr(s, name) for s in listed) / len(listed) for name in names}
        alone = math.fsum(each.alone for each in listed)
        right = math.fsum(each.alone * each.success_alone for each in listed)
        return cls(
            **means,
            success_alone=right / alone if alone else 0.0,
            count=sum(each.count for each in listed),
        )

    def to_dict(self) -> dict[str, float]:
        """Return the scores as JSON-ready data."""
        return asdict(self)


def evaluate(
    cases: Iterable[Case], sets: PredictionSets | None, *, most: int = MOST_OFFERED
) -> DialogueScores:
    """Evaluate an agent that uses prediction sets to decide whether to act or ask.

    A simulated user chooses a right option if one is offered. If the search did not find the right
    outcome, the text counts as not covered, even if the threshold is infinite.

    >>> from groundling import Plan
    >>> def options(*probabilities):
    ...     return [Option(place, p, Plan((), (place,), math.log(p), p))
    ...             for place, p in enumerate(probabilities)]
    >>> sets = PredictionSets(0.9, threshold=1.0, count=100)
    >>> found = evaluate([(options(0.9, 0.1), {0}), (options(0.5, 0.5), {1})], sets)
    >>> found.alone, found.success_after_one_answer, found.options
    (0.5, 1.0, 1.5)
    """
    rows = []
    for options, right in cases:
        chosen = _considered(options, sets)
        decision = decide(options, sets, most=most)
        offered = any(each.outcome in right for each in decision.options)
        alone, first = decision.kind == "act", options[0].outcome in right
        rows.append(
            (
                any(each.outcome in right for each in chosen),
                alone,
                len(chosen),
                alone and offered,
                offered,
                not alone and first,
                alone and not offered,
            )
        )
    if not rows:
        raise DemonstrationError(
            "`cases` must contain at least one text; got none. Add held-out demonstrations."
        )
    covered, alone, sizes, right_alone, after, overask, overstep = np.mean(rows, axis=0).tolist()
    return DialogueScores(
        coverage=covered,
        alone=alone,
        asked=1.0 - alone,
        options=sizes,
        success_alone=right_alone / alone if alone else 0.0,
        success_after_one_answer=after,
        overask=overask,
        overstep=overstep,
        count=len(rows),
    )
