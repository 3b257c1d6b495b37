"""Mirror images of demonstrations: words such as *left* and *right* are exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from groundling.features.reader import Text
from groundling.language.instruction import Instruction
from groundling.language.sentences import split_words
from groundling.world.environment import Action, Demonstration, State


def spoken_words(text: Text) -> Iterator[str]:
    """Yield the words of a plain or parsed text in lower case.

    >>> list(spoken_words(["Turn LEFT", Instruction.chain("go on")]))
    ['turn', 'left', 'go', 'on']
    """
    for part in [text] if isinstance(text, (str, Instruction)) else text:
        for word in split_words(part) if isinstance(part, str) else part.tokens:
            yield word.lower()


def exchange_words(text: str | Instruction, exchange: Callable[[str], str]) -> str | Instruction:
    """Return a text or parse tree with its words replaced; a tree keeps its shape."""
    if isinstance(text, str):
        return exchange(text)
    return replace(text, tokens=tuple(map(exchange, text.tokens)), text=exchange(text.text))


def image_of(
    shown: Demonstration,
    exchange: Callable[[str], str],
    state: Callable[[Any], State],
    action: Callable[[Any], Action],
    **changes: Any,
) -> Demonstration:
    """Return the mirror image of a demonstration, with half its weight.

    The functions `exchange`, `state` and `action` mirror a text, a state and an action. `changes`
    are further fields of the image, such as its name.
    """
    said = shown.instructions
    texts = [said] if (one := isinstance(said, (str, Instruction))) else said
    images = tuple(exchange_words(each, exchange) for each in texts)
    return replace(
        shown,
        instructions=images[0] if one else images,
        start=state(shown.start),
        actions=tuple(map(action, shown.actions)),
        also=tuple(tuple(map(action, each)) for each in shown.also),
        negative_starts=tuple(map(state, shown.negative_starts)),
        weight=shown.weight / 2,
        **changes,
    )
