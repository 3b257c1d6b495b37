"""Synonyms by word vectors and wordnets: formats, bounds, hostile files, and what they bring."""

import struct
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import Demonstration, Features, Follower, GroundingGraph
from groundling.errors import LearningWarning, LexiconError, SettingError
from groundling.features.synonyms import Synonyms, WordNet, WordVectors, _hash, _synsets
from groundling.language import ENGLISH

VERBS = {"on": ("start", "activate"), "off": ("stop", "halt")}
THINGS = {"lamp": ("lamp", "lantern"), "fan": ("fan", "ventilator")}


def trained() -> dict[str, np.ndarray]:
    """Return vectors trained on sentences in which synonyms stand in the same places."""
    texts = [
        f"{verb} the {thing} {end}".split()
        for key, verbs in VERBS.items()
        for verb in verbs
        for name, things in THINGS.items()
        for thing in things
        for end in ({"on": "now", "off": "later"}[key], {"lamp": "shining", "fan": "blowing"}[name])
    ]
    words = sorted({word for text in texts for word in text})
    counts = np.full((len(words), len(words)), 0.1)
    for text in texts:
        for one in text:
            for other in text:
                if one != other:
                    counts[words.index(one), words.index(other)] += 1
    share = counts / counts.sum()
    expected = share.sum(1, keepdims=True) * share.sum(0, keepdims=True)
    left, sizes, _ = np.linalg.svd(np.maximum(0, np.log(share / expected)))
    return dict(zip(words, (left * sizes)[:, :6].astype(np.float32), strict=True))


def as_text(vectors, *, header=True):
    size = len(next(iter(vectors.values())))
    lines = [f"{len(vectors)} {size}"] if header else []
    lines += [f"{word} {' '.join(f'{each:.6f}' for each in row)}" for word, row in vectors.items()]
    return ("\n".join(lines) + "\n").encode()


def as_binary(vectors):
    size = len(next(iter(vectors.values())))
    rows = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in vectors.items())
    return f"{len(vectors)} {size}\n".encode() + rows


def as_fasttext(vectors, *, buckets=50, quantised=False):
    size, rows = len(next(iter(vectors.values()))), list(vectors.values())
    head = struct.pack("<14i", 793712314, 12, size, 5, 5, 1, 5, 1, 2, 2, buckets, 3, 4, 100)
    head += struct.pack("<d", 1e-4) + struct.pack("<3i2q", len(rows), len(rows), 0, 99, -1)
    for word in vectors:
        head += word.encode() + b"\0" + struct.pack("<qb", 9, 0)
    grams = np.random.default_rng(0).normal(size=(buckets, size)).astype(np.float32) / 100
    matrix = np.concatenate([rows, grams]).astype(np.float32)
    return head + struct.pack("<?2q", quantised, *matrix.shape) + matrix.tobytes()


FORMATS = {
    "header": as_text,
    "plain": lambda vectors: as_text(vectors, header=False),
    "binary": as_binary,
    "fasttext": as_fasttext,
}


@pytest.mark.parametrize("kind", FORMATS)
def test_synonyms_are_near_in_every_format(kind, tmp_path):
    (tmp_path / "vectors").write_bytes(FORMATS[kind](trained()))
    vectors = WordVectors(tmp_path / "vectors")
    among = frozenset({"start", "stop", "lamp", "fan"})
    found = {word: vectors.nearest(word, among)[0] for word in ("activate", "halt", "lantern")}
    assert found == {"activate": "start", "halt": "stop", "lantern": "lamp"}
    assert vectors.nearest("now", frozenset({"lamp"})) == ("", 0.0)


def test_fasttext_knows_words_by_their_subwords(tmp_path):
    (tmp_path / "vectors").write_bytes(as_fasttext(trained()))
    assert WordVectors(tmp_path / "vectors").vector("lanterns") is not None
    (tmp_path / "plain").write_bytes(as_text(trained()))
    assert WordVectors(tmp_path / "plain").vector("lanterns") is None
    # From fastText's own code: h ^= uint32_t(int8_t(c)); h *= 16777619.
    assert _hash(b"a") == ((2166136261 ^ 97) * 16777619) % 2**32
    assert _hash("é".encode()) != _hash(b"e")


