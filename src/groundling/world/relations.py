"""Scenes: ranks and relations derived from the labels of things."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.errors import WorldError
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of

_MOST_RANK = 9  # highest rank by name, as in "the ninth from the left"
_AXES = ("x", "y", "z")
_NEAR = 1.0  # maximum distance of neighbours on a grid, diagonals included
_ORDINALS = {2: "2nd ", 3: "3rd "}
_MOST_KINDS = 3  # maximum number of labels by which things are grouped
_TOGETHER = 500_000  # maximum numbers compared at a time
IS, AS = labels_of("is"), labels_of("as")
"""The labels of edges from a thing to its relation, and from there to the related things."""
Edge = tuple[str, str, tuple[Label, ...]]
Rank = tuple[str, str]
"""A rank, and the labels that the ranked things share."""
Ranks = tuple[tuple[Rank, ...], ...]
"""Ranks by group; equal groups are usually the same object."""


class RelationNode(NamedTuple):
    """A relation of a thing as a node: its name, its labels, and the related things."""

    name: str
    labels: tuple[Label, ...]
    others: tuple[str, ...]


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
                "Things in a state must have names that are distinct as strings; got "
                f"{sorted(map(str, things))}. Rename some of them."
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
        self._owners: dict[tuple[Label, ...], str | None] = {}

    def _is_shared(self, name: str) -> bool:
        """Return whether a label has strings that some, but not all, things share."""
        values = list(self._values[name].values())
        strings = all(isinstance(each, str) for each in values)
        return strings and 1 < len(set(values)) < len(values)

    def thing(self, name: str, labels: tuple[Label, ...]) -> str | None:
        """Return the thing that a node represents by name or by labels, or None.

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

        Each rank is paired with the shared labels. `("lowest x", "")` is the leftmost of all
        things, `("2nd highest x", "colour")` the second from the right among things of its colour,
        and `("highest size", "colour kind")` the biggest of its colour and kind. `("nth highest x",
        "2 colour")` has the number in the second part, so that one feature covers all ordinals.

        The node of a relation (see `related`) has ranks among the things at its other end. Returns
        None for nodes that are neither a thing nor a relation.
        """
        found = self.grouped_ranks(self.thing(node, labels) or node)
        return None if found is None else tuple(chain.from_iterable(found))

    def grouped_ranks(self, name: str) -> Ranks | None:
        """Return the ranks of a thing or relation, one tuple for each group (see `ranks`)."""
        return self._ranks[name] if name in self._ranks else self._relation_nodes[1].get(name)

    @cached_property
    def _ranks(self) -> dict[str, Ranks]:
        """The ranks of each thing among the things with which it shares labels."""
        found: dict[str, list[tuple[Rank, ...]]] = {thing: [] for thing in self.labels}
        for shared in self._shared_kinds if self._numbers else ():
            said, groups = " ".join(shared), dict[int, list[str]]()
            for thing, group in zip(self.labels, self._group_numbers(shared), strict=True):
                groups.setdefault(group, []).append(thing)
            groups.pop(-1, None)
            for things in groups.values():
                for name in self._numbers if len(things) > 1 else ():
                    column = self._values[name]
                    numbers = sorted({column[each] for each in things if each in column})
                    if len(numbers) > 1:
                        ranks = [_ranks(name, n, len(numbers), said) for n in range(len(numbers))]
                        ranked = dict(zip(numbers, ranks, strict=True))
                        for thing in things:
                            if thing in column:
                                found[thing].append(ranked[column[thing]])
        return {thing: tuple(ranks) for thing, ranks in found.items()}

    @cached_property
    def _shared_kinds(self) -> list[tuple[str, ...]]:
        """All combinations of up to `_MOST_KINDS` labels by which things are grouped."""
        sizes = range(len(self._kinds) + 1)
        return list(chain.from_iterable([combinations(self._kinds, size) for size in sizes]))

    # ---- relations ----------------------------------------------------------------------

    def relations(self, thing: str) -> dict[str, tuple[str, ...]]:
        """Return the relations of a thing, each with the related things."""
        names = list(self.labels)
        found = self._related[names.index(thing)]
        return {relation: tuple([names[n] for n in others]) for relation, others in found.items()}

    @cached_property
    def _related(self) -> list[dict[str, list[int]]]:
        """For each thing, its relations and the indices of the related things."""
        found: list[dict[str, list[int]]] = [{} for _ in self.labels]
        place = {thing: number for number, thing in enumerate(self.labels)}
        for name, values in self._values.items():
            own = [values.get(thing) for thing in self.labels]
            codes: dict[object, int] = {None: -1}
            code = np.array([codes.setdefault(each, len(codes)) for each in own])
            number = np.array([each if isinstance(each, float) else np.nan for each in own])
            compared = np.stack([
                (code[:, None] == code) & (code >= 0), number[:, None] < number,
                number[:, None] > number,
            ], axis=1)  # fmt: skip
            compared[range(len(own)), :, range(len(own))] = False
            for thing, value in enumerate(own):
                # A label may name another thing.
                if value in place and place[value] != thing:
                    compared[thing] = False
                    found[thing].setdefault(name, []).append(place[value])
            relations = (f"same {name}", f"lower {name}", f"higher {name}")
            for thing, relation, others in _rows(compared):
                found[thing].setdefault(relations[relation], []).extend(others)
        for thing, spatial, others in self._places():
            found[thing].setdefault(spatial, []).extend(others)
        return [
            {relation: list(dict.fromkeys(others)) for relation, others in each.items()}
            for each in found
        ]

    def _places(self) -> Iterator[tuple[int, str, list[int]]]:
        """Yield spatial relations: next to a thing, and between two things on a line."""
        columns = [self._values.get(axis, {}) for axis in _AXES]
        at = np.array([[_coordinate(each.get(thing)) for each in columns] for thing in self.labels])
        has = ~np.isnan(at)
        for axes in np.unique(has[has.any(1)], axis=0):
            things = np.flatnonzero((has == axes).all(1))
            others = np.flatnonzero(has[:, axes].all(1))
            away = at[others][:, axes] - at[things][:, axes][:, None]  # things × others × axes
            differs = things[:, None] != others
            near = (np.abs(away).max(2) <= _NEAR) & differs
            yield from (
                (int(things[row]), "next to", others[places].tolist())
                for row, _, places in _rows(near[:, None])
            )
            for axis in range(away.shape[2]):
                line = differs & (np.delete(away, axis, 2) == 0).all(2)
                along = away[:, :, axis]
                below = np.where(line & (along < 0), along, -np.inf)
                above = np.where(line & (along > 0), along, np.inf)
                both = np.isfinite(below.max(1)) & np.isfinite(above.min(1))
                ends = np.stack([others[below.argmax(1)], others[above.argmin(1)]], axis=1)
                for row in np.flatnonzero(both).tolist():
                    yield int(things[row]), "between", ends[row].tolist()

    # ---- graphs -------------------------------------------------------------------------

    def related(self, graph: GroundingGraph) -> GroundingGraph:
        """Return a graph extended by the relations of all things in it.

        Each relation becomes a node with edges to the related things. The ranks of the node are the
        ranks of the thing among the related things.
        """
        things = self.things_of(graph)
        renamed = {thing: name for name, thing in reversed(things.items()) if thing != name}
        nodes: dict[str, tuple[Label, ...]] = {}
        edges: list[Edge] = []
        for name, thing in things.items():
            is_first = name == renamed.get(thing, thing)  # the first node of this thing
            for node in self.relation_nodes(thing):
                nodes[node.name] = node.labels
                edges.append((name, node.name, IS))
                for other in node.others:
                    nodes[renamed.get(other, other)] = self.labels[other]
                    if is_first:
                        edges.append((node.name, renamed.get(other, other), AS))
        return graph.extended(nodes, edges)

    def things_of(self, graph: GroundingGraph) -> dict[str, str]:
        """Return the nodes of a graph that represent things, each with its thing.

        >>> scene = Scene({"a": {"colour": "red"}, "b": {"colour": "blue"}})
        >>> scene.things_of(GroundingGraph({"event": "take", "object": {"colour": "red"}}))
        {'object': 'a'}
        """
        pairs = zip(graph.node_names, graph.node_labels, strict=True)
        return {name: thing for name, labels in pairs if (thing := self.thing(name, labels))}

    def relation_nodes(self, thing: str) -> list[RelationNode]:
        """Return the relations of a thing as nodes; their ranks are those of the thing."""
        return self._relation_nodes[0][thing]

    @cached_property
    def _relation_nodes(self) -> tuple[dict[str, list[RelationNode]], dict[str, Ranks]]:
        names = list(self.labels)
        every = [
            (thing, relation, others)
            for thing, found in enumerate(self._related)
            for relation, others in found.items()
        ]
        nodes: dict[str, list[RelationNode]] = {thing: [] for thing in names}
        ranks: dict[str, Ranks] = {}
        for (thing, relation, others), ranked in zip(
            every, self._find_extremes(every), strict=True
        ):
            name, labels = f"{names[thing]}: {relation}", _relation_labels(relation)
            listed = tuple([names[other] for other in others])
            nodes[names[thing]].append(RelationNode(name, labels, listed))
            ranks[name] = ranked
        return nodes, ranks

    def _find_extremes(self, related: list[tuple[int, str, list[int]]]) -> Iterator[Ranks]:
        """Yield, for each relation, the ranks in which its thing is first or last.

        The thing is compared with the related things that share labels with it.
        """
        if not self._numbers:
            yield from [()] * len(related)
            return
        count = len(self.labels)
        groups = np.array([self._group_numbers(kinds) for kinds in self._shared_kinds])
        names, said = tuple(self._numbers), list(map(" ".join, self._shared_kinds))
        alike = (groups[:, :, None] == groups[:, None]) & (groups >= 0)[:, :, None]
        columns = [self._values[name] for name in self._numbers]
        number = np.array([[each.get(thing, np.nan) for thing in self.labels] for each in columns])
        number = number.reshape(len(columns), count)
        made: dict[bytes, Ranks] = {}
        step = max(1, _TOGETHER // max(1, alike.shape[0] * number.size))
        for first in range(0, len(related), step):
            some = related[first : first + step]
            things = np.array([thing for thing, _, _ in some])
            among = np.zeros((len(some), count), bool)
            among[np.arange(len(some)), things] = True
            counts = [len(others) for _, _, others in some]
            others = list(chain.from_iterable([others for _, _, others in some]))
            among[np.repeat(np.arange(len(some)), counts), others] = True
            # Axes: relations, shared labels, numbers, things.
            both = among[:, None] & alike[:, things].swapaxes(0, 1)
            known = both[:, :, None] & ~np.isnan(number)
            least = np.where(known, number, np.inf).min(3)
            most = np.where(known, number, -np.inf).max(3)
            own = number[:, things].T[:, None]
            differ = (least != most) & ~np.isnan(own)
            codes = np.where(own == least, 1, 2 * (own == most)) * differ
            for key in map(bytes, codes.astype(np.uint8)):
                if key not in made:
                    code = [key[n : n + len(names)] for n in range(0, len(key), len(names))]
                    found = [_extremes(names, *each) for each in zip(said, code, strict=True)]
                    made[key] = tuple(filter(None, found))
                yield made[key]

    def _group_numbers(self, kinds: tuple[str, ...]) -> list[int]:
        """Number the combinations of values of some labels.

        Things without one of the labels get -1.
        """
        columns = [[self._values[kind].get(thing) for thing in self.labels] for kind in kinds]
        if not columns:
            return [0] * len(self.labels)
        codes: dict[tuple[object, ...], int] = {}
        values = zip(*columns, strict=True)
        return [-1 if None in each else codes.setdefault(each, len(codes)) for each in values]


def _rows(compared: NDArray[np.bool_]) -> Iterator[tuple[int, int, list[int]]]:
    """Yield, for each thing and relation, the things to which the thing is related.

    The axes of the array are the thing, the relation and the other thing. The relations of a thing
    are in the order of the first thing to which they apply.
    """
    count = compared.shape[2]
    first = np.where(compared.any(2), compared.argmax(2), count)
    listed = np.nonzero(compared)[2].tolist()
    sizes = compared.sum(2)
    starts = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape).tolist()
    order, ends = np.argsort(first, axis=1, kind="stable").tolist(), sizes.tolist()
    for thing, relations in enumerate(order):
        for relation in relations:
            if ends[thing][relation]:
                start = starts[thing][relation]
                yield thing, relation, listed[start : start + ends[thing][relation]]


def _coordinate(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except ValueError:  # a word, such as "left"
        return np.nan


@lru_cache(maxsize=10_000)
def _extremes(names: tuple[str, ...], shared: str, codes: bytes) -> tuple[Rank, ...]:
    orders = ("", "lowest", "highest")
    pairs = zip(names, codes, strict=True)
    return tuple([(f"{orders[code]} {name}", shared) for name, code in pairs if code])


@lru_cache(maxsize=1000)
def _relation_labels(relation: str) -> tuple[Label, ...]:
    return labels_of((relation, "same") if relation.startswith("same ") else (relation,))


@lru_cache(maxsize=10_000)
def _ranks(name: str, place: int, count: int, shared: str) -> tuple[Rank, ...]:
    """Return the ranks of a position from both ends, each with the shared labels.

    A rank has its number in its name (`2nd lowest x`), or is called `nth` and has the number
    before the shared labels.
    """
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
