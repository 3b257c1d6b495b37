"""Tools for language-model agents: hostile inputs end in our sentences and change nothing."""

import asyncio

import pytest

pytest.importorskip("mcp", reason="needs groundling[mcp]")
pytest.importorskip("yaml", reason="needs groundling[home]")

from rich.console import Console

from groundling import Follower
from groundling.cli.mcp import home_server, world_server
from groundling.cli.stage import set_stage
from groundling.examples import lamp_demonstrations
from groundling.home.agent import HomeAgent
from groundling.home.home import Home, phrases_path, read_home
from groundling.home.model import load_model

HOME = """
areas: [{id: kitchen, name: Kitchen}]
entities: [{id: light.desk, name: Desk lamp, area: kitchen}, {id: light.b, name: Big lamp}]
"""
TEXTS = ("", "...", "\0", "\ud800", "x" * 5000, "a " * 3000, "\u202e", "💡" * 100, "'; rm -rf /")
OTHERS = (None, 3, [], {"a": 1}, 10**400)
DOES = ("turn on the desk lamp",)


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home.yaml"
    path.write_text(HOME)
    return path


def call(server, tool, **given):
    """Return what a tool says, or the sentence that an agent is told instead."""
    from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

    try:
        said = str(asyncio.run(server.call_tool(tool, given)))
    except UnexpectedToolError as error:
        raise AssertionError(f"{tool} {given}") from error
    except ToolError as error:
        said = f"told: {error}"
    return said


def test_agents_are_told_our_errors_in_a_home(home):
    agent = HomeAgent(read_home(home), load_model("en"))
    server = home_server(agent, home)
    before = dict(agent.states)
    for text in (*TEXTS, *OTHERS):
        for tool in ("follow", "explain"):
            call(server, tool, text=text)
            assert "told: " in call(server, tool, text="turn on it", area=text or "nowhere")
        if text not in ("💡" * 100, "'; rm -rf /"):
            assert "told: " in call(server, "teach", phrase=text, does=list(DOES))
        assert "told: " in call(server, "teach", phrase="movie", does=[text])
        assert "told: " in call(server, "teach", phrase="movie", does=text)
    assert "at most 20 texts" in call(server, "teach", phrase="movie", does=list(DOES * 1000))
    assert "at most 4,000 characters" in call(server, "follow", text="x" * 5000)
    assert agent.states == before
    assert {each.phrase for each in agent.home.phrases} <= {"💡" * 100, "'; rm -rf /"}


def test_agents_are_told_our_errors_before_a_phrase_is_written(home):
    server = home_server(HomeAgent(read_home(home), load_model("en")), home)
    assert "must be a clear request" in call(server, "teach", phrase="movie time", does=["xyzzy"])
    assert not phrases_path(home).exists()
    assert "told: " not in call(server, "teach", phrase="movie time", does=list(DOES))
    assert [each.phrase for each in read_home(home).phrases] == ["movie time"]


@pytest.mark.parametrize(
    "does",
    [
        {"movie time": ["movie time"]},
        {"movie time": ["party time"] * 8, "party time": ["movie time"] * 8},
        {f"party {n} time": [f"party {n + 1} time"] * 6 for n in range(8)},
    ],
)
def test_phrases_that_stand_for_each_other_end(does):
    entities = [{"id": "light.desk", "name": "Desk lamp"}]
    phrases = [{"phrase": phrase, "does": texts} for phrase, texts in does.items()]
    agent = HomeAgent(Home.from_data({"entities": entities, "phrases": phrases}), load_model("en"))
    before = {id_: dict(each) for id_, each in agent.states.items()}
    agent.reply(next(iter(does)))
    assert agent.states["light.desk"] == before["light.desk"]


def test_agents_are_told_our_errors_in_a_world(tmp_path):
    (tmp_path / "lamp.py").write_text(
        "from groundling.examples import Lamp as Base\nclass Lamp(Base):\n    start = 'off'\n"
    )
    Follower(parser="chain").fit(lamp_demonstrations()).save(tmp_path / "model")
    stage = set_stage(tmp_path / "model", Console(stderr=True), world=f"{tmp_path}/lamp.py:Lamp")
    server = world_server(stage, [])
    for text in (*TEXTS, *OTHERS):
        for tool in ("follow", "explain"):
            call(server, tool, text=text)
    assert "at most 4,000 characters" in call(server, "follow", text="x" * 5000)
    assert "the server with --shown" in call(server, "teach", text="light it", actions=["on"])
    shown = world_server(stage, list(lamp_demonstrations()))
    for actions in ([], [""], ["\ud800"], "on", ["on"] * 400_000):
        assert "told: " in call(shown, "teach", text="light it", actions=actions)
    told = call(shown, "teach", text="light it", actions=["on"] * 101)
    assert "must have at most 100 actions" in told
