"""Names as spans: which is found, what is dropped, and what followers make of it."""

import random

import pytest

from benchmarks.home_names import Things, demonstrations, follower, misspelt
from groundling import (
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    Learning,
    Overlay,
    PlanModel,
    Search,
)
from groundling.errors import SettingError
from groundling.features.labels import WordLabeller
from groundling.features.reader import Reader
from groundling.features.spans import EDIT, EXACT, PART, PLURAL, SpanIndex, nearest_word
from groundling.language import ENGLISH, ChainParser

HOME = {
    "name": {"Bedroom Lamp", "Living Room Lamp", "Lamp", "Shed Lock", "Curtain Left"},
    "area": {"Bedroom", "Living Room", "Kitchen"},
    "kind": {"lock", "light"},
    "number": {"7"},
}
INDEX = SpanIndex(HOME, ENGLISH)


def found(text, known=()):
    return [
        (each.kind, each.value, each.places, each.way) for each in INDEX.find(text.split(), known)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the bedroom lamp", [("name", "Bedroom Lamp", (1, 2), EXACT)]),
        ("the lamp", [("name", "Lamp", (1,), EXACT)]),
        ("living room lamp", [("name", "Living Room Lamp", (0, 1, 2), EXACT)]),
        ("bedroom lights", [("area", "Bedroom", (0,), EXACT), ("kind", "light", (1,), PLURAL)]),
        ("living rooms", [("area", "Living Room", (0, 1), PLURAL)]),
        ("lock the shed lock",
         [("kind", "lock", (0,), EXACT), ("name", "Shed Lock", (2, 3), EXACT)]),
        ("the left curtain", [("name", "Curtain Left", (1, 2), PART)]),
        ("the curtain", [("name", "Curtain Left", (1,), PART)]),
        ("the kichen", [("area", "Kitchen", (1,), EDIT)]),
        ("the room", [("area", "Living Room", (1,), PART)]),
        ("7 dogs", []),
        ("bed", []),  # no matches of beginnings or ends of words
    ],
)  # fmt: skip
def test_spans_longest_and_best_spelt_first(text, wanted):
    assert found(text) == [each for each in wanted if each[2] != ()]


@pytest.mark.parametrize(
    ("name", "plural"),
    [("bench", "benches"), ("brush", "brushes"), ("glass", "glasses"), ("box", "boxes"),
     ("echo", "echoes"), ("shelf", "shelves"), ("cache", "caches"), ("berry", "berries")],
)  # fmt: skip
def test_spans_find_plurals(name, plural):
    [span] = SpanIndex({"kind": {name, "cat"}}, ENGLISH).find([plural], {plural})
    assert (span.value, span.way) == (name, PLURAL)


def test_spans_known_words_are_not_misspelt_names():
    assert found("the kitchens", {"kitchens"}) == [("area", "Kitchen", (1,), PLURAL)]
    assert found("the kitchet", {"kitchet"}) == []


def test_spans_parts_cost_and_the_most_fully_named_is_kept():
    index = SpanIndex({"name": {"Big Red Bell", "Red Light", "Blue Light"}})
    [span] = index.find(["big", "red"])
    assert (span.value, span.places) == ("Big Red Bell", (0, 1))
    assert span.extent == pytest.approx(0.5 * 2 / 3)
    assert [each.value for each in index.find(["light"])] == ["Blue Light", "Red Light"]


def test_spans_nearest_word_is_one_edit_away_and_frequent():
    counts = {"turn": 9, "torn": 3, "burn": 9, "on": 50, "once": 1}
    assert nearest_word("trun", counts) == "turn"
    assert nearest_word("tern", counts) == "turn"
    assert nearest_word("onc", counts) == ""  # once was said once
    assert nearest_word("o", counts) == ""


def test_spans_need_slots():
    with pytest.raises(SettingError, match=r"Features\.names"):
        Features(names="spans")


@pytest.fixture(scope="module")
def learnt():
    shown = demonstrations(150, seed=1)
    return {names: follower(names).fit(shown, check=False) for names in ("words", "spans")}


def test_spans_find_new_names_that_share_words(learnt):
    new = demonstrations(60, seed=2, which="new")
    assert learnt["spans"].score(new) >= 0.95
    assert learnt["spans"].score(new) > learnt["words"].score(new)


def test_spans_survive_one_edit(learnt):
    dice = random.Random(1)
    new = [misspelt(each, dice) for each in demonstrations(60, seed=4, which="new")]
    assert learnt["spans"].score(new) >= learnt["words"].score(new) + 0.1


def test_spans_a_verb_inside_a_name_keeps_its_reading(learnt):
    world = Things(["porch light", "porch lock"])
    plan = learnt["spans"].follow("lock the porch light", world, "")
    assert plan.actions == (("close", "porch light"),)


