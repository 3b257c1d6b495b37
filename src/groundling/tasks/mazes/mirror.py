"""Left and right exchanged: a second, equally true version of every demonstration."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from groundling.errors import DemonstrationError
from groundling.language.instruction import Instruction
from groundling.language.sentences import split_words
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
    """The words that a mirror exchanges, each for its pair, and those without a known pair.

    A text with a word of `unpaired` has no mirror image: it would contradict the original.

    >>> Swaps({"links": "rechts"}).pairs["rechts"]
    'links'
    """

    pairs: Mapping[str, str]
    unpaired: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        both = {**{two: one for one, two in self.pairs.items()}, **self.pairs}
        object.__setattr__(self, "pairs", both)
        object.__setattr__(self, "unpaired", frozenset(self.unpaired) - set(both))


def find_swaps(demonstrations: Iterable[Demonstration], least: float = 4.0) -> Swaps:
    """Find the words that go with left turns only, or right turns only, and pair them.

    Words are counted in plans that turn to one side. Those that lean to a side by `least`
    standard deviations or more are sided; the most frequent of both sides are a pair, then the
    next, where they are about equally frequent. Others stay unpaired.

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
            texts = each.instructions
            parts = [texts] if isinstance(texts, (str, Instruction)) else texts
            sides["right" if 90 in turns else "left"].update(
                {
                    word.lower()
                    for part in parts
                    for word in (split_words(part) if isinstance(part, str) else part.tokens)
                }
            )
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
    """Exchange left and right (and east and west) in a text; a parsed tree keeps its shape.

    With `swaps`, its words are exchanged; without, those of English.

    >>> mirror_text("Turn LEFT, then take the rightmost hall.")
    'Turn RIGHT, then take the leftmost hall.'
    >>> mirror_text(Instruction.chain("bear left")).tokens
    ('bear', 'right')
    """

    def exchange(words: str) -> str:
        if swaps is None:
            return _SIDED.sub(lambda found: _swap(found[1], _SWAPPED), words)
        if not swaps.pairs:
            return words
        listed = "|".join(map(re.escape, sorted(swaps.pairs, key=len, reverse=True)))
        pattern = re.compile(rf"(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)
        return pattern.sub(lambda found: _swap(found[0], swaps.pairs), words)

    if isinstance(text, str):
        return exchange(text)
    return replace(text, tokens=tuple(map(exchange, text.tokens)), text=exchange(text.text))


def _swap(word: str, pairs: Mapping[str, str]) -> str:
    other = pairs[word.lower()]
    if word.isupper():
        return other.upper()
    return other.capitalize() if word[0].isupper() else other


def mirror_demonstration(
    demonstration: Demonstration, environment: Environment, swaps: Swaps | None = None
) -> Demonstration:
    """Return a demonstration as a mirror shows it, with half its weight.

    `environment` is the mirrored environment of the demonstration, `swaps` are the words that
    are exchanged, by default those of English.

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
        mirrored = mirror_text(texts, swaps)
    else:
        mirrored = tuple(mirror_text(each, swaps) for each in texts)
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
