"""Demonstrations in files: they come back equal, in a stream, and bad ones are named."""

import gzip
import itertools
import json
import pickle
import sys
import weakref
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundling import Demonstration, Instruction
from groundling.data import parquet
from groundling.data.records import Demonstrations
from groundling.errors import DemonstrationError, SettingError
from groundling.language import SentenceLabel
from tests.worlds import Line, line_demonstrations, put

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")


class Place(NamedTuple):
    x: int
    seen: frozenset = frozenset()


class Field(Line):
    """A line with states that are more than numbers."""

    def step(self, state, action):
        return Place(state.x + 1, state.seen | {action})


def write(path, *records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def shown(**changes):
    return {"text": "go left", "start": 2, "actions": ["left"], **changes}


def parts(demonstration):
    """Return all but the environment, and the name, which may be where it was read."""
    return tuple(
        getattr(demonstration, each)
        for each in (
            "instructions",
            "start",
            "actions",
            "weight",
            "also",
            "group",
            "negative_starts",
        )
    )


def read(path, **options):
    return Demonstrations.read(path, **{"worlds": Line, **options})


# ---- there and back ---------------------------------------------------------------------

trees = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4).map(Instruction.chain)
texts = st.text(min_size=1, max_size=20).filter(str.strip)
places = st.builds(Place, st.integers(), st.frozensets(st.text(max_size=3), max_size=3))
plans = st.lists(st.text(max_size=3) | st.tuples(st.integers(), st.text(max_size=3)), max_size=3)
FIELD = Field()
demonstrations = st.builds(
    Demonstration,
    texts | trees | st.lists(texts | trees, min_size=1, max_size=3).map(tuple),
    st.just(FIELD),
    places.filter(lambda place: place.x < 10**6),
    plans.map(tuple),
    weight=st.floats(0, 100),
    name=st.text(min_size=1, max_size=5),
    also=st.lists(plans.map(tuple), max_size=2).map(tuple),
    group=st.text(max_size=5),
    negative_starts=st.lists(places.filter(lambda place: place.x > 10**6), max_size=2).map(tuple),
)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(listed=st.lists(demonstrations, min_size=1, max_size=3))
def test_records_come_back_equal(tmp_path_factory, ending, listed):
    path = tmp_path_factory.mktemp("shown") / f"shown{ending}"
    assert Demonstrations(listed).write(path) == [path]
    again = Demonstrations.read(path, worlds=FIELD)
    assert list(again) == listed
    assert len(again) == len(listed)


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_keep_trees_tags_and_labels(tmp_path, ending):
    tree = put("red", "blue")
    labelled = Instruction(
        ("turn", "left"), (-1, 0), ("root", "advmod"), ("VERB", "ADV"), "Turn  left!",
        (SentenceLabel("speaker"), SentenceLabel("match", 0.5, "item", "sofa")),
    )  # fmt: skip
    listed = [Demonstration(each, FIELD, Place(1), ("left",)) for each in (tree, (labelled, "go"))]
    Demonstrations(listed).write(tmp_path / f"shown{ending}")
    again = list(Demonstrations.read(tmp_path / f"shown{ending}", worlds=FIELD))
    assert [each.instructions for each in again] == [tree, (labelled, "go")]


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_of_the_same_demonstrations_are_the_same_bytes(tmp_path, ending):
    one, other = tmp_path / f"one{ending}", tmp_path / f"other{ending}"
    for path in (one, other):
        Demonstrations(line_demonstrations()).write(path)
    assert one.read_bytes() == other.read_bytes()


def test_records_are_readable_lines(tmp_path):
    Demonstrations(line_demonstrations()[:1]).write(tmp_path / "shown.jsonl")
    assert (tmp_path / "shown.jsonl").read_text().splitlines() == [
        '{"format": "groundling-demonstrations", "version": 1}',
        '{"text": "go left", "world": "Line", "start": 2, "actions": ["left"]}',
    ]


