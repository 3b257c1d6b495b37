"""Every format that we read, changed at random and on purpose: our errors only, and no code runs.

The table `FORMATS` is the list of all of them; studio projects have tests of their own.
"""

import gzip
import json
import pickle
import sqlite3
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from groundling import Follower, GroundlingError
from groundling.data import Demonstrations
from groundling.errors import ConvergenceWarning, ModelFileError
from groundling.language import Instruction, ParseCache, load_language
from groundling.learning.checkpoints import Checkpoint, Recorder
from groundling.modelfolder import MANIFEST
from groundling.scale.arrays import map_arrays, write_arrays
from tests.promises import test_bounded_hostile_files as hostile
from tests.promises.making import demonstrations, make_follower
from tests.promises.mutation import chances, changed_bytes
from tests.promises.soaking import SECONDS, note
from tests.worlds import Line

EACH = 20_000 if SECONDS else 60  # files of each format
LINE = Line(4, {1: "lamp", 2: "sofa"})


def read_demonstrations(path):
    return list(Demonstrations.read(path, worlds={"Line": LINE}))


def read_model(path):
    return Follower.load(path.parent)


def read_state(path):
    return Checkpoint(path.parent, fingerprint="mine").load("0", 3)


def read_evaluations(path):
    recorder = Recorder(
        Checkpoint(path.parent, fingerprint="mine"), "1", lambda theta: (0.0, theta)
    )
    return recorder.loss(np.ones(3))


def read_parses(path):
    found = ParseCache(path.parent).get("chain", ["go left", "go right"])
    return [each for parses in found.values() for each in parses]


def sample(folder):
    """Write a file of each format; return by name the path and what reads it."""
    found = {}
    for ending in ("jsonl", "jsonl.gz", "parquet"):
        shown = [replace(each, environment=LINE) for each in demonstrations()]
        [path] = Demonstrations(shown).write(folder / f"shown.{ending}")
        found[ending] = (path, read_demonstrations)
    states = folder / "states"
    Checkpoint(states, 1, "mine").save("0", 1.5, np.arange(3.0), False)
    recorder = Recorder(Checkpoint(states, 1, "mine"), "1", lambda theta: (0.0, theta))
    recorder.loss(np.ones(3))
    recorder.iterated()
    found["checkpoint"] = (states / "state-0.safetensors", read_state)
    found["checkpoint: evaluations"] = (states / "state-1.0.safetensors", read_evaluations)
    write_arrays(folder / "shard", {"a": np.arange(6.0), "b": np.ones(3, bool)}, {"weight": 1.0})
    found["shard"] = (folder / "shard", map_arrays)
    cache = folder / "cache"
    ParseCache(cache).put("chain", {"go left": [Instruction.chain("go left")]})
    found["parse cache"] = (cache / "parses.sqlite3", read_parses)
    for name, data, reader in hostile.kinds_of_files():
        path = folder / "corpora" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        found[f"corpora: {name}"] = (path, reader)
    return found


FORMATS = (
    "jsonl", "jsonl.gz", "parquet",
    "model: manifest", "model: .json", "model: .safetensors",
    "checkpoint", "checkpoint: evaluations", "shard", "parse cache",
    *(f"corpora: {name}" for name, _, _ in hostile.kinds_of_files()),
)  # fmt: skip


@pytest.fixture(scope="module")
def samples():
    with tempfile.TemporaryDirectory() as folder:
        yield sample(Path(folder))


@pytest.fixture(scope="module")
def model():
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = {}
        for part in sorted(make_follower().fit(demonstrations()).save(folder).iterdir()):
            kind = "manifest" if part.name == MANIFEST else part.suffix
            found[f"model: {kind}"] = (part, read_model)
        yield found


@pytest.fixture
def file(request):
    """The file of a format, and what reads it."""
    which = "model" if request.param.startswith("model") else "samples"
    return request.param, *request.getfixturevalue(which)[request.param]


def test_formats_are_all_in_the_table(samples, model):
    assert {*samples, *model} == set(FORMATS)


@pytest.mark.parametrize("file", FORMATS, indirect=True)
def test_formats_changed_at_random_raise_our_errors_only(file):
    name, path, reader = file
    if "all." not in name:  # archives hold other sums than those of the corpora
        reader(path)
    data, read = path.read_bytes(), 0
    watch = hostile.Watch()
    try:
        for number, chance in chances(name):
            if number == EACH:
                break
            whole = gzip.decompress(data) if name == "jsonl.gz" and number % 2 else data
            changed = changed_bytes(whole, chance)
            path.write_bytes(gzip.compress(changed, 1) if whole is not data else changed)
            with watch:
                try:
                    reader(path)
                    read += 1
                except GroundlingError as error:
                    hostile.one_sentence(error)
    finally:
        path.write_bytes(data)
    assert watch.megabytes < 300
    note(**{f"mutated files, {name}": EACH, f"mutated files that are read, {name}": read})


