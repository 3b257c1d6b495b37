"""Grammar that generates route instructions in mazes."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import NamedTuple

from groundling.tasks.mazes.actions import STAY, MazeAction, face, move, rotate
from groundling.tasks.mazes.maze import DIRECTIONS, SIDES, Hall, Maze
from groundling.tasks.mazes.plans import Pose

_SAID = tomllib.loads((files("groundling.tasks.mazes") / "phrases.toml").read_text("utf-8"))
FLOORS, WALLS, ITEMS, FAMILIES = (_SAID[name] for name in ("floors", "walls", "items", "families"))
_NUMBERS, _ORDINALS, _WHERE = (_SAID[name] for name in ("numbers", "ordinals", "where"))
_LEFT, _RIGHT, _AROUND = rotate(270), rotate(90), rotate(180)
_SIDE_OF = {_LEFT: "left", _RIGHT: "right"}


class Clause(NamedTuple):
    """A clause with its actions and the family of clauses to which it belongs."""

    text: str
    actions: tuple[MazeAction, ...]
    family: str


class Phrasebook:
    """Generator of clauses for a pose; each clause means exactly one plan.

    Examples
    --------
    >>> maze = Maze(
    ...     "Hall",
    ...     {(0, 0): "", (1, 0): "", (2, 0): "sofa"},
    ...     [((0, 0), (1, 0), "brick", "fish"), ((1, 0), (2, 0), "brick", "fish")],
    ... )
    >>> book = Phrasebook(maze, Random(7))
    >>> clauses = list(book.clauses(Pose((0, 0), 90)))
    >>> {clause.actions for clause in clauses if clause.family in ("end", "landmark")}
    {(move(2),)}
    >>> sorted({clause.family for clause in clauses})
    ['count', 'declarative', 'end', 'landmark']
    """

    def __init__(self, maze: Maze, random: Random) -> None:
        self.maze = maze
        self.random = random

    def clauses(self, pose: Pose) -> Iterator[Clause]:
        """Yield random clauses that instruct an agent in the given pose."""
        if pose.orientation is None:
            yield from self._facing(pose)
            return
        yield from self._turns(pose)
        yield from self._moves(pose)
        yield from self._implicit_turns(pose)
        yield from self._implicit_moves(pose)
        yield from self.declaratives(pose)

    # Unknown orientation: face something that is visible in one direction only.

    def _facing(self, pose: Pose) -> Iterator[Clause]:
        for direction in DIRECTIONS:
            hall = self.maze.hall(pose.position, direction)
            if hall is None:
                continue
            actions = (face(direction),)
            for floor in self._only_floor(pose, direction):
                stand = self._one("face", "turn to face", "look down", "point yourself along")
                yield Clause(f"{stand} the {floor} {self._hall()}", actions, "face")
            for item in self._only_item(pose, direction):
                stand = self._one("face", "turn toward", "look toward", "turn to face")
                yield Clause(f"{stand} the {item}", actions, "face")
            if hall.wall in self._only(self._around(pose), direction, "wall"):
                walls = self._name(WALLS, hall.wall)
                yield Clause(f"face the {self._hall()} with {walls}", actions, "face")
            behind = (direction + 180) % 360
            blocked = [each for each in DIRECTIONS if not self.maze.hall(pose.position, each)]
            if blocked == [behind]:
                text = self._one("put your back to the wall", "stand with the wall behind you")
                yield Clause(text, actions, "face")
            for item in self._only_item(pose, behind):
                stand = self._one("stand with", "turn so that you have")
                yield Clause(f"{stand} the {item} behind you", actions, "face")

    # One turn, named directly or by the view after it.

    def _turns(self, pose: Pose) -> Iterator[Clause]:
        for turn in (_LEFT, _RIGHT, _AROUND):
            direction = (pose.orientation + turn.amount) % 360  # type: ignore[operator]
            if self.maze.hall(pose.position, direction) is None:
                continue
            if turn in _SIDE_OF:
                side = _SIDE_OF[turn]
                plain = self._one(
                    f"turn {side}", f"take a {side}", f"make a {side} turn", f"turn to the {side}"
                )
                here = self.maze.item(pose.position)
                if here and self._chance(0.5):
                    plain = f"at the {self._name(ITEMS, here)} {plain}"
            else:
                plain = self._one("turn around", "turn back", "do an about turn")
            yield Clause(plain, (turn,), "turn")
            toward = f"turn {_SIDE_OF[turn]}" if turn in _SIDE_OF and self._chance(0.6) else "turn"
            for floor in self._only_floor(pose, direction):
                text = f"{toward} {self._one('onto', 'into')} the {floor} {self._hall()}"
                yield Clause(text, (turn,), "turn onto")
            for item in self._only_item(pose, direction):
                text = f"{toward} {self._one('toward', 'to face')} the {item}"
                yield Clause(text, (turn,), "turn toward")

    # A move: by a number of steps, to or past a landmark, to a crossing, or to the end.

    def _moves(self, pose: Pose) -> Iterator[Clause]:
        assert pose.orientation is not None
        line = self.maze.ahead(pose.position, pose.orientation)
        for distance in range(1, len(line) + 1):
            for family, goal in self._goals(pose.position, pose.orientation, distance):
                yield Clause(self._walk(pose, goal), (move(distance),), family)

    def _goals(
        self, position: tuple[int, int], direction: int, distance: int
    ) -> Iterator[tuple[str, str]]:
        """Yield phrases that describe how far to move, each with its family."""
        maze, line = self.maze, self.maze.ahead(position, direction)
        end, passed = line[distance - 1], line[: distance - 1]
        item = maze.item(end)
        step = self._one("step", "block", "segment") + ("s" if distance > 1 else "")
        ahead = self._one("forward ", "straight ahead ", "")
        if distance <= len(_NUMBERS):
            yield "count", f"{ahead}{_NUMBERS[distance - 1]} {step}"
        if item:
            name, earlier = self._name(ITEMS, item), [maze.item(each) for each in passed]
            if item not in earlier:
                until = self._one("to", "until you reach", "until you get to", "as far as")
                yield "landmark", f"{ahead}{until} the {name}"
                others = [each for each in earlier if each]
                if others:
                    yield "past", f"past the {self._name(ITEMS, others[-1])} to the {name}"
            elif earlier.count(item) < len(_ORDINALS):
                yield "ordinal", f"{ahead}to the {_ORDINALS[earlier.count(item)]} {name}"
        before = maze.item(line[distance - 2]) if distance > 1 else ""
        if before and not item and [maze.item(each) for each in line].count(before) == 1:
            yield "past", f"one block past the {self._name(ITEMS, before)}"
        if distance == len(line):
            far = ("to the end of the hall", "until you reach the wall", "to the far end")
            yield "end", self._one(*far, "until you can go no further")
        own = {hall.floor for each in (position, *passed) if (hall := maze.hall(each, direction))}
        for side, turn in (("left", 270), ("right", 90)):
            ways = [maze.hall(each, (direction + turn) % 360) for each in line[:distance]]
            if (way := ways[-1]) is None:
                continue
            count = sum(each is not None for each in ways)
            if count <= len(_ORDINALS):
                yield "ordinal", f"to the {_ORDINALS[count - 1]} {self._hall()} on your {side}"
            seen = {each.floor for place in passed for each in self._crossing(place, direction)}
            if way.floor not in seen | own:
                floor = self._name(FLOORS, way.floor)
                to = ("to the intersection with", "until you come to", "to", "until you reach")
                yield "crossing", f"{self._one(*to)} the {floor} {self._hall()}"
                text = f"until you see the {floor} {self._hall()} {self._one(*_WHERE[side])}"
                yield "crossing", text

    # The named hall or item is not ahead: the turn is implicit.

    def _implicit_turns(self, pose: Pose) -> Iterator[Clause]:
        for turn in (_LEFT, _RIGHT, _AROUND):
            direction = (pose.orientation + turn.amount) % 360  # type: ignore[operator]
            line = self.maze.ahead(pose.position, direction)
            for floor in self._only_floor(pose, direction):
                way = f"{self._one('follow', 'take', 'walk along', 'go down')} the {floor}"
                for distance in range(1, len(line) + 1):
                    for _, goal in self._goals(pose.position, direction, distance):
                        text = f"{way} {self._hall()} {_after_hall(goal)}"
                        yield Clause(text, (turn, move(distance)), "implicit turn")
            for item in self._only_item(pose, direction):
                for distance, place in enumerate(line, 1):
                    there = self.maze.item(place)
                    if there and item in ITEMS.get(there, (there,)):
                        text = f"{self._one('go', 'walk', 'move')} to the {item}"
                        yield Clause(text, (turn, move(distance)), "implicit turn")
                        break

    # The turn is at another place: the move there is implicit.

    def _implicit_moves(self, pose: Pose) -> Iterator[Clause]:
        assert pose.orientation is not None
        line = self.maze.ahead(pose.position, pose.orientation)
        counts = {"left": 0, "right": 0}
        for distance, place in enumerate(line, 1):
            for turn, side in _SIDE_OF.items():
                way = self.maze.hall(place, (pose.orientation + turn.amount) % 360)
                if way is None:
                    continue
                counts[side] += 1
                actions, saying = (move(distance), turn), self._one("turn", "go", "head")
                if counts[side] <= len(_ORDINALS):
                    text = f"take the {_ORDINALS[counts[side] - 1]} {side}"
                    yield Clause(text, actions, "implicit move")
                item = self.maze.item(place)
                names = [self.maze.item(each) for each in (pose.position, *line)]
                if item and names.count(item) == 1:
                    text = f"{saying} {side} at the {self._name(ITEMS, item)}"
                    yield Clause(text, actions, "implicit move")
                if distance == len(line):
                    text = f"{saying} {side} at the end of the {self._hall()}"
                    yield Clause(text, actions, "implicit move")

    # Statements about the position that the listener should have reached.

    def declaratives(self, pose: Pose) -> Iterator[Clause]:
        """Yield statements that are true in a pose."""
        assert pose.orientation is not None
        you = self._one("you should be", "you are now", "you are")
        texts = []
        if item := self.maze.item(pose.position):
            name = self._name(ITEMS, item)
            texts += [f"{you} {self._one('at', 'next to', 'by')} the {name}"]
        exits = len(self.maze.exits(pose.position))
        if exits == 1:
            texts.append(f"{you} at a dead end")
        if exits >= 3:
            texts.append(f"{you} at an intersection")
        for side, turn in SIDES.items():
            direction, where = (pose.orientation + turn) % 360, self._one(*_WHERE[side])
            hall = self.maze.hall(pose.position, direction)
            if hall is None:
                texts.append(f"there should be a wall {where}")
                continue
            line = self.maze.ahead(pose.position, direction)
            floor = self._name(FLOORS, hall.floor)
            texts.append(f"the {self._hall()} {where} should be {floor}")
            items = [self.maze.item(each) for each in line if self.maze.item(each)]
            if items:
                name = self._name(ITEMS, items[0])
                see = self._one("you should see", "you will see", "there is")
                texts.append(f"{see} {_article(name)} {name} {where}")
        for text in texts:
            yield Clause(text, (STAY,), "declarative")

    # Values that are visible in one direction only.

    def _around(self, pose: Pose) -> dict[int, Hall]:
        found = {each: self.maze.hall(pose.position, each) for each in DIRECTIONS}
        return {each: hall for each, hall in found.items() if hall}

    def _only(self, halls: dict[int, Hall], direction: int, part: str) -> set[str]:
        own = {getattr(halls[direction], part)} if direction in halls else set()
        return own - {getattr(hall, part) for each, hall in halls.items() if each != direction}

    def _only_floor(self, pose: Pose, direction: int) -> list[str]:
        floors = self._only(self._around(pose), direction, "floor")
        return [self._name(FLOORS, floor) for floor in sorted(floors)]

    def _only_item(self, pose: Pose, direction: int) -> list[str]:
        seen = {
            each: {self.maze.item(place) for place in self.maze.ahead(pose.position, each)}
            for each in DIRECTIONS
        }
        others = {self.maze.item(pose.position), ""}.union(
            *(items for each, items in seen.items() if each != direction)
        )
        return [self._name(ITEMS, item) for item in sorted(seen[direction] - others)]

    def _crossing(self, place: tuple[int, int], direction: int) -> list[Hall]:
        sides = ((direction + 90) % 360, (direction + 270) % 360)
        return [hall for side in sides if (hall := self.maze.hall(place, side))]

    # Words.

    def _walk(self, pose: Pose, goal: str) -> str:
        assert pose.orientation is not None
        hall = self.maze.hall(pose.position, pose.orientation)
        verb = self._one("walk", "go", "move")
        if hall and self._chance(0.2):
            floor = self._name(FLOORS, hall.floor)
            along = self._one("along", "down")
            return f"{verb} {along} the {floor} {self._hall()} {_after_hall(goal)}"
        if not goal.startswith("until") and self._chance(0.2):
            verb = "head"
        return f"{verb} {goal}"

    def _hall(self) -> str:
        return self._one("hall", "hall", "hallway", "corridor", "path")

    def _name(self, names: Mapping[str, tuple[str, ...]], value: str) -> str:
        ways = names.get(value, (value,))
        return ways[0] if self._chance(0.65) else self._one(*ways)

    def _one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability


def _article(name: str) -> str:
    return "an" if name[0] in "aeiou" else "a"


def _after_hall(goal: str) -> str:
    """Return a distance as it is said after the name of a hall: *for two blocks*."""
    goal = goal.removeprefix("forward ").removeprefix("straight ahead ")
    return f"for {goal}" if goal.split()[0] in _NUMBERS and "past" not in goal else goal


def join(clauses: Sequence[Clause], random: Random) -> str:
    """Return clauses joined into one sentence.

    >>> clauses = [Clause("turn left", (_LEFT,), "turn"), Clause("walk", (move(1),), "count")]
    >>> join(clauses, Random(0))
    'turn left and then walk'
    """
    text = clauses[0].text
    for clause in clauses[1:]:
        text += f" {random.choice(('and', 'and then', 'then'))} {clause.text}"
    return text
