"""A smart home with plain labels, rich labels, and memory: `python examples/home.py`."""

import random
from collections import namedtuple

from groundling import Demonstration, Follower, GroundingGraph, MemoryEnvironment

ROOMS, DEGREES = ("kitchen", "bedroom", "office", "hall"), range(17, 24)
WORDS = {"lamp": ("lamp", "light"), "blind": ("blind", "shade"), "tv": ("tv", "screen")}
SAY = {
    "on": ("switch on the {}", "turn the {} on", "put the {} on"),
    "off": ("switch off the {}", "turn the {} off", "cut the {}"),
    "open": ("open the {}", "raise the {}", "pull the {} up"),
    "close": ("close the {}", "lower the {}", "pull the {} down"),
    "to": ("set the heating in the {} to {}", "{1} degrees in the {0}", "heat the {} to {}"),
    "more": ("make the {} {} warmer", "it is {1} too cold in the {0}"),
    "less": ("make the {} {} cooler", "it is {1} too warm in the {0}"),
}
State = namedtuple("State", "on degrees")  # pairs (device, room); a temperature per room


class Home:
    """A temperature and devices that are on or off (blinds: open or closed) in each room."""

    def __init__(self, rich):
        self.rich = rich  # whether to add the labels of docs/labels.md

    def actions(self, state):
        rooms = zip(ROOMS, state.degrees, strict=True)
        found = [(to, "heating", room) for room, now in rooms for to in DEGREES if to != now]
        for device in WORDS:
            for on, what in enumerate(("open", "close") if device == "blind" else ("on", "off")):
                where = [room for room in ROOMS if ((device, room) in state.on) == on]
                where += ["everywhere"] * (len(where) > 1)
                found += [(what, device, room) for room in where]
        return found

    def step(self, state, action):
        what, device, room = action
        if device == "heating":
            rooms = zip(ROOMS, state.degrees, strict=True)
            return state._replace(degrees=tuple(what if r == room else now for r, now in rooms))
        all_of = {(device, each) for each in (ROOMS if room == "everywhere" else (room,))}
        return state._replace(on=state.on | all_of if what in ("on", "open") else state.on - all_of)

    def ground(self, state, action, after):
        what, device, room = action
        event, to = ({"set": True}, what) if device == "heating" else ({what: True}, None)
        thing, where = {"device": device}, {"room": room}
        if self.rich:
            thing[device] = True  # other words for the value: light, shade, screen
            where["everywhere"] = room == "everywhere"  # for words such as all and every
            if to:  # direction and size, for words such as warmer, a bit, much
                change = to - state.degrees[ROOMS.index(room)]
                event["more" if change > 0 else "less"] = True
                event["step"] = {1: "one step", 2: "two steps"}.get(abs(change), "far")
        nodes = {"event": event, "thing": thing, "where": where, "to": {"to": to}}
        return GroundingGraph(nodes, [("event", each, each) for each in ("thing", "where", "to")])


def demonstrate(dice):
    """Generate a text, a state, and the requested actions."""
    on = frozenset((device, room) for device in WORDS for room in ROOMS if dice.random() < 0.5)
    state = State(on, tuple(dice.choice(DEGREES) for _ in ROOMS))
    possible, kind = Home(rich=False).actions(state), dice.choice(("heat", "one", "there", "all"))
    if kind == "heat":
        to, _, room = action = dice.choice([each for each in possible if each[1] == "heating"])
        change = to - state.degrees[ROOMS.index(room)]
        said, way = {1: "a bit", 2: "much"}.get(abs(change)), "more" if change > 0 else "less"
        return dice.choice(SAY[way if said else "to"]).format(room, said or to), state, [action]
    room = dice.choice(ROOMS) if kind != "all" else "everywhere"
    there = [each for each in possible if each[1] in WORDS and each[2] == room]
    actions = dice.sample(there, dice.choice((2, 3)) if kind == "there" else 1)
    named = [(what, dice.choice(WORDS[device])) for what, device, _ in actions]
    said = [dice.choice(SAY[what]).format(word) for what, word in named]
    if kind == "all":
        every = dice.choice(("all {}s", "every {}")).format(named[0][1])
        return said[0].replace(f"the {named[0][1]}", every), state, actions
    said[0] += f" in the {room}"  # mention the room only once
    return " and ".join(said) + dice.choice((" there", "")) * (len(said) > 1), state, actions


def main():
    """Train on 120 texts with each kind of label; test on 80 new combinations of words."""
    dice, names = random.Random(0), [*ROOMS, *sum(WORDS.values(), ()), "much", "every"]
    told = [demonstrate(dice) for _ in range(400)]
    homes = Home(rich=False), Home(rich=True), MemoryEnvironment(Home(rich=True))
    for called, home in zip(("plain", "rich", "rich, with memory"), homes, strict=True):
        shown, new = [], []
        for text, state, actions in told:
            start = home.begin(state) if isinstance(home, MemoryEnvironment) else state
            place = sum(n for n, name in enumerate(names) if name in text)
            (shown if place % 3 else new).append(Demonstration(text, home, start, actions))
        share = Follower().fit(shown[:120], check=False).score(new[:80])
        print(f"{called}: {share:.0%} of 80 right")


if __name__ == "__main__":
    main()
