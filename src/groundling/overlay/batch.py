"""Flat arrays read by the compiled kernels."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DemonstrationError
from groundling.ragged import sizes_of, sums_of

# Kernels use one integer type, because numba compiles a function again for each type.
whole: Callable[[Any], int] = cast(Any, np.int64)

Integers = NDArray[np.int32]
Indices = NDArray[np.uint32]  # unsigned: numba skips the check for negative indices
Reals = NDArray[np.float64]


MOST = 2**31 - 1  # the largest index in kernels, which use integers of 32 bits


def check_width(what: str, count: int) -> None:
    """Raise an error if kernels cannot number so many items."""
    if count > MOST:
        raise DemonstrationError(
            f"The size of {what} must be <= {MOST:,}; got {count:,}. Use fewer demonstrations, or "
            "fewer or shorter candidate plans (Search)."
        )


WORD = np.dtype(
    [
        ("parent", np.int32),  # index within the instance, -1 for roots
        ("link", np.int32),
        ("dependency", np.int32),
        ("direction", np.int32),
        ("group", np.int32),
        ("set", np.int32),  # index of its label set
        ("leads", np.int32),  # whether it has dependents
        ("advance", np.int32),  # pair (word, advance) or -1
    ]
)
"""The record of a word."""


class Batch(NamedTuple):
    """Texts, graphs and candidate plans of a set of instances, as flat arrays.

    Ranges are given by start arrays: the items of element i are start[i] … start[i + 1] - 1.
    """

    # instance -> words, in skeleton order
    instance_words: Integers
    word: Integers  # words × fields of `WORD`
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

    @property
    def words(self) -> Any:
        """The words as records."""
        return self.word.view(WORD)[:, 0].view(np.recarray)


def states_of(batch: Batch) -> NDArray[np.int64]:
    """Return the number of states of each candidate."""
    return sums_of(sizes_of(batch.graph_nodes)[batch.action_graph], batch.candidate_actions)


# Kernels receive only the arrays that they read, because each argument adds compile time.
Texts = namedtuple(
    "Texts", "instance_words words instance_nodes instance_cells cell_pair instance_groups"
)
"""The arrays of a batch that describe texts."""

Plans = namedtuple(
    "Plans",
    "instance_weight instance_candidates candidate_gold candidate_actions action_graph "
    "graph_shape graph_nodes graph_node shape_nodes node_enters",
)
"""The arrays of a batch that describe plans and their graphs."""


def part_of(batch: Batch, kind: Any) -> Any:
    """Return the arrays of a batch that are the fields of a named tuple class."""
    return kind(*(getattr(batch, name) for name in kind._fields))
