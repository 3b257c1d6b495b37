"""Comparisons and coordinated relative clauses hang from their noun."""

import pytest

from groundling.language.attachment import attach_clauses
from groundling.language.spacy_parser import ShippedParser, one_sentence
from tools.parser.clauses import attachment_scores, clause_instructions
from tools.parser.train import own_treebank


@pytest.fixture(scope="module")
def parser():
    return ShippedParser()


def above(parser, text, word):
    """Return the head of the last word that is spelt so."""
    [parsed] = parser.parse(text)
    place = len(parsed) - 1 - parsed.tokens[::-1].index(word)
    return parsed.tokens[parsed.heads[place]]


@pytest.mark.parametrize(
    ("text", "word", "head"),
    [
        ("push the circle that is in the same row as a small square", "square", "row"),
        ("push the red circle in the same row as a small square", "square", "row"),
        ("walk to the bin which is below a swamp and next to a key", "key", "swamp"),
        ("turn the bin which is near a door and is in the same corner as a cup", "cup", "corner"),
        ("turn the bin which is near a door and is in the same corner as a cup", "corner", "door"),
        ("put the cup in the drawer and go to the door", "door", "go"),
        ("take the ball that is near the box and go to the door", "go", "take"),
    ],
)
def test_modifiers_hang_from_their_noun(parser, text, word, head):
    assert above(parser, text, word) == head


def test_generated_clauses_are_attached(parser):
    gold = clause_instructions(200, seed=7)
    found = parser.parse_documents(one_sentence(parser.language, each.tokens) for each in gold)
    assert min(attachment_scores(gold, found).values()) > 0.9


def test_right_trees_stay_as_they_are():
    for sentence in (*own_treebank("train"), *clause_instructions(200, seed=8)):
        assert attach_clauses(sentence) == sentence
