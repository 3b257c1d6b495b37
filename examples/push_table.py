"""A table with things to push: a small Gymnasium environment with continuous positions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from groundling.errors import GroundlingError
from groundling.gym import MacroAction, ObjectWorld, Verb
from groundling.gym.optional import require
from groundling.world.environment import Demonstration
from groundling.world.graph import Labels

__all__ = ["Piece", "PushTable", "PushTableWorld", "TableScene", "push"]

_gymnasium = require("gymnasium")

COLOURS = ("red", "green", "blue", "yellow")
KINDS = ("block", "cup", "plate")
EDGES = ("left", "right", "far", "near")
HAND = 0.02  # radius
STEP = 0.04  # maximum length of a move
_NEAR = 0.015  # maximum distance that counts as beside or at an edge
_RADII = {"small": 0.03, "large": 0.05}


class Piece(NamedTuple):
    """A thing on the table."""

    colour: str
    kind: str
    size: str
    x: float
    y: float

    @property
    def radius(self) -> float:
        """Radius of the piece."""
        return _RADII[self.size]


class TableScene(NamedTuple):
    """Positions of the hand and the pieces, between 0 and 1."""

    x: float
    y: float
    down: bool
    pieces: tuple[Piece, ...]


def push(scene: TableScene, dx: float, dy: float, down: bool) -> TableScene:
    """Return the scene after a move of the hand; a lowered hand pushes pieces.

    >>> cup = Piece("red", "cup", "small", 0.5, 0.5)
    >>> moved = push(TableScene(0.44, 0.5, True, (cup,)), 0.04, 0, True)
    >>> round(moved.pieces[0].x, 2)
    0.53
    """
    size = math.hypot(dx, dy)
    if size > STEP:
        dx, dy = dx * STEP / size, dy * STEP / size
    x, y = min(1.0, max(0.0, scene.x + dx)), min(1.0, max(0.0, scene.y + dy))
    if not down:
        return TableScene(x, y, False, scene.pieces)
    places = [[each.x, each.y] for each in scene.pieces]
    radii = [each.radius for each in scene.pieces]
    for number, radius in enumerate(radii):
        _part((x, y), places[number], HAND + radius)
    for _ in range(3):  # pieces push each other
        for one in range(len(places)):
            for other in range(len(places)):
                if one != other and math.dist(places[one], (x, y)) < math.dist(
                    places[other], (x, y)
                ):
                    _part(places[one], places[other], radii[one] + radii[other])
    for place, radius in zip(places, radii, strict=True):
        place[0] = min(1 - radius, max(radius, place[0]))
        place[1] = min(1 - radius, max(radius, place[1]))
    pieces = tuple(
        each._replace(x=round(place[0], 6), y=round(place[1], 6))
        for each, place in zip(scene.pieces, places, strict=True)
    )
    return TableScene(round(x, 6), round(y, 6), True, pieces)


def _part(fixed: Any, moved: list[float], distance: float) -> None:
    """Move `moved` away from `fixed` until they are at least `distance` apart."""
    dx, dy = moved[0] - fixed[0], moved[1] - fixed[1]
    apart = math.hypot(dx, dy)
    if apart < distance:
        dx, dy = (dx / apart, dy / apart) if apart > 1e-9 else (1.0, 0.0)
        moved[0], moved[1] = fixed[0] + dx * distance, fixed[1] + dy * distance


class Task(NamedTuple):
    """A part of a mission: a verb, a piece, and the target of a push (a piece or an edge)."""

    verb: str
    piece: int
    to: int | str = -1


class PushTable(_gymnasium.Env):  # type: ignore[misc, name-defined]
    """Push pieces on a table according to a mission.

    Actions are (dx, dy, down) between -1 and 1: the hand moves up to `STEP`, lowered if `down`
    is above 0. The observation is the position of the hand and of all pieces; the mission is
    also in `info`. The reward is 1 once all parts of the mission are done in order.

    >>> env = PushTable()
    >>> _, info = env.reset(seed=1)
    >>> print(info["mission"])
    push the green plate to the right edge then push the blue plate to the far edge
    """

    metadata: Mapping[str, Any] = {"render_modes": []}

    def __init__(self, pieces: int = 5, tasks: int = 2, noise: float = 0.0) -> None:
        spaces = _gymnasium.spaces
        self.pieces, self.tasks, self.noise = pieces, tasks, noise
        self.action_space = spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.observation_space = spaces.Box(0.0, 1.0, (3 + 2 * pieces,), np.float64)
        self.max_steps = 400

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """Draw a random scene and a mission."""
        super().reset(seed=seed)
        dice = self.np_random
        while True:
            self.scene = TableScene(0.5, 0.95, False, tuple(self._lay(dice)))
            self.wanted = [self._task(dice) for _ in range(int(dice.integers(1, self.tasks + 1)))]
            if not any(self._is_done(each, self.scene) for each in self.wanted):
                break
        self.done, self.steps = 0, 0
        self.mission = " then ".join(map(self._say, self.wanted))
        return self.observation(), {"mission": self.mission}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        """Move the hand; return the usual result of `step`."""
        dx, dy, down = (float(each) for each in action)
        if self.noise:
            dx, dy = self.np_random.normal((dx, dy), self.noise)
        self.scene = push(self.scene, dx * STEP, dy * STEP, down > 0)
        self.steps += 1
        if self.done < len(self.wanted) and self._is_done(self.wanted[self.done], self.scene):
            self.done += 1
        over = self.done == len(self.wanted)
        return (
            self.observation(), float(over), over, self.steps >= self.max_steps,
            {"mission": self.mission},
        )  # fmt: skip

    def observation(self) -> Any:
        """Return all positions as an array."""
        scene = self.scene
        places = [each for piece in scene.pieces for each in (piece.x, piece.y)]
        return np.array([scene.x, scene.y, float(scene.down), *places])

    def _lay(self, dice: Any) -> Iterator[Piece]:
        kinds = [(colour, kind) for colour in COLOURS for kind in KINDS]
        places: list[tuple[float, float]] = []
        for number in dice.permutation(len(kinds))[: self.pieces]:
            while True:
                place = (float(dice.uniform(0.2, 0.8)), float(dice.uniform(0.2, 0.8)))
                if all(math.dist(place, other) > 0.18 for other in places):
                    break
            places.append(place)
            size = str(dice.choice(list(_RADII)))
            yield Piece(kinds[number][0], kinds[number][1], size, place[0], place[1])

    def _task(self, dice: Any) -> Task:
        piece = int(dice.integers(self.pieces))
        kind = int(dice.integers(3))
        if kind == 0:
            return Task("touch", piece)
        if kind == 1:
            return Task("push", piece, str(dice.choice(EDGES)))
        other = int(dice.integers(self.pieces - 1))
        return Task("push", piece, other + (other >= piece))

    def _say(self, task: Task) -> str:
        if task.verb == "touch":
            return f"touch the {self._call(task.piece)}"
        to = f"{task.to} edge" if isinstance(task.to, str) else self._call(task.to)
        return f"push the {self._call(task.piece)} to the {to}"

    def _call(self, piece: int) -> str:
        each = self.scene.pieces[piece]
        return f"{each.size + ' ' if piece % 2 else ''}{each.colour} {each.kind}"

    @staticmethod
    def _is_done(task: Task, scene: TableScene) -> bool:
        piece = scene.pieces[task.piece]
        if task.verb == "touch":
            apart = math.dist((scene.x, scene.y), (piece.x, piece.y))
            return scene.down and apart <= HAND + piece.radius + 1e-4
        if isinstance(task.to, str):
            return _gap(piece, task.to) <= _NEAR
        other = scene.pieces[task.to]
        gap = math.dist((piece.x, piece.y), (other.x, other.y)) - piece.radius - other.radius
        return gap <= _NEAR


def _gap(piece: Piece, edge: str) -> float:
    """Return the distance of a piece from an edge; the far edge is at y = 0."""
    away = {"left": piece.x, "right": 1 - piece.x, "far": piece.y, "near": 1 - piece.y}[edge]
    return away - piece.radius


def _task(action: MacroAction) -> Task:
    piece = int(str(action.things[0][0]).split()[1])
    if action.verb != "push":
        return Task(action.verb, piece)
    kind, to = str(action.things[1][0]).split()
    return Task("push", piece, to if kind == "edge" else int(to))


class PushTableWorld(ObjectWorld):
    """The table as an object world with pieces, edges, and the verbs touch and push."""

    verbs = (Verb("touch"), Verb("push", ("object", "to")))
    slots = ("kind", "colour", "size", "side")
    rewards = True
    name = "PushTable"

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def make(self, **more: Any) -> PushTable:
        """Return a new environment."""
        return PushTable(**{**self.settings, **more})

    def reset(self, env: Any, seed: int) -> tuple[str, TableScene]:
        """Start an episode; return its mission and scene."""
        env.reset(seed=int(seed))
        return env.unwrapped.mission, self.begin(env)

    def observe(self, env: Any) -> TableScene:
        """Return the scene."""
        scene: TableScene = env.unwrapped.scene
        return scene

    def objects(self, scene: TableScene, start: TableScene) -> dict[str, Labels]:
        """Return the pieces and the edges."""
        found: dict[str, Labels] = {
            f"piece {number}": {"kind": each.kind, "colour": each.colour, "size": each.size}
            for number, each in enumerate(scene.pieces)
        }
        return found | {f"edge {side}": {"kind": "edge", "side": side} for side in EDGES}

    def allows(self, scene: TableScene, verb: str, role: str, thing: str, before: Any) -> bool:
        """Return whether a thing can fill a role; edges cannot be pushed or touched."""
        return role == "to" or thing.startswith("piece")

    def predict(self, scene: TableScene, move: Any) -> TableScene:
        """Return the expected scene after a move."""
        dx, dy, down = move
        return push(scene, dx * STEP, dy * STEP, down > 0)

    def differs(self, expected: TableScene, real: TableScene) -> bool:
        """Return whether a piece is more than half a step from its expected position."""
        one = np.array([each[3:] for each in expected.pieces])
        other = np.array([each[3:] for each in real.pieces])
        return bool(np.abs(one - other).max() > STEP / 2)

    def moves(self, scene: TableScene, action: MacroAction) -> list[tuple[float, float, float]]:
        """Return the moves that carry out a macro-action, found by simulation."""
        done: list[tuple[float, float, float]] = []
        task = _task(action)
        for _ in range(12):
            aim = self._aim(scene, task)
            scene = self._go(scene, *aim, -1.0, done)
            while not PushTable._is_done(task, scene):
                before = scene
                goal = self._goal(scene, task)
                scene = self._move(scene, goal[0] - scene.x, goal[1] - scene.y, 1.0, done)
                if scene.pieces == before.pieces and (scene.x, scene.y) == (before.x, before.y):
                    break
                if self._has_slipped(scene, task):
                    break
            if PushTable._is_done(task, scene):
                return done
        raise GroundlingError(f"{len(done)} moves did not {action.verb} it")

    def achieved(self, scene: TableScene, action: MacroAction) -> bool:
        """Return whether the macro-action is done."""
        return PushTable._is_done(_task(action), scene)

    @staticmethod
    def _goal(scene: TableScene, task: Task) -> tuple[float, float]:
        """Return the point that the hand moves towards while pushing."""
        piece = scene.pieces[task.piece]
        if task.verb == "touch":
            return piece.x, piece.y
        if isinstance(task.to, str):
            return {"left": (0.0, piece.y), "right": (1.0, piece.y), "far": (piece.x, 0.0),
                    "near": (piece.x, 1.0)}[task.to]  # fmt: skip
        other = scene.pieces[task.to]
        return other.x, other.y

    def _aim(self, scene: TableScene, task: Task) -> tuple[float, float]:
        """Return where the hand is lowered: behind the piece, as seen from the goal."""
        piece = scene.pieces[task.piece]
        goal = self._goal(scene, task) if task.verb == "push" else (piece.x, piece.y + 1)
        dx, dy = piece.x - goal[0], piece.y - goal[1]
        size = math.hypot(dx, dy) or 1.0
        back = piece.radius + HAND + 0.005
        if task.verb == "touch":
            dx, dy = scene.x - piece.x, scene.y - piece.y
            size = math.hypot(dx, dy) or 1.0
        return piece.x + dx / size * back, piece.y + dy / size * back

    def _has_slipped(self, scene: TableScene, task: Task) -> bool:
        """Return whether the piece is no longer between the hand and the goal."""
        if task.verb == "touch":
            return False
        piece, goal = scene.pieces[task.piece], self._goal(scene, task)
        towards = (goal[0] - scene.x, goal[1] - scene.y)
        ahead = (piece.x - scene.x, piece.y - scene.y)
        both = towards[0] * ahead[0] + towards[1] * ahead[1]
        return both < 0.9 * math.hypot(*towards) * math.hypot(*ahead)

    def _go(
        self, scene: TableScene, x: float, y: float, down: float, done: list[Any]
    ) -> TableScene:
        while math.dist((scene.x, scene.y), (x, y)) > 1e-6 and len(done) < 1_000:
            before = (scene.x, scene.y)
            scene = self._move(scene, x - scene.x, y - scene.y, down, done)
            if (scene.x, scene.y) == before:
                break
        return scene

    def _move(
        self, scene: TableScene, dx: float, dy: float, down: float, done: list[Any]
    ) -> TableScene:
        size = max(STEP, math.hypot(dx, dy))
        move = (dx / size, dy / size, down)
        done.append(move)
        return self.predict(scene, move)

    # ---- the teacher --------------------------------------------------------------------

    def mission(self, env: Any) -> list[tuple[str, tuple[Iterable[str], ...], bool]]:
        """Return the parts of the mission: verb, things, and whether it is done earlier."""
        found: list[tuple[str, tuple[Iterable[str], ...], bool]] = []
        for task in env.unwrapped.wanted:
            things: tuple[Iterable[str], ...] = ({f"piece {task.piece}"},)
            if task.verb == "push":
                kind = "edge" if isinstance(task.to, str) else "piece"
                things = (*things, {f"{kind} {task.to}"})
            found.append((task.verb, things, False))
        return found

    def record(self, seeds: Iterable[int]) -> list[Demonstration]:
        """Return the teacher's demonstrations for the given seeds."""
        env, found = self.make(), []
        for seed in seeds:
            text, scene = self.reset(env, seed)
            found.append(self.demonstrate(text, scene, self.mission(env), f"PushTable {seed}"))
        return found
