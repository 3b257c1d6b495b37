"""Gallery of example worlds, with demonstrations and example instructions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import as_file, files
from importlib.util import find_spec

from groundling.data.scene_world import SceneWorld
from groundling.errors import WorldError, did_you_mean
from groundling.studio.benchmark_worlds import benchmark_setting
from groundling.studio.kitchen import Kitchen, kitchen_starts
from groundling.studio.scenes import (
    Setting,
    demo_setting,
    examples_of,
    lesson_setting,
    scene_setting,
    scenes_of,
    shown_setting,
)

FIRST = "kitchen"
"""Name of the world that the studio opens by default."""
_WORLDS = files("groundling.studio") / "worlds"


@dataclass(frozen=True)
class GalleryWorld:
    """A world of the gallery, with a function that opens it.

    `needs` names an optional dependency; if it is not installed, the world is hidden.
    """

    name: str
    title: str
    about: str
    open: Callable[[], Setting]
    needs: str = ""


def open_gallery(name: str) -> Setting:
    """Return the setting of a gallery world.

    >>> open_gallery("warehouse").title
    'Warehouse'
    >>> open_gallery("attic")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: The gallery has no world 'attic'. Known: 'babyai',
    'empty-kitchen', 'home', 'kitchen', 'map', 'maze', 'puzzle', 'warehouse'.
    """
    if name not in GALLERY:
        raise WorldError(f"The gallery has no world {name!r}.{did_you_mean(name, GALLERY)}")
    found = GALLERY[name].open()
    return replace(found, title=GALLERY[name].title, source={"kind": "gallery", "name": name})


# ---- the kitchen --------------------------------------------------------------------------------


def _kitchen() -> Setting:
    """Return the setting of a kitchen with a few English demonstrations."""
    scenes = scenes_of(Kitchen(), kitchen_starts())
    found = json.loads((_WORLDS / "kitchen.json").read_text("utf-8"))
    listed = (examples_of(found[name], scenes) for name in ("given", "apart", "examples"))
    return shown_setting("Kitchen", {}, scenes, *listed)


# ---- worlds from files ---------------------------------------------------------------------------


def _from_file(name: str, held_out: int) -> Setting:
    with as_file(_WORLDS / f"{name}.json") as path:
        return scene_setting(SceneWorld.load(path), {}, held_out, shown=4)


def _benchmarks() -> list[GalleryWorld]:
    listed = (_WORLDS / "benchmarks.json").read_text("utf-8")
    return [
        GalleryWorld(
            each["name"], each["title"], each["about"],
            partial(benchmark_setting, each["form"], each["task"]), each.get("needs", ""),
        )
        for each in json.loads(listed)
    ]  # fmt: skip


GALLERY = {
    each.name: each
    for each in (
        GalleryWorld(
            "kitchen", "Kitchen", "A robot with cups and bowls; it knows a few requests.", _kitchen
        ),
        GalleryWorld(
            "empty-kitchen", "Empty kitchen", "The same kitchen; its robot knows no words yet.",
            lesson_setting,
        ),
        GalleryWorld(
            "home", "Home", "A floor plan with lamps, doors and things to carry.",
            lambda: _from_file("home", 10),
        ),
        GalleryWorld(
            "warehouse", "Warehouse", "A forklift with crates to push and parcels to carry.",
            lambda: _from_file("warehouse", 8),
        ),
        GalleryWorld(
            "maze", "Maze", "Halls with coloured floors; routes in several sentences.", demo_setting
        ),
        *_benchmarks(),
    )
    if not each.needs or find_spec(each.needs) is not None
}  # fmt: skip
"""The gallery worlds, keyed by name."""
