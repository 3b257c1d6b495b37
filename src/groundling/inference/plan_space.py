"""Plans in a world: enumeration, sampling, beam search and a reflex agent."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import islice, product
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from groundling.data.canonical import canonical
from groundling.errors import SearchError
from groundling.inference.search import Search
from groundling.ties import Name, margin, rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, State
from groundling.world.products import Product
from groundling.world.trajectory import ScoredTrajectory, Trajectory


class ActionNames:
    """Canonical names of actions, with a cache.

    A name does not depend on the order in which an environment lists its actions, nor on Python's
    hashes. If an action has an attribute `canonical_name`, it is used as the name, so that an
    environment can control the order of tied plans.

    >>> names = ActionNames()
    >>> names(("strike", frozenset({2, 1})))
    '["strike",{"$set":[1,2]}]'
    >>> names.plan(("turn", "go")) < names.plan(("go", "go", "go"))  # shorter plans first
    True
    """

    def __init__(self) -> None:
        self._known: dict[Action, str] = {}

    def __call__(self, action: Action) -> str:
        """Return the canonical name of an action."""
        found = self._known.get(action)
        if found is None:
            try:
                found = str(getattr(action, "canonical_name", "")) or canonical(action)
            except Exception:  # actions of unsupported classes stay in the world's order
                found = type(action).__name__
            self._known[action] = found
        return found

    def plan(self, actions: Sequence[Action]) -> tuple[int, tuple[str, ...]]:
        """Return the sort key of a plan: its length, then the names of its actions."""
        return len(actions), tuple(map(self, actions))

    def order(self, actions: Sequence[Action]) -> list[int]:
        """Return the indices of actions, sorted by name."""
        return sorted(range(len(actions)), key=lambda place: self(actions[place]))


_COMBINED = 64  # approximate number of combinations of the factors' best values to score


class _Ahead(Enum):
    """Placeholder for a state that is computed on access."""

    STATE = 0


_AHEAD = _Ahead.STATE
_BYTES = 24  # bytes per plan, for its last action, last state, parent and index


class PlanTree(Sequence[Trajectory]):
    """Plans from one start, stored as a tree: each plan extends another by one action.

    >>> tree = PlanTree("a")
    >>> go = tree.grow(0, "go", "b")
    >>> tree.keep([go, tree.grow(go, "stop", "c")])
    >>> [(plan.states, plan.actions) for plan in tree]
    [(('a', 'b'), ('go',)), (('a', 'b', 'c'), ('go', 'stop'))]
    >>> tree.ends()
    ['b', 'c']
    """

    __slots__ = ("_actions", "_parents", "_places", "_states", "_step", "start")

    def __init__(self, start: State) -> None:
        self.start = start
        self._states: list[State] = [start]
        self._actions: list[Action] = [None]
        self._parents = array("i", [-1])
        self._places = array("i")
        self._step: Callable[[State, Action], State] | None = None

    @classmethod
    def of_actions(
        cls, start: State, actions: Sequence[Action], step: Callable[[State, Action], State]
    ) -> PlanTree:
        """Return plans of one action each, whose end states are computed on access."""
        tree = cls(start)
        tree._states += [_AHEAD] * len(actions)
        tree._actions += actions
        tree._parents.extend([0] * len(actions))
        tree._places.extend(range(1, len(actions) + 1))
        tree._step = step
        return tree

    @property
    def is_ahead(self) -> bool:
        """Whether the plans have one action each, with end states computed on access."""
        return self._step is not None

    def grow(self, node: int, action: Action, after: State) -> int:
        """Add a plan that extends another one by an action; return the number of its node."""
        self._states.append(after)
        self._actions.append(action)
        self._parents.append(node)
        return len(self._parents) - 1

    def keep(self, nodes: Iterable[int]) -> None:
        """Append the plans at the given nodes to the sequence."""
        self._places.extend(nodes)

    def state(self, node: int) -> State:
        """Return the end state of the plan at a node."""
        found = self._states[node]
        if found is _AHEAD and self._step is not None:
            found = self._states[node] = self._step(self.start, self._actions[node])
        return found

    def ends(self) -> list[State]:
        """Return the end states of all plans."""
        return list(map(self.state, self._places))

    def actions(self, place: int) -> tuple[Action, ...]:
        """Return the actions of a plan, without computing its states."""
        node, found = self._places[place], []
        while node:
            found.append(self._actions[node])
            node = self._parents[node]
        return tuple(reversed(found))

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes, excluding states and actions, which are shared."""
        return 500 + _BYTES * len(self._parents)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Trajectory: ...
    @overload
    def __getitem__(self, place: slice) -> list[Trajectory]: ...
    def __getitem__(self, place: int | slice) -> Trajectory | list[Trajectory]:
        if isinstance(place, slice):
            return [self._plan(node) for node in self._places[place]]
        return self._plan(self._places[place])

    def __iter__(self) -> Iterator[Trajectory]:
        return map(self._plan, self._places)

    def decisions(self, place: int) -> list[tuple[State, Action]]:
        """Return the states and actions of a plan, without its end state."""
        node, found = self._places[place], []
        while node:
            parent = self._parents[node]
            found.append((self.state(parent), self._actions[node]))
            node = parent
        return found[::-1]

    def _plan(self, node: int) -> Trajectory:
        states, actions = [self.state(node)], []
        while node:
            actions.append(self._actions[node])
            node = self._parents[node]
            states.append(self._states[node])
        return Trajectory(tuple(reversed(states)), tuple(reversed(actions)))


