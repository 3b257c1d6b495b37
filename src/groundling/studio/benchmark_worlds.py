"""Generated benchmark worlds of the gallery, listed in `worlds/benchmarks.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groundling.features.feature_settings import Features
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.studio.scenes import Setting, StudioExample, StudioScene
from groundling.world.environment import Demonstration

__all__ = ["benchmark_setting", "read_lines"]

LEVELS = ("GoToLocal", "PickupDist", "OpenDoor", "PutNextLocal", "GoToObj", "GoToRedBall")
_SHOWN = 4  # levels offered as scenes; the model is trained on all levels
_PUZZLES = 0.5  # size of the generated corpus
_MAPS = 4
_SAID = ("go to the {0}", "walk to the {0}", "head for the {0}")


def read_lines(found: Mapping[str, Any]) -> Callable[[StudioScene, str], Text]:
    """Return a function that prepares a text for a scene as the task does."""

    def read(scene: StudioScene, text: str) -> Text:
        texts: Sequence[Text] = found[scene.name].read(text.splitlines())
        if len(texts) == 1:
            return texts[0]
        return tuple(part for each in texts for part in ([each] if isinstance(each, str) else each))

    return read


def benchmark_setting(form: str, name: str) -> Setting:
    """Create a setting from a task's generated world.

    `form` is `missions`, `landmarks` or `hints`.

    >>> setting = benchmark_setting("landmarks", "maps")
    >>> setting.scenes[0].name, setting.examples[0].text
    ('Map 1', 'go to the ancient kiln')
    """
    from groundling.tasks.task_registry import get_task

    return {"missions": _missions, "landmarks": _landmarks, "hints": _hints}[form](get_task(name))


def _missions(task: Any) -> Setting:
    """Create a setting with one room for each level and its mission as an example."""
    corpus, chosen = task.load(None), task.default()
    cases = task.prepare(corpus, chosen)
    shown = [each.demonstration for each in cases if each.part in LEVELS]
    found = {
        f"Room {number}": task.scene(corpus, chosen, level, None)
        for number, level in enumerate(LEVELS[:_SHOWN], 1)
    }
    return Setting(
        title="BabyAI",
        source={},
        scenes=tuple(StudioScene(name, e.environment, e.start) for name, e in found.items()),
        make=chosen.follower,
        base=lambda: shown,
        trained=chosen.follower().fit(shown, check=False),
        examples=tuple(
            StudioExample(each.examples[0], name, None, _mission(each))
            for name, each in found.items()
        ),
        read=read_lines(found),
    )


def _mission(scene: Any) -> tuple[Any, ...]:
    """Return the bot's solution of a level's mission as actions of the scene."""
    [shown] = scene.world.record([int(scene.name.split()[-1])])
    state, found = scene.start, []
    for wanted in shown.actions:
        meant = (wanted.verb, wanted.role, wanted.things)
        possible = scene.environment.actions(state)
        found.append(next(e for e in possible if (e.verb, e.role, e.things) == meant))
        state = scene.environment.step(state, found[-1])
    return tuple(found)


def _landmarks(task: Any) -> Setting:
    """Create a setting of maps with landmarks as destinations."""
    corpus, chosen = task.load(None), task.default()
    maps: dict[str, Demonstration] = {}
    for case in task.prepare(corpus, chosen):
        maps.setdefault(case.part, case.demonstration)
    scenes = [
        StudioScene(f"Map {number}", each.environment, each.start)
        for number, each in enumerate(list(maps.values())[:_MAPS], 1)
    ]

    def demonstrations(maps: Sequence[StudioScene], some: slice) -> list[tuple[str, Demonstration]]:
        found = []
        for scene in maps:
            actions = list(scene.environment.actions(scene.start))
            for number, action in enumerate(actions[some]):
                text = _SAID[number % len(_SAID)].format(action.landmark)
                found.append(
                    (scene.name, Demonstration(text, scene.environment, scene.start, (action,)))
                )
        return found

    wanted = {str(e): e for e in scenes[0].environment.actions(scenes[0].start)}
    asked = [wanted[f"go to {name}"] for name in ("ancient kiln", "stormy quarry", "silver palace")]
    return Setting(
        title="Map",
        source={},
        scenes=tuple(scenes),
        # Landmark names are slots, because each map has different ones.
        make=lambda: Follower(features=Features(slots=("landmark",)), search=Search(max_length=2)),
        given=lambda: demonstrations(scenes[1:], slice(0, 6)),
        apart=lambda: demonstrations(scenes[:1], slice(6, None)),
        examples=tuple(
            StudioExample(said.format(each.landmark), scenes[0].name, None, (each,))
            for said, each in zip(_SAID, asked, strict=True)
        ),
    )


def _hints(task: Any) -> Setting:
    """Create a setting of block puzzles that are solved from multi-line hints."""
    corpus, chosen = task.load(None, _PUZZLES), task.default()
    cases = task.prepare(corpus, chosen)
    *learnt, new = [each for each in cases if each.part not in ("11", "12")]
    shown = [each.demonstration for each in learnt]
    found = {
        f"Puzzle {number}": task.scene(corpus, chosen, case.part, None)
        for number, case in enumerate((new, *learnt[:5]), 1)
    }
    return Setting(
        title="Puzzle",
        source={},
        scenes=tuple(StudioScene(name, e.environment, e.start) for name, e in found.items()),
        make=chosen.follower,
        base=lambda: shown,
        trained=chosen.follower().fit(shown, check=False),
        examples=tuple(
            StudioExample(
                "\n".join(each.text for each in case.demonstration.instructions), name, None,
                tuple(case.demonstration.actions),
            )
            for name, case in zip(found, (new, *learnt[:2]), strict=False)
        ),
        read=read_lines(found),
    )  # fmt: skip
