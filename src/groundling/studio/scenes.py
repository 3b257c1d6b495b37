"""Settings: the scenes, follower and demonstrations with which a project starts."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundling.data.codec import Codec
from groundling.data.own import open_world, starts_of
from groundling.data.scene_world import SceneWorld
from groundling.errors import DemonstrationError, SettingError, WorldError, did_you_mean
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.world.environment import Action, Demonstration, Environment, State, shorten

GIVEN, APART = 60, 40
SHOWN = (0, 3, 9, 41)  # indices of the maze demonstrations that are offered as examples
KINDS = ("demo", "lesson", "gallery", "scene", "world", "model")
HARMLESS = ("demo", "lesson", "gallery", "scene")
"""Kinds of sources that a stored project may open without confirmation: they run no code."""


@dataclass(frozen=True)
class StudioScene:
    """A scene of the studio: a name, an environment and an initial state."""

    name: str
    environment: Environment
    start: State


@dataclass(frozen=True)
class StudioExample:
    """An example instruction, with its scene, initial state and actions."""

    text: str
    scene: str
    start: State | None = None
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class Setting:
    """Starting point of a project: scenes, a follower, demonstrations and examples.

    Parameters
    ----------
    title
        The title of the world.
    source
        The source as JSON, from which `open_setting` recreates the setting.
    scenes
        The scenes; each demonstration names one of them.
    make
        Function that returns an unfitted follower.
    given
        Function that returns initial training demonstrations with scene names, which the project
        stores.
    base
        Function that returns the training demonstrations of the trained model, which the project
        does not store.
    apart
        Function that returns held-out demonstrations, which only measure accuracy.
    trained
        The trained follower, if a model was opened.
    examples
        Example instructions, each with its scene.
    read
        Function that prepares an entered text for the follower, for tasks that split texts in
        another way.
    """

    title: str
    source: Mapping[str, Any]
    scenes: tuple[StudioScene, ...]
    make: Callable[[], Follower] = Follower
    given: Callable[[], Sequence[tuple[str, Demonstration]]] = tuple
    apart: Callable[[], Sequence[tuple[str, Demonstration]]] = tuple
    base: Callable[[], Sequence[Demonstration]] = tuple
    trained: Follower | None = None
    examples: tuple[StudioExample, ...] = ()
    read: Callable[[StudioScene, str], Text] = lambda scene, text: text
    _codecs: dict[str, Codec] = field(default_factory=dict, repr=False, compare=False)

    def scene(self, name: str) -> StudioScene:
        """Return the scene with a given name."""
        for each in self.scenes:
            if each.name == name:
                return each
        raise WorldError(
            f"There is no scene {name!r}.{did_you_mean(name, [s.name for s in self.scenes])}"
        )

    def codec(self, scene: str) -> Codec:
        """Return the codec that converts a scene's states and actions to and from JSON."""
        if scene not in self._codecs:
            self._codecs[scene] = Codec(self.scene(scene).environment)
        return self._codecs[scene]


def open_setting(source: Mapping[str, Any]) -> Setting:
    """Return the setting of a source, such as the lesson, a world or a model.

    >>> open_setting({"kind": "lesson"}).title
    'Kitchen'
    >>> open_setting({"kind": "moon"})
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: The `kind` of a source must be one of 'demo', 'lesson', 'gallery',
    'scene', 'world', 'model'; got 'moon'.
    """
    source = check_source(source)
    kind = source["kind"]
    if kind == "demo":
        return demo_setting()
    if kind == "lesson":
        return lesson_setting()
    if kind == "gallery":
        from groundling.studio.gallery import open_gallery

        return open_gallery(source["name"])
    if kind == "scene":
        return scene_setting(SceneWorld(source["scene"]), source)
    if kind == "world":
        return world_setting(source["world"])
    return model_setting(
        Path(source["model"]), source.get("world"), tuple(source.get("demonstrations", ()))
    )


