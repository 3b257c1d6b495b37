"""How long a text may be, in characters and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundling.errors import InstructionError, LimitError
from groundling.language.instruction import Instruction

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What a parser takes as one text; beyond is a `LimitError` before any work is done.

    Parameters
    ----------
    characters
        The most characters of a text.
    words
        The most words of all its sentences together.

    Examples
    --------
    >>> from groundling.language import load_parser
    >>> parser = load_parser("chain", limits=Limits(words=3))
    >>> parser.parse("turn left and go on")
    Traceback (most recent call last):
        ...
    groundling.errors.LimitError: The text 'turn left and go on' has 5 words, more than 3. Cut it
    into pieces, or pass a parser with other Limits.
    """

    characters: int = 100_000
    words: int = 10_000

    def check(self, text: str) -> None:
        """Refuse what is not a text, or too long a one."""
        if not isinstance(text, str):
            raise InstructionError(
                f"A text to parse must be a string, but a {type(text).__name__} was given."
            )
        if len(text) > self.characters:
            raise LimitError(
                f"The text {_begin(text)} has {len(text):,} characters, more than "
                f"{self.characters:,}. Cut it into pieces, or pass a parser with other Limits."
            )

    def check_words(self, text: str, count: int) -> None:
        """Refuse a text of too many words."""
        if count > self.words:
            raise LimitError(
                f"The text {_begin(text)} has {count:,} words, more than {self.words:,}. Cut it "
                "into pieces, or pass a parser with other Limits."
            )

    def check_parsed(self, text: str, parsed: Iterable[Instruction]) -> None:
        """Refuse a text whose sentences have too many words."""
        self.check_words(text, sum(map(len, parsed)))


def _begin(text: str) -> str:
    return repr(text[:40] + ("…" if len(text) > 40 else ""))
