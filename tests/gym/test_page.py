"""The lines on the page do what it says."""

import importlib
import pkgutil
import re
from inspect import isclass, isfunction
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


def code_of(section, names=None):
    """Run the first lines of a section; return what they define."""
    text = PAGE.read_text("utf-8").split(f"\n{section}\n", 1)[1]
    found = dict(names or {})
    exec(compile(re.search(r"```python\n(.*?)```", text, re.S)[1], str(PAGE), "exec"), found)
    return found


def test_page_own_scene_is_complete(capsys):
    pytest.importorskip("gymnasium")
    found = code_of("## Your own scene of objects")
    said = capsys.readouterr().out.strip()
    assert said == "Done: grab the blue mug; put the jar; beside the plate. (0, 4, 2, 2)"
    assert said in PAGE.read_text("utf-8")
    german = code_of("### How texts are split", found)["GermanCounter"]()
    assert german.read("Nimm die Tasse, dann stell sie neben den Teller.") == (
        "nimm die tasse", "dann stell sie", "neben den teller"
    )  # fmt: skip


def test_page_simulator_is_complete(capsys):
    pytest.importorskip("gymnasium")
    found = code_of("## Any other simulator")
    assert capsys.readouterr().out.strip() == "Done: Go to floor 3; Open the doors. 3 1"
    env, follower = found["env"], found["follower"]
    right = 0
    for seed in range(200, 210):
        env.reset(seed=seed)
        found["world"].agent(follower).act(f"go to floor {seed % 6}", env)
        right += env.floor == seed % 6
    assert right >= 8


@pytest.mark.parametrize("package", ["gym", "studio"])
def test_page_of_reference_lists_everything_public(package):
    pytest.importorskip("gymnasium" if package == "gym" else "fastapi")
    listed = set(
        re.findall(r"^::: (\S+)", (REFERENCE / f"{package}.md").read_text("utf-8"), re.MULTILINE)
    )
    home = importlib.import_module(f"groundling.{package}")
    for found in pkgutil.walk_packages(home.__path__, f"groundling.{package}."):
        module = importlib.import_module(found.name)
        own = [each for each in vars(module).values() if isclass(each) or isfunction(each)]
        for name in (each.__name__ for each in own if each.__module__ == found.name):
            if not name.startswith("_"):
                assert {found.name, f"{found.name}.{name}"} & listed, f"{found.name}.{name}"
