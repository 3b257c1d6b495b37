"""The flat arrays that kernels read, and how kernels are compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import extending
from numpy.typing import NDArray

from groundling.compiling import DEBUG, njit
from groundling.internals import NO_REFERENCE_COUNTS, InlinedCompiler, named_tuple

__all__ = [
    "Batch", "Indices", "Integers", "Plans", "Reals", "Texts", "compiled", "inner", "plans_of",
    "texts_of", "whole", "with_methods",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
_OPTIONS: dict[str, Any] = NO_REFERENCE_COUNTS | {
    "nogil": True, "error_model": "numpy", "fastmath": {"contract"}
}  # fmt: skip
# What only kernels call needs no way in from Python, which takes time to compile; and it becomes a
# part of those that call it, as handing over all arrays takes longer than most of what is done.
_INNER: dict[str, Any] = _OPTIONS | {
    "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True,
    "pipeline_class": InlinedCompiler,
}  # fmt: skip


def compiled(function: F) -> F:
    """Compile a kernel; inside it, no array can be made."""
    return cast(F, njit(**_OPTIONS)(function))


def inner(function: F) -> F:
    """Compile a kernel that only other kernels call."""
    return cast(F, njit(cache=False, **_INNER)(function))


def with_methods(kind: C) -> C:
    """Let kernels call the methods of a class of named tuples, as Python does.

    Which method it is, is known when a kernel is compiled: each class gets machine code of its own.
    """
    for name, method in vars(kind).items():
        if inspect.isfunction(method) and not name.startswith("_") and name not in _known:
            _known.add(name)
            options = _INNER | {"boundscheck": DEBUG or None}
            overload_method(named_tuple, name, jit_options=options)(_finder(name, method))
    return kind


def _finder(name: str, method: Any) -> Any:
    """Return a function that tells which method of that name a type has."""

    def find(self: Any, *given: Any) -> Any:
        return getattr(self.instance_class, name, None)

    find.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return find


_known: set[str] = set()
overload_method: Any = extending.overload_method

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


class Texts(NamedTuple):
    """What kernels read of texts: a part of the batch, and what follows from it."""

    instance_words: Integers
    parent: Integers
    link: Integers
    dependency: Integers
    direction: Integers
    group: Integers
    advance: Integers
    set: Integers
    leads: NDArray[np.bool_]  # whether other words hang from it
    instance_nodes: Integers
    instance_cells: NDArray[np.int64]
    cell_pair: Indices
    instance_groups: Integers


class Plans(NamedTuple):
    """What kernels read of plans: a part of the batch."""

    instance_weight: Reals
    instance_candidates: Integers
    candidate_gold: Integers
    candidate_actions: Integers
    action_graph: Integers
    instance_graphs: Integers
    graph_prior: Integers
    candidate_kind: Integers
    instance_kinds: Integers
    kind_extras: Integers
    extra_pair: Integers


def texts_of(batch: Batch, word_sets: Integers) -> Texts:
    """Return what kernels read of texts, given the set of labels of every word."""
    leads = np.zeros(len(word_sets), np.bool_)
    sizes = batch.instance_words[1:] - batch.instance_words[:-1]
    first = np.repeat(batch.instance_words[:-1], sizes)
    leads[(first + batch.word_parent)[batch.word_parent >= 0]] = True
    return Texts(
        batch.instance_words, batch.word_parent, batch.word_link, batch.word_dependency,
        batch.word_direction, batch.word_group, batch.word_advance, word_sets, leads,
        batch.instance_nodes, batch.instance_cells, batch.cell_pair.view(np.uint32),
        batch.instance_groups,
    )  # fmt: skip


def plans_of(batch: Batch) -> Plans:
    """Return what kernels read of plans."""
    return Plans(*(getattr(batch, name) for name in Plans._fields))
