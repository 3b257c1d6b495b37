"""The report of a reproduction, as a self-contained HTML page or as Markdown."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from string import Template
from textwrap import fill

from groundling.evaluation.report import Report

COLORS = {"paper": "#3b5b7a", "best": "#2a9d8f"}
OTHER, PUBLISHED, INK, LINE = "#8d5a97", "#d9480f", "#22252b", "#dfe3e8"


def draw_rows(reports: Sequence[Report], metric: str) -> str:
    """Draw the rows of reports as points with intervals, and return SVG for a page.

    The drawing is narrow enough for a phone.

    >>> from groundling.evaluation.report import Row
    >>> row = Row("full", {"match": 0.75}, interval=(0.7, 0.8), published={"match": 0.7})
    >>> made = Report("puzzles", "paper", "20 splits", [row], seconds=3.0, version="1.0")
    >>> svg = draw_rows([made], "match")
    >>> svg[:4], "paper: full" in svg
    ('<svg', True)
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    rows = [
        (report.preset, row) for report in reports for row in report.rows if metric in row.metrics
    ]
    # Write text as text, and make the output deterministic.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "groundling"}):
        labels = [fill(f"{preset}: {row.name}", 28) for preset, row in rows]
        tall = sum(0.13 + 0.16 * (label.count("\n") + 1) for label in labels)
        figure = Figure(figsize=(4.3, 0.6 + tall), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for place, (preset, row) in enumerate(rows):
            color = COLORS.get(preset, OTHER)
            if row.interval is not None:
                axes.plot(row.interval, [place, place], color=color, linewidth=2.2, alpha=0.55)
            axes.plot([row.metrics[metric]], [place], "o", color=color, markersize=6)
            if metric in row.published:
                axes.plot([row.published[metric]], [place], "D", color=PUBLISHED, markersize=5)
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(labelsize=10, length=0, labelcolor=INK)
        axes.grid(axis="x", color=LINE, linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left", "bottom"):
            axes.spines[side].set_visible(False)
        made = io.StringIO()
        figure.savefig(made, format="svg", transparent=True, metadata={"Date": None})
    text = made.getvalue()
    return text[text.index("<svg") :]


@dataclass(frozen=True)
class Section:
    """A section about one task: a description, reports, and the metrics to show.

    The confidence interval and the picture are for the last metric.
    """

    title: str
    about: str
    tables: Sequence[tuple[Report, tuple[str, ...]]]


def markdown_page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the report as Markdown.

    >>> from groundling.evaluation.report import Row
    >>> row = Row("full", {"match": 0.75}, interval=(0.7, 0.8), published={"match": 0.7})
    >>> made = Report("puzzles", "paper", "20 splits", [row], seconds=3.0, version="1.0")
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
    """Return the report as an HTML page with pictures and all metrics.

    >>> from groundling.evaluation.report import Row
    >>> row = Row("full", {"match": 0.75}, interval=(0.7, 0.8), published={"match": 0.7})
    >>> made = Report("puzzles", "paper", "20 splits", [row], seconds=3.0, version="1.0")
    >>> page = html_page("Tables", "Run & seen.", [Section("Puzzles", "", [(made, ("match",))])])
    >>> "Run &amp; seen." in page, "<svg" in page, "src=" in page
    (True, True, False)
    """
    from markdown_it import MarkdownIt

    render = MarkdownIt("commonmark", {"html": False}).enable("table").render
    parts = [render(f"# {title}\n\n{lead}")]
    for section in sections:
        parts.append(render(f"## {section.title}\n\n{section.about}"))
        # Tables of presets share one picture; other tables have their own.
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