def test_records_hold_any_text(tmp_path):
    odd = ["向左转 \u2028 é \x85 \x00", "half \ud800 pair", "«שמאלה»"]
    listed = [Demonstration(each, Line(), 2, ("left",)) for each in odd]
    for each in listed:
        Demonstrations([each]).write(tmp_path / "odd.jsonl")
        assert [e.instructions for e in read(tmp_path / "odd.jsonl")] == [each.instructions]
    with pytest.raises(DemonstrationError, match="cannot be stored as Parquet"):
        Demonstrations([listed[1]]).write(tmp_path / "odd.parquet")
    assert list(tmp_path.iterdir()) == [tmp_path / "odd.jsonl"]


def test_records_are_found_by_pattern_in_order(tmp_path):
    written = Demonstrations(line_demonstrations()).write(tmp_path / "shown.jsonl", shard_size=3)
    assert [each.name for each in written] == [f"shown-0000{n}.jsonl" for n in range(3)]
    all_of_them = read(str(tmp_path / "shown-*.jsonl"))
    assert [parts(each) for each in all_of_them] == [parts(each) for each in line_demonstrations()]
    assert len(all_of_them) == 7
    assert [len(each) for each in all_of_them.shards()] == [3, 3, 1]
    assert [each.files for each in all_of_them.shards()] == [(file,) for file in written]
    twice = read([written[1], tmp_path / "*-00001.jsonl", written[0]])
    assert twice.files == (written[1], written[0])
    mixed = Demonstrations(line_demonstrations()).write(tmp_path / "more.parquet")
    assert len(list(read([*written, *mixed]))) == 14


def test_records_can_be_gone_through_again_and_side_by_side(tmp_path):
    Demonstrations(iter(line_demonstrations())).write(tmp_path / "shown.jsonl.gz")
    found = read(tmp_path / "shown.jsonl.gz")
    assert list(found) == list(found)
    assert all(one == other for one, other in zip(found, found, strict=True))
    assert bool(found)
    sent = pickle.loads(pickle.dumps(read(tmp_path / "shown.jsonl.gz", worlds="tests.worlds:Line")))
    assert [parts(each) for each in sent] == [parts(each) for each in found]


