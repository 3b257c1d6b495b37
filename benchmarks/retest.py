"""Measure whether the studio's robot remembers what it has just been taught.

In each world, ten new requests are taught one after another, and each is immediately repeated in
the same scene. `python -m benchmarks.retest` prints the share that is carried out correctly without
a question, the share of earlier demonstrations that a new one breaks, and how many of the ten
requests are right at the end. `--docs` puts the table into docs/studio.md.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.page import fill
from groundling.errors import GroundlingWarning
from groundling.studio.project import Project
from groundling.studio.store import Record
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Environment, State

__all__ = ["Retest", "plan", "retest", "table"]

ROOT = Path(__file__).parents[1]
MARK = "retest"
SEEDS = 3
YARD: Mapping[str, Any] = {
    "title": "Yard",
    "places": [{"name": name} for name in ("barn", "field", "pond", "house")],
    "things": [
        {"name": "bucket", "at": "barn", "can": ["take"], "colour": "blue"},
        {"name": "egg", "at": "barn", "can": ["take"], "colour": "white"},
        {"name": "hay", "at": "field", "can": ["push"], "colour": "yellow"},
        {"name": "lamp", "at": "house", "can": ["switch"]},
        {"name": "gate", "at": "field", "can": ["open"]},
    ],
    "movers": [{"name": "robot", "at": "house"}],
    "verbs": ["go", "take", "put", "push", "open", "switch"],
    "scenes": 12,
}
TEN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "maze": {
        "scoot forward a bit": ("move(1)",),
        "spin clockwise": ("rotate(90)",),
        "swing anticlockwise": ("rotate(270)",),
        "look behind you": ("rotate(180)",),
        "hop ahead twice": ("move(2)",),
        "veer starboard": ("rotate(90)",),
        "port side now": ("rotate(270)",),
        "about-face": ("rotate(180)",),
        "nudge onward": ("move(1)",),
        "march a pair of squares": ("move(2)",),
    },
    "kitchen": {
        "stroll over to the table": ("go to the table",),
        "hand me the blue cup": ("take the blue cup",),
        "clear away the bowl": ("take the red bowl", "go to the shelf", "put down the red bowl"),
        "wash the red cup": ("take the red cup", "go to the sink", "put down the red cup"),
        "lay out the blue cup": ("take the blue cup", "go to the table", "put down the blue cup"),
        "off you go to the sink": ("go to the sink",),
        "visit the shelf": ("go to the shelf",),
        "grab that red cup": ("take the red cup",),
        "rinse the bowl": ("take the red bowl", "go to the sink", "put down the red bowl"),
        "I want the bowl": ("take the red bowl",),
    },
    "yard": {
        "off to the pond": ("go to the pond",),
        "fetch the egg": ("take the egg",),
        "bring the bucket home": ("take the bucket", "go to the house", "put down the bucket"),
        "light the lamp": ("switch on the lamp",),
        "roll the hay to the barn": ("push the hay to the barn",),
        "let the sheep out": ("open the gate",),
        "shut the gate": ("close the gate",),
        "back to the barn": ("go to the barn",),
        "lamp off please": ("switch off the lamp",),
        "put the egg in the barn": ("take the egg", "go to the barn", "put down the egg"),
    },
    "lesson, German": {
        "geh zum Tisch": ("go to the table",),
        "nimm die rote Tasse": ("take the red cup",),
        "geh zum Regal": ("go to the shelf",),
        "hol die blaue Tasse": ("take the blue cup",),
        "bring die Schale zum Tisch": (
            "take the red bowl", "go to the table", "put down the red bowl",
        ),
        "ab ans Becken": ("go to the sink",),
        "räum die blaue Tasse weg": (
            "take the blue cup", "go to the shelf", "put down the blue cup",
        ),
        "gib mir die Schale": ("take the red bowl",),
        "spül die rote Tasse": ("take the red cup", "go to the sink", "put down the red cup"),
        "deck den Tisch": ("take the blue cup", "go to the table", "put down the blue cup"),
    },
    # no word resembles a name in the kitchen
    "lesson, invented words": {
        "olu ke vo": ("go to the table",),
        "sero pun mi": ("take the red cup",),
        "iki ke vo": ("go to the shelf",),
        "lano pun mi": ("take the blue cup",),
        "sero gol olu ke ra": ("take the red bowl", "go to the table", "put down the red bowl"),
        "ando ke vo": ("go to the sink",),
        "lano pun iki ke ra": ("take the blue cup", "go to the shelf", "put down the blue cup"),
        "sero gol mi": ("take the red bowl",),
        "sero pun ando ke ra": ("take the red cup", "go to the sink", "put down the red cup"),
        "lano pun olu ke ra": ("take the blue cup", "go to the table", "put down the blue cup"),
    },
}  # fmt: skip
SOURCES: Mapping[str, Mapping[str, Any]] = {
    "maze": {"kind": "gallery", "name": "maze"},
    "kitchen": {"kind": "gallery", "name": "kitchen"},
    "yard": {"kind": "scene", "scene": YARD},
    "lesson, German": {"kind": "lesson"},
    "lesson, invented words": {"kind": "lesson"},
}


class Retest(NamedTuple):
    """Results of teaching ten requests."""

    at_once: float  # share right without a question, when repeated immediately after teaching
    broken: float  # share of right earlier demonstrations that one more demonstration made wrong
    at_the_end: tuple[int, ...]  # how many of the ten are right at the end, by seed


def plan(world: Environment, state: State, wanted: Sequence[str]) -> tuple[Any, ...] | None:
    """Return the wanted actions with the moves that they require; None if impossible.

    >>> from groundling.studio.kitchen import Kitchen
    >>> plan(Kitchen(), Kitchen.start, ["take the red cup"])
    ('go to the table', 'take the red cup')
    """
    found: list[Any] = []
    for name in wanted:
        ways = [()] + [(each,) for each in world.actions(state) if str(each).startswith("go to")]
        for way in ways:
            there = world.step(state, way[0]) if way else state
            action = next((each for each in world.actions(there) if str(each) == name), None)
            if action is not None:
                found += [*way, action]
                state = world.step(there, action)
                break
        else:
            return None
    return tuple(found)


def retest(name: str, seed: int, folder: Path) -> tuple[list[bool], int, int, int]:
    """Teach ten requests, each in a scene; return the results.

    Returns which were right at once, how many earlier ones were right before a demonstration, how
    many of those one more demonstration broke, and how many of the ten are right at the end.
    """
    dice = Random(seed)
    project = Project(folder, SOURCES[name])
    try:
        project.learn_now()
        known = [each for each in project.store.records() if not each.apart]
        at_once, taught = [], []
        right = [each for each in known if _right(project, each)]
        checked = broken = 0
        for text, wanted in dice.sample(list(TEN[name].items()), len(TEN[name])):
            record = _record(project, text, wanted, dice)
            taught += project.store.add([project.check(record)], "taught")
            project.learn_now()
            at_once.append(_right(project, record, asked=False))
            kept = [each for each in right if _right(project, each)]
            checked, broken = checked + len(right), broken + len(right) - len(kept)
            right = [each for each in (*known, *taught) if _right(project, each)]
        return at_once, checked, broken, sum(_right(project, e, asked=False) for e in taught)
    finally:
        project.close()


def _record(project: Project, text: str, wanted: Sequence[str], dice: Random) -> Record:
    """Return a demonstration of a request, in a random scene where it requires an action."""
    shown = [(each.name, each.start) for each in project.setting.scenes]
    shown += [(scene, each.start) for scene, each in project.setting.given()]
    for scene, start in dice.sample(shown, len(shown)):
        actions = plan(project.setting.scene(scene).environment, start, wanted)
        if actions is not None:
            state = project.write_state(scene, start)
            return Record(scene, text, state, tuple(project.write_actions(scene, actions)))
    raise ValueError(f"“{text}” must be possible in a scene of this world.")


def _right(project: Project, record: Record, *, asked: bool = True) -> bool:
    """Return whether the agent does what was demonstrated, without a question unless `asked`."""
    scene, each = project.setting.scene(record.scene), project.demonstration(record)
    if asked:
        end = project.follow(scene, each.start, record.text).end
    else:
        turn = project.say(scene, each.start, record.text)
        if turn.kind != "act" or turn.plan is None:
            return False
        end = turn.plan.end
    world = CachedEnvironment(each.environment)
    return bool(world.outcome(end) == world.outcome(world.trace(each.start, each.actions).end))


def measure(seeds: int, say: Callable[[str], None] = print) -> dict[str, Retest]:
    """Return the figures of all worlds."""
    found = {}
    for name in TEN:
        with tempfile.TemporaryDirectory() as made:
            runs = [retest(name, seed, Path(made) / str(seed)) for seed in range(seeds)]
        at_once = [each for run in runs for each in run[0]]
        broken = sum(run[2] for run in runs) / max(1, sum(run[1] for run in runs))
        found[name] = Retest(sum(at_once) / len(at_once), broken, tuple(run[3] for run in runs))
        say(f"{name}: {found[name]}")
    return found


def table(figures: Mapping[str, Retest]) -> str:
    """Return the figures as Markdown.

    >>> print(table({"kitchen": Retest(1.0, 0.004, (10, 9))}))
    | world | right at once | earlier ones broken | right at the end, of ten |
    |---|---|---|---|
    | kitchen | 1.00 | 0.4 % | 10, 9 |
    """
    headings = ("world", "right at once", "earlier ones broken", "right at the end, of ten")
    lines = [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    for name, each in figures.items():
        at_once = f"{each.at_once:.2f}".removeprefix("0")
        at_the_end = ", ".join(map(str, each.at_the_end))
        lines.append(f"| {name} | {at_once} | {100 * each.broken:.1f} % | {at_the_end} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--docs", action="store_true", help="put the table into the page")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", GroundlingWarning)
    figures = measure(asked.seeds)
    print(table(figures))
    if asked.docs:
        fill(ROOT / "docs" / "studio.md", MARK, table(figures))


if __name__ == "__main__":
    main()
