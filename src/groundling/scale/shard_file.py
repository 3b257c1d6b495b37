"""Shard files, which are mapped into memory and evaluated without decoding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.features.feature_tables import LabelTables
from groundling.features.space import FeatureSpace
from groundling.models.base import Objective
from groundling.overlay.batch import Batch
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.layout import Arrangement, FlatLayout, GraphLayout
from groundling.overlay.potentials import PairTables
from groundling.overlay.scorer import Scorer
from groundling.scale.arrays import map_arrays, write_arrays
from groundling.scale.count_pass import renumber


class OpenShard(NamedTuple):
    """A shard that is mapped into memory and ready for evaluation."""

    scorer: Scorer
    parts: dict[str, NDArray[Any]]  # additional arrays for `Model.loss`
    weight: float  # total weight of the demonstrations


def write_shard(path: Path, objective: Objective, weight: float) -> None:
    """Write a shard file: the arrays from which an objective's loss is computed."""
    _write(path, _content(objective), {"weight": weight})


def write_own(path: Path, objective: Objective, weight: float) -> None:
    """Write a shard with its own numbering of features, and the names of the features."""
    space = objective.data.space
    note = {"weight": weight, "words": [*space.word_names], "nodes": [*space.node_names]}
    _write(path, _content(objective) | {"own/keys": space.keys}, note)


def number_features(own: Path, path: Path, space: FeatureSpace) -> None:
    """Rewrite a shard file with the numbering of features in the global space."""
    content, note = _read(own)
    shard = FeatureSpace(
        word_names={name: place for place, name in enumerate(note["words"])},
        node_names={name: place for place, name in enumerate(note["nodes"])},
        keys=content.pop("own/keys"),
    )
    tables = renumber(_group(LabelTables, "tables", content), space.translate(shard))
    _write(path, content | _named("tables", tables), {"weight": note["weight"]})


def open_shard(path: Path, space: FeatureSpace, skip: float) -> OpenShard:
    """Map a shard file into memory."""
    content, note = _read(path)
    encoding = Encoding(
        batch=_group(Batch, "batch", content),
        tables=_group(LabelTables, "tables", content),
        relations=content["relations"],
        space=space,
        sets=[],
        nodes=[],
        graphs=[],
    )
    arrangement = Arrangement(
        pairs=_group(PairTables, "pairs", content),
        layout=_group(
            FlatLayout if "layout/strip_block" in content else GraphLayout, "layout", content
        ),
    )
    parts = {
        name.removeprefix("parts/"): each
        for name, each in content.items()
        if name.startswith("parts/")
    }
    scorer = Scorer(encoding, skip=skip, arrangement=arrangement)
    return OpenShard(scorer, parts, note["weight"])


# A file has arrays, and a note with plain numbers; the functions below combine both.


def _content(objective: Objective) -> dict[str, Any]:
    encoding, arranged = objective.scorer.encoding, objective.scorer.arrangement
    content = {
        "relations": encoding.relations,
        **_named("batch", encoding.batch),
        **_named("tables", encoding.tables),
        **_named("pairs", arranged.pairs),
        **_named("layout", arranged.layout),
    }
    return content | {f"parts/{name}": each for name, each in objective.parts().items()}


def _named(group: str, held: Any) -> dict[str, Any]:
    return {f"{group}/{name}": each for name, each in held._asdict().items()}


def _group(kind: Any, group: str, content: Mapping[str, Any]) -> Any:
    return kind(**{name: content[f"{group}/{name}"] for name in kind._fields})


def _write(path: Path, content: Mapping[str, Any], note: Mapping[str, Any]) -> None:
    arrays = {name: each for name, each in content.items() if isinstance(each, np.ndarray)}
    numbers = {name: each for name, each in content.items() if name not in arrays}
    write_arrays(path, arrays, {**note, "numbers": numbers})


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays, note = map_arrays(path)
    return {**arrays, **note.pop("numbers")}, note
