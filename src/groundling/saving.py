"""Saved models: from what was learnt to the parts of a model folder, and back.

- `tables`: names of labels, lexicon, values, word counts, as JSON;
- `weights`: θ and the keys of its features, and those of partners, as safetensors.

How they lie on disk is told in `groundling.modelfolder`. No code is in them, and none is run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from groundling.errors import ModelFileError, SettingError
from groundling.features.lexicon import Lexicon
from groundling.features.settings import Features
from groundling.features.space import FeatureSpace, JoiningFunction, name_of
from groundling.learning.lengths import LengthModel
from groundling.modelfolder import read_folder, read_json, write_folder
from groundling.trust import build, check_settings

__all__ = ["SavedModel", "SavedPart", "load_model", "save_model"]

_MOST_OF_HEADER = 1_000_000  # bytes of names and shapes before the weights
_MOST_WEIGHT = 1e30  # beyond, sums overflow
# What reading a file that is not as we wrote it may end in.
_BROKEN = (
    LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError,
    SafetensorError,
)  # fmt: skip

Reals = NDArray[np.float64]


@dataclass
class SavedPart:
    """One overlay of a model: its features, their weights, and what its words were."""

    features: Features
    space: FeatureSpace
    theta: Reals
    values: dict[str, set[str]]
    counts: dict[str, int]
    context_words: frozenset[str]


@dataclass
class SavedModel:
    """What a model folder holds; the first part is the follower's own."""

    settings: dict[str, Any]
    parts: list[SavedPart]
    lexicon: Lexicon
    lengths: LengthModel
    loss: float
    temperature: float


