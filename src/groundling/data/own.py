"""One's own world and demonstrations, as commands take them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from groundling.data.codec import Json
from groundling.data.lines import parse_json
from groundling.data.records import Demonstrations
from groundling.data.worlds import KnownWorld, Worlds
from groundling.errors import DemonstrationError, WorldError
from groundling.world.environment import Demonstration, State

__all__ = ["OwnWorld", "folds", "names_world", "open_world"]


def names_world(name: str) -> bool:
    """Tell whether a word of a command names a world of one's own, rather than a task.

    >>> names_world("my_world.py:Kitchen"), names_world("mazes")
    (True, False)
    """
    place = name.partition("{")[0]
    return ":" in place or place.endswith(".py")


@dataclass(frozen=True)
class OwnWorld:
    """A world by name, and its demonstrations, if there are any.

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
    groundling.errors.WorldError: There is no state to begin in. Give a start as JSON, give
    demonstrations, or write initial_state in Lamp.
    """

    worlds: Worlds
    demonstrations: Demonstrations | None = None

    def begin(self, start: str | None = None) -> tuple[KnownWorld, State]:
        """Return a world, and a state in it to begin in.

        `start` is JSON. Without it the environment's `initial_state` is taken, or else where
        the first demonstration begins.
        """
        if start is not None:
            data: Json = parse_json(start.strip(), "Write the start as JSON, such as '[3, 4]'.")
            world = self.worlds.get()
            return world, world.codec.state_from_json(data)
        try:
            world = self.worlds.get()
        except WorldError:
            if self.demonstrations is None:
                raise
            world = self._first()[0]  # made with the arguments of the record
        make: Any = getattr(world.environment, "initial_state", None)
        if make is None and self.demonstrations is not None:
            return self._first()
        if make is None:
            raise WorldError(
                "There is no state to begin in. Give a start as JSON, give demonstrations, or "
                f"write initial_state in {world.codec.owner}."
            )
        try:
            state = make()
            hash(state)
        except Exception as error:
            raise WorldError(
                f"{world.codec.owner}.initial_state() raised {type(error).__name__}: {error}."
            ) from error
        return world, state

    def _first(self) -> tuple[KnownWorld, State]:
        """Return where the first demonstration begins."""
        for shown in self.demonstrations or ():
            known = self.worlds.name_of(shown.environment)
            assert known is not None  # it was made here a moment ago
            return self.worlds.get(*known), shown.start
        raise DemonstrationError("There is no demonstration in the files.")


def open_world(
    world: str,
    files: Sequence[str | PathLike[str]] = (),
    *,
    skip_bad: bool = False,
    check: bool = False,
) -> OwnWorld:
    """Return a world by its name, and the demonstrations in files; nothing is read yet.

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
    """Return ways to split demonstrations into some to learn from and some to be tested on.

    Demonstrations of one group stay together; one without a group is a group by itself. Every
    demonstration is tested on once. The same seed gives the same parts.

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
            f"{len(groups)} groups of demonstrations cannot be split into {parts} parts. Take 2 "
            "parts or more, and give demonstrations of 2 groups or more."
        )
    order = list(groups.values())
    random.Random(seed).shuffle(order)
    order.sort(key=len, reverse=True)  # large groups first, each to the smallest part so far
    tested: list[list[int]] = [[] for _ in range(min(parts, len(groups)))]
    for members in order:
        min(tested, key=len).extend(members)
    found = []
    for part in tested:
        chosen = set(part)
        learn = [each for place, each in enumerate(listed) if place not in chosen]
        found.append((learn, [listed[place] for place in sorted(part)]))
    return found
