"""Homes: floors, areas, entities and timers, read from YAML and validated."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from groundling.errors import GroundlingError
from groundling.files import write_atomically
from groundling.home.plain_yaml import load_yaml
from groundling.limits import (
    HOME_ENTITIES,
    HOME_NAMES,
    NAME_CHARACTERS,
    PHRASE_TEXTS,
    SAID_CHARACTERS,
)
from groundling.world.environment import shorten

_ENTITY_ID = re.compile(r"[a-z0-9_]+\.\S.*")


class HomeError(GroundlingError, ValueError):
    """Error for a home that cannot be read or is inconsistent."""


@dataclass(frozen=True)
class Floor:
    """A floor of a home, with its alternative names (`aliases`)."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Area:
    """An area of a home, such as a room; `floor` is the id of its floor, or empty."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor: str = ""


@dataclass(frozen=True)
class Entity:
    """A device or service in a home; `area` is the id of its area, or empty.

    >>> lamp = Entity("light.desk", "Desk Lamp", attributes=(("brightness", 128),))
    >>> lamp.domain, lamp.attribute("brightness"), lamp.attribute("device_class")
    ('light', 128, None)
    """

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    area: str = ""
    state: str = ""
    attributes: tuple[tuple[str, Hashable], ...] = ()

    @cached_property
    def domain(self) -> str:
        """Domain: the part of the id before the dot."""
        return self.id.partition(".")[0]

    @property
    def device_class(self) -> str:
        """Value of the attribute `device_class`, or an empty string."""
        return str(self.attribute("device_class") or "")

    def attribute(self, name: str) -> Hashable:
        """Return the value of an attribute, or None if the entity does not have it."""
        return dict(self.attributes).get(name)


@dataclass(frozen=True)
class Timer:
    """A running or paused timer; times are in seconds."""

    name: str = ""
    area: str = ""
    start: int = 0
    left: int = 0
    is_active: bool = True


@dataclass(frozen=True)
class Phrase:
    """A household phrase, with the texts that it stands for."""

    phrase: str
    does: tuple[str, ...]


@dataclass(frozen=True)
class Home:
    """A home: floors, areas, entities and timers.

    Raises `HomeError` for duplicate ids and for references to unknown floors or areas.

    >>> Home(areas=(Area("hall", "Hall"),), entities=(Entity("light.a", "Lamp", area="hal"),))
    Traceback (most recent call last):
        ...
    groundling.home.home.HomeError: The area of entity 'light.a' must be one of 'hall'; got 'hal'.
    Correct it, or add the area.
    """

    floors: tuple[Floor, ...] = ()
    areas: tuple[Area, ...] = ()
    entities: tuple[Entity, ...] = ()
    timers: tuple[Timer, ...] = ()
    language: str = field(default="", compare=False)
    phrases: tuple[Phrase, ...] = ()

    def __post_init__(self) -> None:
        if not self.entities:
            raise HomeError(
                "A home must have at least one entity; got none. Add one under `entities:`."
            )
        HOME_ENTITIES.check(len(self.entities), HomeError, "A home")
        named: list[Floor | Area | Entity] = [*self.floors, *self.areas, *self.entities]
        HOME_NAMES.check(sum(1 + len(each.aliases) for each in named), HomeError, "A home")
        floors = _unique("floor", self.floors)
        areas = _unique("area", self.areas)
        _unique("entity", self.entities)
        for area in self.areas:
            _known(f"The floor of area {area.id!r}", area.floor, floors, "floor")
        for entity in self.entities:
            if not _ENTITY_ID.fullmatch(entity.id):
                raise HomeError(
                    "The id of an entity must be a domain and a name separated by a dot, such as "
                    f"'light.kitchen'; got {shorten(entity.id)}."
                )
            _known(f"The area of entity {entity.id!r}", entity.area, areas, "area")
        for number, timer in enumerate(self.timers, 1):
            _known(f"The area of timer {number}", timer.area, areas, "area")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.floors, self.areas, self.entities, self.timers, self.phrases))

    @cached_property
    def area_of(self) -> Mapping[str, Area]:
        """Areas by id."""
        return {each.id: each for each in self.areas}

    @cached_property
    def floor_of(self) -> Mapping[str, Floor]:
        """Floors by id."""
        return {each.id: each for each in self.floors}

    @cached_property
    def entity_of(self) -> Mapping[str, Entity]:
        """Entities by id."""
        return {each.id: each for each in self.entities}

    @cached_property
    def phrase_of(self) -> Mapping[str, Phrase]:
        """Household phrases, by the ids of their script entities."""
        return {f"script.phrase_{place}": each for place, each in enumerate(self.phrases)}

    def with_phrases(self) -> Home:
        """Return the home with a script entity added for each household phrase."""
        taught = {id_: Entity(id_, each.phrase) for id_, each in self.phrase_of.items()}
        others = tuple(each for each in self.entities if each.id not in taught)
        return replace(self, entities=(*others, *taught.values())) if taught else self

    def floor_id(self, entity: Entity) -> str:
        """Return the id of the floor that an entity is on, or an empty string."""
        return self.area_of[entity.area].floor if entity.area else ""

    @classmethod
    def from_data(cls, data: object, where: str = "The home") -> Home:
        """Return a home from a mapping in the format of the YAML file.

        >>> home = Home.from_data({
        ...     "areas": [{"id": "kitchen", "name": "Kitchen"}],
        ...     "entities": [{"id": "light.lamp", "name": "Lamp", "state": True}],
        ... })
        >>> home.entities[0].state, home.area_of["kitchen"].name
        ('on', 'Kitchen')
        """
        if not isinstance(data, Mapping):
            raise HomeError(
                f"{where} must be a mapping with `entities`; got {_shown(data)}. See the page on "
                "homes for an example."
            )
        try:
            return cls(
                floors=tuple(_floor(each) for each in _rows(data, "floors")),
                areas=tuple(_area(each) for each in _rows(data, "areas")),
                entities=tuple(_entity(each) for each in _rows(data, "entities")),
                timers=tuple(_timer(each) for each in _rows(data, "timers")),
                language=str(data.get("language") or ""),
                phrases=tuple(_phrase(each) for each in _rows(data, "phrases")),
            )
        except HomeError as error:
            raise HomeError(f"{where}: {error}") from None


def read_home(path: str | Path) -> Home:
    """Return the home in a YAML file or in a folder exported from Home Assistant.

    A YAML file lists `floors`, `areas` and `entities`. An exported folder has the registries of
    Home Assistant (`.storage`). Taught phrases are read from a file next to the home (see
    `teach_phrase`).

    >>> read_home("nowhere.yaml")
    Traceback (most recent call last):
        ...
    groundling.home.home.HomeError: nowhere.yaml cannot be read: No such file or directory. Check
    the path.
    """
    from groundling.home.export import read_export

    place = Path(path)
    home = (
        read_export(place)
        if os.path.isdir(place)  # also False for a name that no file can have
        else Home.from_data(load_yaml(path, HomeError), str(path))
    )
    taught = phrases_path(place)
    if not os.path.isfile(taught):
        return home
    data = load_yaml(taught, HomeError)
    if not isinstance(data, Mapping):
        raise HomeError(f"{taught} must be a mapping with `phrases`; got {_shown(data)}.")
    try:
        more = tuple(_phrase(each) for each in _rows(data, "phrases"))
    except HomeError as error:
        raise HomeError(f"{taught}: {error}") from None
    return replace(home, phrases=(*home.phrases, *more))


def phrases_path(path: str | Path) -> Path:
    """Return the path of the file that stores the taught phrases of a home.

    >>> print(phrases_path("my_home.yaml"))
    my_home.phrases.yaml
    """
    place = Path(path)
    return place / "phrases.yaml" if os.path.isdir(place) else place.with_suffix(".phrases.yaml")


def teach_phrase(path: str | Path, phrase: str, does: Sequence[str]) -> Path:
    """Add a phrase to the file of taught phrases, and return the path of the file.

    If the phrase exists, its meaning is replaced. The file of the home itself is not changed.
    """
    home = read_home(path)
    new = _phrase({"phrase": phrase, "does": list(does)})
    kept = [each for each in home.phrases if each.phrase.lower() != new.phrase.lower()]
    rows = [{"phrase": each.phrase, "does": list(each.does)} for each in (*kept, new)]
    target = phrases_path(path)
    written = json.dumps({"phrases": rows}, ensure_ascii=False, indent=1)  # JSON is valid YAML
    write_atomically(target, written + "\n")
    return target


def _shown(value: object) -> str:
    """Return a short form of a value, or the name of its type, for an error message."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return shorten(value)
    return f"a {type(value).__name__}"


