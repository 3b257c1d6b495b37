"""`Follower()` with default settings against the best hand-chosen settings, for each world.

`python -m benchmarks.defaults` measures the generated worlds, each in a separate process, and
writes results/defaults.json. The figures of `mazes`, `maps` and `puzzles` are copied from the files
that `groundling evaluate TASK --preset auto --json results/TASK-auto.json` writes. `--docs` puts
the table into docs/choosing.md.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.understanding import drawn
from benchmarks.worlds import scene_demonstrations, sequence_demonstrations
from groundling import (
    Demonstration,
    Features,
    Follower,
    Learning,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.evaluation.report import Report
from groundling.files import write_atomically

__all__ = ["GENERATED", "main", "measure", "reported", "table"]

ROOT = Path(__file__).parents[1]
# Worlds of benchmarks.understanding, each with the labels that are slots.
UNDERSTOOD = {
    "names": ("name", "label"),
    "one typo": ("name", "label"),
    "open values": ("room", "label"),
    "relative values": ("room", "label"),
    "sets": ("kind", "room", "colour", "label"),
    "numbers in a row": ("kind", "label"),
    "rare words": ("kind", "colour"),
}
GENERATED = ("kitchen", "scene", "sequences", *UNDERSTOOD)
TASKS = ("mazes", "maps", "puzzles")
# The report with the best settings, and the metric.
REPORTS = {
    "mazes": ("mazes-best.json", "macro"),
    "maps": ("maps-best.json", "f1"),
    "puzzles": ("puzzles-best.json", "match"),
}
NAMES = ("kind", "colour", "size")
BEGIN, END = "<!-- defaults -->", "<!-- end -->"


def hand_chosen(world: str) -> Follower:
    """Return a follower with the settings that were chosen by hand for a generated world."""
    if world == "kitchen":  # as in docs/your-environment.md
        return Follower(
            model=PlanModel(),
            overlay=Overlay(unit="clause"),
            features=Features(words=("word",), slots=("place", "thing", "colour")),
            learning=Learning(l2=0.02),
            search=Search(max_length=4),
        )
    if world in UNDERSTOOD:
        return Follower(
            model=PlanModel(),
            overlay=Overlay(adjacency="soft", entry="any"),
            features=Features(
                words=("word", "number", "around"),
                slots=UNDERSTOOD[world],
                names="spans",
                numbers=("equal",),
                joins=("conjunction", "slot", "value"),
            ),
            learning=Learning(l2=0.3, rare_words=world == "rare words"),
            search=Search(max_length=1),
        )
    slots: dict[str, Any] = {
        "slots": NAMES, "numbers": ("equal",), "joins": ("conjunction", "slot")
    }  # fmt: skip
    if world == "scene":  # as in scenes of other benchmarks
        return Follower(
            model=PlanModel(),
            overlay=Overlay(),
            features=Features(
                words=(
                    "word",
                    "first",
                    "next",
                    "head",
                    "relation",
                    "grandparent",
                    "context",
                    "verb",
                ),
                compound_weight=0.7,
                min_word_count=2,
                **slots,
            ),
            learning=Learning(iterations=40),
            search=Search(max_length=1),
        )
    return Follower(  # as in worlds of objects
        model=TransducerModel(unaligned_cost=2.3, fertility_cost=2.3),
        overlay=Overlay(skeleton="bag", nodes="flat", unit="clause"),
        features=Features(words=("word",), promote=(), **slots),
        learning=Learning(l2=0.02, iterations=200, tolerance=1e-5),
        search=Search(max_length=4, beam=5, budget=200_000),
    )


def demonstrations(world: str) -> tuple[list[Demonstration], list[Demonstration]]:
    """Return the training and the test demonstrations of a world."""
    if world == "kitchen":
        return _kitchen()
    if world in UNDERSTOOD:
        return drawn(world)
    make = scene_demonstrations if world == "scene" else sequence_demonstrations
    return make(200, seed=1), make(200, seed=2)


def _kitchen() -> tuple[list[Demonstration], list[Demonstration]]:
    sys.path.insert(0, str(ROOT / "examples"))
    import kitchen  # type: ignore[import-not-found]

    # These words and requests were not used in developing the automatic choice of settings.
    dice = random.Random("requests that no setting was chosen on")
    known = ("desk", "rack", "trolley"), ("green jug", "yellow jug", "green pan")
    unseen = ("hob", "bench", "cabinet"), ("black tray", "brown tray", "black ladle")
    learn, test = (
        [kitchen.demonstrate(dice, *kitchen.furnish(dice, *names)) for _ in range(count)]
        for names, count in ((known, 60), (unseen, 200))
    )
    return learn, test


def measure(world: str, which: str, count: int | None = None) -> dict[str, float]:
    """Return the figures of one follower in one world; `count` limits the demonstrations."""
    learn, test = (each[:count] for each in demonstrations(world))
    follower = Follower() if which == "auto" else hand_chosen(world)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        follower.fit(learn)
    fitted = time.process_time()
    right = follower.score(test)
    followed = time.process_time()
    return {
        "right": right,
        "fit": fitted - began,
        "plans per second": len(test) / (followed - fitted),
        "memory": _memory(),
    }


def reported(world: str, which: str, folder: Path = ROOT / "results") -> dict[str, float]:
    """Return figures that `groundling evaluate` wrote; seconds are those of one training run."""
    name, metric = REPORTS[world]
    path = folder / (f"{world}-auto.json" if which == "auto" else name)
    if not path.exists():
        preset = "auto" if which == "auto" else "best"
        raise SystemExit(
            f"{path} does not exist. Run `groundling evaluate {world} --preset {preset} --json "
            f"{path}` first."
        )
    row = next(each for each in Report.read(path).rows if each.name == "full")
    found = {"right": row.metrics[metric]}
    if "train" in row.seconds:
        found["fit"] = row.seconds["train"]
    return found


def _memory() -> float:
    """Return the peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the shares of right plans and the seconds of `fit` as Markdown.

    >>> one = {"right": 0.9, "fit": 2.0, "plans per second": 50.0, "memory": 300.0}
    >>> print(table({"scene": {"auto": one, "hand": one}}).splitlines()[-1])
    | scene | .900 | .900 | 2.0 | 2.0 |
    """
    heads = ("right", "seconds of `fit`")
    lines = [
        "| world | " + " | ".join(f"{head}, `Follower()` | by hand" for head in heads) + " |",
        "|---" * 5 + "|",
    ]
    for world, both in found.items():
        cells = []
        for name, form in (("right", "{:.3f}"), ("fit", "{:.1f}")):
            for which in ("auto", "hand"):
                value = both[which].get(name)
                shown = "" if value is None else form.format(value)
                cells.append(shown.removeprefix("0") if name == "right" else shown)
        lines.append(f"| {world} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the figures; with `--docs`, also put the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", help=", ".join((*GENERATED, *TASKS)))
    parser.add_argument("--one", choices=("auto", "hand"), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=ROOT / "results" / "defaults.json")
    parser.add_argument("--docs", action="store_true", help="Put the table into the page.")
    chosen = parser.parse_args(arguments)
    chosen.worlds = chosen.worlds or list(GENERATED)
    if unknown := set(chosen.worlds) - {*GENERATED, *TASKS}:
        parser.error(f"there is no world {min(unknown)!r}")
    if chosen.one:
        print(json.dumps(measure(chosen.worlds[0], chosen.one)))
        return
    found = json.loads(chosen.json.read_text()) if chosen.json.exists() else {}
    for world in chosen.worlds:
        for which in ("auto", "hand"):
            if world in TASKS:
                figures = reported(world, which)
                found.setdefault(world, {})[which] = {k: round(v, 4) for k, v in figures.items()}
                continue
            command = [sys.executable, "-m", "benchmarks.defaults", world, "--one", which]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            figures = json.loads(done.stdout.splitlines()[-1])
            found.setdefault(world, {})[which] = {k: round(v, 4) for k, v in figures.items()}
        write_atomically(chosen.json, json.dumps(found, indent=1) + "\n")
    order = [each for each in (*TASKS, *GENERATED) if each in found]
    made = table({each: found[each] for each in order})
    print(made)
    if chosen.docs:
        page = ROOT / "docs" / "choosing.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        write_atomically(page, f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
