"""Recording of episodes that are played by a teacher, a bot or a person."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from groundling.errors import SettingError
from groundling.gym.episode import in_doing_order
from groundling.gym.optional import require

_LONGEST = 5_000  # maximum number of moves of a policy if the environment sets no limit


@dataclass(frozen=True)
class Recording:
    """A recorded episode: its text, moves, observations, rewards and infos.

    `observations` and `scenes` have one more entry than `moves`. Files do not store scenes, which
    are restored by replaying the moves. `level` is the name of the world, if it has one.
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
    level: str = field(default="", repr=False, compare=False)

    @property
    def success(self) -> bool:
        """Whether the environment gave a positive reward."""
        return sum(self.rewards) > 0


def record(
    world: Any,
    seeds: int | Iterable[int],
    policy: Any = None,
    *,
    texts: Sequence[str] | None = None,
    human: bool | str = False,
    env: Any = None,
    read: Callable[[str], str] = input,
) -> list[Recording]:
    """Record one episode for each seed, and return the trajectories.

    Parameters
    ----------
    world
        A level such as `babyai("GoToLocal")`, or your own `ObjectWorld`.
    seeds
        Seeds of the episodes, or the number of episodes.
    policy
        What chooses the moves: a function of the environment and its scene that returns a move,
        or None at the end; or a bot class whose `replan(last_move)` returns a move, such as
        MiniGrid's `BabyAIBot`. Defaults to the teacher of the world (`mission(env)`).
    texts
        The text for each seed. Defaults to the mission in the observation, the info, or an
        attribute of the environment.
    human
        Let a person act, in a `"window"` or a `"terminal"`; `True` opens a window if there is a
        screen. Missions that the person quits (key q) are not recorded.
    env
        The environment. Defaults to `world.make()`.
    read
        Function that reads one key from the terminal.

    Examples
    --------
    >>> from groundling import gym
    >>> [trajectory] = record(gym.babyai("GoToObjS4"), [0])
    >>> trajectory.success, len(trajectory.moves) == len(trajectory.rewards)
    (True, True)
    """
    if human and policy is not None:
        raise SettingError("`policy` must not be combined with `human`. Remove one of them.")
    way = _way(human)
    listed = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    _check(world, env, policy, way)
    if texts is not None and (isinstance(texts, str) or len(texts) != len(listed)):
        got = "a string" if isinstance(texts, str) else f"a list of {len(texts)}"
        raise SettingError(
            f"`texts` must be a list of strings, one for each seed ({len(listed)}); got {got}."
        )
    found = []
    settings = {"render_mode": "human"} if way == "window" else {}
    with opened(world, env, **settings) as env:
        for number, seed in enumerate(listed):
            text, scene, first = _begin(world, env, seed, None if texts is None else texts[number])
            if way == "window":
                chooser = _in_window(world, env)
            elif way == "terminal":
                chooser = _in_terminal(world, text, read)
            else:
                chooser = _chooser(world, env, policy)
            trajectory = _run(world, env, text, int(seed), scene, first, chooser)
            if trajectory is not None:
                found.append(trajectory)
    return found


@contextmanager
def opened(world: Any, env: Any, **settings: Any) -> Iterator[Any]:
    """Yield `env`; if it is None, yield a new environment and close it afterwards."""
    with nullcontext(env) if env is not None else closing(world.make(**settings)) as used:
        yield used


def _check(world: Any, env: Any, policy: Any, way: str) -> None:
    """Raise `SettingError` if world, environment or policy lacks a required method."""
    name = type(world).__name__
    if not hasattr(world, "observe"):
        raise SettingError(
            f"`world` must be an ObjectWorld; got a {name}. Pass a level such as "
            "babyai('GoToLocal'), or your own ObjectWorld."
        )
    if env is None and not hasattr(world, "make"):
        raise SettingError(
            f"{name} must have a method make() that returns an environment. Add this method, or "
            "pass record(…, env=…)."
        )
    if way or callable(policy) or hasattr(policy, "replan"):
        return
    if policy is not None:
        raise SettingError(
            f"`policy` must be a function of the environment and its scene; got {policy!r}."
        )
    if not hasattr(world, "mission"):
        raise SettingError(
            f"{name} must have a method mission(env), which returns the actions to demonstrate. "
            "Add this method, or pass policy=… or human=True."
        )


class _Watched:
    """Environment wrapper that stores the last result of `reset`."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.answer: tuple[Any, Any] = (None, {})

    def reset(self, **given: Any) -> tuple[Any, Any]:
        self.answer = self.env.reset(**given)
        return self.answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


def _begin(world: Any, env: Any, seed: int, text: str | None) -> tuple[str, Any, Any]:
    """Start an episode; return the text, the scene and the first observation."""
    watched = _Watched(env)
    if hasattr(world, "reset"):
        said, scene = world.reset(watched, seed)
        return said if text is None else text, scene, watched.answer[0]
    observation, info = watched.reset(seed=int(seed))
    for each in (observation, info):
        if text is None and isinstance(each, Mapping):
            text = each.get("mission")
    if text is None:
        text = getattr(env.unwrapped, "mission", None)
    if not isinstance(text, str):
        raise SettingError(
            "The environment must have a mission in its observation, its info or an attribute. Add "
            "a mission, or pass texts=[…], one for each seed."
        )
    return text, world.begin(env), observation


def _way(human: bool | str) -> str:
    if human in (False, "window", "terminal"):
        return str(human or "")
    if human is not True:
        raise SettingError(f"`human` must be True, 'window' or 'terminal'; got {human!r}.")
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.name == "nt"
    return "window" if screen else "terminal"


Chooser = Callable[[Any, Any], Any]
"""Function of the scene and the last move; returns the next move, or None to stop."""


def _run(
    world: Any, env: Any, text: str, seed: int, scene: Any, first: Any, choose: Chooser
) -> Recording | None:
    scenes, observations = [scene], [first]
    space: Any = getattr(env, "action_space", None)
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
        if hasattr(space, "n") and not space.contains(last):
            raise SettingError(
                f"The policy must return a move in {space}; got {last!r}. Return None to end the "
                "episode."
            )
        observation, reward, terminated, truncated, info = env.step(last)
        moves.append(last)
        rewards.append(float(reward))
        infos.append(dict(info))
        observations.append(observation)
        scenes.append(world.after(env, scenes[-1], last))
    return Recording(
        text, seed, tuple(moves), tuple(rewards), bool(terminated), bool(truncated),
        tuple(observations), tuple(infos), tuple(scenes), getattr(world, "name", ""),
    )  # fmt: skip


def _chooser(world: Any, env: Any, policy: Any) -> Chooser:
    if policy is None:
        waiting = _teach(world, env)
        return lambda scene, last: next(waiting, StopIteration)
    if hasattr(policy, "replan"):
        bot = policy(env.unwrapped)
        return lambda scene, last: int(bot.replan(last))

    def choose(scene: Any, last: Any) -> Any:
        move = policy(env, scene)
        return StopIteration if move is None else move

    return choose


def _teach(world: Any, env: Any) -> Iterator[Any]:
    """Yield the moves of the teacher in a running episode."""
    for verb, things, _ in in_doing_order(world.mission(env), lambda each: bool(each[2])):
        yield from world.moves(world.observe(env), world.macro(verb, things))


def _in_terminal(world: Any, text: str, read: Callable[[str], str]) -> Chooser:
    keys = {**world.keys, "q": None}
    waiting: list[str] = []

    def choose(scene: Any, last: Any) -> Any:
        while not waiting:
            shown = ", ".join(world.keys)
            line = read(f"{scene}\n{text} [{shown}; q quits] ")
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
