"""Models and corpora that anybody may have changed: refused or read, soon, in little room."""

import json
import math
import resource
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from groundling import Follower, GroundlingError, Lexicon
from groundling.corpora.archive import read_source
from groundling.errors import ModelFileError
from groundling.language import read_conllu
from groundling.tasks.maps.corpus import read_correspondences, read_map, read_transcript
from groundling.tasks.mazes.maze_files import read_examples, read_maze
from groundling.tasks.puzzles.corpus import read_corpus
from tests.modelfiles import FILES, file_of, refused, resign, write
from tests.promises.making import answer, requests
from tests.promises.mutation import chances, changed_bytes, changed_values
from tests.promises.soaking import SECONDS, folder_in_memory, note

MODELS = 20_000 if SECONDS else 150
CORPORA = 20_000 if SECONDS else 600
PATIENCE = 20.0  # seconds; far more than that of the promise, as kernels may be compiled in it


@pytest.fixture
def room():
    """A folder in memory, where thousands of small files cost little."""
    with folder_in_memory() as folder:
        yield Path(folder)


class Watch:
    """Ends what takes too long; knows how long the longest took, and the most memory."""

    def __init__(self):
        self.longest = 0.0
        self.before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def __enter__(self):
        # Processor time: on a busy machine the clock on the wall says nothing.
        signal.signal(signal.SIGPROF, self.late)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        self.began = time.process_time()

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.longest = max(self.longest, time.process_time() - self.began)

    @staticmethod
    def late(*_):
        raise TimeoutError("this takes for ever")

    @property
    def megabytes(self):
        """By how much the memory of the process has grown at its largest."""
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.before) / 1024


def one_sentence(error):
    assert "\n" not in str(error), error
    assert len(str(error)) < 1000, str(error)[:2000]


# ---- models -----------------------------------------------------------------------------


def changed_model(chance, manifest, tables, arrays, weights):
    """Return the parts of a changed model, as somebody may make them who knows the format."""
    kind = chance.randrange(5)
    raw = json.dumps(tables).encode()
    if kind == 0:
        manifest = changed_values(manifest, chance)
    elif kind == 1:
        raw = json.dumps(changed_values(tables, chance)).encode()
    elif kind == 2:
        raw = changed_bytes(raw, chance)
    elif kind == 3:
        weights = changed_bytes(weights, chance)
    else:
        name = chance.choice(sorted(arrays))
        array = arrays[name].copy()
        array[chance.randrange(len(array))] = chance.choice((0, -1, 2**62, 10**15))
        if array.dtype == np.float64 and chance.random() < 0.5:
            array[0] = chance.choice((np.nan, np.inf, 1e300, 1e-320))
        weights = save({**arrays, name: array[: chance.choice((None, 1, -1))]})
    return manifest, {"tables.json": raw, "weights.safetensors": weights}


@pytest.mark.filterwarnings("ignore::groundling.errors.ModelWarning")
def test_bounded_hostile_files_models_are_refused_or_loaded(followers, room):
    folder = followers["plans"].save(room / "model")
    manifest = json.loads((folder / "manifest.json").read_text())
    weights = file_of(folder, "weights.safetensors").read_bytes()
    tables = json.loads(file_of(folder, "tables.json").read_text())
    arrays = dict(load(weights))
    text, world, start = requests()[0]
    watch, loaded, followed = Watch(), 0, 0
    for number, chance in chances("models"):
        if number == MODELS:
            break
        new, parts = changed_model(chance, manifest, tables, arrays, weights)
        try:
            write(folder, new, parts)
        except (KeyError, TypeError, AttributeError):
            (folder / "manifest.json").write_text(json.dumps(new))
        with watch:
            try:
                follower = Follower.load(folder)
                loaded += 1
                plan = follower.follow(text, world, start)
                followed += 1
                assert math.isfinite(plan.log_probability), number
                assert 0 <= plan.confidence <= 1, number
            except GroundlingError as error:
                one_sentence(error)
    assert watch.megabytes < 100
    assert 0 < followed <= loaded < MODELS
    note(**{"mutated models": MODELS, "mutated models that load": loaded,
            "longest load and follow of a mutated model, seconds": round(watch.longest, 3),
            "memory for mutated models, MB": round(watch.megabytes)})  # fmt: skip


