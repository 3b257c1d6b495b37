"""BabyAI levels as worlds of objects."""

import pytest

from groundling.errors import SettingError

pytest.importorskip("minigrid")

from groundling.gym.babyai_levels import babyai, levels


def test_babyai_levels_knows_every_registered_level():
    import gymnasium

    registered = [each for each in gymnasium.registry if each.startswith("BabyAI-")]
    assert len(levels()) == len(registered) >= 90
    assert repr(babyai("BabyAI-GoToLocal-v0")) == repr(babyai("GoToLocal"))


def test_babyai_levels_unknown_names_get_a_hint():
    with pytest.raises(
        SettingError, match=r"must be a BabyAI level; got 'GoToLocl'\. Did you mean"
    ):
        babyai("GoToLocl")
    with pytest.raises(SettingError, match="must be 'macro' or 'primitive'"):
        babyai("GoToLocal", actions="moves")
    with pytest.raises(SettingError, match="must not be combined"):
        babyai("GoToLocal", actions="primitive", view="partial")


@pytest.mark.parametrize("level", levels())
def test_babyai_levels_every_level_can_be_demonstrated(level):
    [shown] = babyai(level).record([3])
    episode = shown.environment
    assert episode.is_possible(shown.actions)
    assert shown.instructions
    assert all(isinstance(part, str) for part in shown.instructions)
    assert len(shown.instructions) == len(shown.actions)


def test_babyai_levels_sides_are_those_of_the_simulator():
    level = babyai("PickupLoc")
    env = level.make()
    for seed in range(20):
        text, scene = level.reset(env, seed)
        [(_, [wanted], _)] = level.mission(env)
        sides = [side for side in ("left", "right", "front", "behind") if f" {side}" in text]
        labels = level.objects(scene, scene)
        assert all(set(sides) <= set(labels[each]["side"]) for each in wanted), text
    env.close()


def test_babyai_levels_said_later_done_earlier():
    level = babyai("OpenDoorsOrderN2")
    env = level.make()
    orders = {}
    for seed in range(12):
        text, _ = level.reset(env, seed)
        orders[seed] = ("after" in text, [earlier for _, _, earlier in level.mission(env)])
    env.close()
    assert any(after for after, _ in orders.values())
    assert all(any(marks) == after for after, marks in orders.values())


def test_babyai_levels_follower_learns_from_ten_demonstrations():
    level = babyai("PutNextLocal")
    shown = level.record(range(30))
    follower = level.follower().fit(shown[:10])
    assert follower.score(shown[10:]) >= 0.9
