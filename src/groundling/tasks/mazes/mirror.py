"""Mirror images of demonstrations: left and right exchanged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from groundling.errors import DemonstrationError
from groundling.language.instruction import Instruction
from groundling.tasks.images import exchange_words, image_of, spoken_words
from groundling.tasks.mazes.actions import MazeAction, MazeState
from groundling.world.environment import Demonstration, Environment

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


@dataclass(frozen=True)
class Swaps:
    """Pairs of words that mirroring exchanges, and words without a counterpart.

    Each pair is stored in both directions. A text with one of the `unpaired` words has no mirror
    image: the word would stay the same although the plan changes.

    >>> Swaps({"links": "rechts"}).pairs == {"links": "rechts", "rechts": "links"}
    True
    """

    pairs: Mapping[str, str]
    unpaired: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        both = {**{two: one for one, two in self.pairs.items()}, **self.pairs}
        object.__setattr__(self, "pairs", both)
        object.__setattr__(self, "unpaired", frozenset(self.unpaired) - set(both))


def find_swaps(demonstrations: Iterable[Demonstration], least: float = 4.0) -> Swaps:
    """Return pairs of opposite words, such as *links* (left) and *rechts* (right).

    A word belongs to a side if it occurs more often with plans that turn only to this side than
    with plans that turn only to the other, by at least `least` standard deviations. The most
    frequent words of the two sides form the first pair, and so on. Words stay unpaired if they
    have no partner, or if its frequency is very different.

    Examples
    --------
    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, rotate
    >>> world = MazeEnvironment(Maze("One", {(3, 4): "lamp"}, []))
    >>> def turn(text, angle):
    ...     return Demonstration(text, world, world.start((3, 4), 90), (rotate(angle),))
    >>> shown = [turn("dreh links", 270), turn("dreh rechts", 90)] * 20
    >>> find_swaps(shown).pairs == {"links": "rechts", "rechts": "links"}
    True
    """
    sides: dict[str, Counter[str]] = {"left": Counter(), "right": Counter()}
    for each in demonstrations:
        turns = {
            getattr(a, "amount", 0) for a in each.actions if getattr(a, "kind", "") == "rotate"
        }
        if turns in ({90}, {270}):
            sides["right" if 90 in turns else "left"].update({*spoken_words(each.instructions)})
    left, right = sides["left"], sides["right"]
    leaning = {
        word: (left[word] - right[word]) / (left[word] + right[word]) ** 0.5
        for word in {*left, *right}
    }

    def sided(sign: int) -> list[str]:
        found = [word for word, lean in leaning.items() if sign * lean >= least]
        return sorted(found, key=lambda word: (-left[word] - right[word], word))

    pairs = {
        one: two
        for one, two in zip(sided(1), sided(-1), strict=False)
        if 0.4 <= left[one] / right[two] <= 2.5
    }
    return Swaps(pairs, frozenset(word for word in (*sided(1), *sided(-1))))


def mirror_text(text: str | Instruction, swaps: Swaps | None = None) -> str | Instruction:
    """Return a text or parse tree with left and right, and east and west, exchanged.

    `swaps` are the pairs of words to exchange; the default is the English pairs.

    >>> mirror_text("Turn LEFT, then take the rightmost hall.")
    'Turn RIGHT, then take the leftmost hall.'
    >>> mirror_text(Instruction.chain("bear left")).tokens
    ('bear', 'right')
    """
    return exchange_words(text, partial(_exchange, swaps))


def _exchange(swaps: Swaps | None, words: str) -> str:
    if swaps is None:
        return _SIDED.sub(lambda found: _swap(found[1], _SWAPPED), words)
    if not swaps.pairs:
        return words
    listed = "|".join(map(re.escape, sorted(swaps.pairs, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda found: _swap(found[0], swaps.pairs), words)


def _swap(word: str, pairs: Mapping[str, str]) -> str:
    other = pairs[word.lower()]
    if word.isupper():
        return other.upper()
    return other.capitalize() if word[0].isupper() else other


def mirror_demonstration(
    demonstration: Demonstration, environment: Environment, swaps: Swaps | None = None
) -> Demonstration:
    """Return the mirror image of a demonstration, with half its weight.

    `environment` is the mirrored environment. `swaps` are the pairs of words to exchange; the
    default is the English pairs.

    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, rotate
    >>> world = MazeEnvironment(Maze("One", {(3, 4): "lamp"}, []))
    >>> turn = Demonstration("turn left", world, world.start((3, 4), 90), (rotate(270),))
    >>> copy = mirror_demonstration(turn, world.mirrored())
    >>> copy.instructions, copy.start.position, copy.actions, copy.weight
    ('turn right', (-3, 4), (rotate(90),), 0.5)
    """
    if not isinstance(demonstration.start, MazeState):
        raise DemonstrationError(
            f"{demonstration} must start in a state of a maze; got {demonstration.start!r}. "
            "Create one with MazeEnvironment.start."
        )

    def mirrored(action: object) -> MazeAction:
        if not isinstance(action, MazeAction):
            raise DemonstrationError(
                f"{demonstration} must have actions of a maze; got {action!r}. Create them with "
                "move, rotate, face or STAY."
            )
        turns = action.kind in ("rotate", "face")
        return action._replace(amount=-action.amount % 360) if turns else action

    exchange = partial(_exchange, swaps)
    return image_of(demonstration, exchange, _mirror_state, mirrored, environment=environment)


def _mirror_state(state: MazeState) -> MazeState:
    (x, y), orientation, _ = state
    turned = None if orientation is None else -orientation % 360
    return state._replace(position=(-x, y), orientation=turned)