def test_bounded_hostile_files_damaged_bytes_are_refused(followers, room):
    folder = followers["plans"].save(room / "model")
    whole = {name: file_of(folder, name).read_bytes() for name in FILES}
    places = {name: file_of(folder, name) for name in FILES}
    count = 2_000 if SECONDS else 60
    for number, chance in chances("bytes"):
        if number == count:
            break
        name = chance.choice(FILES)
        data = changed_bytes(whole[name], chance)
        if data.split() == whole[name].split():
            continue  # white space of the manifest says nothing
        places[name].write_bytes(data)
        try:
            # Another way to write the same manifest is as good as ours.
            if name == "manifest.json" and json.loads(data) == json.loads(whole[name]):
                continue
        except (ValueError, RecursionError):
            pass
        finally:
            places[name].write_bytes(data)
        refused(folder)
        places[name].write_bytes(whole[name])


def at(*way):
    """Return what puts a value somewhere into a model."""

    def put(value):
        def change(manifest, tables, arrays):
            part = {"manifest": manifest, "tables": tables, "arrays": arrays}
            for key in way[:-1]:
                part = part[key]
            part[way[-1]] = value

        return change

    return put


SETTINGS = [
    (("manifest", "settings", "seed"), (float("inf"), -1, 2**70, "7", None, 1.5)),
    (("manifest", "settings", "threads"), (0, 10**9, "many", float("nan"))),
    (("manifest", "settings", "search", "max_length"), (10**9, 0, "3", 1.5, True)),
    (("manifest", "settings", "search", "budget"), (10**12, 0, None)),
    (("manifest", "settings", "search", "beam"), (10**9, 0, "all")),
    (("manifest", "settings", "search", "planning"), ("no", 1, None)),
    (("manifest", "settings", "learning", "l2"), (float("inf"), "strong", None, -1)),
    (("tables", "members", 0, "overlay", "unit"), (float("nan"), "page", 3)),
    (("tables", "members", 0, "overlay", "neighbours"), ([1], None, ["self"] * 10**5)),
    (("manifest", "temperature"), (False, 1e-320, 0, -1, 1e300, float("nan"), "hot", None)),
    (("manifest", "loss"), (float("inf"), "low")),
    (("tables", "members", 0, "features", "include"),
     ("(" * 5000, "(a+)+$", "(.*)*x", r"(a)\1", "a" * 10**5, 7)),
    (("tables", "members", 0, "features", "exclude"),
     ("(?P<n>a)(?P=n)", ".*.*.*.*.*x", "(a|a)*b", ["a"])),
    (("manifest", "settings", "model", "skip"), (float("nan"), 1e300, "some", -1)),
    (("manifest", "settings", "model", "kind"), ("Model", "Ensemble", 7, None)),
    (("tables", "members", 0, "features", "joins"), (["own:eval"], [7], "conjunction", ["hack"])),
    (("tables", "members", 0, "values"), ({"item": [1]}, {"item": [[]]}, [], None)),
    (("tables", "lengths"), ({"counts": {"1": {"1": -5}}, "longest": 1}, {"counts": {}}, [])),
    (("tables", "lexicon"), ({}, {"given": [], "learnt": [], "string_match": 1}, "learn")),
    (("arrays", "theta0"), (np.array([1e300]), np.zeros((2, 2)), np.zeros(1, np.float32))),
]  # fmt: skip


@pytest.mark.parametrize(("way", "values"), SETTINGS, ids=lambda each: str(each)[:60])
def test_bounded_hostile_files_settings_have_types_and_ranges(followers, way, values, tmp_path):
    for number, value in enumerate(values):
        folder = followers["plans"].save(tmp_path / f"{number}")
        resign(folder, at(*way)(value))
        with pytest.raises(GroundlingError) as caught:
            Follower.load(folder)
        one_sentence(caught.value)


def test_bounded_hostile_files_large_tables_are_refused_before_they_are_built(followers, room):
    folder = followers["plans"].save(room / "model")
    watch = Watch()
    with watch:
        for raw in (b"[" * 5_000_000, b"[" + b"[]," * 5_000_000 + b"[]]", b'{"a":' * 200_000):
            resign(folder, tables=raw)
            refused(folder)
            shutil.rmtree(folder)
            followers["plans"].save(folder)
    assert watch.megabytes < 100


def test_bounded_hostile_files_headers_of_many_tensors_are_refused(followers, room):
    folder = followers["plans"].save(room / "model")
    entry = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({f"theta{number}": entry for number in range(100_000)}).encode()
    resign(folder, weights=len(header).to_bytes(8, "little") + header)
    refused(folder, "at most 1,000,000 bytes of names of arrays")


def test_bounded_hostile_files_models_cut_at_every_byte_are_refused(followers, room):
    folder = followers["plans"].save(room / "model")
    whole = file_of(folder, "weights.safetensors").read_bytes()
    for size in range(0, len(whole), 1 if SECONDS else 7):
        resign(folder, weights=whole[:size])
        refused(folder)
        shutil.rmtree(folder)
        followers["plans"].save(folder)


