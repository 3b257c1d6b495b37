"""BabyAI with the simulator's own moves, such as turning and going forward."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from groundling.errors import SearchError
from groundling.follower import Follower
from groundling.gym.agent import ActReport, BaseAgent
from groundling.gym.babyai_levels import BabyAI
from groundling.gym.episode import in_doing_order
from groundling.gym.grid import CLOSED, MOVES, GridState, step
from groundling.gym.grid_planner import moves_for
from groundling.gym.object_presets import make_move_follower
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph, Labels

_USED = MOVES[:-1]


class PrimitiveBabyAI(BabyAI):
    """A small BabyAI level whose actions are the simulator's moves, without a planner.

    The graph of a move describes the things that the move approaches or changes. This class suits
    levels with one room and few things.
    """

    def episode(self, scene: GridState, parts: Any = (), start: Any = None) -> Any:
        """Return the environment of a scene."""
        return PrimitiveEpisode(self, scene if start is None else start)

    def follower(self, **changes: Any) -> Follower:
        """Return an untrained follower for moves; `changes` replace its default settings."""
        return make_move_follower(self.slots, **changes)

    def demonstration(self, env: Any, seed: int) -> Demonstration:
        """Return a demonstration of the teacher's moves for a seed."""
        text, scene = self.reset(env, seed)
        said = self.mission(env)
        moves: list[str] = []
        state = scene
        for verb, things, _ in in_doing_order(said, lambda each: each[2]):
            for move in moves_for(state, verb, *things):
                if move != "done":
                    moves.append(move)
                    state = step(state, move)
        return Demonstration(
            self.read(text), self.episode(scene), scene, tuple(moves) or ("left", "right"),
            name=f"{self.name} {seed}",
        )  # fmt: skip

    def agent(self, follower: Follower, threshold: float | None = None) -> PrimitiveAgent:
        """Return an agent that makes the moves that a follower plans."""
        return PrimitiveAgent(follower, self, threshold)


class PrimitiveAgent(BaseAgent):
    """Agent that plans once and makes all moves of the plan, without planning again.

    >>> from groundling import gym
    >>> level = gym.babyai("GoToObjS4", actions="primitive")
    >>> follower = level.follower().fit(level.record(range(10)))
    >>> env = level.make()
    >>> text, _ = level.reset(env, seed=1000)
    >>> level.agent(follower).act(text, env).ending
    'success'
    """

    world: PrimitiveBabyAI

    def act(self, text: str, env: Any) -> ActReport:
        """Carry out an instruction in an environment, and return a report.

        The environment must just have been reset.
        """
        run = self._begin(env, self.world.begin(env), self.world.read(text))
        if isinstance(run, ActReport):
            return run
        parts, scene = tuple(run.left), run.scene
        try:
            plan = run.plan = self.follower.follow(parts, self.world.episode(scene), scene)
        except SearchError as error:
            return run.report("not understood", f"I found no plan: {error}")
        if plan.confidence < self.threshold:
            return run.not_understood(plan, self.threshold)
        for move in (*plan.actions, "done"):
            run.count(env.step(MOVES.index(str(move))))
            if run.over:
                break
        if run.reward > 0 or not run.over:
            run.done, run.left = list(parts), []
        return run.end(self.world.rewards)


class PrimitiveEpisode:
    """Environment of one scene, with `GridState`s as states and moves as actions."""

    def __init__(self, world: BabyAI, start: GridState) -> None:
        self.world = world
        self.start = start
        self.presumed_slots = world.slots  # default slots, without warnings about missing labels
        self._labels = world.objects(start, start)

    def actions(self, state: GridState) -> tuple[str, ...]:
        """Return the moves that change a state."""
        return tuple(move for move in _USED if step(state, move) != state)

    def step(self, state: GridState, action: str) -> GridState:
        """Return the state after a move."""
        return step(state, action)

    def ground(self, state: GridState, action: str, after: GridState) -> GroundingGraph:
        """Return the graph of a move and of the things that it approaches or changes."""
        before, now = distances(state), distances(after)
        nodes: dict[str, Labels] = {"event": {action: True}}
        edges = []
        for number, labels in self._labels.items():
            name = f"thing {number}"
            if after.places[number] != state.places[number] or (
                after.doors[number] != state.doors[number]
            ):
                relation = "changed"
            elif now.get(number, 999) < before.get(number, 999):
                relation = "closer"
            elif now.get(number, 999) == 0:
                relation = "kept"
            else:
                continue
            nodes[name] = {**dict(labels), relation: True}  # type: ignore[arg-type]
            edges.append(("event", name, relation))
        return GroundingGraph(nodes, edges, roles=nodes)

    def outcome(self, state: GridState) -> tuple[int, int, tuple[int, ...]]:
        """Return the thing in front, the carried thing, and the status of all doors."""
        return state.at(state.front), state.carrying, state.doors

    def describe(self, state: GridState) -> str:
        """Return the grid as text."""
        return str(state)


@lru_cache(maxsize=50_000)
def distances(state: GridState) -> dict[int, int]:
    """Return the number of moves to face each thing; a closed door counts as two.

    >>> from groundling.gym.grid import parse_grid
    >>> distances(parse_grid("#####", "#> b#", "#####"))
    {0: 1}
    """
    steps = state.layout.steps
    found: dict[int, int] = {}
    start = (state.agent, state.direction)
    best, waiting = {start: 0}, deque([start])
    while waiting:
        cell, direction = waiting.popleft()
        cost = best[cell, direction]
        front = cell + steps[direction]
        thing = state.at(front)
        if thing >= 0:
            found[thing] = min(cost, found.get(thing, cost))
        ways: Iterable[tuple[int, int, int]] = (
            (cell, (direction + 1) % 4, 1), (cell, (direction + 3) % 4, 1),
        )  # fmt: skip
        closed = thing >= 0 and state.layout.things[thing].kind == "door" and (
            state.doors[thing] == CLOSED
        )  # fmt: skip
        if closed or state.can_enter(front):
            ways = (*ways, (front, direction, 2 if closed else 1))
        for after, turned, more in ways:
            if cost + more < best.get((after, turned), 1 << 30):
                best[after, turned] = cost + more
                waiting.append((after, turned))
    return found
