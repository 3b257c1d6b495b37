"""What `Follower()` understands without special labels: names, values, sets, new words.

    python -m benchmarks.understanding --json results/understanding.json --docs

Each world has 300 demonstrations, and the test texts are about things that were never demonstrated.
`Follower()` has default settings; each world also has a row without one mechanism. `--docs` puts
the table into docs/understanding.md.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import home_names
from groundling import (
    Demonstration,
    Follower,
    GroundingGraph,
    OpenSet,
    OpenValue,
    describe_set,
)
from groundling.files import write_atomically

__all__ = ["WORLDS", "drawn", "main", "run", "table"]

ROOT = Path(__file__).parents[1]
TRAINING, TEST = 300, 150
BEGIN, END = "<!-- understanding -->", "<!-- end -->"
VERBS = {"on": ("turn on", "switch on", "start"), "off": ("turn off", "switch off", "stop")}
ROOMS = ("hall", "kitchen", "attic", "cellar")
KINDS = ("lamp", "fan", "blind")
NTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


# ---- names ------------------------------------------------------------------------------------


def name_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request for one of six things whose names share words, some of them verbs."""
    which = "known" if training else "new"
    return home_names.demonstrations(1, rng.randrange(10**9), which)[0]


def short_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return the same; in tests, a word of the name is left out if the name stays unique."""
    if training:
        return name_demonstration(rng, training)
    return home_names.demonstrations(1, rng.randrange(10**9), "new", shorten=True)[0]


def typo_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return the same; in tests, with one edit in one word."""
    shown = name_demonstration(rng, training)
    return shown if training else home_names.misspelt(shown, rng)


