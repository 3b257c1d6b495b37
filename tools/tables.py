"""Markdown tables of learnt weights (like the paper's Table 2) and of saved results.

Markers in a page say where a table goes: between `<!-- results: mazes-*.json -->` and `<!-- end
-->` for whole reports, `<!-- summary: mazes-best.json; … -->` for one line of each report, and
`<!-- confidence: mazes maps -->` for reports on confidence, `<!-- checks -->` for the checks of
`fit` and `diagnose`. `python -m tools.tables docs/*.md research/*.md README.md` fills in all of
them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from inspect import getdoc
from pathlib import Path

from groundling.checks.registry import CHECKS
from groundling.evaluation.report import Report, Row, fraction
from groundling.files import write_atomically
from groundling.follower import Follower

__all__ = [
    "checks_table",
    "confidence_table",
    "fill_page",
    "results_table",
    "summary_table",
    "weights_table",
]

_MARKED = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SUMMARY = re.compile(r"(<!-- summary: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_CONFIDENCE = re.compile(r"(<!-- confidence: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_CHECKS = re.compile(r"(<!-- checks -->\n).*?(<!-- end -->)", re.DOTALL)
_MAIN = ("macro", "f1", "match", "success")


def weights_table(follower: Follower, words: Sequence[str], *, each: int = 3, free: int = 6) -> str:
    """Return a table of learnt weights, like the paper's Table 2.

    The table has the strongest features of each word, then the strongest features without words.

    >>> from groundling import Demonstration, Features, GroundingGraph, Overlay, PlanModel
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
    >>> follower = Follower(
    ...     model=PlanModel(), overlay=Overlay(), features=Features(), parser="chain"
    ... )
    >>> print(weights_table(follower.fit(shown), ["light"], each=1, free=1))
    | feature | weight |
    |---|---|
    | `word=light ∧ on` | 0.98 |
    | | |
    | `root.on` | 0.98 |
    """
    lines = ["| feature | weight |", "|---|---|"]
    for word in words:
        found = follower.weights(f"word={word} ∧ ", most=10_000)
        exact = [item for item in found if item[0].startswith(f"word={word} ∧ ")]
        lines += [f"| `{name}` | {weight:.2f} |" for name, weight in exact[:each]]
    bare = [item for item in follower.weights(most=10**9) if " ∧ " not in item[0]]
    if bare:
        lines.append("| | |")
    lines += [f"| `{name}` | {weight:.2f} |" for name, weight in bare[:free]]
    return "\n".join(lines)


def results_table(folder: str | Path, pattern: str) -> str:
    """Return the saved reports in a folder whose names match, as Markdown tables.

    >>> from tempfile import TemporaryDirectory
    >>> row = Row("full", {"macro": 0.5}, note="one seed")
    >>> with TemporaryDirectory() as folder:
    ...     made = Report("mazes", "paper", "single sentences", [row], 1.0, "0.1.0", "2026-11-16")
    ...     made.save(Path(folder) / "mazes-paper.json")
    ...     print(results_table(folder, "mazes-*.json"))
    **Preset `paper`**, single sentences (version 0.1.0, 2026-11-16):
    <BLANKLINE>
    | row | macro | 95% | published |
    |---|---|---|---|
    | full | .500 |  |  |
    <BLANKLINE>
    - full: one seed
    """
    parts = []
    for file in sorted(Path(folder).glob(pattern)):
        report = Report.read(file)
        parts.append(
            f"**Preset `{report.preset}`**, {report.condition} (version {report.version}, "
            f"{report.date}):\n\n{report.markdown()}"
        )
        notes = [f"- {row.name}: {row.note}" for row in report.rows if row.note]
        if notes:
            parts.append("\n".join(notes))
    return "\n\n".join(parts)


def summary_table(folder: str | Path, entries: Sequence[str]) -> str:
    """Return one line for each saved report: the row `full`, or the row named after `#`.

    >>> from tempfile import TemporaryDirectory
    >>> rows = [Row("full", {"f1": 0.5, "map 12": 0.4}, (0.4, 0.6), published={"f1": 0.55})]
    >>> with TemporaryDirectory() as folder:
    ...     Report("maps", "paper", "", rows, 1.0, "0.1.0").save(Path(folder) / "maps-paper.json")
    ...     print(summary_table(folder, ["maps-paper.json"]))
    | task | preset | row | ours | 95% | published |
    |---|---|---|---|---|---|
    | maps | `paper` | full | f1 .500 | .400–.600 | f1 .550 |
    """
    lines = ["| task | preset | row | ours | 95% | published |", "|---|---|---|---|---|---|"]
    for entry in entries:
        name, _, wanted = entry.partition("#")
        file = Path(folder) / name
        if not file.exists():
            continue
        report = Report.read(file)
        lines += [_line(report, row) for row in report.rows if row.name == (wanted or "full")]
    return "\n".join(lines)


def confidence_table(folder: str | Path, tasks: Sequence[str]) -> str:
    """Return one line for each task: the accuracy of its confidence.

    >>> print(confidence_table("results", []))
    | task | answers | right | off by | off by, calibrated | wanted | answered in training
    | right of those | answered | right of those | version |
    |---|---|---|---|---|---|---|---|---|---|---|
    """
    titles = (
        "task", "answers", "right", "off by", "off by, calibrated", "wanted",
        "answered in training", "right of those", "answered", "right of those", "version",
    )  # fmt: skip
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for task in tasks:
        found = json.loads((Path(folder) / f"confidence-{task}.json").read_text(encoding="utf-8"))
        shares = (
            found["curve"][-1]["right"], found["error"], found["calibrated_error"],
            found["wanted"], found["expected"]["coverage"], found["expected"]["right"],
            found["given"]["coverage"], found["given"]["right"],
        )  # fmt: skip
        cells = (task, str(found["count"]), *map(fraction, shares), found["version"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def checks_table() -> str:
    """Return the table of all checks; the docstrings of their functions say what they find."""
    lines = ["| check | when | what it finds | what to do |", "|---|---|---|---|"]
    for name, when, fix, find in CHECKS:
        finds = " ".join((getdoc(find) or "").removeprefix("Find ").split()).rstrip(".")
        lines.append(f"| `{name}` | {', '.join(f'`{each}`' for each in when)} | {finds} | {fix} |")
    return "\n".join(lines)


def _line(report: Report, row: Row) -> str:
    shown = {name: row.metrics[name] for name in _MAIN if name in row.metrics}
    interval = "–".join(map(fraction, row.interval)) if row.interval else ""
    published = _figures(row.published)
    cells = (report.task, f"`{report.preset}`", row.name, _figures(shown), interval, published)
    return f"| {' | '.join(cells)} |"


def _figures(metrics: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {fraction(value)}" for name, value in metrics.items())


def fill_page(page: str, folder: str | Path) -> str:
    r"""Return a page with the tables of saved reports between its markers.

    >>> from tempfile import TemporaryDirectory
    >>> page = "Here:\n<!-- results: mazes-best.json -->\nold\n<!-- end -->\nand on."
    >>> with TemporaryDirectory() as folder:
    ...     rows = [Row("full", {"macro": 0.5})]
    ...     made = Report("mazes", "best", "routes", rows, 1.0, "0.1.0", "2026-11-16")
    ...     made.save(Path(folder) / "mazes-best.json")
    ...     print(fill_page(page, folder))
    Here:
    <!-- results: mazes-best.json -->
    **Preset `best`**, routes (version 0.1.0, 2026-11-16):
    <BLANKLINE>
    | row | macro | 95% | published |
    |---|---|---|---|
    | full | .500 |  |  |
    <!-- end -->
    and on.
    """

    def table(found: re.Match[str]) -> str:
        made = results_table(folder, found[2])
        return found[1] + (made + "\n" if made else "") + found[3]

    def summary(found: re.Match[str]) -> str:
        entries = [each.strip() for each in found[2].split(";")]
        return found[1] + summary_table(folder, entries) + "\n" + found[3]

    def confidence(found: re.Match[str]) -> str:
        return found[1] + confidence_table(folder, found[2].split()) + "\n" + found[3]

    page = _CONFIDENCE.sub(confidence, _SUMMARY.sub(summary, _MARKED.sub(table, page)))
    return _CHECKS.sub(lambda found: f"{found[1]}{checks_table()}\n{found[2]}", page)


def main(arguments: Sequence[str] | None = None) -> None:
    """Put the tables of saved reports into pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", type=Path, nargs="+", help="Markdown files with markers")
    parser.add_argument("--results", type=Path, default=Path("results"), help="saved reports")
    settings = parser.parse_args(arguments)
    for file in settings.pages:
        page = file.read_text(encoding="utf-8")
        filled = fill_page(page, settings.results)
        if filled != page:
            write_atomically(file, filled)


if __name__ == "__main__":
    main()
