"""Worlds by name: files, modules, entry points; every failure is one sentence."""

import pickle
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from groundling.data import worlds as module
from groundling.data.worlds import Worlds, load_world
from groundling.errors import WorldError
from tests.worlds import Line

KITCHEN = """
from dataclasses import dataclass
from neighbour import PLACES

@dataclass(frozen=True)
class State:
    at: str

class Kitchen:
    def __init__(self, places=PLACES, size=1):
        if size < 1:
            raise ValueError("it is too small.")
        self.places, self.size = places, size
    def actions(self, state): return tuple(self.places)
    def step(self, state, action): return State(action)
    def ground(self, state, action, after): ...

def make(size): return Kitchen(size=size)
def nothing(): return None
def leave(): raise SystemExit(3)
ready = Kitchen()
number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_kitchen.py").write_text(KITCHEN)
    (tmp_path / "neighbour.py").write_text("PLACES = ('sink', 'table')\n")
    # As a command has it: the present folder is not among those that are searched.
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", ".")])
    yield tmp_path
    for name, each in list(sys.modules.items()):
        if str(getattr(each, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def test_worlds_load_a_class_of_a_file(folder):
    kitchen = load_world("my_kitchen.py:Kitchen")
    assert kitchen.actions(None) == ("sink", "table")
    assert load_world('my_kitchen.py:Kitchen{"size": 3, "places": ["a"]}').places == ["a"]
    assert load_world('my_kitchen.py:Kitchen {"size": 3}', size=4).size == 4
    assert load_world(f"{folder}/my_kitchen.py:make", size=2).size == 2
    assert load_world("my_kitchen.py:ready") is load_world("./my_kitchen.py:ready")


def test_worlds_read_a_file_once_and_as_import_does(folder, monkeypatch):
    path = list(sys.path)
    kitchen = load_world("my_kitchen.py:Kitchen")
    assert sys.path == path
    monkeypatch.syspath_prepend(folder)
    import my_kitchen

    assert type(kitchen) is my_kitchen.Kitchen


def test_worlds_take_no_name_from_another_module(folder):
    (folder / "json.py").write_text(KITCHEN)
    import json

    assert type(load_world("json.py:Kitchen")).__module__.startswith("json_")
    assert sys.modules["json"] is json
    assert load_world("json.py:ready") is load_world("json.py:ready")


def test_worlds_load_from_a_module():
    assert load_world('tests.worlds:Line{"size": 3}').size == 3


def test_worlds_load_by_entry_point(monkeypatch):
    found = EntryPoints(
        [
            EntryPoint("line", "tests.worlds:Line", module.ENTRY_POINTS),
            EntryPoint("gone", "tests.no_such_module:Line", module.ENTRY_POINTS),
        ]
    )
    monkeypatch.setattr(module, "entry_points", lambda group: found.select(group=group))
    assert load_world('line{"size": 2}').size == 2
    with pytest.raises(WorldError, match=r"provides a world 'lime'. Did you mean 'line'\?"):
        load_world("lime")
    with pytest.raises(WorldError, match=r"'gone' \(tests.no_such_module:Line\) cannot be import"):
        load_world("gone")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kitchen.py:Kitchen", "no file kitchen.py. Did you mean 'my_kitchen.py'"),
        ("nowhere/kitchen.py:Kitchen", "There is no file nowhere/kitchen.py."),
        ("my_kitchen.py:Kichen", "my_kitchen.py does not define 'Kichen'. Did you mean 'Kitchen'?"),
        ("my_kitchen.py", "such as my_kitchen.py:Kitchen. It defines Kitchen."),
        ("my_kitchen:Kitchen", "For a file, write my_kitchen.py:Kitchen."),
        ("no_such.module:Kitchen", "There is no module 'no_such'."),
        ("kitchen", "For a user-defined world, pass its file and class"),
        ("my_kitchen.py:make", "make cannot be created without arguments: TypeError"),
        (
            'my_kitchen.py:Kitchen{"size": 0}',
            'created with {"size": 0}: ValueError: it is too small (line 12 of my_kitchen.py).',
        ),
        ('my_kitchen.py:Kitchen{"sise": 1}', "unexpected keyword argument 'sise'"),
        ("my_kitchen.py:leave", "cannot be created without arguments: SystemExit: 3"),
        ("my_kitchen.py:nothing", "must be an environment: None has no method `actions`."),
        ("my_kitchen.py:State", "must create an environment: it has no method `actions`."),
        ("my_kitchen.py:number", "must be an environment: 3 has no method `actions`."),
        ('my_kitchen.py:ready{"size": 3}', "must not be given arguments, because"),
        ("my_kitchen.py:Kitchen{size: 3}", "must be JSON"),
        (
            "broken.py:Kitchen",
            "cannot be imported: SyntaxError: '(' was never closed (line 2 of bro",
        ),
        (
            "raises.py:Kitchen",
            "cannot be imported: ZeroDivisionError: division by zero (line 2 of ra",
        ),
        (
            "needs.py:Kitchen",
            "cannot be imported: ModuleNotFoundError: No module named 'not_there'",
        ),
        ("broken:Kitchen", "There is no module 'broken'"),
        ("tests.worlds:", "does not define ''"),
        ("readme.md:Kitchen", "There is no module 'readme'"),
        ("./readme.md:Kitchen", "must be a Python file"),
    ],
)
def test_worlds_say_in_one_sentence_what_is_wrong(folder, name, said):
    (folder / "broken.py").write_text("x = 1\ny = (\n")
    (folder / "raises.py").write_text("x = 1\ny = x / 0\n")
    (folder / "needs.py").write_text("import not_there\n")
    (folder / "readme.md").write_text("text")
    with pytest.raises(WorldError) as caught:
        load_world(name)
    assert said in str(caught.value)
    assert "raises" not in sys.modules


def test_worlds_by_name_are_made_once_for_the_same_arguments():
    worlds = Worlds({"line": Line, "here": Line(2)})
    one = worlds.get("line", {"size": 3, "items": {"1": "sofa"}})
    assert worlds.get("line", {"items": {"1": "sofa"}, "size": 3}) is one
    assert worlds.get("line", {"size": 4}) is not one
    assert worlds.name_of(one.environment) == ("line", {"size": 3, "items": {"1": "sofa"}})
    assert worlds.name_of(worlds.get("here").environment) == ("here", {})
    assert worlds.name_of(Line()) is None
    assert worlds.names == ("line", "here")
    with pytest.raises(WorldError, match=r"there are several worlds\. Use one of 'line', 'here'"):
        worlds.get()


def test_worlds_need_no_name_where_there_is_one():
    for given in ("tests.worlds:Line", Line, {"Line": Line}, Worlds(Line)):
        worlds = Worlds.of(given)
        assert worlds.names == ("Line",)
        assert worlds.get("", {"size": 9}).environment.size == 9
        assert worlds.get("", {"size": 9}) is worlds.get("", {"size": 9})
        assert worlds.get("", {"size": 9}).environment is (
            worlds.get("Line", {"size": 9}).environment
        )
    line = Line()
    assert Worlds(line).get("Line").environment is line
    assert Worlds('tests.worlds:Line{"size": 3}').get().environment.size == 3


def test_worlds_keep_a_bounded_number_of_them(monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 3)
    worlds = Worlds(Line)
    first = worlds.get("Line", {"size": 1})
    for size in range(2, 12):
        worlds.get("Line", {"size": size})
        assert worlds.get("Line", {"size": 1}) is first  # used all the time
    assert len(worlds._known) == 3


def test_worlds_refuse_what_is_none():
    with pytest.raises(WorldError, match="must contain at least one world"):
        Worlds({})
    with pytest.raises(WorldError, match="lab must be an environment: 3"):
        Worlds({"lab": 3})


def test_worlds_travel_to_other_processes_by_name():
    worlds = Worlds("tests.worlds:Line")
    worlds.get()
    sent = pickle.loads(pickle.dumps(worlds))
    assert sent.get("", {"size": 5}).environment.size == 5


def test_worlds_of_a_file_load_quickly():
    code = "import sys, groundling.data.worlds\nprint('spacy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"
