"""Gains of automatic settings in mazes: `python -m research.mazes_auto CORPORA/sail Grid-L`.

Settings are chosen from the sentences of one map, a follower is trained on it, and the sentences of
another map are followed. The script then repeats this without composed demonstrations, without a
second member, and with longer training.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

from groundling import Demonstration, Ensemble, Follower
from groundling.tasks.mazes.corpus import Sail, load_sail
from groundling.tasks.mazes.maze_presets import PRESETS, prepare_sentences
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.judgement import is_right

__all__ = ["main", "measure", "settings"]


def settings(chosen: Follower) -> Iterator[tuple[str, Follower]]:
    """Yield the followers to compare: chosen settings, some of them removed, longer training.

    >>> [name for name, _ in settings(Follower())]
    ['as chosen', 'one member', 'not composed', 'neither', 'longer']
    """
    model = chosen.model
    alone = {"model": model.model} if isinstance(model, Ensemble) else {}
    plain = {"learning__composed": 0.0}
    for name, changes in (
        ("as chosen", {}),
        ("one member", alone),
        ("not composed", plain),
        ("neither", alone | plain),
        ("longer", {"learning__tolerance": 1e-4}),
    ):
        yield name, Follower(**chosen.get_params(deep=False)).set_params(**changes)


def measure(
    shown: Sequence[Demonstration], asked: Sequence[Demonstration]
) -> Iterator[tuple[str, float, float]]:
    """Yield, for each follower, its accuracy and the processor seconds of `fit`."""
    chosen = Follower().fit(shown, check=False).chosen()
    for name, follower in settings(chosen):
        began = time.process_time()
        follower.fit(shown, check=False)
        took = time.process_time() - began
        plans = follower.follow_many((e.instructions, e.environment, e.start) for e in asked)
        right = sum(
            is_right(CachedEnvironment(e.environment), e, p)
            for e, p in zip(asked, plans, strict=True)
        )
        yield name, right / len(asked), took


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure pairs of maps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the SAIL corpus")
    parser.add_argument("pairs", nargs="*", help="such as Grid-L: train on Grid, test on L")
    given = parser.parse_args(arguments)
    sail = load_sail(given.folder)
    auto = PRESETS.select("auto")
    for pair in given.pairs or ["-".join(each) for each in permutations(sail.mazes, 2)]:
        names = pair.split("-")
        maps = {name: sail.mazes[name] for name in names}
        shown, asked = prepare_sentences(auto, Sail(maps, sail.report)).values()
        for name, right, took in measure(shown, asked):
            print(f"{pair}  {name:<14} {right:.3f}  {took:.0f} s", flush=True)


if __name__ == "__main__":
    main()
