"""Ranks: which of all things is the second from the right, or the largest of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from groundling.cache import Cache, CacheBudget
from groundling.world.environment import Action, Demonstration, Environment, State, Wrapper
from groundling.world.graph import GroundingGraph, Label

_BYTES = 10_000_000  # of what is remembered about states
_Things = dict[str, set[tuple[Label, ...]]]


class RankedEnvironment(Wrapper):
    """An environment whose graphs also say how numbers of a thing rank among all things.

    The things are the nodes of one name in the graphs of all actions that are possible in a
    state. For each number that a node has, it gets its rank among them, from below and from
    above (`x.rank=2`, `x.rank-down=1`), and whether it is the least or the most. The same again
    among those that share a string (`x.rank-of-colour=1`), and, where a node has several
    strings, among those that share all of them (`x.rank-of-like=1`). So “the second from the
    right” and “the largest red one” need no label written by hand. Words that are to be read
    together with others of their sentence, as *second* with *right*, need the word label
    `beside` (see `Features.words`).

    Everything else is the environment's own.

    Examples
    --------
    >>> class Shelf:
    ...     def actions(self, state): return tuple(range(len(state)))
    ...     def step(self, state, action): return state[:action] + state[action + 1:]
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"thing": {"colour": state[action], "x": action}})
    >>> shelf = RankedEnvironment(Shelf())
    >>> print(shelf.ground(("red", "blue", "red"), 2, ("red", "blue")))
    thing*: colour=red, x=2, x.most, x.most-of-colour, x.rank=3, x.rank-down=1,
    x.rank-down-of-colour=1, x.rank-of-colour=2
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._things: Cache[State, _Things] = Cache(CacheBudget(_BYTES))
        self._mirrors: dict[int, RankedEnvironment] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "environment":
            raise AttributeError(name)
        found = getattr(self.environment, name)
        return self._mirror if name == "mirror" else found

    def actions(self, state: State) -> Sequence[Action]:
        """Return the actions possible in a state."""
        return self.environment.actions(state)

    def step(self, state: State, action: Action) -> State:
        """Return the state after an action."""
        after: State = self.environment.step(state, action)
        return after

    def ground(self, state: State, action: Action, next_state: State) -> GroundingGraph:
        """Return the grounding graph of an action, with the ranks of what it is about."""
        graph = self.environment.ground(state, action, next_state)
        things = self._things_in(state)
        nodes = {
            name: (*labels, *_ranks(labels, {*things.get(name, ()), labels}))
            for name, labels in zip(graph.node_names, graph.node_labels, strict=True)
        }
        return GroundingGraph(nodes, graph.edges, graph.root)

    def _things_in(self, state: State) -> _Things:
        known = self._things.get(state)
        if known is not None:
            return known
        found: _Things = {}
        for action in self.environment.actions(state):
            graph = self.environment.ground(state, action, self.environment.step(state, action))
            for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
                found.setdefault(name, set()).add(labels)
        self._things.put(state, found)
        return found

    def _mirror(self, demonstration: Demonstration) -> list[Demonstration]:
        inner: Any = self.environment
        images: Iterable[Demonstration] = inner.mirror(
            replace(demonstration, environment=self.environment)
        )
        return [replace(each, environment=self._ranked(each.environment)) for each in images]

    def _ranked(self, environment: Environment) -> RankedEnvironment:
        if environment is self.environment:
            return self
        known = self._mirrors.get(id(environment))
        if known is None:  # it holds the environment, whose identity is then its own
            known = self._mirrors[id(environment)] = RankedEnvironment(environment)
            known._mirrors[id(self.environment)] = self
        return known


def _ranks(labels: tuple[Label, ...], things: set[tuple[Label, ...]]) -> list[Label]:
    """Return how the numbers of a thing rank among all things and among its like."""
    numbers = [each for each in labels if isinstance(each.value, float)]
    strings = [each for each in labels if isinstance(each.value, str)]
    if not numbers:
        return []
    among = {"": things}
    for label in strings:
        among[f"-of-{label.name}"] = {each for each in things if label in each}
    if len(strings) > 1:
        among["-of-like"] = {each for each in things if all(label in each for label in strings)}
    found = []
    for label in numbers:
        for suffix, others in among.items():
            values = {each.value for other in others for each in other if each.name == label.name}
            own = label.value
            below = sum(value < own for value in values)  # type: ignore[operator]
            above = sum(value > own for value in values)  # type: ignore[operator]
            found.append(Label(f"{label.name}.rank{suffix}", float(below + 1)))
            found.append(Label(f"{label.name}.rank-down{suffix}", float(above + 1)))
            if len(values) > 1 and not below:
                found.append(Label(f"{label.name}.least{suffix}"))
            if len(values) > 1 and not above:
                found.append(Label(f"{label.name}.most{suffix}"))
    return found
