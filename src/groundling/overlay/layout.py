"""Layouts: the order of the states of candidates in a chart.

A chart row has one entry per state: an action with a node of its graph. Candidates are processed
in tiles, whose rows are long but still fit into the L1 cache. There are two layouts:

- **graph**: candidates are stored one after the other, by action and node; links connect
  neighbouring states.
- **flat**, if every action is one node: eight candidates of similar length form a block, and their
  states at one position form a strip of adjacent entries. Operations process one strip at a
  time instead of one state. A candidate that is shorter than its block is zero after its end. If
  the last block is not full, its last candidate is repeated with weight 0.

The recursion treats both layouts as tiles of actions (`GraphTile`, `FlatTile`). It uses only their
methods, which sum the states of an action or add to them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.array_views import view
from groundling.compiler import inner, with_methods
from groundling.overlay.batch import (
    Batch,
    Indices,
    Integers,
    Plans,
    Reals,
    check_width,
    states_of,
    whole,
)
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.potentials import PairTables, tabulate
from groundling.overlay.simd import LANES, fill, lane_rows, load, spread, store, total, up_to_eights
from groundling.ragged import owners_of, sizes_of, starts_of, sums_of

TILE = 256  # states per tile, so that their chart rows fit into the L1 cache

# A link is packed into 64 bits: the target state in the low half, the source in the high half.
FROM, TO = np.uint64(32), np.uint64(2**32 - 1)


# ---- tiles, as the recursion sees them --------------------------------------------------------


@with_methods
class GraphTile(NamedTuple):
    """Candidates stored one after the other, with the links between their states."""

    states: int  # rounded up to a multiple of 8; the rest is padding
    order: Integers  # candidate of the tile -> candidate of the instance
    state_node: Indices  # state -> node of the instance; the number of nodes marks padding
    action_block: Integers  # action -> candidate of the tile
    action_before: Reals  # action -> 1 if the candidate has an action before it, else 0
    action_after: Reals
    action_start: NDArray[np.uint64]  # action -> its first state
    state_enters: NDArray[np.bool_]
    link: NDArray[np.uint64]  # between states, relation by relation
    relation_links: Integers  # relation -> links
    next_link: Integers  # relation -> index of its next link, while the tile is laid out

    def nothing(self, ring: Any) -> Any:
        """Return a zero of the same width as the sum of an action's states."""
        return ring.zero

    def sum(self, ring: Any, value: Any) -> Any:
        """Reduce the sum of an action's states to a scalar with ⊕."""
        return value

    def at(self, values: Reals, action: int) -> Any:
        """Return the value of an action's candidate."""
        return values[self.action_block[action]]

    def put(self, values: Reals, action: int, value: Any) -> None:
        """Set the value of an action's candidate."""
        values[self.action_block[action]] = value

    def least(self, row: Reals) -> float:
        """Return a lower bound of every candidate's sum in the `Scaled` semiring."""
        low = math.inf
        for action in range(len(self.action_block)):
            first = row[self.action_start[action]]
            low = first if first < low else low
        return low

    def gather(self, ring: Any, row: Reals, action: int, entries: bool) -> Any:
        """Return ⊕ over the states of an action: all, or with `entries` only the entry states."""
        amount = ring.zero
        for s in range(self.action_start[action], self.action_start[action + 1]):
            if not entries or self.state_enters[s]:
                amount = ring.plus(amount, row[s])
        return amount

    def add(self, ring: Any, row: Reals, action: int, value: Any) -> None:
        """Add a value to all states of an action with ⊕."""
        for s in range(self.action_start[action], self.action_start[action + 1]):
            row[s] = ring.plus(row[s], value)

    def scale(self, ring: Any, row: Reals, action: int, value: Any) -> None:
        """Multiply all states of an action by a value with ⊗."""
        for s in range(self.action_start[action], self.action_start[action + 1]):
            row[s] = ring.times(value, row[s])

    def enter(self, ring: Any, target: Reals, row: Reals, action: int, value: Any) -> None:
        """Add value ⊗ row to the entry states of an action."""
        for s in range(self.action_start[action], self.action_start[action + 1]):
            if self.state_enters[s]:
                target[s] = ring.plus(target[s], ring.times(value, row[s]))

    def send_links(self, ring: Any, edge: Reals, row: Reals, message: Reals) -> None:
        """Add the values of each state's neighbours to its message, weighted by `edge`."""
        for relation in range(len(self.relation_links) - 1):
            first, last = self.relation_links[relation], self.relation_links[relation + 1]
            score = edge[relation]
            for i in range(np.uint64(first), np.uint64(last)):
                to, source = self.link[i] & TO, self.link[i] >> FROM
                message[to] = ring.plus(message[to], ring.times(score, row[source]))

    def receive_links(
        self, ring: Any, edge: Reals, rows: tuple[Reals, Reals, Reals], grad: Reals, weight: float
    ) -> None:
        """Run the backward pass of `send_links`.

        `rows` holds the adjoint of the message, the row, and the posterior of the row.
        """
        asked, row, posterior = rows
        for relation in range(len(self.relation_links) - 1):
            first, last = self.relation_links[relation], self.relation_links[relation + 1]
            score, total_flow = edge[relation], ring.zero
            for i in range(np.uint64(first), np.uint64(last)):
                to, source = self.link[i] & TO, self.link[i] >> FROM
                flow = ring.times(ring.times(score, asked[to]), row[source])
                posterior[source] = ring.plus(posterior[source], flow)
                total_flow = ring.plus(total_flow, flow)
            grad[relation] += ring.counted(total_flow, weight)


