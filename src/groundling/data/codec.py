"""Conversion of states and actions to JSON and back."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import enum
import json
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from groundling.data.canonical import (
    BYTES,
    FLOAT,
    SCALARS,
    SET,
    Json,
    is_value_class,
    plain,
)
from groundling.errors import WorldError, did_you_mean
from groundling.limits import EQUAL_HASHES, PLAN_ACTIONS
from groundling.world.environment import Wrapper, class_name, shorten

_METHODS = ("state_to_json", "state_from_json", "action_to_json", "action_from_json")
_REMEMBERED, _LONGEST_KEY = 20_000, 400
_COUNTED = 1_000_000
_PRIME = sys.hash_info.modulus  # whole numbers below this have different hashes
_PLAIN_MODULES = frozenset({"builtins", "typing", "abc"})


class Codec:
    """Conversion of an environment's states and actions to JSON and back.

    An environment may define its own JSON format for states, with `state_to_json(state)` and
    `state_from_json(data)`, or for actions, with `action_to_json(action)` and
    `action_from_json(data)`; each pair must be complete. Otherwise, values are written as follows,
    and read back equal:

    - None, booleans, numbers and strings unchanged; tuples as lists;
    - frozen sets as `{"$set": [...]}`, in sorted order;
    - infinite numbers as `{"$float": "inf"}`, bytes as `{"$bytes": "..."}` in base 64;
    - named tuples, frozen data classes and hashable mappings as `{"Name": {field: value}}`,
      mappings with keys other than strings as `{"Name": [[key, value], ...]}`;
    - enumerations as `{"Name": "MEMBER"}`.

    Names refer to the classes of the environment's values (see `value_classes`). Reading a file
    never imports a module.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Robot(NamedTuple):
    ...     at: tuple[int, int]
    ...     holds: frozenset[str] = frozenset()
    >>> class Yard:
    ...     json_classes = (Robot,)
    >>> codec = Codec(Yard())
    >>> written = codec.state_to_json(Robot((1, 2), frozenset({"rake", "hose"})))
    >>> written
    {'Robot': {'at': [1, 2], 'holds': {'$set': ['hose', 'rake']}}}
    >>> codec.state_from_json(written) == Robot((1, 2), frozenset({"hose", "rake"}))
    True
    >>> codec.state_from_json({"Robot": {"at": [1, 2]}})
    Robot(at=(1, 2), holds=frozenset())
    >>> codec.state_from_json({"Robbot": {"at": [1, 2]}})
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Yard must define the class 'Robbot', to which a state refers.
    Did you mean 'Robot'?
    """

    def __init__(self, environment: object) -> None:
        self.owner = class_name(environment)
        self.classes = value_classes(environment)
        own = {name: _method(environment, name) for name in _METHODS}
        for kind in ("state", "action"):
            to, back = own[f"{kind}_to_json"], own[f"{kind}_from_json"]
            if (to is None) != (back is None):
                there, missing = ("to", "from") if back is None else ("from", "to")
                raise WorldError(
                    f"{self.owner} must have both {kind}_{there}_json and "
                    f"{kind}_{missing}_json, or neither; it has no {kind}_{missing}_json. "
                    "Add the missing method, or remove the other."
                )
        self._to = {kind: own[f"{kind}_to_json"] for kind in ("state", "action")}
        self._from = {kind: own[f"{kind}_from_json"] for kind in ("state", "action")}
        # States and plans recur, so they are cached by their JSON text.
        self._states: dict[str, Any] = {}
        self._plans: dict[str, tuple[Any, ...]] = {}
        self._hashes = {kind: _Hashes(f"The {kind}s of {self.owner}") for kind in ("state", "plan")}

    def state_to_json(self, state: Any) -> Json:
        """Return a state as JSON."""
        return self._write("state", state)

    def state_from_json(self, data: Json) -> Any:
        """Return a state from its JSON; raise `WorldError` if the JSON is invalid."""
        if type(data) in SCALARS and (type(data) is not int or -_PRIME < data < _PRIME):
            return self._read("state", data)
        key = _looks(data)
        found = self._states.get(key)
        if found is None:
            found = self._read("state", data)
            self._hashes["state"].check(found, key)
            _remember(self._states, key, found)
        return found

    def action_to_json(self, action: Any) -> Json:
        """Return an action as JSON."""
        return self._write("action", action)

    def action_from_json(self, data: Json) -> Any:
        """Return an action from its JSON; raise `WorldError` if the JSON is invalid."""
        return self._read("action", data)

    def actions_to_json(self, actions: Iterable[Any]) -> list[Json]:
        """Return the actions of a plan as a JSON list."""
        return [self._write("action", each) for each in actions]

    def actions_from_json(self, data: Json) -> tuple[Any, ...]:
        """Return the actions of a plan from a JSON list."""
        if type(data) is not list:
            raise WorldError(f"A plan must be a list of actions; got {shorten(data)}.")
        PLAN_ACTIONS.check(len(data), WorldError, "A plan")
        key = _looks(data)
        found = self._plans.get(key)
        if found is None:
            if self._from["action"] is None:
                found = self._read("action", data)  # reads all actions of the plan at once
            else:
                found = tuple([self._read("action", each) for each in data])
            self._hashes["plan"].check(found, key)
            _remember(self._plans, key, found)
        return found

    def check(self, state: Any, *actions: Any) -> None:
        """Raise an error unless a state and its actions survive a round trip through JSON.

        >>> Codec(object()).check((1, "a"), "go")
        """
        for kind, value in (("state", state), *(("action", each) for each in actions)):
            written = json.loads(json.dumps(self._write(kind, value)))
            back = self._read(kind, written)
            if back != value:
                raise WorldError(
                    f"The {kind} {shorten(value)} of {self.owner} must survive a round "
                    f"trip through JSON; got {shorten(back)} from {shorten(written)}. Correct the "
                    "methods that convert it."
                )

    def _write(self, kind: str, value: Any) -> Json:
        own = self._to[kind]
        if own is None:
            try:
                return plain(value, self._name)
            except RecursionError:
                raise WorldError(
                    f"A {kind} of {self.owner} must not be nested too deeply for JSON. Use a "
                    "flatter structure."
                ) from None
        try:
            written = own(value)
            json.dumps(written, allow_nan=False)
        except Exception as error:
            raise WorldError(
                f"{self.owner}.{kind}_to_json({shorten(value)}) must return JSON data; got the "
                f"error {type(error).__name__}: {error}. Return lists, dicts, strings and numbers."
            ) from error
        return written

    def _name(self, kind: type) -> str:
        if self.classes.get(kind.__name__) is not kind:
            raise WorldError(
                f"{self.owner} must declare the class {kind.__name__}, which its states or actions "
                f"use. Define it in the module of {self.owner}, list it in "
                f"{self.owner}.json_classes, or implement methods such as state_to_json and "
                "state_from_json."
            )
        return kind.__name__

    def _read(self, kind: str, data: Json) -> Any:
        own = self._from[kind]
        if own is None:
            try:
                return self._value(data, kind)
            except RecursionError:
                raise WorldError(
                    f"A {kind} must not be nested too deeply. Use a flatter structure."
                ) from None
        try:
            value = own(data)
            hash(value)
        except Exception as error:
            raise WorldError(
                f"{self.owner}.{kind}_from_json({shorten(data)}) raised "
                f"{type(error).__name__}: {error}. Correct the data or the method."
            ) from error
        return value

    def _value(self, data: Json, kind: str) -> Any:
        """Return a value from JSON in the default format (see `Codec`)."""
        sort = type(data)
        if sort in SCALARS or sort is float:
            return data
        if sort is list:
            return tuple(
                [each if type(each) in SCALARS else self._value(each, kind) for each in data]
            )
        if sort is not dict or len(data) != 1:
            raise WorldError(
                f"Objects in {kind}s of {self.owner} must have one key, the name of a class, "
                f'as in {{"State": {{"at": 3}}}}; got {shorten(data)}.'
            )
        [(name, content)] = data.items()
        if name in self.classes:
            return self._instance(self.classes[name], content, kind)
        try:
            if name == SET and type(content) is list:
                items = self._value(content, kind)
                _check_hashes(items, f"A set in a {kind}")
                return frozenset(items)
            if name == BYTES and type(content) is str:
                return base64.b64decode(content.encode("ascii"), validate=True)
            if name == FLOAT and content in ("inf", "-inf"):
                return float(content)
        except (binascii.Error, UnicodeEncodeError) as error:
            raise WorldError(
                f"`$bytes` must be valid base 64; got {shorten(data)} ({error}). Encode the bytes "
                "again."
            ) from error
        rules = {SET: "a list", BYTES: "a string in base 64", FLOAT: '"inf" or "-inf"'}
        if name in rules:
            raise WorldError(f"`{name}` must be {rules[name]}; got {shorten(content)} in a {kind}.")
        known = did_you_mean(name, self.classes) or (
            f" Define it in the module of {self.owner}, or list it in {self.owner}.json_classes."
        )
        raise WorldError(
            f"{self.owner} must define the class {name!r}, to which a {kind} refers.{known}"
        )

    def _instance(self, made: type[Any], content: Json, kind: str) -> Any:
        if issubclass(made, enum.Enum):
            return _member(made, content)
        mapping = issubclass(made, Mapping)
        try:
            if type(content) is dict:
                fields = {name: self._value(each, kind) for name, each in content.items()}
                return made(fields) if mapping else made(**fields)
            if mapping and type(content) is list:
                pairs = self._value(content, kind)
                _check_hashes([key for key, _ in pairs], f"A {made.__name__} in a {kind}")
                return made(dict(pairs))
        except WorldError:
            raise
        except Exception as error:
            known = () if mapping else _field_names(made)
            unknown = [each for each in content if each not in known] if known else []
            hint = did_you_mean(unknown[0], known) if unknown else ""
            raise WorldError(
                f"{shorten(content)} must describe a valid {made.__name__}: "
                f"{str(error).rstrip('.')}.{hint}"
            ) from error
        fields_shown = ", ".join(f'"{each}": …' for each in _field_names(made))
        raise WorldError(
            f"{made.__name__} must be written as an object of the form {{{fields_shown}}}; got "
            f"{shorten(content)}."
        )


def value_classes(environment: object) -> dict[str, type]:
    """Return the classes that an environment's values may have, by name.

    These are named tuples, frozen data classes, enumerations and hashable mappings. They must be
    listed in the environment's attribute `json_classes`, or defined inside its class or in the
    modules of its class and base classes. A wrapper such as `MemoryEnvironment` also has the
    classes of the environment that it wraps.

    >>> from typing import NamedTuple
    >>> class Yard:
    ...     class Robot(NamedTuple):
    ...         at: int
    >>> value_classes(Yard())["Robot"].__qualname__
    'Yard.Robot'
    """
    found: dict[str, type] = {}
    for each in getattr(environment, "json_classes", ()):
        if not is_value_class(each):
            raise WorldError(
                "Each of json_classes must be a named tuple, a frozen data class, an enumeration "
                f"or a hashable mapping; got {shorten(each)}. Remove it, or implement methods such "
                "as state_to_json and state_from_json."
            )
        found.setdefault(each.__name__, each)
    for namespace in _namespaces(environment):
        for each in list(namespace.values()):
            if is_value_class(each):
                found.setdefault(each.__name__, each)
    if isinstance(environment, Wrapper):
        return {**found, **value_classes(environment.environment)}
    return found


def _check_hashes(values: Sequence[Hashable], thing: str) -> None:
    """Raise an error if values have too many hash collisions for a set or dictionary."""
    most = EQUAL_HASHES.most
    if len(values) <= most:
        return
    hashes = [hash(each) for each in values]
    if len(values) - len(set(hashes)) < most:
        return
    # Equal values may share a hash at no cost; only different values count.
    crowded = {key: set[Hashable]() for key, count in Counter(hashes).items() if count > most}
    for key, value in zip(hashes, values, strict=True):
        if key in crowded:
            crowded[key].add(value)
            if len(crowded[key]) > most:
                raise EQUAL_HASHES.exceeded("more", WorldError, thing)


class _Hashes:
    """Counter of hash collisions, which raises an error if there are too many."""

    def __init__(self, thing: str) -> None:
        self._thing = thing
        self._first: dict[int, int] = {}
        self._others: dict[int, set[Hashable]] = {}

    def check(self, value: Hashable, text: str) -> None:
        """Count a collision if an earlier value has the same hash but another JSON `text`."""
        key, looks = hash(value), hash(text)
        if self._first.setdefault(key, looks) == looks:
            if len(self._first) > _COUNTED:
                self._first.clear()
            return
        others = self._others.setdefault(key, set())
        others.add(value)
        EQUAL_HASHES.check(len(others) + 1, WorldError, self._thing)


def _looks(data: Json) -> str:
    try:
        return repr(data)
    except RecursionError:
        return ""  # reading the content will raise the error


def _remember(known: dict[str, Any], key: str, value: Any) -> None:
    if len(key) <= _LONGEST_KEY:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = value


def _namespaces(environment: object) -> Iterator[Mapping[str, object]]:
    """Yield the namespaces that may define an environment's classes, nearest first."""
    kind = environment if isinstance(environment, type) else type(environment)
    homes = [each for each in kind.__mro__ if each.__module__ not in _PLAIN_MODULES]
    yield from map(vars, homes)
    seen: set[int] = set()
    for each in homes:
        module = sys.modules.get(each.__module__)
        # Functions refer to their globals even if the module is not in sys.modules (notebooks).
        for function in (*vars(each).values(), module):
            names = getattr(function, "__globals__" if function is not module else "__dict__", None)
            if names is not None and id(names) not in seen:
                seen.add(id(names))
                yield names


def _method(environment: object, name: str) -> Callable[[Any], Any] | None:
    found = getattr(environment, name, None)
    if found is not None and not callable(found):
        raise WorldError(
            f"{class_name(environment)}.{name} must be a method; got {shorten(found)}. Define it "
            "as a method, or remove it."
        )
    return found


def _member(made: type[enum.Enum], content: Json) -> enum.Enum:
    try:
        if issubclass(made, enum.Flag) and type(content) is int:
            return made(content)
        if type(content) is str:
            return made[content]
    except (KeyError, ValueError):
        pass
    hint = did_you_mean(content, made.__members__)
    raise WorldError(f"{made.__name__} has no member {shorten(content)}.{hint}")


def _field_names(made: type[Any]) -> tuple[str, ...]:
    if issubclass(made, tuple):
        return tuple(made._fields)  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(made):
        return tuple(field.name for field in dataclasses.fields(made) if field.init)
    return ()
