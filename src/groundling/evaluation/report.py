"""Tables of results with intervals and published scores, as JSON and Markdown."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import CorpusError
from groundling.files import read_plain, write_atomically
from groundling.limits import RESULT_BYTES


def bootstrap(
    items: Sequence[Any],
    measure: Callable[[Sequence[Any]], float],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the 95% bootstrap confidence interval of a measure.

    >>> bootstrap([1.0] * 20, lambda items: sum(items) / len(items))
    (1.0, 1.0)
    """
    random = np.random.default_rng(seed)
    values = [
        measure([items[place] for place in random.integers(0, len(items), len(items))])
        for _ in range(draws)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class Row:
    """A row of a table: a system, its metrics as fractions, and a confidence interval.

    `seconds` has the processor time per fold, for training and for following.
    """

    name: str
    metrics: Mapping[str, float]
    interval: tuple[float, float] | None = None
    seeds: int = 1
    published: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)

    def cells(self, metrics: Sequence[str]) -> list[str]:
        """Return the cells of this row: metrics, interval and published scores."""
        return [
            *(fraction(self.metrics[n]) if n in self.metrics else "" for n in metrics),
            "–".join(map(fraction, self.interval or ())),
            ", ".join(f"{n} {fraction(v)}" for n, v in self.published.items()),
        ]


@dataclass(frozen=True)
class Report:
    """The table of a task and preset, with its protocol and, optionally, mistakes.

    >>> row = Row("full", {"macro": 0.5961}, interval=(0.58, 0.61), published={"macro": 0.596})
    >>> report = Report("mazes", "paper", "one map left out", [row], seconds=12.0, version="0.1.0")
    >>> print(report.markdown())
    | row | macro | 95% | published |
    |---|---|---|---|
    | full | .596 | .580–.610 | macro .596 |
    """

    task: str
    preset: str
    condition: str
    rows: Sequence[Row]
    seconds: float
    version: str
    date: str = field(default_factory=lambda: datetime.date.today().isoformat())
    mistakes: Sequence[Any] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready data; `mistakes` is left out if there are none."""
        content = asdict(self)
        if not self.mistakes:
            del content["mistakes"]
        return content

    def save(self, path: str | Path) -> None:
        """Write the report to a JSON file."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False)
        write_atomically(Path(path), text + "\n")

    @classmethod
    def read(cls, path: str | Path) -> Report:
        """Read a saved report.

        >>> from tempfile import TemporaryDirectory
        >>> row = Row("full", {"micro": 0.5})
        >>> made = Report("mazes", "best", "one map left out", [row], seconds=1.0, version="1.0")
        >>> with TemporaryDirectory() as folder:
        ...     made.save(f"{folder}/report.json")
        ...     Report.read(f"{folder}/report.json") == made
        True
        """
        try:
            content = json.loads(read_plain(Path(path), RESULT_BYTES, CorpusError, links=True))
            rows = [
                Row(**{**each, "interval": each.get("interval") and tuple(each["interval"])})
                for each in content.pop("rows")
            ]
            # If the date is missing, it is unknown, not today's.
            return cls(rows=rows, **{"date": "", **content})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise CorpusError(
                f"{path} must be a saved report ({type(error).__name__}: {error}). "
                "Write it with Report.save."
            ) from error

    def markdown(self, metrics: Sequence[str] = ()) -> str:
        """Return the report as a Markdown table of the given metrics; by default, of all."""
        names = list(metrics) or list(
            dict.fromkeys(name for row in self.rows for name in row.metrics)
        )
        lines = [
            "| row | " + " | ".join(names) + " | 95% | published |",
            "|---" * (len(names) + 3) + "|",
        ]
        lines += [f"| {' | '.join([row.name, *row.cells(names)])} |" for row in self.rows]
        return "\n".join(lines)


def fraction(value: float) -> str:
    """Return a number between 0 and 1 with three decimals, without a leading zero.

    >>> fraction(0.5961), fraction(1.0)
    ('.596', '1.000')
    """
    return f"{value:.3f}".removeprefix("0") if 0 <= value < 1 else f"{value:.3f}"
