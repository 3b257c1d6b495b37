"""A word that was shown once, with a label that was shown once, is learnt from that."""

import random

import numpy as np

from groundling import Demonstration, Follower, GroundingGraph

SHAPES, COLOURS = ("circle", "square", "cylinder"), ("red", "blue", "green", "yellow")
SAID = {"": "", "stopping": " hesitantly", "turning": " while spinning", "wary": " cautiously"}


class Grid:
    """Things that are walked to, pushed and pulled, in one of several manners."""

    def __init__(self, things):
        self.things = things

    def actions(self, state):
        verbs, things = ("walk", "push", "pull"), range(len(self.things))
        return [(verb, thing, how) for verb in verbs for thing in things for how in SAID]

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        verb, thing, how = action
        shape, colour = self.things[thing]
        nodes = {
            "event": {verb: True},
            "thing": {"shape": shape, "colour": colour},
            "manner": {how or "plain": True},
        }
        return GroundingGraph(nodes, [("event", "thing", "to"), ("event", "manner", "how")])


def demonstration(dice, how, verb=None):
    things = dice.sample([(shape, colour) for shape in SHAPES for colour in COLOURS], 4)
    verb, thing = verb or dice.choice(("walk", "push", "pull")), dice.randrange(4)
    text = f"{verb} the {things[thing][1]} {things[thing][0]}{SAID[how]}"
    return Demonstration(text, Grid(things), "", ((verb, thing, how),))


def shown(count):
    dice = random.Random(5)
    found = [demonstration(dice, dice.choice(("", "stopping", "turning"))) for _ in range(count)]
    return (
        found,
        demonstration(dice, "wary", "walk"),
        [demonstration(dice, "wary") for _ in "x" * 30],
    )


def test_a_word_shown_once_is_kept_among_many_demonstrations():
    usual, once, test = shown(400)
    follower = Follower(parser="chain").fit([*usual, once], check=False)
    assert follower.chosen().learning.rare_words
    assert "learning__rare_words" in str(follower.choices_.params)
    assert follower.score(test) >= 0.95
    without = follower.chosen().set_params(learning__rare_words=False).fit([*usual, once])
    assert without.score(test) <= 0.5


def test_a_word_that_is_taught_once_is_kept():
    usual, once, test = shown(220)
    follower = Follower(parser="chain").fit(usual, check=False)
    assert not follower.chosen().learning.rare_words
    assert follower.teach([once]).score(test) >= 0.95
    settled = follower.chosen().set_params(learning__rare_words=True).fit(usual)
    assert settled.teach([once]).score(test) >= 0.95


def test_rare_words_are_the_same_in_shards():
    usual, once, _ = shown(120)
    follower = Follower(parser="chain").fit([*usual, once], check=False).chosen()
    assert follower.learning.rare_words
    whole = follower.fit([*usual, once], check=False).theta_
    parts = follower.fit([*usual, once], memory="1GB").theta_
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-9)
