"""Trajectories of teachers, bots and people, and their cutting."""

import pytest

from groundling.errors import DemonstrationError, SettingError

pytest.importorskip("minigrid")

from groundling.gym.babyai_levels import babyai
from groundling.gym.recorder import Recording, record
from groundling.gym.segmentation import cut


@pytest.fixture(scope="module")
def level():
    return babyai("GoToLocal")


def same(one, other):
    outcome = other.environment.outcome
    return outcome(one.actions) in [outcome(each) for each in (other.actions, *other.also)]


def test_recording_of_the_teacher_succeeds(level):
    found = record(level, range(5))
    assert all(each.success for each in found)
    assert all(len(each.observations) == len(each.moves) + 1 for each in found)
    assert [each.seed for each in found] == list(range(5))


def test_recording_cuts_what_a_bot_did():
    from minigrid.utils.baby_ai_bot import BabyAIBot

    for name in ("PutNextLocal", "OpenDoorsOrderN4", "PickupDist"):
        level = babyai(name)
        taught = level.record(range(6))
        for trajectory, other in zip(record(level, range(6), BabyAIBot), taught, strict=True):
            assert trajectory.success
            assert same(cut(level, trajectory), other), trajectory.text


def test_recording_takes_a_policy(level):
    [trajectory] = record(level, [0], policy=lambda env, scene: 0)
    assert set(trajectory.moves) == {0}
    assert trajectory.truncated
    assert not trajectory.success
    with pytest.raises(SettingError, match="must not be combined"):
        record(level, [0], policy=lambda env, scene: 0, human=True)


def test_recording_replays_what_has_no_scenes(level):
    [trajectory] = record(level, [4])
    bare = Recording(trajectory.text, 4, trajectory.moves, trajectory.rewards)
    assert cut(level, bare).actions == cut(level, trajectory).actions
    with pytest.raises(DemonstrationError, match="mission of seed 5 must be"):
        cut(level, Recording(trajectory.text, 5, trajectory.moves))


def test_recording_of_a_person_in_a_terminal(level):
    [taught] = record(level, [4])
    letters = {move: letter for letter, move in level.keys.items()}
    line = "".join(letters[move] for move in taught.moves)
    asked = []
    answers = iter(["?", line])

    def read(prompt):
        asked.append(prompt)
        return next(answers)

    [found] = record(level, [4], human="terminal", read=read)
    assert found.success
    assert found.moves == taught.moves
    assert taught.text in asked[0]
    assert "#" in asked[0]
    assert record(level, [4], human="terminal", read=lambda prompt: "q") == []


@pytest.mark.filterwarnings("ignore:The system font:UserWarning")  # pygame, where it has none
def test_recording_of_a_person_in_a_window(level, monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    [taught] = record(level, [4])
    keys = {0: pygame.K_LEFT, 1: pygame.K_RIGHT, 2: pygame.K_UP, 3: pygame.K_p}
    pressed = iter(taught.moves)

    def wait():
        return pygame.event.Event(pygame.KEYDOWN, key=keys[next(pressed)])

    monkeypatch.setattr(pygame.event, "wait", wait)
    [found] = record(level, [4], human="window")
    assert found.moves == taught.moves
    assert found.success


def test_recording_what_nothing_fits_is_refused(level):
    [trajectory] = record(level, [4])
    with pytest.raises(DemonstrationError, match=r"must complete actions that match its text"):
        cut(level, Recording(trajectory.text, 4, ()))


def test_recording_follower_learns_from_a_bot():
    from minigrid.utils.baby_ai_bot import BabyAIBot

    level = babyai("GoToLocal")
    shown = [cut(level, each) for each in record(level, range(15), BabyAIBot)]
    assert level.follower().fit(shown).score(level.record(range(50, 70))) >= 0.9


def test_recording_of_another_level_is_not_cut(level):
    [trajectory] = record(babyai("MiniBossLevel"), 1)
    with pytest.raises(DemonstrationError, match="level GoToLocal; got MiniBossLevel"):
        cut(level, trajectory)


def test_recording_of_a_partial_view_is_that_of_the_full_one():
    partial, full = babyai("PickupLoc", view="partial"), babyai("PickupLoc")
    shown, known = partial.record(6), full.record(range(6))
    assert [each.instructions for each in shown] == [each.instructions for each in known]
    follower = partial.follower().fit(partial.record(25), check=False)
    env = partial.make()
    mission, _ = partial.reset(env, 1000)
    assert partial.agent(follower).act(mission, env).ending in ("success", "misunderstood")
    env.close()


def test_recording_policies_are_checked(level):
    with pytest.raises(SettingError, match="must return a move in Discrete"):
        record(level, 1, policy=lambda env, scene: 99)
    with pytest.raises(SettingError, match="function of the environment and its scene; got 3"):
        record(level, 1, policy=3)
    [nothing] = record(level, 1, policy=lambda env, scene: None)
    assert nothing.moves == ()
