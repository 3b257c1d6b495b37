"""Plots of tables: every row with its interval, beside what was published."""

from __future__ import annotations

import io
from collections.abc import Sequence
from textwrap import fill

from groundling.evaluation.report import Report

COLORS = {"paper": "#3b5b7a", "best": "#2a9d8f"}
OTHER, PUBLISHED, INK, LINE = "#8d5a97", "#d9480f", "#22252b", "#dfe3e8"


def draw_rows(reports: Sequence[Report], metric: str) -> str:
    """Draw the rows of reports as points with intervals; return SVG to be put into a page.

    The picture is narrow, so that its words can be read on a phone.

    >>> from groundling.evaluation.report import Row
    >>> row = Row("full", {"match": 0.75}, (0.7, 0.8), published={"match": 0.7})
    >>> svg = draw_rows([Report("puzzles", "paper", "20 splits", [row], 3.0, "1.0")], "match")
    >>> svg[:4], "paper: full" in svg
    ('<svg', True)
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    rows = [
        (report.preset, row) for report in reports for row in report.rows if metric in row.metrics
    ]
    # Text stays text, and equal figures give equal files.
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
