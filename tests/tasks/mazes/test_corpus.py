"""The SAIL files: what we write is read back, and what is broken is told."""

import os
from collections import Counter
from pathlib import Path

import pytest

from groundling.errors import CorpusError, DemonstrationError
from groundling.tasks.mazes import (
    STAY,
    Maze,
    MazeEnvironment,
    face,
    generate_mazes,
    generate_routes,
    load_sail,
    move,
    rotate,
    start_as_published,
    write_corpus,
)
from groundling.tasks.mazes.maze_files import read_examples, read_maze
from groundling.tasks.mazes.plans import plans_within
from groundling.world import CachedEnvironment, Demonstration

MAP = """<?xml version="1.0"?>
<map name="Tee">
  <nodes>
    <node x="0" y="0" item=""></node>
    <node x="1" y="0" item="sofa"></node>
    <node x="2" y="0" item=""></node>
    <node x="1" y="1" item="lamp"></node>
  </nodes>
  <edges>
    <edge node1="0,0" node2="1,0" wall="fish" floor="blue"></edge>
    <edge node1="1,0" node2="2,0" wall="fish" floor="blue"></edge>
    <edge node1="1,0" node2="1,1" wall="tower" floor="wood"></edge>
  </edges>
</map>
"""


def example(name, text, path, maze="Tee", ends=""):
    return (
        f'<example {ends} id="{name}" map="{maze}"><instruction filename="f.txt">\n {text}\n'
        f"</instruction><path>\n {path} </path></example>"
    )


ROUTE = example(
    "5",
    "look along the blue hall. walk to the sofa. it is a nice one. turn right.\n .",
    "[(0, 0, -1), (0, 0, 90), (1, 0, 90), (1, 0, 180)]",
    ends='start="(0, 0)" end="(2, 0)"',
)
PARTS = [
    example("5-1", "look along the blue hall", "[(0, 0, -1), (0, 0, 90)]"),
    example("5-2", "Walk to the sofa", "[ (0, 0, 90), (1, 0, 90)]"),
    example("5-4", "turn right", "[(1, 0, 90), (1, 0, 180)]"),
]


def write(folder: Path, parts=PARTS, routes=(ROUTE,), maps=(MAP,)) -> Path:
    for kind in ("maps", "data"):
        (folder / kind).mkdir(exist_ok=True)
    for number, text in enumerate(maps):
        (folder / "maps" / f"map-{number}.xml").write_text(text)
    for name, records in (("SingleSentence", parts), ("Paragraph", routes)):
        text = "<examples>" + "\n".join(records) + "</examples>"
        (folder / "data" / f"{name}.xml").write_text(text)
    return folder


def test_load_sail_reads_sentences_and_paragraphs(tmp_path):
    tee = load_sail(write(tmp_path)).mazes["Tee"]
    assert [each.name for each in tee.sentences] == ["5-1", "5-2", "5-4"]
    assert [each.actions for each in tee.sentences] == [(face(90),), (move(1),), (rotate(90),)]
    assert tee.sentences[1].instructions == ("Walk to the sofa",)
    (paragraph,) = tee.paragraphs
    assert paragraph.instructions == (
        "look along the blue hall",
        "walk to the sofa",
        "it is a nice one",
        "turn right",
    )
    assert paragraph.actions == (face(90), move(1), rotate(90))
    assert tee.destinations == {"5": (2, 0)}


def test_load_sail_finds_dropped_sentences_with_their_state(tmp_path):
    tee = load_sail(write(tmp_path)).mazes["Tee"]
    (dropped,) = tee.dropped
    assert dropped.name == "5-3"
    assert dropped.instructions == ("it is a nice one",)
    assert dropped.actions == (STAY,)
    assert dropped.start == tee.environment.start((1, 0), 90)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_load_sail_finds_no_dropped_sentences_where_the_path_has_a_gap(tmp_path, missing):
    parts = [part for number, part in enumerate(PARTS) if number != missing]
    dropped = load_sail(write(tmp_path, parts)).mazes["Tee"].dropped
    # without the last turn the position is still the paragraph's, so nothing is missing
    assert len(dropped) == (2 if missing == 2 else 0)


