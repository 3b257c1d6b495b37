"""Records of demonstration files: their fields, and how to read and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from groundling.data.canonical import Json
from groundling.data.codec import Codec
from groundling.data.worlds import KnownWorld, Worlds
from groundling.errors import DemonstrationError, GroundlingError, check_known
from groundling.language.instruction import Instruction, SentenceLabel
from groundling.limits import TEXT_CHARACTERS
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import (
    MOST_WEIGHT,
    Demonstration,
    Environment,
    Wrapper,
    shorten,
)
from groundling.world.graph import MOST_NUMBER

FORMAT, VERSION = "groundling-demonstrations", 1

FIELDS = (
    "text", "instructions", "world", "start", "actions", "also", "negative_starts", "weight",
    "group", "turn", "name", "note",
)  # fmt: skip
"""The fields of a record; a header has the fields `format` and `version` instead."""

_FIELDS = frozenset(FIELDS)
_TREE = ("tokens", "heads", "relations", "tags", "text", "labels")
_CHECKED = 20_000
_LABEL = ("name", "amount", "kind", "value")


class _Turn(NamedTuple):
    """The previous turn of a conversation; the next turn may start where it ends."""

    file: str
    group: str
    turn: int
    world: KnownWorld
    demonstration: Demonstration


class RecordReader:
    """Converter of records to demonstrations; pass records in the order of their file.

    Parameters
    ----------
    worlds
        The worlds that records may refer to.
    check
        Whether to execute every plan, so that impossible plans raise an error.

    Examples
    --------
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): ...
    >>> reader = RecordReader(Worlds(Lamp))
    >>> shown = reader.read({"text": "light it", "start": "off", "actions": ["on"]}, "a.jsonl", 1)
    >>> shown.actions, str(shown)
    (('on',), "The demonstration 'a.jsonl:1'")
    >>> reader.read({"text": "light it", "strat": "off", "actions": ["on"]}, "a.jsonl", 2)
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: A record has no field 'strat'. Did you mean 'start'?
    """

    def __init__(self, worlds: Worlds, check: bool = False) -> None:
        self.worlds = worlds
        self.check = check
        self._named: Json = self  # the name of the world in the previous record
        self._world: KnownWorld | None = None
        self._before: _Turn | None = None
        self._seen: CachedEnvironment | None = None
        self._checked = 0

    def read(self, record: dict[str, Json], file: str, number: int) -> Demonstration:
        """Return the demonstration that a record describes."""
        before, self._before = self._before, None
        if not record.keys() <= _FIELDS:
            for each in record:
                check_known(each, FIELDS, "A record has no field", DemonstrationError)
        group = _string(record, "group")
        carried: _Turn | None = None
        if "turn" in record:
            turn = record["turn"]
            if type(turn) is not int or turn < 1 or not group:
                raise DemonstrationError(
                    f"`turn` must be a whole number >= 1 in a record with a `group`; got "
                    f"{shorten(turn)} in the group {group!r}."
                )
            if before is not None and before[:3] == (file, group, turn - 1):
                carried = before
        world = self._find_world(record, carried)
        if "start" in record:
            start = world.codec.state_from_json(record["start"])
        else:
            start = _carried_on(record, carried)
        if "actions" not in record:
            raise DemonstrationError("A record must have `actions`. Add them as a list.")
        negative_starts = _listed(record, "negative_starts")
        shown = Demonstration(
            _text(record),
            world.environment,
            start,
            world.codec.actions_from_json(record["actions"]),
            _weight(record),
            _string(record, "name") or f"{file}:{number}",
            tuple([world.codec.actions_from_json(each) for each in _listed(record, "also")]),
            group,
            tuple([world.codec.state_from_json(each) for each in negative_starts]),
        )
        if self.check:
            self._carry_out(shown)
        if "turn" in record:
            self._before = _Turn(file, group, record["turn"], world, shown)
        return shown

    def _carry_out(self, shown: Demonstration) -> None:
        seen = self._seen
        # The cache of a world grows with every state, so drop it regularly.
        if seen is None or seen.environment is not shown.environment or self._checked >= _CHECKED:
            self._seen = seen = CachedEnvironment(shown.environment)
            self._checked = 0
        self._checked += 1
        seen.trace(shown.start, shown.actions, "The plan")  # also creates the graphs, as `fit` does
        for plan in shown.also:
            seen.trace(shown.start, plan, "A plan in also")

    def _find_world(self, record: Mapping[str, Json], carried: _Turn | None) -> KnownWorld:
        named = record.get("world")
        if named is None and carried is not None:
            return carried.world
        if self._world is None or named != self._named:  # most records name the same world
            if named is None or type(named) is str:
                self._world = self.worlds.get(named or "")
            elif type(named) is dict and len(named) == 1:
                [(name, arguments)] = named.items()
                if type(arguments) is not dict:
                    raise DemonstrationError(
                        f"The arguments of the world {name!r} must be an object, as in "
                        f'{{"{name}": {{"size": 3}}}}; got {shorten(arguments)}.'
                    )
                self._world = self.worlds.get(name, arguments)
            else:
                raise DemonstrationError(
                    "`world` must be a name, or a name with arguments as in "
                    f'{{"Kitchen": {{"size": 3}}}}; got {shorten(named)}.'
                )
            self._named = named
        return self._world


def _carried_on(record: Mapping[str, Json], carried: _Turn | None) -> Any:
    """Return the state at the end of the previous turn."""
    if "turn" not in record or record["turn"] == 1:
        raise DemonstrationError("A record must have a `start`. Add the initial state.")
    if carried is None:
        raise DemonstrationError(
            f"Turn {record['turn']} of {record['group']!r} must have a `start` or follow turn "
            f"{record['turn'] - 1}, which is missing or invalid. Add a start, or put all turns "
            "in order into one file."
        )
    shown = carried.demonstration
    world = CachedEnvironment(shown.environment)
    end = world.carry_out(shown.start, shown.actions, str(shown))[-1]
    environment: Any = shown.environment
    if isinstance(environment, Wrapper) and hasattr(environment, "listen"):
        return environment.listen(end, shown.instructions)  # stores the text in the state
    return end


def _text(record: Mapping[str, Json]) -> str | Instruction | tuple[str | Instruction, ...]:
    text = record.get("text")
    parsed = record.get("instructions")
    if (text is None) == (parsed is None):
        have = "neither" if text is None else "both"
        raise DemonstrationError(f"A record must have either `text` or `instructions`; got {have}.")
    if text is not None:
        return _sentence(text, "`text`")
    if type(parsed) is dict:
        return _tree(parsed)
    if type(parsed) is not list or not parsed:
        raise DemonstrationError(
            "`instructions` must be a list of sentences, each a string or an object with tokens, "
            f"heads and relations; got {shorten(parsed)}."
        )
    return tuple(
        _tree(each) if type(each) is dict else _sentence(each, "A sentence") for each in parsed
    )


def _sentence(text: Json, what: str) -> str:
    if type(text) is not str:
        raise DemonstrationError(f"{what} must be a string; got {shorten(text)}.")
    if not text or text.isspace():
        raise DemonstrationError(
            f"{what} must have at least one word; got none. Add text, or remove the record."
        )
    TEXT_CHARACTERS.check(len(text), DemonstrationError, what)
    return text


def _tree(data: dict[str, Json]) -> Instruction:
    for each in data:
        check_known(each, _TREE, "A parsed sentence has no field", DemonstrationError)
    read: dict[str, Any] = {}
    for name, kind in (("tokens", str), ("heads", int), ("relations", str), ("tags", str)):
        found = data.get(name, [] if name == "tags" else None)
        if type(found) is not list or any(type(each) is not kind for each in found):
            wanted = "strings" if kind is str else "whole numbers"
            raise DemonstrationError(
                f"`{name}` of a parsed sentence must be a list of {wanted}; got {shorten(found)}."
            )
        read[name] = tuple(found)
    text = data.get("text", "")
    labels = data.get("labels", [])
    if type(text) is not str:
        raise DemonstrationError(
            f"`text` of a parsed sentence must be a string; got {shorten(text)}."
        )
    if type(labels) is not list:
        raise DemonstrationError(
            f"`labels` of a parsed sentence must be a list; got {shorten(labels)}."
        )
    return Instruction(**read, text=text, labels=tuple(map(_label, labels)))


def _label(data: Json) -> SentenceLabel:
    if (
        type(data) is not dict
        or not data.keys() <= set(_LABEL)
        or type(data.get("name")) is not str
        or type(data.get("kind", "")) is not str
        or type(data.get("amount", 1.0)) not in (int, float)
        or type(data.get("value")) not in (str, int, float, type(None))
        or any(
            type(each) is not str and abs(each) > MOST_NUMBER
            for each in (data.get("amount", 1.0), data.get("value") or 0)
        )
    ):
        raise DemonstrationError(
            "A label of a sentence must be an object with `name` and optionally `amount`, `kind` "
            f"and `value`, and its numbers must not exceed {MOST_NUMBER:g}; got {shorten(data)}."
        )
    return SentenceLabel(**data)


def _string(record: Mapping[str, Json], name: str) -> str:
    found = record.get(name, "")
    if type(found) is not str:
        raise DemonstrationError(f"`{name}` must be a string; got {shorten(found)}.")
    return found


def _weight(record: Mapping[str, Json]) -> float:
    weight = record.get("weight", 1.0)
    if type(weight) not in (int, float) or not 0 <= weight <= MOST_WEIGHT:
        raise DemonstrationError(
            f"`weight` must be a number from 0 to {MOST_WEIGHT:g}; got {shorten(weight)}."
        )
    return float(weight)


def _listed(record: Mapping[str, Json], name: str) -> Sequence[Json]:
    found = record.get(name)
    if found is None:
        return ()
    if type(found) is not list:
        raise DemonstrationError(f"`{name}` must be a list; got {shorten(found)}.")
    return found


def record_of(
    shown: Demonstration,
    codec: Codec,
    name_world: Callable[[Environment], tuple[str, Mapping[str, Any]]],
) -> dict[str, Json]:
    """Return a demonstration as a record; fields with default values are left out.

    >>> shown = Demonstration("light it", object(), "off", ("on",))
    >>> record_of(shown, Codec(shown.environment), lambda environment: ("Lamp", {}))
    {'text': 'light it', 'world': 'Lamp', 'start': 'off', 'actions': ['on']}
    """
    said = shown.instructions
    record: dict[str, Json] = {}
    if isinstance(said, str):
        record["text"] = said
    elif isinstance(said, Instruction):
        record["instructions"] = _written(said)
    else:
        record["instructions"] = [e if isinstance(e, str) else _written(e) for e in said]
    name, arguments = name_world(shown.environment)
    record["world"] = {name: dict(arguments)} if arguments else name
    try:
        record["start"] = codec.state_to_json(shown.start)
        record["actions"] = codec.actions_to_json(shown.actions)
        if shown.also:
            record["also"] = [codec.actions_to_json(each) for each in shown.also]
        if shown.negative_starts:
            record["negative_starts"] = [
                codec.state_to_json(each) for each in shown.negative_starts
            ]
    except GroundlingError as error:
        raise DemonstrationError(f"{shown} cannot be written: {error}") from error
    for field, default in (("weight", 1.0), ("group", ""), ("name", "")):
        if getattr(shown, field) != default:
            record[field] = getattr(shown, field)
    return record


def _written(sentence: Instruction) -> dict[str, Json]:
    data: dict[str, Json] = {
        "tokens": list(sentence.tokens),
        "heads": list(sentence.heads),
        "relations": list(sentence.relations),
    }
    if any(sentence.tags):
        data["tags"] = list(sentence.tags)
    if sentence.text != " ".join(sentence.tokens):
        data["text"] = sentence.text
    if sentence.labels:
        data["labels"] = [label._asdict() for label in sentence.labels]
    return data