def test_spans_are_saved_taught_and_explained(learnt, tmp_path):
    world = Things(["porch light", "upper door bell"])
    learnt["spans"].save(tmp_path / "model")
    again = Follower.load(tmp_path / "model")
    text = "please shut the uper door bell"
    one, other = (each.follow(text, world, "") for each in (learnt["spans"], again))
    assert one.actions == other.actions == (("close", "upper door bell"),)
    assert one.confidence == pytest.approx(other.confidence)
    assert "‹name›" in str(one.explain())
    more = Demonstration("mute the porch light", world, "", [("off", "porch light")], weight=5)
    again.fit(demonstrations(150, seed=1), check=False).teach([more], check=False)
    plan = again.follow("mute the upper door bell", world, "")
    assert plan.actions == (("off", "upper door bell"),)


def test_spans_are_looked_for_among_what_is_there(learnt):
    # “shed door” was a name in training; here, it is a lamp beside a door.
    world = Things(["shed lamp", "hall door"])
    plan = learnt["spans"].follow("open the shed lamp", world, "")
    assert plan.actions == (("open", "shed lamp"),)


class Valves:
    """Things that take verbs, each a label of its own: some verbs are never shown."""

    VERBS = ("open", "close", "check", "drain", "pause", "resume")

    def actions(self, state):
        return [(verb, thing) for verb in self.VERBS for thing in ("Main Valve", "Side Valve")]

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        verb, thing = action
        nodes = {"event": {verb: True}, "thing": {"name": thing}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


def valves(verbs):
    return [
        Demonstration(f"{verb} the {thing.lower()} {more}", Valves(), None, [(verb, thing)])
        for verb in verbs
        for thing in ("Main Valve", "Side Valve")
        for more in ("now", "please", "at once")
    ]


@pytest.mark.parametrize(("slots", "right"), [(("name", "label"), True), (("name",), False)])
def test_labels_words_spell_the_names_of_labels_that_were_never_shown(slots, right):
    features = Features(words=("word",), slots=slots, names="spans", joins=("conjunction", "slot"))
    made = Follower(
        parser="chain:english", features=features, overlay=Overlay(adjacency="soft", entry="any"),
        search=Search(max_length=1), learning=Learning(l2=0.02), model=PlanModel(),
    )  # fmt: skip
    made.fit(valves(Valves.VERBS[:4]), check=False)
    assert (made.score(valves(Valves.VERBS[4:])) == 1.0) is right


def test_labels_that_words_spell_are_chosen_where_names_have_several_words():
    made = Follower(parser="chain:english").fit(valves(Valves.VERBS[:4]), check=False)
    chosen = made.choices_.params
    assert chosen["features__names"] == "spans"
    assert chosen["features__slots"] == ("name", "label")
    assert made.score(valves(Valves.VERBS[4:])) == 1.0


def test_labels_numerals_of_several_words_are_one_number():
    reader = Reader(ChainParser(language=ENGLISH), labeller=WordLabeller(("word",)), spans=True)
    [text] = reader.read("set it to one hundred percent")
    found = reader.label(text, {"number": set()})
    meant = [{label.value for label, _ in each if label.kind} for each in found]
    assert meant == [set(), set(), set(), {100.0}, {100.0}, {100.0}]


def test_typos_are_corrected_with_names_of_one_word():
    world = Things(("shed", "gate"))
    shown = [
        Demonstration(f"{said} the {name}", world, "", ((verb, name),))
        for said, verb in (("open", "open"), ("close", "close"))
        for name in world.names
        for _ in range(3)
    ]
    new = Things(("attic", "porch"))
    features = Features(words=("word",), slots=("name",))
    plain = Follower(features=features, parser="chain:english").fit(shown, check=False)
    assert plain.follow("cloes the atitc", new, "").confidence < 0.6
    read = plain.set_params(features__typos=True).fit(shown, check=False)
    assert read.follow("cloes the atitc", new, "").actions == (("close", "attic"),)
    assert "typos" in str(Follower(parser="chain:english").fit(shown, check=False).choices_)


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("notes.txt", "open notes.txt", (1,)),
        ("Wi-Fi Router", "restart the wi-fi router", (2, 3)),
        ("notes", "open notes.txt", (1,)),
        ("5", "set it to 5.5", None),
        ("text", "say ‹text›", None),
        ("T", "do n't stop", None),
    ],
)
def test_words_with_punctuation_inside_have_parts(name, text, places):
    index = SpanIndex({"name": {name}})
    assert [span.places for span in index.find(text.split())] == ([places] if places else [])
    if places:
        assert all(text.split()[place] in index for place in places) or name == "notes"
