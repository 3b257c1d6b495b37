"""The client in the documentation works."""

import re
from pathlib import Path

import pytest

from groundling import Demonstration
from groundling.follower import Follower
from groundling.studio.kitchen import Kitchen
from groundling.studio.scenes import open_setting
from groundling.studio.served import Served
from groundling.studio.service import make_service
from tests.studio.conftest import serving

PAGE = Path(__file__).parents[2] / "docs" / "service.md"


def test_docs_client_of_twenty_lines_follows_and_tells_errors(tmp_path):
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 22
    names = {}
    exec(code, names)
    kitchen = Kitchen()
    shown = [Demonstration("zum Tisch", kitchen, kitchen.start, ("go to the table",))]
    Follower().fit(shown).save(tmp_path)
    world = "groundling.studio.kitchen:Kitchen"
    served = Served(open_setting({"kind": "model", "model": str(tmp_path), "world": world}))
    with serving(make_service(served, token="a-long-token")) as address:
        client = names["Groundling"](address, "a-long-token")
        told = client.follow("zum Tisch")
        assert told["actions"] == ["go to the table"]
        assert client.follow("zum Tisch", told["states"][0]) == told
        with pytest.raises(RuntimeError, match="The text must contain at least one word"):
            client.follow("")
