"""Sets of things that texts describe."""

import pytest

from groundling import Demonstration, Follower, GroundingGraph, OpenValue, check_environment
from groundling.errors import WorldError
from groundling.language import ENGLISH
from groundling.language.literals import read_literals
from groundling.world.sets import OpenSet, TextValues, describe_set

THINGS = {
    "a": {"kind": "lamp", "room": "hall", "colour": "red"},
    "b": {"kind": "lamp", "room": "hall", "colour": "blue"},
    "c": {"kind": "lamp", "room": "attic", "colour": "green"},
    "d": {"kind": "fan", "room": "attic", "colour": "blue"},
    "e": {"kind": "fan", "room": "study", "colour": "red"},
}


class House:
    """Things that are started and stopped, several at a time."""

    open_values = ("set",)

    def __init__(self, things=THINGS):
        self.all = things

    def things(self, state):
        return self.all

    def actions(self, state):
        return (("start", OpenSet()), ("stop", OpenSet()))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        labels, left_out = describe_set(self.all, action[1])
        nodes = {"event": {action[0]: True}, "thing": labels}
        edges = [("event", "thing", "of")]
        if left_out:
            nodes["rest"] = left_out
            edges.append(("thing", "rest", "without"))
        return GroundingGraph(nodes, edges)


def denoted(text, **having):
    words = text.split()
    known = {"kind": ("lamp", "fan"), "room": ("hall", "attic", "study"),
             "colour": ("red", "blue", "green")}  # fmt: skip
    found = [
        (kind, value, (place,))
        for place, word in enumerate(words)
        for kind, values in known.items()
        for value in values
        if word in (value, f"{value}s")
    ]
    said = TextValues(words, (), lambda values: found, ENGLISH)
    return ["".join(sorted(each)) for each in OpenSet(having).sets(THINGS, said)]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("all lamps", "abc"),
        ("everything", "abcde"),
        ("the red lamp", "a"),
        ("the lamps in the hall", "ab"),
        ("all lamps except the red one", "bc"),
        ("everything but the fans", "abc"),
        ("the lamps in the hall and the attic", "abc"),
        ("the red lamp and the blue fan", "ad"),
    ],
)
def test_descriptions_denote_sets(text, meant):
    assert meant in denoted(text)


def test_sets_are_few_and_never_empty():
    assert len(denoted("all red and blue lamps and fans in the hall and the attic")) < 40
    assert "" not in denoted("the green fan")


def test_sets_of_things_that_have_a_label():
    assert set(denoted("everything", kind="fan")) == {"de", "d", "e"}


def test_sets_say_what_they_agree_in():
    labels, left_out = describe_set(THINGS, {"a", "b"})
    assert labels["kind"] == ("lamp",)
    assert labels["room"] == ("hall",)
    assert labels["colour of some"] == ("blue", "red")
    assert (labels["count"], labels["several"], labels["all"]) == (2, True, True)
    assert not left_out
    labels, left_out = describe_set(THINGS, {"b", "c"})
    assert labels["some"]
    assert left_out["colour"] == ("red",)


@pytest.mark.parametrize("chosen", [{"x"}, set()])
def test_sets_hold_things_of_the_state(chosen):
    with pytest.raises(WorldError, match="must contain one or more"):
        describe_set(THINGS, chosen)


def shown(text, verb, things):
    return Demonstration(text, House(), (), ((verb, frozenset(things)),))


TAUGHT = [
    shown(f"{said} {what}", verb, things)
    for said, verb in (("turn on", "start"), ("stop", "stop"))
    for what, things in (
        ("all lamps", "abc"),
        ("all fans", "de"),
        ("the red lamp", "a"),
        ("the blue lamp", "b"),
        ("the blue fan", "d"),
        ("the lamps in the hall", "ab"),
        ("all lamps except the red one", "bc"),
        ("all lamps except the green one", "ab"),
        ("everything but the fans", "abc"),
        ("the lamps in the hall and the attic", "abc"),
        ("everything", "abcde"),
        ("everything in the attic", "cd"),
    )
]


@pytest.fixture(scope="module")
def follower():
    return Follower(parser="chain:english").fit(TAUGHT, check=False)


