"""Reading and writing maps, transcripts and correspondences."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundling.errors import CorpusError
from groundling.tasks.maps.corpus import (
    FOLLOWER,
    GIVER,
    Dialogue,
    DialogueLine,
    MapCorpus,
    MapSheet,
    load_corpus,
    read_correspondences,
    read_map,
    read_transcript,
    write_corpus,
    write_map,
    write_transcript,
)
from groundling.tasks.maps.generator import generate_corpus
from groundling.tasks.maps.landscape import Landmark, Landscape, visited_landmarks

MAP = """<?xml version="1.0" encoding="UTF-8"?>
<topography file="3g.xml">
  <path stops="3"><stop x="10" y="20" /><stop x="30" y="200" /><stop x="200" y="200" /></path>
  <landmark name="m3_start"><spot x="10" y="10" canCross="false" r="20" /><polygon /></landmark>
  <landmark name="m3_lime_kiln">
    <spot x="30" y="180" canCross="true" r="15" />
    <polygon><vertix x="20" y="170" /><vertix x="40" y="190" /></polygon>
  </landmark>
  <landmark name="m3_lime_kiln_2"><spot x="200" y="240" canCross="false" r="20" /></landmark>
  <landmark name="m3_finish"><spot x="200" y="200" canCross="false" r="20" /></landmark>
