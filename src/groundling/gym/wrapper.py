"""Gymnasium wrapper that adds a follower's plan and confidence to infos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundling.errors import GroundlingError, SettingError
from groundling.follower import Follower
from groundling.gym.agent import Agent
from groundling.gym.objects import ObjectWorld
from groundling.gym.optional import require

if TYPE_CHECKING:
    from groundling.plan import Plan

_gymnasium = require("gymnasium")


class InstructionFollowing(_gymnasium.Wrapper):  # type: ignore[misc, name-defined]
    """Gymnasium wrapper that adds a follower's plan and confidence to `info`.

    After `reset` and each `step`, `info["instruction"]` holds:

    - `text` and `parts`: the instruction;
    - `confidence`: the confidence of the follower;
    - `plan`: the macro-actions as strings, in the order of execution;
    - `alignment`: for each part of the text, the index of the choice it names, or -1;
    - `suggestion`: the next move of the plan, or None;
    - `left`: the number of remaining macro-actions.

    With `replan`, the follower plans after every move instead of once per episode.

    >>> from groundling import gym
    >>> level = gym.babyai("GoToObjS4")
    >>> follower = level.follower().fit(level.record(range(10)))
    >>> env = InstructionFollowing(level.make(), follower, level)
    >>> _, info = env.reset(seed=99)
    >>> info["instruction"]["alignment"], info["instruction"]["left"]
    ((0,), 1)
    """

    def __init__(
        self, env: Any, follower: Follower, world: ObjectWorld, *, replan: bool = False
    ) -> None:
        super().__init__(env)
        if not isinstance(world, ObjectWorld):
            raise SettingError(
                f"`world` must be an ObjectWorld; got {type(world).__name__}. Pass the world "
                "in which the follower was trained."
            )
        self.agent = Agent(follower, world)
        self.replan = replan
        self._plan: Plan | None = None
        self._waiting: list[Any] = []
        self._moves: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """Start an episode and make a plan; return the observation and the info."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._text = _text_of(self.env, observation)
        self._start = self._scene = self.agent.world.begin(self.env)
        self._think()
        return observation, {**info, "instruction": self._told()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        """Make a move and update the plan; return the result of `env.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._scene = self.agent.world.observe(self.env)
        if self._moves and self._moves[0] == action:
            self._moves.pop(0)
            if not self._moves and self._waiting:
                self._waiting.pop(0)
                self._prepare()
        else:
            self._prepare()
        if self.replan:
            self._think()
        return observation, reward, terminated, truncated, {**info, "instruction": self._told()}

    def _think(self) -> None:
        world = self.agent.world
        self._parts = world.read(self._text)
        self._plan = self.agent.plan(self._parts, self._scene, self._start)
        episode = world.episode(self._scene, self._parts, self._start)
        self._actions = episode.macro_actions(self._plan.actions)
        self._waiting = list(self._actions)
        self._prepare()

    def _prepare(self) -> None:
        self._moves = []
        if self._waiting:
            try:
                self._moves = list(self.agent.world.moves(self._scene, self._waiting[0]))
            except GroundlingError:
                self._moves = []

    def _told(self) -> dict[str, Any]:
        plan = self._plan
        assert plan is not None
        return {
            "text": self._text,
            "parts": self._parts,
            "confidence": plan.confidence,
            "plan": tuple(map(str, self._actions)),
            "alignment": _alignment(plan, len(self._parts)),
            "suggestion": self._moves[0] if self._moves else None,
            "left": len(self._waiting),
        }


def _alignment(plan: Plan, parts: int) -> tuple[int, ...]:
    if parts == len(plan.actions):
        return tuple(range(parts))
    found = [-1] * parts
    for number, each in enumerate(plan.explain().to_dict()["steps"]):
        for cause in each["causes"][:1]:
            found[cause["sentence"]] = number
    return tuple(found)


def _text_of(env: Any, observation: Any) -> str:
    if isinstance(observation, dict) and "mission" in observation:
        return str(observation["mission"])
    text = getattr(env.unwrapped, "mission", None)
    if not isinstance(text, str):
        raise SettingError(
            "The environment must have a `mission` in its observation or as an attribute. Add a "
            "mission."
        )
    return text