@with_methods
class FlatTile(NamedTuple):
    """Blocks of eight candidates; an action is a strip of eight states without links."""

    states: int
    order: Integers
    state_node: Indices
    action_block: Integers  # strip -> block of the tile
    action_before: Reals
    action_after: Reals

    def nothing(self, ring: Any) -> Any:
        return spread(ring.zero)

    def sum(self, ring: Any, value: Any) -> Any:
        return total(value)

    def at(self, values: Reals, action: int) -> Any:
        return load(values, LANES * self.action_block[action])

    def put(self, values: Reals, action: int, value: Any) -> None:
        store(values, LANES * self.action_block[action], value)

    def least(self, row: Reals) -> float:
        return 0.0

    def gather(self, ring: Any, row: Reals, action: int, entries: bool) -> Any:
        return load(row, LANES * action)

    def add(self, ring: Any, row: Reals, action: int, value: Any) -> None:
        store(row, LANES * action, ring.plus(load(row, LANES * action), value))

    def scale(self, ring: Any, row: Reals, action: int, value: Any) -> None:
        store(row, LANES * action, ring.times(value, load(row, LANES * action)))

    def enter(self, ring: Any, target: Reals, row: Reals, action: int, value: Any) -> None:
        flow = ring.times(value, load(row, LANES * action))
        store(target, LANES * action, ring.plus(load(target, LANES * action), flow))

    def send_links(self, ring: Any, edge: Reals, row: Reals, message: Reals) -> None:
        pass

    def receive_links(
        self, ring: Any, edge: Reals, rows: tuple[Reals, Reals, Reals], grad: Reals, weight: float
    ) -> None:
        pass


# ---- layouts ----------------------------------------------------------------------------------


@with_methods
class GraphLayout(NamedTuple):
    """The graphs of a batch: tiles of candidates, and the links of every shape.

    A link connects a neighbour to a node. If every node is linked to itself, these links are left
    out of the list. Their relation is then `stay`, and whole rows are processed at once.
    """

    instance_tiles: Integers
    tile_candidates: Integers  # tile -> candidates, in `order`
    order: Integers  # candidates, as indices within their instance
    stay: int  # relation of every node to itself, or -1
    shape_links: Integers  # shape -> links
    shape_relations: Integers  # shape × relation -> number of links
    link: NDArray[np.uint64]  # between nodes; packed because reading dominates
    link_relation: Indices

    def open_tile(self, plans: Plans, space: GraphTile, tile: int, nodes: int, fresh: bool) -> Any:
        """Return a tile in the workspace; lay it out first unless `fresh` is false."""
        first, last = self.tile_candidates[tile], self.tile_candidates[tile + 1]
        actions = plans.candidate_actions[last] - plans.candidate_actions[first]
        if fresh:
            _lay_out_tile(self, plans, space, (first, last), nodes)
        return GraphTile(
            up_to_eights(whole(space.action_start[actions])), view(self.order, first, last - first),
            space.state_node, view(space.action_block, 0, actions), space.action_before,
            space.action_after, space.action_start, space.state_enters,
            view(space.link, 0, space.relation_links[len(space.relation_links) - 1]),
            space.relation_links, space.next_link,
        )  # fmt: skip