def _rows(data: Mapping[Any, Any], name: str) -> list[Mapping[str, Any]]:
    rows = data.get(name)
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise HomeError(f"`{name}` must be a list; got {_shown(rows)}.")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise HomeError(f"Item {number} of `{name}` must be a mapping; got {_shown(row)}.")
    return rows


def _text(row: Mapping[str, Any], key: str, what: str, *, default: str | None = None) -> str:
    value = row.get(key, default)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and (value.strip() or default is not None):
        return value.strip()
    if value is None and default is not None:
        return default
    raise HomeError(f"`{key}` of {what} must be a string; got {_shown(value)}.")


def _names(row: Mapping[str, Any], what: str) -> tuple[str, tuple[str, ...]]:
    aliases = row.get("aliases") or []
    if not isinstance(aliases, list) or not all(isinstance(each, str) for each in aliases):
        raise HomeError(f"`aliases` of {what} must be a list of strings; got {_shown(aliases)}.")
    name = _text(row, "name", what)
    for each in (name, *aliases):
        NAME_CHARACTERS.check(len(each), HomeError, f"A name of {what}")
    return name, tuple(each.strip() for each in aliases if each.strip())


def _floor(row: Mapping[str, Any]) -> Floor:
    id_ = _text(row, "id", "a floor")
    return Floor(id_, *_names(row, f"floor {id_!r}"))


