"""Tests see the entry points of this checkout, even where an older one is installed."""

import os
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory


def pytest_configure(config):
    """Put the entry points of pyproject.toml on the path unless they are installed."""
    file = Path(__file__).parent / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    groups = project["entry-points"]
    installed = {
        group: {each.name: each.value for each in entry_points(group=group)} for group in groups
    }
    if all(groups[group].items() <= installed[group].items() for group in groups):
        return
    made = TemporaryDirectory(prefix="groundling-entry-points-")
    config.add_cleanup(made.cleanup)
    name, version = project["name"], project["version"]
    folder = Path(made.name, f"{name}-{version}.dist-info")
    folder.mkdir()
    folder.joinpath("METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    lines = []
    for group, offered in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in offered.items())]
    folder.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")
    # Of two distributions of one name the first on the path is taken, here and in processes.
    sys.path.insert(0, made.name)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (made.name, before)))
