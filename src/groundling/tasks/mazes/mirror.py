"""Left and right exchanged: a second, equally true version of every demonstration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from groundling.errors import DemonstrationError
from groundling.language.instruction import Instruction
from groundling.tasks.mazes.actions import MazeAction, MazeState
from groundling.world.environment import Demonstration, Environment

__all__ = ["mirror_demonstration", "mirror_text"]

_SWAPPED = {
    "left": "right",
    "right": "left",
    "clockwise": "counterclockwise",
    "counterclockwise": "clockwise",
    "anticlockwise": "clockwise",
    "east": "west",
    "west": "east",
}
_SIDED = re.compile(
    r"\b(left|right|(?:counter|anti)?clockwise|east|west)(?=most\b|hand\b|wards?\b|ern\b|s?\b)",
    re.IGNORECASE,
)


def mirror_text(text: str | Instruction) -> str | Instruction:
    """Exchange left and right (and east and west) in a text; a parsed tree keeps its shape.

    >>> mirror_text("Turn LEFT, then take the rightmost hall.")
    'Turn RIGHT, then take the leftmost hall.'
    >>> mirror_text(Instruction.chain("bear left")).tokens
    ('bear', 'right')
    """
    if isinstance(text, str):
        return _SIDED.sub(_swap, text)
    return replace(
        text,
        tokens=tuple(_SIDED.sub(_swap, token) for token in text.tokens),
        text=_SIDED.sub(_swap, text.text),
    )


def _swap(found: re.Match[str]) -> str:
    word = found[1]
    other = _SWAPPED[word.lower()]
    if word.isupper():
        return other.upper()
    return other.capitalize() if word[0].isupper() else other


def mirror_demonstration(demonstration: Demonstration, environment: Environment) -> Demonstration:
    """Return a demonstration as a mirror shows it, with half its weight.

    `environment` is the mirrored environment of the demonstration.

    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, rotate
    >>> world = MazeEnvironment(Maze("One", {(3, 4): "lamp"}, []))
    >>> turn = Demonstration("turn left", world, world.start((3, 4), 90), (rotate(270),))
    >>> copy = mirror_demonstration(turn, world.mirrored())
    >>> copy.instructions, copy.start.position, copy.actions, copy.weight
    ('turn right', (-3, 4), (rotate(90),), 0.5)
    """
    start = demonstration.start
    if not isinstance(start, MazeState):
        raise DemonstrationError(
            f"{demonstration} starts in {start!r}, which is not a state of a maze. "
            "Build it with MazeEnvironment.start."
        )
    texts = demonstration.instructions
    mirrored: str | Instruction | tuple[str | Instruction, ...]
    if isinstance(texts, (str, Instruction)):
        mirrored = mirror_text(texts)
    else:
        mirrored = tuple(mirror_text(each) for each in texts)
    return replace(
        demonstration,
        instructions=mirrored,
        environment=environment,
        start=_mirror_state(start),
        actions=_mirror_actions(demonstration.actions, demonstration),
        also=tuple(_mirror_actions(each, demonstration) for each in demonstration.also),
        weight=demonstration.weight / 2,
        negative_starts=tuple(_mirror_state(each) for each in demonstration.negative_starts),
    )


def _mirror_state(state: MazeState) -> MazeState:
    (x, y), orientation, _ = state
    turned = None if orientation is None else -orientation % 360
    return state._replace(position=(-x, y), orientation=turned)


def _mirror_actions(
    actions: Sequence[object], demonstration: Demonstration
) -> tuple[MazeAction, ...]:
    mirrored = []
    for action in actions:
        if not isinstance(action, MazeAction):
            raise DemonstrationError(
                f"{demonstration} contains {action!r}, which is not an action of a maze. "
                "Build actions with move, rotate, face or STAY."
            )
        turns = action.kind in ("rotate", "face")
        mirrored.append(action._replace(amount=-action.amount % 360) if turns else action)
    return tuple(mirrored)
