"""Every format that we read, changed at random and on purpose: our errors only, and no code runs.

The table `FORMATS` is the list of all of them; studio projects have tests of their own.
"""

import gzip
import json
import os
import pickle
import shutil
import sqlite3
import sys
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from PIL import Image
from safetensors.numpy import save

from groundling import Follower, GroundlingError
from groundling.cli.home import _replies
from groundling.corpora.download import read_note as read_download_note
from groundling.data import Demonstrations
from groundling.data.scene_world import SceneWorld
from groundling.errors import ConvergenceWarning, ModelFileError
from groundling.evaluation.report import Report, Row
from groundling.features.synonyms import WordVectors
from groundling.home import Home, read_home
from groundling.home.corpus import read_corpus as read_home_corpus
from groundling.home.knowledge import Knowledge
from groundling.home.templates import expand_templates
from groundling.language import Instruction, ParseCache, load_language
from groundling.language.languages import Language
from groundling.learning.checkpoints import Checkpoint, Recorder
from groundling.modelfolder import MANIFEST
from groundling.scale.arrays import map_arrays, write_arrays
from groundling.tasks import model_notes
from groundling.tasks.geoqa.corpus import load_maps
from groundling.tasks.gscan.corpus import read_corpus as read_gscan
from groundling.tasks.maps.scan import read_scan
from groundling.tasks.model_notes import Note
from tests.features.test_synonyms import as_fasttext
from tests.promises import test_bounded_hostile_files as hostile
from tests.promises.making import demonstrations, make_follower
from tests.promises.mutation import chances, changed_bytes, changed_values
from tests.promises.requests import WORLD
from tests.promises.soaking import SECONDS, folder_in_memory, note
from tests.tasks.geoqa.test_geoqa import FILES as GEOQA
from tests.tasks.gscan.test_gscan import EXAMPLE as GSCAN
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


HOME = b"""
floors: [{id: up, name: Upstairs}]
areas: [{id: kitchen, name: Kitchen, floor: up, aliases: [Cookhouse]}]
entities:
  - {id: light.a, name: Lamp, area: kitchen, state: on, attributes: {brightness: 128}}
  - {id: sensor.t, name: "Au\xc3\x9fen", state: 21.5}
timers: [{name: pizza, area: kitchen, start_minutes: 5, rounded_minutes_left: 3}]
"""
HOMES = {
    "tests/en/_fixtures.yaml": HOME.replace(b"Lamp", b'"[Big ](Lamp|Light)"'),
    "tests/en/light_HassTurnOn.yaml": b"""
language: en
tests:
  - sentences: [turn on the lamp, light the lamp]
    intent: {name: HassTurnOn, slots: {name: Big Lamp}, context: {area: Kitchen}}
  - sentences: [pause the pizza timer]
    intent: {name: HassPauseTimer, slots: {name: [pizza, pizza ], start_minutes: 5}}
""",
    "intents.yaml": b"HassTurnOn: {domain: homeassistant, slot_combinations: {name_only: {}}}",
    "sentences/en/_common.yaml": b"""
lists:
  brightness: {range: {from: 0, to: 100}}
  word: {values: [{in: "warm[er]", out: warm}, cold]}
expansion_rules: {lamp: "[the] <name>", name: "[the] {name}", set: "(set|change)"}
""",
    "sentences/en/light_HassTurnOn.yaml": b"""
intents:
  HassTurnOn:
    data:
      - sentences: ["turn on <lamp>", "<set> {name} [to] {word}"]
        requires_context: {domain: light}
  HassLightSet:
    data: [{sentences: ["set <name> to {brightness}"], name_domains: [light]}]
""",
}


def read_sentences(path):
    return read_home_corpus(path_of(path))


def read_templates(path):
    return expand_templates(path_of(path), homes=[Home.from_data(ROOMS)], count=8)


def path_of(path):
    """Return the corpora that a file of the home corpus is in."""
    return next(each for each in path.parents if each.name == "home").parent