def test_load_sail_report_counts_and_lists(tmp_path):
    odd = [
        example("6-1", "?!", "[(1, 0, 90)]"),
        example("7-1", "jump", "[(0, 0, 0), (1, 1, 0)]"),
        example("8-1", "to and fro", "[(0, 0, 90), (1, 0, 90), (1, 0, 270), (0, 0, 270)]"),
    ]
    sail = load_sail(write(tmp_path, PARTS + odd))
    found = {(finding.kind, finding.record) for finding in sail.report.findings}
    assert found == {
        ("unknown start", "5-1"),
        ("unknown start", "5"),
        ("empty text", "6-1"),
        ("impossible path", "7-1"),
        ("way back", "8-1"),
        ("other destination", "5"),
    }
    plans = {each.name: each.actions for each in sail.mazes["Tee"].sentences}
    assert "6-1" not in plans
    assert plans["8-1"] == (rotate(180),)
    world = CachedEnvironment(sail.mazes["Tee"].environment)
    jumped = world.trace(world.environment.start((0, 0), 0), plans["7-1"])
    assert world.outcome(jumped.states[-1]) == ((1, 1), 0)
    assert "unknown start: 2 (the plan begins with face)" in str(sail.report)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (example("9-1", "go", "[(0, 0, 90), (5, 5, 90)]"), r"leaves the map 'Tee' at \(5, 5\)"),
        (example("9-1", "go", "[(0, 0, 45)]"), "orientations other than"),
        (example("9-1", "go", "[]"), "The route in <path> must have at least one"),
        (example("9-1", "go", "(0, 0, 90)"), "square brackets"),
        (example("9-1", "go", "[(0, 0)]"), "must consist of"),
        (example("9-1", "go", "[(0, 0, 9.5)]"), "must consist of"),
        (example("9-1", "go", "[(0, 0, 90), nonsense]"), "must consist of"),
        (example("9-1", "go", "[(0, 0, 90)]", maze="Te"), "no map 'Te'.*Did you mean 'Tee'"),
        (example("9-1", "go", "[(0, 0, 90)]", maze=""), "It has no map"),
        (example("5-1", "go", "[(0, 0, 90)]"), "id must be unique"),
        (example("9-1", "go", "[(0, 0, 90)]", ends='end="home"'), 'must be a pair .* got "home"'),
        (example("", "go", "[(0, 0, 90)]"), "It has no id"),
        ('<example id="9-1" map="Tee"></example>', "path"),
    ],
)
def test_load_sail_refuses_or_skips_broken_records(tmp_path, record, says):
    write(tmp_path, [*PARTS, record])
    with pytest.raises(CorpusError, match=says) as caught:
        load_sail(tmp_path)
    assert "SingleSentence.xml" in str(caught.value)
    assert "<example id=" in str(caught.value)
    assert "skip_broken=True" in str(caught.value)
    sail = load_sail(tmp_path, skip_broken=True)
    assert len(sail.report.of("broken record")) == 1
    assert len(sail.mazes["Tee"].sentences) == 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('<node x="1" y="1" item="lamp"></node>', "", r"Hall 3 .* there is no place at \(1, 1\)"),
        ('node2="1,1"', 'node2="7,7"', r"there is no place at \(7, 7\)"),
        ('x="2"', 'x="1"', "positions .* must be unique; got .* place 3"),
        ('x="2"', 'x="2.5"', 'number 3: x must be an integer; got "2.5"'),
        ('x="2"', 'x=""', "<node> number 3 must have the attribute x"),
        ('x="2"', 'x="99999999999"', "must be an integer"),
        ('node1="1,0"', 'node1="1;0"', "<edge> number 2: node1 must be two integers"),
        ('wall="tower"', "", "<edge> number 3 must have the attribute wall"),
        ('node2="2,0"', 'node2="0,0"', "must be the only one from"),
        ('name="Tee"', "", "<map> must have the attribute name"),
        ("</map>", "", "must be well-formed"),
        ('<map name="Tee">', "<map>", "must have the attribute name"),
        ("<nodes>", "<knots>", "must be well-formed"),
    ],
)
def test_load_sail_refuses_broken_maps(tmp_path, old, new, says):
    assert old in MAP
    write(tmp_path, maps=[MAP.replace(old, new, 1)])
    with pytest.raises(CorpusError, match=says) as caught:
        load_sail(tmp_path)
    assert "map-0.xml" in str(caught.value)


def test_load_sail_refuses_a_map_without_nodes(tmp_path):
    write(tmp_path, maps=['<map name="Tee"></map>'])
    with pytest.raises(CorpusError, match="at least one place"):
        load_sail(tmp_path)


