"""Generator of gSCAN samples, with the same commands and held-out combinations."""

from __future__ import annotations

import random
from collections.abc import Iterator

from groundling.tasks.gscan.corpus import SPLITS, TRAIN, GscanExample
from groundling.tasks.gscan.environment import (
    MANNERS,
    VERBS,
    Grid,
    GridThing,
    GscanCommand,
    GscanEnvironment,
)

_SHAPES, _COLOURS = ("circle", "square", "cylinder"), ("red", "blue", "green", "yellow")
_SIZE, _SIZES = 6, (1, 2, 3, 4)


def generate_corpus(train: int, test: int, seed: int = 0) -> list[GscanExample]:
    """Generate examples of all splits; only test splits have held-out combinations."""
    rng = random.Random(seed)
    wanted = {TRAIN: train, **dict.fromkeys(SPLITS.values(), test)}
    found: dict[str, list[GscanExample]] = {name: [] for name in wanted}
    for example in _examples(rng):
        if len(found[example.split]) < wanted[example.split]:
            found[example.split].append(example)
        elif example.split == TRAIN and len(found["test"]) < test:
            found["test"].append(GscanExample("test", *list(vars(example).values())[1:]))
        elif all(len(found[name]) >= count for name, count in wanted.items()):
            break
    return [each for some in found.values() for each in some]


def _examples(rng: random.Random) -> Iterator[GscanExample]:
    world = GscanEnvironment()
    while True:
        cells = [(row, column) for row in range(_SIZE) for column in range(_SIZE)]
        (row, column), *places = rng.sample(cells, rng.randint(8, 12) + 1)
        things = tuple(
            GridThing(*place, rng.choice(_SHAPES), rng.choice(_COLOURS), rng.choice(_SIZES))
            for place in sorted(places)
        )
        grid = Grid(_SIZE, row, column, rng.randrange(4), things)
        target = rng.choice(things)
        size, colour = rng.choice(("", "small", "big")), rng.choice(("", target.colour))
        like = [e for e in things if e.shape == target.shape and colour in ("", e.colour)]
        sizes = sorted({each.size for each in like})
        meant = [each for each in like if not size or each.size == target.size]
        extreme = len(sizes) == 2 and target.size == (sizes[0] if size == "small" else sizes[-1])
        if len(meant) > 1 or (size and not extreme):
            continue
        verb, manner = rng.choice(VERBS), rng.choice(list(MANNERS))
        said = f"{verb} to a" if verb == "walk" else f"{verb} a"
        words = (said, *rng.sample([size, colour], 2), target.shape, manner)
        command = GscanCommand(verb, things.index(target), list(MANNERS).index(manner))
        text, moves = " ".join(filter(None, words)), world.execute(grid, command)
        if moves:
            yield GscanExample(_split(grid, target, command, text), text, grid, command, moves)


def _split(grid: Grid, target: GridThing, command: GscanCommand, text: str) -> str:
    """Return the letter of the split to which a command belongs."""
    manner = list(MANNERS)[command.manner]
    if manner == "cautiously":
        return SPLITS["G"]
    if command.verb == "pull" and manner == "while spinning":
        return SPLITS["H"]
    if target.shape == "square" and target.colour == "red":
        return SPLITS["C"]
    if target.shape == "square" and "yellow" in text:
        return SPLITS["B"]
    if target.row > grid.row and target.column < grid.column:
        return SPLITS["D"]
    if target.shape == "circle" and target.size == 2 and "small" in text:
        return SPLITS["E"]
    if target.shape == "square" and target.size == 3 and command.verb == "push":
        return SPLITS["F"]
    return TRAIN