class Watched:
    """Demonstrations made one by one; remembers how many were alive at once."""

    def __init__(self, count):
        self.count = count
        self.alive, self.most = weakref.WeakSet(), 0

    def __iter__(self):
        line = Line()
        for number in range(self.count):
            made = Demonstration(f"go left {number}", line, 2, ("left",))
            self.alive.add(made)
            self.most = max(self.most, len(self.alive))
            yield made

    def __len__(self):
        return self.count

    def __contains__(self, item):
        return False


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_come_in_a_stream(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(parquet, "_AT_ONCE", 10)
    path = tmp_path / f"shown{ending}"
    watched = Watched(200)
    Demonstrations(watched).write(path)
    assert watched.most <= 10
    alive, most = weakref.WeakSet(), 0
    for each in read(path):
        alive.add(each)
        most = max(most, len(alive))
    assert most <= 2


# ---- worlds -----------------------------------------------------------------------------


def test_records_name_worlds_that_the_caller_knows(tmp_path):
    path = write(
        tmp_path / "shown.jsonl",
        shown(world={"line": {"size": 9}}, start=8),
        shown(world="short"),
        shown(world={"line": {"size": 9}}, start=8),
    )
    short = Line(3)
    one, two, three = read(path, worlds={"line": Line, "short": short})
    assert one.environment.size == 9
    assert two.environment is short
    assert three.environment is one.environment


def test_records_never_import_what_they_name(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit")
    for name in ("evil:World", f"{tmp_path}/evil.py:World", "tests.worlds:Blocks", "os:system"):
        path = write(tmp_path / "shown.jsonl", shown(world=name))
        with pytest.raises(DemonstrationError, match=r"must contain the world "):
            list(read(path))
    assert "evil" not in sys.modules


def test_records_keep_the_worlds_that_they_were_read_with(tmp_path):
    path = write(tmp_path / "a.jsonl", shown(world={"Line": {"size": 9}}), shown(world="Line"))
    read(path).write(tmp_path / "b.jsonl")
    records = [json.loads(each) for each in (tmp_path / "b.jsonl").read_text().splitlines()[1:]]
    assert [each["world"] for each in records] == [{"Line": {"size": 9}}, "Line"]


def test_records_of_several_worlds_need_names(tmp_path):
    one, other = Line(3), Line(9)
    listed = [Demonstration("go left", each, 2, ("left",)) for each in (one, other)]
    path = tmp_path / "shown.jsonl"
    with pytest.raises(
        DemonstrationError, match="name of its own; got a second environment of class Line"
    ):
        Demonstrations(listed).write(path)
    assert not path.exists()
    with pytest.raises(DemonstrationError, match="must have a name in `worlds`"):
        Demonstrations(listed).write(path, worlds={"one": one})
    Demonstrations(listed).write(path, worlds={"one": one, "other": other})
    assert [e.environment for e in read(path, worlds={"one": one, "other": other})] == [one, other]
    Demonstrations(listed).write(path, worlds=lambda line: ("Line", {"size": line.size}))
    assert [each.environment.size for each in read(path)] == [3, 9]


# ---- conversations ----------------------------------------------------------------------


def test_records_of_a_conversation_carry_the_state_on(tmp_path):
    path = write(
        tmp_path / "talk.jsonl",
        shown(group="a", turn=1, world={"Line": {"size": 9}}, start=5),
        {"text": "again", "actions": ["left", "left"], "group": "a", "turn": 2},
        {"text": "and back", "actions": ["right"], "group": "a", "turn": 3},
        shown(group="b", turn=1),
    )
    found = list(read(path))
    assert [each.start for each in found] == [5, 4, 2, 2]
    assert [each.group for each in found] == ["a", "a", "a", "b"]
    assert found[2].environment is found[0].environment
    assert found[3].environment is not found[0].environment


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [{"text": "again", "actions": [], "group": "a", "turn": 2}],
            "Turn 2 of 'a' must have a `start`",
        ),
        (
            [shown(group="b", turn=1), {"text": "x", "actions": [], "group": "a", "turn": 2}],
            "or follow turn 1, which is missing",
        ),
        ([{"text": "x", "actions": [], "group": "a", "turn": 1}], "A record must have a `start`"),
        ([shown(turn=1)], "got 1 in the group ''"),
        ([shown(turn=0, group="a")], "got 0 in the group 'a'"),
        (
            [
                shown(group="a", turn=1, actions=["up"]),
                {"text": "x", "actions": [], "group": "a", "turn": 2},
            ],
            "'up', is impossible",
        ),
    ],
)
def test_records_say_which_turn_is_missing(tmp_path, records, said):
    with pytest.raises(DemonstrationError) as caught:
        list(read(write(tmp_path / "talk.jsonl", *records)))
    assert said in str(caught.value)


# ---- what is wrong ----------------------------------------------------------------------

