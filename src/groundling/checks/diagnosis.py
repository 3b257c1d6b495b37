"""Diagnosis: what the checks find, and why each demonstration that goes wrong does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundling.answers import decoded
from groundling.checks.mistakes import Mistake, explain_mistake
from groundling.checks.registry import Finding, Subject, run_checks, which_too_long
from groundling.errors import DemonstrationError
from groundling.models.base import Request
from groundling.models.example import Example
from groundling.models.learnt import Learnt
from groundling.world.environment import Demonstration
from groundling.world.judgement import Judgement


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


def check_learnt(learnt: Learnt) -> list[Finding]:
    """Return what the checks of `fit` find; raise where nothing can be learnt."""
    examples = [each for each in learnt.examples if each.shown is not None]
    if not len(learnt.fitted.theta):
        raise DemonstrationError(
            "Nothing can be learnt: no label of an action goes with any word or action of the "
            "demonstrations. Add labels to the grounding graphs, or lower Features.min_count."
        )
    found = run_checks(Subject(learnt, examples), "fit")
    long = which_too_long(learnt, examples)
    if len(long) == len(examples) and learnt.model.member_model.lists_plans:
        raise DemonstrationError(f"Nothing can be learnt: {found[0]}")
    return found


def check_taught(learnt: Learnt, new: Iterable[Demonstration]) -> list[Finding]:
    """Return what the checks of `teach` find in demonstrations that were learnt last."""
    last = {id(each) for each in new}
    examples = [each for each in learnt.examples if id(each.shown) in last]
    return run_checks(Subject(learnt, examples), "teach")


def diagnose(
    learnt: Learnt, demonstrations: Sequence[Demonstration], requests: Sequence[Request]
) -> Diagnosis:
    """Follow demonstrations and say of each that goes wrong why.

    They are followed by the weights alone: a memory would hide what these have not learnt.
    """
    learnt = learnt.without_memory()
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    examples, wrong, right = [], [], 0
    for each, request, result in zip(demonstrations, requests, results, strict=True):
        judgement = Judgement.of(request.world, each)
        shown, *also = judgement.shown
        examples.append(
            Example(each, request.text, request.world, shown, tuple(also), 1.0, "", each)
        )
        told = decoded(learnt, request, result, learnt.search)
        if told is not None and judgement.accepts(told.answer):
            right += 1
        else:
            wrong.append((each, request, judgement.shown, told))
    places = [(request.world, request.start) for request in requests]
    subject = Subject(learnt, examples, places)
    mistakes = [
        explain_mistake(
            subject.index, each, request, shown,
            None if told is None else told.answer, () if told is None else told.found,
        )
        for each, request, shown, told in wrong
    ]  # fmt: skip
    findings = run_checks(subject, "diagnose")
    return Diagnosis(tuple(findings), tuple(mistakes), right, len(demonstrations))