@with_methods
class FlatLayout(NamedTuple):
    """The states of flat candidates, ordered by tile, block and strip."""

    instance_tiles: Integers
    tile_candidates: Integers
    order: Integers  # candidates of an instance, longest first
    stay: int
    tile_strips: Integers  # tile -> strips
    strip_block: Integers  # strip -> block of the tile
    strip_before: Reals  # strip -> 1 if the block has a strip before it, else 0
    strip_after: Reals
    state_node: Indices

    def open_tile(self, plans: Plans, space: GraphTile, tile: int, nodes: int, fresh: bool) -> Any:
        """Return a tile as views of the arrays of this layout."""
        first, last = self.tile_candidates[tile], self.tile_candidates[tile + 1]
        strip = whole(self.tile_strips[tile])
        strips = self.tile_strips[tile + 1] - strip
        return FlatTile(
            LANES * strips, view(self.order, first, last - first),
            view(self.state_node, LANES * strip, LANES * strips),
            view(self.strip_block, strip, strips), view(self.strip_before, strip, strips),
            view(self.strip_after, strip, strips),
        )  # fmt: skip


@inner
def _lay_out_tile(
    layout: GraphLayout, plans: Plans, space: GraphTile, candidates: tuple[int, int], nodes: int
) -> None:
    """Write the states of some candidates in sequence, and their links by relation."""
    relations, (first, last) = len(space.relation_links) - 1, candidates
    begin, end = plans.candidate_actions[first], plans.candidate_actions[last]
    fill(space.relation_links, relations + 1, 0)
    for action in range(begin, end):
        shape = plans.graph_shape[plans.action_graph[action]]
        for relation in range(relations):
            space.relation_links[relation + 1] += layout.shape_relations[shape, relation]
    for relation in range(relations):
        space.next_link[relation] = space.relation_links[relation]
        space.relation_links[relation + 1] += space.relation_links[relation]
    state = 0
    for candidate in range(first, last):
        actions = plans.candidate_actions[candidate], plans.candidate_actions[candidate + 1]
        for action in range(*actions):
            graph = plans.action_graph[action]
            shape = plans.graph_shape[graph]
            enters = plans.shape_nodes[shape] - state
            space.action_start[action - begin] = state
            space.action_block[action - begin] = candidate - first
            space.action_before[action - begin] = 1.0 if action > actions[0] else 0.0
            space.action_after[action - begin] = 1.0 if action < actions[1] - 1 else 0.0
            both = np.uint64(state) | np.uint64(state) << FROM
            for i in range(layout.shape_links[shape], layout.shape_links[shape + 1]):
                relation = layout.link_relation[i]
                place = space.next_link[relation]
                space.next_link[relation] = place + 1
                space.link[np.uint32(place)] = layout.link[i] + both
            for node in range(plans.graph_nodes[graph], plans.graph_nodes[graph + 1]):
                space.state_node[state] = plans.graph_node[node]
                space.state_enters[state] = plans.node_enters[enters + state] != 0
                state += 1
    space.action_start[end - begin] = state
    for rest in range(state, up_to_eights(state)):
        space.state_node[rest] = nodes


