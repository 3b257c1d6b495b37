"""A kitchen robot, from environment to explained plans: `python examples/kitchen.py [FOLDER]`."""

import random
import sys
from collections import namedtuple
from pathlib import Path

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Overlay
from groundling import Search, check_environment

# The robot's place, the thing it holds (or ""), and pairs (thing, place) for all others.
State = namedtuple("State", "at holds lying")


class Kitchen:
    """A robot that goes to places, takes things, and puts them down."""

    def __init__(self, *places):
        self.places = places

    def actions(self, state):
        go = [f"go to the {place}" for place in self.places if place != state.at]
        if state.holds:
            return [*go, f"put down the {state.holds}"]
        return go + [f"take the {each}" for each, at in sorted(state.lying) if at == state.at]

    def step(self, state, action):
        verb, what = action.split(" the ")
        if verb == "go to":
            return state._replace(at=what)
        if verb == "take":
            return state._replace(holds=what, lying=state.lying - {(what, state.at)})
        return state._replace(holds="", lying=state.lying | {(what, state.at)})

    def ground(self, state, action, after):
        verb, what = action.split(" the ")
        nodes = {"event": {verb: True}, "where": {"place": after.at}}
        edges = [("event", "where", "at")]
        if verb != "go to":
            colour, thing = what.split()
            nodes["object"] = {"thing": thing, "colour": colour}
            edges.append(("event", "object", "of"))
        return GroundingGraph(nodes, edges)


def furnish(dice, places, things):
    """Return a kitchen and a state with things at random places."""
    lying = frozenset((thing, dice.choice(places)) for thing in things)
    return Kitchen(*places), State(dice.choice(places), "", lying)


def demonstrate(dice, kitchen, start):
    """Generate a demonstration; its text never mentions how to reach things."""
    (thing, lies), place = dice.choice(sorted(start.lying)), dice.choice(kitchen.places)
    away = dice.choice([each for each in kitchen.places if each != start.at])
    reach = [f"go to the {lies}"] if lies != start.at else []
    carry = [f"go to the {place}"] if place != lies else []
    take, put = f"take the {thing}", f"put down the {thing}"
    text, actions = dice.choice([
        (f"walk to the {away}", [f"go to the {away}"]),
        (f"{dice.choice(('take', 'pick up'))} the {thing}", [*reach, take]),
        (f"take the {thing} and go to the {place}", [*reach, take, *carry]),
        (f"put the {thing} on the {place}", [*reach, take, *carry, put]),
        (f"bring the {thing} to the {place}", [*reach, take, *carry, put]),
    ])  # fmt: skip
    return Demonstration(text, kitchen, start, actions)


def main(folder):
    """Train on sixty demonstrations; follow, explain and draw with unseen names."""
    dice = random.Random(0)
    things, places = ("red cup", "blue cup", "red bowl"), ("table", "sink", "shelf")
    others, elsewhere = ("white plate", "grey plate", "white fork"), ("stove", "counter", "drawer")
    known = [furnish(dice, places, things) for _ in range(60)]
    unseen = [furnish(dice, elsewhere, others) for _ in range(60)]
    print(check_environment(*known[0]))
    follower = Follower(
        overlay=Overlay(unit="clause"),  # each clause names one action
        features=Features(words=("word",), slots=("place", "thing", "colour")),  # names must match
        learning=Learning(l2=0.02),  # the demonstrations are clean: trust them
        search=Search(max_length=4, threshold=0.5),  # below one half: "I do not understand"
    ).fit(demonstrate(dice, *each) for each in known)
    share = follower.score(demonstrate(dice, *each) for each in unseen)
    print(f"{share:.0%} of 60 right with places, things and colours that it never saw")
    follower.save(folder / "model")
    follower = Follower.load(folder / "model")
    kitchen = Kitchen(*elsewhere)
    start = State("counter", "", frozenset(zip(others, elsewhere, strict=True)))
    wish = "put the white plate on the counter"
    for text in (wish, "pick up the white fork and go to the stove", "sing me a song"):
        print(f"“{text}”: {follower.follow(text, kitchen, start)}")
    why = follower.follow(wish, kitchen, start).explain()
    print(why, why.save(folder / "why.png"), sep="\n\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "kitchen"))
