"""Worlds of objects: merging, arguments one after another, order, reading, outcomes."""

import warnings

import pytest

from groundling.errors import DemonstrationError, SettingError, WorldError
from groundling.gym.objects import ObjectWorld, sides
from groundling.gym.verbs import Verb
from groundling.world.environment_checks import check_environment

THINGS = {
    1: {"kind": "cup", "colour": "red"},
    2: {"kind": "cup", "colour": "red"},
    3: {"kind": "cup", "colour": "blue"},
    4: {"kind": "shelf", "colour": "grey"},
}


class Shelf(ObjectWorld):
    verbs = (Verb("take"), Verb("put", ("object", "next to")))
    connectives = ("and", "then", "after you")
    reorders = True

    def objects(self, scene, start):
        return {name: THINGS[name] for name in scene}

    def observe(self, env):
        return env

    def moves(self, scene, action):
        return [action.verb]

    def allows(self, scene, verb, role, thing, before):
        return role != "object" or THINGS[thing]["kind"] == "cup"


def choose(episode, *wanted):
    plan = ()
    for text in wanted:
        plan = (*plan, next(each for each in episode.actions(plan) if str(each) == text))
    return plan


def test_objects_that_look_alike_are_one():
    episode = Shelf().episode((1, 2, 3, 4))
    assert [str(each) for each in episode.actions(())] == [
        "take the blue cup",
        "take the red cup",
        "put the blue cup",
        "put the red cup",
    ]
    assert episode.actions(())[1].things == (1, 2)


def test_objects_with_other_relations_are_not_alike():
    class Related(Shelf):
        def relations(self, scene):
            return [(1, 4, "on")]

    episode = Related().episode((1, 2, 4))
    assert [things for things, _ in episode.groups(())] == [(4,), (1,), (2,)]
    [on] = [each for each in episode.actions(()) if each.things == (1,) and each.verb == "take"]
    graph = episode.ground((), on, (on,))
    assert graph.node_names == ("event", "object", "on")


def test_objects_arguments_are_chosen_one_after_another():
    episode = Shelf().episode((1, 2, 3, 4))
    begun = choose(episode, "put the blue cup")
    assert not episode.is_goal(begun)
    assert [str(each) for each in episode.actions(begun)] == [
        "next to the grey shelf",
        "next to the red cup",
    ]
    many = Shelf().episode(tuple(THINGS))
    assert all(len(many.actions(state)) <= 8 for state in ((), begun))


def test_objects_verb_that_cannot_be_completed_is_not_offered():
    assert {each.verb for each in Shelf().episode((1,)).actions(())} == {"take"}


def test_objects_said_later_is_done_earlier():
    episode = Shelf().episode((1, 2, 3, 4))
    plan = choose(episode, "take the blue cup", "first take the red cup", "take the blue cup")
    assert [str(each) for each in episode.macro_actions(plan)] == [
        "take the red cup",
        "take the blue cup",
        "take the blue cup",
    ]
    assert not any(each.earlier for each in episode.actions(plan))  # only once


def test_objects_environment_keeps_its_contract():
    report = check_environment(Shelf().episode((1, 3)), ())
    assert "take" not in str(report) or "No problems" in str(report)


def test_objects_texts_are_cut_at_connectives_and_roles():
    read = Shelf().read
    assert read("Take the cup, and then put it next to the shelf.") == (
        "take the cup",
        "and then put it",
        "next to the shelf",
    )
    assert read("take the android") == ("take the android",)
    assert read("take the cup after you take the shelf") == (
        "take the cup",
        "after you take the shelf",
    )
    assert read("  ") == ()


def test_objects_the_text_does_not_tell_apart_are_one():
    world = Shelf()
    episode = world.episode((1, 2, 3, 4), world.read("take a cup"))
    assert [things for things, _ in episode.groups(())] == [(1, 2, 3), (4,)]
    named = world.episode((1, 2, 3, 4), world.read("take the red cup"))
    assert [things for things, _ in named.groups(())] == [(3,), (4,), (1, 2)]
    nothing = world.episode((1, 2, 3, 4), world.read("sing a song"))
    assert len(nothing.groups(())) == 3  # what describes nothing merges nothing

    class Unspelled(Shelf):
        spelled = False

    foreign = Unspelled().episode((1, 2, 3, 4), ("nimm die Tasse",))
    assert len(foreign.groups(())) == 3


def test_objects_outcomes_differ_only_in_what_a_part_names():
    world = Shelf()
    episode = world.episode((1, 2, 3, 4), world.read("take a cup then take the red cup"))
    one = choose(episode, "take the cup", "take the red cup")
    other = choose(episode, "take the red cup", "take the red cup")
    wrong = choose(episode, "take the red cup", "take the cup")
    assert episode.outcome(one) == episode.outcome(other) != episode.outcome(wrong)