</topography>
"""


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_says(error: pytest.ExceptionInfo[CorpusError], *parts: str) -> None:
    for part in parts:
        assert part in str(error.value)


def test_map_is_read_with_names_copies_and_outlines(tmp_path: Path) -> None:
    sheet = read_map(write(tmp_path / "3g.xml", MAP))
    assert sheet.number == 3
    assert sheet.landscape.keys == ("start", "lime kiln", "lime kiln 2")
    kiln = sheet.landscape["lime kiln"]
    assert (kiln.name, kiln.crossable, kiln.radius) == ("lime kiln", True, 15)
    assert kiln.outline == ((20, 170), (40, 190))
    assert sheet.landscape["lime kiln 2"].name == "lime kiln"
    assert sheet.finish is not None
    assert sheet.finish.position == (200, 200)
    assert sheet.route == ((10, 20), (30, 200), (200, 200))


def test_map_finish_neither_is_a_landmark_nor_takes_steps_from_others(tmp_path: Path) -> None:
    sheet = read_map(write(tmp_path / "3g.xml", MAP))
    # the last point lies on the finish, and 40 pixels north of the second kiln
    assert sheet.steps[-1] == ("lime kiln 2", "North")
    assert "finish" not in sheet.landscape


def test_map_round_trip_keeps_fractions(tmp_path: Path) -> None:
    landscape = Landscape(
        (Landmark("start", 0.1, 2.0), Landmark("kiln", 5.0, -7.25, outline=((1.5, 2.0),))),
        name="map 4",
    )
    sheet = MapSheet(4, landscape, ((0.30000000000000004, 1.0),))
    write_map(tmp_path / "4g.xml", sheet)
    assert read_map(tmp_path / "4g.xml") == sheet


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("path", "line", ["must have a route"]),
        ("stop ", "point ", ["must have a route", "<stop>"]),
        ("m3_start", "m3_begin", ["must have a landmark named m3_start", "m3_start"]),
        ('stop x="', 'stop x="90', ["farther from all landmarks"]),
        ('x="30" y="180"', 'x="wide" y="180"', ["landmark 2 ('m3_lime_kiln')", "'wide'"]),
        ('x="30" y="180"', 'y="180"', ["landmark 2", "x of its <spot>", "got none"]),
        ('x="30" y="180"', 'x="nan" y="180"', ["landmark 2", "'nan'"]),
        ('stop x="30"', 'stop x=""', ["stop 2", "x of its <stop>"]),
        ("m3_lime_kiln_2", "m3_lime_kiln", ["landmark 3", "repeats", "lime_kiln"]),
        ("m3_lime_kiln_2", "m4_lime_kiln_2", ["landmark 3", "map 4", "map 3"]),
        ('name="m3_lime_kiln_2"', "", ["landmark 3 must have a name"]),
        ("<landmark name", "</landmark name", ["line 4, column", "must be well-formed"]),
        ('encoding="UTF-8"', 'encoding="klingon"', ["line 1", "UTF-8"]),
    ],
)
def test_map_with_a_fault_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, said: list[str]
) -> None:
    path = write(tmp_path / "3g.xml", MAP.replace(old, new))
    with pytest.raises(CorpusError) as error:
        read_map(path)
    assert_says(error, str(path), *said)


def test_map_in_a_wrong_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "3g.xml", MAP.replace("lime_kiln", "café").encode("latin-1"))
    with pytest.raises(CorpusError) as error:
        read_map(path)
    assert_says(error, "line 5", "UTF-8")


def test_map_that_declares_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><topography>&b;</topography>'
    with pytest.raises(CorpusError, match="entities"):
        read_map(write(tmp_path / "3g.xml", bomb))


@pytest.mark.parametrize(
    "landmark",
    [Landmark("pier 5", 0, 0), Landmark("lime_kiln", 0, 0), Landmark("pier", 0, 0, copy=12)],
)
def test_map_with_a_name_that_would_change_is_not_written(
    tmp_path: Path, landmark: Landmark
) -> None:
    sheet = MapSheet(1, Landscape((Landmark("start", 0, 0), landmark)), ((0, 0),))
    with pytest.raises(CorpusError, match=landmark.key):
        write_map(tmp_path / "1g.xml", sheet)
    assert not (tmp_path / "1g.xml").exists()


@pytest.mark.parametrize("reader", [read_map, read_transcript, read_correspondences])
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
    max_examples=50,
)
def test_readers_of_rubbish_raise_nothing_but_corpus_errors(
    tmp_path: Path, reader: Callable[[Path], object], content: bytes
) -> None:
    with contextlib.suppress(CorpusError):
        reader(write(tmp_path / "1g.xml", content))


def test_map_with_a_foreign_file_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"12g\.xml"):
        read_map(write(tmp_path / "map.xml", MAP))


def test_transcript_is_read_with_and_without_heading(tmp_path: Path) -> None:
    said = (DialogueLine(GIVER, "past the kiln"), DialogueLine(FOLLOWER, "i've no kiln"))
    bare = write(tmp_path / "bare.txt", "g\tpast  the kiln \t\r\n\r\nf\ti've no kiln \t\r\ng\t\t\n")
    assert read_transcript(bare) == said
    write_transcript(tmp_path / "full.txt", said)
    assert (tmp_path / "full.txt").read_text().startswith("Found 2 args.\nObservation: full;")
    assert read_transcript(tmp_path / "full.txt") == said
    write_transcript(tmp_path / "odd.txt", [DialogueLine(GIVER, "past\nthe\tkiln")])
    assert read_transcript(tmp_path / "odd.txt") == said[:1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("f\tokay\nf\tright\n", ["at least one utterance of the giver", "g and a tab"]),
        ("", ["at least one utterance of the giver"]),
        ("g\tgo on\nx\twhat\n", ["line 2", "'x\\twhat'"]),
        ("g\tgo on\njust words\n", ["line 2", "'just words'", "tab"]),
        (b"g\tgo on\ng\tcaf\xe9\n", ["line 2", "0xe9", "UTF-8"]),
        ("g\tgo\0 on\n", ["line 1", "zero byte"]),
        ("g\tgo on\n".encode("utf-16"), ["line 1", "UTF-8"]),
    ],
)
def test_transcript_with_a_fault_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, said: list[str]
) -> None:
    path = write(tmp_path / "talk.txt", content)
    with pytest.raises(CorpusError) as error:
        read_transcript(path)
    assert_says(error, str(path), *said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,1\nb;2\n", ["line 2", "'b;2'"]),
        ("a,one\n", ["line 1", "'a,one'"]),
        ("../../secret,1\n", ["line 1", "'../../secret,1'"]),
        ("a,1\na,2\n", ["line 2", "got 'a' twice"]),
        ("\n", ["must list at least one dialogue"]),
    ],
)
def test_correspondences_with_a_fault_are_refused_with_their_line(
    tmp_path: Path, content: str, said: list[str]
) -> None:
    path = write(tmp_path / "correspondences.txt", content)
    with pytest.raises(CorpusError) as error:
        read_correspondences(path)
    assert_says(error, str(path), *said)


def test_corpus_round_trip(tmp_path: Path) -> None:
    corpus = generate_corpus(maps=4, dialogues=2, seed=11)
    write_corpus(tmp_path, corpus)
    assert load_corpus(tmp_path) == corpus


def test_corpus_with_an_unknown_map_number_is_refused(tmp_path: Path) -> None:
    write_corpus(tmp_path, generate_corpus(maps=2, dialogues=1))
    write(tmp_path / "correspondences.txt", "m0d0,0\nm1d0,71\n")
    with pytest.raises(CorpusError) as error:
        load_corpus(tmp_path)
    assert_says(error, "entry 2", "'m1d0'", "71", "Known maps: 0, 1")


def test_corpus_without_a_file_says_which(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"correspondences\.txt cannot be read"):
        load_corpus(tmp_path / "nowhere")
    write_corpus(tmp_path, generate_corpus(maps=2, dialogues=1))
    (tmp_path / "transcripts" / "m1d0.txt").unlink()
    with pytest.raises(CorpusError, match=r"m1d0\.txt cannot be read"):
        load_corpus(tmp_path)
    for path in (tmp_path / "landmarks").iterdir():
        path.unlink()
    with pytest.raises(CorpusError, match="must contain maps; got none"):
        load_corpus(tmp_path)


def test_corpus_split_keeps_maps_apart_and_can_be_chosen() -> None:
    corpus = generate_corpus(maps=8, dialogues=1)
    train, test = corpus.split()
    assert {each.map for each in train} == {0, 1, 2, 3, 4, 5}
    assert {each.map for each in test} == {6, 7}
    assert {each.map for each in corpus.split([2])[1]} == {2}
    with pytest.raises(CorpusError, match="99"):
        corpus.split([99])


def test_corpus_refuses_a_dialogue_about_no_map() -> None:
    with pytest.raises(CorpusError, match="map of the corpus; got 5"):
        MapCorpus({}, (Dialogue("talk", 5, ()),))


def test_corpus_image_is_found_only_where_it_exists(tmp_path: Path) -> None:
    corpus = generate_corpus(maps=2, dialogues=1)
    assert corpus.image(0) is None
    write_corpus(tmp_path, corpus)
    image = write(tmp_path / "images" / "map0g.gif", b"GIF")
    read = load_corpus(tmp_path)
    assert read.image(0) == image
    assert read.image(1) is None


@pytest.fixture(scope="module")
def hcrc() -> MapCorpus:
    if "GROUNDLING_CORPORA" not in os.environ:
        pytest.skip("set GROUNDLING_CORPORA to the folder that contains hcrc")
    return load_corpus(Path(os.environ["GROUNDLING_CORPORA"], "hcrc"))


@pytest.mark.corpora
def test_hcrc_has_the_known_counts(hcrc: MapCorpus) -> None:
    assert len(hcrc.maps) == 16
    assert len(hcrc.dialogues) == 128
    assert [len(part) for part in hcrc.split()] == [96, 32]
    assert {each.map for each in hcrc.split()[1]} == {12, 13, 14, 15}
    assert sum(len(each.utterances) for each in hcrc.dialogues) == 15212 + 11872
    assert sum(len(each.giver) for each in hcrc.dialogues) == 15212
    assert {len(each.landscape) for each in hcrc.maps.values()} <= set(range(12, 17))
    assert all(hcrc.image(number) for number in hcrc.maps)


@pytest.mark.corpora
def test_hcrc_routes_hardly_ever_come_back(hcrc: MapCorpus) -> None:
    visits = [visited_landmarks(sheet.steps) for sheet in hcrc.maps.values()]
    assert all(9 <= len(each) <= 12 and each[0] == "start" for each in visits)
    assert sum(len(set(each)) == len(each) for each in visits) == 15
    # 288 transitions in the 32 test dialogues, eight for each test map
    assert 8 * sum(len(visits[number]) - 1 for number in range(12, 16)) == 288


@pytest.mark.corpora
def test_hcrc_survives_a_round_trip(hcrc: MapCorpus, tmp_path: Path) -> None:
    write_corpus(tmp_path, hcrc)
    assert load_corpus(tmp_path) == hcrc
    assert hcrc.folder is not None
    for path in (hcrc.folder / "transcripts").iterdir():
        assert (tmp_path / "transcripts" / path.name).read_bytes() == path.read_bytes()
