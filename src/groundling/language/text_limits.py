"""How long a text may be, in characters and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundling.errors import InstructionError, LimitError
from groundling.language.instruction import Instruction
from groundling.limits import TEXT_CHARACTERS, TEXT_WORDS, Limit


@dataclass(frozen=True)
class Limits:
    """What a parser takes as one text; beyond is a `LimitError` before any work is done.

    Parameters
    ----------
    characters
        The most characters of a text; `groundling.limits.TEXT_CHARACTERS` by default.
    words
        The most words of all its sentences together; `TEXT_WORDS` by default.

    Examples
    --------
    >>> from groundling.language import load_parser
    >>> parser = load_parser("chain", limits=Limits(words=3))
    >>> parser.parse("turn left and go on")
    Traceback (most recent call last):
        ...
    groundling.errors.LimitError: The text 'turn left and go on' has 5 words, more than 3. Cut it
    into pieces, pass a parser with other Limits, or set GROUNDLING_LIMIT_TEXT_WORDS.
    """

    characters: int | None = None
    words: int | None = None

    def check(self, text: str) -> None:
        """Refuse what is not a text, or too long a one."""
        if not isinstance(text, str):
            raise InstructionError(
                f"A text to parse must be a string, but a {type(text).__name__} was given."
            )
        _check(text, len(text), self.characters, TEXT_CHARACTERS)

    def check_words(self, text: str, count: int) -> None:
        """Refuse a text of too many words."""
        _check(text, count, self.words, TEXT_WORDS)

    def check_parsed(self, text: str, parsed: Iterable[Instruction]) -> None:
        """Refuse a text whose sentences have too many words."""
        self.check_words(text, sum(map(len, parsed)))


def _check(text: str, count: int, given: int | None, limit: Limit) -> None:
    most = limit.most if given is None else given
    if count > most:
        begin = repr(text[:40] + ("…" if len(text) > 40 else ""))
        raise LimitError(
            f"The text {begin} has {count:,} {limit.what}, more than {most:,}. Cut it into pieces, "
            f"pass a parser with other Limits, or set {limit.variable}."
        )
