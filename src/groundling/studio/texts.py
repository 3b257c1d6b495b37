"""What may be said at once, to the studio and to the service, and which JSON may be sent."""

from __future__ import annotations

import math
from typing import Any

from groundling.errors import InstructionError
from groundling.language.sentences import split_sentences
from groundling.limits import SAID_ACTIONS, SAID_CHARACTERS, SAID_SENTENCES

__all__ = ["check_actions", "check_text", "plain_json"]


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


def plain_json(value: Any) -> Any:
    """Return JSON as it is if it can be written again; a ValueError if not.

    >>> plain_json({"at": [1, 2.5]})
    {'at': [1, 2.5]}
    >>> plain_json(float("nan"))
    Traceback (most recent call last):
        ...
    ValueError: numbers must be finite
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, float) and not math.isfinite(each):
            raise ValueError("numbers must be finite")
        if isinstance(each, str):
            try:
                each.encode("utf-8")
            except UnicodeEncodeError:
                raise ValueError("text must be valid Unicode") from None
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
    return value
