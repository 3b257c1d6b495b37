"""Canonical JSON text of any value, which is the same in every process."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from groundling.errors import WorldError
from groundling.world.environment import shorten

Json: TypeAlias = Any
"""A JSON value: None, boolean, number, string, list, or dictionary with string keys."""

SCALARS = frozenset({str, int, bool, type(None)})
SET, BYTES, FLOAT = "$set", "$bytes", "$float"  # not valid as class names


def canonical(value: Any) -> str:
    """Return a string that is identical for equal values in every process.

    Unlike a `repr`, the text does not depend on the iteration order of sets and mappings. Values of
    other classes are represented by their `repr` or, if it contains an address, by their public
    attributes.

    >>> canonical(frozenset({"b", "a"}))
    '{"$set":["a","b"]}'
    >>> canonical({"b": (1, 2.5), "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    try:
        return _text(plain(value, None))
    except RecursionError:
        raise WorldError(
            f"{type(value).__name__} contains itself or is nested too deeply. Use a "
            "flatter structure."
        ) from None


def plain(value: Any, name: Callable[[type], str] | None) -> Json:
    """Convert a value to JSON-ready data.

    `name` maps a class to its name, or raises an error for classes that are not supported. Without
    `name`, any value is accepted, but not every result can be read back.

    >>> plain((1, frozenset({"b", "a"})), None)
    [1, {'$set': ['a', 'b']}]
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is tuple:
        return [each if type(each) in SCALARS else plain(each, name) for each in value]
    if kind is float:
        if math.isfinite(value):
            return value
        if value != value and name is not None:
            raise WorldError("A state or action must not contain NaN. Use None instead.")
        return {FLOAT: str(value)}
    if kind is frozenset:
        return {SET: sorted((plain(each, name) for each in value), key=_text)}
    if kind is bytes:
        return {BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, np.generic):
        return plain(value.item(), name)
    if is_value_class(kind):
        return {(name or _qualified)(kind): _content(value, name)}
    if name is not None:
        raise WorldError(
            "States and actions must consist of strings, numbers, tuples, named tuples, frozen "
            f"data classes, enumerations and frozen sets; got {shorten(value)}, a {kind.__name__}. "
            "Use one of these types, or implement state_to_json and state_from_json for states, or "
            "action_to_json and action_from_json for actions."
        )
    return _anything(value)


def _content(value: Any, name: Callable[[type], str] | None) -> Json:
    """Return the JSON content of a value that is stored under its class name."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value, enum.Flag) else value.name
    if isinstance(value, tuple):
        fields: tuple[str, ...] = value._fields  # type: ignore[attr-defined]
        return {each: plain(getattr(value, each), name) for each in fields}
    if isinstance(value, Mapping):
        if all(type(key) is str for key in value):
            return {key: plain(value[key], name) for key in sorted(value)}
        pairs = ([plain(key, name), plain(each, name)] for key, each in value.items())
        return sorted(pairs, key=_text)
    return {
        field.name: plain(getattr(value, field.name), name)
        for field in dataclasses.fields(value)
        if (field.init if name is not None else field.compare)
    }


def _anything(value: Any) -> Json:
    """Return JSON that identifies a value in a checksum, but cannot be read back."""
    if isinstance(value, (list, tuple)):
        return [plain(each, None) for each in value]
    if isinstance(value, (set, frozenset)):
        return {SET: sorted((plain(each, None) for each in value), key=_text)}
    if isinstance(value, (type, FunctionType)):
        return {"$name": f"{value.__module__}.{value.__qualname__}"}
    if isinstance(value, Mapping) or dataclasses.is_dataclass(value):
        content = _content(value, None)
        return content if type(value) is dict else {_qualified(type(value)): content}
    if isinstance(value, np.ndarray):
        return {"$array": [str(value.dtype), *value.shape, plain(value.tobytes(), None)]}
    if getattr(type(value), "__repr__", None) is not object.__repr__:
        return {_qualified(type(value)): repr(value)}
    public = {name: each for name, each in vars(value).items() if not name.startswith("_")}
    return {_qualified(type(value)): {name: plain(public[name], None) for name in sorted(public)}}


def is_value_class(found: object) -> TypeGuard[type[Any]]:
    """Return whether an object is a class whose instances survive JSON conversion.

    >>> from collections import namedtuple
    >>> Robot = namedtuple("Robot", "x y")
    >>> is_value_class(Robot), is_value_class(Robot(1, 2)), is_value_class(list)
    (True, False, False)
    """
    if not isinstance(found, type) or found.__hash__ is None:
        return False
    if issubclass(found, enum.Enum):
        return bool(found.__members__)
    if issubclass(found, tuple):
        return hasattr(found, "_fields")
    if dataclasses.is_dataclass(found):
        return found.__eq__ is not object.__eq__
    return issubclass(found, Mapping) and not getattr(found, "__abstractmethods__", None)


def _text(data: Json) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _qualified(kind: type) -> str:
    return kind.__qualname__.rpartition("<locals>.")[2]
