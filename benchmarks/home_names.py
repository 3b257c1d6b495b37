"""Names of several words that share words: `python -m benchmarks.home_names`.

Each text is about one of six things. Half of the words of a name also occur in other names, and
some are verbs (*lock the shed lock*). There are 300 demonstrations, and all test names are new. The
rows are for unchanged names, one misspelt word, and names with a word left out if they stay unique.
"""

from __future__ import annotations

import argparse
import json
import random
import string
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Overlay, Search
from groundling.files import write_atomically

__all__ = ["Things", "demonstrations", "follower", "main", "misspelt"]

VERBS = {
    "open": ("open", "unlock", "undo"), "close": ("close", "lock", "shut"),
    "on": ("switch on", "light", "start"), "off": ("switch off", "stop", "kill"),
}  # fmt: skip
FIRST = {
    "known": ("shed", "garden", "kitchen", "front", "back", "big", "cellar", "side"),
    "new": ("attic", "porch", "nursery", "upper", "guest", "small", "hall", "north"),
}
MIDDLE = ("door", "gate", "window", "room", "wall", "light")
LAST = ("lock", "light", "switch", "fan", "shutter", "lamp", "door", "bell")


class Things:
    """Things to open, close, switch on and switch off by name; a state is the last action."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def actions(self, state: str) -> tuple[tuple[str, str], ...]:
        """Return all pairs of a verb and a thing."""
        return tuple((verb, name) for verb in VERBS for name in self.names)

    def step(self, state: str, action: tuple[str, str]) -> str:
        """Return the state after an action."""
        return " ".join(action)

    def ground(self, state: str, action: tuple[str, str], after: str) -> GroundingGraph:
        """Return the graph of an action: an event, and a thing with a name."""
        nodes = {"event": {action[0]: True}, "thing": {"name": action[1]}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


def _names(dice: random.Random, which: str) -> list[str]:
    firsts = dice.sample(FIRST[which], 3)
    names: set[str] = set()
    while len(names) < 6:
        middle = [dice.choice(MIDDLE)] if dice.random() < 0.5 else []
        names.add(" ".join([dice.choice(firsts), *middle, dice.choice(LAST)]))
    return sorted(names)


def demonstrations(
    count: int, seed: int, which: str = "known", *, shorten: bool = False
) -> list[Demonstration]:
    """Return texts about things; with `shorten`, a word is left out if the name stays unique."""
    dice = random.Random(f"{seed} {which}")
    made: list[Demonstration] = []
    while len(made) < count:
        names = _names(dice, which)
        name, verb = dice.choice(names), dice.choice(sorted(VERBS))
        said = name
        if shorten:
            said = _shorter(dice, name, names)
            if said == name:
                continue
        text = dice.choice(("{} the {}", "please {} the {}", "{} my {} now"))
        text = text.format(dice.choice(VERBS[verb]), said)
        made.append(Demonstration(text, Things(names), "", ((verb, name),)))
    return made


def _shorter(dice: random.Random, name: str, names: Sequence[str]) -> str:
    words = name.split()
    places = list(range(len(words)))
    dice.shuffle(places)
    for place in places:
        rest = words[:place] + words[place + 1 :]
        if all(other == name or not set(rest) <= set(other.split()) for other in names):
            return " ".join(rest)
    return name


def misspelt(demonstration: Demonstration, dice: random.Random) -> Demonstration:
    """Return a demonstration with one edit in one word of four letters or more."""
    words = str(demonstration.instructions).split()
    places = [place for place, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not places:
        return demonstration
    place = dice.choice(places)
    word, letter = words[place], dice.choice(string.ascii_lowercase)
    at = dice.randrange(len(word) - 1)
    words[place] = dice.choice([
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ])  # fmt: skip
    return replace(demonstration, instructions=" ".join(words))


def follower(names: str) -> Follower:
    """Return a follower whose settings differ only in how names are found, or the default one."""
    if names == "auto":
        return Follower()
    return Follower(
        overlay=Overlay(),
        features=Features(words=("word",), slots=("name",), names=names),
        learning=Learning(l2=0.1),
        search=Search(max_length=1),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each way to find names; with `--json`, also write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="*", default=["auto", "words", "spans"])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    learn, dice = demonstrations(chosen.count, seed=1), random.Random(0)
    plain = demonstrations(200, seed=2, which="new")
    tests = {
        "new names": plain,
        "one typo": [misspelt(each, dice) for each in plain],
        "a word left out": demonstrations(200, seed=3, which="new", shorten=True),
    }
    found = {}
    for row in chosen.rows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learnt = follower(row).fit(learn, check=False)
            found[row] = {name: round(learnt.score(test), 4) for name, test in tests.items()}
        print(f"{row}: " + ", ".join(f"{k} {v:.3f}" for k, v in found[row].items()), flush=True)
    if chosen.json:
        write_atomically(chosen.json, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
