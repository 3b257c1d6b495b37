"""Names of actions and plans."""

from enum import Enum

from groundling.inference.plan_space import ActionNames


class Way(Enum):
    LEFT = 1
    RIGHT = 2


class Own:
    """An action that can only be told by identity."""

    __slots__ = ()


def test_naming_order_is_that_of_the_names_not_of_the_world():
    names = ActionNames()
    actions = (Way.RIGHT, ("go", 2), Way.LEFT, ("go", 1))
    ordered = [actions[place] for place in names.order(actions)]
    backwards = actions[::-1]
    assert ordered == [backwards[place] for place in names.order(backwards)]


def test_naming_actions_without_a_text_keep_their_order():
    actions = (Own(), Own(), Own())
    assert ActionNames().order(actions) == [0, 1, 2]


def test_naming_shorter_plans_come_first():
    names = ActionNames()
    assert names.plan(("z",)) < names.plan(("a", "a"))
