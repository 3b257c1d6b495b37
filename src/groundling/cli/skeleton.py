"""Template files of `groundling new`: a small working world to edit."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def skeleton(module: str) -> tuple[str, dict[str, str]]:
    """Return the class name of a new world, and a mapping from file names to contents.

    >>> name, made = skeleton("my_world")
    >>> name, sorted(made)
    ('MyWorld', ['demonstrations.jsonl', 'my_world.py', 'test_my_world.py'])
    """
    name = "".join(part[:1].upper() + part[1:] for part in module.split("_"))
    if name in ("State", "GroundingGraph", "NamedTuple"):
        name += "World"
    folder = files("groundling.cli") / "templates"
    world, test, shown = (
        (folder / each).read_text(encoding="utf-8")
        for each in ("world.py.txt", "test_world.py.txt", "demonstrations.jsonl")
    )
    return name, {
        f"{module}.py": Template(world).substitute(module=module, Name=name),
        "demonstrations.jsonl": shown,
        f"test_{module}.py": Template(test).substitute(module=module, Name=name),
    }