class ScoredPlans(Sequence[ScoredTrajectory]):
    """A sequence of plans with their scores, in which each item is created on access.

    >>> tree = PlanTree("a")
    >>> tree.keep([tree.grow(0, "go", "b")])
    >>> ScoredPlans(tree, np.array([2.5]))[0]
    ScoredTrajectory(states=('a', 'b'), actions=('go',), graphs=(), score=2.5)
    """

    def __init__(self, plans: Sequence[Trajectory], scores: NDArray[np.float64]) -> None:
        self._plans: Sequence[Trajectory] = plans
        if isinstance(plans, ScoredPlans):
            self._plans = plans._plans
        self.scores = scores

    def ends(self) -> list[State]:
        """Return the end states of all plans."""
        if isinstance(self._plans, PlanTree):
            return self._plans.ends()
        return [plan.end for plan in self._plans]

    def actions(self, place: int) -> tuple[Action, ...]:
        """Return the actions of the plan at an index, without computing its end state."""
        plans = self._plans
        return plans.actions(place) if isinstance(plans, PlanTree) else plans[place].actions

    def decisions(self, place: int) -> Iterable[tuple[State, Action]]:
        """Return the states and actions of a plan, without its end state."""
        plans = self._plans
        return plans.decisions(place) if isinstance(plans, PlanTree) else plans[place].decisions()

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, place: int) -> ScoredTrajectory: ...
    @overload
    def __getitem__(self, place: slice) -> list[ScoredTrajectory]: ...
    def __getitem__(self, place: int | slice) -> ScoredTrajectory | list[ScoredTrajectory]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        plan = self._plans[place]
        return ScoredTrajectory(plan.states, plan.actions, score=float(self.scores[place]))

    def __iter__(self) -> Iterator[ScoredTrajectory]:
        for plan, score in zip(self._plans, self.scores.tolist(), strict=True):
            yield ScoredTrajectory(plan.states, plan.actions, score=score)


PlanScorer = Callable[[Sequence[Trajectory]], NDArray[np.float64]]


def enumerate_plans(world: CachedEnvironment, start: State, search: Search) -> PlanTree | None:
    """Return all plans within the length limits, shortest first.

    Returns None if there are more than `search.budget` plans, or if the actions of a state are a
    large `Product`.
    If the world has a goal, only plans that reach it are included. Plans that reach a dead end
    are dropped.
    """
    search = search.extended(world.extra_length(start))
    if search.longest == 1 and world.grounds_alone and not world.has_goal:
        actions = world.actions(start)
        if is_factored(world, start) or len(actions) > search.budget:
            return None
        return PlanTree.of_actions(start, actions, world.step)
    found = PlanTree(start)
    layer = [0]
    for length in range(1, search.longest + 1):
        grown: list[int] = []
        # Without dead ends, the number of plans is known in advance.
        offered = sum(len(world.actions(found.state(plan))) for plan in layer)
        if offered > search.budget and not world.has_dead_ends:
            return None
        for plan in layer:
            end = found.state(plan)
            if is_factored(world, end):
                return None
            for action in world.actions(end):
                after = world.step(end, action)
                if world.is_dead_end(after):
                    continue
                grown.append(found.grow(plan, action, after))
                if len(grown) > search.budget:
                    return None
        layer = grown
        if length >= search.min_length:
            found.keep(plan for plan in layer if world.is_goal(found.state(plan)))
        if len(found) > search.budget:
            return None
    return found


