"""Diagnosis of a trained model: the findings of the checks, and all mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundling.checks.mistakes import Mistake, are, explain_mistake, follow_examples, some
from groundling.checks.registry import Finding, Subject, run_checks, which_too_long
from groundling.errors import DemonstrationError
from groundling.models.base import Request
from groundling.models.example import Example
from groundling.models.learnt import Learnt
from groundling.world.environment import Demonstration
from groundling.world.judgement import Judgement


@dataclass(frozen=True)
class Diagnosis:
    """The findings of the checks, and all mistakes on some demonstrations.

    `right` of `count` demonstrations are followed correctly.

    >>> print(Diagnosis((), (), 4, 4))
    4 of 4 demonstrations are followed as demonstrated. No problems found.
    """

    findings: tuple[Finding, ...]
    mistakes: tuple[Mistake, ...]
    right: int
    count: int

    @property
    def reasons(self) -> dict[str, int]:
        """The number of mistakes by reason, most frequent first."""
        return dict(Counter(each.why for each in self.mistakes).most_common())

    def __str__(self) -> str:
        return self.summary()

    def summary(self, most: int | None = 10, rest: str = "in .mistakes") -> str:
        """Return a summary of up to `most` mistakes; `rest` says where to find the others.

        >>> Diagnosis((), (), 4, 4).summary(None)
        '4 of 4 demonstrations are followed as demonstrated. No problems found.'
        """
        count = some(self.count, "demonstration")
        lines = [f"{self.right} of {count} {are(self.right, self.count)} followed as demonstrated."]
        if not self.findings and not self.mistakes:
            lines[0] += " No problems found."
        lines += [f"- {each}" for each in self.findings]
        if self.mistakes:
            shown = ", ".join(f"{why} {count}" for why, count in self.reasons.items())
            lines.append(f"Mistakes by reason: {shown}.")
            lines += [f"- {each}" for each in self.mistakes[:most]]
            if most is not None and len(self.mistakes) > most:
                lines.append(f"- and {len(self.mistakes) - most} more {rest}")
        return "\n".join(lines)


def joined(diagnoses: Sequence[Diagnosis]) -> Diagnosis:
    """Join several diagnoses into one; shared findings are listed once.

    >>> print(joined([Diagnosis((), (), 1, 1), Diagnosis((), (), 2, 2)]))
    3 of 3 demonstrations are followed as demonstrated. No problems found.
    """
    return Diagnosis(
        tuple(dict.fromkeys(finding for each in diagnoses for finding in each.findings)),
        tuple(mistake for each in diagnoses for mistake in each.mistakes),
        sum(each.right for each in diagnoses),
        sum(each.count for each in diagnoses),
    )


def check_learnt(learnt: Learnt) -> list[Finding]:
    """Run the checks of `fit`, and return their findings.

    Raises `DemonstrationError` if nothing can be learnt.
    """
    examples = [each for each in learnt.examples if each.shown is not None]
    if not len(learnt.fitted.theta):
        raise DemonstrationError(
            "Nothing can be learnt: no label of an action co-occurs with a word of the "
            "demonstrations. Add labels to the grounding graphs, or lower Features.min_count."
        )
    found = run_checks(Subject(learnt, examples), "fit")
    long = which_too_long(learnt, examples)
    if len(long) == len(examples) and learnt.model.member_model.lists_plans:
        raise DemonstrationError(f"Nothing can be learnt: {found[0]}")
    return found


def check_taught(learnt: Learnt, new: Iterable[Demonstration]) -> list[Finding]:
    """Run the checks of `teach` on new demonstrations, and return their findings."""
    last = {id(each) for each in new}
    examples = [each for each in learnt.examples if id(each.shown) in last]
    return run_checks(Subject(learnt, examples), "teach")


def diagnose(
    learnt: Learnt, demonstrations: Sequence[Demonstration], requests: Sequence[Request]
) -> Diagnosis:
    """Run the checks of `diagnose`, follow demonstrations, and explain each mistake.

    Demonstrations are followed without `Learning.recall`, to test the weights alone.
    """
    examples = []
    for each, request in zip(demonstrations, requests, strict=True):
        shown, *also = Judgement.of(request.world, each).shown
        examples.append(
            Example(each, request.text, request.world, shown, tuple(also), 1.0, "", each)
        )
    learnt = learnt.without_memory()
    subject = Subject(learnt, examples, [(each.world, each.start) for each in requests])
    wrong = [each for each in follow_examples(learnt, examples) if not each.right]
    return Diagnosis(
        tuple(run_checks(subject, "diagnose")),
        tuple(explain_mistake(subject.index, each) for each in wrong),
        len(examples) - len(wrong),
        len(examples),
    )
