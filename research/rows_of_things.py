"""What ranks and `beside` bring: `python -m research.rows_of_things`.

Things stand in a row; one is asked for by its place among all, or among those of its colour
or kind: “take the second cup from the right”, “take the leftmost red one”.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence

from groundling import (
    Demonstration,
    Environment,
    Features,
    Follower,
    GroundingGraph,
    Learning,
    Search,
)
from groundling.errors import ConvergenceWarning
from groundling.world.ranks import RankedEnvironment

__all__ = ["Row", "ask", "main", "measure"]

COLOURS = ("red", "green", "blue", "yellow")
KINDS = ("cup", "bowl", "box")
ORDINALS = ("first", "second", "third", "fourth")
WORDS = ("word", "next", "head", "relation", "context")

Thing = tuple[str, str]


class Row:
    """A row of things, of which one is taken."""

    def actions(self, state: tuple[Thing, ...]) -> tuple[int, ...]:
        """Return the places from which something can be taken."""
        return tuple(range(len(state)))

    def step(self, state: tuple[Thing, ...], action: int) -> tuple[Thing, ...]:
        """Return the row without the thing that is taken."""
        return state[:action] + state[action + 1 :]

    def ground(
        self, state: tuple[Thing, ...], action: int, next_state: tuple[Thing, ...]
    ) -> GroundingGraph:
        """Return the thing with its colour, its kind and its place."""
        colour, kind = state[action]
        return GroundingGraph(
            {"event": {"take": True}, "thing": {"colour": colour, "kind": kind, "x": action}},
            [("event", "thing", "of")],
        )


def ask(dice: random.Random, world: Environment) -> Demonstration:
    """Ask for a thing of a new row by its place among things like it."""
    while True:
        row = tuple((dice.choice(COLOURS), dice.choice(KINDS)) for _ in range(dice.randint(4, 7)))
        place, side = dice.randrange(len(row)), dice.choice(("left", "right"))
        colour, kind = row[place]
        by_colour, by_kind = dice.random() < 0.5, dice.random() < 0.5
        like = [
            each
            for each, (own, what) in enumerate(row)
            if (own == colour or not by_colour) and (what == kind or not by_kind)
        ]
        rank = (like if side == "left" else like[::-1]).index(place)
        if rank < len(ORDINALS):
            break
    noun = " ".join([colour] * by_colour + [kind if by_kind else "one" if by_colour else "thing"])
    text = f"take the {ORDINALS[rank]} {noun} from the {side}"
    if rank == 0 and dice.random() < 0.6:
        text = f"take the {side}most {noun}"
    return Demonstration(text, world, row, (place,))


def measure(world: Environment, words: Sequence[str], count: int, seed: int) -> float:
    """Learn from so many demonstrations; return the share of 200 others that is right."""
    follower = Follower(
        features=Features(
            words=tuple(words),  # type: ignore[arg-type]
            slots=("colour", "kind"),
            joins=("conjunction", "slot"),
            numbers=("equal",),
            compound_weight=0.7,
        ),
        learning=Learning(l2=0.3, iterations=60),
        search=Search(max_length=1),
    )
    dice = random.Random(seed)
    shown = [ask(dice, world) for _ in range(count)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return follower.fit(shown).score([ask(dice, world) for _ in range(200)])


def main() -> None:
    """Print the table of the note."""
    print("| | 100 demonstrations | 400 |\n|---|---|---|")
    for name, world, words in (
        ("as it is", Row(), WORDS),
        ("`beside`", Row(), (*WORDS, "beside")),
        ("ranks", RankedEnvironment(Row()), WORDS),
        ("ranks and `beside`", RankedEnvironment(Row()), (*WORDS, "beside")),
    ):
        means = [sum(measure(world, words, n, seed) for seed in range(3)) / 3 for n in (100, 400)]
        print(f"| {name} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    main()
