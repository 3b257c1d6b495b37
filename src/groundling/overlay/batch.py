"""The flat arrays that kernels read."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

# One type of integer in all kernels: what is called with several is compiled as often.
whole: Callable[[Any], int] = cast(Any, np.int64)

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
    word_set: Integers  # what it is labelled with
    word_leads: NDArray[np.bool_]  # whether other words hang from it
    word_advance: Integers  # pair (word, advance) or -1
    # instance -> cells, (words × nodes) of pair numbers
    instance_nodes: Integers
    instance_cells: NDArray[np.int64]
    cell_pair: Indices
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


# A kernel is given only arrays that it reads: each makes it longer to compile.
Texts = namedtuple(
    "Texts",
    "instance_words word_parent word_link word_dependency word_direction word_group word_set "
    "word_leads word_advance instance_nodes instance_cells cell_pair instance_groups",
)
"""What kernels read of texts: a part of the batch."""

Plans = namedtuple(
    "Plans",
    "instance_weight instance_candidates candidate_gold candidate_actions action_graph "
    "instance_graphs graph_prior graph_shape graph_nodes graph_node shape_nodes node_enters "
    "candidate_kind instance_kinds kind_extras extra_pair",
)
"""What kernels read of plans and their graphs: a part of the batch."""


def part_of(batch: Batch, kind: Any) -> Any:
    """Return those arrays of a batch that a kind of named tuple has."""
    return kind(*(getattr(batch, name) for name in kind._fields))
