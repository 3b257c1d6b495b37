"""Jobs: kept, taken again, the same on many cores."""

import pytest

from groundling.errors import SettingError
from groundling.tasks import benchmark, jobs
from groundling.tasks.puzzles import task as puzzles

NOWHERE = {"puzzles": None, "maps": None}


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.03)
    monkeypatch.setattr(puzzles, "ORDERS", 2)  # of the actions; twenty say no more here


def test_jobs_are_kept_and_taken_again(tmp_path, monkeypatch):
    made = jobs.evaluation_jobs("puzzles", "paper", ["full"], None, quick=True)
    first = jobs.run_jobs(made, NOWHERE, keep=tmp_path)
    told = []
    monkeypatch.setattr(jobs, "run_job", lambda *given: pytest.fail("ran again"))
    again = jobs.run_jobs(made, NOWHERE, keep=tmp_path, tell=lambda *each: told.append(each))
    assert again == first
    assert told == [(each, True) for each in made]


def test_jobs_of_other_data_or_broken_ones_are_not_taken(tmp_path, monkeypatch):
    made = jobs.evaluation_jobs("puzzles", "paper", ["full"], None, quick=True)[:1]
    ran = []
    monkeypatch.setattr(
        jobs, "run_job", lambda *given: ran.append(1) or {"outcome": {}, "seconds": 0.0}
    )
    jobs.run_jobs(made, NOWHERE, keep=tmp_path)
    jobs.run_jobs(made, NOWHERE, keep=tmp_path)
    assert len(ran) == 1
    [kept] = tmp_path.iterdir()
    kept.write_text("{")
    with pytest.raises(SettingError, match="is not a result from Groundling"):
        jobs.run_jobs(made, NOWHERE, keep=tmp_path)
    kept.unlink()
    jobs.run_jobs(made, NOWHERE, keep=tmp_path)
    assert len(ran) == 2
    monkeypatch.setattr(benchmark, "SAMPLE", 0.2)
    jobs.run_jobs(made, NOWHERE, keep=tmp_path)
    assert len(ran) == 3


def test_jobs_give_the_same_on_many_cores(tmp_path):
    made = jobs.evaluation_jobs("puzzles", "best", ["full", "no text"], None, quick=True)
    one = jobs.run_jobs(made, NOWHERE)
    many = jobs.run_jobs(made, NOWHERE, workers=2)
    assert len(made) == 10  # five splits each
    for job in made:
        for variant, outcome in one[job]["outcome"].items():
            other = many[job]["outcome"][variant]
            assert outcome["scores"] == other["scores"]


def test_jobs_give_the_same_on_a_cluster_and_are_kept_here(tmp_path):
    pytest.importorskip("distributed", reason="needs groundling[cluster]")
    made = jobs.evaluation_jobs("puzzles", "best", ["full", "no text"], None, quick=True)
    one = jobs.run_jobs(made, NOWHERE)
    found = jobs.run_jobs(made, NOWHERE, keep=tmp_path, cluster="local:2")
    assert {job: found[job]["outcome"].keys() for job in made} == {
        job: one[job]["outcome"].keys() for job in made
    }
    for job in made:
        for variant, outcome in one[job]["outcome"].items():
            other = found[job]["outcome"][variant]
            assert outcome["scores"] == other["scores"]
    assert len(list(tmp_path.iterdir())) == 10


def test_jobs_that_learn_alike_learn_once():
    made = jobs.evaluation_jobs("maps", "paper", ["full", "no planning"], None, quick=True)
    assert [job.variants for job in made] == [("full", "no planning")]


def test_jobs_of_settings_that_do_not_exist_are_refused():
    with pytest.raises(SettingError, match=r"must contain only known settings; got 'search\.beem'"):
        jobs.tuning_jobs("puzzles", "best", (("search.beem", 3),), None)


def test_jobs_that_learn_apart_are_apart():
    made = jobs.evaluation_jobs("puzzles", "best", ["full", "no text"], None, quick=True)
    assert {job.variants for job in made} == {("full",), ("no text",)}
