"""The benchmark runs, and its twins compute what the library computes."""

import io

import numpy as np
import pytest
from rich.console import Console

from benchmarks.corpus import describe, encoded, generate
from benchmarks.limit import prepare_limit
from benchmarks.numpy_twin import numpy_loss
from benchmarks.prediction import prediction
from groundling.overlay.scorer import Scorer

FACTOR = 0.005


def test_corpus_is_the_same_for_the_same_seed():
    first, second = (describe(encoded(generate(FACTOR, seed=4))) for _ in range(2))
    assert first == second
    assert first["decisions"] == 10
    assert describe(encoded(generate(FACTOR, seed=5))) != first


def test_numpy_loops_compute_the_same_objective_and_gradient():
    encoding = encoded(generate(FACTOR))
    theta = np.random.default_rng(1).normal(size=len(encoding.space))
    loops = numpy_loss(encoding, theta)
    loss, gradient = Scorer(encoding).loss(theta)
    assert loops.loss == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(loops.gradient, gradient, atol=1e-10)


def test_limit_passes_every_cell_and_link_once():
    encoding = encoded(generate(FACTOR))
    limit = prepare_limit(encoding)
    batch = encoding.batch
    sizes = np.diff(batch.node_near[batch.shape_nodes])[batch.graph_shape][batch.action_graph]
    words = np.repeat(np.diff(batch.instance_words), np.diff(batch.instance_candidates))
    # Plans have one action each; that a node neighbours itself is not listed.
    links = int(np.sum(words * sizes)) - int(encoding.cells.sum())
    assert limit() == (int(encoding.cells.sum()), links)
    assert limit() == (int(encoding.cells.sum()), links)


@pytest.mark.parametrize("way", ["logsumexp", "matmul"])
def test_torch_computes_the_same_objective_and_gradient(way):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[bench]'")
    from benchmarks.torch_twin import TorchTwin

    encoding = encoded(generate(FACTOR))
    theta = np.random.default_rng(1).normal(size=len(encoding.space))
    value, slope = TorchTwin(encoding, way, decisions=4).loss(theta)
    loss, gradient = Scorer(encoding).loss(theta)
    assert value == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(slope, gradient, atol=1e-10)


def test_prediction_gives_its_figures():
    figures = prediction(6, 1, Console(file=io.StringIO()))
    assert figures.keys() == {
        "plans_per_second", "plans_per_second_one_by_one", "seconds_import",
        "seconds_to_first_plan",
    }  # fmt: skip
    assert all(value > 0 for value in figures.values())
    assert figures["seconds_import"] < figures["seconds_to_first_plan"]


def test_growth_and_comparison_give_their_figures():
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[bench]'")
    from benchmarks.run import compare, growth

    console = Console(file=io.StringIO())
    figures = compare(FACTOR, 1, 2, console) | growth((FACTOR, 2 * FACTOR), 1, console)
    wanted = {"speedup_vs_torch", "speedup_vs_numpy", "growth_exponent", "times_limit"}
    assert wanted <= figures.keys()
    assert all(np.isfinite(value) for value in figures.values())
