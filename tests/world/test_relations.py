"""Ranks and relations are derived from the labels of things, for nodes that stand for them."""

import random

import pytest

from groundling import Demonstration, Follower, GroundingGraph, check_environment
from groundling.errors import WorldError
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.relations import Scene
from tests.world.test_environment_checks import Corridor

ROW = {
    "a": {"kind": "cup", "x": 1, "y": 1, "size": 2},
    "b": {"kind": "cup", "x": 2, "y": 1, "size": 3},
    "c": {"kind": "jug", "x": 4, "y": 1, "size": 1, "in": "b"},
}


class Shelf:
    """Things that can be taken; only `things` says what they are like."""

    def things(self, state):
        return dict(state)

    def actions(self, state):
        return tuple(name for name, _ in state)

    def step(self, state, action):
        return tuple(each for each in state if each[0] != action)

    def ground(self, state, action, after):
        return GroundingGraph(
            {"event": "take", action: dict(state)[action]}, [("event", action, "of")]
        )


def shelf(rng):
    kinds = [rng.choice(("cup", "jug", "pan")) for _ in range(6)]
    places = rng.sample(range(20), 6)
    pairs = enumerate(zip(kinds, places, strict=True))
    return tuple((f"thing {n}", (("kind", kind), ("x", x))) for n, (kind, x) in pairs)


class Kitchen(Shelf):
    def things(self, state):
        return {name: dict(labels) for name, labels in state}

    def ground(self, state, action, after):
        return GroundingGraph(
            {"event": "take", action: self.things(state)[action]}, [("event", action, "of")]
        )


def demonstration(rng):
    while True:
        state = shelf(rng)
        kind = rng.choice(("cup", "jug", "pan"))
        among = sorted(
            (dict(labels)["x"], name) for name, labels in state if dict(labels)["kind"] == kind
        )
        if len(among) > 2:
            text, (_, meant) = rng.choice(
                [
                    (f"take the leftmost {kind}", among[0]),
                    (f"take the rightmost {kind}", among[-1]),
                    (f"take the second {kind} from the left", among[1]),
                    (f"take the second {kind} from the right", among[-2]),
                ]
            )
            return Demonstration(text, Kitchen(), state, (meant,))


def test_ranks_are_among_all_things_and_among_those_that_share_labels():
    ranks = set(Scene(ROW).ranks("b"))
    assert {("2nd lowest x", ""), ("middle x", ""), ("highest x", "kind")} <= ranks
    assert not any(name.endswith(" y") for name, _ in ranks)  # all have the same


def test_relations_are_derived_from_values_and_positions():
    assert Scene(ROW).relations("b") == {
        "same kind": ("a",),
        "higher x": ("a",),
        "lower x": ("c",),
        "same y": ("a", "c"),
        "higher size": ("a", "c"),
        "next to": ("a",),
        "between": ("a", "c"),
    }
    assert Scene(ROW).relations("c")["in"] == ("b",)


def test_scene_relates_the_things_of_a_graph_only():
    graph = GroundingGraph({"event": "take", "a": ROW["a"]}, [("event", "a", "of")])
    related = Scene(ROW).related(graph)
    assert related.node_names[:2] == ("event", "a")
    assert {"a: same y", "b", "c"} <= set(related.node_names)
    plain = GroundingGraph({"event": "take"})
    assert Scene(ROW).related(plain) == plain


def test_scenes_complain_of_names_that_are_one_text():
    with pytest.raises(WorldError, match="distinct as strings"):
        Scene({1: {"x": 1}, "1": {"x": 2}})


def test_things_must_be_a_mapping():
    class Wrong(Shelf):
        def things(self, state):
            return ["a"]

    with pytest.raises(WorldError, match="must return labels for each thing"):
        CachedEnvironment(Wrong()).scene(())


def test_superlatives_and_ordinals_are_learnt_within_the_kind_that_is_named():
    rng = random.Random(0)
    shown, test = ([demonstration(rng) for _ in range(count)] for count in (40, 40))
    check_environment(shown[0].environment, shown[0].start)
    assert Follower(parser="chain").fit(shown).score(test) >= 0.95


def test_an_attribute_named_things_is_no_list_of_things():
    class Shelf(Corridor):
        things = ("mug", "bowl")

    world = CachedEnvironment(Shelf())
    assert not world.has_things
    assert world.ground(2, "left") == CachedEnvironment(Corridor()).ground(2, "left")


def test_nodes_stand_for_things_by_their_labels_whatever_they_are_called():
    scene = Scene(ROW)
    labels = GroundingGraph({"object": {**ROW["b"], "held": True}}).node_labels[0]
    assert scene.thing("object", labels) == "b"
    assert scene.ranks("object", labels) == scene.ranks("b")
    assert scene.thing("event", GroundingGraph({"event": {"take": True}}).node_labels[0]) is None


