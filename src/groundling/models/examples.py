"""Demonstrations made ready for learning: read, checked, carried out, mirrored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from groundling.data.canonical import canonical
from groundling.errors import DemonstrationError, GroundlingError, InstructionError
from groundling.language.instruction import Instruction
from groundling.overlay.encoder import Encoder
from groundling.world.environment import Demonstration, World
from groundling.world.trajectory import Trajectory

__all__ = ["Example", "Skipped", "listed_demonstrations", "prepare", "sift"]


@dataclass(frozen=True)
class Example:
    """A demonstration with its text read and its plan (and other correct ones) carried out.

    Examples of one group (a demonstration, its mirror images, others it belongs to) stay
    together wherever the data are split.
    """

    demonstration: Demonstration
    instructions: tuple[Instruction, ...]
    world: World
    trajectory: Trajectory
    also: tuple[Trajectory, ...]
    weight: float
    group: str
    shown: Demonstration | None = None  # as it was given; none for a mirror image


def listed_demonstrations(demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
    """Return demonstrations as a list, or complain of what is none.

    >>> listed_demonstrations([])
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: There are no demonstrations to learn from. Give fit at
    least one Demonstration.
    """
    given: Any = demonstrations
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DemonstrationError(
            f"fit learns from a list of demonstrations, not from a {type(given).__name__}."
        )
    listed = list(given)
    for place, each in enumerate(listed, 1):
        if not isinstance(each, Demonstration):
            raise DemonstrationError(
                f"Demonstration {place} is a {type(each).__name__}; make it a Demonstration("
                "instructions, environment, start, actions)."
            )
    if not listed:
        raise DemonstrationError(
            "There are no demonstrations to learn from. Give fit at least one Demonstration."
        )
    return listed


@dataclass(frozen=True)
class Skipped:
    """A demonstration that was left out of learning, and why."""

    demonstration: Demonstration
    problem: str


def sift(
    encoder: Encoder, demonstrations: Sequence[Demonstration]
) -> tuple[list[Demonstration], list[Skipped]]:
    """Return the demonstrations that can be read and carried out, and why others cannot."""
    try:
        if demonstrations:
            prepare(encoder, demonstrations)
        return list(demonstrations), []
    except GroundlingError:
        good, bad = [], []
        for each in demonstrations:
            try:
                prepare(encoder, [each])
                good.append(each)
            except GroundlingError as error:
                bad.append(Skipped(each, str(error)))
        return good, bad


def prepare(
    encoder: Encoder, demonstrations: Iterable[Demonstration], *, augment: bool = False
) -> list[Example]:
    """Read and check demonstrations; with `augment`, add the mirror images a world offers.

    A mirrored demonstration and its images share the weight that it had alone.
    """
    chosen: list[Demonstration] = []
    groups: list[str] = []
    shown: list[Demonstration | None] = []
    for each in listed_demonstrations(demonstrations):
        images = tuple(encoder.world(each.environment).mirror(each)) if augment else ()
        share = each.weight / (1 + len(images))
        chosen += [each.weighted(share), *(image.weighted(share) for image in images)]
        # Without a group a demonstration is its own, whatever its place in the list.
        own = f"{each.instructions}|{canonical(each.start)}|{canonical(each.actions)}"
        groups += [each.group or own] * (1 + len(images))
        shown += [each, *(None for _ in images)]
    texts = _read(encoder, chosen)
    examples = []
    for each, text, group, given in zip(chosen, texts, groups, shown, strict=True):
        world = encoder.world(each.environment)
        if not each.actions:
            raise DemonstrationError(
                f"{each} has no actions. If nothing is to be done, give the environment an action "
                "for that (such as 'stay') and demonstrate it."
            )
        trajectory = world.trace(each.start, each.actions, str(each))
        also = tuple(world.trace(each.start, other, str(each)) for other in each.also)
        examples.append(Example(each, text, world, trajectory, also, each.weight, group, given))
    return examples


def _read(
    encoder: Encoder, demonstrations: Sequence[Demonstration]
) -> list[tuple[Instruction, ...]]:
    try:
        return encoder.reader.read_many(each.instructions for each in demonstrations)
    except InstructionError:
        # Read one by one to say which demonstration it was.
        for place, each in enumerate(demonstrations, 1):
            try:
                encoder.reader.read(each.instructions)
            except GroundlingError as error:
                which = str(each) if each.name else f"Demonstration {place}"
                raise DemonstrationError(f"{which}: {error}") from error
        raise