# ---- on purpose -------------------------------------------------------------------------

DANGEROUS = {"os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork",
             "pickle.find_class"}  # fmt: skip
_seen: list[str] | None = None


def _hook(event, arguments):
    if _seen is not None and (
        event in DANGEROUS
        or (event == "import" and str(arguments[0]).startswith("groundling_trap"))
    ):
        _seen.append(event)


sys.addaudithook(_hook)


class Trap:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def payloads(mark):
    """Yield contents that would run something in a reader that trusts them."""
    yield pickle.dumps(Trap(mark))
    call = f"open({str(mark)!r}, 'w')"
    names = ("groundling_trap:Trap", "groundling_trap.Trap", "subprocess:getoutput", "os.system",
             f"__import__('os').system('touch {mark}')")  # fmt: skip
    for name in names:
        for value in (
            {"text": "go", "world": name, "start": 1, "actions": []},
            {"text": "go", "world": {name: {"cmd": f"touch {mark}"}}, "start": 1, "actions": []},
            {
                "text": "go",
                "world": "Line",
                "start": {name: {"cmd": f"touch {mark}"}},
                "actions": [],
            },
            {"text": "go", "world": "Line", "start": {"py/object": name}, "actions": [{name: [1]}]},
            {"__class__": name, "__reduce__": [name, [str(mark)]], "$type": name},
        ):
            yield json.dumps(value).encode()
    yield f"!!python/object/apply:os.system ['touch {mark}']".encode()
    yield f"{call}\n".encode()
    yield (
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{mark}">]><?php system("touch {mark}")?><a>&x;</a>'
    ).encode()


@pytest.mark.parametrize("file", FORMATS, indirect=True)
def test_formats_run_no_code(file, tmp_path, monkeypatch):
    global _seen
    name, path, reader = file
    mark = tmp_path / "it ran"
    run = f"open({str(mark)!r}, 'w')"
    (tmp_path / "groundling_trap.py").write_text(f"{run}\ndef Trap(**_): {run}\n")
    monkeypatch.syspath_prepend(tmp_path)
    data = path.read_bytes()
    try:
        for content in payloads(mark):
            for written in (content, data + content, content + data, *inside(name, content, path)):
                path.write_bytes(written)
                _seen = []
                try:
                    reader(path)
                except GroundlingError as error:
                    hostile.one_sentence(error)
                finally:
                    happened, _seen = _seen, None
                assert not happened, (written[:200], happened)
                assert not mark.exists(), written[:200]
    finally:
        path.write_bytes(data)


def inside(name, content, path):
    """Yield files that are sound of their kind, with a content inside."""
    text = content.decode("utf-8", "replace").replace("\ufffd", "?")
    if name == "jsonl.gz":
        yield gzip.compress(content)
    elif name == "parquet":
        import pyarrow
        from pyarrow.parquet import write_table

        table = pyarrow.table({"text": ["go"], "start": [text], "actions": ["[]"], "world": [text]})
        write_table(table.replace_schema_metadata({"format": text, "pandas": text}), path)
        yield path.read_bytes()
    elif name.startswith(("checkpoint", "model: .safe", "shard")):
        arrays = {"theta": np.zeros(3), text[:50]: np.zeros(1)}
        note = {"loss": text, "done": text, "fingerprint": "mine", "note": text, "views": text}
        yield save(arrays, metadata=note)
    elif name == "parse cache":
        path.unlink()
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE parses (parser TEXT, text TEXT, parses TEXT)")
            connection.execute("INSERT INTO parses VALUES ('chain', ?, ?)", (text, text))
        connection.close()
        yield path.read_bytes()


def test_formats_of_languages_are_read_by_name_only(tmp_path):
    (tmp_path / "trap.json").write_text("{}")
    for name in (str(tmp_path / "trap"), "../../etc/passwd", "groundling_trap:Trap", "os"):
        with pytest.raises(GroundlingError):
            load_language(name)


def test_formats_that_are_no_files_are_refused(tmp_path):
    (tmp_path / "state-0.safetensors").symlink_to("/dev/zero")
    with pytest.raises(ModelFileError, match="not a plain file"):
        Checkpoint(tmp_path, fingerprint="mine").load("0", 3)
