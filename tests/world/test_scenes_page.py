"""The page on scenes prints what it says, and its table is that of the run."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/scenes.md").read_text(encoding="utf-8")


def test_page_prints_what_it_says():
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)
    for code, expected in blocks:
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "docs/scenes.md", "exec"), names)
        assert printed.getvalue() == expected


def test_page_of_gscan_has_the_figures_of_the_run():
    rows = json.loads((ROOT / "results/gscan.json").read_text(encoding="utf-8"))["rows"]
    page = (ROOT / "docs/gscan.md").read_text(encoding="utf-8")
    for row in rows:
        line = next(each for each in page.splitlines() if each.startswith(f"| {row['name']} |"))
        shown = [each.strip() for each in line.split("|")[2:-1]]
        figures = [row["metrics"][letter] for letter in "ABCDEFGH"]
        assert shown == [f"{each:.3f}".removeprefix("0") for each in figures]
