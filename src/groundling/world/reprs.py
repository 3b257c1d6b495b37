"""Display and comparison of user-defined values by functions that never raise."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import reprlib
from collections.abc import Sequence
from itertools import islice
from typing import Any

_LISTED = 8  # maximum actions listed in a message
_MOST_SORTED = 1000  # maximum size of a set that is sorted
_MOST_COMPARED = 5000  # maximum candidates for the nearest value


def among(value: Any, others: Sequence[Any]) -> bool:
    """Return whether a value is in a sequence, ignoring items that cannot be compared.

    >>> among(1, [3, 2, 1]), among("x", [1])
    (True, False)
    """
    try:
        return value in others
    except Exception:  # some items cannot be compared
        return any(equal(value, each) for each in others)


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal; False if they cannot be compared.

    >>> equal(1, 1.0), equal("x", 1)
    (True, False)
    """
    try:
        return one is other or bool(one == other)
    except Exception:
        return False


class _Short(reprlib.Repr):
    """Truncated reprs that list the members of sets in a stable order."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.maxlevel = 8
        self.maxtuple = self.maxlist = self.maxset = self.maxfrozenset = limit
        self.maxdict = self.maxdeque = self.maxarray = limit
        self.maxlong = max(limit, 40)

    def repr_str(self, x: str, level: int) -> str:
        return repr(x[: self.limit + 1])

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x[: self.limit + 1])

    repr_bytearray = repr_bytes

    def repr_set(self, x: Any, level: int) -> str:
        return f"{{{self._members(x, level)}}}" if x else "set()"

    def repr_frozenset(self, x: Any, level: int) -> str:
        return f"frozenset({{{self._members(x, level)}}})" if x else "frozenset()"

    def _members(self, members: Any, level: int) -> str:
        """Return the members of a set as text, in an order that does not depend on hashes."""
        if level <= 0:
            return self.fillvalue

        def by_members(each: Any) -> Any:  # sets have no total order
            if isinstance(each, frozenset):
                return sorted(self.repr1(inner, level - 1) for inner in each)
            return each

        order = list(islice(members, _MOST_SORTED))
        if len(members) <= _MOST_SORTED:
            # Sorting by repr first keeps the order stable for members without a total order.
            order.sort(key=lambda each: self.repr1(each, level - 1))
        with contextlib.suppress(Exception):  # members may not be comparable
            order = sorted(order, key=by_members)
        shown = [self.repr1(each, level - 1) for each in order[: self.limit]]
        return ", ".join([*shown, *[self.fillvalue] * (len(members) > self.limit)])

    def repr_instance(self, x: Any, level: int) -> str:
        # As Python's own repr, but with nested sets in a stable order.
        kind = type(x)
        if isinstance(x, tuple) and kind.__repr__.__module__ == "collections":  # a named tuple
            return self._fields(x, kind.__name__, x._fields, level)  # type: ignore[attr-defined]
        if dataclasses.is_dataclass(kind) and hasattr(kind.__repr__, "__wrapped__"):
            names = [each.name for each in dataclasses.fields(x) if each.repr]
            return self._fields(x, kind.__qualname__, names, level)
        try:
            return repr(x)
        except Exception as error:
            return f"<{type(x).__name__}, whose __repr__ raises {type(error).__name__}>"

    def _fields(self, x: object, kind: str, names: Sequence[str], level: int) -> str:
        if level <= 0:
            return f"{kind}({self.fillvalue})"
        shown = ", ".join(f"{name}={self.repr1(getattr(x, name), level - 1)}" for name in names)
        return f"{kind}({shown})"


def shorten(value: object, limit: int = 80) -> str:
    """Return a truncated repr for messages, the same in every process.

    >>> shorten("a" * 100, 8)
    "'aaaaaa…"
    >>> shorten(frozenset({("b", 1), ("a", None), ("a", 2)}))
    "frozenset({('a', 2), ('a', None), ('b', 1)})"
    >>> class Odd:
    ...     def __repr__(self): return 1 / 0
    >>> shorten((1, Odd()))
    '(1, <Odd, whose __repr__ raises ZeroDivisionError>)'
    """
    try:
        text = _Short(limit).repr(value)
    except Exception as error:  # a __len__ or __iter__ that raises
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest(value: object, others: Sequence[object], most: int = 2) -> list[str]:
    """Return the reprs of the values most similar to a given one, nearest first.

    >>> nearest(("of", "lamp"), [("on", "lamp"), ("off", "lamp"), ("open", "door")], 1)
    ["('off', 'lamp')"]
    """
    shown = list(dict.fromkeys(shorten(each) for each in others[:_MOST_COMPARED]))
    return difflib.get_close_matches(shorten(value), shown, n=most)


def impossible(
    number: int, actions: Sequence[object], state: object, possible: Sequence[object]
) -> str:
    """Return the message for an impossible action of a plan, with suggestions.

    >>> impossible(1, ["up"], 0, ["left", "right"])
    "action 1, 'up', is impossible in state 0. Possible there: 'left', 'right'."
    """
    action = actions[number - 1]
    what = f"action {number}, {shorten(action)}, is impossible in state {shorten(state)}."
    if number == 1 and len(actions) > 1 and among(tuple(actions), possible):
        return (
            f"{what} The whole of `actions` is one possible action: write "
            f"actions=[{shorten(tuple(actions))}]."
        )
    close = nearest(action, possible) if len(possible) > _LISTED else []
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    listed = ", ".join(shorten(each) for each in possible[:_LISTED]) or "none"
    return f"{what}{hint} Possible there: {listed}{', …' if len(possible) > _LISTED else ''}."


def said(error: BaseException, limit: int = 300) -> str:
    """Return the type and message of an exception, truncated for messages.

    >>> said(ValueError("lost count"))
    'ValueError: lost count'
    """
    try:
        text = " ".join(str(error)[: 10 * limit].split())
    except Exception:
        text = ""
    text = f"{type(error).__name__}: {text}".rstrip(".: ")
    return text if len(text) <= limit else text[: limit - 1] + "…"
