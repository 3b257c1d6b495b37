"""Presets as TOML: the settings of a follower by name, and rows as changes of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.resources.abc import Traversable
from typing import Any

from groundling.features.lexicon import Lexicon
from groundling.models.base import Member, Model
from groundling.models.every import MODELS
from groundling.settings import Settings
from groundling.tasks.variants import FULL, Presets, PresetT

Table = Mapping[str, Any]


def read_presets(task: str, kind: type[PresetT], folder: Traversable) -> Presets[PresetT]:
    """Read `presets.toml` of a task: a table for each preset, and in it `rows` of changes.

    A table names what differs from the defaults, or from `like` (`default`, `flat` and `bag` are
    such), and a row what differs from the preset. Changed features are those of all members of an
    ensemble, and a member has the settings of the preset with some changes. Published figures are
    of one row each.

    >>> from importlib.resources import files
    >>> from groundling.tasks.mazes.maze_presets import MazePreset
    >>> mazes = read_presets("mazes", MazePreset, files("groundling.tasks.mazes"))
    >>> list(mazes), mazes.select("best", "no mirror").learning.augment
    (['paper', 'best', 'auto'], False)
    """
    tables = tomllib.loads((folder / "presets.toml").read_text(encoding="utf-8"))
    rows = {name: table.pop("rows", {}) for name, table in tables.items()}
    return Presets(
        task,
        {name: _changed(table, folder, kind()) for name, table in tables.items()},
        {
            name: {
                FULL: lambda given: given,
                **{row: partial(_row, changes, folder) for row, changes in found.items()},
            }
            for name, found in rows.items()
        },
    )


def _row(table: Table, folder: Traversable, given: PresetT) -> PresetT:
    return _changed(table, folder, replace(given, published={}))


def _changed(table: Table, folder: Traversable, given: PresetT) -> PresetT:
    made = replace(
        given,
        **{
            name: _value(getattr(given, name), value, folder)
            for name, value in table.items()
            if name != "model"
        },
    )
    if "model" in table:
        return replace(made, model=_model(table["model"], folder, made))
    if "features" in table and isinstance(members := getattr(made.model, "members", None), tuple):
        changed = tuple(
            replace(each, features=_value(each.features, table["features"], folder))
            for each in members
        )
        made = replace(made, model=replace(made.model, members=changed))  # type: ignore[call-arg]
    return made


def _value(known: Any, value: Any, folder: Traversable) -> Any:
    """Return a value of the file as a setting of the kind that is known."""
    if isinstance(known, Settings):
        table = dict(value)
        known = _begin(type(known), table, known)
        lexicon = table.get("lexicon")
        if isinstance(lexicon, Mapping):
            table["lexicon"] = Lexicon(**lexicon)
        elif str(lexicon).endswith(".txt"):
            table["lexicon"] = Lexicon.read(str(folder / str(lexicon)))
        return replace(known, **table)
    if isinstance(known, Mapping):
        return {**known, **value}
    return tuple(value) if isinstance(value, list) else value


def _begin(kind: type[Settings], table: dict[str, Any], known: Settings) -> Any:
    like = table.pop("like", "")
    return known if not like else kind() if like == "default" else getattr(kind, like)()


def _model(given: Table, folder: Traversable, preset: PresetT) -> Model:
    table = dict(given)
    kind = MODELS[table.pop("kind")]
    if "members" in table:
        table["members"] = tuple(
            Member(*(_value(getattr(preset, name), each.get(name, {}), folder)
                     for name in ("overlay", "features")))
            for each in table["members"]
        )  # fmt: skip
        table["model"] = _model(table["model"], folder, preset)
    made: Model = replace(_begin(kind, table, kind()), **table)
    return made