@pytest.mark.parametrize(
    ("text", "verb", "things"),
    [
        ("stop all fans", "stop", "de"),
        ("turn on all lamps except the blue one", "start", "ac"),
        ("stop everything but the lamps", "stop", "de"),
        ("turn on everything in the hall", "start", "ab"),
    ],
)
def test_sets_never_shown_are_found(follower, text, verb, things):
    assert follower.follow(text, House(), ()).actions == ((verb, frozenset(things)),)


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("all lamps except the one in the attic", "ab"),
        ("all lamps apart from the red ones", "bc"),
        ("all things that are not red", "bcd"),
        ("the lamps that are neither red nor blue", "c"),
        ("all but the fans", "abc"),
        ("the red lamp and the blue fan", "ad"),
        ("both fans", "de"),
        ("three lamps", "abc"),
        ("only the fans", "de"),
    ],
)
def test_quantifiers_exceptions_and_negations(follower, text, things):
    plan = follower.follow(f"turn on {text}", House(), ())
    assert plan.actions == (("start", frozenset(things)),)
    assert "the set has" in str(plan.explain())


@pytest.mark.parametrize("text", ["none of the lamps", "neither fan", "no lamps"])
def test_texts_that_ask_for_none_of_the_things_ask_for_nothing(follower, text):
    assert follower.follow(f"turn on {text}", House(), ()).actions == ()


def test_values_of_exceptions_are_explained(follower):
    kinds = ("heater", "heater", "heater", "lamp", "fan")
    house = House({n: {"kind": kind, "room": "hall"} for n, kind in enumerate(kinds)})
    plan = follower.follow("turn on everything but the heaters", house, ())
    assert (plan.actions, plan.unexplained) == ((("start", frozenset({3, 4})),), ())


def test_all_is_no_hall(follower):
    assert follower.follow("turn on all fans", House(), ()).actions == (("start", frozenset("de")),)


ROW = {n: {"kind": "cup", "from left": n + 1, "from right": 5 - n} for n in range(5)}


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("the 1st and 4th from the right", {4, 1}),
        ("the second from the left", {1}),
        ("the 2nd from the left and the 1st from the right", {1, 4}),
    ],
)
def test_numbers_belong_to_the_label_that_is_named(text, things):
    words = text.split()
    said = TextValues(words, read_literals(words, ENGLISH), language=ENGLISH)
    assert OpenSet().described(ROW, said) == [frozenset(things)]


def test_an_ordinal_that_nothing_has_fits_nothing():
    words = ["the", "9th", "from", "the", "left"]
    said = TextValues(words, read_literals(words, ENGLISH), language=ENGLISH)
    assert OpenSet().described({"a": {"from left": 1.0}, "b": {"from left": 2.0}}, said) == []


def test_numbers_that_describe_no_thing_are_unexplained(follower):
    assert follower.follow("turn on two lamps", House(), ()).unexplained == ()
    assert follower.follow("turn on seven lamps", House(), ()).unexplained == ("seven",)


def test_an_ordinal_that_two_labels_have_is_no_guess():
    words = ["the", "second", "one"]
    said = TextValues(words, read_literals(words, ENGLISH), language=ENGLISH)
    assert frozenset({1}) not in OpenSet().described(ROW, said)


def test_the_other_is_what_was_not_marked():
    things = {"a": {"kind": "fan", "last": True}, "b": {"kind": "fan"}, "c": {"kind": "lamp"}}
    words = ["the", "other", "fan"]
    said = TextValues(words, (), lambda values: [("kind", "fan", (2,))], ENGLISH)
    assert OpenSet().described(things, said) == [frozenset("b")]


def test_a_singular_that_fits_several_is_not_certain(follower):
    plan = follower.follow("stop the lamp", House(), ())
    rivals = {each.actions[0][1] for each in (plan, *plan.alternatives) if len(each.actions) == 1}
    assert {frozenset("a"), frozenset("b"), frozenset("c")} <= rivals
    assert plan.confidence < 0.7
    lamps = {each.actions[0][1] for each in (plan, *plan.candidates)}
    assert lamps == {frozenset("a"), frozenset("b"), frozenset("c")}
    assert {each.actions[0][0] for each in plan.candidates} == {"stop"}
    assert follower.follow("stop the red lamp", House(), ()).candidates == ()
    assert follower.follow("stop a lamp", House(), ()).candidates == ()


def test_check_environment_knows_sets():
    assert "No problems" in str(check_environment(House(), (), states=3))

    class Empty(House):
        things = property()

    with pytest.raises(WorldError, match="things"):
        check_environment(Empty(), (), states=3)


def test_values_of_a_label_that_are_not_joined_may_describe_separate_things():
    assert {"ab", "cd", "abcd"} <= set(denoted("move all things in the hall to the attic"))
    joined = denoted("stop all things in the hall and the attic")
    assert "abcd" in joined
    assert "ab" not in joined


