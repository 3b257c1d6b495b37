"""What rounding adds to scores on one processor or another changes no answer."""

import numpy as np
import pytest

from groundling.overlay.scorer import Scorer
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.task_registry import get_task
from groundling.world.cached_environment import CachedEnvironment

ROWS = [
    (task, preset)
    for task in ("mazes", "maps", "puzzles")
    for preset in ("paper", "best")
]  # fmt: skip
NOISE = 1e-12


@pytest.fixture(scope="module", params=ROWS, ids=" ".join)
def taught(request):
    """Return a follower of a generated sample, and what it is asked."""
    name, preset = request.param
    task = get_task(name)
    corpus = task.load(None, 0.1 if name != "maps" else 0.5)
    chosen = task.presets.select(preset)
    apart = task.held_out(corpus)
    shown = demonstrations(task.prepare(corpus, chosen), apart)[:24]
    follower = chosen.follower(seed=0).fit(shown)
    asked = [
        (each.instructions, each.environment, each.start)
        for each in shown[: 3 if name == "maps" else 8]
    ]
    return follower, asked


def answers(follower, asked):
    return [
        (
            plan.actions,
            [other.actions for other in plan.alternatives],
            plan.understood,
        )
        for plan in follower.follow_many(asked)
    ]


def shake(monkeypatch, seed):
    """Multiply everything that is scored by one and a little more or less."""
    random = np.random.default_rng(seed)
    plans, units = Scorer.candidate_scores, Scorer.group_scores

    def noisy(values):
        return values * (1 + NOISE * random.uniform(-1, 1, len(values)))

    monkeypatch.setattr(Scorer, "candidate_scores", lambda *given: noisy(plans(*given)))
    monkeypatch.setattr(Scorer, "group_scores", lambda *given: tuple(map(noisy, units(*given))))


def test_ties_do_not_decide_rounding_changes_no_answer(taught, monkeypatch):
    follower, asked = taught
    before = answers(follower, asked)
    for seed in range(3):
        with monkeypatch.context() as patch:
            shake(patch, seed)
            assert answers(follower, asked) == before


def test_ties_do_not_decide_the_order_of_actions_changes_no_answer(taught, monkeypatch):
    follower, asked = taught
    before = answers(follower, asked)
    offered = CachedEnvironment._offered

    def backwards(self, state):
        return offered(self, state)[::-1]

    monkeypatch.setattr(CachedEnvironment, "_offered", backwards)
    for environment in {id(each): each for _, each, _ in asked}.values():
        follower.clear_cache(environment)
    try:
        assert answers(follower, asked) == before
    finally:
        monkeypatch.undo()
        for environment in {id(each): each for _, each, _ in asked}.values():
            follower.clear_cache(environment)