def lay_out_graphs(batch: Batch, *, alone: bool = False) -> GraphLayout:
    """Split candidates into tiles (one each if `alone`), and list the links of each shape."""
    owner, rank = _owners(batch)
    first = np.arange(len(owner)) if alone else _first_of_tiles(owner, states_of(batch), TILE)
    node, shapes = owners_of(batch.node_near), len(batch.shape_nodes) - 1
    shape = owners_of(batch.shape_nodes)[node]
    local = node - batch.shape_nodes[shape]
    stay, stays = _stays(batch, node, local)
    to, source = (each[~stays].astype(np.uint64) for each in (local, batch.near_node))
    shape, relation = shape[~stays], batch.near_relation[~stays]
    relations = int(batch.near_relation.max(initial=-1)) + 1
    counts = np.bincount(shape * relations + relation, minlength=shapes * relations)
    return GraphLayout(
        instance_tiles=np.searchsorted(first, batch.instance_candidates).astype(np.int32),
        tile_candidates=np.append(first, len(owner)).astype(np.int32),
        order=rank.astype(np.int32),
        stay=stay,
        shape_links=starts_of(np.bincount(shape, minlength=shapes), np.int32),
        shape_relations=counts.reshape(shapes, relations).astype(np.int32),
        link=to | source << FROM,
        link_relation=relation.astype(np.uint32),
    )


