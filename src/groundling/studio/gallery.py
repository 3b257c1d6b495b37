"""Gallery of example worlds, with demonstrations and example instructions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import as_file, files
from importlib.util import find_spec
from itertools import product

from groundling.data.scene_world import SceneWorld
from groundling.errors import WorldError, did_you_mean
from groundling.studio.benchmark_worlds import benchmark_setting
from groundling.studio.kitchen import PLACES, THINGS, Kitchen, KitchenState
from groundling.studio.scenes import (
    Setting,
    StudioExample,
    StudioScene,
    demo_setting,
    lesson_setting,
    scene_setting,
)
from groundling.world.environment import Demonstration

__all__ = ["FIRST", "GALLERY", "GalleryWorld", "open_gallery"]

FIRST = "kitchen"
"""Name of the world that the studio opens by default."""
_KITCHENS, _GIVEN, _APART = 24, 30, 12


@dataclass(frozen=True)
class GalleryWorld:
    """A world of the gallery: its name, title, description, and a function that opens it.

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

_GO = ("go to the {0}", "walk to the {0}")
_TAKE = ("take the {0}", "pick up the {0}", "get the {0}")
_BRING = ("bring the {0} to the {1}", "put the {0} on the {1}")


def _kitchen() -> Setting:
    """Return the setting of a kitchen with a few English demonstrations."""
    kitchen = Kitchen()
    states = [kitchen.start, *map(Kitchen.shuffled, range(1, _KITCHENS))]
    starts = {f"Kitchen {number}": state for number, state in enumerate(states, 1)}
    scenes = tuple(StudioScene(name, kitchen, state) for name, state in starts.items())
    requests = list(_requests())
    # Evenly spaced, so that both training and held-out examples have all kinds of requests.
    apart = requests[:: len(requests) // _APART][:_APART]
    given = [each for each in requests if each not in apart][:_GIVEN]

    def shown(some: Sequence[tuple[str, str, str]], first: int) -> list[StudioExample]:
        found = []
        for number, (text, thing, place) in enumerate(some, first):
            for scene in (*list(starts)[number:], *list(starts)[:number]):
                actions = _way(starts[scene], thing, place)
                if actions:
                    found.append(StudioExample(text, scene, None, actions))
                    break
        return found

    def demonstrations(some: Sequence[StudioExample]) -> list[tuple[str, Demonstration]]:
        return [(e.scene, Demonstration(e.text, kitchen, starts[e.scene], e.actions)) for e in some]

    learnt, held_out = shown(given, 0), shown(apart, 7)
    said = (
        ("go to the table", "", "table"),
        ("take the blue cup", "blue cup", ""),
        ("bring the red cup to the shelf", "red cup", "shelf"),
        ("put the red bowl on the sink", "red bowl", "sink"),
    )
    return Setting(
        title="Kitchen",
        source={},
        scenes=scenes,
        given=lambda: demonstrations(learnt),
        apart=lambda: demonstrations(held_out),
        examples=tuple(
            StudioExample(text, scenes[0].name, None, _way(kitchen.start, thing, place))
            for text, thing, place in said
        ),
    )


def _requests() -> Sequence[tuple[str, str, str]]:
    """Return requests of alternating kinds, each with a thing and a place."""
    go = [(text.format(place), "", place) for place, text in product(PLACES, _GO)]
    take = [(text.format(thing), thing, "") for thing, text in product(THINGS, _TAKE)]
    bring = [
        (_BRING[(n + m) % 2].format(thing, place), thing, place)
        for n, thing in enumerate(THINGS)
        for m, place in enumerate(PLACES)
    ]
    more = [(text.format(t, p), t, p) for t, p, text in product(THINGS, PLACES, _BRING)]
    turns = [each for some in zip(go * 2, take * 2, bring * 2, strict=False) for each in some]
    return list(dict.fromkeys([*turns, *take, *more]))


def _way(state: KitchenState, thing: str, place: str) -> tuple[str, ...]:
    """Return the actions that carry out a request; empty if nothing needs to be done."""
    found: list[str] = []

    def go(where: str) -> None:
        if state.at != where:
            found.append(f"go to the {where}")

    if not thing:
        go(place)
        return tuple(found)
    at = dict(state.lying)[thing]
    if at == place:
        return ()
    go(at)
    found.append(f"take the {thing}")
    if place:
        found += [f"go to the {place}", f"put down the {thing}"]
    return tuple(found)


# ---- worlds from files ---------------------------------------------------------------------------


def _from_file(name: str, held_out: int) -> Setting:
    with as_file(files("groundling.studio") / "worlds" / f"{name}.json") as path:
        return scene_setting(SceneWorld.load(path), {}, held_out, shown=4)


def _benchmarks() -> list[GalleryWorld]:
    listed = (files("groundling.studio") / "worlds" / "benchmarks.json").read_text("utf-8")
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
