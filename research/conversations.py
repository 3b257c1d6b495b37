"""Effect of composed demonstrations: `python -m research.conversations`.

Training conversations have five texts with one request each. Test texts have two requests each,
about places and things that do not occur in training.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Overlay, Search

__all__ = ["Kitchen", "main", "measure", "talk", "together"]

KNOWN = ("red cup", "blue cup", "red bowl"), ("table", "sink", "shelf")
NEW = ("white plate", "grey plate", "white fork"), ("stove", "counter", "drawer")
SAID = {"go": ("walk to", "go to"), "take": ("take", "pick up"), "put": ("put down", "drop")}


class Scene(NamedTuple):
    """State: the robot's place, what it holds (or nothing), and the places of things."""

    at: str
    holds: str
    lying: frozenset[tuple[str, str]]


class Kitchen:
    """World of a robot that goes to places, takes things there, and puts them down."""

    def __init__(self, places: Sequence[str]) -> None:
        self.places = tuple(places)

    def actions(self, state: Scene) -> tuple[tuple[str, str], ...]:
        """Return the possible actions: a verb, and a place or a thing."""
        go = tuple(("go", place) for place in self.places if place != state.at)
        if state.holds:
            return (*go, ("put", state.holds))
        return go + tuple(("take", each) for each, at in sorted(state.lying) if at == state.at)

    def step(self, state: Scene, action: tuple[str, str]) -> Scene:
        """Return the state after an action."""
        verb, what = action
        if verb == "go":
            return state._replace(at=what)
        if verb == "take":
            return state._replace(holds=what, lying=state.lying - {(what, state.at)})
        return state._replace(holds="", lying=state.lying | {(what, state.at)})

    def ground(self, state: Scene, action: tuple[str, str], next_state: Scene) -> GroundingGraph:
        """Return the graph: the event, the place where it ends, and the thing."""
        verb, what = action
        if verb == "go":
            return GroundingGraph(
                {"event": {verb: True}, "where": {"place": what}}, [("event", "where", "at")]
            )
        colour, thing = what.split()
        return GroundingGraph(
            {"event": {verb: True}, "object": {"thing": thing, "colour": colour}},
            [("event", "object", "of")],
        )


def talk(
    dice: random.Random, names: tuple[Sequence[str], Sequence[str]], count: int, group: str
) -> list[Demonstration]:
    """Return a generated conversation as demonstrations."""
    things, places = names
    kitchen = Kitchen(places)
    lying = frozenset((thing, dice.choice(places)) for thing in things)
    state = Scene(dice.choice(places), "", lying)
    shown = []
    for number in range(count):
        actions = kitchen.actions(state)
        near = [each for each in actions if each[0] != "go"]
        verb, what = dice.choice(near if near and dice.random() < 0.6 else actions)
        said = {
            "go": ("walk to", "go to"),
            "take": ("take", "pick up"),
            "put": ("put down", "drop"),
        }
        text = f"{dice.choice(said[verb])} the {what}"
        name = f"{group}-{number}"
        shown.append(Demonstration(text, kitchen, state, ((verb, what),), name=name, group=group))
        state = kitchen.step(state, (verb, what))
    return shown


def together(shown: Sequence[Demonstration]) -> Demonstration:
    """Return two consecutive demonstrations as one with a single sentence."""
    text = " and ".join(str(each.instructions) for each in shown)
    actions = tuple(action for each in shown for action in each.actions)
    return Demonstration(text, shown[0].environment, shown[0].start, actions)


def measure(composed: float, seed: int, talks: int = 12, count: int = 60) -> tuple[float, float]:
    """Train on conversations; return the accuracies on texts with one and two requests."""
    dice = random.Random(seed)
    known = [each for number in range(talks) for each in talk(dice, KNOWN, 5, f"talk {number}")]
    follower = Follower(
        overlay=Overlay.flat(),
        features=Features(words=("word",), slots=("place", "thing", "colour")),
        learning=Learning(l2=0.02, composed=composed),
        search=Search(max_length=2),
    ).fit(known)
    new = [talk(dice, NEW, 2, "new") for _ in range(count)]
    return follower.score([each[0] for each in new]), follower.score(list(map(together, new)))


def main() -> None:
    """Print the table of the note."""
    print("| weight of composed demonstrations | one thing | two at once |\n|---|---|---|")
    for composed in (0.0, 0.5, 1.0):
        found = [measure(composed, seed) for seed in range(3)]
        means = [sum(column) / len(column) for column in zip(*found, strict=True)]
        print(f"| {composed:g} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    main()
