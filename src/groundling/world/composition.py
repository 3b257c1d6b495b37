"""Composed demonstrations: consecutive demonstrations joined into longer ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise

from groundling.errors import DemonstrationError
from groundling.language.instruction import Instruction, join_instructions
from groundling.language.parser import Parser, load_parser
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, Environment

MOST_WORDS = 30
"""Maximum number of words in a composed text; single utterances are rarely longer."""


def compose(
    demonstrations: Iterable[Demonstration],
    *,
    weight: float = 0.5,
    max_length: int | None = None,
    max_words: int = MOST_WORDS,
    parser: str | Parser = "default",
) -> list[Demonstration]:
    """Join pairs of consecutive demonstrations in the same group into longer ones.

    Two demonstrations are consecutive if they are neighbours in their group, in the order given,
    and the second starts with the outcome of the first. Their dependency trees are joined into one
    sentence, without a connective. Their actions become one plan, in canonical form if the
    environment defines `canonical_plan`. A pair is skipped if the joined plan is impossible or has
    another outcome, or if one of the demonstrations changes nothing.

    Parameters
    ----------
    demonstrations
        The demonstrations. Those without a `group` are ignored.
    weight
        Weight of a composed demonstration, relative to the mean weight of its two parts.
    max_length, max_words
        Maximum number of actions and words of a composed demonstration. The environment's
        `extra_length` is added to `max_length`.
    parser
        The parser for plain texts.

    Examples
    --------
    >>> from groundling import GroundingGraph
    >>> class Line:
    ...     def actions(self, state): return ("left", "right")
    ...     def step(self, state, action): return state + (1 if action == "right" else -1)
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"event": {action: True}})
    >>> line = Line()
    >>> shown = [
    ...     Demonstration("go up", line, 0, ("right",), name="1", group="walk"),
    ...     Demonstration("come back", line, 1, ("left", "left"), name="2", group="walk"),
    ... ]
    >>> for each in compose(shown, parser="chain"):
    ...     print(each.name, each.instructions, each.actions, each.weight)
    1 + 2 go up come back ('right', 'left', 'left') 0.5
    """
    worlds: dict[int, CachedEnvironment] = {}

    def ask(environment: Environment) -> CachedEnvironment:
        return worlds.setdefault(id(environment), CachedEnvironment(environment))

    made = compose_with_names(
        demonstrations,
        weight,
        max_length,
        max_words,
        parser=load_parser(parser),
        world=ask,
    )
    return [each for each, _ in made]


def compose_with_names(
    demonstrations: Iterable[Demonstration],
    weight: float,
    max_length: int | None,
    max_words: int = MOST_WORDS,
    *,
    parser: Parser,
    world: Callable[[Environment], CachedEnvironment],
) -> list[tuple[Demonstration, tuple[str, ...]]]:
    """Compose demonstrations, and return each with the names of its two parts."""
    groups: dict[str, list[Demonstration]] = {}
    for each in demonstrations:
        if each.group:
            groups.setdefault(each.group, []).append(each)
    found = []
    for group in groups.values():
        for first, second in pairwise(group):
            actions = _joined_plan(first, second, world, max_length)
            if actions is not None:
                found.append((first, second, actions))
    trees = _trees((text for one, two, _ in found for text in (one, two)), parser)
    composed: list[tuple[Demonstration, tuple[str, ...]]] = []
    for one, two, actions in found:
        parts = (*trees[id(one)], *trees[id(two)])
        if 0 < sum(map(len, parts)) <= max_words:
            made = Demonstration(
                join_instructions(parts),
                one.environment,
                one.start,
                actions,
                weight=weight * (one.weight + two.weight) / 2,
                name=f"{one.name} + {two.name}",
                group=one.group,
            )
            composed.append((made, (one.name, two.name)))
    return composed


def follow_each_other(
    first: Demonstration, second: Demonstration, ask: Callable[[Environment], CachedEnvironment]
) -> bool:
    """Return whether the second of two demonstrations starts where the first ended.

    Both demonstrations must change the outcome.
    """
    if first.environment is not second.environment:
        return False
    world = ask(first.environment)
    begins, between = world.outcome(first.start), _outcome(first, world)
    if between != world.outcome(second.start):
        return False
    return between not in (begins, _outcome(second, world))


def _outcome(shown: Demonstration, world: CachedEnvironment) -> Hashable:
    return world.outcome(world.carry_out(shown.start, shown.actions, str(shown))[-1])


def _joined_plan(
    first: Demonstration,
    second: Demonstration,
    ask: Callable[[Environment], CachedEnvironment],
    max_length: int | None,
) -> tuple[object, ...] | None:
    """Return the joined actions of two demonstrations, or None if that is impossible."""
    if not follow_each_other(first, second, ask):
        return None
    world = ask(first.environment)
    end = _outcome(second, world)
    actions = world.canonical_plan(first.start, (*first.actions, *second.actions))
    if max_length is not None and len(actions) > max_length + world.extra_length(first.start):
        return None
    try:
        reached = world.carry_out(first.start, actions)[-1]
    except DemonstrationError:
        return None
    return actions if world.outcome(reached) == end else None


def _trees(demonstrations: Iterable[Demonstration], parser: Parser) -> dict[int, list[Instruction]]:
    """Parse the sentences of each demonstration, with plain strings in one batch."""
    parts = {}
    for each in demonstrations:
        text = each.instructions
        parts[id(each)] = [text] if isinstance(text, (str, Instruction)) else list(text)
    plain = list(dict.fromkeys(p for each in parts.values() for p in each if isinstance(p, str)))
    parsed = dict(zip(plain, parser.parse_many(plain), strict=True)) if plain else {}
    return {
        key: [tree for p in each for tree in (parsed[p] if isinstance(p, str) else [p])]
        for key, each in parts.items()
    }
