"""Where the states of flat plans are: eight candidates make a block, eight states a strip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import TILE, Batch, Indices, Integers, Reals, Room
from groundling.overlay.ragged import sizes_of, starts_of
from groundling.overlay.vectors import LANES

__all__ = ["FlatLayout", "is_flat", "lay_out_flat", "measure_flat_room"]


class FlatLayout(NamedTuple):
    """Where the states of flat candidates are: tile by tile, block by block, strip by strip."""

    instance_tiles: Integers
    tile_candidates: Integers  # tile -> candidates, in `order`
    tile_blocks: Integers  # tile -> blocks of eight candidates
    block_strips: Integers  # block -> strips, one for each position of its longest candidate
    strip_block: Integers  # strip -> block of the tile
    strip_before: Reals  # strip -> 1 if there is another before it in the block, else 0
    strip_after: Reals
    state_node: Indices  # state -> node of the instance, or how many it has: no state
    order: Integers  # candidates of an instance, the longest first
    instance_prior: NDArray[np.int64]  # instance -> its nodes in `node_prior`
    node_prior: Integers  # node -> pair (nothing, all labels) or -1
    relation: int  # of a node to itself


def is_flat(batch: Batch) -> bool:
    """Tell whether all actions are one node, which words may enter and stay at."""
    return (
        len(batch.shape_nodes) == 2
        and len(batch.node_enters) == len(batch.near_node) == 1
        and bool(batch.node_enters[0])
        and bool(np.all(sizes_of(batch.candidate_actions) > 0))
    )


def lay_out_flat(batch: Batch) -> FlatLayout:
    """Sort candidates by length, put eight into a block, and list their states."""
    length = sizes_of(batch.candidate_actions).astype(np.int64)
    counts = sizes_of(batch.instance_candidates)
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-length, owner))
    sizes = length[order]
    rank = np.arange(len(order)) - batch.instance_candidates[owner]
    leading = np.flatnonzero(rank % LANES == 0)  # the longest candidate of each block
    block_strips = starts_of(sizes[leading])
    # Tiles: whole blocks of one instance, as many as the fastest cache has room for.
    leads = owner[leading]
    instance_blocks = np.searchsorted(leads, np.arange(len(counts) + 1))
    cut = (block_strips[:-1] - block_strips[instance_blocks[leads]]) // (TILE // LANES)
    begins = np.ones(len(leads), np.bool_)
    begins[1:] = (leads[1:] != leads[:-1]) | (cut[1:] != cut[:-1])
    tile_blocks = np.flatnonzero(begins)
    # States: those of a strip together, one for each candidate of the block.
    ends = batch.instance_candidates[leads + 1]
    filled = np.minimum(leading[:, None] + np.arange(LANES), ends[:, None] - 1).ravel()
    lengths = sizes[filled]
    lane = np.repeat(np.arange(len(filled)), lengths)
    position = np.arange(len(lane)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    state_node = np.repeat(
        batch.instance_nodes[leads].astype(np.uint32), LANES * sizes_of(block_strips)
    )
    graph = batch.action_graph[batch.candidate_actions[order[filled]][lane] + position]
    strip = block_strips[lane // LANES] + position
    state_node[LANES * strip + lane % LANES] = batch.graph_node[graph]
    owners = np.repeat(np.arange(len(leading)), sizes_of(block_strips))  # strip -> block
    before, after = np.ones((2, len(owners)))
    before[block_strips[:-1]] = after[block_strips[1:] - 1] = 0.0
    nodes = np.zeros(len(batch.instance_nodes) + 1, np.int64)
    np.cumsum(batch.instance_nodes, out=nodes[1:])
    node_prior = np.full(nodes[-1], -1, np.int32)
    graphs = np.repeat(nodes[:-1], sizes_of(batch.instance_graphs))
    node_prior[graphs + batch.graph_node] = batch.graph_prior
    return FlatLayout(
        instance_tiles=np.searchsorted(tile_blocks, instance_blocks).astype(np.int32),
        tile_candidates=np.append(leading[tile_blocks], len(order)).astype(np.int32),
        tile_blocks=np.append(tile_blocks, len(leading)).astype(np.int32),
        block_strips=block_strips.astype(np.int32),
        strip_block=(owners - tile_blocks[np.cumsum(begins) - 1][owners]).astype(np.int32),
        strip_before=before,
        strip_after=after,
        state_node=state_node,
        order=(order - batch.instance_candidates[owner]).astype(np.int32),
        instance_prior=nodes,
        node_prior=node_prior,
        relation=int(batch.near_relation[0]),
    )


def measure_flat_room(batch: Batch, flat: FlatLayout, room: Room) -> Room:
    """Return how large a workspace must be where strips are full."""
    words = sizes_of(batch.instance_words)
    strips = sizes_of(flat.block_strips[flat.tile_blocks])
    tiles = np.concatenate([[0], np.cumsum(strips)])[flat.instance_tiles]
    owner = np.repeat(np.arange(len(words)), sizes_of(flat.instance_tiles))
    return room._replace(
        tile=max(room.tile, LANES * int(np.max(strips, initial=1))),
        tile_cells=max(room.tile_cells, LANES * int(np.max(words[owner] * strips, initial=1))),
        cells=max(room.cells, LANES * int(np.max(words * np.diff(tiles), initial=1))),
    )
