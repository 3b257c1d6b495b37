"""Picture of docs/puzzles.md: `python docs/puzzle_picture.py puzzle.png`.

Trains on generated puzzles, solves a new puzzle from its hints, and draws the solution.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from groundling.explain.prose import caused_by
from groundling.plan import Plan
from groundling.svg import draw_way, write_picture
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.puzzles.corpus import PuzzleCorpus
from groundling.tasks.puzzles.environment import PuzzleEnvironment
from groundling.tasks.puzzles.generator import generate_corpus, generate_puzzle
from groundling.tasks.puzzles.task import PuzzleTask
from groundling.world.environment import Environment

__all__ = ["follow_demo", "main"]


def follow_demo(puzzles: int = 40, *, size: int = 6, seed: int = 7) -> Plan:
    """Return a plan for the hints of a puzzle, after training on other generated puzzles."""
    task = PuzzleTask()
    chosen = task.default()
    new = generate_puzzle(size, size, 3, seed=seed, density=0.5, number=puzzles + 1)
    corpus = PuzzleCorpus((*generate_corpus(puzzles, seed=1, sizes=(4, 6)), new))
    *shown, asked = task.prepare(corpus, chosen)
    follower = chosen.fit(demonstrations(shown), check=False)
    return follower.follow(asked.demonstration.instructions, chosen.world(), new.start)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the solved puzzle into the file that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path, help="a PNG, SVG or PDF file")
    parser.add_argument("--seed", type=int, default=7)
    settings = parser.parse_args(arguments)
    plan = follow_demo(seed=settings.seed)
    captions = [
        f"{number}. {action}  ← {caused_by(step)}"
        for number, (action, step) in enumerate(
            zip(plan.actions, plan.explain().steps, strict=True), 1
        )
    ]
    drawing = draw_way(cast(Environment, PuzzleEnvironment()), plan.states)
    title = "What the follower strikes, three blocks at a time, and the hints it read"
    write_picture(drawing, settings.out, title, captions)


if __name__ == "__main__":
    main()
