"""Generated mazes in three invented languages: nothing in the core assumes English."""

import pytest

from groundling import (
    Features,
    Follower,
    Learning,
    Overlay,
    PlanModel,
    Search,
)
from groundling.language import ChainParser
from groundling.tasks.mazes import (
    MazeEnvironment,
    find_swaps,
    generate_demonstrations,
    generate_mazes,
)
from tests.tasks.mazes.tongues import LANGUAGES, say, translate, translated

FEATURES = Features(
    words=("word", "previous"),
    compound_weight=0.7,
    slots=("floor", "wall", "item"),
    numbers=("equal",),
    joins=("conjunction", "slot"),
    lexicon="learn",
    min_word_count=2,
)


@pytest.fixture(scope="module")
def shown():
    *training, unseen = generate_mazes(seed=1, count=4)
    one = {"sentences": (1, 1), "unknown_starts": 0.0}
    found = generate_demonstrations(training, 400, seed=2, **one)
    test = generate_demonstrations([unseen], 80, seed=3, **one)
    return tuple([each for each in part if len(each.actions) <= 2] for part in (found, test))


@pytest.fixture(scope="module", params=list(LANGUAGES))
def tongue(request):
    return request.param


@pytest.fixture(scope="module")
def follower(shown, tongue):
    return Follower(
        model=PlanModel.flat(),
        overlay=Overlay.flat(),
        features=FEATURES,
        learning=Learning(l2=2.0, iterations=80, tolerance=1e-3, augment=False),
        search=Search(max_length=2),
        parser=ChainParser(language=LANGUAGES[tongue]),
    ).fit(translated(shown[0], tongue))


def test_tongues_resemble_nothing():
    assert translate("turn left and walk to the sofa", "unspaced").isalpha()
    last = translate("turn left and walk to the sofa", "verbs last").split()
    assert last[1] == say("turn", "verbs last")
    assert last[-1] == say("walk", "verbs last")


def test_tongues_are_learnt_and_followed_in_an_unseen_maze(shown, tongue, follower):
    test = translated(shown[1], tongue)
    plans = follower.follow_many((e.instructions, e.environment, e.start) for e in test)
    right = 0
    for each, plan in zip(test, plans, strict=True):
        world, state = each.environment, each.start
        for action in each.actions:
            state = world.step(state, action)
        right += world.outcome(plan.end) == world.outcome(state)
    assert right / len(test) >= 0.6


def test_tongues_have_words_for_things_and_numbers(tongue, follower):
    looked_for = {"easel": ("item", "easel")}
    if LANGUAGES[tongue].spaced:  # among pairs of characters, a rare word needs more evidence
        looked_for["two"] = ("number", 2.0)
    for word, meaning in looked_for.items():
        said = say(word, tongue)
        entries = {
            pair: extent
            for learnt, pairs in follower.lexicon_.learnt.items()
            if learnt.replace(" ", "") in said or said in learnt.replace(" ", "")
            for pair, extent in pairs.items()
        }
        assert meaning in entries


def test_tongues_have_words_that_swap_in_a_mirror(shown, tongue):
    if not LANGUAGES[tongue].spaced:
        return  # words are found in characters only when they are cut
    swaps = find_swaps(translated(shown[0], tongue))
    assert swaps.pairs[say("left", tongue)] == say("right", tongue)
    world = MazeEnvironment(shown[0][0].environment.maze, swaps=swaps)
    turn = translate("turn left", tongue)
    assert swaps.pairs[turn.split()[-1 if tongue != "verbs last" else 0]] == say("right", tongue)
    assert world.mirrored().swaps is swaps