ROOMS = {
    "areas": [{"id": "kitchen", "name": "Kitchen"}],
    "entities": [{"id": "light.a", "name": "Lamp", "area": "kitchen", "state": "off"}],
}


REGISTRIES = {
    "entity": {"entities": [
        {"entity_id": "light.a", "name": "Lamp", "area_id": "kitchen", "device_id": "d",
         "aliases": ["Light"], "original_device_class": None},
        {"entity_id": "switch.b", "original_name": "Plug", "has_entity_name": True,
         "device_id": "d", "hidden_by": None}]},
    "area": {"areas": [{"id": "kitchen", "name": "Kitchen", "floor_id": "up", "aliases": []}]},
    "floor": {"floors": [{"floor_id": "up", "name": "Upstairs", "aliases": ["Top"]}]},
    "device": {"devices": [{"id": "d", "name": "Box", "name_by_user": None, "area_id": "kitchen"}]},
}  # fmt: skip
STATES = {"data": [{"state": {"entity_id": "light.a", "state": "on", "attributes": {
    "brightness": 128, "supported_color_modes": ["brightness"]}}}]}  # fmt: skip


def registries(folder):
    """Yield the files that Home Assistant keeps of a home."""
    folder.mkdir()
    written = {f"core.{name}_registry": {"data": rows} for name, rows in REGISTRIES.items()}
    for name, content in {**written, "core.restore_state": STATES}.items():
        (folder / name).write_text(json.dumps(content))
        yield f"home: {name}", (folder / name, lambda path: read_home(path.parent))


PLANS = {}  # of commands that were followed before: what is tried here is how files are read


def follow_once(self, text, world, state):
    key = (str(text), world.home, state)
    if key not in PLANS:
        PLANS[key] = FOLLOW(self, text, world, state)
    return PLANS[key]


FOLLOW = Follower.follow


def read_requests(path):
    bad = []
    with patch.object(Follower, "follow", follow_once):
        replies = list(_replies(path, None, "", bad))
    for sentence in bad:
        hostile.one_sentence(sentence)
    return replies


def homes(folder):
    """Yield the files of homes with their names and what reads them."""
    path = folder / "home.yaml"
    path.write_bytes(HOME)
    yield "home", (path, read_home)
    phrases = folder / "home.phrases.yaml"
    phrases.write_bytes(b"phrases: [{phrase: movie time, does: [turn off the lamp, dim]}]")
    yield "home: phrases", (phrases, lambda path: read_home(path.with_name("home.yaml")))
    asked = {"home": str(path), "text": "turn on the lamp", "area": "kitchen",
             "states": {"light.a": {"state": "off", "attributes": {"brightness": 1}}}}  # fmt: skip
    (folder / "requests.jsonl").write_text(f"{json.dumps(asked)}\n" * 2)
    yield "home: requests", (folder / "requests.jsonl", read_requests)
    words = folder / "words.json"
    words.write_text(Knowledge({"blinds": 2}, {"blinds": {"cover:blind": 1.0}}).to_json())
    yield "home: words.json", (words, lambda path: Knowledge.from_json(path.read_bytes()))
    yield from registries(folder / "registries")
    for name, content in HOMES.items():
        path = folder / "corpora" / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        reader = read_templates if name.startswith("sentences") else read_sentences
        yield f"home: {name}", (path, reader)