def _first_of_tiles(owner: NDArray[Any], sizes: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Return the first candidate of each tile of about `most` states of one instance."""
    starts = starts_of(sizes)[:-1]
    cut = (starts - starts[np.searchsorted(owner, owner)]) // most
    tile = owner * (cut.max(initial=0) + 1) + cut
    return np.flatnonzero(np.diff(tile, prepend=-1))


def _owners(batch: Batch) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the instance of each candidate, and the candidate's index in that instance."""
    owner = owners_of(batch.instance_candidates)
    return owner, np.arange(len(owner)) - batch.instance_candidates[owner]


def _stays(
    batch: Batch, node: NDArray[np.int64], local: NDArray[np.int64]
) -> tuple[int, NDArray[np.bool_]]:
    """Return the relation of all nodes to themselves (or -1), and a mask of its links."""
    itself = batch.near_node == local
    relations = batch.near_relation[itself]
    if len(relations):
        relation = int(np.bincount(relations).argmax())
        stays = itself & (batch.near_relation == relation)
        if np.all(np.bincount(node[stays], minlength=len(batch.node_near) - 1) == 1):
            return relation, stays
    return -1, np.zeros(len(node), np.bool_)


def is_flat(batch: Batch) -> bool:
    """Return whether every action has one node, in which words may enter and stay."""
    return (
        len(batch.shape_nodes) == 2
        and len(batch.node_enters) == len(batch.near_node) == 1
        and bool(batch.node_enters[0])
        and bool(np.all(sizes_of(batch.candidate_actions) > 0))
    )


def lay_out_flat(batch: Batch) -> FlatLayout:
    """Sort candidates by length into blocks of eight, and list their states."""
    length = sizes_of(batch.candidate_actions).astype(np.int64)
    owner, rank = _owners(batch)
    order = np.lexsort((-length, owner))
    sizes = length[order]
    leading = np.flatnonzero(rank % LANES == 0)  # the longest candidate of each block
    block_strips = starts_of(sizes[leading])
    # Tiles: as many whole blocks of one instance as fit into the L1 cache.
    leads = owner[leading]
    tile_blocks = _first_of_tiles(leads, sizes[leading], TILE // LANES)
    # The states of a strip are adjacent, one for each candidate of the block.
    block = owners_of(block_strips)  # strip -> block
    position = np.arange(len(block)) - block_strips[block]
    ends = batch.instance_candidates[leads + 1]
    filled = np.minimum(leading[:, None] + np.arange(LANES), ends[:, None] - 1)[block]
    there = position[:, None] < sizes[filled]
    action = batch.candidate_actions[order[filled]] + np.where(there, position[:, None], 0)
    node = batch.graph_node[batch.action_graph[action]]
    padding = batch.instance_nodes[leads[block], None]
    tile_strips = block_strips[np.append(tile_blocks, len(leading))].astype(np.int32)
    first = leading[tile_blocks]  # tile -> candidates
    before, after = np.ones((2, len(block)))
    before[block_strips[:-1]] = after[block_strips[1:] - 1] = 0.0
    return FlatLayout(
        instance_tiles=np.searchsorted(first, batch.instance_candidates).astype(np.int32),
        tile_candidates=np.append(first, len(order)).astype(np.int32),
        order=(order - batch.instance_candidates[owner]).astype(np.int32),
        stay=int(batch.near_relation[0]),
        tile_strips=tile_strips,
        strip_block=(block - np.repeat(tile_blocks, np.diff(tile_strips))).astype(np.int32),
        strip_before=before,
        strip_after=after,
        state_node=np.where(there, node, padding).ravel().astype(np.uint32),
    )


# ---- working memory ---------------------------------------------------------------------------


class ChartSpace(NamedTuple):
    """Working memory for charts (words × states) and for values computed from them."""

    lives: NDArray[np.bool_]  # group -> whether a candidate of the tile has a nonzero weight
    rows: Reals  # of all tiles
    messages: Reals
    posteriors: Reals  # of one tile
    scores: Reals  # word × node -> potential; one more node, with zeros, is padding
    counts: Reals  # word × node -> expected count
    asked: Reals  # adjoint of a message
    sums: Reals  # candidate of the tile -> sum of a row
    factors: Reals  # candidate of the tile -> factor for a row


class Workspace(NamedTuple):
    """Working memory for one instance at a time."""

    tile: GraphTile  # with room for the largest tile of graphs
    chart: ChartSpace
    in_logs: NDArray[np.bool_]  # candidate -> whether it needs the log semiring
    group_shift: Reals  # group -> log of the divisor of its scores
    group_log: Reals  # (candidates × groups)
    group_weight: Reals


def make_workspaces(batch: Batch, layout: GraphLayout | FlatLayout, count: int) -> list[Workspace]:
    """Allocate the working memory of each thread, enough for the largest instance and tile."""

    def most(values: NDArray[Any]) -> int:
        return int(np.max(values, initial=1))

    words = sizes_of(batch.instance_words)
    actions = links = relations = 0  # of a tile of graphs
    if isinstance(layout, FlatLayout):
        states = LANES * sizes_of(layout.tile_strips).astype(np.int64)
    else:
        starts = layout.tile_candidates
        states = up_to_eights(sums_of(states_of(batch), starts))
        of_actions = sizes_of(layout.shape_links)[batch.graph_shape][batch.action_graph]
        actions = most(sizes_of(batch.candidate_actions[starts]))
        links = most(sums_of(of_actions, batch.candidate_actions[starts]))
        relations = layout.shape_relations.shape[1]
    width, tile_cells = most(states), most(words[owners_of(layout.instance_tiles)] * states)
    cells = most(words * sums_of(states, layout.instance_tiles))
    # Links are packed into 64 bits, half for each state.
    check_width("the states or links of a plan", max(width, links))
    scores = most(words * (batch.instance_nodes + 1))
    candidates = most(sizes_of(batch.instance_candidates))
    groups = most(sizes_of(batch.instance_groups))

    def make_workspace() -> Workspace:
        before, after = np.zeros((2, actions))
        of_relations, following = np.zeros((2, relations + 1), np.int32)
        tile = GraphTile(
            width, np.zeros(0, np.int32), np.zeros(width, np.uint32), np.zeros(actions, np.int32),
            before, after, np.zeros(actions + 1, np.uint64), np.zeros(width, np.bool_),
            np.zeros(links, np.uint64), of_relations, following,
        )  # fmt: skip
        sizes = cells, cells, tile_cells, scores, scores, width, candidates, candidates
        rows = [lane_rows(size // LANES + 1) for size in sizes]
        chart = ChartSpace(np.zeros(groups, np.bool_), *rows)
        in_logs, shift = np.zeros(candidates, np.bool_), np.zeros(groups)
        return Workspace(tile, chart, in_logs, shift, *np.zeros((2, candidates * groups)))

    return [make_workspace() for _ in range(count)]


# ---- arrangement of an encoding ---------------------------------------------------------------


class Arrangement(NamedTuple):
    """The inputs of the kernels that are computed from an encoding."""

    pairs: PairTables
    layout: GraphLayout | FlatLayout


def arrange(encoding: Encoding) -> Arrangement:
    """Lay out an encoding for the kernels."""
    batch, kept = encoding.batch, encoding.kept
    if kept.layout is None:
        kept.layout = lay_out_flat(batch) if is_flat(batch) else lay_out_graphs(batch)
    return Arrangement(tabulate(encoding.tables), kept.layout)
