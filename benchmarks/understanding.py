"""What `Follower()` understands without labels made by hand: names, values, sets, new words.

    python -m benchmarks.understanding --json results/understanding.json

Every world has 300 demonstrations, and at test time things that were never shown. `Follower()` is
used as it is; rows after a comma leave one mechanism out.
"""

from __future__ import annotations

import argparse
import json
import random
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from groundling import (
    Demonstration,
    Follower,
    GroundingGraph,
    OpenSet,
    OpenValue,
    describe_set,
)

TRAINING, TEST = 300, 150
VERBS = {"on": ("turn on", "switch on", "start"), "off": ("turn off", "switch off", "stop")}


class Home:
    """Things with names of several words, which share words with each other."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def actions(self, state):
        return tuple((verb, name) for verb in VERBS for name in self.names)

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        nodes = {"event": {action[0]: True}, "thing": {"name": action[1]}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


PLACES = ("living room", "kitchen", "shed", "hall", "garden", "dining room", "attic", "play room")
THINGS = (
    "light",
    "lock",
    "lamp",
    "floor lamp",
    "ceiling light",
    "fan",
    "shed lock",
    "light switch",
)


def name_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Ask for one thing of a home by its name; at test time other places and things."""
    places, things = (PLACES[:5], THINGS[:5]) if training else (PLACES[3:], THINGS[3:])
    names = rng.sample([f"{place} {thing}".title() for place in places for thing in things], 8)
    verb, name = rng.choice(list(VERBS)), rng.choice(names)
    text = f"{rng.choice(VERBS[verb])} the {name.lower()}"
    return Demonstration(text, Home(names), (), ((verb, name),))


def misspelt(shown: Demonstration, rng: random.Random) -> Demonstration:
    """Return a demonstration with one letter of one word dropped, doubled or swapped."""
    words = str(shown.instructions).split()
    place = rng.choice([n for n, word in enumerate(words) if len(word) > 3])
    word, at = words[place], rng.randrange(1, len(words[place]) - 1)
    words[place] = rng.choice((
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ))  # fmt: skip
    return Demonstration(" ".join(words), shown.environment, shown.start, shown.actions)


ROOMS = ("hall", "kitchen", "attic", "cellar")


class House:
    """Rooms that are heated, dimmed and painted to what is said; timers, alarms and a list."""

    open_values = ("number", "percentage", "duration", "time", "colour", "text")

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
    "buy": ("add {value} to the list", "buy {value}", "put {value} on the list", "we need {value}"),
}


def value_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Ask for a value; at test time mostly for one that was never shown."""
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
        pairs = {"timer": DURATIONS, "alarm": TIMES, "buy": tuple((e, e) for e in ITEMS)}
        said, value = some(pairs[verb])
    room = room if verb in ("heat", "dim", "paint", "warmer") else ""
    shown = f"{said:g}" if isinstance(said, float) else said
    text = rng.choice(VALUE_TEXTS[verb]).format(room=room, value=shown)
    return Demonstration(text, House(), (), ((verb, room, value),))


class Scene:
    """Things of some kinds, rooms and colours, of which several are started or stopped at once."""

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


KINDS = ("lamp", "fan", "blind")


def set_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Ask for a set of things, in a scene where the set is what the text says it is."""
    rooms, colours = (ROOMS[:3], COLOURS[:4]) if training else (ROOMS, COLOURS)
    form = rng.randrange(8)
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
        )
        text, meant, size = texts[form]
        if size in (len(meant), 0) and len(meant) > (size == 0):
            verb = rng.choice(list(VERBS))
            said = f"{rng.choice(VERBS[verb])} {text}"
            return Demonstration(said, Scene(things), (), ((verb, meant),))


def command_demonstration(rng: random.Random, training: bool) -> Demonstration:
    """Ask for one thing by its name; at test time for two of them."""
    one = name_demonstration(rng, training)
    if training:
        return one
    verb = rng.choice(list(VERBS))
    name = rng.choice([each for each in one.environment.names if each != one.actions[0][1]])
    text = f"{one.instructions} and {rng.choice(VERBS[verb])} the {name.lower()}"
    return Demonstration(text, one.environment, (), (*one.actions, (verb, name)))


MANNERS = {"": "", "halting": " hesitantly", "turning": " while spinning", "wary": " cautiously"}


class Grid:
    """Things that are walked to or pushed, in one of several manners."""

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
    """Ask for a thing in a manner; at test time in one that was shown once."""
    things = rng.sample([(kind, colour) for kind in KINDS for colour in COLOURS], 5)
    verb, place = rng.choice(("walk", "push")), rng.randrange(5)
    how = rng.choice(list(MANNERS)[:3]) if training else "wary"
    text = f"{verb} the {things[place][1]} {things[place][0]}{MANNERS[how]}"
    return Demonstration(text, Grid(things), (), ((verb, place, how),))


STRANGE = ("feed the cat", "water my roses tomorrow", "call the dentist", "sing me a lullaby",
           "what rhymes with orange", "order a pizza", "walk the dog", "book a flight to oslo",
           "tell grandma a joke", "shovel snow")  # fmt: skip
Draw = Callable[[random.Random, bool], Demonstration]


def drawn(draw: Draw, seed: int) -> tuple[list[Demonstration], list[Demonstration]]:
    """Return training and test demonstrations."""
    rng = random.Random(seed)
    return [draw(rng, True) for _ in range(TRAINING)], [draw(rng, False) for _ in range(TEST)]


def run(seed: int = 0) -> dict[str, dict[str, float]]:
    """Return the accuracy in each world, and with a mechanism left out."""
    rows: dict[str, dict[str, float]] = {}
    rng = random.Random(seed + 1)
    training, test = drawn(name_demonstration, seed)
    names = Follower().fit(training)
    plain = names.chosen().set_params(features__names="words").fit(training)
    typos = [misspelt(each, rng) for each in test]
    for row, shown in (("names", test), ("one typo", typos)):
        rows[row] = {"exact": names.score(shown)}
        rows[f"{row}, without spans"] = {"exact": plain.score(shown)}
    world = test[0].environment
    known = [names.follow(e.instructions, e.environment, e.start) for e in test]
    strange = [names.follow(text, world, ()) for text in STRANGE]
    rows["unexplained words"] = {
        "confidence": max(plan.confidence for plan in strange),
        "confidence otherwise": sorted(plan.confidence for plan in known)[len(known) // 2],
    }
    for row, draw in (("open values", value_demonstration), ("sets", set_demonstration)):
        training, test = drawn(draw, seed)
        follower = Follower().fit(training)
        rows[row] = {"exact": follower.score(test)}
        if row == "sets":
            words = [each for each in follower.chosen().features.words if each != "number"]
            without = follower.chosen().set_params(features__words=tuple(words)).fit(training)
            rows["sets, without singular and plural"] = {"exact": without.score(test)}
    training, test = drawn(command_demonstration, seed)
    rows["two commands"] = {"exact": Follower().fit(training).score(test)}
    training, test = drawn(manner_demonstration, seed)
    training = [*training, manner_demonstration(rng, training=False)]
    rare = Follower().fit(training)
    rows["rare words"] = {"exact": rare.score(test)}
    without = rare.chosen().set_params(learning__rare_words=False).fit(training)
    rows["rare words, penalised like others"] = {"exact": without.score(test)}
    return rows


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = run(given.seed)
    for name, row in rows.items():
        print(f"{name:36}", "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    if given.json:
        given.json.write_text(json.dumps({"seed": given.seed, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
