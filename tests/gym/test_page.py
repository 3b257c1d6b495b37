"""The lines on the page do what it says."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE, REFERENCE = DOCS / "gymnasium.md", DOCS / "reference"


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


@pytest.mark.parametrize("package", ["gym", "studio"])
def test_page_of_reference_lists_everything_public(package):
    pytest.importorskip("gymnasium" if package == "gym" else "fastapi")
    listed = set(
        re.findall(r"^::: (\S+)", (REFERENCE / f"{package}.md").read_text("utf-8"), re.MULTILINE)
    )
    home = importlib.import_module(f"groundling.{package}")
    for found in pkgutil.walk_packages(home.__path__, f"groundling.{package}."):
        module = importlib.import_module(found.name)
        for name in module.__all__:
            where = getattr(getattr(module, name), "__module__", found.name)
            if where == found.name:
                assert {found.name, f"{found.name}.{name}"} & listed, f"{found.name}.{name}"
