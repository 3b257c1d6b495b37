"""Smoke test of an installed Groundling: fit, follow, save, load, files, commands, extras.

    python tools/smoke.py

This script imports only the package, so it runs in any environment: with the lowest and the newest
dependencies (`make versions`), and on an installed wheel.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Search, __file__
from groundling.data import Demonstrations

__all__ = ["main"]


class Lamps:
    """Three lamps, each on or off."""

    names = ("red", "green", "blue")

    def actions(self, state: tuple[bool, ...]) -> tuple[str, ...]:
        """Return one action for each lamp."""
        return self.names

    def step(self, state: tuple[bool, ...], action: str) -> tuple[bool, ...]:
        """Return the state with one lamp switched."""
        return tuple(lit != (name == action) for lit, name in zip(state, self.names, strict=True))

    def ground(
        self, state: tuple[bool, ...], action: str, after: tuple[bool, ...]
    ) -> GroundingGraph:
        """Return the graph of an action: the lamp."""
        return GroundingGraph({"lamp": {"colour": action, "lit": after != state}})


OFF = (False, False, False)
WORLD = Lamps()


def shown() -> list[Demonstration]:
    """Return the training demonstrations."""
    verbs = ("press", "switch", "touch")
    return [
        Demonstration(f"{verb} the {name} lamp", WORLD, OFF, (name,))
        for verb in verbs
        for name in Lamps.names
    ]


def follower() -> Follower:
    """Return a small follower."""
    return Follower(
        features=Features(slots=("colour",)),
        learning=Learning(iterations=20, tolerance=1e-3),
        search=Search(max_length=1),
    )


def must(true: object, what: str) -> None:
    """Exit with a message unless a condition is true."""
    if not true:
        raise SystemExit(f"Broken: {what}")


def has(*modules: str) -> bool:
    """Return whether all of some modules are installed."""
    return all(importlib.util.find_spec(each) is not None for each in modules)


def learn(folder: Path) -> str:
    """Fit, follow, explain, save and load."""
    learnt = follower().fit(shown())
    plan = learnt.follow("press the green lamp", WORLD, OFF)
    must(plan.actions == ("green",), f"follow answers {plan.actions}")
    must(str(plan.explain()), "explain says nothing")
    again = Follower.load(learnt.save(folder / "model"))
    must(again.follow("touch the blue lamp", WORLD, OFF).actions == ("blue",), "load")
    return "fit, follow, explain, save, load"


def files(folder: Path) -> str:
    """Write and read demonstrations."""
    endings = [".jsonl", ".jsonl.gz", *([".parquet"] if has("pyarrow") else [])]
    for ending in endings:
        Demonstrations(shown()).write(folder / f"shown{ending}")
        read = list(Demonstrations.read(folder / f"shown{ending}", worlds=WORLD, check=True))
        must([e.actions for e in read] == [e.actions for e in shown()], f"files {ending}")
    return f"files {' '.join(endings)}"


def shards(folder: Path) -> str:
    """Fit in shards, and on a cluster."""
    alone = follower().fit(shown(), memory="1GB").theta_
    if not has("distributed"):
        return "shards"
    together = follower().fit(shown(), cluster="local:1").theta_
    must(alone.tobytes() == together.tobytes(), "a cluster learns something else")
    return "shards, cluster"


def commands(folder: Path) -> str:
    """Run the command line."""
    groundling = Path(sys.executable).with_name("groundling")
    environment = {**os.environ, "NO_COLOR": "1"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [groundling, *arguments], cwd=folder, capture_output=True, text=True, check=False,
            env=environment, timeout=900,
        )  # fmt: skip
        must(not done.returncode, f"groundling {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done.stdout

    must("train" in run("--help"), "groundling --help")
    run("new", "my_world")
    [world] = [
        f"my_world.py:{line.split()[1].rstrip(':').partition('(')[0]}"
        for line in (folder / "my_world.py").read_text().splitlines()
        if line.startswith("class ") and "tuple" not in line.lower()
    ][:1]
    run("check", world, "demonstrations.jsonl")
    run("train", world, "demonstrations.jsonl", "--out", "own", "--parser", "chain")
    run("weights", "own", "--most", "3")
    return "commands: new, check, train, weights"


def extras(folder: Path) -> str:
    """Import the modules that need installed extras, and use a home."""
    told = []
    if has("fastapi", "uvicorn", "prometheus_client"):
        import groundling.studio.app
        import groundling.studio.service

        told.append("studio")
    if has("gymnasium", "minigrid"):
        import groundling.gym.task  # noqa: F401

        told.append("gym")
    if has("yaml", "hassil"):
        from groundling.home import read_home

        (folder / "home.yaml").write_text("entities: [{id: light.desk, name: Desk lamp}]")
        must(read_home(folder / "home.yaml").entities[0].domain == "light", "read_home")
        from groundling.home.agent import HomeAgent
        from groundling.home.model import load_model

        agent = HomeAgent(read_home(folder / "home.yaml"), load_model("en"))
        must(agent.reply("turn on the desk lamp").changes, "a home")
        told.append("home")
    if has("mcp", "yaml"):
        from groundling.cli.mcp import home_server

        must(home_server(agent, folder / "home.yaml"), "a server for agents")
        told.append("mcp")
    return f"extras: {', '.join(told) or 'none'}"


def main(arguments: Sequence[str] = ()) -> None:
    """Run all checks; stop at the first that fails."""
    print(f"Python {sys.version.split()[0]}, {Path(__file__).parent}")
    tries: tuple[Callable[[Path], str], ...] = (learn, files, shards, commands, extras)
    for each in tries:
        with tempfile.TemporaryDirectory() as name:
            print(f"  {each(Path(name))}: fine", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