def sample_plans(
    world: CachedEnvironment, start: State, search: Search, count: int, random: np.random.Generator
) -> list[Trajectory]:
    """Return up to `count` different plans from random walks."""
    search = search.extended(world.extra_length(start))
    found: dict[tuple[object, ...], Trajectory] = {}
    for _ in range(4 * count):
        plan = Trajectory((start,))
        wanted = int(random.integers(search.min_length, search.longest + 1))
        while len(plan) < wanted:
            possible = [
                each
                for each in world.some_actions(plan.end)
                if not world.is_dead_end(world.step(plan.end, each))
            ]
            if not possible:
                break
            action = possible[int(random.integers(len(possible)))]
            plan = plan.extended(action, world.step(plan.end, action))
        if len(plan) >= search.min_length and world.is_goal(plan.end):
            found[plan.actions] = plan
        if len(found) == count:
            break
    return list(found.values())


def beam_plans(
    world: CachedEnvironment, start: State, search: Search, score: PlanScorer
) -> list[ScoredTrajectory]:
    """Return the plans found by a beam search, with their scores.

    Plans are extended action by action, and the best plans of each length are kept. An unfinished
    plan is scored as if it were complete, and dead ends are dropped. With `beam=None`, nothing else
    is dropped, so the search is exhaustive.
    """
    search = search.extended(world.extra_length(start))
    layer = [Trajectory((start,))]
    kept: list[ScoredTrajectory] = []
    names = ActionNames()
    looked = 0
    for _ in range(search.longest):
        looked += sum(len(world.actions(plan.end)) for plan in layer
                      if not is_factored(world, plan.end))  # fmt: skip
        if looked > search.budget:
            if kept:
                break
            raise SearchError(
                f"The search scored {looked} unfinished plans from state {start!r} without "
                "finding a complete one. Raise Search.budget, or lower Search.beam or "
                "Search.max_length."
            )
        grown, scores = _grow(world, layer, score)
        if not grown:
            break
        # Before learning, far more plans may be tied than fit in the beam: name only the top ones.
        ranked = rank(scores, _names(grown, names), search.beam)
        alive = (place for place in ranked if not world.is_dead_end(grown[place].end))
        order = list(islice(alive, search.beam))  # checks as few dead ends as possible
        layer = [grown[place] for place in order]
        kept += [_scored(grown[place], scores[place]) for place in order]
    return [plan for plan in kept if _may_end(plan, world, search)]


def greedy_plans(
    world: CachedEnvironment, start: State, search: Search, score: PlanScorer
) -> list[ScoredTrajectory]:
    """Return the plan of a reflex agent, followed by its alternatives, best first.

    The agent takes the best next action until stopping scores better. If the world has a goal, the
    agent stops only at a goal. The alternatives are the other complete plans that were scored on
    the way.
    """
    search = search.extended(world.extra_length(start))
    plan = _scored(Trajectory((start,)), -np.inf)
    looked: list[ScoredTrajectory] = []
    names = ActionNames()
    while len(plan) < search.longest:
        options, scores = _grow(world, [plan], score)
        if not options:
            break
        scored = [_scored(each, value) for each, value in zip(options, scores, strict=True)]
        looked += scored
        best = scored[rank(scores, _names(options, names), 1)[0]]
        if best.score <= plan.score + margin(plan.score) and _may_end(plan, world, search):
            break
        plan = best
    if not _may_end(plan, world, search):
        return []
    others = [each for each in looked if each is not plan and _may_end(each, world, search)]
    return [plan, *best_first(others, names)]


def best_first(
    plans: Sequence[ScoredTrajectory], names: ActionNames | None = None
) -> list[ScoredTrajectory]:
    """Sort plans by descending score; break ties by length, then by action names."""
    scores = np.array([plan.score for plan in plans])
    order = rank(scores, _names(plans, ActionNames() if names is None else names))
    return [plans[place] for place in order]


