"""The flat arrays that kernels read and write, and how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "Charts", "Indices", "Integers", "Links", "Reals", "Room", "compiled", "fill_states",
    "inlined", "link_shapes", "make_room", "open_tables",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
# Kernels allocate nothing, so they need no reference counts, which cost more than the sums.
_OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "_nrt": False
}  # fmt: skip


def compiled(function: F) -> F:
    """Compile a kernel; inside it, no array can be made."""
    return cast(F, njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compile a kernel that becomes a part of those that call it."""
    return cast(F, njit(forceinline=True, **_OPTIONS)(function))


Integers = NDArray[np.int32]
Indices = NDArray[np.uint32]  # numba need not ask whether an unsigned index counts from the end
Reals = NDArray[np.float64]


class Charts(NamedTuple):
    """All texts, graphs and candidate plans of a set of problems, as flat arrays.

    Ranges are given by `*_start` arrays: the items of thing i are start[i] … start[i + 1] - 1.
    """

    # problem -> words, in forest order
    problem_words: Integers
    word_parent: Integers  # place in the problem, -1 for roots
    word_link: Integers
    word_dependency: Integers
    word_direction: Integers
    word_group: Integers
    word_advance: Integers  # pair (word, advance) or -1
    word_end: Integers  # 1: first word of the text, 2: last, 3: both
    # problem -> cells, (words × nodes) of pair numbers
    problem_nodes: Integers
    problem_cells: NDArray[np.int64]
    cell_pair: Integers
    # problem -> graphs -> nodes
    problem_graphs: Integers
    graph_shape: Integers
    graph_prior: Integers  # pair (nothing, all labels) or -1
    graph_nodes: Integers
    graph_node: Integers  # place among the problem's nodes
    # shape -> nodes -> neighbours
    shape_nodes: Integers
    node_enters: Integers
    node_near: Integers
    near_node: Integers
    near_relation: Integers
    # problem -> candidates -> actions
    problem_candidates: Integers
    candidate_actions: Integers
    action_graph: Integers
    candidate_extras: Integers
    extra_pair: Integers  # pairs that every alignment of the candidate has
    candidate_base: Reals
    candidate_gold: Integers
    candidate_pins: Integers  # start in `pins`, or -1
    pins: Integers  # for each word the action it must align with, or -1
    # problem -> groups of words
    problem_groups: Integers
    group_active: Integers
    problem_weight: Reals


class Links(NamedTuple):
    """Who neighbours whom in every shape, as one list of links: (to a node, from a neighbour).

    Links to one node, which add to one sum, stand apart from each other: the processor can
    then work on several sums at a time, and has no short loops whose ends it must guess.
    """

    shape_links: Integers  # shape -> links
    link_to: Indices
    link_from: Indices
    link_relation: Indices
    graph_node: Indices  # as in `Charts`
    node_enters: Integers


class Room(NamedTuple):
    """Working memory for one problem at a time.

    Charts are (words × states) arrays; those of a problem's candidates stand below each
    other. `scores` and `counts` are (words × nodes of the problem) tables.
    """

    state_start: Integers  # action -> its first state
    state_node: Indices  # state -> node of the problem
    state_enters: Integers
    link_to: Indices  # links between states
    link_from: Indices
    link_relation: Indices
    scores: Reals
    counts: Reals
    rows: Reals
    messages: Reals
    posteriors: Reals
    scratch: Reals
    group_shift: Reals
    group_log: Reals  # (candidates × groups)
    group_weight: Reals
    free: Reals  # candidate -> the part of its score that no word has a share in
    free_weight: Reals
    careful: NDArray[np.bool_]  # candidate -> whether its charts are in logarithms


def link_shapes(charts: Charts) -> Links:
    """List the links of every shape in rounds: in each, one link of every node that has more."""
    degree = np.diff(charts.node_near)
    node = np.repeat(np.arange(len(degree)), degree)
    shape = np.repeat(np.arange(len(charts.shape_nodes) - 1), np.diff(charts.shape_nodes))[node]
    local = node - charts.shape_nodes[shape]
    place = np.arange(len(node)) - charts.node_near[node]
    # Nodes take their neighbours in turn from different places on: relations get mixed too.
    turn = (place + local) % degree[node]
    order = np.lexsort((local, turn, shape))
    to, source, relation = (
        each[order].astype(np.uint32) for each in (local, charts.near_node, charts.near_relation)
    )
    return Links(
        shape_links=charts.node_near[charts.shape_nodes],
        link_to=to,
        link_from=source,
        link_relation=relation,
        graph_node=charts.graph_node.view(np.uint32),
        node_enters=charts.node_enters,
    )


def make_room(sizes: tuple[int, ...]) -> Room:
    """Allocate working memory for the largest sizes that occur.

    These are: candidates and groups of a problem; actions, states and links of a candidate;
    table cells of a problem; chart cells of a candidate, and of a problem.
    """
    candidates, groups, actions, states, links, table, chart, charts = sizes
    return Room(
        state_start=np.zeros(actions + 1, np.int32),
        state_node=np.empty(states, np.uint32),
        state_enters=np.empty(states, np.int32),
        link_to=np.empty(links, np.uint32),
        link_from=np.empty(links, np.uint32),
        link_relation=np.empty(links, np.uint32),
        scores=np.empty(table),
        counts=np.empty(table),
        rows=np.empty(charts),
        messages=np.empty(charts),
        posteriors=np.empty(chart),
        scratch=np.empty(states),
        group_shift=np.empty(groups),
        group_log=np.empty(candidates * groups),
        group_weight=np.empty(candidates * groups),
        free=np.empty(candidates),
        free_weight=np.empty(candidates),
        careful=np.empty(candidates, np.bool_),
    )


@compiled
def fill_states(charts: Charts, candidate: int, state_start: Integers) -> int:
    """Write where each action's states begin; return the number of states."""
    first = charts.candidate_actions[candidate]
    count = 0
    for j in range(charts.candidate_actions[candidate + 1] - first):
        state_start[j] = count
        graph = charts.action_graph[first + j]
        count += charts.graph_nodes[graph + 1] - charts.graph_nodes[graph]
    state_start[charts.candidate_actions[candidate + 1] - first] = count
    return count


@inlined
def open_tables(
    room: Room, words: int, nodes: int, candidates: int, states: int
) -> tuple[Reals, Reals, Reals, Reals, Reals]:
    """Return a problem's tables (words × nodes) and charts (words × states) for use by row.

    These are: scores, counts; rows and messages of all candidates, posteriors of one.
    """
    return (
        room.scores[: words * nodes].reshape(words, nodes),
        room.counts[: words * nodes].reshape(words, nodes),
        room.rows[: candidates * words * states].reshape(candidates * words, states),
        room.messages[: candidates * words * states].reshape(candidates * words, states),
        room.posteriors[: words * states].reshape(words, states),
    )
