"""The report of a reproduction: one page of HTML that needs no other file, and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from string import Template

from groundling.evaluation.plots import COLORS, draw_rows
from groundling.evaluation.report import Report


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

    >>> from groundling.evaluation.report import Row
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
        parts += [_table(report, metrics) for report, metrics in section.tables]
    return "\n\n".join(parts) + "\n"


def _table(report: Report, metrics: Sequence[str]) -> str:
    seeds = sorted({row.seeds for row in report.rows})
    shown = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    condition = f"{report.condition} (seeds: {shown}; 95% interval of {metrics[-1]})"
    parts = [f"**{report.preset}**: {condition}", report.markdown(metrics)]
    if notes := [f"- {row.name}: {row.note}" for row in report.rows if row.note]:
        parts.append("\n".join(notes))
    return "\n\n".join(parts)


def html_page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the same as a page of HTML, with pictures inside and all other figures.

    >>> from groundling.evaluation.report import Row
    >>> row = Row("full", {"match": 0.75}, (0.7, 0.8), published={"match": 0.7})
    >>> made = Report("puzzles", "paper", "20 splits", [row], 3.0, "1.0")
    >>> page = html_page("Tables", "Run & seen.", [Section("Puzzles", "", [(made, ("match",))])])
    >>> "Run &amp; seen." in page, "<svg" in page, "src=" in page
    (True, True, False)
    """
    from markdown_it import MarkdownIt

    render = MarkdownIt("commonmark", {"html": False}).enable("table").render
    parts = [render(f"# {title}\n\n{lead}")]
    for section in sections:
        parts.append(render(f"## {section.title}\n\n{section.about}"))
        # Presets are compared in one picture; what is measured otherwise has its own.
        compared = [each for each in section.tables if each[0].preset in COLORS]
        if compared:
            parts.append(_picture([report for report, _ in compared], compared[0][1][-1]))
        for report, metrics in section.tables:
            if (report, metrics) not in compared:
                parts.append(_picture([report], metrics[-1]))
            parts.append(render(_table(report, metrics)))
            rows = [
                replace(row, interval=None, published={},
                        metrics={k: v for k, v in row.metrics.items() if k not in metrics})
                for row in report.rows
            ]  # fmt: skip
            if any(row.metrics for row in rows):
                more = render(replace(report, rows=rows).markdown())
                parts.append(f"<details><summary>More figures</summary>{more}</details>")
    page = Template((files("groundling.evaluation") / "page.html").read_text(encoding="utf-8"))
    return page.substitute(title=escape(title), body="\n".join(parts))


def _picture(reports: Sequence[Report], metric: str) -> str:
    published = any(metric in row.published for report in reports for row in report.rows)
    mark = '; <span class="published">◆</span> published' if published else ""
    caption = f'<p class="soft">{escape(metric)} with its 95% interval{mark}.</p>'
    return draw_rows(reports, metric) + caption
