"""The flat arrays that kernels read and write, and how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from groundling.compiling import njit
from groundling.overlay.ragged import sizes_of, starts_of
from groundling.overlay.vectors import LANES, lane_rows

__all__ = [
    "FROM", "RELATION", "STATE", "TILE",
    "Batch", "Indices", "Integers", "Layout", "Reals", "Room", "Workspace", "compiled",
    "fill_states", "inner", "lay_out_tile", "make_layout", "make_workspace",
    "measure_room", "next_tile", "summing", "whole",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
# Kernels allocate nothing, so they need no reference counts, which cost more than the sums.
_OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}, "_nrt": False
}  # fmt: skip


def compiled(function: F) -> F:
    """Compile a kernel; inside it, no array can be made."""
    return cast(F, njit(**_OPTIONS)(function))


# What only kernels call needs no way in from Python, which takes time to compile; and it becomes a
# part of those that call it, as handing over all arrays takes longer than most of what is done.
_INNER: dict[str, Any] = _OPTIONS | {
    "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True
}  # fmt: skip


def inner(function: F) -> F:
    """Compile a kernel that only other kernels call."""
    return cast(F, njit(**_INNER)(function))


def summing(function: F) -> F:
    """Compile an inner kernel whose sums may be taken in any order, several at a time."""
    return cast(F, njit(**(_INNER | {"fastmath": {"contract", "reassoc"}}))(function))


# One type of integer in all kernels: what is called with several is compiled as often.
whole: Callable[[Any], int] = cast(Any, np.int64)

TILE = 256  # states: their chart rows fit into the fastest cache

FROM, RELATION = np.uint64(24), np.uint64(48)  # where these begin in the bits of a link
STATE = np.uint64(2**24 - 1)

Integers = NDArray[np.int32]
Indices = NDArray[np.uint32]  # numba need not ask whether an unsigned index counts from the end
Reals = NDArray[np.float64]


class Batch(NamedTuple):
    """All texts, graphs and candidate plans of a set of instances, as flat arrays.

    Ranges are given by `*_start` arrays: the items of thing i are start[i] … start[i + 1] - 1.
    """

    # instance -> words, in skeleton order
    instance_words: Integers
    word_parent: Integers  # place in the instance, -1 for roots
    word_link: Integers
    word_dependency: Integers
    word_direction: Integers
    word_group: Integers
    word_advance: Integers  # pair (word, advance) or -1
    # instance -> cells, (words × nodes) of pair numbers
    instance_nodes: Integers
    instance_cells: NDArray[np.int64]
    cell_pair: Integers
    # instance -> graphs -> nodes
    instance_graphs: Integers
    graph_shape: Integers
    graph_prior: Integers  # pair (nothing, all labels) or -1
    graph_nodes: Integers
    graph_node: Integers  # place among the instance's nodes
    # shape -> nodes -> neighbours
    shape_nodes: Integers
    node_enters: Integers
    node_near: Integers
    near_node: Integers
    near_relation: Integers
    # instance -> candidates -> actions
    instance_candidates: Integers
    candidate_actions: Integers
    action_graph: Integers
    candidate_kind: Integers  # candidates whose labels as a whole are the same are of one kind
    candidate_gold: Integers
    # instance -> kinds of candidates -> pairs that every alignment of such a candidate has
    instance_kinds: Integers
    kind_extras: Integers
    extra_pair: Integers
    # instance -> groups of words
    instance_groups: Integers
    instance_weight: Reals


class Layout(NamedTuple):
    """What kernels read beside the batch: who neighbours whom in every shape, as one list.

    A link leads to a node from a neighbour. Links to one node, which add to one sum, stand
    apart from each other, and so do those of one relation: the processor can then work on several
    sums at a time. Links of nodes to themselves, if all have one, are not in the list: `stay` is
    their relation, and a row is done at once.
    """

    stay: int  # relation of every node to itself, or -1
    shape_links: Integers  # shape -> links
    shape_relations: Integers  # shape × relation -> how many links there are
    link: NDArray[np.uint64]  # relation, from, to; packed, as reading is what takes time
    candidate_states: Integers
    word_set: Integers
    word_leads: NDArray[np.bool_]  # whether other words hang from it
    cell_pair: Indices  # as in `Batch`


class Room(NamedTuple):
    """The most of everything that one instance of a batch has: how large a workspace must be."""

    actions: int
    candidates: int
    tile: int  # states
    tile_links: int
    relations: int
    tile_cells: int
    scores: int  # words × nodes
    cells: int  # words × states of all candidates
    candidate_cells: int
    groups: int
    kinds: int
    nodes: int


class Workspace(NamedTuple):
    """Working memory for one instance at a time.

    Its candidates are worked on in tiles: their states stand side by side, so that charts
    are (words × states of a tile). `scores` and `counts` are (words × nodes of the instance).
    """

    action_start: NDArray[np.uint64]  # action of the tile -> its first state
    tile_start: Integers  # candidate of the tile -> its first action
    state_node: Indices  # state -> node of the instance
    state_enters: NDArray[np.bool_]
    link: NDArray[np.uint64]  # between states, relation by relation
    tile_links: Integers  # relation -> links
    next_link: Integers
    scores: Reals
    counts: Reals
    rows: Reals  # of all tiles
    messages: Reals
    posteriors: Reals  # of one tile
    asked: Reals
    total: Reals
    kept_log: Reals  # candidate -> what its sum over alignments amounts to
    group_shift: Reals
    group_log: Reals  # (candidates × groups)
    group_weight: Reals
    free: Reals  # candidate -> the part of its score that no word has a share in
    free_weight: Reals
    kind_score: Reals  # kind of candidate -> what its labels as a whole score
    kind_weight: Reals
    prior: Reals  # node of a flat instance -> what it scores in every alignment
    in_logs: NDArray[np.bool_]  # candidate -> whether it needs logarithms
    log_start: Integers
    log_rows: Reals
    log_messages: Reals


def make_layout(batch: Batch, word_set: Integers) -> Layout:
    """List the links of every shape in rounds: in each, one link of every node that has more."""
    degree = sizes_of(batch.node_near)
    node = np.repeat(np.arange(len(degree)), degree)
    shape = np.repeat(np.arange(len(batch.shape_nodes) - 1), sizes_of(batch.shape_nodes))[node]
    local = node - batch.shape_nodes[shape]
    place = np.arange(len(node)) - batch.node_near[node]
    # Nodes take their neighbours in turn from different places on: relations get mixed too.
    turn = (place + local) % degree[node]
    stay, stays = _stays(batch, node, local)
    order = np.lexsort((local, turn, shape))
    order = order[~stays[order]]
    to, source, relation = (
        each[order].astype(np.uint64) for each in (local, batch.near_node, batch.near_relation)
    )
    relations = int(batch.near_relation.max(initial=-1)) + 1
    sizes = sizes_of(batch.graph_nodes)[batch.action_graph]
    leads = np.zeros(len(batch.word_parent), np.bool_)
    first_word = np.repeat(batch.instance_words[:-1], sizes_of(batch.instance_words))
    leads[(first_word + batch.word_parent)[batch.word_parent >= 0]] = True
    return Layout(
        stay=stay,
        shape_links=starts_of(
            np.bincount(shape[order], minlength=len(batch.shape_nodes) - 1), np.int32
        ),
        shape_relations=np.bincount(
            shape[order] * relations + batch.near_relation[order],
            minlength=(len(batch.shape_nodes) - 1) * relations,
        ).astype(np.int32),
        link=to | source << FROM | relation << RELATION,
        candidate_states=_sums(sizes, batch.candidate_actions).astype(np.int32),
        word_set=word_set,
        word_leads=leads,
        cell_pair=batch.cell_pair.view(np.uint32),
    )


def _stays(
    batch: Batch, node: NDArray[np.int64], local: NDArray[np.int64]
) -> tuple[int, NDArray[np.bool_]]:
    """Return a relation in which every node is to itself once, or -1, and where it is listed."""
    itself = batch.near_node == local
    relations = batch.near_relation[itself]
    if len(relations):
        relation = int(np.bincount(relations).argmax())
        stays = itself & (batch.near_relation == relation)
        if np.all(np.bincount(node[stays], minlength=len(batch.node_near) - 1) == 1):
            return relation, stays
    return -1, np.zeros(len(node), np.bool_)


def measure_room(batch: Batch, layout: Layout) -> Room:
    """Return how large a workspace must be for the largest instance that occurs."""
    states = layout.candidate_states
    links = sizes_of(layout.shape_links)[batch.graph_shape][batch.action_graph]
    links = _sums(links, batch.candidate_actions)
    candidates, words = sizes_of(batch.instance_candidates), sizes_of(batch.instance_words)
    owner = np.repeat(np.arange(len(words)), candidates)
    of_instance = _sums(states, batch.instance_candidates)

    def most(values: NDArray[Any]) -> int:
        return int(np.max(values, initial=1))

    tile = min(TILE + most(states), most(of_instance))
    filled = of_instance + LANES * (2 * of_instance // TILE + 2)  # two tiles have more than TILE
    return Room(
        actions=most(sizes_of(batch.candidate_actions[batch.instance_candidates])),
        candidates=most(candidates),
        tile=tile,
        tile_links=int(np.ceil(tile * np.max(links / np.maximum(states, 1), initial=1))),
        relations=len(layout.shape_relations) // max(1, len(layout.shape_links) - 1),
        tile_cells=most(words * (np.minimum(of_instance, tile) + LANES)),
        scores=most(words * batch.instance_nodes),
        cells=most(words * filled),
        candidate_cells=most(words[owner] * states),
        groups=most(sizes_of(batch.instance_groups)),
        kinds=most(sizes_of(batch.instance_kinds)),
        nodes=most(batch.instance_nodes),
    )


def make_workspace(room: Room) -> Workspace:
    """Allocate working memory."""
    grouped = room.candidates * room.groups
    return Workspace(
        action_start=np.zeros(room.actions + 1, np.uint64),
        tile_start=np.zeros(room.candidates + 1, np.int32),
        state_node=np.empty(room.tile + LANES, np.uint32),
        state_enters=np.empty(room.tile, np.bool_),
        link=np.empty(room.tile_links, np.uint64),
        tile_links=np.zeros(room.relations + 1, np.int32),
        next_link=np.zeros(room.relations, np.int32),
        scores=np.zeros(room.scores + 1),  # and one for what is no state
        counts=np.empty(room.scores + 1),
        rows=lane_rows(room.cells // LANES + 1),
        messages=lane_rows(room.cells // LANES + 1),
        posteriors=lane_rows(room.tile_cells // LANES + 1),
        asked=lane_rows(room.tile // LANES + 1),
        total=lane_rows(room.tile // LANES + 1),
        kept_log=np.empty(room.candidates),
        group_shift=np.empty(room.groups),
        group_log=np.empty(grouped),
        group_weight=np.empty(grouped),
        free=np.empty(room.candidates),
        free_weight=np.empty(room.candidates),
        kind_score=np.empty(room.kinds),
        kind_weight=np.empty(room.kinds),
        prior=np.zeros(room.nodes + 1),
        in_logs=np.empty(room.candidates, np.bool_),
        log_start=np.zeros(room.actions + 1, np.int32),
        log_rows=np.empty(room.candidate_cells),
        log_messages=np.empty(room.candidate_cells),
    )


def _sums(values: NDArray[Any], starts: Integers) -> NDArray[np.int64]:
    """Sum values range by range."""
    total = starts_of(values)
    return np.asarray(total[starts[1:]] - total[starts[:-1]], np.int64)


@inner
def fill_states(batch: Batch, candidate: int, state_start: Integers) -> int:
    """Write where each action's states begin; return the number of states."""
    first = batch.candidate_actions[candidate]
    count = 0
    for j in range(batch.candidate_actions[candidate + 1] - first):
        state_start[j] = count
        graph = batch.action_graph[first + j]
        count += batch.graph_nodes[graph + 1] - batch.graph_nodes[graph]
    state_start[batch.candidate_actions[candidate + 1] - first] = count
    return count


