"""Model files: a folder with a manifest, tables and weights; no code in it, and none run.

- `manifest.json`: format, version, settings, the SHA-256 sums of the other files and of itself;
- `tables.json`: names of labels, lexicon, values, word counts;
- `weights.safetensors`: θ and the keys of its features, and those of partners.

The manifest is written last, so a folder without a fitting manifest is not a model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
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
from groundling.files import write_atomically
from groundling.learning.lengths import LengthModel

__all__ = ["FORMAT", "VERSION", "SavedModel", "SavedPart", "load_model", "save_model"]

FORMAT = "groundling-model"
VERSION = 2  # 1 had no partners
_MOST_BYTES = 2_000_000_000
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
    files = {
        "tables.json": json.dumps(tables, ensure_ascii=False).encode(),
        "weights.safetensors": save(arrays),
    }
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "groundling": __version__,
        "settings": settings,
        "loss": loss,
        "temperature": temperature,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    manifest["sha256"]["manifest.json"] = _own_sum(manifest)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_atomically(folder / name, data)
    write_atomically(folder / "manifest.json", json.dumps(manifest, indent=1))
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
    manifest = _manifest(folder)
    data = {}
    for name in ("tables.json", "weights.safetensors"):
        data[name] = _read(folder / name)
        if hashlib.sha256(data[name]).hexdigest() != manifest["sha256"].get(name):
            raise ModelFileError(
                f"{folder / name} does not match the manifest beside it: it is damaged, or of "
                "another save. Save the follower again."
            )
    try:
        return _build(manifest, json.loads(data["tables.json"]), load(data["weights.safetensors"]),
                      joins)  # fmt: skip
    except (SettingError, ModelFileError):
        raise
    except _BROKEN as error:
        raise ModelFileError(
            f"The model in {folder} cannot be read ({type(error).__name__}: {error}). "
            "Save the follower again."
        ) from error


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.is_file():
        raise ModelFileError(f"{folder} holds no model: there is no manifest.json in it.")
    try:
        manifest = json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not JSON ({error}). Save the follower again.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not the manifest of a Groundling model.")
    version = manifest.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ModelFileError(
            f"The model in {folder} has format version {version}; this Groundling reads up to "
            f"{VERSION}. Update Groundling to {manifest.get('groundling', 'a newer version')}."
        )
    if not isinstance(manifest.get("sha256"), dict):
        raise ModelFileError(f"{path} lists no checksums. Save the follower again.")
    if manifest["sha256"].get("manifest.json") != _own_sum(manifest):
        raise ModelFileError(
            f"{path} does not match its own checksum: it is damaged or was edited. "
            "Save the follower again."
        )
    return manifest


def _own_sum(manifest: dict[str, Any]) -> str:
    """Return the checksum of a manifest, all but its own entry."""
    sums = {name: each for name, each in manifest["sha256"].items() if name != "manifest.json"}
    text = json.dumps({**manifest, "sha256": sums}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ModelFileError(f"{path} is larger than any model of ours; it is not read.")
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error}.") from error


def _build(
    manifest: dict[str, Any],
    tables: dict[str, Any],
    arrays: dict[str, Any],
    joins: tuple[JoiningFunction, ...],
) -> SavedModel:
    own = {f"own:{name_of(function)}": function for function in joins}
    kept = tables["lexicon"]
    lexicon = Lexicon(
        given={word: [tuple(pair) for pair in pairs] for word, pairs in kept["given"].items()},
        learnt={
            word: {(kind, value): float(extent) for kind, value, extent in pairs}
            for word, pairs in kept["learnt"].items()
        },
        string_match=bool(kept["string_match"]),
    )
    parts = [
        _part(each, arrays[f"theta{number or ''}"], arrays[f"keys{number or ''}"], lexicon, own)
        for number, each in enumerate([tables, *tables.get("partners", ())])
    ]
    temperature = float(manifest["temperature"])
    if not 0 < temperature < np.inf:
        raise ValueError(f"the temperature is {temperature}")
    lengths = LengthModel(
        {
            int(units): {int(n): int(c) for n, c in counts.items()}
            for units, counts in tables["lengths"]["counts"].items()
        },
        int(tables["lengths"]["longest"]),
    )
    return SavedModel(
        settings=manifest["settings"],
        parts=parts,
        lexicon=lexicon,
        lengths=lengths,
        loss=float(manifest["loss"]),
        temperature=temperature,
    )


def _part(
    tables: dict[str, Any],
    theta: Reals,
    keys: NDArray[np.int64],
    lexicon: Lexicon,
    own: dict[str, JoiningFunction],
) -> SavedPart:
    chosen = []
    for name in tables["features"].pop("joins"):
        if name.startswith("own:") and name not in own:
            raise SettingError(
                f"The follower was trained with the joining function {name[4:]!r} of your own. "
                "Pass it to Follower.load(…, joins=[…])."
            )
        chosen.append(own.get(name, name))
    features = Features(joins=tuple(chosen), lexicon=lexicon, **tables["features"])
    space = features.space()
    space.word_names = {str(name): place for place, name in enumerate(tables["word_names"])}
    space.node_names = {str(name): place for place, name in enumerate(tables["node_names"])}
    space.keys = np.ascontiguousarray(keys, dtype=np.int64)
    theta = np.ascontiguousarray(theta, dtype=np.float64)
    if (
        theta.shape != space.keys.shape
        or not np.isfinite(theta).all()
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
        values={kind: set(values) for kind, values in tables["values"].items()},
        counts={word: int(count) for word, count in tables["counts"].items()},
        context_words=frozenset(map(str, tables["context_words"])),
    )
