"""Evaluation of BabyAI with fewer draws or seeds, which can be interrupted and resumed."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundling import __version__
from groundling.errors import ConvergenceWarning
from groundling.evaluation.report import Report, fraction
from groundling.files import write_atomically
from groundling.gym.exam import COUNTS
from groundling.gym.task import BabyAITask
from groundling.tasks.benchmark import Fold

__all__ = ["draw", "levels_table", "main", "measure"]

TASK = BabyAITask()


def measure(
    folder: Path, rows: Sequence[str], levels: Sequence[str], draws: int, seeds: int, most: int
) -> Report:
    """Return the report of some rows; finished parts are stored in a folder and reused."""
    corpus = TASK.load(None)
    outcomes: dict[str, list[Any]] = {row: [] for row in rows}
    seconds = 0.0
    for group in TASK.presets.group("best", rows):
        kind = TASK.presets.select("best", group[0]).kind
        if kind == "together":
            folds = [f"all {at}-{at + 12} {seeds}" for at in range(0, len(corpus), 12)]
        elif kind == "combinations":
            folds = [each.name for each in TASK.folds(corpus, "best", group[0], quick=True)]
        else:
            folds = [f"{name} {draws} {seeds} {most}" for name in levels]
        for fold in folds:
            file = folder / f"{kind} {fold}.json".replace(" ", "-")
            if file.is_file():
                kept = json.loads(file.read_text(encoding="utf-8"))
            else:
                began = time.process_time()
                chosen = {row: TASK.presets.select("best", row) for row in group}
                done = TASK.evaluate(corpus, chosen, Fold(fold))
                kept = {"outcome": done, "seconds": time.process_time() - began}
                folder.mkdir(parents=True, exist_ok=True)
                write_atomically(file, json.dumps(kept))
            seconds += kept["seconds"]
            for row in group:
                outcomes[row].append(kept["outcome"].get(row, {}))
    made = [TASK.make_row("best", row, outcomes[row]) for row in rows]
    condition = f"{len(levels)} levels, {seeds} unseen seeds each, {draws} draw(s)"
    return Report("babyai", "best", condition, made, seconds, __version__)


def draw(reports: Sequence[Report], file: Path) -> None:
    """Draw success by number of demonstrations, with the random plan and the oracle."""
    from matplotlib.figure import Figure

    rows = {row.name: row for report in reports for row in report.rows if row.metrics}
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    counts = [each for each in COUNTS if f"{each} demonstrations" in rows]
    known = [rows[f"{each} demonstrations"].metrics for each in counts]
    for level in [name for name in known[0] if name != "success"]:
        axes.plot(counts, [each[level] for each in known], color="0.8", linewidth=1)
    axes.plot(counts, [each["success"] for each in known], marker="o", label="mean of the levels")
    for name, style in (("oracle", "--"), ("random plan", ":")):
        if name in rows:
            axes.axhline(rows[name].metrics["success"], linestyle=style, color="k", label=name)
    axes.set(xlabel="demonstrations of a level", ylabel="success", ylim=(0, 1.03))
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(each) for each in counts])
    axes.minorticks_off()
    axes.legend(loc="center right")
    figure.savefig(file, dpi=120)


def levels_table(report: Report) -> str:
    """Return a table of levels that some row does not solve, and the number of other levels.

    >>> from groundling.evaluation.report import Row
    >>> rows = [Row("oracle", {"success": 0.95, "GoTo": 1.0, "Open": 0.9})]
    >>> print(levels_table(Report("babyai", "best", "", rows, 1.0, "0")))
    | level | oracle |
    |---|---|
    | Open | .900 |
    | *1 other* | 1.000 |
    """
    rows = [row for row in report.rows if row.metrics and row.name != "random plan"]
    names = [name for name in rows[0].metrics if name != "success"]
    hard = [name for name in names if any(row.metrics.get(name, 1.0) < 1 for row in rows)]
    lines = [
        "| level | " + " | ".join(row.name for row in rows) + " |",
        "|---" * (len(rows) + 1) + "|",
    ]
    for name in sorted(hard, key=lambda each: rows[0].metrics.get(each, 1.0)):
        shown = [fraction(row.metrics[name]) if name in row.metrics else "" for row in rows]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    others = f"*{len(names) - len(hard)} other{'s' * (len(names) - len(hard) != 1)}*"
    lines.append(f"| {others} | " + " | ".join(["1.000"] * len(rows)) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, such as `python -m research.babyai_report FOLDER --seeds 50`."""
    known = TASK.presets.variants_of("best")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder for the results")
    parser.add_argument("--rows", nargs="*", default=list(known), help="rows of the table")
    parser.add_argument("--levels", nargs="*", default=list(TASK.load(None)))
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--most", type=int, default=100, help="maximum number of demonstrations")
    parser.add_argument("--picture", type=Path, help="file for the figure of success")
    asked = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        report = measure(
            asked.folder, asked.rows, asked.levels, asked.draws, asked.seeds, asked.most
        )
    report.save(asked.folder / "report.json")
    if asked.picture is not None:
        draw([report], asked.picture)
    print(report.markdown(["success"]), levels_table(report), sep="\n\n")


if __name__ == "__main__":
    main()