def results(folder):
    """Yield files that commands leave for themselves and for others."""
    Report("mazes", "best", "one map left out", [Row("full", {"f1": 0.5})], 1.0, "1").save(
        folder / "report.json"
    )
    yield "report", (folder / "report.json", Report.read)
    language = Language("elvish", numerals={"tad": 2}, plurals=(("in", ""),), stop_words=("i",))
    (folder / "elvish.json").write_text(json.dumps(language.to_dict()))
    yield "language", (folder / "elvish.json", read_language)
    (folder / "note.json").write_text(json.dumps(Note("mazes", "best", "tree").to_dict()))
    yield "note of a training", (folder / "note.json", model_notes._read_note)
    (folder / "part.json").write_text(json.dumps({"url": "https://a", "etag": "b"}))
    yield "note of a download", (folder / "part.json", read_download_note)
    Image.new("L", (40, 30), 200).save(folder / "scan.png")
    yield "scan", (folder / "scan.png", read_scan)
    numbers = np.arange(6, dtype="<f4").reshape(3, 2)
    named = list(zip((b"sofa", b"couch", b"lamp"), numbers, strict=True))
    listed = b"".join(b"%s %f %f\n" % (word, *vector) for word, vector in named)
    packed = b"".join(b"%s %s\n" % (word, vector.tobytes()) for word, vector in named)
    trained = as_fasttext({word.decode(): vector for word, vector in named}, buckets=9)
    kinds = {"text": b"3 2\n" + listed, "binary": b"3 2\n" + packed, "fasttext": trained}
    for kind, content in kinds.items():
        path = folder / f"vectors.{kind}"
        path.write_bytes(content)
        yield f"vectors: {kind}", (path, read_vectors)
    yield "scene", (SceneWorld(WORLD).save(folder / "yard.json"), read_scene)


def read_vectors(path):
    vectors = WordVectors(path)
    return [vectors.nearest(word, {"sofa", "lamp"}) for word in ("couch", "\ud800", "sofas")]


def read_scene(path):
    world = SceneWorld.load(path)
    return [world.draw(each) for each in world.starts.values()]


def read_language(path):
    found = Language.read(path)
    return found.numeral("twenty-two"), found.ordinal("2nd"), found.stems("edhelin"), hash(found)


def questions(folder):
    """Yield the files of GeoQA and gSCAN with their names and what reads them."""
    for each in ("first", "second"):
        for name, content in GEOQA.items():
            path = folder / "corpora" / "geoqa" / each / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    for name in GEOQA:
        path = folder / "corpora" / "geoqa" / "second" / name
        yield f"geoqa: {name}", (path, lambda path: load_maps(path.parents[1]))
    path = folder / "corpora" / "examples.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(GSCAN).encode()))
    yield "gscan: jsonl.gz", (path, read_gscan)


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
    found |= dict(questions(folder))
    found |= dict(homes(folder))
    found |= dict(results(folder))
    return found


FORMATS = (
    "jsonl", "jsonl.gz", "parquet",
    "model: manifest", "model: .json", "model: .safetensors",
    "checkpoint", "checkpoint: evaluations", "shard", "parse cache",
    "home", *(f"home: {name}" for name in HOMES),
    "home: phrases", "home: requests", "home: words.json",
    *(f"home: core.{name}_registry" for name in REGISTRIES), "home: core.restore_state",
    "report", "language", "note of a training", "note of a download", "scan", "scene",
    "vectors: text", "vectors: binary", "vectors: fasttext",
    *(f"geoqa: {name}" for name in GEOQA), "gscan: jsonl.gz",
    *(f"corpora: {name}" for name, _, _ in hostile.kinds_of_files()),
)  # fmt: skip


@pytest.fixture(scope="module")
def samples():
    with folder_in_memory() as folder:
        yield sample(Path(folder))


@pytest.fixture(scope="module")
def model():
    with folder_in_memory() as folder, warnings.catch_warnings():
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