def _area(row: Mapping[str, Any]) -> Area:
    id_ = _text(row, "id", "an area")
    what = f"area {id_!r}"
    return Area(id_, *_names(row, what), floor=_text(row, "floor", what, default=""))


def _entity(row: Mapping[str, Any]) -> Entity:
    id_ = _text(row, "id", "an entity")
    what = f"entity {id_!r}"
    attributes = row.get("attributes") or {}
    if not isinstance(attributes, Mapping):
        raise HomeError(f"`attributes` of {what} must be a mapping; got {_shown(attributes)}.")
    return Entity(
        id_,
        *_names(row, what),
        area=_text(row, "area", what, default=""),
        state=state_text(row.get("state"), what),
        attributes=tuple(
            sorted(
                ((str(name), _value(value, str(name), what)) for name, value in attributes.items()),
                key=lambda pair: pair[0],
            )
        ),
    )


def _phrase(row: Mapping[str, Any]) -> Phrase:
    name = _text(row, "phrase", "a phrase")
    does = row.get("does")
    listed = [does] if isinstance(does, str) else does
    if not isinstance(listed, list) or not listed or not all(isinstance(e, str) for e in listed):
        raise HomeError(
            f"`does` of the phrase {name!r} must be a string or a list of strings; got "
            f"{_shown(does)}."
        )
    what = f"The phrase {shorten(name)}"
    PHRASE_TEXTS.check(len(listed), HomeError, what)
    for text in (name, *listed):
        SAID_CHARACTERS.check(len(text), HomeError, what)
        if not any(map(str.isalnum, text)) or not text.isprintable():
            raise HomeError(
                "A phrase and each of its meanings must contain a letter or digit, and no control "
                f"characters; got {shorten(text)}."
            )
    return Phrase(name, tuple(each.strip() for each in listed))


def _timer(row: Mapping[str, Any]) -> Timer:
    def seconds(prefix: str, suffix: str) -> int:
        units = {"hours": 3600, "minutes": 60, "seconds": 1}
        parts = [(row.get(f"{prefix}{unit}{suffix}", 0), size) for unit, size in units.items()]
        wrong = [n for n, _ in parts if isinstance(n, bool) or not isinstance(n, int) or n < 0]
        if wrong:
            raise HomeError(
                "The hours, minutes and seconds of a timer must be whole numbers >= 0; got "
                f"{_shown(wrong[0])}."
            )
        return sum(n * size for n, size in parts)

    return Timer(
        name=_text(row, "name", "a timer", default=""),
        area=_text(row, "area", "a timer", default=""),
        start=seconds("start_", ""),
        left=seconds("rounded_", "_left"),
        is_active=row.get("is_active", True) is not False,
    )


def state_text(value: object, what: str) -> str:
    """Return the state of an entity as text; Booleans become `on` and `off`.

    YAML reads an unquoted `on` or `off` as a Boolean.
    """
    if isinstance(value, Mapping):  # corpus fixtures have a spoken and a stored form
        value = value.get("out")
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return ""
    if isinstance(value, (str, int, float)):
        return str(value)
    raise HomeError(f"`state` of {what} must be a string or a number; got {_shown(value)}.")


def _value(value: object, name: object, what: str) -> Hashable:
    if isinstance(value, list) and all(isinstance(e, (str, int, float)) for e in value):
        return tuple(value)
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    raise HomeError(
        f"The attribute {name!r} of {what} must be a string, a number, a Boolean or a list of "
        f"these; got {_shown(value)}."
    )


def _unique(what: str, things: Iterable[Floor | Area | Entity]) -> set[str]:
    seen: set[str] = set()
    for each in things:
        if each.id in seen:
            raise HomeError(
                f"The id of each {what} must be unique; got {each.id!r} twice. Change one of them."
            )
        seen.add(each.id)
    return seen


def _known(what: str, id_: str, known: set[str], kind: str) -> None:
    if id_ and not known:
        raise HomeError(
            f"{what} must be empty, because the home has no {kind}; got {id_!r}. Add the {kind}."
        )
    if id_ and id_ not in known:
        shown = ", ".join(map(repr, sorted(known)[:8]))
        raise HomeError(
            f"{what} must be one of {shown}; got {id_!r}. Correct it, or add the {kind}."
        )
