"""The benchmark of scale: what it trains on, and what follows from its figures."""

import pytest

from benchmarks.scale import IN_FILE, follower, held_out, maze, read, write_file
from benchmarks.scale_figures import cost_model, growth_exponent, summarise, table, write_page


def figures(evaluation, **more):
    return {
        "encoding_seconds": 2 * evaluation, "evaluation_seconds": evaluation,
        "best_seconds": evaluation, "best_processor_seconds": evaluation, "accuracy": 0.5,
        "peak_memory_gb": 1.0, **more,
    }  # fmt: skip


def turns(**seconds):
    by_workers = {
        number[1:]: {
            "evaluation_seconds": each, "median_seconds": 1.1 * each, "apart_seconds": 0.02
        }
        for number, each in seconds.items()
    }  # fmt: skip
    return {"demonstrations": 32_000, "features": 1000, "by_workers": by_workers}


PARTS = {
    "size 100": {"accuracy": 0.25},
    "size 16000": figures(1.0, workers=2),
    "size 64000": figures(4.0, workers=2, peak_memory_gb=1.5),
    "workers 1 and 2": turns(_1=3.6, _2=2.0),
    "workers 4": turns(_4=2.1),
    "latency": {"seconds": 0.01},
    "out of core": figures(8.0, peak_memory_gb=2.5),
    "out of core, little memory": figures(4.8, peak_memory_gb=0.5),
    "in memory": figures(4.0, demonstrations=32_000, peak_memory_gb=3.0),
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
    assert found["speedup_two_workers_median"] == pytest.approx(1.8)
    assert found["communication_share"] == pytest.approx(0.01)
    assert found["out_of_core_ratio"] == pytest.approx(1.2)
    assert found["out_of_core_processor_ratio"] == pytest.approx(1.2)
    assert found["out_of_core_ratio_of_all"] == pytest.approx(1.0)
    assert set(found["cost_model"]["measured"]) == {"1", "2", "4"}
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
    assert "| two workers against one, the best of each | 1.80× |" in text
    assert table(summarise(PARTS, 64_000)) in text
    (tmp_path / "other.md").write_text("nothing")
    with pytest.raises(SystemExit):
        write_page(tmp_path / "other.md", summarise(PARTS, 64_000))
