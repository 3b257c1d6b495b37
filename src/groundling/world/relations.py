"""Scenes: ranks and relations derived from the labels of things."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations

from groundling.errors import WorldError
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of

_MOST_RANK = 9  # highest rank, as in "the ninth from the left"
_AXES = ("x", "y", "z")
_NEAR = 1.0  # maximum distance of neighbours on a grid, diagonals included
_ORDINALS = {2: "2nd ", 3: "3rd "}
_MOST_KINDS = 3  # maximum labels by which things are grouped
_IS, _AS = labels_of("is"), labels_of("as")
Edge = tuple[str, str, tuple[Label, ...]]
Rank = tuple[str, str]
"""A rank, and the labels that the ranked things share."""


class Scene:
    """The things of one state, with ranks and relations derived from their labels.

    An environment lists its things in `things(state)`. A graph node represents a thing if it has
    the same name, or all the labels of exactly one thing. Such nodes get the ranks and relations
    of the thing. Positions are the numbers `x`, `y` and `z`.

    Parameters
    ----------
    things
        Labels for each thing.

    Examples
    --------
    >>> scene = Scene({
    ...     "a": {"colour": "red", "x": 1, "y": 1}, "b": {"colour": "red", "x": 3, "y": 1},
    ...     "c": {"colour": "blue", "x": 3, "y": 3}})
    >>> [each for each in scene.ranks("a") if not each[0].startswith("nth")]
    [('lowest x', ''), ('lowest y', ''), ('lowest x', 'colour')]
    >>> scene.relations("a")
    {'same colour': ('b',), 'lower x': ('b', 'c'), 'same y': ('b',), 'lower y': ('c',)}
    """

    def __init__(self, things: Mapping[Hashable, Labels]) -> None:
        self.labels: dict[str, tuple[Label, ...]] = {
            str(thing): labels_of(labels, f"thing {thing}") for thing, labels in things.items()
        }
        if len(self.labels) < len(things):
            raise WorldError(
                "Things of a state must have names that are distinct as text; got "
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
        self._groups: dict[tuple[str, ...], dict[Hashable, frozenset[str]]] = {}
        self._likes: dict[str, list[tuple[str, frozenset[str]]]] = {}
        self._sorted: dict[frozenset[str], dict[str, dict[float | str, int]]] = {}
        self._added: dict[str, tuple[dict[str, tuple[Label, ...]], list[Edge]]] = {}
        self._ranks: dict[str, tuple[Rank, ...]] = {}
        self._owners: dict[tuple[Label, ...], str | None] = {}
        self._sets: dict[str, tuple[str, frozenset[str]]] = {}  # by name of a relation node

    def _is_shared(self, name: str) -> bool:
        """Tell whether some (but not all) things share a string value of a label."""
        values = list(self._values[name].values())
        strings = all(isinstance(each, str) for each in values)
        return strings and 1 < len(set(values)) < len(values)

    def thing(self, name: str, labels: tuple[Label, ...]) -> str | None:
        """Return the thing that a node represents, by its name or its labels, or None.

        >>> scene = Scene({"a": {"colour": "red", "x": 1}, "b": {"colour": "red", "x": 2}})
        >>> scene.thing("object", labels_of({"colour": "red", "x": 2, "object": True}, "object"))
        'b'
        """
        if name in self.labels:
            return name
        if labels not in self._owners:
            given = set(labels)
            fits = [each for each, own in self.labels.items() if own and given.issuperset(own)]
            self._owners[labels] = fits[0] if len(fits) == 1 else None
        return self._owners[labels]

    # ---- ranks --------------------------------------------------------------------------

    def ranks(self, node: str, labels: tuple[Label, ...] = ()) -> tuple[Rank, ...] | None:
        """Return the ranks of a thing's numbers among things that share labels with it.

        Each rank is paired with the shared labels: `("lowest x", "")` is the leftmost of all
        things, `("2nd highest x", "colour")` the second from the right among things of its colour,
        and `("highest size", "colour kind")` the biggest of its colour and kind. `("nth highest
        x", "2 colour")` has the number in the second part, so that one feature covers all
        ordinals. The node of a relation (see `related`) has ranks among the things at its other
        end. Returns None for nodes that are neither a thing nor a relation.
        """
        known = self._ranks.get(node)
        if known is None:
            if node in self._sets:
                known = tuple(self._find_extremes(*self._sets[node]))
            else:
                thing = self.thing(node, labels)
                if thing is None:
                    return None
                if thing != node:
                    return self.ranks(thing)
                known = tuple(self._find_ranks(thing))
            self._ranks[node] = known
        return known

    def _find_ranks(self, thing: str) -> Iterator[Rank]:
        """Yield the ranks of a thing among things that share labels with it."""
        for said, like in self._alike(thing):
            for name, places in self._places_among(like).items():
                own = self._values[name].get(thing)
                if own is not None and len(places) > 1:
                    yield from _ranks(name, places[own], len(places), said)

    def _find_extremes(self, thing: str, among: frozenset[str]) -> Iterator[Rank]:
        """Yield the ranks in which a thing is lowest or highest among the given things."""
        for said, like in self._alike(thing):
            both = among & like
            for name in self._numbers if len(both) > 1 else ():
                column = self._values[name]
                numbers = [column[each] for each in both if each in column]
                own = column.get(thing)
                least, most = min(numbers, default=own), max(numbers, default=own)
                if own is not None and least != most:
                    if own == least:
                        yield f"lowest {name}", said
                    elif own == most:
                        yield f"highest {name}", said

    def _alike(self, thing: str) -> list[tuple[str, frozenset[str]]]:
        """Return, for each combination of labels, the things with the same values."""
        known = self._likes.get(thing)
        if known is None:
            known = self._likes[thing] = []
            kinds = tuple(kind for kind in self._kinds if thing in self._values[kind])
            for size in range(len(kinds) + 1):
                for shared in combinations(kinds, size):
                    values = tuple([self._values[kind][thing] for kind in shared])
                    known.append((" ".join(shared), self._grouped(shared)[values]))
        return known

    def _grouped(self, shared: tuple[str, ...]) -> dict[Hashable, frozenset[str]]:
        """Group all things by their values of the given labels."""
        known = self._groups.get(shared)
        if known is None:
            columns = [self._values[kind] for kind in shared]
            groups: dict[Hashable, list[str]] = {}
            for each in self.labels:
                groups.setdefault(tuple([column.get(each) for column in columns]), []).append(each)
            known = self._groups[shared] = {key: frozenset(some) for key, some in groups.items()}
        return known

    def _places_among(self, like: frozenset[str]) -> dict[str, dict[float | str, int]]:
        """Return, for each numeric label, the rank of each value among the given things."""
        known = self._sorted.get(like)
        if known is None:
            known = self._sorted[like] = {}
            for name in self._numbers:
                column = self._values[name]
                numbers = {column[each] for each in like if each in column}
                known[name] = {number: place for place, number in enumerate(sorted(numbers))}
        return known

    # ---- relations ----------------------------------------------------------------------

    def relations(self, thing: str) -> dict[str, tuple[str, ...]]:
        """Return the relations of a thing, each with the related things."""
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
        """Yield spatial relations: next to a thing, and between two things on a line."""
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
        """Return a graph extended by the relations of all its things.

        Each relation becomes a node with edges to the related things. Its ranks are those of the
        thing among them.
        """
        pairs = zip(graph.node_names, graph.node_labels, strict=True)
        things = {name: thing for name, labels in pairs if (thing := self.thing(name, labels))}
        renamed = {thing: name for name, thing in reversed(things.items()) if thing != name}
        nodes: dict[str, tuple[Label, ...]] = {}
        edges: list[Edge] = []
        for name, thing in things.items():
            more, links = self._relation_nodes(thing)
            if renamed:  # some nodes have other names than their things
                first = renamed.get(thing, thing)
                links = [
                    (name if source == thing else source, renamed.get(target, target), labels)
                    for source, target, labels in links
                    if source == thing or name == first
                ]
                more = {renamed.get(each, each): labels for each, labels in more.items()}
            nodes.update(more)
            edges += links
        return graph.extended(nodes, edges)

    def _relation_nodes(self, thing: str) -> tuple[dict[str, tuple[Label, ...]], list[Edge]]:
        """Return the nodes and edges for the relations of a thing."""
        known = self._added.get(thing)
        if known is None:
            nodes: dict[str, tuple[Label, ...]] = {}
            edges: list[Edge] = []
            for relation, others in self.relations(thing).items():
                name = f"{thing}: {relation}"
                same = ("same",) if relation.startswith("same ") else ()
                nodes[name] = labels_of((relation, *same))
                edges.append((thing, name, _IS))
                self._sets[name] = (thing, frozenset((thing, *others)))
                for other in others:
                    nodes[other] = self.labels[other]
                    edges.append((name, other, _AS))
            known = self._added[thing] = (nodes, edges)
        return known


@lru_cache(maxsize=10_000)
def _ranks(name: str, place: int, count: int, shared: str) -> tuple[Rank, ...]:
    """Return the ranks of a value by name, and as `nth` with a separate number."""
    found = []
    for order, number in (("lowest", place + 1), ("highest", count - place)):
        if number <= min(_MOST_RANK, count - 1):
            said = "" if number == 1 else _ORDINALS.get(number, f"{number}th ")
            found.append((f"{said}{order} {name}", shared))
        if number <= _MOST_RANK:
            found.append((f"nth {order} {name}", f"{number} {shared}".strip()))
    if count > 2 and 2 * place + 1 == count:
        found.append((f"middle {name}", shared))
    return tuple(found)