def check_source(source: Any) -> dict[str, Any]:
    """Return a source as a dictionary; raise `WorldError` if it is invalid.

    >>> check_source({"kind": "world", "world": 3})
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: `world` must be a string; got 3.
    """
    if not isinstance(source, Mapping):
        raise WorldError(
            f"A source must be an object with a `kind`; got {shorten(source)}. Restore a backup "
            "of the project."
        )
    kind = source.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise WorldError(
            f"The `kind` of a source must be one of {', '.join(map(repr, KINDS))}; got "
            f"{shorten(kind)}."
        )
    needed = {"world": ("world",), "model": ("model",), "gallery": ("name",)}.get(kind, ())
    for name in ("world", "model", "name"):
        if (name in needed or name in source) and not isinstance(source.get(name), str):
            raise WorldError(f"`{name}` must be a string; got {shorten(source.get(name))}.")
    if kind == "scene" and not isinstance(source.get("scene"), Mapping):
        raise WorldError(f"`scene` must be a JSON object; got {shorten(source.get('scene'))}.")
    shown = source.get("demonstrations", [])
    if not isinstance(shown, (list, tuple)) or not all(isinstance(each, str) for each in shown):
        raise WorldError(f"`demonstrations` must be a list of file names; got {shorten(shown)}.")
    return dict(source)


def named(source: Mapping[str, Any]) -> str:
    """Return a short description of a source, for messages.

    >>> named({"kind": "model", "model": "m", "world": "w.py:Yard"})
    'the model m in the world w.py:Yard'
    """
    if source.get("kind") == "gallery":
        return f"the {source.get('name')} of the gallery"
    model, world = source.get("model"), source.get("world")
    found = [f"the model {model}"] if model else []
    found += [f"the world {world}"] if world else []
    return " in ".join(found) or str(source.get("kind"))


def typed(source: Mapping[str, Any]) -> str:
    """Return command-line arguments that open a source.

    >>> typed({"kind": "model", "model": "my model", "world": "w.py:Yard"})
    "'my model' --world w.py:Yard"
    """
    model, world = source.get("model"), source.get("world")
    if model is None:
        return shlex.quote(str(world)) if world else ""
    return shlex.quote(str(model)) + (f" --world {shlex.quote(str(world))}" if world else "")


def demo_setting() -> Setting:
    """Return the setting of generated mazes, one of which is held out.

    >>> setting = demo_setting()
    >>> setting.scenes[0].name, len(setting.given()), len(setting.apart())
    ('New maze, by the barstool', 60, 40)
    """
    from groundling.tasks.task_registry import DEMO, get_task

    world = get_task(DEMO).demo(GIVEN, APART)
    scenes = [StudioScene(each.name, each.environment, each.start) for each in world.scenes]
    names = {id(each.environment): each.name for each in reversed(scenes)}

    def named(shown: Sequence[Demonstration]) -> list[tuple[str, Demonstration]]:
        return [(names[id(each.environment)], each) for each in shown]

    return Setting(
        title=world.title,
        source={"kind": "demo"},
        scenes=tuple(scenes),
        given=lambda: named(world.training),
        apart=lambda: named(world.sentences),
        examples=tuple(
            StudioExample(
                " ".join(map(str, each.instructions)), scene, each.start, tuple(each.actions)
            )
            for scene, each in named([world.training[place] for place in SHOWN])
        ),
    )


def lesson_setting() -> Setting:
    """Return the setting of the lesson: the kitchen with an untrained follower.

    >>> [scene.name for scene in lesson_setting().scenes][:2]
    ['Kitchen 1', 'Kitchen 2']
    """
    from groundling.studio.kitchen import Kitchen, kitchen_starts

    scenes = scenes_of(Kitchen(), kitchen_starts())
    # Works for any language.
    return shown_setting(
        "Kitchen", {"kind": "lesson"}, scenes, make=lambda: Follower(parser="chain")
    )


