"""Scenes: what follows from the labels of things, such as ranks, relations and changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations

from groundling.errors import WorldError
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of

_MOST_RANK = 9  # that people count to: the ninth from the left
_AXES = ("x", "y", "z")
_NEAR = 1.0  # between neighbours on a grid, diagonals included
_ORDINALS = {2: "2nd ", 3: "3rd "}
_MOST_KINDS = 3  # of labels that a set is restricted by
Rank = tuple[str, str]
"""A rank, and the labels that are shared by the things among which it is one."""


class Scene:
    """The things of one state, and what their labels imply.

    An environment lists things by `things(state)`; nodes of its graphs that are named like a
    thing get what is derived here. Positions are the numbers `x`, `y` and `z`.

    Parameters
    ----------
    things
        Labels for each thing.

    Examples
    --------
    >>> scene = Scene({
    ...     "a": {"colour": "red", "x": 1, "y": 1}, "b": {"colour": "red", "x": 3, "y": 1},
    ...     "c": {"colour": "blue", "x": 3, "y": 3}})
    >>> scene.ranks("a")
    (('lowest x', ''), ('lowest y', ''), ('lowest x', 'colour'))
    >>> scene.relations("a")
    {'same colour': ('b',), 'lower x': ('b', 'c'), 'same y': ('b',), 'lower y': ('c',)}
    """

    def __init__(self, things: Mapping[Hashable, Labels]) -> None:
        self.labels: dict[str, tuple[Label, ...]] = {
            str(thing): labels_of(labels, f"thing {thing}") for thing, labels in things.items()
        }
        if len(self.labels) < len(things):
            raise WorldError(
                "Things of a state must have names that differ as text; got "
                f"{sorted(map(str, things))}."
            )
        self._values: dict[str, dict[str, float | str]] = {}
        for thing, labels in self.labels.items():
            for label in labels:
                if label.value is not None:
                    self._values.setdefault(label.name, {}).setdefault(thing, label.value)
        self._numbers = [
            name
            for name, values in self._values.items()
            if len(set(values.values())) > 1
            and all(isinstance(each, float) for each in values.values())
        ]
        names = [name for name in self._values if self._is_shared(name)]
        self._kinds = tuple(sorted(names)[:_MOST_KINDS])
        self._groups: dict[Hashable, dict[Hashable, list[str]]] = {}  # things by shared values
        self._sorted: dict[Hashable, dict[str, dict[float | str, int]]] = {}
        self._ranks: dict[str, tuple[Rank, ...]] = {}
        self._sets: dict[str, tuple[str, frozenset[str]]] = {}  # of nodes that are relations

    def _is_shared(self, name: str) -> bool:
        """Tell whether some things, not all, share a string of a label."""
        values = list(self._values[name].values())
        strings = all(isinstance(each, str) for each in values)
        return strings and 1 < len(set(values)) < len(values)

    # ---- ranks --------------------------------------------------------------------------

    def ranks(self, node: str) -> tuple[Rank, ...] | None:
        """Return how the numbers of a thing rank among things that share labels with it.

        Each rank stands with the labels that are shared: `("lowest x", "")` is the leftmost of
        all, `("2nd highest x", "colour")` the second from the right of those of its colour, and
        `("highest size", "colour kind")` the biggest of its colour and kind. The node of a
        relation (see `related`) has the ranks among those that the thing is so related to; nodes
        that are neither have None.
        """
        found = self._ranks.get(node)
        if found is None:
            if node in self.labels:
                found = tuple(self._find_ranks(node, None))
            elif node in self._sets:
                thing, among = self._sets[node]
                found = tuple(self._find_ranks(thing, among)) if len(among) > 1 else ()
            else:
                return None
            self._ranks[node] = found
        return found

    def _find_ranks(self, thing: str, among: frozenset[str] | None) -> Iterator[Rank]:
        most = _MOST_RANK if among is None else 1
        kinds = tuple(kind for kind in self._kinds if thing in self._values[kind])
        for size in range(len(kinds) + 1):
            for shared in combinations(kinds, size):
                places = self._places_among(thing, shared, among)
                said = " ".join(shared)
                for name in self._numbers:
                    own = self._values[name].get(thing)
                    if own is not None and len(places[name]) > 1:
                        place = places[name][own]
                        yield from _ranks(name, place, len(places[name]), most, said)

    def _places_among(
        self, thing: str, shared: tuple[str, ...], among: frozenset[str] | None
    ) -> dict[str, dict[float | str, int]]:
        """Return the places of all numbers of those things that share some values with one."""
        if (shared, among) not in self._groups:
            groups = self._groups[shared, among] = {}
            columns = [self._values[kind] for kind in shared]
            for other in self.labels if among is None else among:
                values = tuple([each.get(other) for each in columns])
                groups.setdefault(values, []).append(other)
        values = tuple([self._values[kind].get(thing) for kind in shared])
        known = self._sorted.get((shared, values, among))
        if known is None:
            known = self._sorted[shared, values, among] = {}
            group = self._groups[shared, among].get(values, ())
            for name in self._numbers:
                column = self._values[name]
                numbers = {column[each] for each in group if each in column}
                known[name] = {number: place for place, number in enumerate(sorted(numbers))}
        return known

    # ---- relations ----------------------------------------------------------------------

    def relations(self, thing: str) -> dict[str, tuple[str, ...]]:
        """Return for each relation the other things that a thing stands in it to."""
        found: dict[str, list[str]] = {}
        for name, values in self._values.items():
            own = values.get(thing)
            if own is None:
                continue
            if own in self.labels and own != thing:  # a label that names another thing
                found.setdefault(name, []).append(str(own))
                continue
            for other, value in values.items():
                if other == thing:
                    continue
                if value == own:
                    found.setdefault(f"same {name}", []).append(other)
                elif isinstance(own, float) and isinstance(value, float):
                    order = "lower" if own < value else "higher"
                    found.setdefault(f"{order} {name}", []).append(other)
        for relation, others in self._places(thing):
            found.setdefault(relation, []).extend(others)
        return {
            relation: tuple(dict.fromkeys(others)) for relation, others in found.items() if others
        }

    def _places(self, thing: str) -> Iterator[tuple[str, list[str]]]:
        """Yield relations between positions: next to, and between two others of one line."""
        axes = [axis for axis in _AXES if thing in self._values.get(axis, ())]
        at = {
            other: [float(self._values[axis][other]) for axis in axes]
            for other in self.labels
            if all(other in self._values[axis] for axis in axes)
        }
        if not axes or len(at) < 2:
            return
        own = at.pop(thing)
        away = {o: max(abs(a - b) for a, b in zip(own, p, strict=True)) for o, p in at.items()}
        yield "next to", [other for other, distance in away.items() if distance <= _NEAR]
        for number in range(len(axes)):
            line = [
                other
                for other, place in at.items()
                if place[:number] == own[:number] and place[number + 1 :] == own[number + 1 :]
            ]
            below = [other for other in line if at[other][number] < own[number]]
            above = [other for other in line if at[other][number] > own[number]]
            if below and above:
                nearest = max(below, key=lambda o: at[o][number])
                yield "between", [nearest, min(above, key=lambda o: at[o][number])]

    # ---- graphs -------------------------------------------------------------------------

    def related(self, graph: GroundingGraph) -> GroundingGraph:
        """Return a graph whose things are related to all others.

        Each relation of a thing is a node, from which edges lead to the things at its other end;
        it has the ranks of the thing among these.
        """
        nodes: dict[str, Labels] = dict(zip(graph.node_names, graph.node_labels, strict=True))
        edges: list[tuple[str, str, Labels]] = list(graph.edges)
        for thing in graph.node_names:
            if thing not in self.labels:
                continue
            for relation, others in self.relations(thing).items():
                name = f"{thing}: {relation}"
                nodes[name] = (relation, *(("same",) if relation.startswith("same ") else ()))
                edges.append((thing, name, "is"))
                self._sets[name] = (thing, frozenset((thing, *others)))
                for other in others:
                    if other not in nodes:
                        nodes[other] = self.labels[other]
                    edges.append((name, other, "as"))
        return GroundingGraph(nodes, edges, graph.root, graph.roles)


@lru_cache(maxsize=10_000)
def _ranks(name: str, place: int, count: int, most: int, shared: str) -> tuple[Rank, ...]:
    """Return the ranks of a place among some, from both ends."""
    found = []
    for order, number in (("lowest", place + 1), ("highest", count - place)):
        if number <= min(most, count - 1):
            said = "" if number == 1 else _ORDINALS.get(number, f"{number}th ")
            found.append((f"{said}{order} {name}", shared))
    if most > 1 and count > 2 and 2 * place + 1 == count:
        found.append((f"middle {name}", shared))
    return tuple(found)
