"""Scores of the puzzles: matches and successes on held-out ones, put together into rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

from groundling.evaluation.report import Row, bootstrap
from groundling.tasks.trials import Seconds, median_seconds

__all__ = ["PuzzleScore", "SplitScore", "split_row"]

FIRST = 5  # the paper averages five random splits


class PuzzleScore(NamedTuple):
    """How one puzzle was answered: by exactly the demonstrated plan, or at least with success."""

    puzzle: int
    match: bool
    success: bool


@dataclass(frozen=True)
class SplitScore:
    """How the puzzles held out of one split were answered.

    >>> found = SplitScore((PuzzleScore(1, True, True), PuzzleScore(2, False, True)), Seconds(2, 1))
    >>> found.share("match"), SplitScore.from_dict(found.to_dict()) == found
    (0.5, True)
    """

    answers: tuple[PuzzleScore, ...]
    seconds: Seconds

    def share(self, metric: str) -> float:
        """Return the share of answers with a property."""
        return fmean(getattr(answer, metric) for answer in self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SplitScore:
        """Return scores that were kept as JSON."""
        answers = tuple(PuzzleScore(*each) for each in content["answers"])
        return cls(answers, Seconds(*content["seconds"]))


def split_row(
    name: str,
    splits: Sequence[SplitScore],
    left_out: Sequence[SplitScore] = (),
    published: Mapping[str, float] | None = None,
) -> Row:
    """Put random splits together, and those that leave out one puzzle each.

    >>> split = SplitScore((PuzzleScore(1, True, True), PuzzleScore(2, False, True)), Seconds(2, 1))
    >>> row = split_row("full", [split, split])
    >>> row.metrics["match"], row.seconds, row.note
    (0.5, {'train': 2.0, 'follow': 1.0}, 'puzzles with another plan in some split: 2')
    """
    metrics: dict[str, float] = {}
    for metric in ("match", "success"):
        shares = [split.share(metric) for split in splits]
        metrics[metric] = fmean(shares)
        metrics[f"{metric} sd"] = stdev(shares) if len(shares) > 1 else 0.0
        metrics[f"{metric} first five"] = fmean(shares[:FIRST])
        if left_out:
            metrics[f"{metric} one left out"] = fmean(split.share(metric) for split in left_out)
    # Puzzles, not splits, are what was drawn: the same few are held out again and again.
    by_puzzle: dict[int, list[bool]] = {}
    for split in splits:
        for answer in split.answers:
            by_puzzle.setdefault(answer.puzzle, []).append(answer.match)
    interval = bootstrap([fmean(found) for found in by_puzzle.values()], fmean, draws=1000)
    missed = sorted(number for number, found in by_puzzle.items() if not all(found))
    return Row(
        name,
        metrics,
        interval,
        seeds=len(splits),
        published=published or {},
        note=f"puzzles with another plan in some split: {', '.join(map(str, missed)) or 'none'}",
        seconds=median_seconds([split.seconds for split in splits]),
    )