def test_objects_demonstrations_list_all_referents():
    said = "take a cup then take the red cup"
    wanted = [("take", [{1, 2, 3}], False), ("take", [{1, 2}], False)]
    made = Shelf().demonstrate(said, (1, 2, 3, 4), wanted)
    assert {each[0].things for each in (made.actions, *made.also)} == {(1, 2), (3,)}
    with pytest.raises(DemonstrationError, match="must use only objects in the scene"):
        Shelf().demonstrate("take it", (1,), [("take", [{9}], False)])


def test_objects_effects_change_what_can_be_said():
    class Eaten(Shelf):
        verbs = (Verb("take"),)

        def effect(self, scene, action):
            return tuple(each for each in scene if each not in action.things[0])

    episode = Eaten().episode((1, 3))
    plan = choose(episode, "take the red cup")
    assert [str(each) for each in episode.actions(plan) if not each.earlier] == [
        "take the blue cup"
    ]


def test_objects_empty_scene_is_refused():
    with pytest.raises(WorldError, match="at least one object"):
        Shelf().episode(()).actions(())


def test_objects_follower_learns_new_names():
    world = Shelf()
    shown = [
        world.demonstrate("take the red cup", (1, 2, 3, 4), [("take", [{1, 2}], False)]),
        world.demonstrate(
            "put the blue cup next to the shelf", (1, 3, 4), [("put", [{3}, {4}], False)]
        ),
        world.demonstrate(
            "take the blue cup after you take the red cup", (1, 3, 4),
            [("take", [{3}], False), ("take", [{1}], True)],
        ),
        world.demonstrate(
            "take the red cup then put the red cup next to the blue cup", (1, 3, 4),
            [("take", [{1}], False), ("put", [{1}, {3}], False)],
        ),
    ]  # fmt: skip
    follower = world.follower().fit(shown)
    parts = world.read("put the red cup next to the shelf after you take the blue cup")
    episode = world.episode((1, 3, 4), parts)
    plan = follower.follow(parts, episode, ())
    assert [str(each) for each in episode.macro_actions(plan.actions)] == [
        "take the blue cup",
        "put the red cup next to the shelf",
    ]


@pytest.mark.parametrize(
    ("heading", "there", "expected"),
    [
        ((1, 0), (3, 0), ["front"]),
        ((1, 0), (0, -2), ["left"]),
        ((0, 1), (-1, -1), ["behind", "right"]),
    ],
)
def test_objects_sides_are_relative_to_the_heading(heading, there, expected):
    assert sides((0, 0), heading, there) == expected


class Kitchen(Shelf):
    verbs = (Verb("go to"), Verb("switch on"), Verb("take"), Verb("bring", ("object", "to|into")))
    connectives = ("and", "then", "after", "before")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Switch on the oven. Take the mug.", ("switch on the oven", "take the mug")),
        ("Switch on the oven; take the mug!", ("switch on the oven", "take the mug")),
        ("switch on the oven, take the mug", ("switch on the oven", "take the mug")),
        ("switch it on, grab the mug", ("switch it on", "grab the mug")),
        ("go to the oven\ntake the mug", ("go to the oven", "take the mug")),
        ("take the red, round one", ("take the red round one",)),
        ("bring the red, round cup to the jar", ("bring the red round cup", "to the jar")),
        ("take it, drive over to the jar", ("take it", "drive over to the jar")),
        ("take the mug, on the table", ("take the mug on the table",)),
        ("Hey robot, take the mug", ("hey robot take the mug",)),
        ("Please! Take the mug. Thank you.", ("please take the mug thank you",)),
        ("take the mug, the jar and the oven", ("take the mug", "the jar", "and the oven")),
        ("drive over to the oven", ("drive over to the oven",)),
        ("go to it and bring it into the hall", ("go to it", "and bring it", "into the hall")),
        ("bring Bob to Alice", ("bring bob", "to alice")),
        ("Before you take the jar, go to it", ("go to it", "before you take the jar")),
        ("Take it. After you take it, go away", ("take it", "you take it", "go away")),
        ("go to the oven before you take it", ("go to the oven", "before you take it")),
    ],
)  # fmt: skip
def test_objects_texts_are_cut_at_sentences_clauses_and_roles_that_name_something(text, parts):
    assert Kitchen().read(text) == parts


def test_objects_commas_can_be_connectives():
    class Listed(Kitchen):
        connectives = (*Kitchen.connectives, ",")

    assert Listed().read("take the red, round one") == ("take the red", "round one")


def test_objects_read_can_be_replaced():
    class German(Shelf):
        def read(self, text):
            return tuple(text.lower().split(" und "))

    made = German().demonstrate(
        "Nimm eins und nimm zwei", (1, 3), [("take", [[1]]), ("take", [[3]])]
    )
    assert [str(each) for each in made.instructions] == ["nimm eins", "nimm zwei"]