def command_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request for one thing by its name; in tests, for two things."""
    shown = name_demonstration(rng, training)
    if training:
        return shown
    verb = rng.choice(sorted(home_names.VERBS))
    name = rng.choice([each for each in shown.environment.names if each != shown.actions[0][1]])
    text = f"{shown.instructions} and {rng.choice(home_names.VERBS[verb])} the {name}"
    return replace(shown, instructions=text, actions=(*shown.actions, (verb, name)))


# ---- values -----------------------------------------------------------------------------------


class House:
    """World with open values: temperatures, brightness, colours, timers, alarms and a list."""

    open_values = ("number", "percentage", "duration", "time", "ordinal", "colour", "text")

    def actions(self, state):
        degrees = OpenValue("number", low=5, high=35, unit="degree")
        step = OpenValue("number", low=0.5, high=5, unit="degree", default=1.0)
        return (
            *(("heat", room, degrees) for room in ROOMS),
            *(("warmer", room, step) for room in ROOMS),
            *(("dim", room, OpenValue("percentage", low=0, high=100)) for room in ROOMS),
            *(("paint", room, OpenValue("colour")) for room in ROOMS),
            ("timer", "", OpenValue("duration", low=1)),
            ("alarm", "", OpenValue("time")),
            ("buy", "", OpenValue("text")),
            ("song", "", OpenValue("ordinal")),
        )

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        verb, room, value = action
        nodes = {"event": {verb: True}, "value": {f"{verb} to": value}}
        edges = [("event", "value", "to")]
        if room:
            nodes["room"] = {"room": room}
            edges.append(("event", "room", "in"))
        return GroundingGraph(nodes, edges)


ITEMS = ("milk", "oat milk", "brown bread", "eggs", "olive oil", "tomato soup", "green tea", "soap",
         "cat food", "rice", "black pepper", "fresh basil", "blue cheese", "lemons")  # fmt: skip
TIMES = (("half past six", "06:30"), ("7 pm", "19:00"), ("7:15", "07:15"), ("noon", "12:00"),
         ("quarter to nine", "08:45"), ("20:05", "20:05"))  # fmt: skip
DURATIONS = (("ten minutes", 600.0), ("an hour and a half", 5400.0), ("45 seconds", 45.0),
             ("half an hour", 1800.0), ("2 hours and 5 minutes", 7500.0),
             ("three hours", 10800.0))  # fmt: skip
COLOURS = ("red", "blue", "green", "white", "orange", "purple")
VALUE_TEXTS = {
    "heat": ("set the {room} to {value} degrees", "make it {value} degrees in the {room}"),
    "dim": ("dim the {room} to {value} percent", "set the {room} light to {value} %"),
    "paint": ("paint the {room} {value}", "make the {room} {value}", "turn the {room} {value}"),
    "warmer": ("make the {room} {value} warmer", "{value} warmer in the {room}"),
    "timer": ("set a timer for {value}", "remind me in {value}", "wake me in {value}"),
    "alarm": ("set an alarm for {value}", "wake me at {value}"),
    "song": ("play the {value} song", "skip to the {value} track"),
    "buy": ("add {value} to the list", "buy {value}", "put {value} on the list", "we need {value}"),
}


def value_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request with a value; in tests, mostly a value that was never demonstrated."""
    verb, room = rng.choice(list(VALUE_TEXTS)), rng.choice(ROOMS)

    def some(values):
        return rng.choice(values[: len(values) // 2] if training else values)

    if verb == "heat":
        said = value = some((18.0, 19.5, 21.0, 16.0, 23.5, 25.0))
    elif verb == "dim":
        said = value = float(some((10, 30, 50, 25, 75, 95)))
    elif verb == "paint":
        said = value = some(COLOURS)
    elif verb == "warmer":
        said, value = some(
            (("two degrees", 2.0), ("a bit", 1.0), ("one degree", 1.0), ("three degrees", 3.0))
        )
    else:
        pairs = {"timer": DURATIONS, "alarm": TIMES, "buy": tuple((e, e) for e in ITEMS),
                 "song": tuple((word, n + 1.0) for n, word in enumerate(NTH))}  # fmt: skip
        said, value = some(pairs[verb])
    room = room if verb in ("heat", "dim", "paint", "warmer") else ""
    shown = f"{said:g}" if isinstance(said, float) else said
    text = rng.choice(VALUE_TEXTS[verb]).format(room=room, value=shown)
    return Demonstration(text, House(), (), ((verb, room, value),))


class Thermostats:
    """World of rooms whose temperature and volume are set, or changed by an amount or a step."""

    open_values = ("number", "percentage")

    def actions(self, state):
        warm = {"low": 5, "high": 35, "unit": "degree", "step": 1}
        loud = {"low": 0, "high": 100, "step": 10}
        return (
            *(("heat", n, OpenValue("number", now=state[n], **warm)) for n in range(3)),
            *(("play", n, OpenValue("percentage", now=state[n + 3], **loud)) for n in range(3)),
        )

    def step(self, state, action):
        place = action[1] + 3 * (action[0] == "play")
        return (*state[:place], action[2], *state[place + 1 :])

    def ground(self, state, action, after):
        verb, room, value = action
        nodes = {"event": {verb: True}, "room": {"room": ROOMS[room]}, "value": {verb: value}}
        return GroundingGraph(nodes, [("event", "room", "in"), ("event", "value", "to")])


def change_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request for a temperature or a volume, or for a change of one."""
    state = tuple(float(rng.randint(12, 25)) for _ in range(3))
    state += tuple(float(rng.choice((30, 40, 50, 60))) for _ in range(3))
    numerals = ("two", "three", "four", "1", "2") if training else ("five", "six", "3", "one", "4")
    numeral, room = rng.choice(numerals), rng.randrange(3)
    size = float({"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}.get(numeral, 0))
    size, share = size or float(numeral), rng.choice((5, 15, 20) if training else (10, 25, 12))
    warm, loud, where = state[room], state[room + 3], ROOMS[room]
    degrees, volume = float(rng.randint(10, 30)), float(rng.randint(10, 90))
    text, verb, value = rng.choice((
        (f"set the {where} to {degrees:g} degrees", "heat", degrees),
        (f"make the {where} {numeral} degrees warmer", "heat", warm + size),
        (f"make the {where} {numeral} degrees colder", "heat", warm - size),
        (f"make the {where} a bit warmer", "heat", warm + 1),
        (f"make the {where} colder", "heat", warm - 1),
        (f"set the volume in the {where} to {volume:g} percent", "play", volume),
        (f"turn the {where} up by {share} percent", "play", loud + share),
        (f"turn the {where} down by {share} percent", "play", loud - share),
        (f"a bit louder in the {where}", "play", loud + 10),
        (f"quieter in the {where}", "play", loud - 10),
    ))  # fmt: skip
    return Demonstration(text, Thermostats(), state, ((verb, room, value),))


class Row:
    """World of things in a row, numbered from the left and from the right."""

    open_values = ("set",)

    def __init__(self, kinds):
        self.kinds = tuple(kinds)

    def things(self, state):
        size = len(self.kinds)
        return {
            n: {"kind": kind, "from left": n + 1, "from right": size - n}
            for n, kind in enumerate(self.kinds)
        }

    def actions(self, state):
        return (("take", OpenSet()), ("touch", OpenSet()))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        labels, left_out = describe_set(self.things(state), action[1])
        nodes, edges = {"event": {action[0]: True}, "thing": labels}, [("event", "thing", "of")]
        if left_out:
            nodes["rest"] = left_out
            edges.append(("thing", "rest", "without"))
        return GroundingGraph(nodes, edges)


class OneOfRow(Row):
    """The same world, where one thing is taken at a time."""

    open_values = ()
    things = None

    def actions(self, state):
        return tuple((verb, n) for verb in ("take", "touch") for n in range(len(self.kinds)))

    def ground(self, state, action, after):
        labels = Row.things(self, state)[action[1]]
        nodes = {"event": {action[0]: True}, "thing": labels}
        return GroundingGraph(nodes, [("event", "thing", "of")])


def row_demonstration(rng: random.Random, training: bool, several: bool = True) -> Demonstration:
    """Return a request for things by their places in a row; in tests, in longer rows."""
    size = rng.randint(4, 5) if training else rng.randint(5, 7)
    world = (Row if several else OneOfRow)(rng.choice(KINDS) for _ in range(size))
    side, verb = rng.choice(("left", "right")), rng.choice(("take", "touch"))
    places = sorted(rng.sample(range(size), rng.choice((1, 2)) if several else 1))
    meant = frozenset(n if side == "left" else size - 1 - n for n in places)
    said = " and ".join(rng.choice((NTH[n], f"{n + 1}{['st', 'nd', 'rd'][n] if n < 3 else 'th'}"))
                        for n in places)  # fmt: skip
    kind = rng.choice(("", " thing")) if len(places) == 1 else ""
    text = f"{verb} the {said}{kind} from the {side}"
    return Demonstration(text, world, (), ((verb, meant if several else next(iter(meant))),))


class Scene:
    """World of things with a kind, a room and a colour; sets of them are started or stopped."""

    open_values = ("set",)

    def __init__(self, things):
        self.all = things

    def things(self, state):
        return self.all

    def actions(self, state):
        return tuple((verb, OpenSet()) for verb in VERBS)

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        labels, left_out = describe_set(self.all, action[1])
        nodes, edges = {"event": {action[0]: True}, "thing": labels}, [("event", "thing", "of")]
        if left_out:
            nodes["rest"] = left_out
            edges.append(("thing", "rest", "without"))
        return GroundingGraph(nodes, edges)


def set_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request for a set of things, in a scene where the text describes the set."""
    rooms, colours = (ROOMS[:3], COLOURS[:4]) if training else (ROOMS, COLOURS)
    form = rng.randrange(11)
    while True:
        things = {
            n: {"kind": rng.choice(KINDS), "room": rng.choice(rooms), "colour": rng.choice(colours)}
            for n in range(rng.randint(5, 9))
        }
        kind, other = rng.sample(KINDS, 2)
        (room, room_too), (colour, colour_too) = rng.sample(rooms, 2), rng.sample(colours, 2)

        def those(things=things, **wanted):
            return frozenset(
                n for n, has in things.items() if all(has[k] == v for k, v in wanted.items())
            )

        one = those(kind=kind, colour=colour)
        texts = (
            (f"the {colour} {kind} in the {room}", one & those(room=room), 1),
            (f"{rng.choice(('all', 'all the'))} {kind}s", those(kind=kind), 0),
            (f"all {kind}s except the {colour} ones", those(kind=kind) - one, 0 if one else -1),
            (
                f"the {kind}s in the {room} and the {room_too}",
                those(kind=kind, room=room) | those(kind=kind, room=room_too),
                0 if those(kind=kind, room=room) and those(kind=kind, room=room_too) else -1,
            ),
            (f"both {kind}s in the {room}", those(kind=kind, room=room), 2),
            (f"everything in the {room}", those(room=room), 0),
            (
                f"the {colour} {kind} and the {colour_too} {other}",
                one | those(kind=other, colour=colour_too),
                2 if len(one) == 1 else -1,
            ),
            (f"everything but the {kind}s", those() - those(kind=kind), 0),
            (f"only the {colour} {kind}s", one, 0),
            (f"the three {kind}s", those(kind=kind), 3),
            (
                f"the {kind}s that are not {colour}",
                those(kind=kind) - one,
                0 if one and those(kind=kind) - one else -1,
            ),
        )
        text, meant, size = texts[form]
        if size in (len(meant), 0) and len(meant) > (size == 0):
            verb = rng.choice(list(VERBS))
            said = f"{rng.choice(VERBS[verb])} {text}"
            return Demonstration(said, Scene(things), (), ((verb, meant),))


MANNERS = {"": "", "halting": " hesitantly", "turning": " while spinning", "wary": " cautiously"}


class Grid:
    """World of things that are walked to or pushed, in one of several manners."""

    def __init__(self, things):
        self.placed = things

    def actions(self, state):
        verbs, places = ("walk", "push"), range(len(self.placed))
        return tuple((verb, n, how) for verb in verbs for n in places for how in MANNERS)

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        verb, place, how = action
        kind, colour = self.placed[place]
        nodes = {"event": {verb: True}, "thing": {"kind": kind, "colour": colour}}
        nodes["manner"] = {how or "plain": True}
        return GroundingGraph(nodes, [("event", "thing", "to"), ("event", "manner", "how")])


def manner_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request with a manner; in tests, one that was demonstrated once."""
    things = rng.sample([(kind, colour) for kind in KINDS for colour in COLOURS], 5)
    verb, place = rng.choice(("walk", "push")), rng.randrange(5)
    how = rng.choice(list(MANNERS)[:3]) if training else "wary"
    text = f"{verb} the {things[place][1]} {things[place][0]}{MANNERS[how]}"
    return Demonstration(text, Grid(things), (), ((verb, place, how),))


STRANGE = ("feed the cat", "water my roses tomorrow", "call the dentist", "sing me a lullaby",
           "what rhymes with orange", "order a pizza", "walk the dog", "book a flight to oslo",
           "tell grandma a joke", "shovel snow")  # fmt: skip

# ---- synonyms ---------------------------------------------------------------------------------

SAME = {"start": "activate", "stop": "halt", "lamp": "lantern", "fan": "ventilator",
        "red": "crimson", "blue": "azure", "green": "emerald"}  # fmt: skip


class Shop:
    """World of things with a kind and a colour, which are started and stopped."""

    def __init__(self, things):
        self.all = tuple(things)

    def actions(self, state):
        return tuple((verb, n) for verb in ("start", "stop") for n in range(len(self.all)))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        kind, colour = self.all[action[1]]
        nodes = {"event": {action[0]: True}, "thing": {"kind": kind, "colour": colour}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


def synonym_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Return a request for a thing; in tests, with one word that was never demonstrated."""
    pairs = [(kind, colour) for kind in KINDS[:2] for colour in COLOURS[:3]]
    world = Shop(rng.sample(pairs, 4))
    verb, place = rng.choice(("start", "stop")), rng.randrange(4)
    words = [verb, "the", world.all[place][1], world.all[place][0]]
    if not training:
        at = rng.choice((0, 2, 3))
        words[at] = SAME[words[at]]
    return Demonstration(" ".join(words), world, (), ((verb, place),))


def trained_vectors(path: Path) -> Path:
    """Write word vectors, trained on sentences in which synonyms have the same contexts."""
    company = {"start": "morning", "stop": "night", "lamp": "bright", "fan": "windy",
               "red": "rose", "blue": "sky", "green": "leaf"}  # fmt: skip
    texts = [[word, other] for one, other in company.items() for word in (one, SAME[one])]
    words = sorted({word for text in texts for word in text})
    counts = np.full((len(words), len(words)), 0.01)
    for one, other in texts:
        for pair in ((one, other), (other, one)):
            counts[words.index(pair[0]), words.index(pair[1])] += 1
    left, sizes, _ = np.linalg.svd(np.log(counts / counts.mean()))
    rows = zip(words, left * sizes, strict=True)
    lines = [f"{word} {' '.join(f'{each:.5f}' for each in row)}" for word, row in rows]
    path.write_text(f"{len(words)} {len(words)}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


# ---- rows -------------------------------------------------------------------------------------

Draw = Callable[[random.Random, bool], Demonstration]


class Listed:
    """Environment that lists its actions instead of using open values."""

    def __init__(self, environment: Any, actions: Sequence[Any]) -> None:
        self.environment, self.listed = environment, tuple(actions)

    def actions(self, state):
        return self.listed

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        return self.environment.ground(state, action, after)


def listed(shown: Demonstration, training: Sequence[Demonstration]) -> Demonstration:
    """Return a demonstration in which all actions that a user would list are listed."""
    world = shown.environment
    if isinstance(world, House):
        offered = list(dict.fromkeys(each.actions[0] for each in training))
    else:
        things = world.things(())
        groups = {frozenset(things), *(frozenset({each}) for each in things)}
        if isinstance(world, Row):
            groups |= {frozenset(pair) for pair in combinations(things, 2)}
        else:
            labels = {label for has in things.values() for label in has.items()}
            groups |= {frozenset(n for n, has in things.items() if label in has.items())
                       for label in labels}  # fmt: skip
        verbs = [action[0] for action in world.actions(())]
        offered = [(verb, each) for verb in verbs for each in sorted(groups, key=sorted)]
    return replace(shown, environment=Listed(world, offered))


@dataclass(frozen=True)
class World:
    """How demonstrations of a world are sampled, and which change removes one mechanism."""

    draw: Draw
    without: str
    settings: dict[str, Any]


def one_in_a_row(rng: random.Random, training: bool) -> Demonstration:
    """Return a request for one thing by its place in a row."""
    return row_demonstration(rng, training, several=False)


WORLDS = {
    "names": World(name_demonstration, "spans", {"features__names": "words"}),
    "names, a word left out": World(short_demonstration, "spans", {"features__names": "words"}),
    "one typo": World(
        typo_demonstration, "correction", {"features__names": "words", "features__typos": False}
    ),
    "open values": World(value_demonstration, "open values (demonstrated values are listed)", {}),
    "relative values": World(
        change_demonstration,
        "labels of changes",
        {"features__exclude": "than now|what is said|by a step"},
    ),
    "sets": World(set_demonstration, "open sets (things with one label are listed)", {}),
    "numbers in a row": World(row_demonstration, "open sets (one or two things are listed)", {}),
    "one number of two": World(one_in_a_row, "words around numbers", {}),
    "two commands": World(command_demonstration, "splitting", {}),
    "rare words": World(manner_demonstration, "the penalty of rare words",
                        {"learning__rare_words": False}),
    "synonyms": World(synonym_demonstration, "word vectors", {}),
}  # fmt: skip


def drawn(world: str, seed: int = 0) -> tuple[list[Demonstration], list[Demonstration]]:
    """Return training and test demonstrations of a world."""
    rng, draw = random.Random(f"{seed} {world}"), WORLDS[world].draw
    training = [draw(rng, True) for _ in range(TRAINING)]
    if world == "rare words":
        training.append(draw(rng, False))
    return training, [draw(rng, False) for _ in range(TEST)]


def measure(world: str, seed: int = 0) -> tuple[Follower, dict[str, Any]]:
    """Return a `Follower()` trained in a world, and its row of the table."""
    training, test = drawn(world, seed)
    follower = Follower().fit(training)
    plain = follower.chosen()
    if world == "synonyms":
        with tempfile.TemporaryDirectory() as folder:
            vectors = str(trained_vectors(Path(folder) / "small.vec"))
            known = follower.chosen().set_params(features__synonyms=vectors).fit(training)
            right, without = known.score(test), follower.score(test)
    else:
        right = follower.score(test)
        if world in ("open values", "sets", "numbers in a row"):
            test = [listed(each, training) for each in test]
            training = [listed(each, training) for each in training]
            training = [e for e in training if e.actions[0] in e.environment.actions(e.start)]
            plain = Follower()
        elif world == "one number of two":
            words = tuple(each for each in plain.features.words if each != "around")
            plain = plain.set_params(features__words=words)
        without = _score(plain.set_params(**WORLDS[world].settings).fit(training), test)
    return follower, {"exact": right, "without": without, "mechanism": WORLDS[world].without}


def _score(follower: Follower, test: Sequence[Demonstration]) -> float:
    """Return the share of right plans; a text without a possible plan counts as wrong."""
    plans = [follower.follow(each.instructions, each.environment, each.start) for each in test]
    right = [plan.actions == each.actions for plan, each in zip(plans, test, strict=True)]
    return sum(right) / len(right)


def strangers(follower: Follower, test: Sequence[Demonstration]) -> dict[str, Any]:
    """Return the confidence for unrelated texts, and for the test texts."""
    known = [follower.follow(e.instructions, e.environment, e.start) for e in test]
    strange = [follower.follow(text, test[0].environment, test[0].start) for text in STRANGE]
    return {
        "confidence": max(plan.confidence for plan in strange),
        "without": max(plan.probability for plan in strange),
        "mechanism": "coverage",
        "confidence otherwise": sorted(plan.confidence for plan in known)[len(known) // 2],
    }


def run(seed: int = 0, worlds: Sequence[str] = tuple(WORLDS)) -> dict[str, dict[str, Any]]:
    """Return the accuracy in each world, with all mechanisms and without one."""
    rows: dict[str, dict[str, Any]] = {}
    for world in worlds:
        follower, rows[world] = measure(world, seed)
        if world == "names":
            rows["unexplained words"] = strangers(follower, drawn(world, seed)[1])
        print(f"{world:24}", rows[world], flush=True)
    return rows


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Return the rows as Markdown.

    >>> print(table({"sets": {"exact": 1.0, "without": 0.5, "mechanism": "luck"}}).splitlines()[-1])
    | sets | 1.000 | .500 | luck |
    """

    def shown(value: float) -> str:
        return f"{value:.3f}".removeprefix("0")

    lines = ["| world | exact | without | removed mechanism |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {shown(row['exact'])} | {shown(row['without'])} | {row['mechanism']} |"
        for name, row in rows.items()
        if "exact" in row
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print and write the table; with `--docs`, also put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worlds", nargs="*", default=list(WORLDS), help=", ".join(WORLDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", action="store_true", help="Put the table into the page.")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rows = run(given.seed, given.worlds)
    print(table(rows))
    if given.json:
        text = json.dumps({"seed": given.seed, "rows": rows}, indent=1)
        write_atomically(given.json, text + "\n")
    if given.docs:
        page = ROOT / "docs" / "understanding.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        write_atomically(page, f"{before}{BEGIN}\n{table(rows)}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