BAD = [
    (b"{", "must be valid JSON (Expecting property name enclosed in double quotes at column 2)"),
    (b'{"text": "go"} {', "extra text after column 14"),
    (b"[1]", "A record must be an object; got [1]. Write one object per line."),
    (b"\xff\xfe", "A line must be UTF-8; got an invalid byte at position 1. Save the file as UTF"),
    (b'{"weight": NaN}', "JSON must not contain NaN"),
    (b'{"weight": ' + b"9" * 5000 + b"}", "The text must be valid JSON (Exceeds the limit"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"format": "other"}', "`format` must be 'groundling-demonstrations'; got 'other'."),
    (b'{"format": "groundling-demonstrations", "version": 2}', "Update Groundling to read"),
    (shown(strat=3), "A record has no field 'strat'. Did you mean 'start'?"),
    ({"start": 2, "actions": []}, "must have either `text` or `instructions`; got neither."),
    (shown(instructions=["go"]), "must have either `text` or `instructions`; got both."),
    (shown(text=3), "`text` must be a string; got 3."),
    (shown(text="  "), "`text` must have at least one word; got none. Add text, or remove"),
    ({"instructions": [], "start": 2, "actions": []}, "`instructions` must be a list of sentences"),
    ({"instructions": [""], "start": 2, "actions": []}, "A sentence must have at least one word"),
    ({"instructions": {"tokens": ["go"]}, "start": 2, "actions": []}, "`heads` of a parsed sent"),
    (
        {"instructions": {"tokens": ["a"], "heads": [0], "relations": [""]}, "start": 2,
         "actions": []},
        "must have exactly one root (head -1)",
    ),
    ({"instructions": {"token": ["go"]}, "start": 2, "actions": []}, "Did you mean 'tokens'?"),
    (
        {"instructions": {"tokens": ["a"], "heads": [-1], "relations": [""], "labels": [3]},
         "start": 2, "actions": []},
        "must not exceed 1e+30; got 3.",
    ),
    (
        {"instructions": {"tokens": ["a"], "heads": [-1], "relations": [""],
                          "labels": [{"name": "x", "amount": 10**399}]}, "start": 2, "actions": []},
        "A label of a sentence must be an object",
    ),
    ({"text": "go", "actions": []}, "A record must have a `start`"),
    ({"text": "go", "start": 2}, "A record must have `actions`."),
    (shown(actions="left"), "A plan must be a list of actions; got 'left'."),
    (shown(also=[1]), "list of actions; got 1"),
    (shown(also=3), "`also` must be a list; got 3."),
    (shown(negative_starts=[2]), "`negative_starts` must not contain `start`"),
    (shown(start={"Place": {"x": 1}}), "Line must define the class 'Place', to which a state"),
    (shown(weight=-1), "`weight` must be a number from 0 to"),
    (shown(weight=10**399), "; got 1000"),
    (shown(start={"$bytes": "é"}), "must be valid base 64"),
    (shown(text="go " * 40_000), "`text` must have at most 100,000 characters; got 120,000"),
    (shown(weight=True), "; got True"),
    (shown(weight="1"), "; got '1'"),
    (shown(group=3), "`group` must be a string; got 3."),
    (shown(name=["a"]), "`name` must be a string; got ['a']."),
    (shown(world="Lime"), "`worlds` must contain the world 'Lime'. Did you mean 'Line'?"),
    (shown(world=3), "`world` must be a name"),
    (shown(world={"Line": 3}), "The arguments of the world 'Line' must be an object"),
    (shown(world={"Line": {"sise": 3}}), "unexpected keyword argument 'sise'"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), BAD, ids=[said[:40] for _, said in BAD])
def test_records_that_are_bad_are_named_by_file_and_line(tmp_path, line, said):
    content = line if isinstance(line, bytes) else json.dumps(line).encode()
    path = tmp_path / "shown.jsonl"
    path.write_bytes(b"\n" + json.dumps(shown()).encode() + b"\n" + content + b"\n")
    with pytest.raises(DemonstrationError) as caught:
        list(read(path))
    assert str(caught.value).startswith(f"{path}:3: ")
    assert said in str(caught.value)
    left = read(path, skip_bad=True)
    assert len(list(left)) == 1
    assert [(each.number, said in each.problem) for each in left.skipped] == [(3, True)]


