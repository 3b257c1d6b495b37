"""Accuracy and speed of a parsing pipeline."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from groundling.errors import ParseError
from groundling.language.instruction import Instruction
from groundling.language.spacy_parser import SpacyParser, one_sentence

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["ParseScores", "parse_words", "score_parses", "sentences_per_second"]


@dataclass(frozen=True)
class ParseScores:
    """Shares of right words and sentences; punctuation marks count as words.

    Parameters
    ----------
    tags
        Words with the right part-of-speech tag (UPOS).
    heads
        Words with the right head (unlabelled attachment score, UAS).
    labelled
        Words with the right head and relation (labelled attachment score, LAS).
    roots
        Sentences whose root is right.
    """

    sentences: int
    words: int
    tags: float
    heads: float
    labelled: float
    roots: float

    def as_dict(self) -> dict[str, float]:
        """Return the scores by name."""
        return asdict(self)


def score_parses(gold: Sequence[Instruction], found: Iterable[Instruction]) -> ParseScores:
    """Return the scores of parses against gold parses, word by word.

    >>> gold = Instruction(("go", "left"), (-1, 0), ("root", "advmod"), ("VERB", "ADV"))
    >>> wrong = Instruction(("go", "left"), (1, -1), ("obj", "root"), ("VERB", "VERB"))
    >>> score_parses([gold, gold], [gold, wrong]).roots
    0.5
    """
    sentences = words = tags = heads = labelled = roots = 0
    for right, other in zip(gold, found, strict=True):
        if right.tokens != other.tokens:
            raise ParseError(
                f"The parse of {right.text!r} has other words: {' '.join(other.tokens)!r}."
            )
        sentences += 1
        words += len(right)
        tags += sum(map(str.__eq__, right.tags, other.tags))
        same = [a == b for a, b in zip(right.heads, other.heads, strict=True)]
        heads += sum(same)
        labelled += sum(
            head and a == b
            for head, a, b in zip(same, right.relations, other.relations, strict=True)
        )
        roots += right.root == other.root
    if not words:
        raise ParseError("There must be at least one sentence to score; got none.")
    return ParseScores(
        sentences, words, tags / words, heads / words, labelled / words, roots / sentences
    )


def parse_words(language: Language, sentences: Iterable[Iterable[str]]) -> list[Instruction]:
    """Return the parses of sentences that are already split into words."""
    parser = SpacyParser("")
    parser.__dict__["language"] = language
    return list(parser.parse_documents(one_sentence(language, words) for words in sentences))


def sentences_per_second(
    language: Language, sentences: Sequence[Instruction], *, repeats: int = 5
) -> float:
    """Return the sentences parsed per second of processor time, the best of some repeats."""
    words = [each.tokens for each in sentences]
    parse_words(language, words[:200])
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        parse_words(language, words)
        best = min(best, time.process_time() - start)
    return len(words) / best