@inner
def next_tile(layout: Layout, first: int, end: int) -> tuple[int, int]:
    """Return where a tile of candidates from `first` on ends, and its states, in eights."""
    states = whole(layout.candidate_states[first])
    last = first + 1
    while last < end and states + layout.candidate_states[last] <= TILE:
        states += layout.candidate_states[last]
        last += 1
    return last, (states + LANES - 1) // LANES * LANES


@inner
def lay_out_tile(
    batch: Batch, layout: Layout, first: int, last: int, nodes: int, workspace: Workspace
) -> None:
    """Write the states of some candidates side by side, and their links relation by relation."""
    state = 0
    first_action, end = batch.candidate_actions[first], batch.candidate_actions[last]
    for candidate in range(first, last + 1):
        workspace.tile_start[candidate - first] = batch.candidate_actions[candidate] - first_action
    relations = len(workspace.next_link)
    workspace.tile_links[:] = 0
    for action in range(first_action, end):
        shape = batch.graph_shape[batch.action_graph[action]]
        for relation in range(relations):
            count = layout.shape_relations[shape * relations + relation]
            workspace.tile_links[relation + 1] += count
    for relation in range(relations):
        workspace.next_link[relation] = workspace.tile_links[relation]
        workspace.tile_links[relation + 1] += workspace.tile_links[relation]
    for action in range(first_action, end):
        graph = batch.action_graph[action]
        shape = batch.graph_shape[graph]
        enters = batch.shape_nodes[shape] - state
        workspace.action_start[action - first_action] = state
        both = np.uint64(state) | np.uint64(state) << FROM
        for i in range(layout.shape_links[shape], layout.shape_links[shape + 1]):
            relation = layout.link[i] >> RELATION
            place = workspace.next_link[relation]
            workspace.next_link[relation] = place + 1
            workspace.link[np.uint32(place)] = layout.link[i] + both
        for node in range(batch.graph_nodes[graph], batch.graph_nodes[graph + 1]):
            workspace.state_node[state] = batch.graph_node[node]
            workspace.state_enters[state] = batch.node_enters[enters + state] != 0
            state += 1
    workspace.action_start[end - first_action] = state
    workspace.state_node[state : state + LANES] = nodes  # the rest of eight: no states
