"""What is compared for `Follower()` in mazes differs in nothing else."""

import pytest

from groundling import Ensemble, Follower, Learning, Overlay, PlanModel
from groundling.models.base import Member
from groundling.tasks.mazes import generate_demonstrations, generate_mazes
from research.mazes_auto import measure, settings


def test_mazes_auto_takes_away_one_thing_at_a_time():
    members = (Member(Overlay.flat()),)
    chosen = Follower(
        model=Ensemble(members, PlanModel.flat()), overlay=Overlay.flat(),
        learning=Learning(composed=0.5),
    )  # fmt: skip
    found = dict(settings(chosen))
    assert found["as chosen"].get_params(deep=False) == chosen.get_params(deep=False)
    assert found["one member"].model == PlanModel.flat()
    assert found["one member"].learning.composed == 0.5
    assert found["not composed"].model == chosen.model
    assert found["neither"].learning.composed == 0.0
    assert found["longer"].learning == Learning(composed=0.5, tolerance=1e-4)


@pytest.mark.filterwarnings("ignore::groundling.errors.GroundlingWarning")
def test_mazes_auto_measures_every_setting():
    shown = generate_demonstrations(generate_mazes(1, 1), 20, seed=1)
    rows = list(measure(shown, shown[:5]))
    names = ["as chosen", "one member", "not composed", "neither", "longer"]
    assert [name for name, _, _ in rows] == names
    assert all(0 <= right <= 1 and took > 0 for _, right, took in rows)
