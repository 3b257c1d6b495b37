"""A robot among rooms and things, told what to do in two languages."""

import random
from typing import NamedTuple

import pytest

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Overlay, Search

SAID = {
    "english": {"go": ("walk to the", "go to the"), "take": ("take the", "grab the")},
    "german": {"go": ("geh zu", "lauf zu"), "take": ("nimm", "hol")},
}
AND = {"english": " and ", "german": " und "}


class Scene(NamedTuple):
    at: str
    holds: str = ""


class House:
    """The robot goes to rooms and takes things, which lie anywhere."""

    def __init__(self, rooms=("kitchen", "hall", "attic"), things=("cup", "lamp", "book")):
        self.rooms, self.things = tuple(rooms), tuple(things)

    def actions(self, state):
        go = tuple(("go", room) for room in self.rooms if room != state.at)
        return go + tuple(("take", thing) for thing in self.things if thing != state.holds)

    def step(self, state, action):
        verb, what = action
        return state._replace(at=what) if verb == "go" else state._replace(holds=what)

    def ground(self, state, action, after):
        verb, what = action
        kind = "room" if verb == "go" else "thing"
        return GroundingGraph(
            {"event": {verb: True}, "object": {kind: what}}, [("event", "object", "of")]
        )


def tell(dice, house, count, language="english", two=0.3):
    """Return demonstrations, some of which ask for two things."""
    shown = []
    for number in range(count):
        state = start = Scene(dice.choice(house.rooms))
        actions, texts = [], []
        for _ in range(2 if dice.random() < two else 1):
            action = dice.choice(house.actions(state))
            actions.append(action)
            texts.append(f"{dice.choice(SAID[language][action[0]])} {action[1]}")
            state = house.step(state, action)
        text = AND[language].join(texts)
        shown.append(Demonstration(text, house, start, tuple(actions), name=f"told {number}"))
    return shown


def learn(shown):
    return Follower(
        parser="chain",
        overlay=Overlay.flat(),
        features=Features(words=("word",), slots=("room", "thing")),
        learning=Learning(l2=0.1, composed=0.5),
        search=Search(max_length=2, decode="outcome"),
    ).fit(shown, check=False)


@pytest.fixture(scope="session")
def house():
    return House()


@pytest.fixture(scope="session", params=["english", "german"])
def spoken(request, house):
    """Return a language, and a follower that learnt from fifty demonstrations in it."""
    return request.param, learn(tell(random.Random(1), house, 50, request.param))


@pytest.fixture(scope="session")
def follower(house):
    return learn(tell(random.Random(1), house, 50))