def test_a_node_that_fits_several_things_stands_for_none():
    scene = Scene({"a": {"kind": "cup"}, "b": {"kind": "cup"}})
    [labels] = GroundingGraph({"object": {"kind": "cup"}}).node_labels
    assert scene.thing("object", labels) is None


def test_relations_of_a_node_are_those_of_its_thing_in_every_graph():
    scene = Scene({"a": {"kind": "cup", "x": 1}, "b": {"kind": "cup", "x": 2}})
    for thing, relation in (("a", "lower x"), ("b", "higher x")):
        graph = scene.related(GroundingGraph({"object": scene.labels[thing]}))
        assert f"{thing}: {relation}" in graph.node_names
        assert ("object", f"{thing}: {relation}") in {edge[:2] for edge in graph.edges}


def test_ordinals_agree_with_ranks_that_were_never_demonstrated():
    """Only first and second are shown; third, from either end, follows."""
    rng = random.Random(0)
    take = Row()

    def show(number, side):
        row = tuple(rng.sample(range(30), 7))
        order = sorted(range(7), key=row.__getitem__, reverse=side == "right")
        text = f"take the {('first', 'second', 'third')[number]} one from the {side}"
        return Demonstration(text, take, row, (order[number],))

    sides = ("left", "right") * 15
    shown = [show(number, side) for number in (0, 1) for side in sides]
    follower = Follower(parser="chain:english").fit(shown, check=False)
    assert follower.score([show(2, side) for side in sides]) >= 0.9


class Row:
    """Things at different places in a row; nodes are not named like things."""

    def things(self, row):
        return {f"thing {n}": {"x": x} for n, x in enumerate(row)}

    def actions(self, row):
        return tuple(range(len(row)))

    def step(self, row, action):
        return row[:action] + row[action + 1 :]

    def ground(self, row, action, after):
        nodes = {"event": {"take": True}, "object": {"x": row[action]}}
        return GroundingGraph(nodes, [("event", "object", "of")])


def related_by_loops(labels, thing):
    """Return the relations of a thing, by comparing it with one other after another."""
    found = {}
    own = labels[thing]
    for other, its in labels.items():
        if other == thing:
            continue
        for name, value in own.items():
            if name not in its or value in labels:
                continue
            if its[name] == value:
                found.setdefault(f"same {name}", set()).add(other)
            elif isinstance(value, int) and isinstance(its[name], int):
                order = "lower" if value < its[name] else "higher"
                found.setdefault(f"{order} {name}", set()).add(other)
        axes = [name for name in ("x", "y") if name in own]
        away = [abs(its[name] - own[name]) if name in its else 9 for name in axes]
        if axes and max(away) <= 1:
            found.setdefault("next to", set()).add(other)
    for name, value in own.items():
        if value in labels and value != thing:
            found.setdefault(name, set()).add(value)
    return found


def test_relations_are_those_of_comparing_all_pairs():
    rng = random.Random(4)
    for _ in range(60):
        count = rng.randint(1, 8)
        labels = {}
        for number in range(count):
            own = {"kind": rng.choice(("cup", "jug"))}
            own |= {name: rng.randrange(4) for name in ("x", "y", "size") if rng.random() < 0.8}
            if rng.random() < 0.3:
                own["in"] = f"t{rng.choice([n for n in range(count + 1) if n != number])}"
            labels[f"t{number}"] = own
        scene = Scene(labels)
        for thing in labels:
            found = {name: set(those) for name, those in scene.relations(thing).items()}
            found.pop("between", None)
            assert found == related_by_loops(labels, thing)


def test_a_thing_is_between_the_nearest_on_both_sides():
    row = {name: {"x": x, "y": 0} for name, x in zip("abcde", (5, 0, 2, 9, 3), strict=True)}
    assert Scene(row).relations("e")["between"] == ("c", "a")
    assert "between" not in Scene(row).relations("b")


def test_the_node_of_a_relation_has_the_extremes_among_the_related():
    scene = Scene({
        "a": {"kind": "cup", "x": 1, "size": 3}, "b": {"kind": "cup", "x": 1, "size": 5},
        "c": {"kind": "jug", "x": 1, "size": 1}, "d": {"kind": "cup", "x": 7, "size": 9},
    })  # fmt: skip
    graph = scene.related(GroundingGraph({"event": "take", "b": {"size": 5}}))
    named = dict(zip(graph.node_names, graph.node_labels, strict=True))
    found = scene.ranks("b: same x", named["b: same x"])
    assert found == (("highest size", ""), ("highest size", "kind"))


def test_places_that_are_words_are_no_places():
    scene = Scene({"a": {"x": "left"}, "b": {"x": "left"}, "c": {"x": 2}})
    assert scene.relations("a") == {"same x": ("b",)}
