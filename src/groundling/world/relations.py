"""Scenes: ranks and relations derived from the labels of things."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, combinations, count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.errors import GraphError, WorldError
from groundling.limits import GRAPH_EDGES, GRAPH_NODES
from groundling.ragged import renumbered
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of

_MOST_RANK = 9  # highest rank by name, as in "the ninth from the left"
_AXES = ("x", "y", "z")
_NEAR = 1.0  # maximum distance of neighbours on a grid, diagonals included
_ORDINALS = {2: "2nd ", 3: "3rd "}
_MOST_KINDS = 3  # maximum number of labels by which things are grouped
_TOGETHER = 500_000  # maximum numbers compared at a time
IS, AS = labels_of("is"), labels_of("as")
"""The labels of edges from a thing to its relation, and from there to the related things."""
Edge = tuple[int, int, tuple[Label, ...]]
_Pairs = tuple[str, NDArray[np.int64], NDArray[np.int64]]
"""A relation, and the pairs of things between which it holds."""
_NONE = np.zeros(0, np.int64)
Rank = tuple[str, str]
"""A rank, and the labels that the ranked things share."""
Ranks = tuple[tuple[Rank, ...], ...]
"""Ranks by group; equal groups are usually the same object."""


class SceneNode(NamedTuple):
    """A thing or a relation as a node of a graph, with its groups of ranks."""

    name: str
    labels: tuple[Label, ...]
    ranks: Ranks


class _Relations(NamedTuple):
    """The relations of all things, sorted by thing, and the related things of each."""

    names: list[str]
    thing: NDArray[np.int64]
    relation: NDArray[np.int64]  # index into `names`
    starts: NDArray[np.int64]
    other: NDArray[np.int64]

    def others(self) -> list[list[int]]:
        """Return the related things of each relation."""
        listed, starts = self.other.tolist(), self.starts.tolist()
        return [listed[begin:end] for begin, end in pairwise(starts)]


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
        self._place: dict[Any, int] = {thing: n for n, thing in enumerate(self.labels)}

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
        name = self.thing(node, labels) or node
        found = self._ranks.get(name)
        if found is None:
            found = next((each.ranks for each in self.nodes if each.name == name), None)
        return None if found is None else tuple(chain.from_iterable(found))

    def ranks_of(self, things: Sequence[str | None]) -> list[Ranks | None]:
        """Return the ranks of things, one tuple for each group of things (see `ranks`)."""
        return [None if thing is None else self._ranks[thing] for thing in things]

    @cached_property
    def _ranks(self) -> dict[str, Ranks]:
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
        names, found = list(self.labels), self._related
        pairs = zip(found.thing.tolist(), found.relation.tolist(), found.others(), strict=True)
        return {
            found.names[relation]: tuple([names[other] for other in others])
            for own, relation, others in pairs
            if names[own] == thing
        }

    @cached_property
    def _related(self) -> _Relations:
        names: dict[str, int] = {}
        found = [
            (np.full(len(things), names.setdefault(name, len(names))), things, others)
            for name, things, others in chain(self._compared(), self._places())
            if len(things)
        ]
        columns = [np.concatenate([_NONE, *each]) for each in zip(*found, strict=True)]
        relation, thing, other = columns or [_NONE] * 3
        key = thing * len(names) + relation
        order = key.argsort(kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else _NONE
        first = order[starts]
        return _Relations(
            list(names), thing[first], relation[first], np.append(starts, len(key)), other[order]
        )

    def _compared(self) -> Iterator[_Pairs]:
        """Yield the relations between labels of two things: equal, lower, higher, or a name."""
        every = np.arange(len(self.labels))
        for name, values in self._values.items():
            own = [values.get(thing) for thing in self.labels]
            codes: dict[object, int] = {None: -1}
            code = np.array([codes.setdefault(each, len(codes)) for each in own])
            same = (code[:, None] == code) & (code >= 0)[:, None]
            number = np.array([each if isinstance(each, float) else np.nan for each in own])
            lower = number[:, None] < number
            higher = lower.T.copy()
            # A label may name another thing.
            named = np.array([self._place.get(each, n) for n, each in enumerate(own)], np.int64)
            pointing = np.flatnonzero(named != every)
            yield name, pointing, named[pointing]
            same[every, every] = False
            for word, pairs in (("same", same), ("lower", lower), ("higher", higher)):
                pairs[pointing] = False
                yield f"{word} {name}", *pairs.nonzero()

    def _places(self) -> Iterator[_Pairs]:
        """Yield spatial relations: next to a thing, and between two things on a line."""
        columns = [self._values.get(axis, {}) for axis in _AXES]
        at = np.array([[_coordinate(each.get(thing)) for each in columns] for thing in self.labels])
        has = ~np.isnan(at)
        for axes in sorted({each for each in map(tuple, has.tolist()) if any(each)}):
            things = np.flatnonzero((has == axes).all(1))
            others = np.flatnonzero(has[:, axes].all(1))
            away = at[others][:, axes] - at[things][:, axes][:, None]  # things × others × axes
            differs = things[:, None] != others
            near, place = ((np.abs(away) <= _NEAR).all(2) & differs).nonzero()
            yield "next to", things[near], others[place]
            level = away == 0
            for axis in range(away.shape[2]):
                line = differs & (level.sum(2) - level[:, :, axis] == away.shape[2] - 1)
                along = away[:, :, axis]
                below = np.where(line & (along < 0), along, -np.inf)
                above = np.where(line & (along > 0), along, np.inf)
                both = np.isfinite(below.max(1)) & np.isfinite(above.min(1))
                ends = np.stack([others[below.argmax(1)], others[above.argmin(1)]], axis=1)
                yield "between", np.repeat(things[both], 2), ends[both].ravel()

    # ---- graphs -------------------------------------------------------------------------

    def related(self, graph: GroundingGraph) -> GroundingGraph:
        """Return a graph extended by the relations of all things in it.

        Each relation becomes a node with edges to the related things. The ranks of the node are the
        ranks of the thing among the related things.
        """
        added, edges = self.surroundings(self.things_of(graph))
        nodes = dict(zip(graph.node_names, graph.node_labels, strict=True))
        nodes |= {self.nodes[each].name: self.nodes[each].labels for each in added}
        names = list(nodes)
        more = [(names[source], names[target], labels) for source, target, labels in edges]
        return GroundingGraph(nodes, (*graph.edges, *more), graph.root, graph.roles)

    def things_of(self, graph: GroundingGraph) -> tuple[str | None, ...]:
        """Return the thing that each node of a graph represents, or None.

        >>> scene = Scene({"a": {"colour": "red"}, "b": {"colour": "blue"}})
        >>> scene.things_of(GroundingGraph({"event": "take", "object": {"colour": "red"}}))
        (None, 'a')
        """
        return tuple(map(self.thing, graph.node_names, graph.node_labels))

    @cached_property
    def nodes(self) -> list[SceneNode]:
        """All things and, after them, all relations."""
        things, related = list(self.labels), self._related
        labels = list(map(_relation_labels, related.names))
        columns = related.thing.tolist(), related.relation.tolist(), self._find_extremes()
        return [SceneNode(name, own, self._ranks[name]) for name, own in self.labels.items()] + [
            SceneNode(f"{things[thing]}: {related.names[relation]}", labels[relation], ranks)
            for thing, relation, ranks in zip(*columns, strict=True)
        ]

    def surroundings(self, things: Sequence[str | None]) -> tuple[list[int], list[Edge]]:
        """Return what relations add to a graph whose nodes represent the given things.

        The result is the added nodes as indices into `nodes`, and edges between nodes given by
        index: first those of the graph, then the added ones.
        """
        known = [(n, self._place[thing]) for n, thing in enumerate(things) if thing is not None]
        place = {thing: n for n, thing in reversed(known)}
        added, edges = list[int](), list[Edge]()
        for thing in tuple(place):
            found = self._relations_of[thing]
            near = dict.fromkeys(chain.from_iterable([(node, *others) for node, others in found]))
            new = [each for each in near if each not in place]
            place.update(zip(new, count(len(things) + len(added)), strict=False))
            added += new
            edges += [(place[node], place[other], AS) for node, others in found for other in others]
        for n, thing in known:
            edges += [(n, place[node], IS) for node, _ in self._relations_of[thing]]
        GRAPH_NODES.check(len(things) + len(added), GraphError, "A grounding graph with relations")
        GRAPH_EDGES.check(len(edges), GraphError, "A grounding graph with relations")
        return added, edges

    @cached_property
    def _relations_of(self) -> list[list[tuple[int, list[int]]]]:
        """For each thing, its relations as indices into `nodes`, and the related things."""
        found: list[list[tuple[int, list[int]]]] = [[] for _ in self.labels]
        pairs = zip(self._related.thing.tolist(), self._related.others(), strict=True)
        for node, (thing, others) in enumerate(pairs, len(self.labels)):
            found[thing].append((node, others))
        return found

    def _find_extremes(self) -> Iterator[Ranks]:
        """Yield, for each relation, the ranks in which its thing is first or last.

        The thing is compared with the related things that share labels with it.
        """
        related = self._related
        if not self._numbers:
            yield from [()] * len(related.thing)
            return
        groups = np.array([self._group_numbers(kinds) for kinds in self._shared_kinds]).T
        names, said = tuple(self._numbers), list(map(" ".join, self._shared_kinds))
        columns = [self._values[name] for name in self._numbers]
        number = np.array([[each.get(thing, np.nan) for each in columns] for thing in self.labels])
        # Axes: other things, shared labels, numbers, things or relations.
        alike = ((groups[:, None] == groups) & (groups >= 0)).swapaxes(1, 2)[:, :, None]
        below = alike & (number[:, None] < number).swapaxes(1, 2)[:, None]
        above = alike & (number[:, None] > number).swapaxes(1, 2)[:, None]
        made: dict[tuple[int, ...], Ranks] = {}
        step = max(1, _TOGETHER // max(1, groups.shape[1] * number.size))
        for first in range(0, len(related.thing), step):
            things = related.thing[first : first + step]
            starts = related.starts[first : first + len(things) + 1]
            among = np.zeros((len(self.labels), 1, 1, len(things)), bool)
            rows = np.repeat(np.arange(len(things)), starts[1:] - starts[:-1])
            among[related.other[starts[0] : starts[-1]], 0, 0, rows] = True
            has_below = (among & below[..., things]).any(0)
            has_above = (among & above[..., things]).any(0)
            codes = (has_above ^ has_below) * (np.uint8(1) + has_below)
            # Equal groups of ranks get the same number.
            group = np.arange(len(said))[:, None]
            for column in codes.swapaxes(0, 1):
                group = renumbered(3 * group + column)[1]
            place = np.unique(group, return_index=True)[1]
            every = np.moveaxis(codes, 1, 2).reshape(-1, len(names))[place]
            found = [
                _extremes(names, said[n // len(things)], bytes(code))
                for n, code in zip(place.tolist(), every, strict=True)
            ]
            for key in map(tuple, group.T.tolist()):
                if key not in made:
                    made[key] = tuple([found[n] for n in key if found[n]])
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
