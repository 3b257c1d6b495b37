"""What users wait for is measured, compared and written down under the names of the contract."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import before, kernels, new_worlds, page, run, scene, side
from groundling.overlay.layout import is_flat
from groundling.world import check_environment

QUIET = Console(file=io.StringIO())


def canned(python, name, size, *, fresh=False, source=None):
    """Return figures as `measure` does; the old version takes, or gives, ten times as much."""
    times = 1.0 if python == sys.executable and source is None else 10.0
    if name.startswith("fit"):
        return {"seconds": 2 * times, "seconds_to_first_step": times, "peak": times, "loss": 1.0}
    if name == "requests":
        return {"requests": 20_000.0, "requests_growth_mb": 0.5}
    if name == "new worlds":
        parts = {"one": 400 / times, "many": 2000 / times, "p95_ms": 4 * times}
        return {
            f"{world}_{key}": value for world in ("home", "room") for key, value in parts.items()
        }
    return {
        "hassil": {"one": 800.0},
        "follow": {"one": 100 / times, "many": 1000 / times},
        "memory": {"bytes": 300 * times, "plans": 5.0},
        "first run": {"seconds": 5 * times},
        "demo": {"seconds": 6 * times},
    }[name]


def test_before_divides_old_by_new(monkeypatch):
    monkeypatch.setattr(before, "measure", canned)
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    found = before.against(Path("old"), 1.0, 2, QUIET)
    for name in ("fit_scene", "fit_mazes", "follow_one", "follow_many", "first_run", "first_demo"):
        assert found[f"{name}_speedup"] == pytest.approx(10)
    assert found["memory_per_plan_ratio"] == pytest.approx(10)
    assert found["memory_per_plan_bytes"] == pytest.approx(300)
    assert found["first_run_seconds"] == pytest.approx(5)
    assert found["requests_growth_mb"] == pytest.approx(0.5)


def test_new_worlds_are_compared_with_the_commit_before(monkeypatch):
    monkeypatch.setattr(before, "measure", canned)
    found = before.against_commit(Path("old"), 1.0, 2, QUIET)
    for part in ("one", "many", "p95_ms"):
        assert found[f"new_world_home_{part}_speedup"] == pytest.approx(10)
    assert found["new_world_plans_per_second"] == pytest.approx(400)
    assert found["new_world_p95_ms"] == pytest.approx(4)
    assert found.get("speed_vs_hassil", 0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["home", "room"])
def test_new_worlds_are_new_in_every_request_and_right(name):
    asked = new_worlds.requests(name, 3, 1, size=8)
    assert len({state for _, _, state, _ in asked}) == 3
    assert len({state for _, _, state, _ in new_worlds.requests(name, 3, 1, together=True)}) == 1
    for _, world, state, action in asked:
        assert action in world.actions(state)
        assert check_environment(world, state, states=2)


@pytest.mark.parametrize("quick", [True, False])
def test_run_writes_every_bar(monkeypatch, tmp_path, quick):
    monkeypatch.setattr(before, "measure", canned)
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    monkeypatch.setattr(run, "install_base", lambda folder: folder / "python")
    compared = (
        "speedup_vs_torch", "speedup_vs_numpy", "speedup_two_threads", "times_limit",
    )  # fmt: skip
    grown = ("growth_exponent", "growth_exponent_with_encoding")
    monkeypatch.setattr(run, "compare", lambda *given: dict.fromkeys(compared, 3.0))
    monkeypatch.setattr(run, "growth", lambda *given: dict.fromkeys(grown, 1.0))
    units = ("kernel_flat_times_limit", "kernel_units_times_limit")
    monkeypatch.setattr(run, "kernels", lambda *given: dict.fromkeys(units, 2.0))
    monkeypatch.setattr(run, "prediction", lambda *given: {})
    monkeypatch.setattr(
        run,
        "teaching",
        lambda console, known=(300, 3000), *given: {f"teach_seconds_{n}": 0.1 for n in known},
    )
    monkeypatch.setattr(run, "curve", lambda *given: {})
    output = tmp_path / "bench.json"
    monkeypatch.setattr(run, "check_out", lambda folder: folder / "src")
    run.main(
        [
            "--base",
            "old",
            "--before",
            "older",
            "--output",
            str(output),
            *(["--quick"] if quick else []),
        ]
    )
    written = json.loads(output.read_text())
    missing = page.BARS.keys() - written.keys()
    # A quick run teaches thirty demonstrations only.
    assert missing == ({"teach_seconds_300", "teach_seconds_3000"} if quick else set())
    assert written["kernel_graph_times_limit"] == written["times_limit"]


def test_page_takes_its_tables_from_the_figures(tmp_path):
    text = "a\n<!-- comparison -->\nold\n<!-- end of comparison -->\nb\n"
    text += "<!-- bars -->\n<!-- end of bars -->\nc\n"
    shown = tmp_path / "page.md"
    shown.write_text(text)
    figures = {
        "fit_scene_speedup": 4.0, "fit_scene_speedup_before": 120.0, "fit_scene_speedup_now": 30.0,
    }  # fmt: skip
    output = tmp_path / "bench.json"
    output.write_text(json.dumps(figures))
    run.main(["--page", str(shown), "--output", str(output)])
    lines = shown.read_text().splitlines()
    assert "| fit of the scene, s | 120 | 30.0 | 4.00 | 3 |" in lines
    assert "| `fit_scene_speedup` | 4.00 | at least 3 | yes |" in lines
    assert "| `growth_exponent` | not measured | at most 1.05 |  |" in lines
    assert "old" not in lines
    assert lines[0] == "a"
    assert lines[-1] == "c"


def test_page_of_performance_has_the_marks():
    text = (Path(__file__).parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")
    for mark in ("comparison", "bars"):
        assert text.count(f"<!-- {mark} -->") == text.count(f"<!-- end of {mark} -->") == 1


def test_scene_is_rich_and_the_same_for_the_same_seed():
    shown = scene.demonstrations(6, seed=3)
    assert [each.start for each in shown] == [e.start for e in scene.demonstrations(6, seed=3)]
    for each in shown:
        [act] = each.actions
        world = each.environment
        assert act in world.actions(each.start)
        graph = world.ground(each.start, act, world.step(each.start, act))
        assert 8 <= len(graph) <= 20
        assert graph.root == "event"


def test_kernels_measure_flat_plans_and_units():
    assert is_flat(kernels.scorer_of("mazes", 0.02).batch)
    figures = kernels.kernels(0.02, 1, QUIET)
    assert {"kernel_flat_times_limit", "kernel_units_times_limit"} <= figures.keys()
    assert all(np.isfinite(value) and value > 0 for value in figures.values())


@pytest.mark.filterwarnings("ignore")  # as in its own process: so few iterations do not converge
@pytest.mark.parametrize(
    ("job", "names"),
    [
        (side.fit_scene, {"seconds", "seconds_to_first_step", "peak", "loss"}),
        (side.fit_mazes, {"seconds", "seconds_to_first_step", "peak", "loss"}),
        (side.follow, {"one", "many"}),
        (side.requests, {"requests", "requests_growth_mb"}),
        (side.first_run, {"seconds"}),
    ],
)
def test_side_measures_at_a_tiny_size(job, names):
    figures = job(0.001)
    assert figures.keys() == names
    assert all(np.isfinite(value) for value in figures.values())


def test_side_runs_as_a_file():
    figures = before.measure(sys.executable, "fit scene", 0.001)
    assert figures["seconds"] >= figures["seconds_to_first_step"] > 0


def test_page_draws_where_the_time_of_a_fit_goes(tmp_path):
    figures = {}
    for key in ("scene", "maps_corpus"):
        for version, whole, first in (("before", 10.0, 8.0), ("now", 4.0, 1.0)):
            figures[f"fit_{key}_speedup_{version}"] = whole
            figures[f"fit_{key}_first_step_speedup_{version}"] = first
        figures[f"fit_{key}_speedup"] = 2.5
    page.draw_fits(figures, tmp_path / "fit.png")
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")


def test_install_base_is_found_from_any_folder(tmp_path, monkeypatch):
    python = tmp_path / "base" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.chdir(tmp_path)
    assert before.install_base(Path("base")) == python.resolve()
