"""Partial views: only what was seen is known, and what is named is looked for."""

import pytest

pytest.importorskip("minigrid")

from groundling.gym.agent import Agent
from groundling.gym.babyai_levels import babyai
from groundling.gym.belief import frontier


def test_belief_holds_only_what_is_in_view():
    full, partial = babyai("GoTo"), babyai("GoTo", view="partial")
    env = full.make()
    _, everything = full.reset(env, 3)
    seen = partial.begin(env)
    assert 0 < len(seen.places) < len(everything.places)
    assert frontier(seen)
    env.close()


def test_belief_agrees_with_the_simulator():
    full, partial = babyai("MiniBossLevel"), babyai("MiniBossLevel", view="partial")
    env = full.make()
    _, real = full.reset(env, 5)
    belief = partial.begin(env)
    for move in (0, 2, 2, 1, 2, 3, 1, 5, 2, 2, 4, 1, 1, 2):
        env.step(move)
        belief = partial.after(env, belief, move)
        real = full.observe(env)
        offset = belief.layout.point(belief.agent)
        here = real.layout.point(real.agent)
        shift = (offset[0] - here[0], offset[1] - here[1])
        known = {
            (real.layout.things[number][:2], *map(sum, zip(real.layout.point(place), shift)))  # noqa: B905
            for number, place in enumerate(real.places)
            if place >= 0
        }
        for number, place in enumerate(belief.places):
            if place >= 0:
                thing = belief.layout.things[number][:2]
                assert (thing, *belief.layout.point(place)) in known
        assert belief.direction == real.direction
        assert (belief.carrying >= 0) == (real.carrying >= 0)
    env.close()


@pytest.mark.parametrize("level", ["GoToObjMazeS4", "PickupLoc", "UnlockPickup"])
def test_belief_agent_looks_for_what_is_named(level):
    full, partial = babyai(level), babyai(level, view="partial")
    agent = Agent(full.follower().fit(full.record(range(30))), partial)
    env = partial.make()
    reports = []
    for seed in range(700, 706):
        text, _ = partial.reset(env, seed)
        reports.append(agent.act(text, env))
    env.close()
    assert all(each.success for each in reports), [str(each) for each in reports]
