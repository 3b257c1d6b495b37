"""Actions and states in a maze."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from groundling.errors import WorldError
from groundling.tasks.mazes.maze import Position


class MazeAction(NamedTuple):
    """An action in a maze; create one with `move`, `rotate` or `face`, or use `STAY`.

    >>> move(2), rotate(90), face(180), STAY
    (move(2), rotate(90), face(180), stay)
    """

    kind: str
    amount: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "stay" else f"{self.kind}({self.amount})"

    def __repr__(self) -> str:
        return str(self)


STAY = MazeAction("stay")


def move(distance: int) -> MazeAction:
    """Return the action of walking straight ahead by a number of places.

    >>> print(move(3))
    move(3)
    """
    return MazeAction("move", distance)


def rotate(angle: int) -> MazeAction:
    """Return a clockwise turn on the spot: 90 is a right turn, 270 a left turn.

    >>> print(rotate(270))
    rotate(270)
    """
    return MazeAction("rotate", angle)


def face(direction: int) -> MazeAction:
    """Return the action of turning to a direction from an unknown orientation.

    Directions are 0 (north), 90 (east), 180 (south) and 270 (west).

    >>> print(face(0))
    face(0)
    """
    return MazeAction("face", direction)


def read_action(text: str) -> MazeAction:
    """Parse an action from a string such as `rotate(90)`.

    >>> read_action("rotate(90)") == rotate(90)
    True
    """
    found = re.fullmatch(r"(move|rotate|face)\((\d+)\)|stay", text.strip())
    if not found:
        raise WorldError(
            f"An action must be of the form move(2), rotate(90), face(180) or stay; got {text!r}."
        )
    return MazeAction(found[1], int(found[2])) if found[1] else STAY


def canonical(actions: Iterable[MazeAction]) -> tuple[MazeAction, ...]:
    """Return the canonical plan: turns and moves merged, or `stay` if nothing is left.

    Backtracking (move, about-turn, move) becomes a shorter plan with the same end.

    >>> canonical([move(1), move(1), rotate(90), rotate(180)])
    (move(2), rotate(270))
    >>> canonical([move(3), rotate(180), move(1)])
    (move(2), rotate(180))
    >>> canonical([rotate(90), rotate(270)])
    (stay,)
    """
    plan: list[MazeAction] = []
    waiting = [action for action in actions if action.kind != "stay"][::-1]
    while waiting:
        action = waiting.pop()
        if plan and action.kind == plan[-1].kind == "move":
            plan[-1] = move(plan[-1].amount + action.amount)
        elif plan and action.kind == "rotate" and plan[-1].kind in ("rotate", "face"):
            last = plan.pop()
            turned = (last.amount + action.amount) % 360
            if turned or last.kind == "face":
                plan.append(MazeAction(last.kind, turned))
        elif (
            action.kind == "move"
            and len(plan) >= 2
            and plan[-1] == rotate(180)
            and plan[-2].kind == "move"
        ):
            plan.pop()
            rest = plan.pop().amount - action.amount
            if rest > 0:
                waiting += [rotate(180), move(rest)]
            elif rest < 0:
                waiting += [move(-rest), rotate(180)]
            else:
                waiting.append(rotate(180))
        else:
            plan.append(action)
    return tuple(plan) or (STAY,)


class MazeState(NamedTuple):
    """State in a maze: position, orientation, and kind of the last action.

    The orientation is None if it is unknown. `last` is `start`, `move`, `turn` (a rotation, or
    facing a direction), `return` (an about-turn after a move) or `stay`. It determines which
    actions keep the plan canonical.
    """

    position: Position
    orientation: int | None
    last: str = "start"
