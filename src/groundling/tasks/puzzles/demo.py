"""A demonstration: learn from generated puzzles, solve a new one from its hints, draw it.

`python -m groundling.tasks.puzzles.demo puzzle.png` makes the picture of the documentation.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from groundling.explain.explanation import Plan
from groundling.tasks.puzzles.generator import generate_corpus, generate_puzzle
from groundling.tasks.puzzles.picture import draw_followed
from groundling.tasks.puzzles.presets import PRESETS
from groundling.tasks.puzzles.protocol import prepare

__all__ = ["follow_demo", "main"]


def follow_demo(puzzles: int = 40, *, size: int = 6, seed: int = 7) -> Plan:
    """Learn from generated puzzles and follow the hints of another one.

    >>> plan = follow_demo(8, size=4)
    >>> plan.end.board.blocks
    0
    """
    chosen = PRESETS.select("best")
    new = generate_puzzle(size, size, 3, seed=seed, density=0.5, number=puzzles + 1)
    *shown, asked = prepare(chosen, [*generate_corpus(puzzles, seed=1, sizes=(4, 6)), new])
    follower = chosen.follower().fit((each.demonstration for each in shown), check=False)
    return follower.follow(asked.demonstration.instructions, chosen.world(), new.start)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the demonstration, from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path, help="a PNG, SVG or PDF file")
    parser.add_argument("--seed", type=int, default=7)
    settings = parser.parse_args(arguments)
    title = "Hints and what the follower strikes, three blocks at a time"
    draw_followed(follow_demo(seed=settings.seed), title=title, path=settings.out)


if __name__ == "__main__":
    main()