def test_vectors_of_a_spacy_pipeline():
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    with pytest.raises(LexiconError, match="must have word vectors"):
        WordVectors.from_spacy(pipeline)
    for word, vector in trained().items():
        pipeline.vocab.set_vector(word, vector)
    assert WordVectors.from_spacy(pipeline).nearest("halt", {"stop", "lamp"})[0] == "stop"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"\0" * 50, b"2 3\n", b"hello\n", b"a b c\n", b"3 99999999\nx 1\n",
        as_fasttext(trained())[:200], as_fasttext(trained(), quantised=True),
        as_binary(trained())[:9], b"x " + b"1 " * 300_000,
        struct.pack("<14i", 793712314, 12, 2**31 - 1, *[1] * 11) + b"\0" * 80,
    ],
)  # fmt: skip
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "vectors").write_bytes(content)
    with pytest.raises(LexiconError):
        WordVectors(tmp_path / "vectors").vector("x")


def test_numbers_beyond_range_and_words_that_cannot_be_written_have_no_vector(tmp_path):
    (tmp_path / "vectors").write_bytes(b"2 2\nbig 1e300 1\nsofa 1 0\n")
    vectors = WordVectors(tmp_path / "vectors")
    assert [vectors.vector(each) for each in ("big", "\ud800")] == [None, None]
    for kind in FORMATS.values():
        (tmp_path / "other").write_bytes(kind(trained()))
        WordVectors(tmp_path / "other").vector("\udcff")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_give_vectors_or_our_error(tmp_path_factory, data):
    content = bytearray(data.draw(st.sampled_from([each(trained()) for each in FORMATS.values()])))
    for _ in range(3):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "vectors"
    path.write_bytes(content)
    try:
        found = WordVectors(path).nearest("halt", frozenset({"stop", "start"}))
    except LexiconError:
        return
    assert found[0] in ("", "stop", "start")
    assert np.isfinite(found[1])


def test_folders_pipes_and_missing_files_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none", "/dev/null", "\0", "\ud800"):
        with pytest.raises(LexiconError):
            WordVectors(path).vector("x")
    with pytest.raises(SettingError, match="must be a file with word vectors"):
        Features(synonyms=str(tmp_path / "none"))