def test_records_that_are_bad_can_be_left_out(tmp_path):
    path = write(tmp_path / "a.jsonl", shown(), {"text": ""}, shown(text="go on"), {"x": 1})
    other = write(tmp_path / "b.jsonl", {"actions": []}, shown(text="go home"))
    found = read([path, other], skip_bad=True)
    with pytest.raises(TypeError, match="after the first pass"):
        len(found)
    for _ in range(2):
        assert [each.instructions for each in found] == ["go left", "go on", "go home"]
        assert [(each.file, each.number) for each in found.skipped] == [
            (str(path), 2), (str(path), 4), (str(other), 1),
        ]  # fmt: skip
        assert found.skipped_count == 3
    assert len(found) == 3
    assert str(found.skipped[1]).startswith(f"{path}:4: A record has no field 'x'")


def test_records_are_carried_out_when_asked(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        shown(name="mine", actions=["left", "left", "left"]),
        shown(),
        shown(also=[["right", "right"]]),
    )
    assert len(list(read(path))) == 3
    with pytest.raises(DemonstrationError) as caught:
        list(read(path, check=True))
    assert str(caught.value) == (
        f"{path}:1: The plan: action 3, 'left', is impossible in state 0. Possible there: 'right'."
    )
    found = read(path, check=True, skip_bad=True)
    assert len(list(found)) == 1
    assert [each.number for each in found.skipped] == [1, 3]
    assert "A plan in also: action 2, 'right', is impossible in state 3" in str(found.skipped[1])


def test_records_that_are_all_bad_are_an_error_all_the_same(tmp_path):
    path = write(tmp_path / "a.jsonl", {"text": ""}, {"x": 1})
    with pytest.raises(DemonstrationError, match=r"got errors in all 2.*a.jsonl:1: "):
        list(read(path, skip_bad=True))


def test_records_that_were_left_out_are_listed_up_to_a_thousand(tmp_path):
    path = write(tmp_path / "a.jsonl", shown(), *itertools.repeat({"x": 1}, 1500))
    found = read(path, skip_bad=True)
    list(found)
    assert (len(found.skipped), found.skipped_count) == (1000, 1500)


def test_records_know_windows_habits(tmp_path):
    path = tmp_path / "shown.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(shown()).encode() + b"\r\n\r\n")
    assert len(list(read(path))) == len(read(path)) == 1


def test_records_of_joined_files_have_several_headers(tmp_path):
    Demonstrations(line_demonstrations()).write(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text((tmp_path / "a.jsonl").read_text() * 2)
    assert len(read(tmp_path / "b.jsonl")) == len(list(read(tmp_path / "b.jsonl"))) == 14


def test_records_say_where_a_file_breaks_off(tmp_path):
    Demonstrations(line_demonstrations() * 500).write(tmp_path / "whole.jsonl.gz")
    path = tmp_path / "part.jsonl.gz"
    path.write_bytes((tmp_path / "whole.jsonl.gz").read_bytes()[:-500])
    with pytest.raises(DemonstrationError, match="cannot be read beyond this line"):
        list(read(path))
    found = read(path, skip_bad=True)
    assert 100 < len(list(found)) < 3500
    assert found.skipped_count == 1
    (tmp_path / "no.jsonl.gz").write_bytes(b"not packed at all")
    with pytest.raises(DemonstrationError, match=r"no.jsonl.gz:1: The file cannot be read"):
        list(read(tmp_path / "no.jsonl.gz"))


def test_records_longer_than_the_limit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDLING_LIMIT_LINE_BYTES", str(1 << 20))
    path = tmp_path / "long.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(json.dumps(shown()).encode() + b"\n")
        for _ in range(100):
            file.write(b" " * (1 << 20))
    with pytest.raises(DemonstrationError, match=r"gz:2: A line must have at most 1,048,576 bytes"):
        list(read(path))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shown.json", "There is no file"),
        ("showm.jsonl", "Did you mean 'shown.jsonl'?"),
        ("*.parquet", "No file matches"),
        ("", "is a folder. Use a pattern such as"),
        ("notes.txt", "The name of a demonstration file must end in .jsonl"),
    ],
)
def test_records_say_which_files_are_missing(tmp_path, name, said):
    write(tmp_path / "shown.jsonl", shown())
    (tmp_path / "notes.txt").write_text("text")
    with pytest.raises(DemonstrationError) as caught:
        read(str(tmp_path / name))
    assert said in str(caught.value)


