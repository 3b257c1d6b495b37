"""Diagrams of confidence: calibration, and the effect of abstention."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from research.confidence.report import ConfidenceReport

__all__ = ["draw_confidence"]

INK, SOFT, PAPER, BLUE, ORANGE = "#24262b", "#9a9da6", "#fcfbf8", "#1f5fbf", "#d9480f"


def draw_confidence(report: ConfidenceReport) -> Figure:
    """Draw a reliability diagram, and the abstention curve with the chosen threshold."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.9), facecolor=PAPER, layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_reliability(left, report)
    _draw_abstention(right, report)
    for ax in (left, right):
        ax.set_facecolor(PAPER)
        ax.tick_params(labelsize=8, colors=INK)
        ax.grid(color="#e7e4dc", linewidth=0.7)
        ax.set_axisbelow(True)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure


def _draw_reliability(ax: Axes, report: ConfidenceReport) -> None:
    most = max(each.count for each in (*report.bins, *report.calibrated))
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle=(0, (4, 3)))
    lines = (
        (report.bins, BLUE, "as it is", report.error),
        (report.calibrated, ORANGE, "calibrated", report.calibrated_error),
    )
    for bins, color, name, error in lines:
        sure, right = [each.confidence for each in bins], [each.right for each in bins]
        ax.plot(sure, right, color=color, linewidth=1.2, alpha=0.6)
        ax.scatter(sure, right, [8 + 130 * each.count / most for each in bins], color=color,
                   alpha=0.75, linewidth=0, label=f"{name}: off by {error:.3f}")  # fmt: skip
    ax.set(xlim=(0, 1.03), ylim=(0, 1.24), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    ax.set_xlabel("confidence (large: many answers)", fontsize=9)
    ax.set_ylabel(report.right, fontsize=9)
    ax.set_title("is it right as often as it says?", fontsize=10, loc="left")
    legend = ax.legend(fontsize=8, frameon=False, loc="upper left")
    for handle in legend.legend_handles:
        handle.set_sizes([36.0])  # type: ignore[union-attr]


def _draw_abstention(ax: Axes, report: ConfidenceReport) -> None:
    points = report.curve
    ax.plot([p.coverage for p in points], [p.right for p in points], color=BLUE, linewidth=1.6)
    ax.axhline(report.wanted, color=SOFT, linewidth=1, linestyle=(0, (4, 3)))
    ax.text(0.01, report.wanted, f"wanted: {report.wanted:.2f}", fontsize=8, color=INK,
            va="top")  # fmt: skip
    if report.given.coverage:
        said = f"{report.given.coverage:.0%} answered: {report.given.right:.3f}"
        ax.plot(report.given.coverage, report.given.right, "o", color=ORANGE, markersize=7,
                label=f"threshold of the training data\n{said}")  # fmt: skip
        ax.legend(fontsize=8, frameon=False, loc="lower left")
    low = min(min(p.right for p in points), report.wanted, report.given.right or 1.0)
    ax.set(xlim=(0, 1.01), ylim=(max(0.0, low - 0.12), 1.01))
    ax.set_xlabel("share of requests that are answered", fontsize=9)
    ax.set_ylabel(f"{report.right} of those", fontsize=9)
    ax.set_title("what does saying “I do not know” buy?", fontsize=10, loc="left")
