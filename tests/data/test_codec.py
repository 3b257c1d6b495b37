"""States and actions come back equal from JSON, whatever they are made of."""

import enum
import json
import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.data.canonical import canonical
from groundling.data.codec import Codec, value_classes
from groundling.errors import WorldError


class Colour(enum.Enum):
    RED = 1
    BLUE = "blue"
    CRIMSON = 1  # noqa: PIE796 - an alias


class Doors(enum.Flag):
    FRONT = enum.auto()
    BACK = enum.auto()


class Robot(NamedTuple):
    at: object
    holds: object = None


@dataclass(frozen=True)
class Box:
    content: object
    size: float = 1.0
    doubled: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "doubled", 2 * self.size)


class Frozen(Mapping):
    def __init__(self, items=()):
        self._items = dict(items)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __hash__(self):
        return hash(frozenset(self._items.items()))


@dataclass
class Loose:
    at: int


class Yard:
    def actions(self, state):
        return ()


codec = Codec(Yard())

plain = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(max_size=10)
    | st.binary(max_size=8)
    | st.sampled_from(Colour)
    | st.sampled_from([Doors.FRONT, Doors.FRONT | Doors.BACK, Doors(0)])
)


def made_of(values):
    return (
        st.lists(values, max_size=4).map(tuple)
        | st.frozensets(values, max_size=4)
        | st.tuples(values, values).map(Robot._make)
        | st.tuples(values, st.floats(allow_nan=False)).map(lambda pair: Box(*pair))
        | st.dictionaries(plain, values, max_size=3).map(Frozen)
    )


values = plain | made_of(plain | made_of(plain))


@given(values)
def test_codec_values_come_back_equal(value):
    written = json.loads(json.dumps(codec.state_to_json(value), allow_nan=False))
    back = codec.state_from_json(written)
    assert back == value
    assert type(back) is type(value)
    assert canonical(back) == canonical(value)
    codec.check(value, value)


@given(values, values)
def test_codec_canonical_text_tells_values_apart(one, other):
    # 1, 1.0 and True are equal but written differently; nothing else is.
    if canonical(one) == canonical(other):
        assert one == other
    assert canonical(one).isascii()


def test_codec_writes_what_people_can_read():
    state = Robot((1, "a"), frozenset({Colour.RED, Colour.BLUE}))
    assert codec.state_to_json(state) == {
        "Robot": {"at": [1, "a"], "holds": {"$set": [{"Colour": "BLUE"}, {"Colour": "RED"}]}}
    }
    assert codec.action_to_json(Box("mug")) == {"Box": {"content": "mug", "size": 1.0}}
    assert codec.state_to_json(-math.inf) == {"$float": "-inf"}
    assert codec.state_to_json(Frozen({"b": 1, "a": 2})) == {"Frozen": {"a": 2, "b": 1}}


def test_codec_reads_missing_fields_by_their_defaults():
    assert codec.state_from_json({"Robot": {"at": 3}}) == Robot(3)
    assert codec.state_from_json({"Box": {"content": None}}) == Box(None)


def test_codec_takes_numbers_of_numpy():
    assert codec.state_to_json((np.int64(3), np.float32(0.5), np.bool_(True))) == [3, 0.5, True]
    assert canonical(np.int64(3)) == canonical(3)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"Robott": {}},
            "must define the class 'Robott', to which a state refers. Did you mean 'Robot'?",
        ),
        ({"Robot": {"att": 3}}, "Did you mean 'at'?"),
        ({"Robot": {}}, "must describe a valid Robot"),
        ({"Robot": [3]}, 'Robot must be written as an object of the form {"at": …, "holds": …}'),
        ({"Robot": {"at": 1}, "Box": {}}, "must have one key, the name of a class"),
        ({}, "must have one key, the name of a class"),
        ({"Colour": "REED"}, "has no member 'REED'. Did you mean 'RED'?"),
        ({"Colour": 1}, "has no member 1"),
        ({"Doors": "front"}, "has no member 'front'"),
        ({"Box": {"content": 1, "size": "x", "doubled": 2}}, "must describe a valid Box"),
        ({"Frozen": 3}, "Frozen must be written as an object"),
        ({"Frozen": [1]}, "must describe a valid Frozen"),
        ({"$set": 3}, "`$set` must be a list"),
        ({"$float": "nan"}, "$float"),
        ({"$bytes": "?"}, "must be valid base 64"),
        ({"Loose": {"at": 3}}, "must define the class 'Loose'"),
        ({"os.system": ["true"]}, "must define the class 'os.system'"),
        ({"Path": {"args": "/"}}, "must define the class 'Path'"),
    ],
)
def test_codec_says_what_is_wrong(data, said):
    with pytest.raises(WorldError) as caught:
        codec.state_from_json(data)
    assert said in str(caught.value)


