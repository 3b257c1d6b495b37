"""Curves: how many puzzles each search has solved after so many boards.

`python -m groundling.tasks.puzzles.curves results/puzzles-planners.json curves.png` draws
what `compare_planners` has saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.errors import SettingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_curves"]

# One colour for each way of searching; with hints the line is whole, without it is broken.
COLORS = ("#3b5b7a", "#7b8794", "#e07a3f", "#2a9d8f", "#8d5a97", "#c44536")


def draw_curves(summary: Sequence[Mapping[str, Any]], path: str | Path | None = None) -> Figure:
    """Draw the share of puzzles solved over boards expanded, a panel for each size.

    `summary` is what `compare_planners.summarise` returns.

    >>> row = {"size": "3×3", "search": "beam 9", "puzzles": 4, "curve": {"10": 0.5, "100": 1.0}}
    >>> len(draw_curves([row]).axes)
    1
    """
    if not summary:
        raise SettingError("There are no searches to draw; give the summary of a comparison.")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys(str(row["size"]) for row in summary))
    names = list(dict.fromkeys(str(row["search"]) for row in summary))
    ways = list(dict.fromkeys(name.removesuffix(" with hints") for name in names))
    figure = Figure(figsize=(3.4 * len(sizes), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for axes, size in zip(panels, sizes, strict=True):
        for row in summary:
            if row["size"] != size:
                continue
            name = str(row["search"])
            way = name.removesuffix(" with hints")
            limits = [int(limit) for limit in row["curve"]]
            axes.plot(
                limits,
                list(row["curve"].values()),
                color=COLORS[ways.index(way) % len(COLORS)],
                linestyle="--" if name == way else "-",
                marker="." if name == way else "o",
                markersize=4,
                label=name,
            )
            count = row["puzzles"]
        axes.set_xscale("log")
        axes.set_ylim(-0.03, 1.03)
        axes.set_title(f"{size}, {count} puzzles", fontsize=10)
        axes.grid(alpha=0.3)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels[0].set_ylabel("share solved")
    figure.supxlabel("boards expanded", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False,
        fontsize=9,
    )  # fmt: skip
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure
