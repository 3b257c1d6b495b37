"""The page on what Groundling understands prints what it says, and its table is that of the run."""

import json
import random
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from benchmarks.understanding import WORLDS, table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/understanding.md").read_text(encoding="utf-8")


def test_page_prints_what_it_says():
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)
    for code, expected in blocks:
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "docs/understanding.md", "exec"), names)
        assert printed.getvalue() == expected


def test_page_has_the_figures_of_the_run():
    rows = json.loads((ROOT / "results/understanding.json").read_text(encoding="utf-8"))["rows"]
    assert {*rows} == {*WORLDS, "unexplained words"}
    assert table(rows) in PAGE
    strange = rows.pop("unexplained words")
    assert all(row["exact"] >= 0.95 for row in rows.values())
    assert strange["confidence"] < 0.1 < 0.9 < strange["confidence otherwise"]


@pytest.mark.parametrize("world", WORLDS)
def test_worlds_can_be_carried_out(world):
    rng = random.Random(0)
    for training in (True, False):
        shown = WORLDS[world].draw(rng, training)
        state = shown.start
        for action in shown.actions:
            assert shown.environment.ground(state, action, shown.environment.step(state, action))
            state = shown.environment.step(state, action)