def test_codec_refuses_depth_without_a_crash():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(WorldError, match="too deeply"):
        codec.action_from_json(deep)
    nested = ()
    for _ in range(100_000):
        nested = (nested,)
    with pytest.raises(WorldError, match="too deeply"):
        codec.state_to_json(nested)
    with pytest.raises(WorldError, match="too deeply"):
        canonical(nested)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "NaN"),
        ([1], "States and actions must consist of"),
        (Loose(1), "States and actions must consist of"),
        (object(), "States and actions must consist of"),
        (1j, "States and actions must consist of"),
    ],
)
def test_codec_refuses_what_would_not_come_back(value, said):
    with pytest.raises(WorldError, match=said):
        codec.state_to_json(value)


def test_codec_refuses_a_class_that_is_not_offered():
    class Hidden(NamedTuple):
        at: int

    with pytest.raises(WorldError, match=r"must declare the class Hidden.*json_classes"):
        codec.state_to_json(Hidden(3))

    class Open(Yard):
        json_classes = (Hidden,)

    assert Codec(Open()).state_from_json({"Hidden": {"at": 3}}) == Hidden(3)


def test_codec_finds_classes_inside_above_and_declared():
    class Base:
        class Inner(NamedTuple):
            at: int

    class Derived(Base):
        class Robot(NamedTuple):  # nearer than the one of the module
            x: int

        def actions(self, state):
            return ()

    found = value_classes(Derived())
    assert found["Inner"] is Base.Inner
    assert found["Robot"] is Derived.Robot
    assert found["Box"] is Box
    assert "Loose" not in found
    assert "Mapping" not in found
    assert "Enum" not in found

    class Wrong:
        json_classes = (Loose,)

    with pytest.raises(WorldError, match="json_classes"):
        Codec(Wrong())


def test_codec_prefers_the_environments_own_json():
    class Line:
        def state_to_json(self, state):
            return {"x": state.at}

        def state_from_json(self, data):
            return Robot(data["x"])

    own = Codec(Line())
    assert own.state_to_json(Robot(3)) == {"x": 3}
    assert own.state_from_json({"x": 3}) == Robot(3)
    assert own.action_to_json(("go", 1)) == ["go", 1]
    with pytest.raises(WorldError, match=r"Line.state_from_json\({'y': 3}\) raised KeyError"):
        own.state_from_json({"y": 3})
    with pytest.raises(WorldError, match="must survive a round trip"):
        own.check(Robot(3, "mug"))


def test_codec_checks_the_environments_own_json():
    class Half:
        def action_to_json(self, action):
            return action

    with pytest.raises(WorldError, match="must have both action_to_json and action_from_json"):
        Codec(Half())

    class Odd:
        state_to_json = 3

    with pytest.raises(WorldError, match="state_to_json must be a method; got 3"):
        Codec(Odd())

    class Bad:
        def state_to_json(self, state):
            return {state}

        def state_from_json(self, data):
            return [data]

    with pytest.raises(WorldError, match="must return JSON"):
        Codec(Bad()).state_to_json(3)
    with pytest.raises(WorldError, match="unhashable"):
        Codec(Bad()).state_from_json(3)


def test_codec_canonical_text_is_the_same_in_every_process():
    code = (
        "from groundling.data.canonical import canonical\n"
        "words = [f'word{n}' for n in range(50)]\n"
        "print(canonical((frozenset(words), {w: {w, 1, (2,)} for w in words})))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(texts) == 1


def test_codec_canonical_text_of_anything():
    class Odd:
        def __init__(self, x):
            self.x = x
            self._cache = object()

    class Told:
        def __repr__(self):
            return "Told()"

    assert canonical(Odd(3)) == canonical(Odd(3)) == '{"Odd":{"x":3}}'
    assert canonical(Odd(3)) != canonical(Odd(4))
    assert canonical(Told()) == '{"Told":"Told()"}'
    assert canonical(Loose(2)) == '{"Loose":{"at":2}}'
    assert canonical(math.nan) == '{"$float":"nan"}'
    assert canonical(np.arange(3)) != canonical(np.arange(4))
    assert canonical(np.zeros(3)) == canonical(np.zeros(3))
    assert canonical(len) == canonical(len)
    assert "test_codec" in canonical(test_codec_canonical_text_of_anything)
    assert canonical([1, {2}]) == '[1,{"$set":[2]}]'
