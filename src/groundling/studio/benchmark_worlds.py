"""Generated worlds of the benchmarks, for the gallery (`worlds/benchmarks.json` lists them)."""

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
_SHOWN = 4  # levels to try things in; all of them are learnt from
_PUZZLES = 0.5  # size of the generated corpus
_MAPS = 4
_SAID = ("go to the {0}", "walk to the {0}", "head for the {0}")


def read_lines(found: Mapping[str, Any]) -> Callable[[StudioScene, str], Text]:
    """Return how a setting reads texts: as the scenes of the task read their lines."""

    def read(scene: StudioScene, text: str) -> Text:
        texts: Sequence[Text] = found[scene.name].read(text.splitlines())
        if len(texts) == 1:
            return texts[0]
        return tuple(part for each in texts for part in ([each] if isinstance(each, str) else each))

    return read


def benchmark_setting(form: str, name: str) -> Setting:
    """Return the generated world of a task: its `missions`, `landmarks` or `hints` to follow.

    >>> setting = benchmark_setting("landmarks", "maps")
    >>> setting.scenes[0].name, setting.examples[0].text
    ('Map 1', 'go to the ancient kiln')
    """
    from groundling.tasks.task_registry import get_task

    return {"missions": _missions, "landmarks": _landmarks, "hints": _hints}[form](get_task(name))


def _missions(task: Any) -> Setting:
    """Return a room for each of some levels, whose missions are the examples."""
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
    """Return what the bot of a level does for its mission, as actions of the scene."""
    [shown] = scene.world.record([int(scene.name.split()[-1])])
    state, found = scene.start, []
    for wanted in shown.actions:
        meant = (wanted.verb, wanted.role, wanted.things)
        possible = scene.environment.actions(state)
        found.append(next(e for e in possible if (e.verb, e.role, e.things) == meant))
        state = scene.environment.step(state, found[-1])
    return tuple(found)


def _landmarks(task: Any) -> Setting:
    """Return maps with landmarks to go to."""
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
        # Names of landmarks are matched, not memorised: each map has others.
        make=lambda: Follower(features=Features(slots=("landmark",)), search=Search(max_length=2)),
        given=lambda: demonstrations(scenes[1:], slice(0, 6)),
        apart=lambda: demonstrations(scenes[:1], slice(6, None)),
        examples=tuple(
            StudioExample(said.format(each.landmark), scenes[0].name, None, (each,))
            for said, each in zip(_SAID, asked, strict=True)
        ),
    )


def _hints(task: Any) -> Setting:
    """Return boards of blocks that are struck line by line, with hints in several lines."""
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
