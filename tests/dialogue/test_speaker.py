"""The speaker: says plans so that others understand them, in the language it was taught."""

import random

import pytest

from groundling import Demonstration, Follower, Plan
from groundling.dialogue.speaker import Description, Speaker
from groundling.errors import DemonstrationError, ModelFileError, SettingError
from groundling.world.cached_environment import CachedEnvironment
from tests.dialogue.conftest import SAID, House, Scene, learn, tell


def plan_in(house, start, *actions):
    way = CachedEnvironment(house).trace(start, actions)
    return Plan(way.actions, way.states, 0.0, 1.0)


@pytest.fixture(scope="module")
def speaker(follower):
    return Speaker(follower)


def test_speaker_is_understood_by_an_independent_follower(spoken):
    language, follower = spoken
    # Rooms, things and demonstrations that neither of the two has seen.
    new = House(("cellar", "garden", "porch"), ("fork", "vase", "rope"))
    told = tell(random.Random(7), new, 40, language)
    other = learn(tell(random.Random(8), House(), 50, language))
    speaker = Speaker(follower)
    said = [speaker.describe(plan_in(new, e.start, *e.actions), new).text for e in told]
    generated = [
        Demonstration(text, new, each.start, each.actions)
        for text, each in zip(said, told, strict=True)
    ]
    assert all(said)
    assert other.score(generated) >= max(0.95, other.score(told))
    words = {word for text in said for word in text.replace(".", " ").split()}
    own = {word for ways in SAID[language].values() for way in ways for word in way.split()}
    assert words <= own | {"and", "und", *new.rooms, *new.things}


def test_speaker_puts_the_values_of_a_new_world_in(speaker):
    new = House(("cellar", "garden"), ("fork", "vase"))
    found = speaker.describe(plan_in(new, Scene("cellar"), ("take", "vase")), new)
    assert found.text in ("take the vase", "grab the vase")
    assert found.understood
    assert str(found) == found.text


def test_speaker_composes_plans_that_nobody_showed(house):
    alone = [e for e in tell(random.Random(2), house, 80) if len(e.actions) == 1]
    speaker = Speaker(learn(alone))
    plan = plan_in(house, Scene("kitchen"), ("go", "hall"), ("take", "lamp"))
    text = speaker.describe(plan, house).text
    assert text.index("hall") < text.index("lamp")


def test_speaker_cuts_texts_into_fragments_for_actions(house):
    together = [e for e in tell(random.Random(3), house, 60, two=1.0) if len(e.actions) == 2]
    speaker = Speaker(learn(together))
    text = speaker.describe(plan_in(house, Scene("kitchen"), ("take", "book")), house).text
    assert "book" in text
    assert "hall" not in text
    assert len(text.split()) <= 4


def test_speaker_tells_a_plan_from_another(speaker, house):
    start = Scene("kitchen")
    one, two = (plan_in(house, start, ("take", thing)) for thing in ("cup", "lamp"))
    for plan, other, word in ((one, two, "cup"), (two, one, "lamp")):
        found = speaker.describe(plan, house, unlike=other)
        assert word in found.text
        assert found.probability > 0.9


def test_speaker_is_silent_where_it_has_no_words(house):
    only = [e for e in tell(random.Random(4), house, 40, two=0) if e.actions[0][0] == "go"]
    speaker = Speaker(learn(only))
    found = speaker.describe(plan_in(house, Scene("hall"), ("take", "cup")), house)
    assert found == Description("", 0.0)
    assert not found.understood
    # What it has words for is said all the same.
    both = plan_in(house, Scene("hall"), ("take", "cup"), ("go", "attic"))
    assert "attic" in speaker.describe(both, house).text


def test_speaker_says_the_same_every_time(follower, house):
    plan = plan_in(house, Scene("kitchen"), ("go", "hall"), ("take", "lamp"))
    assert Speaker(follower).describe(plan, house) == Speaker(follower).describe(plan, house)


def test_speaker_ranks_plans_by_what_people_say(speaker, house):
    plans = [plan_in(house, Scene("kitchen"), ("take", thing)) for thing in house.things]
    logs = speaker.log_probabilities("grab the lamp", plans, house)
    assert house.things[logs.argmax()] == "lamp"


def test_speaker_writes_scripts_without_spaces():
    names = {"kitchen": "厨房", "hall": "大厅", "attic": "阁楼"}
    house = House(tuple(names.values()), ())
    dice = random.Random(0)
    shown = []
    for number in range(30):
        start, end = dice.sample(house.rooms, 2)
        text = dice.choice(("走到", "去")) + end
        shown.append(Demonstration(text, house, Scene(start), (("go", end),), name=str(number)))
    follower = Follower(parser="chain").fit(shown, check=False)
    text = Speaker(follower).describe(plan_in(house, Scene("大厅"), ("go", "厨房")), house).text
    assert " " not in text


def test_speaker_needs_demonstrations(follower, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "model"))
    with pytest.raises(DemonstrationError, match="needs demonstrations"):
        Speaker(loaded)
    assert Speaker(loaded, follower.demonstrations_)


def test_speaker_is_saved_with_the_model(follower, house, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "model"))
    plan = loaded.follow("walk to the hall and take the lamp", house, Scene("kitchen"))
    said = loaded.describe(plan)
    assert said == follower.describe(plan, house)
    assert "hall" in said
    assert "lamp" in said
    # A loaded model is saved as it is.
    again = Follower.load(loaded.save(tmp_path / "again"))
    assert again.describe(plan, house) == said


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("fragments", [[[["go"]], [[[["room", "label", 99]], True, True, 1]]]]), ("names", [3]),
        ("model", {}), ("model", {"labels": [""], "words": [], "counts": [[0], [0], [-1.0]],
                                  "frequencies": [1.0], "values": {}}),
    ],
)  # fmt: skip
def test_speaker_refuses_broken_files(follower, place, value):
    kept = Speaker(follower).to_dict()
    with pytest.raises(ModelFileError, match="must contain fragments and counts"):
        Speaker.from_dict({**kept, place: value}, follower)
    with pytest.raises(SettingError, match="`environment` must be given"):
        follower.describe(Plan((), (Scene("hall"),), 0.0, 1.0))