def _names(plans: Sequence[Trajectory], names: ActionNames) -> Name:
    return lambda place: names.plan(plans[place].actions)


def widen(
    run: Callable[[Search], list[ScoredTrajectory]], search: Search, world: CachedEnvironment
) -> list[ScoredTrajectory]:
    """Search with wider and wider beams until a plan reaches a goal.

    Returns the results of the last search.
    """
    while True:
        found = run(search)
        if found or not world.has_goal or not search.planning or search.beam is None:
            return found
        if search.beam * 4 > search.budget:
            return found
        search = replace(search, beam=search.beam * 4)


def _grow(
    world: CachedEnvironment, layer: Iterable[Trajectory], score: PlanScorer
) -> tuple[list[Trajectory], NDArray[np.float64]]:
    """Extend plans by one action each; return the longer plans and their scores.

    All possible actions are tried, or the best ones if they are a large `Product`.
    """
    grown: list[Trajectory] = []
    combined: list[tuple[Trajectory, float]] = []
    for plan in layer:
        actions = world.actions(plan.end)
        if isinstance(actions, Product) and actions.is_large:
            combined += _combine(world, plan, actions, score)
        else:
            grown += [plan.extended(each, world.step(plan.end, each)) for each in actions]
    scores = score(grown) if grown else np.zeros(0)
    found = [*grown, *[each for each, _ in combined]]
    return found, np.append(scores, [value for _, value in combined])


def is_factored(world: CachedEnvironment, state: State) -> bool:
    """Return whether the actions of a state are a large `Product`.

    Such actions are searched factor by factor.
    """
    actions = world.actions(state)
    return isinstance(actions, Product) and actions.is_large


_PASSES = 3  # passes over all factors; even the second rarely changes the result


def _combine(
    world: CachedEnvironment, plan: Trajectory, actions: Product, score: PlanScorer
) -> list[tuple[Trajectory, float]]:
    """Extend a plan by actions of a `Product`; return longer plans with scores.

    The values of each factor are scored while the other factors stay fixed. Then all combinations
    of the best values are scored together, so that arguments that depend on each other are chosen
    jointly.
    """
    found: dict[Action, Trajectory] = {}
    scores: dict[Action, float] = {}

    def look_at(some: Iterable[Action]) -> None:
        new = [each for each in some if each not in found]
        grown = [plan.extended(each, world.step(plan.end, each)) for each in new]
        if grown:
            found.update(zip(new, grown, strict=True))
            scores.update(zip(new, score(grown).tolist(), strict=True))

    most = max(2, round(_COMBINED ** (1 / len(actions.factors))))
    best: Any = actions[0]
    for _ in range(_PASSES):
        look_at(actions.around(best))
        parts = tuple(best)
        kept = []
        for place, values in enumerate(actions.factors):
            near = [(*parts[:place], each, *parts[place + 1 :]) for each in values]
            order = sorted(range(len(values)), key=lambda n: -scores[actions.action(near[n])])
            kept.append([values[n] for n in order[:most]])
        look_at(map(actions.action, product(*kept)))
        best = max(scores, key=scores.__getitem__)
        if tuple(best) == tuple(each[0] for each in kept):  # the best values are stable
            break
    return [(found[each], value) for each, value in scores.items()]


def nearby_plans(world: CachedEnvironment, shown: Trajectory) -> list[Trajectory]:
    """Return a plan and all plans that differ from it in one factor of one action."""
    found: dict[tuple[Action, ...], Trajectory] = {}
    for place, (state, action) in enumerate(shown.decisions()):
        actions = world.actions(state)
        around = actions.around(action) if isinstance(actions, Product) else actions
        for other in around:
            plan = Trajectory(shown.states[: place + 1], shown.actions[:place])
            for each in (other, *shown.actions[place + 1 :]):
                if each not in world.actions(plan.end):
                    break
                plan = plan.extended(each, world.step(plan.end, each))
            else:
                found[plan.actions] = plan
    return list(found.values())


def _scored(plan: Trajectory, score: float) -> ScoredTrajectory:
    return ScoredTrajectory(plan.states, plan.actions, score=float(score))


def _may_end(plan: Trajectory, world: CachedEnvironment, search: Search) -> bool:
    return len(plan) >= search.min_length and world.is_goal(plan.end)
