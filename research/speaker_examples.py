"""Twenty evenly spaced plans in words: `python -m research.speaker_examples`.

Trains on two generated mazes, and describes plans of a third one.
"""

from __future__ import annotations

import warnings

from groundling import Plan
from groundling.errors import GroundlingWarning
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.task_registry import get_task
from groundling.world.cached_environment import CachedEnvironment

__all__ = ["main", "table"]

COUNT = 20


def table(size: float = 1.0) -> str:
    """Return a table of plans, with the text of the corpus and the speaker's text."""
    task = get_task("mazes")
    corpus = task.load(None, size)
    cases = task.prepare(corpus, chosen := task.presets.select("best"))
    held_out = task.held_out(corpus)
    follower = chosen.fit(demonstrations(cases, held_out), check=False)
    test = [each.demonstration for each in cases if each.part in held_out]
    lines = ["| plan | said | generated |", "|---|---|---|"]
    for each in test[:: max(1, len(test) // COUNT)][:COUNT]:
        way = CachedEnvironment(each.environment).trace(each.start, each.actions)
        plan = Plan(way.actions, way.states, 0.0, 1.0)
        text = each.instructions
        said = text if isinstance(text, str) else " ".join(map(str, text))
        generated = follower.describe(plan, each.environment)
        lines.append(f"| {', '.join(map(str, each.actions))} | {said} | {generated} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", GroundlingWarning)
    print(table())


if __name__ == "__main__":
    main()
