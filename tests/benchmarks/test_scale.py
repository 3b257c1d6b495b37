"""The benchmark of scale: what it trains on, and what follows from its figures."""

import pytest

from benchmarks.scale import IN_FILE, follower, held_out, maze, read, write_file
from benchmarks.scale_figures import cost_model, growth_exponent, summarise, table, write_page


def figures(evaluation, **more):
    return {
        "encoding_seconds": 2 * evaluation, "evaluation_seconds": evaluation, "accuracy": 0.5,
        "peak_memory_gb": 1.0, "features": 1000, "apart_seconds": 0.02,
        "communication_share": 0.1, **more,
    }  # fmt: skip


PARTS = {
    "size 100": {"accuracy": 0.25},
    "size 16000": figures(1.0, workers=2),
    "size 64000": figures(4.0, workers=2, peak_memory_gb=1.5),
    "workers 1": figures(3.6, workers=1, demonstrations=32_000),
    "workers 2": figures(2.0, workers=2, demonstrations=32_000),
    "latency": {"seconds": 0.01},
    "out of core": figures(8.0, peak_memory_gb=2.5),
    "out of core small": {"evaluation_seconds": 1.2},
    "in memory small": {"evaluation_seconds": 1.0},
    "differences": {"a": 1e-12, "b": 0.0},
}


def test_scale_generates_files_whose_mazes_workers_can_make(tmp_path):
    write_file(str(tmp_path), 3)
    [file] = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    write_file(str(tmp_path), 3)
    assert file.stat().st_mtime_ns == before
    shown = read(tmp_path, 30)
    assert len(shown) == 30
    assert {each.environment.maze.name for each in shown} < {
        maze(number).maze.name for number in range(8)
    } | {""}
    assert len(read(tmp_path, IN_FILE)) == IN_FILE
    unseen = held_out(5)[0].environment.maze.name
    assert unseen not in {each.environment.maze.name for each in shown}


@pytest.mark.filterwarnings("ignore::groundling.errors.GroundlingWarning")
def test_scale_trains_a_follower_that_learns(tmp_path):
    write_file(str(tmp_path), 0)
    trained = follower(8).fit(read(tmp_path, 100), check=False)
    assert trained.score(held_out(40)) > 0.2


def test_scale_figures_follow_from_the_parts():
    found = summarise(PARTS, 64_000)
    assert found["growth_exponent"] == pytest.approx(1.0)
    assert found["speedup_two_workers"] == pytest.approx(1.8)
    assert found["peak_memory_gb"] == 2.5
    assert found["theta_difference"] == 1e-12
    assert found["out_of_core_slowdown"] == pytest.approx(1.2)
    assert found["accuracy"] == {"100": 0.25, "16000": 0.5, "64000": 0.5}
    carried = found["cost_model"]["carried_on"]
    assert carried["2"] < carried["1"]
    over = found["cost_model"]["communication_takes_over"]
    work = found["cost_model"]["work_seconds"]
    assert carried["10"] < 2 * work / 10 or over <= 10


def test_scale_exponent_and_cost_are_those_of_powers():
    assert growth_exponent((10, 1.0), (1000, 10_000.0)) == pytest.approx(2.0)
    assert cost_model(8.0, 0, 0.0, 0.0, 4) == 2.0
    assert cost_model(0.0, 0, 0.5, 0.0, 300) == pytest.approx(1.5)  # a tree of three levels


def test_scale_page_gets_its_figures_anew(tmp_path):
    page = tmp_path / "scale.md"
    page.write_text("a\n<!-- scale: scale.json -->\nold\n<!-- end -->\nb\n")
    write_page(page, summarise(PARTS, 64_000))
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("a\n")
    assert text.endswith("<!-- end -->\nb\n")
    assert "| two workers against one | 1.80× |" in text
    assert table(summarise(PARTS, 64_000)) in text
    (tmp_path / "other.md").write_text("nothing")
    with pytest.raises(SystemExit):
        write_page(tmp_path / "other.md", summarise(PARTS, 64_000))