def changed(name, data, chance, number):
    """Return the content of a file with some bytes changed, or some of the values in it."""
    if name.endswith("jsonl.gz") and number % 2:
        return gzip.compress(changed("jsonl", gzip.decompress(data), chance, number // 2), 1)
    if number % 2 and (values := values_of(name, data)) is not None:
        return b"\n".join(json.dumps(each).encode() for each in changed_values(values, chance))
    return changed_bytes(data, chance)


@cache
def values_of(name, data):
    """Return the documents in a file of JSON or YAML, if it is one."""
    if name in ("jsonl", "home: requests"):
        return [json.loads(line) for line in data.splitlines()]
    if name.startswith("home"):
        return [yaml.safe_load(data)]
    return [json.loads(data)] if data[:1] == b"{" else None


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
            path.write_bytes(changed(name, data, chance, number))
            with watch:
                try:
                    reader(path)
                    read += 1
                except GroundlingError as error:
                    hostile.one_sentence(error)
    finally:
        path.write_bytes(data)
    assert watch.megabytes < 300
    note(**{f"files: {name}": {
        "changed": EACH, "read": read, "seconds_at_most": round(watch.longest, 3),
        "megabytes": round(watch.megabytes)}})  # fmt: skip


DEEP = 100_000
ODD_CONTENTS = {
    "nothing": b"", "zeros": bytes(1000), "a newline": b"\n", "a mark of UTF-8": b"\xef\xbb\xbf",
    "UTF-16": "\ufeff{\"text\": \"go\"}".encode("utf-16-le"), "latin-1": b'{"text": "caf\xe9"}',
    "lists": b"[" * DEEP, "closed lists": b"[" * DEEP + b"]" * DEEP, "objects": b'{"a":' * DEEP,
    "closed objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP, "indents": b"- " * DEEP,
    "mappings": b"".join(b" " * n + b"a:\n" for n in range(2000)), "anchors": b"&a [*a, *a]",
    "tags": b"!!python/object/apply:os.system [ls]", "brackets": b"(" * DEEP,
    "elements": b"<a>" * DEEP,
    "digits": b"9" * 5000, "a number": b'{"start": ' + b"9" * 5000 + b"}", "NaN": b'{"start": NaN}',
    "infinity": b'{"weight": 1e999}', "null": b"null", "true": b"true", "text": b'"text"',
    "a surrogate": b'{"text": "\\ud800"}', "a key twice": b'{"text": "a", "text": []}',
    "NUL": b'{"text": "\\u0000"}', "a gzip": gzip.compress(b"[" * DEEP), "half a gzip":
    gzip.compress(bytes(DEEP))[:60], "two gzips": gzip.compress(b"") * 1000, "a size":
    b"\xff" * 8 + b"{}", "a small size": (DEEP).to_bytes(8, "little") + b"{" * DEEP,
}  # fmt: skip


@pytest.mark.parametrize("file", FORMATS, indirect=True)
def test_formats_of_odd_contents_raise_our_errors_only(file):
    name, path, reader = file
    if "all." not in name:  # archives hold other sums than those of the corpora
        reader(path)
    data, watch = path.read_bytes(), hostile.Watch()
    try:
        for content in ODD_CONTENTS.values():
            for changed in (content, data + content, data.replace(b"1", content[:20_000], 1)):
                path.write_bytes(changed)
                with watch:
                    refuse_or_read(reader, path)
    finally:
        path.write_bytes(data)
    assert watch.longest < 5


@pytest.mark.parametrize(
    "file", [each for each in FORMATS if each != "home: words.json"], indirect=True
)  # which is part of a model, and is given to its reader as bytes
def test_formats_of_odd_paths_raise_our_errors_only(file, tmp_path):
    _, path, reader = file
    kept = shutil.move(path, tmp_path / "kept")
    try:
        refuse_or_read(reader, path)
        for make in (
            path.mkdir,
            lambda: os.mkfifo(path),
            lambda: path.symlink_to("/dev/zero"),
            lambda: path.symlink_to(path.name),
        ):
            make()
            try:
                refuse_or_read(reader, path)
            finally:
                path.rmdir() if path.is_dir() else path.unlink()
    finally:
        shutil.move(kept, path)


def refuse_or_read(reader, path):
    """Read a file; an error must be ours, in one sentence."""
    try:
        reader(path)
    except GroundlingError as error:
        hostile.one_sentence(error)


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
    if name.endswith("jsonl.gz"):
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
    with pytest.raises(ModelFileError, match="must be a regular file"):
        Checkpoint(tmp_path, fingerprint="mine").load("0", 3)
