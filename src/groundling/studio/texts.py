"""Validation of texts, actions and JSON data that clients send."""

from __future__ import annotations

import math
from typing import Any

from groundling.errors import InstructionError
from groundling.language.sentences import split_sentences
from groundling.limits import SAID_ACTIONS, SAID_CHARACTERS, SAID_SENTENCES


def check_text(text: str) -> str:
    """Return a stripped text; raise `InstructionError` if it is empty or too long.

    >>> check_text(" turn left ")
    'turn left'
    >>> check_text("...")
    Traceback (most recent call last):
        ...
    groundling.errors.InstructionError: The text must contain at least one word. Enter an
    instruction.
    """
    said = text.strip()
    SAID_CHARACTERS.check(len(said), InstructionError, "A text")
    try:
        said.encode("utf-8")
    except UnicodeEncodeError:
        raise InstructionError(
            "The text must be valid Unicode; got an unpaired surrogate. Type it again."
        ) from None
    count = len(split_sentences(said))
    if count == 0:
        raise InstructionError("The text must contain at least one word. Enter an instruction.")
    SAID_SENTENCES.check(count, InstructionError, "A text")
    return said


def check_actions(count: int) -> None:
    """Raise `InstructionError` for a number of actions that is zero or too large.

    >>> check_actions(0)
    Traceback (most recent call last):
        ...
    groundling.errors.InstructionError: A demonstration must have at least one action; got none. Add
    an action.
    """
    if count == 0:
        raise InstructionError(
            "A demonstration must have at least one action; got none. Add an action."
        )
    SAID_ACTIONS.check(count, InstructionError, "A demonstration")


def plain_json(value: Any) -> Any:
    """Return JSON data unchanged; raise `ValueError` if it cannot be written as JSON.

    >>> plain_json({"at": [1, 2.5]})
    {'at': [1, 2.5]}
    >>> plain_json(float("nan"))
    Traceback (most recent call last):
        ...
    ValueError: A JSON number must be finite; got nan.
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, float) and not math.isfinite(each):
            raise ValueError(f"A JSON number must be finite; got {each}.")
        if isinstance(each, str):
            try:
                each.encode("utf-8")
            except UnicodeEncodeError:
                raise ValueError(
                    "A JSON string must be valid Unicode; got an unpaired surrogate. Remove this "
                    "character."
                ) from None
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
    return value