def test_a_file_that_is_cut_while_in_use_is_named(tmp_path):
    """Reading beyond the end of a mapped file would end the process."""
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"".join(b"word%d 0.5 0.25\n" % n for n in range(5_000)))
    code = (
        "import os, sys\n"
        "from groundling.features.synonyms import WordVectors\n"
        "vectors = WordVectors(sys.argv[1])\n"
        "vectors.vector('word4999')\n"
        "os.truncate(sys.argv[1], 10)\n"
        "vectors.vector('word4999')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.returncode  # not a signal
    assert "LexiconError" in done.stderr
    assert "became shorter while it was in use" in done.stderr


@pytest.mark.parametrize("kind", ["text", "fasttext"])
def test_sparse_files_are_refused_soon(kind, tmp_path):
    path = tmp_path / "vectors"
    words = dict.fromkeys(("sofa", "couch"), np.ones(2, np.float32))
    content = b"sofa 1 2\ncouch 1 2\n" if kind == "text" else bytearray(as_fasttext(words))
    if kind == "fasttext":
        content[64:72] = struct.pack("<2i", 2**31 - 1, 2)
    path.write_bytes(content)
    with path.open("r+b") as file:
        file.truncate(2**34)  # takes no room on the disk
    began = time.process_time()
    with pytest.raises(LexiconError):
        WordVectors(path).vector("sofa")
    assert time.process_time() - began < 5


def test_only_so_many_words_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDLING_LIMIT_VECTOR_WORDS", "2")
    (tmp_path / "vectors").write_bytes(as_text({"a": np.ones(3), "b": np.ones(3), "c": np.ones(3)}))
    vectors = WordVectors(tmp_path / "vectors")
    assert vectors.vector("b") is not None
    assert vectors.vector("c") is None


class Things:
    """Things that are started and stopped."""

    def actions(self, state):
        return tuple((verb, thing) for verb in VERBS for thing in THINGS)

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        nodes = {"event": {action[0]: True}, "thing": {"kind": action[1]}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


TAUGHT = [
    Demonstration(f"{VERBS[verb][0]} the {thing}", Things(), (), ((verb, thing),))
    for verb in VERBS
    for thing in THINGS
    for _ in range(5)
]
NEW = [
    Demonstration(f"{VERBS[verb][1]} the {THINGS[thing][1]}", Things(), (), ((verb, thing),))
    for verb in VERBS
    for thing in THINGS
]


@pytest.mark.parametrize("names", ["words", "spans"])
def test_words_that_were_never_shown_are_understood(names, tmp_path, monkeypatch):
    (tmp_path / "vectors").write_bytes(as_text(trained()))
    plain = Follower(features=Features(slots=("kind",), names=names)).fit(TAUGHT, check=False)
    assert plain.score(NEW) < 0.6
    known = plain.set_params(features__synonyms=str(tmp_path / "vectors")).fit(TAUGHT, check=False)
    assert known.score(NEW) == 1.0
    plan = known.follow("halt the ventilator", Things(), ())
    assert not plan.unexplained
    known.save(tmp_path / "model")
    with pytest.warns(LearningWarning, match="GROUNDLING_VECTORS"):  # a model opens no file itself
        assert Follower.load(tmp_path / "model").score(NEW) < 0.6
    monkeypatch.setenv("GROUNDLING_VECTORS", str(tmp_path / "vectors"))
    assert Follower.load(tmp_path / "model").score(NEW) == 1.0
    (tmp_path / "vectors").unlink()
    with pytest.warns(LearningWarning, match="finds no synonyms without"):
        assert Follower.load(tmp_path / "model").score(NEW) < 0.6


def test_synonyms_of_your_own():
    class Mine(Synonyms):
        def nearest(self, word, among):
            same = {"activate": "start", "lantern": "lamp"}.get(word, "")
            return (same, 1.0) if same in among else ("", 0.0)

    follower = Follower(features=Features(slots=("kind",), synonyms=Mine())).fit(
        TAUGHT, check=False
    )
    assert follower.follow("activate the lantern", Things(), ()).actions == (("on", "lamp"),)


WORDNET = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.0.dtd">
<LexicalResource xmlns:dc="http://purl.org/dc/elements/1.1/">
  <Lexicon id="mini" label="Mini" language="en" email="a@b.c" license="cc" version="1">
    <LexicalEntry id="mini-halt-v"><Lemma writtenForm="halt" partOfSpeech="v"/>
      <Sense id="mini-s1" synset="mini-1-v"/></LexicalEntry>
    <LexicalEntry id="mini-stop-v"><Lemma writtenForm="stop" partOfSpeech="v"/>
      <Sense id="mini-s2" synset="mini-1-v"/></LexicalEntry>
    <Synset id="mini-1-v" ili="" partOfSpeech="v"/>
  </Lexicon>
</LexicalResource>
"""


def test_synonyms_of_a_wordnet(tmp_path, monkeypatch):
    wn = pytest.importorskip("wn")
    monkeypatch.setattr(wn.config, "data_directory", tmp_path)
    _synsets.cache_clear()
    (tmp_path / "mini.xml").write_text(WORDNET)
    wn.add(tmp_path / "mini.xml", progress_handler=None)
    assert WordNet().nearest("halt", {"stop", "start"}) == ("stop", 1.0)
    assert WordNet().nearest("start", {"stop"}) == ("", 0.0)
    _synsets.cache_clear()


def test_without_a_wordnet_the_error_says_what_to_do(monkeypatch):
    _synsets.cache_clear()
    monkeypatch.setitem(sys.modules, "wn", types.SimpleNamespace(lexicons=list))
    monkeypatch.setitem(sys.modules, "nltk.corpus", None)
    with pytest.raises(LexiconError, match="requires a wordnet"):
        WordNet().nearest("halt", {"stop"})


def test_function_words_have_no_synonyms():
    assert "every" in ENGLISH.plain_words
