"""What saved models know of questions, speaking and prediction sets, changed by somebody."""

import math
import shutil

import pytest

from groundling import Demonstration, Follower, GroundingGraph, GroundlingError
from groundling.agent import Agent
from tests.modelfiles import resign
from tests.promises.mutation import chances, changed_values
from tests.promises.soaking import SECONDS, note
from tests.promises.test_bounded_hostile_files import Watch, one_sentence

MODELS = 5_000 if SECONDS else 90
PARTS = ("sets", "answers", "speech")


class Lamps:
    rooms = ("kitchen", "hall", "attic")

    def actions(self, lit):
        return [("off" if room in lit else "on", room) for room in self.rooms]

    def step(self, lit, action):
        return lit ^ {action[1]}

    def ground(self, lit, action, after):
        nodes = {"event": {action[0]: True}, "lamp": {"device": "lamp", "room": action[1]}}
        return GroundingGraph(nodes, [("event", "lamp", "of")])

    def things(self, lit):
        return {each: {"room": each, "kind": "lamp", "lit": each in lit} for each in self.rooms}


NONE, HALL = frozenset(), frozenset({"hall"})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    world, every = Lamps(), frozenset(Lamps.rooms)
    shown = [
        Demonstration(f"switch {way} the {room} lamp", world, state, [(way, room)])
        for room in world.rooms
        for way, state in (("on", NONE), ("off", every))
    ]
    asked = [("which lamp is on", {"hall"}), ("how many lamps are on", 1), ("is any lamp on", True)]
    questions = [Demonstration(text, world, HALL, answer=answer) for text, answer in asked]
    follower = Follower(parser="chain").fit([*shown, *questions], check=False)
    follower.calibrate(shown, coverage=0.8)
    return follower.save(tmp_path_factory.mktemp("dialogue") / "model")


def use(follower):
    """Do all that these tables are for."""
    world = Lamps()
    plan = follower.follow("switch on the hall lamp", world, NONE)
    follower.describe(plan)
    assert 0 <= follower.answer("which lamp is on", world, HALL).confidence <= 1
    agent = Agent(follower, world, NONE)
    for text in ("switch on the lamp", "the hall one", "which lamp is on", "how many are on"):
        turn = agent.say(text)
        assert isinstance(turn.text, str)
        assert 0 <= turn.confidence <= 1
        assert str(turn.explain())
        assert math.isfinite(turn.confidence)


def test_bounded_dialogue_tables_of_a_model(model, tmp_path):
    use(Follower.load(model))
    folder, watch, seen = tmp_path / "model", Watch(), {"used": 0, "refused": 0}
    for number, chance in chances("dialogue"):
        if number == MODELS:
            break
        part = PARTS[number % len(PARTS)]

        def change(manifest, tables, arrays, part=part, chance=chance):
            holder = manifest if part == "sets" else tables
            holder |= changed_values({part: holder[part]}, chance)

        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(model, folder)
        try:
            resign(folder, change)
        except UnicodeEncodeError:
            continue
        with watch:
            try:
                use(Follower.load(folder))
                seen["used"] += 1
            except GroundlingError as error:
                one_sentence(error)
                seen["refused"] += 1
    note(models_with_changed_dialogue={**seen, "seconds_at_most": round(watch.longest, 3)})
    assert watch.megabytes < 300
    assert min(seen.values()) > 0


@pytest.mark.parametrize("count", [0, -1, 1.5, True, None, 2**60])
def test_bounded_dialogue_tables_have_counts_of_at_least_one(model, tmp_path, count):
    folder = shutil.copytree(model, tmp_path / "model")

    def change(manifest, tables, arrays):
        tables["speech"]["fragments"][0][1][0][-1] = count

    resign(folder, change)
    with pytest.raises(GroundlingError):
        use(Follower.load(folder))


@pytest.mark.parametrize("part", ["features", "asking", "empty", "known"])
def test_bounded_dialogue_tables_may_be_empty(model, tmp_path, part):
    folder = shutil.copytree(model, tmp_path / "model")

    def change(manifest, tables, arrays):
        tables["answers"][part] = {}

    resign(folder, change)
    try:
        use(Follower.load(folder))
    except GroundlingError as error:
        one_sentence(error)


def test_bounded_dialogue_tables_have_gaps_for_their_own_actions_only(model, tmp_path):
    folder = shutil.copytree(model, tmp_path / "model")

    def change(manifest, tables, arrays):
        for signatures, fragments in tables["speech"]["fragments"]:
            for words, *_ in fragments:
                words.append(["room", "of.room", len(signatures)])

    resign(folder, change)
    with pytest.raises(GroundlingError):
        use(Follower.load(folder))
