"""The page about files of demonstrations says what is so."""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

import pytest

from groundling.cli.skeleton import skeleton
from groundling.data import Demonstrations
from groundling.data.format import FIELDS

PAGE = (Path(__file__).parents[2] / "docs" / "demonstrations.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, files = skeleton("my_world")
    for each, content in files.items():
        (tmp_path / each).write_text(content)
    yield f"my_world.py:{name}"
    sys.modules.pop("my_world", None)


def test_page_prints_what_its_code_prints(world):
    [code] = blocks("python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "demonstrations.md", "exec"), {})
    assert printed.getvalue() in blocks("text")


def test_page_shows_records_that_can_be_carried_out(world, tmp_path):
    for number, block in enumerate(blocks("json")):
        (tmp_path / f"{number}.jsonl").write_text(block)
    found = list(Demonstrations.read("[0-9].jsonl", worlds=world, check=True))
    assert len(found) == 6
    assert found[5].start.room == "hall"


def test_page_names_every_field():
    table = PAGE.split("| field |")[1].split("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == FIELDS


def test_page_shows_an_error_as_it_is(world, tmp_path):
    record = {"text": "go", "strat": 1, "actions": []}
    Path("demonstrations.jsonl").write_text("\n" * 11 + json.dumps(record))
    with pytest.raises(Exception, match="strat") as caught:
        list(Demonstrations.read("demonstrations.jsonl", worlds=world))
    assert f"{caught.value}\n" in blocks("text")