def test_load_sail_refuses_two_maps_of_one_name(tmp_path):
    with pytest.raises(CorpusError, match="names of maps must be unique"):
        load_sail(write(tmp_path, maps=[MAP, MAP]))


def test_load_sail_says_which_file_is_missing(tmp_path):
    with pytest.raises(CorpusError, match="got no maps"):
        load_sail(tmp_path)
    write(tmp_path)
    (tmp_path / "data" / "Paragraph.xml").unlink()
    with pytest.raises(CorpusError, match=r"Paragraph\.xml cannot be read"):
        load_sail(tmp_path)


BOMB = '<?xml version="1.0"?><!DOCTYPE map [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{inner};" * 10}">'
    for inner, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB + ']><map name="&h;"></map>',
        '<!DOCTYPE map SYSTEM "http://localhost/map.dtd"><map name="M"></map>',
        '<!DOCTYPE map [<!ENTITY x SYSTEM "file:///etc/hostname">]><map name="M">&x;</map>',
    ],
)
def test_read_maze_refuses_entities_and_document_types(tmp_path, text):
    file = tmp_path / "map.xml"
    file.write_text(text)
    with pytest.raises(CorpusError, match="document type or entities"):
        read_maze(file)


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"<map", b"hello", b"\xfe\xff<\x00"])
def test_read_files_refuses_what_is_not_xml(tmp_path, content):
    file = tmp_path / "map.xml"
    file.write_bytes(content)
    for read in (read_maze, read_examples):
        with pytest.raises(CorpusError, match="must be well-formed"):
            read(file)


def test_read_files_refuses_other_documents_and_endless_ones(tmp_path, monkeypatch):
    file = tmp_path / "page.xml"
    file.write_text("<html></html>")
    with pytest.raises(CorpusError, match="must start with <map>; got <html>"):
        read_maze(file)
    monkeypatch.setenv("GROUNDLING_LIMIT_CORPUS_BYTES", "5")
    with pytest.raises(CorpusError, match="at most 5 bytes; got 13"):
        read_maze(file)


@pytest.mark.parametrize("remarks", [False, True])
def test_write_corpus_is_read_back_the_same(tmp_path, remarks):
    mazes = generate_mazes(4, 3)
    routes = generate_routes(mazes[:2], 60, seed=4, sentences=(1, 5))
    write_corpus(tmp_path, routes, mazes=mazes, remarks=remarks)
    sail = load_sail(tmp_path)
    assert {each.environment.maze for each in sail.mazes.values()} == set(mazes)
    assert {finding.kind for finding in sail.report.findings} == {"unknown start"}
    paragraphs = {each.name: each for corpus in sail.mazes.values() for each in corpus.paragraphs}
    singles = {each.name: each for corpus in sail.mazes.values() for each in corpus.sentences}
    dropped = {each.name: each for corpus in sail.mazes.values() for each in corpus.dropped}
    assert bool(dropped) != remarks
    for route in routes:
        environment = sail.mazes[route.maze.name].environment
        whole = route.demonstration(environment)
        assert paragraphs[route.name] == whole
        for expected in route.single_sentences(environment):
            read = singles if expected.name in singles else dropped
            assert read[expected.name] == expected
    assert len(singles) + len(dropped) == sum(len(route.sentences) for route in routes)


def test_write_corpus_escapes_what_xml_reserves(tmp_path):
    places = {(0, 0): "", (1, 0): 'a "big" <sofa> & more'}
    maze = Maze("A&B", places, [((0, 0), (1, 0), "x<y", "'")])
    write_corpus(tmp_path, [], mazes=[maze])
    assert load_sail(tmp_path).mazes["A&B"].environment.maze == maze


def test_write_corpus_keeps_odd_names_inside_the_folder(tmp_path):
    mazes = [Maze(name, {(0, 0): ""}, []) for name in ("../up", "UP!", "up", "/")]
    write_corpus(tmp_path / "in", [], mazes=mazes)
    assert {file.parent.name for file in tmp_path.rglob("*.xml")} == {"maps", "data"}
    assert set(load_sail(tmp_path / "in").mazes) == {"../up", "UP!", "up", "/"}


def test_load_sail_without_canonical_plans_keeps_turns_apart(tmp_path):
    turns = example("6-1", "spin", "[(1, 0, 0), (1, 0, 90), (1, 0, 180), (1, 1, 180)]")
    write(tmp_path, [turns])
    apart = load_sail(tmp_path, environment=lambda maze: MazeEnvironment(maze, canonical=False))
    assert apart.mazes["Tee"].sentences[0].actions == (rotate(90), rotate(90), move(1))
    merged = load_sail(tmp_path)
    assert merged.mazes["Tee"].sentences[0].actions == (rotate(180), move(1))


