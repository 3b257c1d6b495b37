"""The lines on the page do what it says."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "gymnasium.md"


def test_page_first_follower_takes_fifteen_lines_at_most(capsys):
    pytest.importorskip("minigrid")
    [code] = re.findall(
        r"## A first follower\n\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.S
    )
    assert len(code.strip().splitlines()) <= 15
    exec(compile(code, str(PAGE), "exec"), {})
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 5
    assert sum(line.endswith(": success") for line in said) >= 4
