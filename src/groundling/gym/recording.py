"""Recording: what a teacher, a bot or a person does, and its cutting into macro-actions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundling.errors import DemonstrationError, SettingError
from groundling.features.lexicon import matches_name
from groundling.gym.objects import Choice, Episode, ObjectWorld
from groundling.gym.optional import require
from groundling.world.environment import Demonstration

__all__ = ["Trajectory", "cut", "record"]

_LONGEST = 5_000  # moves that a policy may make where the environment sets no limit
_VIOLATED = -6.0  # a named value that the object does not have
_SPELLED = 2.0  # a verb that is called what it is
_REORDERED = -0.5  # said in another order than done


@dataclass(frozen=True)
class Trajectory:
    """What was done in one episode, move by move.

    `observations` has one more entry than `moves`; `scenes` are what the world saw at the same
    times, if it was there (they are not kept in files, and made again by replaying).
    """

    text: str
    seed: int
    moves: tuple[Any, ...]
    rewards: tuple[float, ...] = ()
    terminated: bool = False
    truncated: bool = False
    observations: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    infos: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    scenes: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    @property
    def success(self) -> bool:
        """Whether the environment gave a reward."""
        return sum(self.rewards) > 0


def record(
    world: Any,
    seeds: Iterable[int],
    policy: Any = None,
    *,
    human: bool | str = False,
    env: Any = None,
    read: Callable[[str], str] = input,
) -> list[Trajectory]:
    """Record one episode for each seed.

    Parameters
    ----------
    world
        A level such as `babyai("GoToLocal")`, or another `ObjectWorld` with `make` and `reset`.
    policy
        A function of the environment and its scene that returns a move; or a bot, a class made
        from the environment whose `replan(last_move)` returns one (as MiniGrid's `BabyAIBot`).
        By default the world's own teacher acts.
    human
        Let a person act: `"window"`, `"terminal"`, or `True` for a window where there is a
        screen. A mission that is given up (q) is not recorded.
    env
        The environment, if it is not `world.make()`.
    read
        What asks the person in a terminal.

    Examples
    --------
    >>> from groundling import gym
    >>> [trajectory] = record(gym.babyai("GoToObjS4"), [0])
    >>> trajectory.success, len(trajectory.moves) == len(trajectory.rewards)
    (True, True)
    """
    if human and policy is not None:
        raise SettingError("record takes a policy or human=True, not both.")
    way = _way(human)
    own = env is None
    env = (world.make(render_mode="human") if way == "window" else world.make()) if own else env
    try:
        found = []
        for seed in seeds:
            text, scene = world.reset(env, seed)
            if way == "window":
                chooser = _in_window(world, env)
            elif way == "terminal":
                chooser = _in_terminal(world, text, read)
            else:
                chooser = _chooser(world, env, policy)
            trajectory = _run(world, env, text, int(seed), scene, chooser)
            if trajectory is not None:
                found.append(trajectory)
        return found
    finally:
        if own:
            env.close()


def _way(human: bool | str) -> str:
    if human in (False, "window", "terminal"):
        return str(human or "")
    if human is not True:
        raise SettingError(f"record takes human=True, 'window' or 'terminal', not {human!r}.")
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.name == "nt"
    return "window" if screen else "terminal"


Chooser = Callable[[Any, Any], Any]
"""From the scene and the last move to the next move; None to give up."""


def _run(
    world: Any, env: Any, text: str, seed: int, scene: Any, choose: Chooser
) -> Trajectory | None:
    scenes, observations = [scene], [_seen(env)]
    moves: list[Any] = []
    rewards: list[float] = []
    infos: list[dict[str, Any]] = []
    terminated = truncated = False
    last = None
    while not (terminated or truncated) and len(moves) < _LONGEST:
        last = choose(scenes[-1], last)
        if last is None:
            return None
        if last is StopIteration:
            break
        observation, reward, terminated, truncated, info = env.step(last)
        moves.append(last)
        rewards.append(float(reward))
        infos.append(dict(info))
        observations.append(observation)
        scenes.append(world.observe(env))
    return Trajectory(
        text, seed, tuple(moves), tuple(rewards), bool(terminated), bool(truncated),
        tuple(observations), tuple(infos), tuple(scenes),
    )  # fmt: skip


def _seen(env: Any) -> Any:
    """Return the first observation, which `reset` gave before we were asked."""
    unwrapped = env.unwrapped
    return unwrapped.gen_obs() if hasattr(unwrapped, "gen_obs") else unwrapped.observation()


def _chooser(world: Any, env: Any, policy: Any) -> Chooser:
    if policy is None:
        waiting = _teach(world, env)
        return lambda scene, last: next(waiting, StopIteration)
    if hasattr(policy, "replan"):
        bot = policy(env.unwrapped)
        return lambda scene, last: int(bot.replan(last))
    return lambda scene, last: policy(env, scene)


def _teach(world: Any, env: Any) -> Iterator[Any]:
    """Yield the moves of the world's teacher."""
    said = world.mission(env)
    turn = next((place for place, each in enumerate(said) if each[2]), 0)
    for verb, things, _ in (*said[turn:], *said[:turn]):
        action = world.macro(verb, things)
        yield from world.moves(world.observe(env), action)


def _in_terminal(world: Any, text: str, read: Callable[[str], str]) -> Chooser:
    keys = {**world.keys, "q": None}
    waiting: list[str] = []

    def choose(scene: Any, last: Any) -> Any:
        while not waiting:
            shown = ", ".join(world.keys)
            line = read(f"{scene}\n{text} [{shown}; q gives up] ")
            waiting.extend(letter for letter in line.strip().lower() if letter in keys)
        return keys[waiting.pop(0)]

    return choose


def _in_window(world: Any, env: Any) -> Chooser:
    pygame = require("pygame")

    def choose(scene: Any, last: Any) -> Any:
        env.render()
        while True:
            event = pygame.event.wait()
            if event.type == pygame.QUIT:
                return None
            if event.type == pygame.KEYDOWN:
                name = pygame.key.name(event.key)
                if name in ("q", "escape"):
                    return None
                for letter in (name, world.arrows.get(name, "")):
                    if letter in world.keys:
                        return world.keys[letter]

    return choose


# ---- cutting ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Event:
    """Something that happened at a time and might have been asked for."""

    time: int
    choices: tuple[Choice, ...]
    strength: float


def cut(world: Any, trajectory: Trajectory, env: Any = None) -> Demonstration:
    """Return a trajectory as a demonstration of macro-actions.

    Whatever happens on the way is a candidate: doors are opened to get through, things are
    picked up to clear the way. Those are kept, in order, that agree with what the parts of the
    text name, of which there are as many as parts, and the last of which ends the episode.

    >>> from groundling import gym
    >>> level = gym.babyai("PutNextLocal")
    >>> [demonstration] = [cut(level, each) for each in record(level, [0])]
    >>> [choice.verb for choice in demonstration.actions]
    ['put', 'put']
    """
    scenes = trajectory.scenes or _replay(world, trajectory, env)
    parts = world.read(trajectory.text)
    episode = world.episode(scenes[0], parts)
    events = list(_events(world, episode, scenes, trajectory.moves))
    values = _values(episode)
    found = max(_ways(events, parts, episode, values, len(trajectory.moves)), default=None)
    if found is None:
        raise DemonstrationError(
            f"The trajectory {trajectory.text!r} (seed {trajectory.seed}) cannot be cut: nothing "
            f"that happened in its {len(trajectory.moves)} moves fits the text."
        )
    name = f"{getattr(world, 'name', type(world).__name__)} {trajectory.seed}"
    return Demonstration(parts, episode, (), found[1], name=name)


def _replay(world: Any, trajectory: Trajectory, env: Any) -> tuple[Any, ...]:
    own = env is None
    env = world.make() if own else env
    try:
        text, scene = world.reset(env, trajectory.seed)
        if text != trajectory.text:
            raise DemonstrationError(
                f"The trajectory says {trajectory.text!r}, but seed {trajectory.seed} of this "
                f"environment says {text!r}. Use the level and version it was recorded with."
            )
        scenes = [scene]
        for move in trajectory.moves:
            env.step(move)
            scenes.append(world.observe(env))
        return tuple(scenes)
    finally:
        if own:
            env.close()


def _events(
    world: ObjectWorld, episode: Episode, scenes: Sequence[Any], moves: Sequence[Any]
) -> Iterator[_Event]:
    group = {thing: (things, shown) for things, shown in episode.groups(()) for thing in things}
    roles = {verb.name: verb.roles for verb in world.verbs}
    for time, (before, move, after) in enumerate(zip(scenes, moves, scenes[1:], strict=False), 1):
        for strength, verb, things in world.events(before, move, after):
            if all(each in group for each in things):
                choices = tuple(
                    Choice(verb, role, *group[each])
                    for role, each in zip(roles[verb], things, strict=True)
                )
                yield _Event(time, choices, strength)


def _values(episode: Episode) -> dict[str, set[str]]:
    """Return all values of each kind of label."""
    found: dict[str, set[str]] = {}
    for things, _ in episode.groups(()):
        for label in episode.labels(things):
            if isinstance(label.value, str):
                found.setdefault(label.name, set()).add(label.value)
    return found


def _agreement(
    part: str, choice: Choice, episode: Episode, values: Mapping[str, set[str]]
) -> float:
    """Return how well an object fits what a part of the text names."""
    own: dict[str, set[str]] = {}
    for label in episode.labels(choice.things):
        if isinstance(label.value, str):
            own.setdefault(label.name, set()).add(label.value)
    roles = {role for verb in episode.world.verbs for role in verb.roles[1:]}
    begins = next((role for role in roles if part.startswith(role)), "")
    total = 0.0
    if (choice.role if choice.role in roles else "") != begins:
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
) -> Iterator[tuple[float, tuple[Choice, ...]]]:
    """Yield the ways to read events as what the parts name, with how well they fit."""
    fits: dict[tuple[str, Choice], float] = {}

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
    for turn in turns:  # what is said from this part on is done first
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
) -> Iterator[tuple[float, tuple[Choice, ...]]]:
    """Yield the best chain of events whose arguments are the parts in the order of doing."""
    size = len(order)
    # best[k]: (score, time, chosen) chains that have used the first k parts, by their last time
    best: list[dict[int, tuple[float, tuple[tuple[int, _Event], ...]]]] = [
        {} for _ in range(size + 1)
    ]
    best[0][0] = (_REORDERED if turn else 0.0, ())
    for event in events:
        count = len(event.choices)
        for used in range(size - count + 1):
            places = order[used : used + count]
            if places[-1] - places[0] != count - 1:
                continue  # arguments of one verb stand together
            before = [(*known, at) for at, known in best[used].items() if at <= event.time]
            if not before:
                continue
            score, chosen, _ = max(before, key=lambda each: each[0])
            total = score + fit(places[0], event)
            known = best[used + count].get(event.time)
            if known is None or total > known[0]:
                best[used + count][event.time] = (total, (*chosen, (places[0], event)))
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
