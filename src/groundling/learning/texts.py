"""Texts that are far longer than all others: most of the time of a training goes to them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from statistics import median

from groundling.errors import LearningWarning
from groundling.features.reader import Text
from groundling.language.instruction import Instruction
from groundling.language.sentences import split_words
from groundling.world.environment import Demonstration

__all__ = ["warn_of_long_texts"]

_MANY = 200  # words, which no instruction has that a person says at once
_TIMES = 10  # as many as a text has in the median
_NAMED = 3


def warn_of_long_texts(demonstrations: Sequence[Demonstration]) -> None:
    """Warn of texts with more than 200 words that are ten times as long as most.

    All words of a text are laid over every plan, so that time grows with their number, and
    sums over so many are made in logarithms, which takes longer for each of them.
    """
    counts = [_words(each.instructions) for each in demonstrations]
    usual = median(counts) if counts else 0
    long = [
        (count, each)
        for count, each in zip(counts, demonstrations, strict=True)
        if count > max(_MANY, _TIMES * usual)
    ]
    if not long:
        return
    named = ", ".join(f"{str(each)[:90]} ({count:,} words)" for count, each in long[:_NAMED])
    more = f" and {len(long) - _NAMED} more" if len(long) > _NAMED else ""
    warnings.warn(
        f"{len(long)} of {len(demonstrations)} texts are far longer than the others, which have "
        f"{usual:g} words in the median, and take most of the time: {named}{more}. Cut them into "
        "demonstrations of their own, or leave them out.",
        LearningWarning,
        stacklevel=3,  # the caller of Follower.fit
    )


def _words(text: Text) -> int:
    parts = [text] if isinstance(text, (str, Instruction)) else text
    if not isinstance(parts, (list, tuple)):
        return 0  # no text: reading it says so
    return sum(
        len(split_words(part)) if isinstance(part, str) else len(part)
        for part in parts
        if isinstance(part, (str, Instruction))
    )
