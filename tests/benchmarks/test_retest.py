"""Requests that were just taught are tried again, and earlier ones with them."""

import pytest

pytest.importorskip("fastapi")

from benchmarks.page import fill
from benchmarks.retest import SOURCES, TEN, Retest, plan, retest, table
from groundling.studio.kitchen import Kitchen


def test_retest_remembers_ten_requests_of_a_lesson(tmp_path):
    at_once, checked, broken, at_the_end = retest("lesson, German", 0, tmp_path / "lesson")
    assert len(at_once) == 10
    assert all(at_once)
    assert checked == sum(range(10))
    assert broken == 0
    assert at_the_end >= 9


def test_retest_worlds_have_ten_requests_each():
    assert SOURCES.keys() == TEN.keys()
    assert {len(each) for each in TEN.values()} == {10}


def test_retest_requests_must_be_possible():
    state = Kitchen.start._replace(holds="blue cup", lying=frozenset())
    assert plan(Kitchen(), state, ["take the red cup"]) is None
    assert plan(Kitchen(), state, ["put down the blue cup"]) == ("put down the blue cup",)


def test_retest_table_goes_onto_the_page(tmp_path):
    page = tmp_path / "studio.md"
    page.write_text("a\n<!-- retest -->\nold\n<!-- end -->\nb\n", encoding="utf-8")
    fill(page, "retest", table({"yard": Retest(0.95, 0.012, (10, 9, 10))}))
    assert "| yard | .95 | 1.2 % | 10, 9, 10 |\n<!-- end -->\nb\n" in page.read_text("utf-8")
    with pytest.raises(ValueError, match="must have <!-- load -->"):
        fill(page, "load", "")
