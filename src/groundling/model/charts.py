"""The flat arrays that kernels read and write, and how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from groundling.compiling import njit

__all__ = [
    "FROM", "RELATION", "STATE",
    "Charts", "Indices", "Integers", "Layout", "Reals", "Room", "compiled", "fill_states",
    "inlined", "lay_out", "lay_out_batch", "make_room", "next_batch",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
# Kernels allocate nothing, so they need no reference counts, which cost more than the sums.
_OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}, "_nrt": False
}  # fmt: skip


def compiled(function: F) -> F:
    """Compile a kernel; inside it, no array can be made."""
    return cast(F, njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compile a kernel that becomes a part of those that call it."""
    return cast(F, njit(forceinline=True, **_OPTIONS)(function))


BATCH = 256  # states: their rows of charts fit into the fastest cache

FROM, RELATION = np.uint64(24), np.uint64(48)  # where these begin in the bits of a link
STATE = np.uint64(2**24 - 1)

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


class Layout(NamedTuple):
    """What kernels read beside the charts: who neighbours whom in every shape, as one list.

    A link leads to a node from a neighbour. Links to one node, which add to one sum, stand
    apart from each other: the processor can then work on several sums at a time, and has no
    short loops whose ends it must guess.
    """

    shape_links: Integers  # shape -> links
    link: NDArray[np.uint64]  # relation, from, to; packed, as reading is what takes time
    candidate_states: Integers
    word_set: Integers
    word_leads: NDArray[np.bool_]  # whether other words hang from it
    cell_pair: Indices  # as in `Charts`


class Room(NamedTuple):
    """Working memory for one problem at a time.

    Its candidates are worked on in batches: their states stand side by side, so that charts
    are (words × states of a batch). `scores` and `counts` are (words × nodes of the problem).
    """

    action_start: NDArray[np.uint64]  # action of the batch -> its first state
    batch_start: Integers  # candidate of the batch -> its first action
    state_node: Indices  # state -> node of the problem
    state_enters: NDArray[np.bool_]
    link: NDArray[np.uint64]  # between states
    batch_links: Integers  # one number: how many there are
    scores: Reals
    counts: Reals
    rows: Reals  # of all batches
    messages: Reals
    posteriors: Reals  # of one batch
    asked: Reals
    kept_log: Reals  # candidate -> what its sum over alignments amounts to
    group_shift: Reals
    group_log: Reals  # (candidates × groups)
    group_weight: Reals
    free: Reals  # candidate -> the part of its score that no word has a share in
    free_weight: Reals
    careful: NDArray[np.bool_]  # candidate -> whether it needs logarithms
    careful_start: Integers
    careful_rows: Reals
    careful_messages: Reals


def lay_out(charts: Charts, word_set: Integers) -> Layout:
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
        each[order].astype(np.uint64) for each in (local, charts.near_node, charts.near_relation)
    )
    sizes = np.diff(charts.graph_nodes)[charts.action_graph]
    leads = np.zeros(len(charts.word_parent), np.bool_)
    first_word = np.repeat(charts.problem_words[:-1], np.diff(charts.problem_words))
    leads[(first_word + charts.word_parent)[charts.word_parent >= 0]] = True
    return Layout(
        shape_links=charts.node_near[charts.shape_nodes],
        link=to | source << FROM | relation << RELATION,
        candidate_states=_sums(sizes, charts.candidate_actions).astype(np.int32),
        word_set=word_set,
        word_leads=leads,
        cell_pair=charts.cell_pair.view(np.uint32),
    )


def make_room(charts: Charts, layout: Layout) -> Room:
    """Allocate working memory for the largest problem that occurs."""
    states = layout.candidate_states
    links = np.diff(layout.shape_links)[charts.graph_shape][charts.action_graph]
    links = _sums(links, charts.candidate_actions)
    candidates, words = np.diff(charts.problem_candidates), np.diff(charts.problem_words)
    owner = np.repeat(np.arange(len(words)), candidates)
    of_problem = _sums(states, charts.problem_candidates)

    def most(values: NDArray[Any]) -> int:
        return int(np.max(values, initial=1))

    many = most(candidates)
    actions = most(np.diff(charts.candidate_actions[charts.problem_candidates]))
    batch = max(most(states), min(BATCH, most(of_problem)))
    batch_links = int(np.ceil(batch * np.max(links / np.maximum(states, 1), initial=1)))
    batch_cells = most(words * np.minimum(of_problem, batch))
    groups = most(np.diff(charts.problem_groups))
    return Room(
        action_start=np.zeros(actions + 1, np.uint64),
        batch_start=np.zeros(many + 1, np.int32),
        state_node=np.empty(batch, np.uint32),
        state_enters=np.empty(batch, np.bool_),
        link=np.empty(batch_links, np.uint64),
        batch_links=np.zeros(1, np.int32),
        scores=np.empty(most(words * charts.problem_nodes)),
        counts=np.empty(most(words * charts.problem_nodes)),
        rows=np.empty(most(words * of_problem)),
        messages=np.empty(most(words * of_problem)),
        posteriors=np.empty(batch_cells),
        asked=np.empty(batch),
        kept_log=np.empty(many),
        group_shift=np.empty(groups),
        group_log=np.empty(many * groups),
        group_weight=np.empty(many * groups),
        free=np.empty(many),
        free_weight=np.empty(many),
        careful=np.empty(many, np.bool_),
        careful_start=np.zeros(actions + 1, np.int32),
        careful_rows=np.empty(most(words[owner] * states)),
        careful_messages=np.empty(most(words[owner] * states)),
    )


def _sums(values: NDArray[Any], starts: Integers) -> NDArray[np.int64]:
    total = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]], np.int64)


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
def next_batch(layout: Layout, first: int, end: int) -> tuple[int, int]:
    """Return where a batch of candidates that begins with `first` ends, and its states."""
    states = layout.candidate_states[first]
    last = first + 1
    while last < end and states + layout.candidate_states[last] <= BATCH:
        states += layout.candidate_states[last]
        last += 1
    return last, states


@compiled
def lay_out_batch(charts: Charts, layout: Layout, first: int, last: int, room: Room) -> None:
    """Write the states and links of some candidates side by side."""
    state, count = 0, 0
    first_action = charts.candidate_actions[first]
    for candidate in range(first, last + 1):
        room.batch_start[candidate - first] = charts.candidate_actions[candidate] - first_action
    for action in range(first_action, charts.candidate_actions[last]):
        graph = charts.action_graph[action]
        shape = charts.graph_shape[graph]
        enters = charts.shape_nodes[shape] - state
        room.action_start[action - first_action] = state
        links = layout.shape_links[shape]
        both = np.uint64(state) | np.uint64(state) << FROM
        for i in range(layout.shape_links[shape + 1] - links):
            room.link[count + i] = layout.link[links + i] + both
        count += layout.shape_links[shape + 1] - links
        for node in range(charts.graph_nodes[graph], charts.graph_nodes[graph + 1]):
            room.state_node[state] = charts.graph_node[node]
            room.state_enters[state] = charts.node_enters[enters + state] != 0
            state += 1
    room.action_start[charts.candidate_actions[last] - first_action] = state
    room.batch_links[0] = count
