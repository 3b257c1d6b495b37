"""Ranks: derived from the graphs of all actions, never written for a world."""

from groundling import Demonstration, GroundingGraph, check_environment
from groundling.features.labels import WordLabeller
from groundling.language.instruction import Instruction
from groundling.world.ranks import RankedEnvironment
from research.rows_of_things import Row, measure


class Shelf:
    """Things at places; taking one leaves the others."""

    name = "shelf"

    def actions(self, state):
        return tuple(("take", thing) for thing in state)

    def step(self, state, action):
        return tuple(thing for thing in state if thing != action[1])

    def ground(self, state, action, after):
        colour, kind, place = action[1]
        return GroundingGraph(
            {"event": {"take": True}, "thing": {"colour": colour, "kind": kind, "x": place}},
            [("event", "thing", "of")],
        )

    def mirror(self, demonstration):
        swap = {"left": "right", "right": "left"}
        text = " ".join(swap.get(word, word) for word in demonstration.instructions.split())

        def turned(things):
            return tuple((colour, kind, -place) for colour, kind, place in things)

        return [
            Demonstration(
                text,
                demonstration.environment,
                turned(demonstration.start),
                tuple(("take", *turned([thing])) for _, thing in demonstration.actions),
            )
        ]


STATE = (("red", "cup", 5), ("red", "box", 1), ("blue", "cup", 3), ("red", "cup", 7))


def labels(state, thing):
    world = RankedEnvironment(Shelf())
    graph = world.ground(state, ("take", thing), world.step(state, ("take", thing)))
    return {label.name: label.value for label in graph.labels("thing")}


def test_ranking_counts_from_both_ends():
    found = labels(STATE, ("red", "cup", 5))
    assert (found["x.rank"], found["x.rank-down"]) == (3, 2)
    assert "x.least" not in found
    assert "x.most" not in found
    assert labels(STATE, ("red", "cup", 7))["x.most"] is None
    assert labels(STATE, ("red", "box", 1))["x.least"] is None


def test_ranking_counts_among_those_that_share_strings():
    found = labels(STATE, ("red", "cup", 5))
    assert (found["x.rank-of-colour"], found["x.rank-down-of-colour"]) == (2, 2)
    assert (found["x.rank-of-kind"], found["x.rank-down-of-kind"]) == (2, 2)
    assert (found["x.rank-of-like"], found["x.rank-down-of-like"]) == (1, 2)
    assert "x.least-of-like" in found


def test_ranking_equal_numbers_share_a_rank_and_the_only_one_is_no_extreme():
    twins = (("red", "cup", 1), ("blue", "cup", 1), ("blue", "box", 2))
    assert labels(twins, ("blue", "box", 2))["x.rank"] == 2
    alone = labels(twins, ("red", "cup", 1))
    assert alone["x.rank-of-colour"] == 1
    assert "x.least-of-colour" not in alone


def test_ranking_leaves_nodes_without_numbers_and_edges_alone():
    world = RankedEnvironment(Shelf())
    graph = world.ground(STATE, ("take", STATE[0]), ())
    assert [str(label) for label in graph.labels("event")] == ["take"]
    assert graph.edges == Shelf().ground(STATE, ("take", STATE[0]), ()).edges


def test_ranking_keeps_what_the_environment_offers():
    world = RankedEnvironment(Shelf())
    assert world.name == "shelf"
    assert not hasattr(world, "is_goal")
    assert "fine" in str(check_environment(world, STATE))


def test_ranking_mirror_images_are_ranked_too():
    world = RankedEnvironment(Shelf())
    shown = Demonstration("take the left one", world, STATE, (("take", STATE[1]),))
    [image] = world.mirror(shown)
    assert image.environment is world
    graph = world.ground(image.start, image.actions[0], ())
    assert "x.most" in {label.name for label in graph.labels("thing")}


def test_ranking_beside_names_a_known_word_with_all_others():
    words = Instruction.chain("the second cup from the right")
    cores = ["the", "‹ordinal›", "‹kind›", "from", "the", "right"]
    names = WordLabeller(("beside",)).names(words, cores, 1, "‹ordinal›")
    assert names == [
        f"beside={other} word=‹ordinal›" for other in ("the", "‹kind›", "from", "right")
    ]
    assert WordLabeller(("beside",)).names(words, cores, 5, "right") == []


def test_ranking_lets_places_among_like_things_be_learnt():
    words = ("word", "next", "head", "relation", "context")
    ranked = measure(RankedEnvironment(Row()), (*words, "beside"), 150, seed=0)
    assert ranked > measure(Row(), words, 150, seed=0) + 0.1
