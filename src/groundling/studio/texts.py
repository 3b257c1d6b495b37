"""What may be said at once, to the studio and to the service."""

from __future__ import annotations

from groundling.errors import InstructionError
from groundling.language.sentences import split_sentences
from groundling.limits import SAID_ACTIONS, SAID_CHARACTERS, SAID_SENTENCES

__all__ = ["check_actions", "check_text"]


def check_text(text: str) -> str:
    """Return what was said, or complain that it is nothing or too much.

    >>> check_text(" turn left ")
    'turn left'
    >>> check_text("...")
    Traceback (most recent call last):
        ...
    groundling.errors.InstructionError: There are no words in this. Say what to do.
    """
    said = text.strip()
    SAID_CHARACTERS.check(len(said), InstructionError, "What is said at once")
    try:
        said.encode("utf-8")
    except UnicodeEncodeError:
        raise InstructionError("Text must be valid Unicode; got half of a character.") from None
    count = len(split_sentences(said))
    if count == 0:
        raise InstructionError("There are no words in this. Say what to do.")
    SAID_SENTENCES.check(count, InstructionError, "What is said at once")
    return said


def check_actions(count: int) -> None:
    """Complain if nothing is done, or too much.

    >>> check_actions(0)
    Traceback (most recent call last):
        ...
    groundling.errors.InstructionError: Nothing was shown. Click at least one action.
    """
    if count == 0:
        raise InstructionError("Nothing was shown. Click at least one action.")
    SAID_ACTIONS.check(count, InstructionError, "What is shown at once")
