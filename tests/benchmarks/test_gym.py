"""The figures of BabyAI are there, and are of what they say."""

import pytest

pytest.importorskip("minigrid")

from benchmarks.gym import plans_a_second


def test_gym_counts_plans():
    figures = plans_a_second("GoToObjS4", seeds=3)
    assert len(figures) == 2
    assert min(figures.values()) > 0