def test_records_are_written_whole_or_not_at_all(tmp_path):
    path = write(tmp_path / "shown.jsonl", shown())
    before = path.read_bytes()
    bad = [*line_demonstrations(), Demonstration("go", Line(), object(), ("left",))]
    with pytest.raises(DemonstrationError, match=r"The demonstration 'go' cannot be written"):
        Demonstrations(bad).write(path)
    assert path.read_bytes() == before
    read(path).write(path)  # onto itself
    assert [each.instructions for each in read(path)] == ["go left"]
    assert [each.name for each in tmp_path.iterdir()] == ["shown.jsonl"]
    with pytest.raises(DemonstrationError, match="does not exist"):
        Demonstrations(bad).write(tmp_path / "no" / "shown.jsonl")
    with pytest.raises(DemonstrationError, match="must end in"):
        Demonstrations(bad).write(tmp_path / "shown.csv")
    with pytest.raises(DemonstrationError, match="`shard_size` must be >= 1; got 0"):
        Demonstrations(bad).write(path, shard_size=0)


def test_records_of_a_lossy_world_are_not_written(tmp_path):
    class Lossy(Line):
        def state_to_json(self, state):
            return state // 2

        def state_from_json(self, data):
            return data

    with pytest.raises(DemonstrationError, match="must survive a round trip"):
        Demonstrations([Demonstration("go", Lossy(), 2, ("left",))]).write(tmp_path / "a.jsonl")


# ---- Parquet ----------------------------------------------------------------------------


def test_records_in_parquet_may_have_columns_of_their_own_kind(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    table = pyarrow.table({"text": ["go left"], "start": [2], "actions": [["left"]]})
    write_table(table, tmp_path / "own.parquet")
    assert [parts(each) for each in read(tmp_path / "own.parquet")] == [
        parts(Demonstration("go left", Line(), 2, ("left",)))
    ]


def test_records_in_parquet_are_named_by_row(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    table = pyarrow.table(
        {"text": ["go", "go", ""], "start": ["2", "{", "2"], "actions": ["[]"] * 3}
    )
    path = tmp_path / "own.parquet"
    write_table(table, path)
    with pytest.raises(
        DemonstrationError, match=r"own.parquet:2: The text must be valid JSON .* column start"
    ):
        list(read(path))
    found = read(path, skip_bad=True)
    assert len(list(found)) == 1
    assert [each.number for each in found.skipped] == [2, 3]
    write_table(table.rename_columns(["txt", "start", "actions"]), path)
    with pytest.raises(DemonstrationError, match=r"no field 'txt'. Did you mean 'text'\?"):
        list(read(path))
    path.write_bytes(b"PAR1 this is no Parquet PAR1")
    with pytest.raises(DemonstrationError, match=r"own.parquet:1: The file cannot be read as Parq"):
        list(read(path))
    Demonstrations(line_demonstrations()).write(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DemonstrationError, match="cannot be read as Parquet"):
        list(read(path))


def test_records_in_parquet_need_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SettingError, match="Run `pip install pyarrow`"):
        Demonstrations(line_demonstrations()).write(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"")
    with pytest.raises(SettingError, match="Run `pip install pyarrow`"):
        list(read(tmp_path / "b.parquet", skip_bad=True))
    assert not (tmp_path / "a.parquet").exists()


def test_records_of_a_newer_parquet_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "VERSION", 2)
    Demonstrations(line_demonstrations()).write(tmp_path / "a.parquet")
    with pytest.raises(DemonstrationError, match=r"`version` .* got 2.* Update Groundling"):
        list(read(tmp_path / "a.parquet"))
