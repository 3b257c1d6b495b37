"""Demonstrations made ready for learning: read, checked, carried out, mirrored."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from groundling.data.canonical import canonical
from groundling.errors import AugmentWarning, DemonstrationError, GroundlingError, InstructionError
from groundling.language.instruction import Instruction
from groundling.overlay.encoder import Encoder
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.composition import compose_with_names
from groundling.world.environment import Demonstration
from groundling.world.trajectory import Trajectory

_FEWEST_IMAGES = 20  # with changed actions, before their texts are judged


@dataclass(frozen=True)
class Example:
    """A demonstration with its text read and its plan (and other correct ones) carried out.

    Examples of one group (a demonstration, its mirror images, others it belongs to) stay
    together wherever the data are split.
    """

    demonstration: Demonstration
    instructions: tuple[Instruction, ...]
    world: CachedEnvironment
    trajectory: Trajectory
    also: tuple[Trajectory, ...]
    weight: float
    group: str
    shown: Demonstration | None = None  # as it was given; none for what was made of others
    names: tuple[str, ...] = ()  # of the demonstrations that it was made of


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
    encoder: Encoder,
    demonstrations: Iterable[Demonstration],
    *,
    augment: bool = False,
    composed: float = 0.0,
    max_length: int | None = None,
) -> list[Example]:
    """Read and check demonstrations; with `augment`, add the mirror images a world offers.

    A mirrored demonstration and its images share the weight that it had alone. With
    `composed`, demonstrations that follow each other are also learnt from as one, with that
    weight (see `compose`).
    """
    listed = listed_demonstrations(demonstrations)
    learnt: list[tuple[Demonstration, Demonstration | None, tuple[str, ...]]] = [
        (each, each, (each.name,)) for each in listed
    ]
    if composed:
        made = compose_with_names(
            listed, composed, max_length, parser=encoder.reader.parser, world=encoder.world
        )
        learnt += [(each, None, made_of) for each, made_of in made]
    chosen: list[Demonstration] = []
    groups: list[str] = []
    shown: list[Demonstration | None] = []
    names: list[tuple[str, ...]] = []
    wholes: list[Demonstration | None] = []  # with their whole weight; none for images
    for each, original, made_of in learnt:
        images = tuple(encoder.world(each.environment).mirror(each)) if augment else ()
        share = each.weight / (1 + len(images))
        chosen += [each.weighted(share), *(image.weighted(share) for image in images)]
        # Without a group a demonstration is its own, whatever its place in the list.
        own = f"{each.instructions}|{canonical(each.start)}|{canonical(each.actions)}"
        groups += [each.group or own] * (1 + len(images))
        shown += [original, *(None for _ in images)]
        names += [made_of] * (1 + len(images))
        wholes += [each, *(None for _ in images)]
    texts = _read(encoder, chosen)
    left_out = _contradictions(chosen, texts, wholes)
    examples = []
    for each, text, group, original, made_of, whole in zip(
        chosen, texts, groups, shown, names, wholes, strict=True
    ):
        if left_out:
            if whole is None:
                continue
            each = whole
        world = encoder.bind(each.environment, text)
        if not each.actions:
            raise DemonstrationError(
                f"{each} has no actions. If nothing is to be done, give the environment an action "
                "for that (such as 'stay') and demonstrate it."
            )
        trajectory = world.trace(each.start, each.actions, str(each))
        also = tuple(world.trace(each.start, other, str(each)) for other in each.also)
        examples.append(
            Example(each, text, world, trajectory, also, each.weight, group, original, made_of)
        )
    return examples


def _contradictions(
    chosen: Sequence[Demonstration],
    texts: Sequence[tuple[Instruction, ...]],
    wholes: Sequence[Demonstration | None],
) -> bool:
    """Tell whether mirror images would contradict what they are images of.

    Images whose actions differ although not one word of any text does have been made for
    another language: the same text would ask for two things.
    """
    differ = changed = 0
    original: tuple[Demonstration, tuple[Instruction, ...]] | None = None
    for each, text, whole in zip(chosen, texts, wholes, strict=True):
        if whole is not None:
            original = (each, text)
        elif original is not None and each.actions != original[0].actions:
            differ += 1
            before = [instruction.tokens for instruction in original[1]]
            changed += [instruction.tokens for instruction in text] != before
    if differ < _FEWEST_IMAGES or changed:
        return False
    warnings.warn(
        f"Mirror images change the actions of {differ} demonstrations, but no word of their texts; "
        "they would teach contradictions and are left out. Tell the environment which words swap, "
        "or set Learning(augment=False).",
        AugmentWarning,
        stacklevel=5,  # the caller of Follower.fit
    )
    return True


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
