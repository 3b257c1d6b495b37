"""Limits on the length of a text, in characters and words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundling.errors import InstructionError, LimitError
from groundling.language.instruction import Instruction
from groundling.limits import TEXT_CHARACTERS, TEXT_WORDS, Limit


@dataclass(frozen=True)
class Limits:
    """Maximum length of a text; longer texts raise a `LimitError`.

    Parameters
    ----------
    characters
        Maximum number of characters. Default: `groundling.limits.TEXT_CHARACTERS`.
    words
        Maximum number of words in all sentences. Default: `groundling.limits.TEXT_WORDS`.

    Examples
    --------
    >>> from groundling.language import load_parser
    >>> parser = load_parser("chain", limits=Limits(words=3))
    >>> parser.parse("turn left and go on")
    Traceback (most recent call last):
        ...
    groundling.errors.LimitError: The text 'turn left and go on' must have at most 3 words; got 5.
    Split it, pass a parser with other Limits, or set GROUNDLING_LIMIT_TEXT_WORDS.
    """

    characters: int | None = None
    words: int | None = None

    def check(self, text: str) -> None:
        """Raise an error if a value is not a string, or is longer than the limit."""
        if not isinstance(text, str):
            raise InstructionError(f"A text to parse must be a string; got {type(text).__name__}.")
        _check(text, len(text), self.characters, TEXT_CHARACTERS)

    def check_words(self, text: str, count: int) -> None:
        """Raise `LimitError` if a text has too many words."""
        _check(text, count, self.words, TEXT_WORDS)

    def check_parsed(self, text: str, parsed: Iterable[Instruction]) -> None:
        """Raise `LimitError` if the sentences of a text have too many words."""
        self.check_words(text, sum(map(len, parsed)))


def _check(text: str, count: int, given: int | None, limit: Limit) -> None:
    most = limit.most if given is None else given
    if count > most:
        begin = repr(text[:40] + ("…" if len(text) > 40 else ""))
        raise LimitError(
            f"The text {begin} must have at most {most:,} {limit.what}; got {count:,}. Split it, "
            f"pass a parser with other Limits, or set {limit.variable}."
        )
