"""Segmentation of trajectories of moves into macro-actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundling.errors import DemonstrationError
from groundling.features.lexicon import matches_name
from groundling.gym.episode import ActionChoice, Episode
from groundling.gym.objects import ObjectWorld
from groundling.gym.recorder import Recording, opened
from groundling.world.environment import Demonstration

_VIOLATED = -6.0  # score of a mentioned value that the object does not have
_SPELLED = 2.0  # score if the text contains the name of the verb
# score of parts that are carried out in another order than the text mentions them
_REORDERED = -0.5
_AGAIN = -0.5  # score of one event for two parts: *open a door and open the red door*


@dataclass(frozen=True)
class _Event:
    """A macro-action that was completed in a trajectory after `time` moves."""

    time: int
    choices: tuple[ActionChoice, ...]
    strength: float


def cut(world: Any, trajectory: Recording, env: Any = None) -> Demonstration:
    """Return a demonstration of macro-actions, segmented from a trajectory of moves.

    Every event is a candidate, including doors that are opened on the way. The demonstration is the
    sequence of events that best matches the parts of the text, one argument per part, and whose
    last event ends the episode.

    >>> from groundling import gym
    >>> level = gym.babyai("PutNextLocal")
    >>> [demonstration] = [cut(level, each) for each in gym.record(level, [0])]
    >>> [choice.verb for choice in demonstration.actions]
    ['put', 'put']
    """
    named = getattr(world, "name", "")
    if named and trajectory.level and named != trajectory.level:
        raise DemonstrationError(
            f"The trajectory {trajectory.text!r} (seed {trajectory.seed}) must come from the "
            f"level {named}; got {trajectory.level}. Pass the level of the recording."
        )
    if type(world).events is ObjectWorld.events:
        raise DemonstrationError(
            f"{type(world).__name__} must have a method events(before, move, after), so that "
            "trajectories can be segmented. Add this method."
        )
    scenes = trajectory.scenes or _replay(world, trajectory, env)
    parts = world.read(trajectory.text)
    episode = world.episode(scenes[0], parts)
    events = list(_events(world, episode, scenes, trajectory.moves))
    values = _values(episode)
    found = max(_ways(events, parts, episode, values, len(trajectory.moves)), default=None)
    if found is None:
        raise DemonstrationError(
            f"The trajectory {trajectory.text!r} (seed {trajectory.seed}) must complete actions "
            "that match its text; got none. Correct the text, or the method "
            f"{type(world).__name__}.events."
        )
    name = f"{getattr(world, 'name', type(world).__name__)} {trajectory.seed}"
    return Demonstration(parts, episode, (), found[1], name=name)


def _replay(world: Any, trajectory: Recording, env: Any) -> tuple[Any, ...]:
    with opened(world, env) as env:
        text, scene = world.reset(env, trajectory.seed)
        if text != trajectory.text:
            raise DemonstrationError(
                f"The mission of seed {trajectory.seed} must be {trajectory.text!r}; got "
                f"{text!r}. Use the level and version of the recording."
            )
        scenes = [scene]
        for move in trajectory.moves:
            env.step(move)
            scenes.append(world.after(env, scenes[-1], move))
        return tuple(scenes)


def _events(
    world: ObjectWorld, episode: Episode, scenes: Sequence[Any], moves: Sequence[Any]
) -> Iterator[_Event]:
    group = {thing: (things, shown) for things, shown in episode.groups(()) for thing in things}
    roles = {verb.name: verb.roles for verb in world.verbs}
    for time, (before, move, after) in enumerate(zip(scenes, moves, scenes[1:], strict=False), 1):
        for strength, verb, things in world.events(before, move, after):
            if all(each in group for each in things):
                choices = tuple(
                    ActionChoice(verb, role, *group[each])
                    for role, each in zip(roles[verb], things, strict=True)
                )
                yield _Event(time, choices, strength)


def _values(episode: Episode) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for things, _ in episode.groups(()):
        for label in episode.labels(things):
            if isinstance(label.value, str) and label.name in episode.world.slots:
                found.setdefault(label.name, set()).add(label.value)
    return found


def _agreement(
    part: str, choice: ActionChoice, episode: Episode, values: Mapping[str, set[str]]
) -> float:
    """Return a score for how well an object matches a part of the text."""
    own: dict[str, set[str]] = {}
    for label in episode.labels(choice.things):
        if isinstance(label.value, str):
            own.setdefault(label.name, set()).add(label.value)
    begins = {
        words[0]
        for verb in episode.world.verbs
        for words in verb.introductions[1:]
        if part.startswith(tuple(f"{each} " for each in words))
    }
    further = any(choice.role in verb.roles[1:] for verb in episode.world.verbs)
    total = 0.0
    if choice.role not in begins if further else begins:
        total += _VIOLATED
    elif choice.verb in part:
        total += _SPELLED
    for word in part.split():
        for kind, known in values.items():
            named = {value for value in known if matches_name(word, value)}
            if named:
                total += 1.0 if named & own.get(kind, set()) else _VIOLATED
    return total


def _ways(
    events: Sequence[_Event],
    parts: Sequence[str],
    episode: Episode,
    values: Mapping[str, set[str]],
    end: int,
) -> Iterator[tuple[float, tuple[ActionChoice, ...]]]:
    """Yield candidate sequences of choices, one for each part, with their scores."""
    fits: dict[tuple[str, ActionChoice], float] = {}

    def fit(start: int, event: _Event) -> float:
        total = event.strength
        for part, choice in zip(parts[start:], event.choices, strict=False):
            key = (part, choice)
            if key not in fits:
                fits[key] = _agreement(part, choice, episode, values)
            total += fits[key]
        return total

    size = len(parts)
    turns = range(size) if episode.world.reorders else (0,)
    for turn in turns:  # the parts from here on are carried out first
        order = (*range(turn, size), *range(turn))
        turned = turn if not parts[turn].startswith(episode.world.unordered) else 0
        yield from _chain(events, order, turn, turned, fit, end)


def _chain(
    events: Sequence[_Event],
    order: Sequence[int],
    turn: int,
    earlier: int,
    fit: Callable[[int, _Event], float],
    end: int,
) -> Iterator[tuple[float, tuple[ActionChoice, ...]]]:
    """Yield the best sequences of choices for parts in execution order, with scores."""
    size = len(order)
    # best[k]: (score, time, chosen) chains that have used the first k parts, by their last time
    best: list[dict[int, tuple[float, tuple[tuple[int, _Event], ...]]]] = [
        {} for _ in range(size + 1)
    ]
    best[0][0] = (_REORDERED if turn else 0.0, ())

    def extend(
        used: int, event: _Event, score: float, chosen: tuple[tuple[int, _Event], ...]
    ) -> None:
        after = best[used + len(event.choices)]
        if event.time not in after or score > after[event.time][0]:
            after[event.time] = (score, (*chosen, (order[used], event)))

    for event in events:
        count = len(event.choices)
        together = [  # arguments of one verb are consecutive
            used
            for used in range(size - count + 1)
            if order[used + count - 1] - order[used] == count - 1
        ]
        for used in reversed(together):  # in reverse order, so that no event is used twice
            before = [known for at, known in best[used].items() if at <= event.time]
            if before:
                score, chosen = max(before, key=lambda each: each[0])
                extend(used, event, score + fit(order[used], event), chosen)
        for used in together:  # unless an event agrees with both parts
            score, chosen = best[used].get(event.time, (0.0, ()))
            again = fit(order[used], event)
            if chosen and chosen[-1][1] is event and again > 0:
                extend(used, event, score + again + _AGAIN, chosen)
    found = best[size].get(end)
    if found is not None:
        said = sorted(found[1], key=lambda each: each[0])
        yield (
            found[0],
            tuple(
                choice._replace(earlier=0 < earlier == place + number)
                for place, event in said
                for number, choice in enumerate(event.choices)
            ),
        )