def test_objects_what_is_done_last_may_be_said_first():
    world = Kitchen()
    said = "Before you take the red cup, take the blue cup."
    given = [("take", [{1}], False), ("take", [{3}], True)]
    turned = world.demonstrate(said, (1, 3, 4), given)
    plain = world.demonstrate(said, (1, 3, 4), [("take", [{3}]), ("take", [{1}])])
    assert turned.actions == plain.actions
    assert [each.things for each in turned.actions] == [(3,), (1,)]
    after = world.demonstrate("take a cup after you take the shelf", (1, 3), given)
    assert [each.earlier for each in after.actions] == [False, True]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([("tak", [[1]])], "got 'tak'. Did you mean 'take'"),
        ([("take", [[1], [3]])], "must give 'take' 1 argument .* got 2"),
        ([("put", [[1]])], "must give 'put' 2 arguments .'object', 'next to'.,"),
        ([("take",)], "an action must be .verb, objects."),
        (["take"], "an action must be .verb, objects."),
        ("take", "must have a list of .verb, objects. pairs"),
        ([("take", "cup")], "a list of names for each role"),
        (
            [("take", ["cup"])],
            "must list the acceptable names for the 'object' of 'take'; got 'cup'",
        ),
        ([("take", [3])], "got 3. Put the name into a list"),
        ([("take", [[]])], "for the 'object' of 'take'; got none"),
        ([("take", [[9]])], "must use only objects in the scene"),
        ([("take", [[4]])], "objects that Shelf.allows accepts; got .'4'. for 'take'"),
        ([("put", [[3], [3]])], "possible in this order"),
        ([("take", [[1]], True)], "must not mark its first action"),
        ([], "must have at least one action"),
    ],
)
def test_objects_demonstrations_are_checked(actions, message):
    with pytest.raises(DemonstrationError, match=message):
        Shelf().demonstrate("take it", (1, 3, 4), actions)


def test_objects_demonstrations_need_words_and_reorders():
    class Plain(Shelf):
        reorders = False

    given = [("take", [[1]]), ("take", [[3]], True)]
    with pytest.raises(DemonstrationError, match=r"unless Plain.reorders is True"):
        Plain().demonstrate("take it after you take it", (1, 3), given)
    with pytest.raises(DemonstrationError, match="must be a string; got None"):
        Shelf().demonstrate(None, (1, 3), [("take", [[1]])])
    with pytest.raises(DemonstrationError, match="must have at least one word"):
        Shelf().demonstrate("...", (1, 3), [("take", [[1]])])
    with pytest.raises(DemonstrationError, match=r"must give .put. 2 arguments"):
        Shelf().macro("put", [[1]])


@pytest.mark.parametrize("roles", ["object", (), ("object", "object"), ("object", 3)])
def test_objects_roles_are_checked(roles):
    with pytest.raises(SettingError, match=r"The roles of Verb\('take'\) must be"):
        Verb("take", roles)


def test_objects_verbs_are_checked():
    with pytest.raises(SettingError, match="a string such as 'take'"):
        Verb("")
    for verbs in ((), ("take",), Verb("take")):
        with pytest.raises(SettingError, match="must be a tuple of Verb"):
            type("Odd", (Shelf,), {"verbs": verbs})
    with pytest.raises(SettingError, match="'take' twice"):
        type("Odd", (Shelf,), {"verbs": (Verb("take"), Verb("take"))})


def test_objects_scenes_and_labels_are_checked():
    def first(scene, **methods):
        return type("Odd", (Shelf,), methods)().episode(scene).actions(())

    with pytest.raises(WorldError, match=r"must not be None. Call env.reset"):
        first(None)
    with pytest.raises(WorldError, match=r"hashable .* Return tuples from Odd.observe"):
        first([1, 3])
    with pytest.raises(WorldError, match=r"Odd.objects must return a dictionary .* got a list"):
        first((1,), objects=lambda self, scene, start: [1])
    with pytest.raises(WorldError, match="strings only or by numbers only"):
        first((1,), objects=lambda self, scene, start: {1: {}, "a": {}})
    for value in (b"red", {"red": 1}):
        with pytest.raises(WorldError, match="the label 'colour' of the object 1"):
            first((1,), objects=lambda self, scene, start, v=value: {1: {"colour": v}})


def test_objects_only_slots_that_were_set_are_warned_of():
    def learn(world):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            world.follower().fit(
                [
                    world.demonstrate("take the red cup", (1, 3, 4), [("take", [[1]])]),
                    world.demonstrate("take the blue cup", (1, 3, 4), [("take", [[3]])]),
                ]
            )
        return [str(each.message) for each in told]

    class Sized(Shelf):
        slots = ("kind", "colour", "size")

    assert learn(Shelf()) == []
    [told] = learn(Sized())
    assert "'size', which is in Features.slots" in told
