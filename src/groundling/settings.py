"""Base class of settings: frozen dataclasses, checked by type and range."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from groundling.errors import IdleSettingError, SettingError, check_known, did_you_mean

Auto: TypeAlias = Literal["auto"]
AUTO: Auto = "auto"
"""Value of settings that are chosen from the demonstrations."""

P = ParamSpec("P")
S = TypeVar("S", bound="Settings")


def setting(
    default: Any,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
) -> Any:
    """Return a field whose value must be >= `least`, <= `most` and > `above`."""
    return field(default=default, metadata={"least": least, "most": most, "above": above})


class _OwnSignature:
    """The constructor signature of a group of settings: its fields (shown by `help`)."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        made = inspect.signature(owner.__init__)  # type: ignore[misc]
        return made.replace(parameters=list(made.parameters.values())[1:])


def knowing_names(init: Callable[P, None]) -> Callable[P, None]:
    """Make a constructor suggest known names if it gets an unknown setting.

    >>> class Oven:
    ...     @knowing_names
    ...     def __init__(self, *, heat: float = 180.0) -> None: self.heat = heat
    >>> Oven(heet=200)
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Oven has no setting 'heet'. Did you mean 'heat'?
    >>> inspect.signature(Oven)
    <Signature (*, heat: 'float' = 180.0) -> 'None'>
    """
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def checked(*arguments: P.args, **named: P.kwargs) -> None:
        for name in named:
            check_known(name, known, f"{type(arguments[0]).__name__} has no setting")
        init(*arguments, **named)

    return checked


def _check_names(kind: Any, named: Iterable[str]) -> None:
    known = [each.name for each in fields(kind)]
    for name in named:
        check_known(name, known, f"{kind.__name__} has no setting")


