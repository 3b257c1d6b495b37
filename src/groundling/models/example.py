"""Preparation of demonstrations: parsing, checking, execution and mirroring."""

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

_FEWEST_IMAGES = 20  # minimum mirror images with changed actions for a check of their texts


@dataclass(frozen=True)
class Example:
    """A demonstration with its parsed text and the trajectories of its correct plans.

    Examples of one group, such as a demonstration and its mirror images, stay together whenever the
    data are split.
    """

    demonstration: Demonstration
    instructions: tuple[Instruction, ...]
    world: CachedEnvironment
    trajectory: Trajectory
    also: tuple[Trajectory, ...]
    weight: float
    group: str
    shown: Demonstration | None = None  # the original; None for mirror images and compositions
    names: tuple[str, ...] = ()  # names of the demonstrations it is derived from


def listed_demonstrations(demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
    """Return demonstrations as a list; raise `DemonstrationError` if they are invalid.

    >>> listed_demonstrations([])
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: `fit` needs at least one demonstration; got none. Pass a
    Demonstration.
    """
    given: Any = demonstrations
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DemonstrationError(
            "The demonstrations must be a list of Demonstration objects; got "
            f"{type(given).__name__}. Pass a list."
        )
    listed = list(given)
    for place, each in enumerate(listed, 1):
        if not isinstance(each, Demonstration):
            raise DemonstrationError(
                f"Demonstration {place} must be a Demonstration(instructions, environment, start, "
                f"actions); got {type(each).__name__}."
            )
    if not listed:
        raise DemonstrationError(
            "`fit` needs at least one demonstration; got none. Pass a Demonstration."
        )
    return listed


@dataclass(frozen=True)
class Skipped:
    """A demonstration that was left out of training, and the reason."""

    demonstration: Demonstration
    problem: str


def sift(
    encoder: Encoder, demonstrations: Sequence[Demonstration]
) -> tuple[list[Demonstration], list[Skipped]]:
    """Return the usable demonstrations, and the skipped ones with the reasons."""
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
    """Parse and check demonstrations; with `augment`, add the world's mirror images.

    A demonstration shares its weight equally with its mirror images. With `composed`, consecutive
    demonstrations are also joined and added with that relative weight (see `compose`).
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
    wholes: list[Demonstration | None] = []  # with their full weight; None for mirror images
    for each, original, made_of in learnt:
        images = tuple(encoder.world(each.environment).mirror(each)) if augment else ()
        share = each.weight / (1 + len(images))
        chosen += [each.weighted(share), *(image.weighted(share) for image in images)]
        # The default group does not depend on the position in the list.
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
                f"{each} must have at least one action; got none. To demonstrate doing nothing, "
                "add an action for it (such as 'stay') to the environment and demonstrate that."
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
    """Return whether mirror images contradict the originals, and warn if they do.

    If mirroring changes actions but no word of any text, the environment swaps words of another
    language. The same text would then have two contradictory plans.
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
        f"Mirror images change the actions of {differ} demonstrations, but no word of their texts. "
        "They would contradict the originals, and are left out. Pass the words to swap to "
        "the environment, or set Learning(augment=False).",
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
        # Parse one by one to find the demonstration that failed.
        for place, each in enumerate(demonstrations, 1):
            try:
                encoder.reader.read(each.instructions)
            except GroundlingError as error:
                which = str(each) if each.name else f"Demonstration {place}"
                raise DemonstrationError(f"{which}: {error}") from error
        raise
