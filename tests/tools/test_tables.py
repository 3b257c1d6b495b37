"""Tables of saved results, and whether the pages show what the results say."""

import json
from pathlib import Path

import pytest

from groundling import Demonstration, Features, Follower, GroundingGraph, Overlay, PlanModel
from groundling.errors import CorpusError
from groundling.evaluation.report import Report, Row, fraction
from tools.tables import fill_page, main, results_table, weights_table

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "research").glob("*.md")),
]
MARKED = "# Title\n\n<!-- results: lamps-best.json -->\nold\n<!-- end -->\n\nMore.\n"


class Lamp:
    def actions(self, state):
        return ("on", "off")

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"lamp": {action: True}})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_what_the_results_say(page):
    """When it fails: `python -m tools.tables docs/*.md research/*.md README.md`."""
    text = page.read_text(encoding="utf-8")
    assert fill_page(text, ROOT / "results") == text


@pytest.fixture
def saved(tmp_path):
    row = Row("full", {"match": 0.5, "success": 1.0}, (0.25, 0.75), note="ten seeds")
    Report("lamps", "best", "all lamps", [row], 1.0, "0.1.0").save(tmp_path / "lamps-best.json")
    return tmp_path


def test_fill_page_replaces_what_stands_between_marks_and_nothing_else(saved):
    filled = fill_page(MARKED, saved)
    assert filled.startswith("# Title\n\n<!-- results: lamps-best.json -->\n**Preset `best`**")
    assert filled.endswith("- full: ten seeds\n<!-- end -->\n\nMore.\n")
    assert "| full | .500 | 1.000 | .250–.750 |  |" in filled
    assert "old" not in filled
    assert fill_page(filled, saved) == filled


def test_fill_page_notices_changed_results(saved):
    filled = fill_page(MARKED, saved)
    row = Row("full", {"match": 0.6})
    Report("lamps", "best", "all lamps", [row], 1.0, "0.1.0").save(saved / "lamps-best.json")
    assert fill_page(filled, saved) != filled


def test_fill_page_leaves_the_place_of_missing_results_empty(tmp_path):
    empty = "<!-- results: lamps-best.json -->\n<!-- end -->"
    assert empty in fill_page(MARKED, tmp_path)


def test_summary_has_one_line_for_each_report(saved):
    entries = "lamps-best.json; lamps-none.json; lamps-best.json#other"
    page = f"<!-- summary: {entries} -->\nold\n<!-- end -->"
    filled = fill_page(page, saved)
    assert "| lamps | `best` | full | match .500, success 1.000 | .250–.750 |  |" in filled
    assert len(filled.splitlines()) == 5
    assert fill_page(filled, saved) == filled


def test_confidence_has_one_line_for_each_task():
    page = "<!-- confidence: maps mazes -->\nold\n<!-- end -->"
    filled = fill_page(page, ROOT / "results")
    report = json.loads((ROOT / "results" / "confidence-maps.json").read_text(encoding="utf-8"))
    cells = filled.splitlines()[3].split(" | ")
    assert cells[:2] == ["| maps", str(report["count"])]
    assert cells[3:5] == [fraction(report["error"]), fraction(report["calibrated_error"])]
    assert cells[-1] == f"{report['version']} |"
    assert len(filled.splitlines()) == 6


def test_command_fills_all_pages(saved):
    pages = [saved / "one.md", saved / "two.md"]
    for page in pages:
        page.write_text(MARKED)
    main([*map(str, pages), "--results", str(saved)])
    assert all(page.read_text() == fill_page(MARKED, saved) for page in pages)


def test_results_table_refuses_what_is_not_a_report(tmp_path):
    (tmp_path / "lamps-bad.json").write_text(json.dumps({"rows": [{"nome": 1}]}))
    with pytest.raises(CorpusError, match=r"lamps-bad\.json must be a saved report"):
        results_table(tmp_path, "lamps-*.json")


def test_weights_table_shows_words_and_text_free_features():
    shown = [
        Demonstration("light it now", Lamp(), "off", ("on",)),
        Demonstration("darken it now", Lamp(), "on", ("off",)),
    ]
    follower = Follower(
        model=PlanModel(), overlay=Overlay(), features=Features(words=("word",)), parser="chain"
    ).fit(shown)
    table = weights_table(follower, ["light", "now"], each=2, free=1).splitlines()
    words = table[2:-2]
    assert [line.split(" ∧ ")[0] for line in words] == ["| `word=light"] + ["| `word=now"] * 2
    assert " ∧ " not in table[-1]
