"""Accuracy on scenes: relative clauses, restricted superlatives, results, and products.

Each world has 300 demonstrations, all in different scenes. The first row of a world is `Follower()`
with default settings; each other row leaves out a mechanism. Run `python -m benchmarks.scenes
--json results/scenes.json`.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import warnings
from dataclasses import replace
from pathlib import Path

from groundling import Demonstration, Follower, GroundingGraph
from groundling.world.products import Product

TRAINING, TEST = 300, 150
SHAPES, COLOURS = ("circle", "square", "cylinder"), ("red", "blue", "green", "yellow")
VERBS = {"push": ("push", "shove"), "pull": ("pull", "draw"), "take": ("take", "pick up")}
SIZE = 6  # size of the grid


class Table:
    """World of things on a grid, one of which is pushed, pulled or taken."""

    def things(self, state):
        return {f"thing {n}": dict(labels) for n, labels in enumerate(state)}

    def actions(self, state):
        return tuple((verb, f"thing {n}") for verb in VERBS for n in range(len(state)))

    def step(self, state, action):
        return tuple(each for n, each in enumerate(state) if f"thing {n}" != action[1])

    def ground(self, state, action, after):
        verb, thing = action
        labels = dict(state[int(thing.removeprefix("thing "))])
        return GroundingGraph({"event": verb, thing: labels}, [("event", thing, "of")])


def without(kind: type, method: str) -> object:
    """Return a world without one of its methods."""
    members = {name: each for base in reversed(kind.__mro__[:-1]) for name, each in
               vars(base).items() if name not in (method, "__dict__", "__weakref__")}  # fmt: skip
    return type(kind.__name__, (), members)()


TABLE = Table()
RELATIONS = {
    "in the same row as": lambda a, b: a["y"] == b["y"],
    "in the same column as": lambda a, b: a["x"] == b["x"],
    "of the same colour as": lambda a, b: a["colour"] == b["colour"],
    "next to": lambda a, b: max(abs(a["x"] - b["x"]), abs(a["y"] - b["y"])) <= 1,
    "left of": lambda a, b: a["x"] < b["x"],
}


def scene(rng: random.Random, count: int) -> list[dict]:
    cells = rng.sample([(x, y) for x in range(SIZE) for y in range(SIZE)], count)
    return [
        {"shape": rng.choice(SHAPES), "colour": rng.choice(COLOURS), "size": rng.randint(1, 4),
         "x": x, "y": y}
        for x, y in cells
    ]  # fmt: skip


def phrase(described: dict) -> str:
    return " ".join(filter(None, (described.get("colour"), described["shape"])))


def fits(thing: dict, described: dict) -> bool:
    return all(thing[name] == value for name, value in described.items())


def told(rng: random.Random, text: str, things: list[dict], meant: dict) -> Demonstration:
    verb = rng.choice(list(VERBS))
    start = tuple(tuple(each.items()) for each in things)
    said = f"{rng.choice(VERBS[verb])} the {text}"
    return Demonstration(said, TABLE, start, ((verb, f"thing {things.index(meant)}"),))


def clause_demonstration(rng: random.Random) -> Demonstration:
    """Return a request that describes one of 13 things by two relative clauses, both needed."""
    while True:
        things = scene(rng, 13)
        meant = rng.choice(things)
        names = ["shape", "colour"][: rng.randint(1, 2)]
        described = {name: meant[name] for name in names}
        clauses = []
        for relation in rng.sample(list(RELATIONS), 2):
            other = rng.choice([each for each in things if each is not meant])
            names = ["shape", "colour"][: rng.choice((1, 2, 2))]
            clauses.append((relation, {name: other[name] for name in names}))

        def those(some, things=things, described=described):
            return [
                one
                for one in things
                if fits(one, described)
                and all(
                    any(o is not one and fits(o, d) and RELATIONS[r](one, o) for o in things)
                    for r, d in some
                )
            ]

        enough = [each for each in clauses if len(those([each])) == 1]
        if those(clauses) == [meant] and not enough:
            (one, first), (two, second) = clauses
            text = f"{phrase(described)} that is {one} a {phrase(first)} and {two} a"
            return told(rng, f"{text} {phrase(second)}", things, meant)


def superlative_demonstration(rng: random.Random) -> Demonstration:
    """Return a request for the first or second of things restricted by colour, shape or line."""
    while True:
        things, form, place = scene(rng, 10), rng.randrange(7), 0
        shape, colour, mark = rng.choice(SHAPES), rng.choice(COLOURS), rng.choice(things)
        word, name, sign = rng.choice((("biggest", "size", 1), ("smallest", "size", -1)))
        if sum(fits(each, {k: mark[k] for k in ("shape", "colour")}) for each in things) > 1:
            continue
        axis, line = rng.choice((("y", "row"), ("x", "column")))
        beside = f"in the same {line} as the {phrase(mark)}"
        some, text = {"shape": shape}, f"{word} {shape}"
        if form == 0:
            some, text = {"colour": colour}, f"{word} of the {colour} ones"
        elif form == 1:
            word, name, sign = rng.choice((("leftmost", "x", -1), ("rightmost", "x", 1)))
            some, text = {"shape": shape, "colour": colour}, f"{word} {colour} {shape}"
        elif form == 2:
            some, text = {axis: mark[axis]}, f"{word} thing {beside}"
        elif form == 3:
            some, text = {axis: mark[axis], "shape": shape}, f"{text} {beside}"
        elif form == 4:
            text, place = f"second {text}", 1
        elif form == 5:
            text = f"{word} of the {shape}s"
        among = [each for each in things if fits(each, some)]
        values = sorted({sign * each[name] for each in among}, reverse=True)
        if len(values) <= place + 1:
            continue
        meant = [each for each in among if sign * each[name] == values[place]]
        if len(meant) == 1 and not (form in (2, 3) and meant[0] is mark):
            return told(rng, text, things, meant[0])


DEVICES = {"gate": ("open", "shut", "locked"), "lamp": ("bright", "dim", "off"),
           "fan": ("fast", "slow", "still"), "blind": ("up", "down")}  # fmt: skip


class Panel:
    """World of buttons without names, each known only by what it changes."""

    def facts(self, state):
        return dict(state)

    def actions(self, state):
        return tuple((name, value) for name, values in DEVICES.items() for value in values)

    def step(self, state, action):
        return tuple((name, action[1] if name == action[0] else now) for name, now in state)

    def ground(self, state, action, after):
        return GroundingGraph({"event": "press"})


PANEL = Panel()


def result_demonstration(rng: random.Random) -> Demonstration:
    """Return a request that a thing be in a state in which it is not."""
    start = tuple((name, rng.choice(values)) for name, values in DEVICES.items())
    wanted = [(n, v) for n, values in DEVICES.items() for v in values if (n, v) not in start]
    name, value = rng.choice(wanted)
    texts = (f"make sure the {name} is {value}", f"I want the {name} to be {value}")
    return Demonstration(rng.choice(texts), PANEL, start, ((name, value),))


HANDLED = (
    "push", "pull", "lift", "drop", "turn", "wash", "paint", "hide", "shake", "open", "close",
    "weigh", "clean", "mark", "fold", "stack", "roll", "tap", "heat", "cool",
)  # fmt: skip
MANNERS = ("", "slowly", "twice", "gently", "quietly", "carefully")
KINDS = ("box", "cup", "ball", "book", "lamp", "vase", "plate", "chair", "crate", "jar")


class Store:
    """World whose actions are a product of 60 things, 20 verbs and 6 manners."""

    def things(self, state):
        return {f"thing {n}": dict(labels) for n, labels in enumerate(state)}

    def actions(self, state):
        return Product(HANDLED, tuple(f"thing {n}" for n in range(len(state))), MANNERS)

    def step(self, state, action):
        return state

    def ground(self, state, action, after):
        verb, thing, manner = action
        nodes = {"event": verb, thing: dict(state[int(thing.removeprefix("thing "))])}
        edges = [("event", thing, "of")]
        if manner:
            nodes["how"] = f"manner {MANNERS.index(manner)}"
            edges.append(("event", "how", "how"))
        return GroundingGraph(nodes, edges)


class ListedStore(Store):
    """The same world, with the actions listed in a tuple."""

    def actions(self, state):
        return tuple(super().actions(state))


STORE = Store()


def store(rng: random.Random) -> tuple:
    return tuple(
        (("kind", rng.choice(KINDS)), ("colour", rng.choice(COLOURS)),
         ("size", rng.randint(1, 9)), ("x", rng.randrange(30)), ("y", rng.randrange(30)))
        for _ in range(60)
    )  # fmt: skip


def product_demonstration(rng: random.Random, state: tuple | None = None) -> Demonstration:
    """Return a request that names a verb, a thing and a manner."""
    state = store(rng) if state is None else state
    while True:
        thing = rng.randrange(len(state))
        own = dict(state[thing])
        like = [each for each in map(dict, state)
                if fits(each, {"kind": own["kind"], "colour": own["colour"]})]  # fmt: skip
        word = rng.choice(("biggest", "smallest"))
        sizes = sorted(each["size"] for each in like)
        if word == "smallest":
            sizes.reverse()
        if len(sizes) > 1 and own["size"] == sizes[-1] != sizes[-2]:
            verb, manner = rng.choice(HANDLED), rng.choice(MANNERS)
            text = f"{verb} the {word} {own['colour']} {own['kind']} {manner}".strip()
            return Demonstration(text, STORE, state, ((verb, f"thing {thing}", manner),))


def moved(shown: list[Demonstration], world: object) -> list[Demonstration]:
    return [replace(each, environment=world) for each in shown]


def follow_one_by_one(follower: Follower, test: list[Demonstration]) -> dict[str, float]:
    """Return the share of right plans, and the texts followed per second of processor time."""
    began = time.process_time()
    right = [
        follower.follow(each.instructions, each.environment, each.start).actions == each.actions
        for each in test
    ]
    return {
        "exact": sum(right) / len(test),
        "per second": len(test) / (time.process_time() - began),
    }


def run(seed: int = 0, training: int = TRAINING, count: int = TEST) -> dict[str, dict[str, float]]:
    """Return the accuracy in each world, with all mechanisms and without each of them."""
    rows: dict[str, dict[str, float]] = {}
    for row, draw, kind, method in (
        ("relative clauses", clause_demonstration, Table, "things"),
        ("superlatives", superlative_demonstration, Table, "things"),
        ("results", result_demonstration, Panel, "facts"),
    ):
        rng = random.Random(seed)
        shown, test = ([draw(rng) for _ in range(n)] for n in (training, count))
        follower = Follower().fit(shown)
        rows[row] = {"exact": follower.score(test)}
        if row == "relative clauses":
            again = follower.chosen().set_params(learning__grow=False).fit(shown, check=False)
            rows[f"{row}, without growing"] = {"exact": again.score(test)}
        if kind is Table:
            plain = follower.chosen().set_params(overlay__relations=False).fit(shown, check=False)
            rows[f"{row}, without relations"] = {"exact": plain.score(test)}
        blind = without(kind, method)
        other = Follower().fit(moved(shown, blind), check=False)
        rows[f"{row}, without {method}"] = {"exact": other.score(moved(test, blind))}
    rng = random.Random(seed)
    follower = Follower().fit([product_demonstration(rng) for _ in range(min(training, 100))])
    state = store(rng)
    test = [product_demonstration(rng, state) for _ in range(count)]
    follower.follow(test[0].instructions, STORE, state)
    rows["products"] = follow_one_by_one(follower, test)
    rows["products, new scenes"] = follow_one_by_one(
        follower, [product_demonstration(rng) for _ in range(count)]
    )
    rows["products, listed"] = follow_one_by_one(follower, moved(test[:10], ListedStore()))
    return rows


def costs(seed: int = 0, training: int = 100, count: int = 60) -> dict[str, float]:
    """Return the factors by which ranks, and relations, slow down following.

    Other settings are equal, and all scenes are new.
    """
    rng = random.Random(seed)
    shown, test = ([superlative_demonstration(rng) for _ in range(n)] for n in (training, count))
    chosen, blind, seconds = Follower().fit(shown).chosen, without(Table, "things"), {}
    for name, relations, world in (
        ("plain", False, blind),
        ("ranks", False, TABLE),
        ("relations", True, TABLE),
    ):
        settings = chosen().set_params(overlay__relations=relations)
        follower = settings.fit(moved(shown, world), check=False)
        rounds = []
        for _ in range(3):
            follower.clear_cache()
            rounds.append(follow_one_by_one(follower, moved(test, world))["per second"])
        seconds[name] = 1 / max(rounds)
    return {name: seconds[name] / seconds["plain"] for name in ("ranks", "relations")}


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--costs", action="store_true", help="print the costs in time only")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.costs:
        print(", ".join(f"{name} {times:.2f}" for name, times in costs(given.seed).items()))
        return
    rows = run(given.seed)
    for name, row in rows.items():
        print(f"{name:40}", "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    if given.json:
        given.json.write_text(json.dumps({"seed": given.seed, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