def test_start_as_published_gives_a_start_and_a_turn():
    world = MazeEnvironment(generate_mazes(1, 1)[0])
    place = world.maze.positions[0]

    def published(orientation, *actions):
        shown = Demonstration("go", world, world.start(place, orientation), actions)
        changed = start_as_published(shown)
        return changed.start.orientation, changed.actions

    assert published(None, face(0)) == (90, (rotate(270),))
    assert published(None, face(180), move(2)) == (0, (rotate(180), move(2)))
    assert published(None, STAY) == (0, (STAY,))
    assert published(270, rotate(90)) == (270, (rotate(90),))
    with pytest.raises(DemonstrationError, match="state of a maze"):
        start_as_published(Demonstration("go", world, 3, ()))


# The real corpus.

needs_corpus = pytest.mark.skipif(
    not os.environ.get("GROUNDLING_CORPORA"),
    reason="set GROUNDLING_CORPORA to the folder that holds the corpus in sail/",
)


@pytest.fixture(scope="module")
def sail():
    return load_sail(Path(os.environ["GROUNDLING_CORPORA"]) / "sail")


@needs_corpus
@pytest.mark.corpora
def test_sail_counts(sail):
    mazes = sail.mazes
    assert {name: len(each.sentences) for name, each in mazes.items()} == {
        "Grid": 874,
        "Jelly": 1293,
        "L": 1070,
    }
    assert {name: len(each.paragraphs) for name, each in mazes.items()} == {
        "Grid": 225,
        "Jelly": 244,
        "L": 237,
    }
    kinds = Counter((finding.kind, finding.file) for finding in sail.report.findings)
    assert kinds["unknown start", "SingleSentence.xml"] == 701
    assert kinds["unknown start", "Paragraph.xml"] == 706
    assert kinds["impossible path", "Paragraph.xml"] == 1
    assert kinds["other destination", "Paragraph.xml"] == 15
    assert sum(len(each.dropped) for each in mazes.values()) == 244
    texts = [each.instructions for corpus in mazes.values() for each in corpus.paragraphs]
    assert sum(map(len, texts)) == 3531


@needs_corpus
@pytest.mark.corpora
def test_sail_gold_ends_are_covered_by_short_plans(sail):
    covered = count = size = 0
    for corpus in sail.mazes.values():
        world, known = CachedEnvironment(corpus.environment), {}
        for shown in corpus.sentences:
            length = 4 if shown.start.orientation is None else 3
            if shown.start not in known:
                plans = list(plans_within(corpus.environment, shown.start, length))
                known[shown.start] = len(plans), {world.outcome(state) for _, state in plans}
            end = world.outcome(world.trace(shown.start, shown.actions, shown.name).states[-1])
            covered += end in known[shown.start][1]
            size += known[shown.start][0]
            count += 1
    assert count == 3237
    assert covered / count == pytest.approx(0.969, abs=0.001)
    assert 30 < size / count < 45


@needs_corpus
@pytest.mark.corpora
def test_sail_as_published_leaks_136_starts():
    folder = Path(os.environ["GROUNDLING_CORPORA"]) / "sail"
    sail = load_sail(folder, environment=lambda maze: MazeEnvironment(maze, canonical=False))
    moved = 0
    for corpus in sail.mazes.values():
        for shown in corpus.sentences:
            published = start_as_published(shown)
            CachedEnvironment(corpus.environment).trace(
                published.start, published.actions, shown.name
            )
            moved += shown.start.orientation is None and published.start.orientation == 90
    assert moved == 136


@needs_corpus
@pytest.mark.corpora
def test_sail_paragraphs_can_be_carried_out_and_mirrored(sail):
    for corpus in sail.mazes.values():
        world = CachedEnvironment(corpus.environment)
        for shown in corpus.paragraphs + corpus.dropped:
            end = world.trace(shown.start, shown.actions, shown.name).states[-1]
            (copy,) = corpus.environment.mirror(shown)
            other = (
                CachedEnvironment(copy.environment)
                .trace(copy.start, copy.actions, shown.name)
                .states[-1]
            )
            assert (-end.position[0], end.position[1]) == other.position
