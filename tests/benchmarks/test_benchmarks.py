"""The benchmark runs, and its twins compute what the library computes."""

import io

import numpy as np
import pytest
from rich.console import Console

from benchmarks.corpus import describe, encoded, generate
from benchmarks.limit import prepare_limit
from benchmarks.numpy_twin import numpy_loss
from groundling.overlay.scorer import Scorer

FACTOR = 0.005


def test_corpus_is_the_same_for_the_same_seed():
    first, second = (describe(encoded(generate(FACTOR, seed=4))) for _ in range(2))
    assert first == second
    assert first["decisions"] == 10
    assert describe(encoded(generate(FACTOR, seed=5))) != first


def test_numpy_loops_compute_the_same_objective_and_gradient():
    corpus = generate(FACTOR)
    encoding = encoded(corpus)
    theta = np.random.default_rng(1).normal(size=len(encoding.space))
    loops = numpy_loss(encoding, theta)
    loss, gradient = Scorer(encoding).loss(theta)
    assert loops.loss == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(loops.gradient, gradient, atol=1e-10)


def test_limit_touches_every_array_without_fail():
    prepare_limit(encoded(generate(FACTOR)))()


@pytest.mark.parametrize("way", ["logsumexp", "matmul"])
def test_torch_computes_the_same_objective_and_gradient(way):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[bench]'")
    from benchmarks.torch_twin import TorchTwin

    corpus = generate(FACTOR)
    encoding = encoded(corpus)
    theta = np.random.default_rng(1).normal(size=len(encoding.space))
    value, slope = TorchTwin(encoding, way, decisions=4).loss(theta)
    loss, gradient = Scorer(encoding).loss(theta)
    assert value == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(slope, gradient, atol=1e-10)


def test_quick_run_gives_all_figures():
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[bench]'")
    from benchmarks.run import BARS, compare, growth

    console = Console(file=io.StringIO())
    figures = compare(FACTOR, 1, 2, console) | growth((FACTOR, 2 * FACTOR), 1, console)
    assert set(BARS) <= set(figures)
    assert all(np.isfinite(value) for value in figures.values())
