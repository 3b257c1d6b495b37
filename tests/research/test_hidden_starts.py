"""Unknown starts as hidden poses: four ways to mean the same, learnt and followed."""

import pytest

from groundling.tasks.mazes import generate_mazes, generate_routes
from groundling.tasks.mazes.actions import face, move, rotate
from groundling.tasks.mazes.corpus import load_sail
from groundling.tasks.mazes.maze_presets import PRESETS
from groundling.world import check_environment
from research import hidden_starts
from research.maze_routes import prepare_routes
from tools.corpus_files import write_mazes

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@pytest.fixture
def prepared(tmp_path):
    routes = generate_routes(generate_mazes(3, 2), 24, seed=2, unknown_starts=1.0)
    write_mazes(tmp_path, routes)
    chosen = PRESETS.select("best", "tree")
    return chosen, prepare_routes(chosen, load_sail(tmp_path))


def test_hidden_starts_are_an_environment_whose_poses_all_lead_to_the_same_place(prepared):
    _, data = prepared
    [one, _] = data.values()
    hidden = hidden_starts.hide(one)
    shown = next(e for e in hidden.sentences if e.actions[0].kind == "face")
    world = shown.environment
    check_environment(world, shown.start)
    summed = hidden_starts.sum_poses(shown)
    assert len(summed.also) == 3

    def end(actions):
        state = summed.start
        for action in actions:
            assert action in world.actions(state)
            state = world.step(state, action)
        return world.outcome(state)

    assert len({end(actions) for actions in (summed.actions, *summed.also)}) == 1


def test_hidden_starts_have_labels_of_their_own_and_known_starts_none(prepared):
    _, data = prepared
    world = hidden_starts.hide(next(iter(data.values()))).sentences[0].environment
    start = world.start(world.maze.positions[0])
    posed = world.step(start, face(90))
    names = {label.name for node in ("here", "front") for label in
             world.ground(start, face(90), posed).labels(node)}  # fmt: skip
    assert names
    assert all(name.startswith("h:") for name in names)
    assert rotate(90) in world.actions(posed)
    assert world.mirrored().mirrored() is world
    assert isinstance(world.mirrored(), hidden_starts.HiddenStart)
    known = hidden_starts.Demonstration("on", world, world.start(start.position, 0), (move(1),))
    assert hidden_starts.sum_poses(known) is known


def test_hidden_starts_are_measured_beside_the_ones_that_are_faced(prepared):
    chosen, data = prepared
    one, two = data.values()
    found = hidden_starts.measure(chosen, one, two, hidden=True)
    assert 0 <= found["evidence 1.0"] <= 1
    assert found["single sentences, unknown start"] > 0.2
