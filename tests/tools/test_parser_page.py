"""The page of the parser, its card and its results say the same."""

import json
from pathlib import Path

import pytest

from groundling.language.spacy_parser import SHIPPED_PIPELINE, SPACY_VERSIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "parser.md").read_text(encoding="utf-8")
RESULTS = json.loads((ROOT / "results" / "parser.json").read_text(encoding="utf-8"))
NAMES = {
    "ewt": "EWT",
    "ewt lower-cased": "EWT, lower-cased",
    "instructions": "instructions, held back",
}


def cells(scores):
    shares = (scores["tags"], scores["heads"], scores["labelled"], scores["roots"])
    return " | ".join(f"{100 * share:.1f}" for share in shares)


@pytest.mark.parametrize("name", NAMES)
def test_parser_page_and_card_show_the_results(name):
    scores = RESULTS[name]
    sizes = f"{scores['sentences']} | {scores['words']}"
    assert f"| {NAMES[name]} | {sizes} | {cells(scores)} |" in PAGE
    card = (SHIPPED_PIPELINE / "README.md").read_text(encoding="utf-8")
    assert f"| {name} | {scores['sentences']} | {cells(scores)} |" in card


def test_parser_page_shows_the_measured_versions_of_spacy():
    versions = json.loads((ROOT / "results" / "parser-versions.json").read_text(encoding="utf-8"))
    same = versions.pop("same parses")
    assert f"{same:.2%}" in PAGE
    assert f"`spacy{SPACY_VERSIONS}`" in PAGE
    for version, scores in versions.items():
        labelled = " | ".join(f"{100 * scores[name]['labelled']:.1f}" for name in NAMES)
        assert f"| {version} | {scores['thinc']} | {scores['numpy']} | {labelled} |" in PAGE


def test_parser_page_shows_where_clauses_are_attached():
    for kind, (before, after) in RESULTS["clauses"]["attachment"].items():
        assert f"| {kind} | {before:.3f} | {after:.3f} |" in PAGE
