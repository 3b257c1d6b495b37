"""Composed demonstrations: neighbours of a group become one, with one tree and one plan."""

import pytest

from groundling import Demonstration, Follower, Instruction, Learning, Search, compose
from groundling.errors import DemonstrationError
from groundling.language.instruction import join_instructions
from groundling.models.example import prepare
from research.conversations import measure
from tests.worlds import Line, workbench


class Walk(Line):
    """A line on which steps in one direction are one action, and waiting is one, too."""

    def actions(self, state):
        steps = [step for step in range(-3, 4) if 0 <= state + step < self.size]
        return tuple(steps)

    def step(self, state, action):
        return state + action

    def ground(self, state, action, after):
        return super().ground(state, "right" if action > 0 else "left", after)

    def canonical_plan(self, start, actions):
        plan = []
        for action in actions:
            if plan and plan[-1] * action > 0:
                plan[-1] += action
            elif action:
                plan.append(action)
        return tuple(plan) or (0,)


LINE = Line(6)


def shown(text, start, *actions, world=LINE, group="walk", **more):
    return Demonstration(text, world, start, actions, name=text, group=group, **more)


def test_composing_joins_neighbours_that_meet():
    found = compose(
        [shown("up", 0, "right"), shown("on", 1, "right"), shown("back", 2, "left")],
        parser="chain",
    )
    assert [each.name for each in found] == ["up + on", "on + back"]
    assert [each.actions for each in found] == [("right", "right"), ("right", "left")]
    assert [each.start for each in found] == [0, 1]
    assert [each.group for each in found] == ["walk", "walk"]
    assert [each.weight for each in found] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (shown("up", 0, "right"), shown("on", 2, "right")),  # a gap between them
        (shown("up", 0, "right"), shown("on", 1, "right", group="other")),
        (shown("up", 0, "right", group=""), shown("on", 1, "right", group="")),
        (shown("up", 0, "right"), shown("on", 1, "right", world=Line(6))),
        (shown("up", 0, "right"), shown("there you are", 1, "right", "left")),  # nothing done
        (shown("look", 1, "right", "left"), shown("on", 1, "right")),
    ],
)
def test_composing_leaves_alone_what_makes_no_pair(first, second):
    assert compose([first, second], parser="chain") == []


def test_composing_bounds_length_and_words():
    pair = [shown("go up", 0, "right"), shown("go on", 1, "right")]
    assert len(compose(pair, parser="chain", max_length=2, max_words=4)) == 1
    assert compose(pair, parser="chain", max_length=1) == []
    assert compose(pair, parser="chain", max_words=3) == []


def test_composing_allows_the_extra_length_of_a_start():
    class Lost(Line):
        def extra_length(self, start):
            return int(start == 0)

    world = Lost(6)
    first, second, third = (
        shown(text, start, "right", world=world) for start, text in enumerate("abc")
    )
    found = compose([first, second, third], parser="chain", max_length=1)
    assert [each.name for each in found] == ["a + b"]


def test_composing_asks_for_canonical_plans():
    world = Walk(6)
    [found] = compose(
        [shown("up", 0, 1, world=world), shown("on", 1, 2, world=world)], parser="chain"
    )
    assert found.actions == (3,)


def test_composing_leaves_out_what_the_world_forbids():
    class Once(Line):
        """A line on which a plan has one step."""

        def actions(self, state):
            return super().actions(state[0]) if state[1] == "new" else ()

        def step(self, state, action):
            return super().step(state[0], action), "old"

        def ground(self, state, action, after):
            return super().ground(state[0], action, after[0])

        def outcome(self, state):
            return state[0]

    world = Once(6)
    pair = [shown(str(at), (at, "new"), "right", world=world) for at in (0, 1)]
    assert compose(pair, parser="chain") == []


def test_composing_refuses_impossible_demonstrations():
    with pytest.raises(DemonstrationError, match=r"'up'.*action 1"):
        compose([shown("up", 0, "left"), shown("on", 1, "right")], parser="chain")


def test_composing_joins_trees_without_a_word_between():
    turn = Instruction(("turn", "left"), (-1, 0), ("root", "advmod"), ("VERB", "ADV"))
    go = Instruction(("now", "go"), (1, -1), ("advmod", "root"), ("ADV", "VERB"))
    joined = join_instructions([turn, go, turn])
    assert joined.tokens == ("turn", "left", "now", "go", "turn", "left")
    assert joined.heads == (-1, 0, 3, 0, 3, 4)
    assert joined.relations == ("root", "advmod", "advmod", "conj", "conj", "advmod")
    assert joined.tags == ("VERB", "ADV", "ADV", "VERB", "VERB", "ADV")
    assert str(joined) == "turn left now go turn left"


def test_composing_in_training_keeps_weight_group_and_names():
    encoder, _ = workbench()
    given = [shown("up", 0, "right", weight=2.0), shown("on", 1, "right", weight=4.0)]
    *own, made = prepare(encoder, given, composed=0.5)
    assert [each.shown for each in own] == given
    assert made.shown is None
    assert made.weight == 1.5
    assert made.group == own[0].group
    assert made.names == ("up", "on")
    assert len(prepare(encoder, given)) == 2


def test_composing_in_training_is_forgotten_with_its_parts():
    given = [
        shown("go up", 0, "right"),
        shown("come back", 1, "left"),
        shown("up again", 0, "right"),
    ]
    follower = Follower(
        parser="chain", learning=Learning(composed=0.5), search=Search(max_length=2)
    ).fit(given)
    assert [each.name for each in follower.demonstrations_] == [each.name for each in given]
    assert len(follower._learnt.examples) == 5
    follower.forget(["go up"])
    assert [each.names for each in follower._learnt.examples] == [
        ("come back",),
        ("up again",),
        ("come back", "up again"),
    ]


def test_composing_teaches_to_do_two_things_at_once():
    _, apart = measure(0.0, seed=0, talks=6, count=20)
    one, both = measure(0.5, seed=0, talks=6, count=20)
    assert one == 1
    assert both > apart + 0.5
