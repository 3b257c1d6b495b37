"""What `Follower()` learns from a few demonstrations, in six worlds.

    python -m benchmarks.handful --json results/handful.json --docs

In each world, a follower with default settings is taught 5, 10 or 20 requests in one scene. It is
tested in other scenes, with the phrasings that it was taught: for other things, with polite words
added, for things with new names, and for things that the scene lacks. `--docs` puts the table into
docs/understanding.md.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.page import fill
from groundling import Agent, Demonstration, Follower, GroundingGraph
from groundling.data.scene_world import SceneWorld
from groundling.errors import GroundlingWarning
from groundling.files import write_atomically
from groundling.world.cached_environment import CachedEnvironment

__all__ = ["COUNTS", "WORLDS", "main", "measure", "table"]

PAGE = Path(__file__).parents[1] / "docs/understanding.md"
COUNTS = (5, 10, 20)
DRAWS = 5  # numbers of demonstrations
REQUESTS = 20  # number of requests of each kind in each draw
POLITE = ("please {}", "could you {}", "{} please", "now {}", "{} , thanks", "i want you to {}")


@dataclass(frozen=True)
class Meant:
    """A request: the intent, the names in its text, and the actions that carry it out."""

    intent: str
    names: Mapping[str, str]
    actions: tuple[Any, ...]


@dataclass(frozen=True)
class World:
    """A world: functions that make scenes and their requests, and phrasings of each intent."""

    scene: Callable[[Random, bool], tuple[Any, Any]]  # the argument says whether names are new
    requests: Callable[[Any, Any], Iterator[Meant]]
    phrasings: Mapping[str, tuple[str, ...]]
    absent: Mapping[str, tuple[str, ...]]  # names of things that no scene has


# ---- a house ------------------------------------------------------------------------------------


class House:
    """House whose things are switched on and off, or opened and closed."""

    def __init__(self, things: Mapping[str, str]) -> None:
        self.things = things  # kind of each thing, by name

    def actions(self, on: frozenset[str]) -> list[tuple[str, str]]:
        def verb(name: str) -> str:
            pair = ("open", "close") if self.things[name] == "cover" else ("on", "off")
            return pair[name in on]

        return [(verb(name), name) for name in self.things]

    def step(self, on: frozenset[str], action: tuple[str, str]) -> frozenset[str]:
        return on ^ {action[1]}

    def ground(self, on: Any, action: tuple[str, str], after: Any) -> GroundingGraph:
        verb, name = action
        nodes = {"event": {verb: True}, "thing": {"name": name, "kind": self.things[name]}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


def house(dice: Random, new: bool) -> tuple[House, frozenset[str]]:
    rooms = ("attic", "study", "garage") if new else ("kitchen", "hall", "bedroom")
    kinds = {"lamp": "light", "radio": "player", "window": "cover", "fan": "fan"}
    if new:
        kinds = {"heater": "heater", "lamp": "light", "shutter": "cover", "tv": "player"}
    names = [(f"{room} {noun}", kind) for room in rooms for noun, kind in kinds.items()]
    things = dict(dice.sample(names, 8))
    return House(things), frozenset(dice.sample(sorted(things), 4))


def house_requests(world: House, on: frozenset[str]) -> Iterator[Meant]:
    for verb, name in world.actions(on):
        yield Meant(verb, {"thing": name}, ((verb, name),))


# ---- a yard, as the studio's editor makes it ----------------------------------------------------

YARD: Mapping[str, Any] = {
    "title": "Yard",
    "verbs": ["go", "take", "put", "open", "switch"],
    "movers": [{"name": "robot", "at": "gate"}],
}


def yard(dice: Random, new: bool) -> tuple[SceneWorld, Any]:
    places = ("gate", "barn", "pond", "shed")
    things = {"bucket": "take", "rake": "take", "apple": "take", "lamp": "switch", "box": "open"}
    if new:
        places = ("gate", "stable", "well", "orchard")
        things = {"hoe": "take", "egg": "take", "carrot": "take", "radio": "switch", "bin": "open"}
    listed = [{"name": n, "at": dice.choice(places), "can": [can]} for n, can in things.items()]
    data = {**YARD, "places": [{"name": each} for each in places], "things": listed}
    world = SceneWorld(data)
    return world, world.initial_state()


def yard_requests(world: SceneWorld, state: Any) -> Iterator[Meant]:
    reach = {"": state, **{a: world.step(state, a) for a in world.actions(state) if a[:2] == "go"}}
    for way, there in reach.items():
        first = (way,) if way else ()
        if way:
            yield Meant("go", {"place": way.removeprefix("go to the ")}, first)
        for action in world.actions(there):
            verb, _, thing = action.partition(" the ")
            if verb != "go to":
                yield Meant(verb, {"thing": thing}, (*first, action))


# ---- a drawing turtle ---------------------------------------------------------------------------


class Turtle:
    """A turtle that moves by steps, turns, and changes its pen."""

    COLOURS = ("red", "blue", "green", "black")
    MOST = 6

    def actions(self, state: Any) -> list[tuple[str, Any]]:
        turns = [("turn", "left"), ("turn", "right")]
        pens = [("pen", colour) for colour in self.COLOURS if colour != state[0]]
        moves = [(way, n) for way in ("move", "back") for n in range(1, self.MOST + 1)]
        return [*moves, *turns, *pens]

    def step(self, state: Any, action: tuple[str, Any]) -> Any:
        return (action[1] if action[0] == "pen" else state[0], (*state[1], action))

    def ground(self, state: Any, action: tuple[str, Any], after: Any) -> GroundingGraph:
        verb, what = action
        label = {"move": "steps", "back": "steps", "turn": "way", "pen": "colour"}[verb]
        return GroundingGraph({"event": {verb: True, label: what}})


class OtherTurtle(Turtle):
    COLOURS = ("pink", "white", "grey", "yellow")
    MOST = 9


def turtle(dice: Random, new: bool) -> tuple[Turtle, Any]:
    world = OtherTurtle() if new else Turtle()
    return world, (dice.choice(world.COLOURS), ())


def turtle_requests(world: Turtle, state: Any) -> Iterator[Meant]:
    for verb, what in world.actions(state):
        if (verb, what) not in (("move", 1), ("back", 1)):
            yield Meant(verb, {"what": str(what)}, ((verb, what),))


# ---- a warehouse --------------------------------------------------------------------------------


class Warehouse:
    """Warehouse of boxes with a colour and a size, which are carried to docks or scanned."""

    def __init__(self, boxes: Sequence[tuple[str, str]], docks: Sequence[str]) -> None:
        self.boxes, self.docks = tuple(boxes), tuple(docks)

    def actions(self, done: tuple[Any, ...]) -> list[tuple[str, int, str]]:
        scans = [("scan", number, "") for number in range(len(self.boxes))]
        return scans + [("carry", number, dock) for _, number, _ in scans for dock in self.docks]

    def step(self, done: tuple[Any, ...], action: Any) -> tuple[Any, ...]:
        return (*done, action)

    def ground(self, done: Any, action: tuple[str, int, str], after: Any) -> GroundingGraph:
        verb, number, dock = action
        colour, size = self.boxes[number]
        nodes: dict[str, Any] = {"event": {verb: True}, "box": {"colour": colour, "size": size}}
        edges = [("event", "box", "of")]
        if dock:
            nodes["dock"] = {"dock": dock}
            edges.append(("event", "dock", "to"))
        return GroundingGraph(nodes, edges)


def warehouse(dice: Random, new: bool) -> tuple[Warehouse, Any]:
    colours = ("pink", "white", "orange") if new else ("red", "blue", "green")
    docks = ("ramp", "rail", "pier") if new else ("north dock", "south dock", "office")
    boxes = [(colour, size) for colour in colours for size in ("small", "large")]
    return Warehouse(dice.sample(boxes, 5), docks), ()


def warehouse_requests(world: Warehouse, done: Any) -> Iterator[Meant]:
    for verb, number, dock in world.actions(done):
        colour, size = world.boxes[number]
        yield Meant(verb, {"box": f"{size} {colour} box", "dock": dock}, ((verb, number, dock),))


# ---- a zoo --------------------------------------------------------------------------------------


class Zoo:
    """Zoo whose animals are fed, washed and weighed."""

    def __init__(self, animals: Sequence[str], foods: Sequence[str]) -> None:
        self.animals, self.foods = tuple(animals), tuple(foods)

    def actions(self, state: tuple[Any, ...]) -> list[tuple[str, str, str]]:
        feed = [("feed", animal, food) for animal in self.animals for food in self.foods]
        return feed + [(verb, each, "") for verb in ("wash", "weigh") for each in self.animals]

    def step(self, state: tuple[Any, ...], action: Any) -> tuple[Any, ...]:
        return (*state, action)

    def ground(self, state: Any, action: tuple[str, str, str], after: Any) -> GroundingGraph:
        verb, animal, food = action
        nodes: dict[str, Any] = {"event": {verb: True}, "animal": {"animal": animal}}
        edges = [("event", "animal", "of")]
        if food:
            nodes["food"] = {"food": food}
            edges.append(("event", "food", "with"))
        return GroundingGraph(nodes, edges)


def zoo(dice: Random, new: bool) -> tuple[Zoo, Any]:
    animals = ("zebra", "camel", "otter", "snow owl") if new else ("lion", "seal", "goat", "parrot")
    foods = ("grass", "nuts", "cheese") if new else ("meat", "fish", "hay")
    return Zoo(dice.sample(animals, 4), dice.sample(foods, 3)), ()


def zoo_requests(world: Zoo, state: Any) -> Iterator[Meant]:
    for verb, animal, food in world.actions(state):
        yield Meant(verb, {"animal": animal, "food": food}, ((verb, animal, food),))


# ---- a diner, where labels and words differ -----------------------------------------------------


class Diner:
    """Diner whose dishes are served to tables; labels are codes that no word spells."""

    DISHES: Mapping[str, str] = {"soup": "d1", "salad": "d2", "pie": "d3"}
    TABLES = ("1", "2", "3")

    def actions(self, state: tuple[Any, ...]) -> list[tuple[str, str, str]]:
        serve = [("srv", dish, table) for dish in self.DISHES.values() for table in self.TABLES]
        return serve + [("cln", "", table) for table in self.TABLES]

    def step(self, state: tuple[Any, ...], action: Any) -> tuple[Any, ...]:
        return (*state, action)

    def ground(self, state: Any, action: tuple[str, str, str], after: Any) -> GroundingGraph:
        verb, dish, table = action
        nodes: dict[str, Any] = {"event": {verb: True}, "table": {"table": float(table)}}
        edges = [("event", "table", "at")]
        if dish:
            nodes["dish"] = {"dish": dish}
            edges.append(("event", "dish", "of"))
        return GroundingGraph(nodes, edges)


class OtherDiner(Diner):
    TABLES = ("4", "5", "6")


def diner(dice: Random, new: bool) -> tuple[Diner, Any]:
    return (OtherDiner() if new else Diner()), ()


def diner_requests(world: Diner, state: Any) -> Iterator[Meant]:
    names = {code: name for name, code in world.DISHES.items()}
    for verb, dish, table in world.actions(state):
        yield Meant(verb, {"dish": names.get(dish, ""), "table": table}, ((verb, dish, table),))


WORLDS: Mapping[str, World] = {
    "house": World(
        house,
        house_requests,
        {
            "on": ("switch on the {thing}", "turn the {thing} on"),
            "off": ("switch off the {thing}", "turn the {thing} off"),
            "open": ("open the {thing}", "let some air in by the {thing}"),
            "close": ("close the {thing}", "shut the {thing}"),
        },
        {"thing": ("garden hose", "cellar door", "toaster")},
    ),
    "yard": World(
        yard,
        yard_requests,
        {
            "go": ("go to the {place}", "walk over to the {place}"),
            "take": ("take the {thing}", "fetch the {thing}"),
            "switch on": ("switch on the {thing}", "turn on the {thing}"),
            "open": ("open the {thing}", "look inside the {thing}"),
        },
        {"place": ("library", "moon", "swing"), "thing": ("piano", "tractor", "hammer")},
    ),
    "turtle": World(
        turtle,
        turtle_requests,
        {
            "move": ("go forward {what} steps", "walk {what} steps"),
            "back": ("go back {what} steps", "retreat {what} steps"),
            "turn": ("turn {what}", "face to the {what}"),
            "pen": ("take the {what} pen", "draw in {what}"),
        },
        {"what": ("silver", "golden", "sideways")},
    ),
    "warehouse": World(
        warehouse,
        warehouse_requests,
        {
            "scan": ("scan the {box}", "read the code of the {box}"),
            "carry": ("carry the {box} to the {dock}", "i need the {box} at the {dock}"),
        },
        {"box": ("wooden crate", "tiny purple bag", "piano"), "dock": ("harbour", "roof", "moon")},
    ),
    "zoo": World(
        zoo,
        zoo_requests,
        {
            "feed": ("feed the {animal} some {food}", "give {food} to the {animal}"),
            "wash": ("wash the {animal}", "give the {animal} a bath"),
            "weigh": ("weigh the {animal}", "put the {animal} on the scales"),
        },
        {"animal": ("dragon", "robot", "visitor"), "food": ("cake", "gravel", "ink")},
    ),
    "diner": World(
        diner,
        diner_requests,
        {
            "srv": ("bring {dish} to table {table}", "table {table} would like {dish}"),
            "cln": ("clean table {table}", "wipe table {table}"),
        },
        {"dish": ("lobster", "caviar", "tofu"), "table": ("8", "9", "7")},
    ),
}


@dataclass(frozen=True)
class Request:
    """A text in a scene, and the actions that carry it out, or None if none do."""

    text: str
    world: Any
    start: Any
    actions: tuple[Any, ...] | None


def _say(dice: Random, world: World, meant: Meant, known: set[str] | None = None) -> str:
    options = [each for each in world.phrasings[meant.intent] if known is None or each in known]
    return dice.choice(options).format(**meant.names)


def shown(name: str, count: int, dice: Random) -> tuple[list[Demonstration], set[str]]:
    """Return demonstrations in one scene, alternating intents and phrasings, and the phrasings."""
    world = WORLDS[name]
    made, start = world.scene(dice, False)
    requests = list(world.requests(made, start))
    dice.shuffle(requests)
    order = [(i, p) for i, found in world.phrasings.items() for p in found]
    dice.shuffle(order)
    found, known, names = [], set(), set()
    while len(found) < count:
        before = len(found)
        for intent, phrasing in order:
            match = next((e for e in requests if e.intent == intent
                          and phrasing.format(**e.names) not in names), None)  # fmt: skip
            if match is not None and len(found) < count:
                requests.remove(match)
                requests.append(match)  # use other things first next time
                text = phrasing.format(**match.names)
                names.add(text)
                known.add(phrasing)
                found.append(Demonstration(text, made, start, match.actions, name=text))
        if len(found) == before:
            break
    return found, known


def asked(name: str, kind: str, known: set[str], dice: Random) -> list[Request]:
    """Return test requests of a kind, in phrasings that were demonstrated."""
    world, found = WORLDS[name], []
    while len(found) < REQUESTS:
        made, start = world.scene(dice, kind == "new names")
        requests = [
            each for each in world.requests(made, start)
            if any(phrasing in known for phrasing in world.phrasings[each.intent])
        ]  # fmt: skip
        intent = dice.choice(sorted({each.intent for each in requests}))
        meant = dice.choice([each for each in requests if each.intent == intent])
        actions: tuple[Any, ...] | None = meant.actions
        if kind == "absent":
            key = dice.choice([key for key, value in meant.names.items() if value])
            wrong = {**meant.names, key: dice.choice(world.absent[key])}
            meant, actions = Meant(meant.intent, wrong, ()), None
        text = _say(dice, world, meant, known)
        if kind == "polite":
            text = dice.choice(POLITE).format(text)
        found.append(Request(text, made, start, actions))
    return found


KINDS = ("same", "polite", "new names", "absent")


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a Markdown table: shares of right plans, and of wrong acts of the agent.

    >>> kinds = {kind: {"agent": 1.0, "right": 0.5, "wrong act": 0.0} for kind in KINDS}
    >>> print(table({"zoo": {"5": kinds}}).splitlines()[-1])
    | zoo | 5 | .50 | .50 | .50 | 1.00 | .00 |
    """
    lines = [
        "| world | demonstrations | other things | polite | new names | absent | wrong acts |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, counts in figures.items():
        for count, row in counts.items():
            right = [row[kind]["right"] for kind in KINDS[:3]]
            wrong = float(np.mean([row[kind]["wrong act"] for kind in KINDS[:3]]))
            cells = [f"{each:.2f}" for each in (*right, row["absent"]["agent"], wrong)]
            shown = " | ".join(cell.removeprefix("0") for cell in cells)
            lines.append(f"| {name} | {count} | {shown} |")
    return "\n".join(lines)


def measure(name: str, count: int, seed: int, errors: list[str] | None = None) -> dict[str, Any]:
    """Return, for each kind of request, how often the plan and the agent's turn are right."""
    dice = Random(f"{name} {count} {seed}")
    demonstrations, known = shown(name, count, dice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GroundlingWarning)
        follower = Follower().fit(demonstrations)
    row: dict[str, Any] = {}
    for kind in KINDS:
        plans, turns, wrong = [], [], []
        for each in asked(name, kind, known, dice):
            plan = follower.follow(each.text, each.world, each.start)
            turn = Agent(follower, each.world, each.start).say(each.text)
            if each.actions is None:
                turns.append(turn.kind in ("decline", "ask"))
                right = turns[-1]
            else:
                end = CachedEnvironment(each.world).trace(each.start, each.actions).states[-1]
                right = bool(plan.actions) and plan.end == end
                plans.append(right)
                acted = turn.kind == "act" and turn.plan is not None
                turns.append(acted and turn.plan.end == end)
                wrong.append(acted and turn.plan.end != end)
            if errors is not None and not (right and turns[-1]):
                errors.append(
                    f"{name} {count} {kind}: {each.text!r} -> {plan.actions} "
                    f"({plan.confidence:.2f}), {turn.kind} {turn.text!r}; wanted {each.actions}"
                )
        row[kind] = {"agent": float(np.mean(turns))}
        if plans:
            row[kind] |= {"right": float(np.mean(plans)), "wrong act": float(np.mean(wrong))}
    return row


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the worlds; print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", default=list(WORLDS), metavar="WORLD")
    parser.add_argument("--counts", type=int, nargs="*", default=list(COUNTS))
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--errors", action="store_true", help="list what went wrong")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", action="store_true", help="put the table into the page")
    given = parser.parse_args(argv)
    figures: dict[str, Any] = {}
    for name in given.worlds:
        for count in given.counts:
            errors: list[str] = []
            rows = [measure(name, count, given.seed + n, errors) for n in range(given.draws)]
            mean = {
                kind: {key: round(float(np.mean([row[kind][key] for row in rows])), 4)
                       for key in rows[0][kind]}
                for kind in KINDS
            }  # fmt: skip
            figures.setdefault(name, {})[str(count)] = mean
            cells = [
                f"{kind} " + " ".join(f"{key} {value:.2f}" for key, value in mean[kind].items())
                for kind in KINDS
            ]
            print(f"{name:10} {count:3}  " + "  |  ".join(cells), flush=True)
            if given.errors:
                print(*errors, sep="\n", flush=True)
    for count in given.counts:
        means = {
            kind: np.mean([each[str(count)][kind].get("right", each[str(count)][kind]["agent"])
                           for each in figures.values()])
            for kind in KINDS
        }  # fmt: skip
        print(f"mean {count:3}  " + "  ".join(f"{k} {v:.3f}" for k, v in means.items()))
    if given.json:
        write_atomically(given.json, json.dumps(figures, indent=1) + "\n")
    if given.docs:
        fill(PAGE, "handful", table(figures))


if __name__ == "__main__":
    main()
