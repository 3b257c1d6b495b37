"""Curves of the share of puzzles solved by number of expanded boards.

`python -m research.planners.curves results/puzzles-planners.json curves.png` draws the results that
`compare` has saved.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.errors import CorpusError, SettingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_curves", "main"]

# One colour for each search; lines with hints are solid, lines without hints are dashed.
COLORS = ("#1f2933", "#9aa5b1", "#e07a3f", "#2a7f9e", "#8d5a97", "#c44536")
HINTED = " with hints"


def draw_curves(summary: Sequence[Mapping[str, Any]], path: str | Path | None = None) -> Figure:
    """Return a figure of the share of puzzles solved by expanded boards, a panel for each size.

    `summary` is what `compare.summarise` returns.

    >>> row = {"size": "3×3", "search": "beam 9", "puzzles": 4, "solved after": [3, 80]}
    >>> [[x, y]] = [line.get_data() for line in draw_curves([row]).axes[0].lines]
    >>> [float(each) for each in y]
    [0.0, 0.25, 0.5, 0.5]
    """
    if not summary:
        raise SettingError(
            "There must be at least one search to draw; got none. Pass the summary of a comparison."
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys(str(row["size"]) for row in summary))
    names = list(dict.fromkeys(str(row["search"]) for row in summary))
    ways = list(dict.fromkeys(name.removesuffix(HINTED) for name in names))
    last = 2 * max(max(row["solved after"], default=1) for row in summary)
    columns = min(len(sizes), 3)
    rows = math.ceil(len(sizes) / columns)
    figure = Figure(figsize=(3.5 * columns, 2.7 * rows + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in panels[len(sizes) :]:
        axes.axis("off")
    for axes, size in zip(panels, sizes, strict=False):
        for row in summary:
            if row["size"] != size:
                continue
            name, count = str(row["search"]), row["puzzles"]
            way = name.removesuffix(HINTED)
            number = ways.index(way)
            after = [max(nodes, 1) for nodes in row["solved after"]]
            axes.step(
                [1, *after, last],
                [each / count for each in (0, *range(1, len(after) + 1), len(after))],
                where="post",
                color=COLORS[number % len(COLORS)],
                linestyle="-" if name != way or name + HINTED not in names else (0, (3, 1.5)),
                linewidth=2.0 if name != way else 1.5,
                label=name,
            )
        axes.set_xscale("log")
        axes.set_xlim(1, last)
        axes.set_ylim(-0.03, 1.03)
        axes.set_title(f"{size}, {count} puzzles", fontsize=10)
        axes.grid(alpha=0.25)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.supylabel("share solved", fontsize=10)
    figure.supxlabel("boards expanded", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=min(len(labels), 6), frameon=False,
        fontsize=9,
    )  # fmt: skip
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the curves of a saved comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("results", type=Path, help="results saved by research.planners.compare")
    parser.add_argument("out", type=Path, help="a PNG, SVG or PDF file")
    settings = parser.parse_args(arguments)
    try:
        summary = json.loads(settings.results.read_text(encoding="utf-8"))["summary"]
        draw_curves(summary, settings.out)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(
            f"{settings.results} is not a saved comparison ({type(error).__name__}: {error}). "
            "Make it with `python -m research.planners.compare --out`."
        ) from error


if __name__ == "__main__":
    main()
