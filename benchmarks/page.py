"""Targets of the benchmarks, and tables of docs/performance.md from bench.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from groundling.files import write_atomically

__all__ = [
    "BARS", "PICTURE", "comparison", "draw_fits", "fill", "reached", "verdicts", "write_page",
]  # fmt: skip

BARS = {
    "speedup_vs_torch": (16.0, "at least"),
    "speedup_vs_numpy": (200.0, "at least"),
    "speedup_two_threads": (1.7, "at least"),
    "growth_exponent": (1.05, "at most"),
    "growth_exponent_with_encoding": (1.05, "at most"),
    "kernel_graph_times_limit": (2.8, "at most"),
    "kernel_flat_times_limit": (2.2, "at most"),
    "kernel_units_times_limit": (3.0, "at most"),
    "fit_scene_speedup": (3.0, "at least"),
    "fit_mazes_speedup": (1.8, "at least"),
    "follow_one_speedup": (4.0, "at least"),
    "follow_many_speedup": (2.0, "at least"),
    "first_run_speedup": (4.0, "at least"),
    "first_run_seconds": (5.0, "at most"),
    "memory_per_plan_ratio": (5.0, "at least"),
    "requests_growth_mb": (1.0, "at most"),
    "new_world_plans_per_second": (300.0, "at least"),
    "new_world_plans_per_second_together": (1000.0, "at least"),
    "new_world_p95_ms": (10.0, "at most"),
    "teach_seconds_300": (0.5, "at most"),
    "teach_seconds_3000": (2.0, "at most"),
}
"""Targets of the figures in bench.json, by name."""

PICTURE = "images/fit-time.png"
"""Path of the picture that shows how the time of a fit is spent."""

_FITS = {
    "scene": "scene", "mazes": "mazes", "mazes_corpus": "mazes, corpus", "maps_corpus":
    "maps, corpus", "puzzles_corpus": "puzzles, corpus",
}  # fmt: skip
_SIDES = {
    "fit_scene_speedup": "fit of the scene, s",
    "fit_scene_first_step_speedup": "… to the first step, s",
    "fit_scene_peak_ratio": "… peak of memory, MB",
    "fit_mazes_speedup": "fit of mazes, s",
    "fit_mazes_first_step_speedup": "… to the first step, s",
    "fit_mazes_peak_ratio": "… peak of memory, MB",
    "fit_mazes_corpus_speedup": "fit of the best preset on the corpus of mazes, s",
    "fit_maps_corpus_speedup": "… on that of maps, s",
    "fit_puzzles_corpus_speedup": "… on that of puzzles, s",
    "follow_one_speedup": "following one by one, plans per second",
    "follow_many_speedup": "following many at once, plans per second",
    "first_run_speedup": "first run, s",
    "first_demo_speedup": "`groundling demo`, first run, s",
    "memory_per_plan_ratio": "memory per plan, bytes",
}


def reached(name: str, value: float) -> bool:
    """Return whether a figure reaches its target.

    >>> reached("fit_scene_speedup", 3.2), reached("growth_exponent", 1.2)
    (True, False)
    """
    bar, sense = BARS[name]
    return value >= bar if sense == "at least" else value <= bar


def comparison(figures: Mapping[str, float]) -> list[str]:
    """Return the table of figures that are compared with version 0.1.0."""
    lines = ["| | 0.1.0 | now | ratio | target |", "|---|---|---|---|---|"]
    for key, name in _SIDES.items():
        if f"{key}_before" in figures:
            before, now = (_short(figures[f"{key}_{side}"]) for side in ("before", "now"))
            bar = f"{BARS[key][0]:g}" if key in BARS else ""
            lines.append(f"| {name} | {before} | {now} | {figures[key]:.2f} | {bar} |")
    return lines


def verdicts(figures: Mapping[str, float]) -> list[str]:
    """Return the table of all targets, and whether they are reached."""
    lines = ["| figure | value | target | reached |", "|---|---|---|---|"]
    for name, (bar, sense) in BARS.items():
        value = "not measured" if name not in figures else f"{figures[name]:.2f}"
        met = "" if name not in figures else "yes" if reached(name, figures[name]) else "no"
        lines.append(f"| `{name}` | {value} | {sense} {bar:g} | {met} |")
    return lines


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def write_page(page: Path, figures: Mapping[str, float]) -> None:
    """Put the tables between the markers of a page, `<!-- comparison -->` and `<!-- bars -->`."""
    text = page.read_text(encoding="utf-8")
    for mark, lines in (("comparison", comparison(figures)), ("bars", verdicts(figures))):
        begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(
                f"{page} must have {begin} and {end} exactly once, for a table between them."
            )
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([before + begin, *lines, end + after])
    page.write_text(text, encoding="utf-8")


def fill(page: Path, mark: str, table: str) -> None:
    """Put a table between `<!-- mark -->` and the next `<!-- end -->` of a page."""
    begin, end = f"<!-- {mark} -->", "<!-- end -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} must have {begin} and {end}, for a table between them.")
    write_atomically(page, f"{before}{begin}\n{table}\n{end}{after}")


def draw_fits(figures: Mapping[str, float], file: Path) -> None:
    """Draw how the time of each fit is spent in 0.1.0 and now, as shares of the time in 0.1.0."""
    from matplotlib.figure import Figure

    fits = [(key, name) for key, name in _FITS.items() if f"fit_{key}_speedup_before" in figures]
    figure = Figure(figsize=(8.4, 0.7 + 0.75 * len(fits)), layout="constrained")
    axes = figure.add_subplot()
    for place, (key, _) in enumerate(fits):
        whole = figures[f"fit_{key}_speedup_before"]
        for row, side in enumerate(("before", "now")):
            seconds = figures[f"fit_{key}_speedup_{side}"]
            first = figures[f"fit_{key}_first_step_speedup_{side}"]
            height = -place - (row - 0.5) * 0.36
            parts = (first / whole, (seconds - first) / whole)
            for left, width, colour in ((0.0, parts[0], "#4c78a8"), (*parts, "#f2b661")):
                axes.barh(height, width, 0.32, left=left, color=colour)
            text = f"{'0.1.0' if side == 'before' else 'now'}: {_short(seconds)} s"
            axes.text(sum(parts) + 0.01, height, text, va="center", fontsize=9)
    axes.barh(0, 0, color="#4c78a8", label="before the first step")
    axes.barh(0, 0, color="#f2b661", label="training")
    axes.set_yticks([-place for place in range(len(fits))], [name for _, name in fits])
    longest = max(1 / figures[f"fit_{key}_speedup"] for key, _ in fits)
    axes.set_xlim(0, 1.25 * max(1.0, longest))
    axes.set_xlabel("time of a fit, as a share of that in 0.1.0")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=9)
    figure.savefig(file, dpi=170)
