"""Homes of strangers: large, with odd numbers and names; bounded, and never a raw error."""

import json
import resource
import time

import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.home import Home
from groundling.home.agent import HomeAgent
from groundling.home.home import HomeError
from tests.promises.soaking import SECONDS

pytest.importorskip("yaml", reason="needs groundling[home]")
ODD = (float("nan"), float("inf"), -float("inf"), 1e308, 10**400, -1, "", "x" * 5000, None, True,
       [], [1e308], ["a", "b"])  # fmt: skip
TEXTS = ("turn on the lamp", "set the lamp to 50 percent", "dim the lamp", "brighten the lamp",
         "is the lamp on?", "how bright is the lamp?", "make it warmer", "what is the temperature?",
         "set the lamp to 20 degrees", "turn up the lamp")  # fmt: skip


def home(**entity):
    given = {"id": "light.a", "name": "Lamp", "area": "k", "state": "off", **entity}
    return Home.from_data({"areas": [{"id": "k", "name": "Kitchen"}], "entities": [given]})


def check(reply):
    told = json.dumps(reply.to_dict(), allow_nan=False)
    assert reply.kind in ("act", "ask", "answer", "decline"), told


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd)[:12])
def test_bounded_homes_odd_attributes_are_read_as_unknown(odd):
    attributes = dict.fromkeys(("brightness", "temperature", "current_temperature"), odd)
    for domain in ("light", "climate"):
        agent = HomeAgent(home(id=f"{domain}.a", attributes=attributes))
        for text in TEXTS:
            check(agent.reply(text))
        given = {f"{domain}.a": {"state": "on", "attributes": attributes}}
        check(agent.reply("dim the lamp", states=given))


@pytest.mark.parametrize("name", [
    "\u202elamp", "e\u0301" * 500, "👨‍👩‍👧‍👦", "İ", "ﬁ", "\u200b.", "a\nb", "<b>", "{name}", "(a|b",
    "*" * 900, "٣", "\ud800", "\0", "\x1b[2J", "lamp " * 300,
])  # fmt: skip
def test_bounded_homes_odd_names_are_replied_to(name):
    for made in (home(name=name), home(aliases=[name])):
        agent = HomeAgent(made)
        for text in (name[:500], f"turn on {name[:300]}", "turn on the lamp"):
            check(agent.reply(text))


COUNT = 10_000 if SECONDS else 4_000


def test_bounded_homes_with_many_similar_names_take_seconds_and_little_memory():
    """Each name shares a word with all others: that must not cost a step for every pair."""
    things = [{"id": f"light.e{n}", "name": f"lamp {n}", "state": "off"} for n in range(COUNT)]
    agent = HomeAgent(Home.from_data({"entities": things}))
    check(agent.reply("turn on lamp 7"))
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text in ("turn on the lamp", "turn on all lights", "how many lights are on?"):
        check(agent.reply(text))
    assert time.process_time() - began < COUNT / 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_bounded_homes_names_that_repeat_a_word_take_seconds():
    agent = HomeAgent(home(name="lamp " * 399, aliases=["lamp a " * 200]))
    began = time.process_time()
    check(agent.reply("lamp " * 700))
    assert time.process_time() - began < 10
    with pytest.raises(HomeError, match="must have at most 2,000 characters"):
        home(name="lamp " * 200_000)
    with pytest.raises(HomeError, match="must have at most 2,000 characters"):
        home(aliases=["x" * 2_001])
    with pytest.raises(HomeError, match="must have at most 50,000 names and aliases"):
        home(aliases=[f"lamp {number}" for number in range(50_000)])


@pytest.mark.parametrize("text", [
    "turn on the lamp and ", "turn on the desk lamp, ", "movie time and ", "in 5 minutes ",
    "set the lamp to 5 percent and turn it off ",
])  # fmt: skip
@pytest.mark.parametrize("count", [16, 150])
def test_bounded_homes_texts_of_many_commands_take_seconds(text, count):
    """Such a text can be divided in very many ways."""
    data = {"entities": [{"id": f"light.{name}", "name": name} for name in ("desk lamp", "lamp")],
            "phrases": [{"phrase": "movie time", "does": ["movie time"] * 20}]}  # fmt: skip
    agent = HomeAgent(Home.from_data(data))
    agent.reply("turn on the desk lamp")
    began = time.process_time()
    check(agent.reply((text * count)[:4000]))
    assert time.process_time() - began < 5


def test_bounded_homes_cannot_control_the_terminal(tmp_path):
    path = tmp_path / "export"
    path.mkdir()
    things = [{"entity_id": "light.a", "name": "Lamp\x1b]0;x\x07"}]
    states = [{"state": {"entity_id": "light.a", "state": "\ud800\x9b2J", "attributes": {}}}]
    for name, content in (("entity_registry", {"entities": things}), ("restore_state", states)):
        (path / f"core.{name}").write_text(json.dumps({"data": content}))
    for wanted in ([], ["--json", "-"], ["--json", str(tmp_path / "told.jsonl")]):
        for text in ("turn on the lamp", "is the lamp on?"):
            told = CliRunner().invoke(app, ["home", "reply", *wanted, "--", str(path), text])
            assert told.exit_code == 0, told.output
            assert not set("\x1b\x07\x9b") & set(told.output)
    assert json.loads((tmp_path / "told.jsonl").read_text())["kind"] == "answer"
