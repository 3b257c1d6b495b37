"""Several commands in one text, or none."""

import random

import pytest

from groundling import Demonstration, Follower, GroundingGraph, Search
from groundling.errors import GroundlingError

KINDS = {"lamp": ("on", "off"), "blinds": ("open", "close"), "door lock": ("lock", "unlock")}
SAID = {
    "on": "turn on", "off": "turn off", "open": "open", "close": "close", "lock": "lock",
    "unlock": "unlock",
}  # fmt: skip
ROOMS = ("kitchen", "hall", "shed", "attic", "salt and pepper room")


class Home:
    """Things in rooms."""

    def __init__(self, things):
        self.has = tuple(things)

    def actions(self, state):
        return tuple((verb, thing) for thing in self.has for verb in KINDS[thing[1]])

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        verb, (room, kind) = action
        thing = {"kind": kind, "room": room, "name": f"{room} {kind}"}
        return GroundingGraph({"event": {verb: True}, "thing": thing}, [("event", "thing", "of")])


HOME = Home((room, kind) for room in ROOMS for kind in KINDS)


@pytest.fixture(scope="module")
def follower():
    dice, shown = random.Random(1), []
    for _ in range(120):
        home = Home(dice.sample(HOME.has, 7))
        verb, (room, kind) = dice.choice(home.actions(()))
        thing = dice.choice((f"the {room} {kind}", f"the {kind} in the {room}"))
        text = f"{SAID[verb]} {thing}"
        shown.append(Demonstration(text, home, (), ((verb, (room, kind)),)))
    return Follower().fit(shown, check=False)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("turn off the hall lamp", [("off", "hall", "lamp")]),
        (
            "turn off the hall lamp and lock the shed door lock",
            [("off", "hall", "lamp"), ("lock", "shed", "door lock")],
        ),
        (
            "Turn off the hall lamp, then open the attic blinds. Lock the shed door lock, please",
            [("off", "hall", "lamp"), ("open", "attic", "blinds"), ("lock", "shed", "door lock")],
        ),
        (
            "open the blinds in the kitchen and the hall",
            [("open", "kitchen", "blinds"), ("open", "hall", "blinds")],
        ),
        (
            "turn the shed and the hall lamp on",
            [("on", "shed", "lamp"), ("on", "hall", "lamp")],
        ),
        ("lock the side door lock in the attic", [("lock", "attic", "door lock")]),
        ("turn on the salt and pepper room lamp", [("on", "salt and pepper room", "lamp")]),
        ("Hello! Turn on the shed lamp. Thanks!", [("on", "shed", "lamp")]),
        ("Alright, thanks!", []),
    ],
)
def test_a_text_asks_for_as_many_actions_as_it_names(follower, text, wanted):
    plan = follower.follow(text, HOME, ())
    assert [(verb, room, kind) for verb, (room, kind) in plan.actions] == wanted
    assert len(plan.states) == len(wanted) + 1
    assert plan.end == plan.actions
    assert plan.asked == 0
    assert plan.to_dict()["asked"] == 0


def test_a_plan_of_several_commands_is_explained_part_by_part(follower):
    plan = follower.follow("turn off the hall lamp and lock the shed door lock", HOME, ())
    why = plan.explain()
    assert [each.actions for each in plan.parts] == [(action,) for action in plan.actions]
    assert [" ".join(each.tokens) for each in why.instructions] == [
        "turn off the hall lamp",
        "lock the shed door lock",
    ]
    assert [step.causes[0].unit.sentence for step in why.steps] == [0, 1]
    total = sum(step.text.total + step.own.total for step in why.steps)
    assert why.score == pytest.approx(total + why.whole.total + why.ambiguity)
    assert "lock the shed door lock" in str(why)
    assert why.deletions == ()
    with pytest.raises(GroundlingError, match=r"plan\.parts"):
        why.without("lamp")
    with pytest.raises(GroundlingError, match="got an empty plan"):
        follower.follow("thank you", HOME, ()).explain()


def test_a_length_that_is_given_is_kept_and_told(follower):
    text = "turn off the hall lamp and lock the shed door lock"
    assert len(follower.follow(text, HOME, (), length=1)) == 1
    given = follower.with_search(Search(max_length=1))
    plan = given.follow(text, HOME, ())
    assert (len(plan), plan.asked) == (1, 2)
    assert "asks for 2 actions" in str(plan)


class Line:
    """A line that is walked; a state is a place."""

    def actions(self, state):
        return ("left", "right", "wave")

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        return GroundingGraph({"event": {action: True}})


@pytest.mark.parametrize("longest", [2, 9])
def test_a_text_may_ask_for_more_actions_than_were_ever_shown(longest):
    dice, line, shown = random.Random(2), Line(), []
    said = {"left": "go left", "right": "go right", "wave": "wave a hand"}
    for number in range(60):
        actions = dice.choices(line.actions(()), k=longest if not number else 1 + number % longest)
        shown.append(Demonstration([said[each] for each in actions], line, (), tuple(actions)))
    follower = Follower().fit(shown, check=False)
    wanted = tuple(dice.choices(line.actions(()), k=longest + 4))
    plan = follower.follow([said[each] for each in wanted], line, ())
    assert plan.actions == wanted


def test_a_connective_that_was_shown_inside_one_action_does_not_split():
    class Table:
        def actions(self, held):
            if held:
                return (("drop", held, ""),)
            moves = [("move", each, place) for each in "abc" for place in ("tray", "shelf", "box")]
            return (*moves, *(("take", each, "") for each in "abc"))

        def step(self, held, action):
            return action[1] if action[0] == "take" else ""

        def ground(self, held, action, after):
            nodes = {"event": {action[0]: True}, "thing": {"colour": COLOURS[action[1]]}}
            edges = [("event", "thing", "of")]
            if action[2]:
                nodes["to"] = {"place": action[2]}
                edges.append(("event", "to", "to"))
            return GroundingGraph(nodes, edges)

    COLOURS = {"a": "red", "b": "blue", "c": "green"}
    shown = [
        Demonstration(text.format(colour, place), Table(), held, (action,))
        for each, colour in COLOURS.items()
        for place in ("tray", "shelf")
        for text, held, action in (
            ("grab the {} cup and set it on the {}", "", ("move", each, place)),
            ("grab the {} cup", "", ("take", each, "")),
            ("set it down", each, ("drop", each, "")),
        )
    ]
    taught = Follower().fit(shown, check=False)
    plan = taught.follow("grab the green cup and set it on the box", Table(), "")
    assert [verb for verb, *_ in plan.actions] == ["move"]
