"""The `groundling compile` command: compile all kernels ahead of time."""

from __future__ import annotations

from typing import Any

from groundling.cli.common import command


@command("Kernels compiled so far are kept; run the same command to resume.")
def compile_kernels() -> None:
    """Compile all kernels ahead of time, so that the first run is fast."""
    from rich.console import Console

    console = Console()
    compiled = "are now" if _use_all(console) else "were already"
    console.print(f"All kernels {compiled} compiled.", highlight=False)


def _use_all(console: Any) -> bool:
    """Run every kernel once on a tiny world; return whether any had to be compiled."""
    import warnings
    from contextlib import suppress

    from groundling import Demonstration, Features, Follower, GroundingGraph, Search
    from groundling.compiler import announced
    from groundling.errors import PluginError
    from groundling.models.every import every_model
    from groundling.tasks.task_registry import get_task, task_names

    class Lamp:
        def actions(self, state: str) -> tuple[str, ...]:
            return ("on", "off")

        def step(self, state: str, action: str) -> str:
            return action

        def ground(self, state: str, action: str, after: str) -> GroundingGraph:
            # Two nodes: graphs of one node use only the kernels of flat plans. Large numbers:
            # they force scoring in log space.
            event = {action: True, "way": action, "lumen": 5000.0 if action == "on" else 0.0}
            return GroundingGraph(
                {"event": event, "lamp": {"round": True}}, [("event", "lamp", "of")]
            )

    told: list[str] = []

    def tell(what: str) -> None:
        told.append(what)
        console.print(f"{what} …".capitalize(), highlight=False)

    shown = [
        Demonstration("light it", Lamp(), "off", ("on",)),
        Demonstration("douse it", Lamp(), "on", ("off",)),
    ]
    with announced(tell), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model is discarded
        ways = every_model()
        features = Features(slots=("way",), lexicon="learn", numbers=("real",))
        ways += [{**ways[0], "features": features}]
        for way in ways:
            follower = Follower(parser="chain", search=Search(max_length=1), **way).fit(shown * 10)
            follower.follow("light it", Lamp(), "off").explain()
        for name in task_names():
            with suppress(PluginError):  # a broken plug-in
                get_task(name).compile()
    return bool(told)
