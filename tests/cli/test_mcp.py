"""The tools that agents get, called by the client of the official SDK."""

import asyncio
import json

import pytest

from groundling import Demonstration, Follower
from groundling.cli.mcp import home_server, world_server
from groundling.cli.stage import Stage
from groundling.examples import Lamp
from groundling.tasks.benchmark import Scene

mcp = pytest.importorskip("mcp", reason="needs groundling[mcp]")
yaml = pytest.importorskip("yaml", reason="needs groundling[home]")


def call(server, *calls):
    """Return what tools answer, one call after another in one session."""

    async def session():
        async with mcp.Client(server) as client:
            listed = {each.name for each in (await client.list_tools()).tools}
            return listed, [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(session())


def told(result):
    return result.structured_content or {"result": result.content[0].text}


@pytest.fixture
def home(tmp_path):
    from groundling.home import read_home
    from groundling.home.agent import HomeAgent
    from tests.home.homes import DATA

    path = tmp_path / "home.yaml"
    path.write_text(yaml.safe_dump(DATA), encoding="utf-8")
    return home_server(HomeAgent(read_home(path)), path)


def test_mcp_a_home_follows_describes_explains_and_is_taught(home):
    tools, found = call(
        home,
        ("follow", {"text": "turn on the desk lamp"}),
        ("describe", {}),
        ("explain", {"text": "lock the front door"}),
        ("teach", {"phrase": "tea break", "does": ["turn off the floor lamp"]}),
        ("follow", {"text": "tea break"}),
        ("follow", {"text": "turn on the desk lamp", "area": "moon"}),
    )
    assert tools == {"follow", "explain", "describe", "teach"}
    followed, described, explained, taught, again, wrong = found
    assert told(followed)["changes"] == {"light.desk": {"state": "on"}}
    assert told(described)["things"]["light.desk"]["state"] == "on"
    assert "lock lock.door" in json.dumps(told(explained))
    assert "now means" in json.dumps(told(taught))
    assert told(again)["changes"] == {"light.floor": {"state": "off"}}
    assert wrong.is_error


def test_mcp_a_world_follows_describes_explains_and_is_taught():
    shown = [
        Demonstration("light the lamp", Lamp(), "off", ("on",)),
        Demonstration("darken the lamp", Lamp(), "on", ("off",)),
    ]
    follower = Follower(parser="chain").fit(shown, check=False)
    stage = Stage(follower, None, Scene("lamp", Lamp(), "off"), None)
    tools, found = call(
        world_server(stage, shown),
        ("describe", {}),
        ("explain", {"text": "light the lamp"}),
        ("teach", {"text": "brighten up", "actions": ["on"]}),
        ("follow", {"text": "light the lamp"}),
        ("teach", {"text": "explode", "actions": ["boom"]}),
    )
    assert tools == {"follow", "explain", "describe", "teach"}
    described, explained, taught, followed, wrong = found
    assert told(described)["actions"] == ["on", "off"]
    assert "light" in json.dumps(told(explained))
    assert "now means" in json.dumps(told(taught))
    assert told(followed)["state"] == "on"
    assert wrong.is_error
    _, [without] = call(world_server(stage, []), ("teach", {"text": "a", "actions": ["on"]}))
    assert without.is_error