@dataclass(frozen=True, repr=False)
class Settings:
    """A frozen group of settings; invalid values raise a `SettingError`.

    Values must have the type of their annotation: numbers, strings, choices (`Literal`), other
    settings, or tuples of these. A list is converted to a tuple, and a single string to a tuple of
    one.

    >>> @dataclass(frozen=True, repr=False)
    ... class Oven(Settings):
    ...     heat: float = setting(180.0, least=0, most=300)
    ...     mode: Literal["fan", "grill"] = "fan"
    >>> Oven(heat=200)
    Oven(heat=200.0)
    >>> Oven(mode="gril")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Oven.mode must be one of 'fan', 'grill'; got 'gril'. Did you
    mean 'grill'?
    >>> Oven(heat="hot")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Oven.heat must be a number; got 'hot'.
    >>> Oven(heet=200)
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Oven has no setting 'heet'. Did you mean 'heat'?
    """

    __signature__ = _OwnSignature()

    def __new__(cls: type[S], *values: Any, **named: Any) -> S:
        """Raise an error that suggests known names if a setting is unknown."""
        _check_names(cls, named)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        hints = _hints(type(self))
        for each in fields(self):
            name = f"{type(self).__name__}.{each.name}"
            value = _checked(getattr(self, each.name), hints[each.name], name)
            _check_range(value, each, name)
            object.__setattr__(self, each.name, value)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.changed())
        return f"{type(self).__name__}({shown})"

    def changed(self) -> list[str]:
        """Return the names of the settings that differ from their default.

        >>> from groundling import Search
        >>> Search(beam=5).changed()
        ['beam']
        """
        return [each.name for each in fields(self) if getattr(self, each.name) != each.default]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name, as stored in files.

        >>> from groundling import Search
        >>> Search(beam=5).to_dict()["beam"]
        5
        """
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    def changed_to(self: S, **values: Any) -> S:
        """Return a copy with other values; settings that lose their effect are reset.

        >>> from groundling import Search
        >>> Search(beam=5).changed_to(planning=False)
        Search(planning=False)
        """
        while True:
            try:
                return replace(self, **values)
            except IdleSettingError as error:
                defaults = {each.name: each.default for each in fields(self)}
                if error.name in values or error.name not in defaults:
                    raise
                values[error.name] = defaults[error.name]

    @classmethod
    def from_dict(cls: type[S], data: Mapping[str, Any]) -> S:
        """Create settings from the output of `to_dict`.

        >>> from groundling import Search
        >>> Search.from_dict({"beam": 5})
        Search(beam=5)
        """
        return cls(**data)


def idle_setting(name: str, why: str, cure: str) -> IdleSettingError:
    """Return the error for a setting that has no effect.

    >>> print(idle_setting("Search.beam", "without planning", "Leave it out."))
    Search.beam has no effect without planning. Leave it out.
    """
    return IdleSettingError(f"{name} has no effect {why}. {cure}", name.rpartition(".")[2])


def check_value(kind: type[Settings], name: str, value: Any) -> None:
    """Raise an error if a value is invalid for a setting, ignoring other settings.

    >>> @dataclass(frozen=True, repr=False)
    ... class Oven(Settings):
    ...     heat: float = setting(180.0, least=0, most=300)
    >>> check_value(Oven, "heat", 400)
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Oven.heat must be between 0 and 300; got 400.0.
    """
    _check_names(kind, [name])
    [each] = [each for each in fields(kind) if each.name == name]
    full = f"{kind.__name__}.{name}"
    _check_range(_checked(value, _hints(kind)[name], full), each, full)


_KNOWN_HINTS: dict[type, dict[str, Any]] = {}


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _KNOWN_HINTS:
        _KNOWN_HINTS[kind] = get_type_hints(kind)
    return _KNOWN_HINTS[kind]


def _plain(value: Any) -> Any:
    if isinstance(value, Settings):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _checked(value: Any, hint: Any, name: str) -> Any:
    """Return a value converted to its annotated type, or raise an error."""
    origin = get_origin(hint)
    if origin is Literal:
        known = get_args(hint)
        if not isinstance(value, str) or value not in known:
            listed, hint = ", ".join(map(repr, known)), did_you_mean(value, known)
            hint = hint if hint.endswith("?") else ""
            raise SettingError(f"{name} must be one of {listed}; got {_shown(value)}.{hint}")
        return value
    if origin in (Union, UnionType):
        return _one_of(value, get_args(hint), name)
    if origin is tuple:
        return _tuple(value, get_args(hint), name)
    if hint is bool:
        if not isinstance(value, bool):
            raise SettingError(f"{name} must be True or False; got {_shown(value)}.")
        return value
    if hint in (int, float):
        return _number(value, hint, name)
    if hint is Any or (origin is not None and callable(value)):
        return value
    if not isinstance(hint, type) or isinstance(value, hint):
        return value
    raise SettingError(f"{name} must be {_article(hint.__name__)}; got {_shown(value)}.")


def _one_of(value: Any, hints: tuple[Any, ...], name: str) -> Any:
    if value is None and NoneType in hints:
        return None
    found = None
    for hint in hints:
        if hint is NoneType:
            continue
        try:
            return _checked(value, hint, name)
        except SettingError as error:
            found = found or error
    assert found is not None
    raise found


def _tuple(value: Any, hints: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if isinstance(value, str):
        value = (value,)
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise SettingError(f"{name} must be a tuple; got {_shown(value)}.")
    items = tuple(value)
    if len(hints) == 2 and hints[1] is Ellipsis:
        return tuple(_checked(each, hints[0], name) for each in items)
    if len(items) != len(hints):
        raise SettingError(f"{name} must have {len(hints)} items; got {len(items)}.")
    return tuple(_checked(each, hint, name) for each, hint in zip(items, hints, strict=True))


def _number(value: Any, kind: Callable[[Any], Any], name: str) -> Any:
    wanted = "a whole number" if kind is int else "a number"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise SettingError(f"{name} must be {wanted}; got {_shown(value)}.")
    if not math.isfinite(value):
        raise SettingError(f"{name} must be a finite number; got {value}.")
    if kind is int and math.floor(value) != value:
        raise SettingError(f"{name} must be {wanted}; got {value}.")
    return kind(value)


def _check_range(value: Any, each: Field[Any], name: str) -> None:
    least, most, above = (each.metadata.get(key) for key in ("least", "most", "above"))
    if value is None or not isinstance(value, (int, float)):
        return
    if above is not None and value <= above:
        raise SettingError(f"{name} must be > {above}; got {value}.")
    if least is not None and most is not None and not least <= value <= most:
        raise SettingError(f"{name} must be between {least} and {most}; got {value}.")
    if least is not None and value < least:
        raise SettingError(f"{name} must be >= {least}; got {value}.")
    if most is not None and value > most:
        raise SettingError(f"{name} must be <= {most}; got {value}.")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
