"""Values of users in messages: short, whatever they are, and never a new error."""

from __future__ import annotations

import reprlib

__all__ = ["said", "shorten"]


class _Short(reprlib.Repr):
    """How a value looks, without ever writing all of a large one."""

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

    def repr_instance(self, x: object, level: int) -> str:
        try:
            return repr(x)
        except Exception as error:
            return f"<{type(x).__name__}, whose __repr__ raises {type(error).__name__}>"


def shorten(value: object, limit: int = 80) -> str:
    """Return how a value looks, cut to fit in a message.

    >>> shorten("a" * 100, 8)
    "'aaaaaa…"
    >>> class Odd:
    ...     def __repr__(self): return 1 / 0
    >>> shorten((1, Odd()))
    '(1, <Odd, whose __repr__ raises ZeroDivisionError>)'
    """
    try:
        text = _Short(limit).repr(value)
    except Exception as error:  # a __len__ or __iter__ that raises
        text = f"<{type(value).__name__}, which raises {type(error).__name__} when it is shown>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def said(error: BaseException, limit: int = 300) -> str:
    """Return what an error is and says, cut to fit in a message.

    >>> said(ValueError("lost count"))
    'ValueError: lost count'
    """
    try:
        text = " ".join(str(error)[: 10 * limit].split())
    except Exception:
        text = ""
    text = f"{type(error).__name__}: {text}".rstrip(".: ")
    return text if len(text) <= limit else text[: limit - 1] + "…"
