"""Graph tables: grounding graphs of many actions that share their nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from groundling.errors import GraphError
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of_each


class GraphTable(Sequence[GroundingGraph]):
    """Grounding graphs of many actions that share their node names and edges.

    An environment may return a table from `ground_many(state, actions)`. Labels are then
    normalised once for each thing instead of once for each action, and graphs are built lazily.
    The graphs must equal those that `ground` returns for the same actions.

    Parameters
    ----------
    nodes
        For each node name, a list of possible labels and, for each action, an index into this
        list, or -1 if the graph of that action lacks the node.
    edges, root, roles
        As for a `GroundingGraph`. Each graph has the edges between its nodes.

    Examples
    --------
    >>> verbs, lamps = [{"verb": "light"}, {"verb": "dim"}], [{"lamp": "red"}, {"lamp": "blue"}]
    >>> nodes = {"event": (verbs, [0, 1, 0, 1]), "lamp": (lamps, [0, 0, 1, 1])}
    >>> table = GraphTable(nodes, [("event", "lamp", "of")])
    >>> len(table)
    4
    >>> print(table[3])
    event*: verb=dim
    lamp: lamp=blue
    event -> lamp: of
    """

    def __init__(
        self,
        nodes: Mapping[str, tuple[Sequence[Labels], Sequence[int]]],
        edges: Iterable[tuple[str, str, Labels]] = (),
        root: str | None = None,
        roles: Iterable[str] = (),
    ) -> None:
        if not isinstance(nodes, Mapping) or not nodes:
            raise GraphError(
                "`nodes` of a GraphTable must be a mapping from names to (labels, indices); got "
                f"{str(nodes)[:60]!r}."
            )
        self.labels: dict[str, list[tuple[Label, ...]]] = {}
        self.places: dict[str, NDArray[np.int64]] = {}
        read: dict[int, list[tuple[Label, ...]]] = {}  # nodes may share a list of labels
        for name, (listed, places) in nodes.items():
            if id(listed) not in read:
                read[id(listed)] = labels_of_each(listed, f"node {name!r}")
            self.labels[name] = read[id(listed)]
            chosen = np.asarray(places, np.int64).ravel()
            if len(chosen) and not (chosen.min() >= -1 and chosen.max() < len(listed)):
                raise GraphError(
                    f"Every index of the node {name!r} must be from 0 to {len(listed) - 1}, or -1 "
                    f"for a graph without this node; got {int(chosen.min())} to "
                    f"{int(chosen.max())}. Correct the indices, or list more labels."
                )
            self.places[name] = chosen
        sizes = {len(each) for each in self.places.values()}
        if len(sizes) > 1:
            raise GraphError(
                "Every node of a GraphTable must have one index for each action; got "
                f"{', '.join(f'{len(each)} for {name!r}' for name, each in self.places.items())}."
            )
        self._count = sizes.pop()
        whole = GroundingGraph(dict.fromkeys(nodes, ()), edges, root, roles)
        present = np.stack(list(self.places.values()), axis=1) >= 0
        if not present[:, whole.node_names.index(whole.root)].all():
            raise GraphError(
                f"Every graph of a GraphTable must have the root {whole.root!r}; got a graph "
                "without it. Give each action an index for the root."
            )
        self.patterns = [whole]
        self.pattern_of = np.zeros(self._count, np.int64)
        if not present.all():
            rows, where = np.unique(present, axis=0, return_inverse=True)
            self.patterns, self.pattern_of = [_part_of(whole, row) for row in rows], where.ravel()

    def changed(self, roles: Iterable[str]) -> GraphTable:
        """Return a copy of the table whose graphs have the given roles."""
        other = GraphTable.__new__(GraphTable)
        other.__dict__.update(self.__dict__)
        other.patterns = [each.changed(roles=roles) for each in self.patterns]
        return other

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes, excluding labels, which are shared."""
        listed = sum(map(len, self.labels.values()))
        return 1000 + 8 * listed + 8 * len(self.labels) * self._count

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphTable) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"GraphTable({len(self)} graphs, {len(self.labels)} nodes each)"

    @overload
    def __getitem__(self, place: int) -> GroundingGraph: ...
    @overload
    def __getitem__(self, place: slice) -> list[GroundingGraph]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        pattern = self.patterns[self.pattern_of[place]]
        chosen = {name: self.labels[name][self.places[name][place]] for name in pattern.node_names}
        return pattern.changed(chosen)


def _part_of(graph: GroundingGraph, present: NDArray[np.bool_]) -> GroundingGraph:
    """Return a graph with some of the nodes, and the edges between them."""
    names = dict.fromkeys(np.array(graph.node_names, object)[present].tolist(), ())
    edges = [edge for edge in graph.edges if edge[0] in names and edge[1] in names]
    return GroundingGraph(names, edges, graph.root, graph.roles)
