"""The figures on the page on reliability are those of the last run that was kept."""

import json

import pytest

from tools.soak import BEGIN, PAGE, RESULTS, main, rows, with_table

kept = pytest.mark.skipif(not RESULTS.exists(), reason="no run was kept")


@kept
def test_soak_page_shows_the_last_run():
    page = PAGE.read_text(encoding="utf-8")
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert page.count(BEGIN) == 1
    assert page == with_table(page, found)
    assert not [name for name, each in found["parts"].items() if each["failed"]]


@kept
def test_soak_run_has_done_what_is_promised():
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    if lacks := found.get("unfinished"):
        pytest.skip(f"the run that was kept lacks {', '.join(lacks)}")
    for place in ("studio", "service"):
        counts = found[f"requests_to_the_{place}"]
        assert sum(counts.values()) >= 20_000
        assert "500" not in counts
    assert found["project_files"]["refused"] + found["project_files"]["opened"] >= 2_000
    assert found["service_requests"] >= 100_000
    assert found["cluster: workers killed"] > 0
    assert found["studio_kills"] > 0
    formats = {name: each for name, each in found.items() if name.startswith("files: ")}
    assert {each["changed"] for each in formats.values()} == {20_000}
    from tests.promises.test_formats_run_no_code import FORMATS

    assert {name.removeprefix("files: ") for name in formats} == set(FORMATS)


def test_soak_that_failed_is_not_kept(tmp_path):
    part = {"date": "2026-01-01", "hours": 1.0, "failed": 1, "tests": 2, "machine": "none"}
    (tmp_path / "soak.json").write_text(json.dumps({"parts": {"files": part}}))
    before = RESULTS.read_bytes() if RESULTS.exists() else b""
    with pytest.raises(SystemExit, match="files"):
        main([str(tmp_path / "soak.json")])
    assert (RESULTS.read_bytes() if RESULTS.exists() else b"") == before


def test_soak_figures_are_written_as_they_are():
    assert dict(rows({"service_megabytes": [1, 2, 3, 4], "service_requests": 1000})) == {
        "memory of the service over 1,000 requests":
            "2 MB after 5 %, 3 MB after 50 %, 4 MB at the end",
    }  # fmt: skip