# ---- corpora ----------------------------------------------------------------------------

MAZE = b"""<map name='Two'><nodes><node x="0" y="0" item="sofa"/><node x="0" y="1" item=""/></nodes>
<edges><edge node1="0,0" node2="0,1" wall="fish" floor="wood"/></edges></map>"""
EXAMPLES = b"""<examples><example id="7-1" map="Two" end="(0, 1)"><instruction>face the wall and go
</instruction><path>[(0, 0, -1), (0, 0, 180), (0, 1, 180)]</path></example></examples>"""
MAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<topography file="7g.xml"><path stops="2"><stop x="60" y="50" /><stop x="90" y="340" /></path>
<landmark name="m7_start"><spot x="50" y="50" canCross="false" r="20" /><polygon /></landmark>
<landmark name="m7_cave"><spot x="50" y="350" canCross="false" r="20" /><polygon /></landmark>
</topography>"""
TALK = b"Found 2 args.\nwho\t$m\t\ng\tgo south to the cave \t\nf\tokay \t\ng\tthen stop \t\n"
GAMES = {"games.csv": b"1\n:2\n# #\n# #\n", "annotations.txt": b"1\nr:0\nr:1\n",
         "instructions.bgm": b"# 1\n@ 1\nclear clear_a a a_row row\n"}  # fmt: skip
TREE = (
    b"# text = go left\n1\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_\n2\tleft\t_\tADV\t_\t_\t1\tadv\t_\t_\n"
)
LEXICON = b"bench = item:sofa, item:lamp\n# nothing\nred = colour:red\n"


def archives():
    """Return a small zip and a small tar, packed and plain."""
    import io
    import tarfile
    import zipfile

    name, data = "instructions-master/data/sail/data/Paragraph.xml", EXAMPLES * 20
    packed, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    with tarfile.open(fileobj=tarred, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return packed.getvalue(), tarred.getvalue()


def kinds_of_files():
    """Return a name, a content and a reader for every kind of file that strangers write."""
    packed, tarred = archives()
    return [
        ("map-two.xml", MAZE, read_maze),
        ("SingleSentence.xml", EXAMPLES, read_examples),
        ("7g.xml", MAP, read_map),
        ("talk.txt", TALK, read_transcript),
        ("correspondences.txt", b"q1ec1,7\nq1ec2,12\n", read_correspondences),
        *((name, data, lambda path: read_corpus(path.parent)) for name, data in GAMES.items()),
        ("a.conllu", TREE, read_conllu),
        ("words.txt", LEXICON, Lexicon.read),
        ("all.zip", packed, lambda path: list(read_source(path))),
        ("all.tar.gz", tarred, lambda path: list(read_source(path))),
    ]


def test_bounded_hostile_files_corpora_are_refused_or_read(room):
    for name, data in GAMES.items():
        (room / name).write_bytes(data)
    kinds, watch, read = kinds_of_files(), Watch(), 0
    for name, data, reader in kinds[:-2]:  # archives hold other sums than those of the corpora
        (room / name).write_bytes(data)
        reader(room / name)  # as they are, all of them are read
    for number, chance in chances("corpora"):
        if number == CORPORA:
            break
        name, data, reader = kinds[number % len(kinds)]
        (room / name).write_bytes(changed_bytes(data, chance))
        with watch:
            try:
                reader(room / name)
                read += 1
            except GroundlingError as error:
                one_sentence(error)
        (room / name).write_bytes(data)
    assert watch.megabytes < 100
    assert 0 < read < CORPORA
    note(**{"mutated corpora files": CORPORA, "mutated corpora files that are read": read,
            "longest read of a mutated corpora file, seconds": round(watch.longest, 3),
            "memory for mutated corpora files, MB": round(watch.megabytes)})  # fmt: skip


def test_bounded_hostile_files_encrypted_archives_are_refused(room):
    packed = bytearray(archives()[0])
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        packed[packed.index(mark) + (6 if mark == b"PK\x03\x04" else 8)] |= 1
    (room / "all.zip").write_bytes(bytes(packed))
    with pytest.raises(GroundlingError, match="must not be encrypted"):
        list(read_source(room / "all.zip"))


def test_bounded_hostile_files_errors_are_of_models(followers, tmp_path):
    folder = followers["plans"].save(tmp_path / "model")
    (folder / "manifest.json").write_text("[]")
    with pytest.raises(ModelFileError):
        Follower.load(folder)


def test_bounded_hostile_files_what_was_saved_is_not_refused(followers, tmp_path):
    for kind, follower in followers.items():
        loaded = Follower.load(follower.save(tmp_path / kind))
        for request in requests():
            assert answer(loaded.follow(*request)) == answer(follower.follow(*request))