def save_model(
    folder: Path,
    *,
    settings: dict[str, Any],
    parts: Sequence[SavedPart],
    lexicon: Lexicon,
    lengths: LengthModel,
    loss: float,
    temperature: float,
    note: Mapping[str, Any] | None = None,
) -> Path:
    """Write a model; an older one in the same folder is replaced only when all is written."""
    from groundling import __version__

    tables = {
        **_tables(parts[0]),
        "lexicon": {
            "given": {word: list(pairs) for word, pairs in lexicon.given.items()},
            "learnt": {
                word: [[kind, value, extent] for (kind, value), extent in pairs.items()]
                for word, pairs in lexicon.learnt.items()
            },
            "string_match": lexicon.string_match,
        },
        "lengths": {
            "counts": {
                str(k): {str(n): c for n, c in v.items()} for k, v in lengths.counts.items()
            },
            "longest": lengths.longest,
        },
        "partners": [_tables(part) for part in parts[1:]],
    }
    arrays: dict[str, NDArray[Any]] = {}
    for number, part in enumerate(parts):
        arrays |= {f"theta{number or ''}": part.theta, f"keys{number or ''}": part.space.keys}
    parts_of_file = {
        "tables.json": json.dumps(tables, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        "weights.safetensors": save(arrays),
    }
    manifest = {
        "groundling": __version__,
        "settings": settings,
        "loss": loss,
        "temperature": temperature,
    }
    write_folder(folder, manifest, parts_of_file, note)
    return folder


def _tables(part: SavedPart) -> dict[str, Any]:
    features, space = part.features, part.space
    plain = {
        name: getattr(features, name)
        for name in Features.__dataclass_fields__
        if name not in ("joins", "lexicon")
    }
    plain["joins"] = [j if isinstance(j, str) else f"own:{name_of(j)}" for j in features.joins]
    return {
        "features": plain,
        "word_names": list(space.word_names),
        "node_names": list(space.node_names),
        "values": {kind: sorted(known) for kind, known in part.values.items()},
        "counts": part.counts,
        "context_words": sorted(part.context_words),
    }


def load_model(folder: Path, joins: tuple[JoiningFunction, ...] = ()) -> SavedModel:
    """Read a model, refusing anything that is not whole, ours and of a version we know."""
    manifest, data = read_folder(folder, ("tables.json", "weights.safetensors"))
    tables = read_json(data["tables.json"], folder / "tables.json")
    try:
        arrays = _arrays(data["weights.safetensors"])
        return _build(manifest, tables, arrays, joins)
    except (SettingError, ModelFileError):
        raise
    except _BROKEN as error:
        raise ModelFileError(
            f"The model in {folder} cannot be read ({type(error).__name__}: {str(error)[:200]}). "
            "Save the follower again."
        ) from error


def _arrays(data: bytes) -> dict[str, Any]:
    """Return the arrays of the weights, after a look at how many they claim to be."""
    if int.from_bytes(data[:8], "little") > _MOST_OF_HEADER:
        raise ValueError("the weights list far too many arrays")
    found: dict[str, Any] = load(data)
    for name, array in found.items():
        if array.ndim != 1 or array.dtype not in (np.float64, np.int64):
            raise ValueError(f"the array {name[:40]!r} has {array.ndim} axes of {array.dtype}")
    return found


def _build(
    manifest: dict[str, Any],
    tables: dict[str, Any],
    arrays: dict[str, Any],
    joins: tuple[JoiningFunction, ...],
) -> SavedModel:
    own = {f"own:{name_of(function)}": function for function in joins}
    check_settings(manifest["settings"])
    check_settings({"temperature": manifest["temperature"], "loss": manifest["loss"]})
    kept = tables["lexicon"]
    lexicon = Lexicon(
        given={word: [tuple(pair) for pair in pairs] for word, pairs in kept["given"].items()},
        learnt={
            word: {(_text(kind), _text(value)): float(extent) for kind, value, extent in pairs}
            for word, pairs in kept["learnt"].items()
        },
        string_match=bool(kept["string_match"]),
    )
    parts = [
        _part(each, arrays[f"theta{number or ''}"], arrays[f"keys{number or ''}"], lexicon, own)
        for number, each in enumerate([tables, *tables.get("partners", ())])
    ]
    lengths = LengthModel(
        {
            _count(units): {_count(n): _count(c) for n, c in counts.items()}
            for units, counts in tables["lengths"]["counts"].items()
        },
        _count(tables["lengths"]["longest"]),
    )
    return SavedModel(
        settings=manifest["settings"],
        parts=parts,
        lexicon=lexicon,
        lengths=lengths,
        loss=float(manifest["loss"]),
        temperature=float(manifest["temperature"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!r} stands where a text should")
    return value


def _count(value: Any) -> int:
    number = int(value)
    if not 0 <= number <= 10**9:
        raise ValueError(f"{number} stands where a count should")
    return number


def _part(
    tables: dict[str, Any],
    theta: Reals,
    keys: NDArray[np.int64],
    lexicon: Lexicon,
    own: dict[str, JoiningFunction],
) -> SavedPart:
    kept, chosen = dict(tables["features"]), []
    check_settings(kept)
    for name in kept.pop("joins"):
        if name.startswith("own:") and name not in own:
            raise SettingError(
                f"The follower was trained with the joining function {name[4:]!r} of your own. "
                "Pass it to Follower.load(…, joins=[…])."
            )
        chosen.append(own.get(name, name))
    features = replace(build(Features, kept), joins=tuple(chosen), lexicon=lexicon)
    space = features.space()
    space.word_names = {str(name): place for place, name in enumerate(tables["word_names"])}
    space.node_names = {str(name): place for place, name in enumerate(tables["node_names"])}
    space.keys = np.ascontiguousarray(keys, dtype=np.int64)
    theta = np.ascontiguousarray(theta, dtype=np.float64)
    if (
        theta.shape != space.keys.shape
        or not (np.abs(theta) <= _MOST_WEIGHT).all()
        or not (np.diff(space.keys) > 0).all()
        or len(space.word_names) != len(tables["word_names"])
        or len(space.node_names) != len(tables["node_names"])
    ):
        raise ValueError("the weights do not fit the features")
    space.names()  # every key must name known labels
    return SavedPart(
        features=features,
        space=space,
        theta=theta,
        values={kind: set(map(_text, values)) for kind, values in tables["values"].items()},
        counts={word: _count(count) for word, count in tables["counts"].items()},
        context_words=frozenset(map(str, tables["context_words"])),
    )
