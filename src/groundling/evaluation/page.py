"""The report of a reproduction: one page of HTML that needs no other file, and Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from groundling.evaluation.plots import COLORS, draw_rows
from groundling.evaluation.report import Report, Row, fraction

_MARK = '<span class="published">◆'


@dataclass(frozen=True)
class Section:
    """A task on the page: what it is, and its reports, each with the metrics to show.

    The last of the metrics is the one that the interval is of, and that is drawn.
    """

    title: str
    about: str
    tables: Sequence[tuple[Report, tuple[str, ...]]]


def markdown_page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the report as Markdown.

    >>> row = Row("full", {"match": 0.75}, (0.7, 0.8), published={"match": 0.7})
    >>> made = Report("puzzles", "paper", "20 splits", [row], 3.0, "1.0", "2026-01-31")
    >>> section = Section("Puzzles", "Hints for puzzles.", [(made, ("match",))])
    >>> print(markdown_page("Tables", "Run again.", [section]))
    # Tables
    <BLANKLINE>
    Run again.
    <BLANKLINE>
    ## Puzzles
    <BLANKLINE>
    Hints for puzzles.
    <BLANKLINE>
    **paper**: 20 splits (seeds: 1; 95% interval of match)
    <BLANKLINE>
    | row | match | 95% | published |
    |---|---|---|---|
    | full | .750 | .700–.800 | match .700 |
    <BLANKLINE>
    """
    parts = [f"# {title}", lead]
    for section in sections:
        parts += [f"## {section.title}", section.about]
        for report, metrics in section.tables:
            parts.append(f"**{report.preset}**: {_condition(report, metrics[-1])}")
            parts.append(report.markdown(metrics))
            if notes := [f"- {row.name}: {row.note}" for row in report.rows if row.note]:
                parts.append("\n".join(notes))
    return "\n\n".join(parts) + "\n"


def _condition(report: Report, metric: str) -> str:
    seeds = sorted({row.seeds for row in report.rows})
    shown = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    return f"{report.condition} (seeds: {shown}; 95% interval of {metric})"


def html_page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the report as a page of HTML with its pictures inside.

    >>> row = Row("full", {"match": 0.75}, (0.7, 0.8), published={"match": 0.7})
    >>> made = Report("puzzles", "paper", "20 splits", [row], 3.0, "1.0")
    >>> page = html_page("Tables", "Run & seen.", [Section("Puzzles", "", [(made, ("match",))])])
    >>> "Run &amp; seen." in page, "<svg" in page, "src=" in page
    (True, True, False)
    """
    links = " ".join(
        f'<a href="#{escape(s.title.lower())}">{escape(s.title)}</a>' for s in sections
    )
    body = "\n".join(_section(section) for section in sections)
    page = Template((files("groundling.evaluation") / "page.html").read_text(encoding="utf-8"))
    return page.substitute(title=escape(title), lead=escape(lead), links=links, body=body)


def _section(section: Section) -> str:
    parts = [f'<h2 id="{escape(section.title.lower())}">{escape(section.title)}</h2>']
    parts.append(f"<p>{escape(section.about)}</p>")
    # Presets are compared in one picture; what is measured otherwise has its own.
    presets = [each for each in section.tables if each[0].preset in COLORS]
    if presets:
        parts.append(_picture([report for report, _ in presets], presets[0][1][-1]))
    for report, metrics in section.tables:
        parts.append(f"<h3>{escape(report.preset)}</h3>")
        parts.append(f'<p class="soft">{escape(_condition(report, metrics[-1]))}</p>')
        if (report, metrics) not in presets:
            parts.append(_picture([report], metrics[-1]))
        parts.append(_table(report, metrics))
        notes = [row for row in report.rows if row.note]
        parts += [f'<p class="soft">{escape(f"{r.name}: {r.note}")}</p>' for r in notes]
        rest = [
            name
            for name in dict.fromkeys(name for row in report.rows for name in row.metrics)
            if name not in metrics
        ]
        if rest:
            more = _table(report, rest, main=False)
            parts.append(f"<details><summary>More figures</summary>{more}</details>")
    return "\n".join(parts)


def _picture(reports: Sequence[Report], metric: str) -> str:
    published = any(metric in row.published for report in reports for row in report.rows)
    mark = f"; {_MARK}</span> published" if published else ""
    caption = f'<p class="soft">{escape(metric)} with its 95% interval{mark}.</p>'
    return draw_rows(reports, metric) + caption


def _table(report: Report, metrics: Sequence[str], *, main: bool = True) -> str:
    """Return figures as a table; in the main one, with intervals and what was published."""
    lines = []
    for row in report.rows:
        cells = [escape(row.name)]
        for name in metrics:
            published = row.published.get(name) if main else None
            below = "" if published is None else f"<br>{_MARK} {fraction(published)}</span>"
            cells.append(_figure(row, name) + below)
        if main:
            cells.append("–".join(map(fraction, row.interval)) if row.interval else "")
        kind = ' class="full"' if main and row.name == "full" else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{escape(each)}</th>" for each in ("", *metrics, *["95%"] * main))
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _figure(row: Row, name: str) -> str:
    value = row.metrics.get(name, math.nan)
    return "" if math.isnan(value) else fraction(value)
