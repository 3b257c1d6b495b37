"""User-defined worlds and demonstrations, as they are named on the command line."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from groundling.data.codec import Codec
from groundling.data.lines import parse_json
from groundling.data.records import Demonstrations
from groundling.data.worlds import KnownWorld, Worlds
from groundling.errors import DemonstrationError, GroundlingError, WorldError, did_you_mean
from groundling.world.environment import Demonstration, State

_STARTS = ("starts", "initial_state", "start")
_MOST_STARTS = 200


def names_world(name: str) -> bool:
    """Return whether an argument names a user-defined world rather than a task.

    >>> names_world("my_world.py:Kitchen"), names_world("mazes")
    (True, False)
    """
    place = name.partition("{")[0]
    return ":" in place or place.endswith((".py", ".json"))


def tells_start(environment: object) -> bool:
    """Return whether an environment defines initial states (see `starts_of`)."""
    return any(hasattr(environment, name) for name in _STARTS)


def starts_of(environment: Any, title: str) -> list[tuple[str, State]]:
    """Return the initial states of an environment with their names.

    An environment defines a single initial state by a method `initial_state()` or an attribute
    `start`, and several initial states by an attribute `starts`, which is a list of states or a
    mapping from names to states. `start` and `starts` may also be methods.

    >>> class Hall:
    ...     def initial_state(self): return 3
    >>> starts_of(Hall(), "Hall")
    [('Hall', 3)]
    >>> starts_of(object(), "Yard")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Yard must define an initial state. Add a method
    initial_state() that returns one.
    """
    try:
        for name in _STARTS:
            if not hasattr(environment, name):
                continue
            found = getattr(environment, name)
            found = found() if callable(found) else found
            if name != "starts":
                return [(title, _hashable(found))]
            pairs = found.items() if isinstance(found, Mapping) else enumerate(found, 1)
            named = [
                (each if isinstance(each, str) else f"{title} {each}", _hashable(state))
                for each, state in pairs
            ]
            if named:
                return named[:_MOST_STARTS]
    except GroundlingError:
        raise
    except Exception as error:
        raise WorldError(
            f"{title}.{name} raised {type(error).__name__}: {error}. Correct {name}."
        ) from error
    raise WorldError(
        f"{title} must define an initial state. Add a method initial_state() that returns one."
    )


def _named_start(world: KnownWorld, start: str) -> State:
    """Return an initial state that is given by its name or as JSON."""
    named: dict[str, State] = {}
    if hasattr(world.environment, "starts"):
        named = dict(starts_of(world.environment, world.codec.owner))
    if start in named:
        return named[start]
    cure = "Pass the initial state as JSON, such as '[3, 4]'."
    if named:
        cure = f"Pass the initial state as JSON or by name.{did_you_mean(start, named)}"
    state: State = world.codec.state_from_json(parse_json(start, cure))
    return state


def _hashable(state: State) -> State:
    hash(state)
    return state


@dataclass(frozen=True)
class OwnWorld:
    """A user-defined world, with demonstrations if files were given.

    Examples
    --------
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): ...
    >>> own = OwnWorld(Worlds(Lamp))
    >>> own.begin('"off"')[1]
    'off'
    >>> own.begin()
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Lamp must define an initial state. Pass a start as JSON, pass
    demonstrations, or add a method initial_state() to it.
    """

    worlds: Worlds
    demonstrations: Demonstrations | None = None

    def begin(
        self, start: str | None = None, *, as_shown: bool = False
    ) -> tuple[KnownWorld, State]:
        """Return the world and its initial state.

        `start` is a state as JSON or the name of one of the world's `starts`. By default, the
        initial state of the world is used (see `starts_of`) or, if the world defines none, that of
        the first demonstration. With `as_shown`, the world and the initial state of the first
        demonstration are always used.
        """
        first = self._first() if as_shown and self.demonstrations is not None else None
        try:
            world = self.worlds.get() if first is None else first[0]
        except WorldError:
            if self.demonstrations is None:
                raise
            world = self._first()[0]  # with the arguments in the record
        if start is not None:
            return world, _named_start(world, start.strip())
        if first is not None:
            return first
        if tells_start(world.environment):
            return world, starts_of(world.environment, world.codec.owner)[0][1]
        if self.demonstrations is not None:
            return self._first()
        raise WorldError(
            f"{world.codec.owner} must define an initial state. Pass a start as JSON, pass "
            "demonstrations, or add a method initial_state() to it."
        )

    @cached_property
    def listed(self) -> list[Demonstration]:
        """All demonstrations, as a list that is read from the files only once."""
        return list(self.demonstrations or ())

    def codec_of(self, environment: object) -> Codec:
        """Return the codec of an environment that belongs to these demonstrations."""
        known = self.worlds.name_of(environment)
        assert known is not None  # the environment was created by `worlds`
        return self.worlds.get(*known).codec

    def _first(self) -> tuple[KnownWorld, State]:
        """Return the world and initial state of the first demonstration."""
        for shown in self.demonstrations or ():
            known = self.worlds.name_of(shown.environment)
            assert known is not None  # the environment was created by `worlds`
            return self.worlds.get(*known), shown.start
        raise DemonstrationError(
            "The files must contain at least one demonstration; got none. Add a record."
        )


def open_world(
    world: str,
    files: Sequence[str | PathLike[str]] = (),
    *,
    skip_bad: bool = False,
    check: bool = False,
) -> OwnWorld:
    """Return the world with a given name; demonstration files are read on first use.

    >>> open_world("my_world.py:Kitchen").worlds.names
    ('Kitchen',)
    """
    worlds = Worlds(world)
    if not files:
        return OwnWorld(worlds)
    return OwnWorld(worlds, Demonstrations.read(files, worlds, skip_bad=skip_bad, check=check))


def folds(
    demonstrations: Iterable[Demonstration], parts: int = 5, *, seed: int = 0
) -> list[tuple[list[Demonstration], list[Demonstration]]]:
    """Return cross-validation folds as (training, test) pairs of demonstrations.

    Demonstrations with the same `group` stay in the same fold; a demonstration without a group
    is a group of its own. Each demonstration is in exactly one test set. The same seed gives the
    same folds.

    >>> shown = [Demonstration(str(n), object(), 0, (), group="ab"[n % 2]) for n in range(4)]
    >>> for learn, test in folds(shown, 2):
    ...     print([each.instructions for each in learn], [each.instructions for each in test])
    ['1', '3'] ['0', '2']
    ['0', '2'] ['1', '3']
    """
    listed = list(demonstrations)
    groups: dict[object, list[int]] = {}
    for place, each in enumerate(listed):
        groups.setdefault(each.group or place, []).append(place)
    if parts < 2 or len(groups) < 2:
        raise DemonstrationError(
            f"Cross-validation must have at least 2 folds and 2 groups of demonstrations; got "
            f"{parts} and {len(groups)}. Use at least 2 folds, and add demonstrations of another "
            "group."
        )
    order = list(groups.values())
    random.Random(seed).shuffle(order)
    order.sort(key=len, reverse=True)  # assign large groups first, each to the smallest fold
    tested: list[list[int]] = [[] for _ in range(min(parts, len(groups)))]
    for members in order:
        min(tested, key=len).extend(members)
    found = []
    for part in tested:
        chosen = set(part)
        learn = [each for place, each in enumerate(listed) if place not in chosen]
        found.append((learn, [listed[place] for place in sorted(part)]))
    return found
