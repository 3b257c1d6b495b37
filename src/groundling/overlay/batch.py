"""Flat arrays read by the compiled kernels."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

# Kernels use one integer type, because numba compiles a function again for each type.
whole: Callable[[Any], int] = cast(Any, np.int64)

Integers = NDArray[np.int32]
Indices = NDArray[np.uint32]  # unsigned: numba skips the check for negative indices
Reals = NDArray[np.float64]


class Batch(NamedTuple):
    """Texts, graphs and candidate plans of a set of instances, as flat arrays.

    Ranges are given by start arrays: the items of element i are start[i] … start[i + 1] - 1.
    """

    # instance -> words, in skeleton order
    instance_words: Integers
    word_parent: Integers  # index within the instance, -1 for roots
    word_link: Integers
    word_dependency: Integers
    word_direction: Integers
    word_group: Integers
    word_set: Integers  # index of its label set
    word_leads: NDArray[np.bool_]  # whether it has dependents
    word_advance: Integers  # pair (word, advance) or -1
    # instance -> cells (words × nodes), each a pair index
    instance_nodes: Integers
    instance_cells: NDArray[np.int64]
    cell_pair: Indices
    # instance -> graphs -> nodes
    instance_graphs: Integers
    graph_shape: Integers
    graph_prior: Integers  # pair (no word, all labels) or -1
    graph_nodes: Integers
    graph_node: Integers  # index among the instance's nodes
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
    candidate_kind: Integers  # candidates with equal plan labels have the same kind
    candidate_gold: Integers
    # instance -> kinds of candidates -> pairs present in every alignment of that kind
    instance_kinds: Integers
    kind_extras: Integers
    extra_pair: Integers
    # instance -> groups of words
    instance_groups: Integers
    instance_weight: Reals


# Kernels receive only the arrays that they read, because each argument adds compile time.
Texts = namedtuple(
    "Texts", "instance_words word instance_nodes instance_cells cell_pair instance_groups"
)
"""The arrays of a batch that describe texts; `word` has all arrays of words as records."""

WORD = np.dtype(
    [(name.removeprefix("word_"), np.int32) for name in Batch._fields if name.startswith("word_")]
)
"""The record of a word in `Texts.word`."""

Plans = namedtuple(
    "Plans",
    "instance_weight instance_candidates candidate_gold candidate_actions action_graph "
    "graph_shape graph_nodes graph_node shape_nodes node_enters",
)
"""The arrays of a batch that describe plans and their graphs."""


def part_of(batch: Batch, kind: Any) -> Any:
    """Return the arrays of a batch that are the fields of a named tuple class."""
    arrays = batch._asdict()
    words = arrays["word"] = np.recarray(len(batch.word_parent), WORD)
    for name in WORD.names or ():
        words[name] = arrays[f"word_{name}"]
    return kind(*(arrays[name] for name in kind._fields))