def scene_setting(
    world: SceneWorld, source: Mapping[str, Any], held_out: int = 0, shown: int = 0
) -> Setting:
    """Return a setting for a scene world.

    `held_out` is the number of examples, counted from the end, that are held out. `shown` is the
    number of examples, counted from the start, that are offered on the page.

    >>> yard = {"title": "Yard", "places": [{"name": "shed"}, {"name": "gate"}],
    ...         "movers": [{"name": "robot", "at": "shed"}], "scenes": 2}
    >>> [each.name for each in scene_setting(SceneWorld(yard), {"kind": "scene"}).scenes]
    ['Yard 1', 'Yard 2']
    """
    scenes = scenes_of(world, world.starts)
    listed = examples_of(world.examples, scenes)
    given = listed[: len(listed) - held_out]
    return shown_setting(world.title, source, scenes, given, listed[len(given) :], listed[:shown])


def examples_of(
    listed: Iterable[Mapping[str, Any]], scenes: Sequence[StudioScene]
) -> list[StudioExample]:
    """Return examples from JSON; each has a text, the number of a scene, and actions."""
    return [
        StudioExample(
            str(each["text"]), scenes[int(each.get("scene", 1)) - 1].name, None,
            tuple(each["actions"]),
        )
        for each in listed
    ]  # fmt: skip


def scenes_of(world: Environment, starts: Mapping[str, State]) -> list[StudioScene]:
    """Return one scene of a world for each initial state."""
    return [StudioScene(name, world, start) for name, start in starts.items()]


def shown_setting(
    title: str,
    source: Mapping[str, Any],
    scenes: Sequence[StudioScene],
    given: Sequence[StudioExample] = (),
    apart: Sequence[StudioExample] = (),
    examples: Sequence[StudioExample] = (),
    **more: Any,
) -> Setting:
    """Return a setting whose demonstrations are given as examples.

    The parameters are those of `Setting`.
    """
    places = {each.name: (each.environment, each.start) for each in scenes}

    def demonstrations(some: Sequence[StudioExample]) -> list[tuple[str, Demonstration]]:
        return [(e.scene, Demonstration(e.text, *places[e.scene], e.actions)) for e in some]

    return Setting(
        title=title,
        source=source,
        scenes=tuple(scenes),
        given=lambda: demonstrations(given),
        apart=lambda: demonstrations(apart),
        examples=tuple(examples),
        **more,
    )


def world_setting(name: str) -> Setting:
    """Return a setting for a user's world such as `my_world.py:Kitchen`.

    The scene starts in the world's `initial_state()`. If the world has `starts`, a mapping from
    names to states, there is one scene for each state (see `groundling.data.own.starts_of`).

    >>> setting = world_setting("groundling.studio.kitchen:Kitchen")
    >>> setting.title, setting.scenes[0].start.at
    ('Kitchen', 'sink')
    """
    from groundling.data.worlds import load_world

    environment = load_world(name)
    if isinstance(environment, SceneWorld):
        return scene_setting(environment, {"kind": "world", "world": name})
    title = name.partition("{")[0].rpartition(":")[2] or name
    scenes = scenes_of(environment, dict(starts_of(environment, title)))
    return shown_setting(title, {"kind": "world", "world": name}, scenes)


def model_setting(folder: Path, world: str | None, shown: Sequence[str] = ()) -> Setting:
    """Return a setting for a trained model, in a given world or that of its task.

    `shown` lists the files with the training demonstrations, which are required to teach a model
    of a user's world.
    """
    source = {"kind": "model", "model": str(folder), **({"world": world} if world else {})}
    if shown and world is None:
        raise SettingError(
            "--demonstrations can be used only with a world. Add --world my_world.py:Kitchen."
        )
    if world is not None:
        trained = Follower.load(folder)
        found = world_setting(world)

        def lost() -> Sequence[Demonstration]:
            raise DemonstrationError(
                f"The model in {folder} does not store its training demonstrations, so it cannot "
                "be taught. Pass their files with --demonstrations, or open the world without the "
                "model in the studio and import them."
            )

        learnt = list(open_world(world, shown).demonstrations or ()) if shown else []
        return Setting(
            title=found.title,
            source=source,
            scenes=found.scenes,
            make=lambda: Follower(**trained.get_params(deep=False)),
            base=(lambda: learnt) if shown else lost,
            trained=trained,
        )
    from groundling.studio.trained import task_setting

    return task_setting(folder, source)
