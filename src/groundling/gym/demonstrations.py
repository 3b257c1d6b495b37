"""Validation of demonstrated macro-actions, and their conversion to choices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from groundling.errors import DemonstrationError, did_you_mean
from groundling.gym.episode import ActionChoice, Episode
from groundling.world.environment import Demonstration

if TYPE_CHECKING:
    from groundling.gym.objects import ObjectWorld

_MOST_ALSO = 64  # maximum number of equally correct plans of a demonstration

Given = tuple[str, tuple[tuple[Any, ...], ...], bool]


def checked_macro(world: ObjectWorld, verb: Any, things: Any, where: str) -> Given:
    """Check a macro-action, and return its verb and its acceptable objects."""
    known = {each.name: each for each in world.verbs}
    if not isinstance(verb, str) or verb not in known:
        hint = did_you_mean(verb, known) if isinstance(verb, str) else ""
        raise DemonstrationError(
            f"{where} must use only verbs in {type(world).__name__}.verbs; got {verb!r}.{hint}"
        )
    roles = known[verb].roles
    example = ", ".join("[name, …]" for _ in roles)
    if isinstance(things, (str, bytes)) or not isinstance(things, Iterable):
        raise DemonstrationError(
            f"{where} must give {verb!r} a list of names for each role, such as [{example}]; "
            f"got {things!r}."
        )
    listed = list(things)
    if len(listed) != len(roles):
        named = ", ".join(map(repr, roles))
        raise DemonstrationError(
            f"{where} must give {verb!r} {len(roles)} argument{'s' * (len(roles) != 1)} "
            f"({named}), such as [{example}]; got {len(listed)}."
        )
    for role, each in zip(roles, listed, strict=True):
        if isinstance(each, (str, bytes)) or not isinstance(each, Iterable):
            raise DemonstrationError(
                f"{where} must list the acceptable names for the {role!r} of {verb!r}; got "
                f"{each!r}. Put the name into a list."
            )
    arguments = tuple(tuple(each) for each in listed)
    for role, names in zip(roles, arguments, strict=True):
        if not names:
            raise DemonstrationError(
                f"{where} must list the acceptable names for the {role!r} of {verb!r}; got "
                "none. Add at least one object."
            )
    return verb, arguments, False


def demonstrate(
    world: ObjectWorld, text: str, scene: Any, actions: Sequence[Any], name: str, turned: bool
) -> Demonstration:
    """Return a demonstration of actions, which are given in the order of the text.

    `turned` is true if the first clause of the text is carried out last.
    """
    where = f"The demonstration {name or text!r}"
    if not isinstance(text, str):
        raise DemonstrationError(f"The text of a demonstration must be a string; got {text!r}.")
    parts = world.read(text)
    if not parts:
        raise DemonstrationError(
            f"{where} must have at least one word; got none. Enter an instruction."
        )
    given = _checked(world, actions, where)
    turn = next((place for place, each in enumerate(given) if each[2]), 0)
    if turn and turned:
        given = [(verb, things, False) for verb, things, _ in (*given[turn:], *given[:turn])]
    episode = world.episode(scene, parts)
    options = list(_options(episode, given, where))
    plans = []
    for plan in product(*options):
        if episode.is_possible(plan):
            plans.append(plan)
        if len(plans) > _MOST_ALSO:
            break
    if not plans:
        shown = ", ".join(str(each[0]) for each in options)
        raise DemonstrationError(
            f"{where} must have actions that are possible in this order; got {shown}. Correct the "
            f"actions, or the methods {type(world).__name__}.allows and effect."
        )
    return Demonstration(parts, episode, (), plans[0], name=name, also=tuple(plans[1:]))


def _checked(world: ObjectWorld, actions: Any, where: str) -> list[Given]:
    if isinstance(actions, (str, bytes)) or not isinstance(actions, Iterable):
        raise DemonstrationError(
            f"{where} must have a list of (verb, objects) pairs; got {actions!r}. Pass one "
            "pair for each action."
        )
    found: list[Given] = []
    for place, each in enumerate(actions):
        if not isinstance(each, (tuple, list)) or len(each) not in (2, 3):
            raise DemonstrationError(
                f"{where}: an action must be (verb, objects) or (verb, objects, earlier), such as "
                f"('take', [['cup 1', 'cup 2']]); got {each!r}."
            )
        earlier = len(each) == 3 and bool(each[2])
        verb, things, _ = checked_macro(world, each[0], each[1], where)
        if earlier and not world.reorders:
            raise DemonstrationError(
                f"{where} must not mark {verb!r} as done earlier, unless "
                f"{type(world).__name__}.reorders is True. Set this attribute, or remove the mark."
            )
        if earlier and place == 0:
            raise DemonstrationError(
                f"{where} must not mark its first action as done earlier. Remove the mark."
            )
        found.append((verb, things, earlier))
    if not found:
        raise DemonstrationError(
            f"{where} must have at least one action; got none. Pass a (verb, objects) pair."
        )
    return found


def _options(episode: Episode, given: Sequence[Given], where: str) -> Iterable[list[ActionChoice]]:
    """Yield, for each argument of each action, the list of acceptable choices."""
    world = episode.world
    roles = {each.name: each.roles for each in world.verbs}
    for place, (verb, arguments, earlier) in enumerate(given):
        fixed = not (place and world.has_effects)  # the objects are known before any choice is made
        for number, (role, names) in enumerate(zip(roles[verb], arguments, strict=True)):
            wanted = set(names)
            found = [
                ActionChoice(verb, role, things, shown, earlier and number == 0)
                for things, shown in episode.groups(())
                if wanted & set(things)
            ]
            if not found:
                raise DemonstrationError(
                    f"{where} must use only objects in the scene; got "
                    f"{sorted(map(str, wanted))[:4]} for {verb!r}. Use names of objects in the "
                    "scene."
                )
            if fixed and not number and not _is_allowed(episode, verb, wanted):
                raise DemonstrationError(
                    f"{where} must use only objects that {type(world).__name__}.allows "
                    "accepts; got "
                    f"{sorted(map(str, wanted))[:4]} for {verb!r}. Use another object or "
                    "verb."
                )
            yield found


def _is_allowed(episode: Episode, verb: str, names: Iterable[Any]) -> bool:
    role = next(each for each in episode.world.verbs if each.name == verb).roles[0]
    return any(episode.world.allows(episode.scene, verb, role, each, ()) for each in names)
