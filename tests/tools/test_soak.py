"""The figures on the page on reliability are those of the last run that was kept."""

import json
import os
import subprocess
import sys

import pytest

from tools.soak import BEGIN, PAGE, PARTS, RESULTS, main, rows, with_table

kept = pytest.mark.skipif(not RESULTS.exists(), reason="no run was kept")


@kept
def test_soak_page_shows_the_last_run():
    page = PAGE.read_text(encoding="utf-8")
    run = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert page.count(BEGIN) == 1
    assert page == with_table(page, run)
    assert not [name for name, each in run["parts"].items() if each["failed"]]
    assert {*run["parts"]} <= {*PARTS}


def _check_requests(found):
    for place in ("studio", "service"):
        counts = found[f"requests_to_the_{place}"]
        assert sum(counts.values()) >= 20_000
        assert "500" not in counts


def _check_imports(found):
    assert found["imports"]["changed"] >= 20_000
    assert found["project_files"]["refused"] + found["project_files"]["opened"] >= 2_000


def _check_files(found, *, homes=False):
    from tests.promises.test_formats_run_no_code import FORMATS

    names = {each for each in FORMATS if ("home" in each) == homes}
    assert {name.removeprefix("files: ") for name in found} == names
    assert {each["changed"] for each in found.values()} == {20_000}


CHECKS = {
    "requests": _check_requests,
    "imports": _check_imports,
    "files": _check_files,
    "homes": lambda found: _check_files(found, homes=True),
    "models": lambda found: found["mutated models"] >= 20_000,
    "kills": lambda found: found["studio_kills"] > 0,
    "stops": lambda found: max(found["slowest_stop"], found["commands_slowest_stop"]) < 2,
    "clusters": lambda found: found["cluster: workers killed"] > 0,
    "memory": lambda found: found["service_requests"] >= 100_000,
}


@kept
@pytest.mark.parametrize("part", PARTS)
def test_soak_part_has_done_what_is_promised(part):
    run = json.loads(RESULTS.read_text(encoding="utf-8"))
    if part not in run["parts"]:
        pytest.skip("the run that was kept lacks it")
    assert CHECKS[part](run["parts"][part]["figures"]) is not False


DONE = {"date": "2026-01-01", "hours": 1.0, "failed": 0, "tests": 2, "figures": {}}


def test_soak_that_failed_is_not_kept(tmp_path):
    parts = dict.fromkeys(PARTS, DONE) | {"files": {**DONE, "failed": 1}}
    (tmp_path / "soak.json").write_text(json.dumps({"parts": parts}))
    before = RESULTS.read_bytes() if RESULTS.exists() else b""
    with pytest.raises(SystemExit, match="failed: files"):
        main([str(tmp_path / "soak.json")])
    assert (RESULTS.read_bytes() if RESULTS.exists() else b"") == before


def test_soak_page_names_the_parts_that_were_not_run():
    assert dict(rows({"parts": dict.fromkeys(PARTS[2:], DONE)}))["parts that were not run"] == (
        "requests, imports"
    )
    assert "parts that were not run" not in dict(rows({"parts": dict.fromkeys(PARTS, DONE)}))


def test_soak_parts_are_those_of_the_makefile():
    makefile = (PAGE.parents[1] / "Makefile").read_text(encoding="utf-8")
    assert f"SOAK_PARTS := {' '.join(PARTS)}\n" in makefile
    assert all(f"\nSOAK_{each} := " in makefile for each in PARTS)


def test_soak_sections_are_replaced_as_a_whole(tmp_path):
    """A section comes from one run, so that no figure of an earlier one stays in it."""
    test = tmp_path / "test_one.py"
    test.write_text(
        "from tests.promises.soaking import note\n"
        "import os\n"
        "def test_one(): note(**{os.environ['NOTED']: 1})\n"
    )
    (tmp_path / "conftest.py").write_text(
        "from tests.promises.conftest import pytest_sessionfinish\n"
    )
    file = tmp_path / "soak.json"
    for part, noted_ in (("a", "old"), ("b", "other"), ("a", "new")):
        environment = {**os.environ, "GROUNDLING_SOAK": "1", "GROUNDLING_SOAK_FILE": str(file),
                       "GROUNDLING_SOAK_PART": part, "NOTED": noted_,
                       "PYTHONPATH": str(PAGE.parents[1])}  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c",
                   os.devnull, "--rootdir", str(tmp_path), str(test)]  # fmt: skip
        subprocess.run(command, env=environment, check=True, capture_output=True)
    parts = json.loads(file.read_text())["parts"]
    assert {name: each["figures"] for name, each in parts.items()} == {
        "a": {"new": 1}, "b": {"other": 1},
    }  # fmt: skip


def test_soak_figures_are_written_as_they_are():
    figures = {"service_megabytes": [1, 2, 3, 4], "service_requests": 1000}
    assert dict(rows({"parts": {"memory": {"figures": figures}}})) == {
        "memory of the service over 1,000 requests":
            "2 MB after 5 %, 3 MB after 50 %, 4 MB at the end",
    }  # fmt: skip
