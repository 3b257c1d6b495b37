"""Time to learn one more demonstration, and accuracy on a stream of demonstrations.

`python -m benchmarks.teaching` prints both; if `GROUNDLING_CORPORA` is set, also for the SAIL
mazes. `--docs` puts the accuracies into docs/studio.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.page import fill
from groundling import Demonstration, Features, Follower, Learning, Overlay, PlanModel, Search
from groundling.errors import ConvergenceWarning, GroundlingWarning
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.mazes import generate_demonstrations, generate_mazes
from groundling.tasks.mazes.maze_demo import demo_world
from groundling.tasks.mazes.maze_presets import PRESETS
from groundling.tasks.mazes.task import MazeTask

__all__ = ["curve", "prequential", "table", "teaching"]

ROOT = Path(__file__).parents[1]

KNOWN = (300, 3000)
SEEN = (10, 30, 100, 300)


def make_follower() -> Follower:
    """Return a follower with the best settings for mazes, one model and no lexicon."""
    return Follower(
        model=PlanModel.flat(),
        overlay=Overlay.flat(),
        features=Features(slots=("floor", "wall", "item"), numbers=("equal",)),
        learning=Learning(l2=1.0, iterations=50, tolerance=1e-4),
        search=Search(max_length=3, decode="outcome"),
    )


def teaching(console: Console, known: Sequence[int] = KNOWN, lessons: int = 11) -> dict[str, float]:
    """Return the median seconds to learn one more demonstration, by the number of known ones."""
    mazes = generate_mazes(1, 3)
    shown = generate_demonstrations(mazes, max(known) + lessons + 1, seed=1)
    figures = {}
    # warnings about so few demonstrations are expected
    warnings.simplefilter("ignore", GroundlingWarning)
    for count in known:
        follower = make_follower().fit(shown[:count])
        # a first call, which encodes all demonstrations once
        follower.teach(shown[count : count + 1])
        seconds = []
        for each in shown[count + 1 : count + 1 + lessons]:
            start = time.perf_counter()
            follower.teach([each])
            seconds.append(time.perf_counter() - start)
        figures[f"teach_seconds_{count}"] = statistics.median(seconds)
        console.print(
            f"one more demonstration, {count} known: {figures[f'teach_seconds_{count}']:.2f} s"
        )
    return figures


def prequential(stream: Iterable[Demonstration], seen: Sequence[int] = SEEN) -> dict[int, float]:
    """Return the share of demonstrations that are right before they are learnt.

    The share is given at each mark, for the demonstrations since the previous mark."""
    follower, right, marks = make_follower(), [], {}
    for each in islice(stream, max(seen)):
        known = hasattr(follower, "_learnt")
        right.append(follower.score([each]) if known else 0.0)
        follower.teach([each])
        if len(right) in seen:
            last = max((mark for mark in seen if mark < len(right)), default=0)
            marks[len(right)] = statistics.fmean(right[last:])
    return marks


def streams() -> dict[str, Sequence[Demonstration]]:
    """Return the demonstrations of the demo world and, if available, of the SAIL mazes."""
    found: dict[str, Sequence[Demonstration]] = {"demo world": demo_world(max(SEEN), 1).training}
    if folder := os.environ.get("GROUNDLING_CORPORA"):
        task = MazeTask()
        corpus = task.load(Path(folder))
        cases = task.prepare(corpus, PRESETS.select("best"))
        shown = demonstrations(cases, task.held_out(corpus))
        found["mazes"] = shown[: max(SEEN)]
    return found


def curve(console: Console) -> dict[str, float]:
    """Print and return how often demonstrations of streams are right before they are learnt."""
    warnings.simplefilter("ignore", GroundlingWarning)
    table = Table(title="understood before it was learnt")
    figures: dict[str, float] = {}
    for heading in ("stream", *(f"up to {mark}" for mark in SEEN)):
        table.add_column(heading)
    for name, stream in streams().items():
        marks = prequential(stream)
        table.add_row(
            name, *(f"{marks.get(m, 0):.2f} {'█' * round(10 * marks.get(m, 0))}" for m in SEEN)
        )
        figures |= {f"prequential_{name.replace(' ', '_')}_{m}": v for m, v in marks.items()}
    console.print(table)
    return figures


def table(figures: dict[str, float]) -> str:
    """Return the curves as Markdown.

    >>> print(table({f"prequential_demo_world_{mark}": 0.5 for mark in SEEN}))
    | stream | 1–10 | 11–30 | 31–100 | 101–300 |
    |---|---|---|---|---|
    | demo world | .50 | .50 | .50 | .50 |
    """
    spans = [f"{last + 1}–{mark}" for last, mark in zip((0, *SEEN), SEEN, strict=False)]
    lines = [f"| stream | {' | '.join(spans)} |", "|---" * (len(SEEN) + 1) + "|"]
    for name in ("demo world", "mazes"):
        keys = [f"prequential_{name.replace(' ', '_')}_{mark}" for mark in SEEN]
        if all(key in figures for key in keys):
            shown = (f"{figures[key]:.2f}".removeprefix("0") for key in keys)
            lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    """Print seconds and the curve."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--known", type=int, nargs="*", default=list(KNOWN))
    parser.add_argument("--docs", action="store_true", help="put the curve into the page")
    settings = parser.parse_args()
    console = Console(width=110)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if settings.known:
            teaching(console, settings.known)
        figures = curve(console)
    if settings.docs:
        fill(ROOT / "docs" / "studio.md", "teaching", table(figures))


if __name__ == "__main__":
    main()
