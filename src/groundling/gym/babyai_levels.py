"""BabyAI levels of MiniGrid as worlds with macro-actions and a teacher."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from groundling.errors import SettingError, WorldError, did_you_mean
from groundling.gym.episode import ActionChoice, Episode, MacroAction
from groundling.gym.grid import (
    GONE,
    HEADINGS,
    INSIDE,
    MOVES,
    OPEN,
    PORTABLE,
    GridReader,
    GridState,
    step,
)
from groundling.gym.grid_planner import moves_for
from groundling.gym.objects import ObjectWorld, sides
from groundling.gym.optional import require
from groundling.gym.verbs import Verb
from groundling.world.environment import Demonstration
from groundling.world.graph import Labels

Said = tuple[str, tuple[frozenset[int], ...], bool]
"""A macro-action: its verb, the acceptable things for each role, and its `earlier` mark."""


def levels() -> tuple[str, ...]:
    """Return the names of all BabyAI levels of MiniGrid.

    >>> "GoToLocal" in levels()
    True
    """
    registry = _registry()
    found = dict.fromkeys(_short(each) for each in registry if each.startswith("BabyAI-"))
    return tuple(found)


def babyai(level: str, *, actions: str = "macro", view: str = "full") -> Any:
    """Return a BabyAI level by name, such as `GoToLocal` or `BabyAI-GoToLocal-v0`.

    With `actions="macro"`, plans consist of macro-actions (go to, pick up, open, put next to),
    which a planner turns into moves. With `"primitive"`, plans consist of the simulator's own
    moves, which suits small levels (see `PrimitiveBabyAI`). With `view="partial"`, the agent knows
    only the cells that it has seen (see `PartialBabyAI`).

    >>> level = babyai("GoToLocal")
    >>> [demonstration] = level.record([0])
    >>> print(demonstration.instructions, *demonstration.actions)
    ('go to the green ball',) go to the green ball
    """
    full = _find(level)
    if actions not in ("macro", "primitive"):
        raise SettingError(f"`actions` must be 'macro' or 'primitive'; got {actions!r}.")
    if view not in ("full", "partial"):
        raise SettingError(f"`view` must be 'full' or 'partial'; got {view!r}.")
    if actions == "primitive":
        from groundling.gym.primitive import PrimitiveBabyAI

        if view == "partial":
            raise SettingError(
                "actions='primitive' must not be combined with view='partial'. Use view='full'."
            )
        return PrimitiveBabyAI(full)
    if view == "partial":
        from groundling.gym.belief import PartialBabyAI

        return PartialBabyAI(full)
    return BabyAI(full)


def _registry() -> Mapping[str, Any]:
    require("minigrid")
    found: Mapping[str, Any] = require("gymnasium").registry
    return found


def _short(name: str) -> str:
    return name.removeprefix("BabyAI-").rpartition("-v")[0]


def _find(level: str) -> str:
    registry = _registry()
    if level in registry:
        return level
    for full in registry:
        if full.startswith("BabyAI-") and level in (_short(full), full.removeprefix("BabyAI-")):
            return full
    raise SettingError(
        f"`level` must be a BabyAI level; got {level!r}.{did_you_mean(level, levels())}"
    )


class BabyAI(ObjectWorld):
    """A BabyAI level with a fully visible state, macro-actions and a teacher.

    A scene is a `GridState`. The sides of things (*on your left*) are relative to the agent's
    initial position, and only things in the agent's initial room have sides. The teacher reads the
    mission from the simulator's data, not from the text of the mission.
    """

    verbs = (Verb("go to"), Verb("pick up"), Verb("open"), Verb("put", ("object", "next to")))
    connectives = ("and", "then", "after you", "before you")
    reorders = True
    rewards = True
    keys: ClassVar[Mapping[str, int]] = {"l": 0, "r": 1, "f": 2, "p": 3, "d": 4, "t": 5}
    arrows: ClassVar[Mapping[str, str]] = {"left": "l", "right": "r", "up": "f", "space": "t"}

    def __init__(self, level: str) -> None:
        self.level = level
        self.name = _short(level) or level
        self._readers: WeakKeyDictionary[Any, GridReader] = WeakKeyDictionary()
        self._start: GridState | None = None

    def make(self, **settings: Any) -> Any:
        """Return a new Gymnasium environment of the level."""
        _registry()
        # silence MiniGrid, which prints rejected layouts
        with contextlib.redirect_stdout(io.StringIO()):
            return require("gymnasium").make(self.level, disable_env_checker=True, **settings)

    def reset(self, env: Any, seed: int) -> tuple[str, GridState]:
        """Start an episode; return the mission and the initial scene."""
        with contextlib.redirect_stdout(io.StringIO()):
            env.reset(seed=int(seed))
        return str(env.unwrapped.mission), self.begin(env)

    # ---- the world ----------------------------------------------------------------------

    def begin(self, env: Any) -> GridState:
        """Return the scene of an environment after its reset."""
        if getattr(env.unwrapped, "agent_pos", None) is None or env.unwrapped.grid is None:
            raise WorldError("The environment must be reset first. Call env.reset(seed=…).")
        self._readers[env.unwrapped] = GridReader(env)
        self._start = self._readers[env.unwrapped].read()
        return self._start

    def observe(self, env: Any) -> GridState:
        """Return the current scene of an environment."""
        return self.reader(env).read()

    def reader(self, env: Any) -> GridReader:
        """Return the grid reader of the current episode."""
        found = self._readers.get(env.unwrapped)
        return found if found is not None else GridReader(env)

    def objects(self, scene: GridState, start: GridState) -> dict[int, Labels]:
        """Return the kind, the colour and the sides of each visible thing.

        The sides are those at the start of the episode.
        """
        left, top, width, height = start.layout.room(start.agent)
        found: dict[int, Labels] = {}
        for number, thing in enumerate(scene.layout.things):
            if scene.places[number] in (GONE, INSIDE) or thing.kind == "floor":
                continue
            place = start.places[number] if number < len(start.places) else GONE
            x, y = start.layout.point(place)
            near = place >= 0 and left <= x < left + width and top <= y < top + height
            found[number] = self._labels(number, scene, start, place if near else GONE)
        return found

    @staticmethod
    def _labels(number: int, scene: GridState, start: GridState, place: int) -> Labels:
        """Return the labels of a thing; without sides if it is not in the initial room."""
        thing, point = scene.layout.things[number], scene.layout.point
        heading = HEADINGS[start.direction]
        side = sides(point(start.agent), heading, point(place)) if place >= 0 else []
        return {"kind": thing.kind, "colour": thing.colour, "side": side}

    def allows(
        self, scene: GridState, verb: str, role: str, thing: int, before: Sequence[Any]
    ) -> bool:
        """Return whether a thing can be an argument of a verb; only doors can be opened."""
        kind = scene.layout.things[thing].kind
        if verb == "open":
            return kind == "door"
        if verb == "pick up" or (verb == "put" and role == "object"):
            return kind in PORTABLE
        return True

    def moves(self, scene: GridState, action: MacroAction) -> tuple[int, ...]:
        """Return the simulator's actions that carry out a macro-action."""
        things: list[frozenset[Any]] = [frozenset(each) for each in action.things]
        moves = moves_for(scene, action.verb, *things)
        if moves[:1] == ("drop",) and scene == self._start:
            # a first move, so that the simulator notices the carried thing
            moves = ("done", *moves)
        return tuple(MOVES.index(move) for move in moves)

    def draw(
        self, episode: Episode, state: tuple[ActionChoice, ...], way: Sequence[Any] = ()
    ) -> str:
        """Return an SVG drawing of the level after some choices."""
        from groundling.gym.grid_drawing import draw_babyai

        return draw_babyai(episode, state)

    def predict(self, scene: GridState, move: int) -> GridState:
        """Return the scene after one of the simulator's actions."""
        return step(scene, MOVES[move])

    def events(
        self, before: GridState, move: int, after: GridState
    ) -> Iterator[tuple[float, str, tuple[int, ...]]]:
        """Yield the macro-actions that a move may complete.

        Each is a triple of its strength as evidence, its verb and its arguments.
        """
        facing = after.at(after.front)
        if facing >= 0:
            yield 0.0, "go to", (facing,)
        if after.carrying >= 0 > before.carrying:
            yield 0.4, "pick up", (after.carrying,)
        if before.carrying >= 0 > after.carrying:
            cell = after.places[before.carrying]
            for way in after.layout.steps:
                beside = after.at(cell + way)
                if beside >= 0:
                    yield 0.3, "put", (before.carrying, beside)
        opened = facing >= 0 and before.doors != after.doors and after.doors[facing] == OPEN
        if MOVES[move] == "toggle" and opened:
            yield 0.2, "open", (facing,)
        if facing >= 0:
            yield (0.0, "go to", (facing,))  # the text may mention this after another effect

    # ---- the teacher --------------------------------------------------------------------

    def mission(self, env: Any) -> list[Said]:
        """Return the macro-actions that the mission asks for, in the order of its text."""
        instruction = getattr(env.unwrapped, "instrs", None)
        if instruction is None:
            raise WorldError(
                f"The environment of {self.level} must have a BabyAI mission; got none. Call "
                "env.reset(seed=…) first, or use another level."
            )
        return list(_said(instruction, self.reader(env)))

    def demonstration(self, env: Any, seed: int) -> Demonstration:
        """Return the teacher's demonstration for a seed."""
        text, scene = self.reset(env, seed)
        return self.demonstrate(text, scene, self.mission(env), f"{self.name} {seed}")

    def record(self, seeds: int | Iterable[int]) -> list[Demonstration]:
        """Return the teacher's demonstrations; `seeds` is a list of seeds or a count."""
        listed = range(seeds) if isinstance(seeds, int) else seeds
        with contextlib.closing(self.make()) as env:
            return [self.demonstration(env, seed) for seed in listed]

    def __repr__(self) -> str:
        return f"babyai({self.name!r})"


def _said(instruction: Any, reader: GridReader, earlier: bool = False) -> Iterable[Said]:
    kind = type(instruction).__name__
    if hasattr(instruction, "instr_a"):
        yield from _said(instruction.instr_a, reader)
        turned = kind == "AfterInstr"
        for place, (verb, things, before) in enumerate(_said(instruction.instr_b, reader)):
            yield verb, things, before or (turned and place == 0)
        return
    verbs = {"GoToInstr": "go to", "PickupInstr": "pick up", "OpenInstr": "open",
             "PutNextInstr": "put"}  # fmt: skip
    if kind not in verbs:
        raise WorldError(
            f"The instruction of a mission must be one of {', '.join(verbs)}; got {kind}. Use "
            "another level."
        )
    named = ("desc_move", "desc_fixed") if kind == "PutNextInstr" else ("desc",)
    found = [
        frozenset(reader.number(each) for each in getattr(instruction, name).obj_set) - {-1}
        for name in named
    ]
    yield verbs[kind], tuple(found), earlier