BLOCKS = {
    "a": {"kind": "block", "colour": "red"},
    "b": {"kind": "block", "colour": "blue"},
    "c": {"kind": "plate", "colour": "red"},
}


@pytest.mark.parametrize(
    ("text", "others", "meant"),
    [
        ("put all blocks on the plate", (), ["abc"]),
        ("put all blocks on the plate", ("put", "c"), ["ab"]),
        ("put all red blocks on the red plate", ("put", "c"), ["a"]),
        ("put the blue block on the red plate", ("put", "c"), ["b"]),
        ("put all blocks beside the blue things", ("blue",), ["ab"]),
    ],
)
def test_names_of_other_arguments_do_not_describe_a_set(text, others, meant):
    words = text.split()
    found = [
        (kind, value, (place,))
        for place, word in enumerate(words)
        for kind, value in {pair for labels in BLOCKS.values() for pair in labels.items()}
        if word in (value, f"{value}s")
    ]
    said = TextValues(words, (), lambda values: found, ENGLISH)
    described = OpenSet().described(BLOCKS, said, others)
    assert ["".join(sorted(each)) for each in described] == meant


class Files:
    """Files in folders, which are moved several at a time, and renamed to any text."""

    open_values = ("set", "text")

    def __init__(self, folders, **files):
        self.folders, self.files = folders, files

    def things(self, state):
        return {
            name: {"name": name.partition("_")[0], "file": name.replace("_", "."),
                   "type": name.partition("_")[2], "folder": folder}
            for name, folder in self.files.items()
        }  # fmt: skip

    def actions(self, state):
        moves = [("move", OpenSet(), folder) for folder in self.folders]
        return (*moves, ("delete", OpenSet()),
                *[("rename", name, OpenValue("text")) for name in self.files])  # fmt: skip

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        verb, what, to = (*action, None)[:3]
        if verb == "rename":
            labels, left_out = self.things(state)[what], {}
        else:
            labels, left_out = describe_set(self.things(state), what)
        nodes = {"event": {verb: True}, "things": labels}
        edges = [("event", "things", "of")]
        if left_out:
            nodes["rest"] = left_out
            edges.append(("things", "rest", "without"))
        if to is not None:
            nodes["to"] = {"new name" if verb == "rename" else "folder": to}
            edges.append(("event", "to", "to"))
        return GroundingGraph(nodes, edges)


@pytest.fixture(scope="module")
def filing():
    taught = []
    for folders in (("work", "private"), ("private", "archive"), ("archive", "work")):
        here, there = folders
        office = Files(folders, letter_txt=here, budget_pdf=here, notes_txt=there, plan_pdf=there)
        for text, action in (
            (f"move the letter to {there}", ("move", frozenset({"letter_txt"}), there)),
            (f"move notes.txt to {here}", ("move", frozenset({"notes_txt"}), here)),
            (f"move everything in {here} to {there}",
             ("move", frozenset({"letter_txt", "budget_pdf"}), there)),
            (f"move everything in {there} to {here}",
             ("move", frozenset({"notes_txt", "plan_pdf"}), here)),
            ("delete the plan", ("delete", frozenset({"plan_pdf"}))),
            ("delete budget.pdf", ("delete", frozenset({"budget_pdf"}))),
            (f"delete everything in {here}", ("delete", frozenset({"letter_txt", "budget_pdf"}))),
            ("rename the letter to final draft", ("rename", "letter_txt", "final draft")),
            ("rename the budget to version two", ("rename", "budget_pdf", "version two")),
            ("rename the notes to summary", ("rename", "notes_txt", "summary")),
        ):  # fmt: skip
            taught.append(Demonstration(text, office, (), (action,)))
    return Follower().fit(taught)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("move the essay to music", ("move", frozenset({"essay_txt"}), "music")),
        ("move song.pdf to school", ("move", frozenset({"song_pdf"}), "school")),
        ("move everything in school to music",
         ("move", frozenset({"essay_txt", "thesis_pdf"}), "music")),
        ("rename the essay to chapter one", ("rename", "essay_txt", "chapter one")),
    ],
)  # fmt: skip
def test_sets_places_and_free_text_live_in_one_world(filing, text, action):
    school = Files(("school", "music"), essay_txt="school", thesis_pdf="school",
                   hymn_txt="music", song_pdf="music")  # fmt: skip
    plan = filing.follow(text, school, ())
    assert plan.actions == (action,)
    assert plan.unexplained == ()
