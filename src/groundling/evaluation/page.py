"""The report of a reproduction: one page of HTML that needs no other file, and Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from groundling.evaluation.plots import COLORS, draw_rows
from groundling.evaluation.report import Report, Row, fraction

__all__ = ["Section", "html_page", "markdown_page"]


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


_STYLE = """
:root { color-scheme: light; --ink: #22252b; --soft: #5d636e; --line: #dfe3e8; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: #fcfbf8;
       margin: 0 auto; padding: 1rem; max-width: 46rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
h2 { margin: 2.2rem 0 .3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { margin: 1.4rem 0 .2rem; font-size: 1rem; }
p { margin: .3rem 0 .8rem; } .soft { color: var(--soft); font-size: .875rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: right; padding: .3rem .45rem; border-bottom: 1px solid var(--line);
         font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
.full td { font-weight: 600; }
td { vertical-align: top; }
.published { color: #b0440b; font-weight: 400; }
svg { width: 100%; max-width: 34rem; height: auto; display: block; margin: .5rem 0; }
details { margin: .5rem 0 1rem; }
summary { cursor: pointer; color: var(--soft); font-size: .875rem; }
nav a { margin-right: .8rem; color: inherit; }
"""


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
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(lead)}</p>
<nav>{links}</nav>
{body}
</body>
</html>
"""


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
            parts.append(f"<details><summary>More figures</summary>{_more(report, rest)}</details>")
    return "\n".join(parts)


def _picture(reports: Sequence[Report], metric: str) -> str:
    published = any(metric in row.published for report in reports for row in report.rows)
    mark = '; <span class="published">◆</span> published' if published else ""
    caption = f'<p class="soft">{escape(metric)} with its 95% interval{mark}.</p>'
    return draw_rows(reports, metric) + caption


def _table(report: Report, metrics: Sequence[str]) -> str:
    lines = []
    for row in report.rows:
        ends = "–".join(map(fraction, row.interval)) if row.interval else ""
        cells = [escape(row.name), *(_beside(row, name) for name in metrics), ends]
        kind = ' class="full"' if row.name == "full" else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return _wrap(["", *metrics, "95%"], lines)


def _beside(row: Row, name: str) -> str:
    """Return a figure, with the published one below it."""
    if name not in row.published:
        return _figure(row, name)
    return (
        f'{_figure(row, name)}<br><span class="published">◆ {fraction(row.published[name])}</span>'
    )


def _more(report: Report, names: Sequence[str]) -> str:
    lines = [
        "<tr>"
        + "".join(f"<td>{cell}</td>" for cell in (escape(r.name), *(_figure(r, n) for n in names)))
        + "</tr>"
        for r in report.rows
    ]
    return _wrap(["", *names], lines)


def _wrap(heads: Sequence[str], lines: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _figure(row: Row, name: str) -> str:
    value = row.metrics.get(name, math.nan)
    return "" if math.isnan(value) else fraction(value)
