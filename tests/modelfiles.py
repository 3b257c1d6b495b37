"""Model folders for tests, and changing them as somebody would who knows the format."""

import hashlib
import json

import pytest
from safetensors.numpy import load, save

from groundling import Follower
from groundling.errors import ModelFileError

FILES = ("manifest.json", "tables.json", "weights.safetensors")


def file_of(folder, name):
    """Return the file that holds a part of a model."""
    if name == "manifest.json":
        return folder / name
    stem, _, suffix = name.rpartition(".")
    [found] = folder.glob(f"{stem}*.{suffix}")
    return found


def own_sum(manifest):
    """Return the sum of a manifest, as the format has it."""
    sums = {name: each for name, each in manifest["sha256"].items() if name != "manifest.json"}
    text = json.dumps({**manifest, "sha256": sums}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def resign(folder, change=lambda manifest, tables, arrays: None, *, tables=None, weights=None):
    """Change the parts of a model as somebody who knows the format would: sums and all."""
    manifest = json.loads((folder / "manifest.json").read_text())
    places = {name: file_of(folder, name) for name in FILES[1:]}
    read = json.loads(places["tables.json"].read_bytes())
    arrays = dict(load(places["weights.safetensors"].read_bytes()))
    change(manifest, read, arrays)
    parts = {
        "tables.json": json.dumps(read).encode() if tables is None else tables,
        "weights.safetensors": save(arrays) if weights is None else weights,
    }
    write(folder, manifest, parts)


def write(folder, manifest, parts):
    """Write a manifest and parts, with fitting sums."""
    for name, data in parts.items():
        manifest["sha256"][name] = hashlib.sha256(data).hexdigest()
        for old in folder.glob(f"{name.partition('.')[0]}*"):
            old.unlink()
        stem, _, suffix = name.rpartition(".")
        shown = f"{stem}-{manifest['sha256'][name][:16]}.{suffix}"
        (folder / shown).write_bytes(data)
    manifest["sha256"]["manifest.json"] = own_sum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def refused(folder, words=""):
    """Check that a model is refused in one sentence; return it."""
    with pytest.raises(ModelFileError) as caught:
        Follower.load(folder)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 1000
    return message
