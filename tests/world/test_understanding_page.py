"""The page on what Groundling understands prints what it says, and its table is that of the run."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

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
    table = PAGE.partition("<!-- understanding -->")[2]
    for name in ("names", "one typo", "open values", "sets", "two commands", "rare words"):
        line = next(each for each in table.splitlines() if each.startswith(f"| {name}"))
        exact = f"{rows[name]['exact']:.3f}".removeprefix("0")
        assert line.split("|")[2].strip() == exact
        assert rows[name]["exact"] >= 0.95
    assert rows["unexplained words"]["confidence"] < 0.1
