"""The table of whole routes: what was learnt from, and how routes are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

from groundling.models.base import Model
from groundling.tasks.mazes.maze_presets import MazePreset
from groundling.tasks.mazes.route_trainer import COMPOSED, TRAINING, Training
from groundling.tasks.variants import BasePreset, Presets

ROUTES = "routes"
AT_ONCE = "at once"
READ_FIRST = "read first"
EVIDENCE = "read first, evidence"
READINGS = (AT_ONCE, READ_FIRST, EVIDENCE)


@dataclass(frozen=True, kw_only=True)
class RoutePreset(MazePreset):
    """Settings of single sentences, what is learnt from, and how routes are read.

    *At once*, each sentence is acted on before the next is read. *Read first*, all states
    are kept until the text ends; with *evidence*, later sentences also speak against wrong
    earlier states.
    """

    training: Training = field(default_factory=Training)
    reading: str = AT_ONCE

    def learns_like(self, other: BasePreset) -> bool:
        """Tell whether these settings differ from others only in how routes are read."""
        return isinstance(other, RoutePreset) and replace(self, reading=other.reading) == other


def with_routes(presets: Presets[MazePreset]) -> Presets[MazePreset]:
    """Return presets with the table of routes beside them.

    Routes are followed by one model, the row *tree* of the best settings; *two members* are
    both models of the best settings.

    >>> from groundling.tasks.mazes.maze_presets import PRESETS
    >>> made = with_routes(PRESETS)
    >>> made.variants_of("routes")[:2]
    ('single sentences: at once', 'single sentences: read first')
    >>> [len(group) for group in made.group("routes", made.variants_of("routes"))]
    [3, 3, 3, 3, 3, 3]
    """
    tree, best = presets.select("best", "tree"), presets.select("best")
    first = RoutePreset(**{each.name: getattr(tree, each.name) for each in fields(tree)})
    rows = {}
    for name, training in TRAINING.items():
        rows[name] = training, tree.model
        if name == COMPOSED:
            rows[f"{name}, two members"] = training, best.model
    variants = {
        f"{name}: {reading}": _change(training, model, reading)
        for name, (training, model) in rows.items()
        for reading in READINGS
    }
    return Presets(
        presets.task,
        {**presets.presets, ROUTES: first},
        {**presets.variants, ROUTES: variants},
    )


def _change(training: Training, model: Model, reading: str) -> Callable[[MazePreset], MazePreset]:
    def change(given: MazePreset) -> MazePreset:
        assert isinstance(given, RoutePreset)
        return replace(given, training=training, model=model, reading=reading)

    return change
