"""Gallery worlds generated from benchmark tasks (listed in `worlds/benchmarks.json`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from groundling.features.feature_settings import Features
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.studio.scenes import Setting, StudioExample, StudioScene, shown_setting
from groundling.world.environment import Demonstration

LEVELS = ("GoToLocal", "PickupDist", "OpenDoor", "PutNextLocal", "GoToObj", "GoToRedBall")
_SHOWN = 4  # number of levels offered as scenes; the model is trained on all levels
_PUZZLES = 0.5  # size of the generated corpus
_MAPS = 4
_SAID = ("go to the {0}", "walk to the {0}", "head for the {0}")


def read_lines(found: Mapping[str, Any]) -> Callable[[StudioScene, str], Text]:
    """Return a function that splits a text into instructions in the same way as a task."""

    def read(scene: StudioScene, text: str) -> Text:
        texts: Sequence[Text] = found[scene.name].read(text.splitlines())
        if len(texts) == 1:
            return texts[0]
        return tuple(part for each in texts for part in ([each] if isinstance(each, str) else each))

    return read


def benchmark_setting(form: str, name: str) -> Setting:
    """Return a setting for a world that a benchmark task generates.

    `form` is the kind of instructions: `missions`, `landmarks` or `hints`.

    >>> setting = benchmark_setting("landmarks", "maps")
    >>> setting.scenes[0].name, setting.examples[0].text
    ('Map 1', 'go to the ancient kiln')
    """
    from groundling.tasks.task_registry import get_task

    return {"missions": _missions, "landmarks": _landmarks, "hints": _hints}[form](get_task(name))


def named_scenes(found: Mapping[str, Any]) -> list[StudioScene]:
    """Return a scene for each entry of `found`, with its name, environment and initial state."""
    return [StudioScene(name, each.environment, each.start) for name, each in found.items()]


def _trained(
    chosen: Any, shown: Sequence[Demonstration], found: Mapping[str, Any]
) -> dict[str, Any]:
    """Return arguments for `Setting`: scenes, and a preset's follower trained on `shown`."""
    return {
        "scenes": named_scenes(found),
        "make": chosen.follower,
        "base": lambda: shown,
        "trained": chosen.follower().fit(shown, check=False),
        "read": read_lines(found),
    }


def _missions(task: Any) -> Setting:
    """Return a setting with a scene for each BabyAI level; the missions are the examples."""
    corpus, chosen = task.load(None), task.default()
    cases = task.prepare(corpus, chosen)
    shown = [each.demonstration for each in cases if each.part in LEVELS]
    found = {
        f"Room {number}": task.scene(corpus, chosen, level, None)
        for number, level in enumerate(LEVELS[:_SHOWN], 1)
    }
    examples = [
        StudioExample(each.examples[0], name, None, _mission(each)) for name, each in found.items()
    ]
    return shown_setting("BabyAI", {}, examples=examples, **_trained(chosen, shown, found))


def _mission(scene: Any) -> tuple[Any, ...]:
    """Return the actions with which the BabyAI bot solves a level's mission."""
    [shown] = scene.world.record([int(scene.name.split()[-1])])
    state, found = scene.start, []
    for wanted in shown.actions:
        meant = (wanted.verb, wanted.role, wanted.things)
        possible = scene.environment.actions(state)
        found.append(next(e for e in possible if (e.verb, e.role, e.things) == meant))
        state = scene.environment.step(state, found[-1])
    return tuple(found)


def _landmarks(task: Any) -> Setting:
    """Return a setting of maps, with landmarks as destinations."""
    corpus, chosen = task.load(None), task.default()
    maps: dict[str, Demonstration] = {}
    for case in task.prepare(corpus, chosen):
        maps.setdefault(case.part, case.demonstration)
    found = {f"Map {number}": each for number, each in enumerate(islice(maps.values(), _MAPS), 1)}
    first, *others = named_scenes(found)
    wanted = {str(e): e for e in first.environment.actions(first.start)}
    asked = [wanted[f"go to {name}"] for name in ("ancient kiln", "stormy quarry", "silver palace")]
    return shown_setting(
        "Map",
        {},
        [first, *others],
        [each for scene in others for each in _destinations(scene, slice(0, 6))],
        _destinations(first, slice(6, None)),
        [_destination(first, said, e) for said, e in zip(_SAID, asked, strict=True)],
        # Landmark names are slots, because each map has different ones.
        make=lambda: Follower(features=Features(slots=("landmark",)), search=Search(max_length=2)),
    )


def _destinations(scene: StudioScene, some: slice) -> list[StudioExample]:
    """Return example instructions to go to some of a map's landmarks."""
    actions = list(scene.environment.actions(scene.start))[some]
    return [_destination(scene, said, each) for said, each in zip(cycle(_SAID), actions)]


def _destination(scene: StudioScene, said: str, action: Any) -> StudioExample:
    return StudioExample(said.format(action.landmark), scene.name, None, (action,))


def _hints(task: Any) -> Setting:
    """Return a setting of puzzles that are solved with hints of several lines."""
    corpus, chosen = task.load(None, _PUZZLES), task.default()
    cases = task.prepare(corpus, chosen)
    *learnt, new = [each for each in cases if each.part not in ("11", "12")]
    shown = [each.demonstration for each in learnt]
    found = {
        f"Puzzle {number}": task.scene(corpus, chosen, case.part, None)
        for number, case in enumerate((new, *learnt[:5]), 1)
    }
    solved = [each.demonstration for each in (new, *learnt[:2])]
    examples = [
        StudioExample("\n".join(e.text for e in each.instructions), name, None, tuple(each.actions))
        for name, each in zip(found, solved, strict=False)
    ]
    return shown_setting("Puzzle", {}, examples=examples, **_trained(chosen, shown, found))
