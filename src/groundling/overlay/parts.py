"""Parts of nodes: runs of labels that many nodes share and that are scored once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.features.interner import Interner
from groundling.overlay.batch import Integers, Reals
from groundling.ragged import entries_of, sizes_of, starts_of


class Parts(NamedTuple):
    """Nodes as lists of parts, and parts as lists of labels."""

    node_parts: NDArray[Any]  # node -> parts
    node_part: NDArray[Any]
    part_labels: NDArray[Any]  # part -> labels
    part_label: Integers
    part_amount: Reals


def share_parts(
    node_labels: NDArray[Any], node_label: Integers, node_amount: Reals, label_part: Integers
) -> Parts:
    """Split the labels of nodes into runs; equal runs are one part.

    `label_part` numbers the topic of each label. A run ends where the topic changes. If
    few runs are equal, every node becomes a single part.

    >>> labels = np.array([0, 1, 2, 0, 1, 3, 0, 1, 0, 1, 2], np.int32)
    >>> about = np.array([0, 0, 1, 1], np.int32)
    >>> parts = share_parts(np.array([0, 3, 6, 8, 11]), labels, np.ones(11), about)
    >>> parts.node_part.tolist(), parts.part_label.tolist()
    ([0, 1, 0, 2, 0, 0, 1], [0, 1, 2, 3])
    """
    nodes = len(node_labels) - 1
    whole = Parts(np.arange(nodes + 1), np.arange(nodes), node_labels, node_label, node_amount)
    begins = np.zeros(len(node_label) + 1, np.bool_)
    about = label_part[node_label]
    begins[1:-1] = about[1:] != about[:-1]
    if not begins.any():
        return whole
    begins[node_labels] = True
    starts = np.flatnonzero(begins)  # and the end of the last run
    labels = node_label.astype(np.int32).tobytes()
    amounts = b"" if np.all(node_amount == 1.0) else node_amount.tobytes()
    known = Interner[bytes]()
    runs = pairwise(starts.tolist())
    part = np.array([known(labels[4 * a : 4 * b] + amounts[8 * a : 8 * b]) for a, b in runs])
    if 2 * len(known) > len(part):
        return whole
    first = np.unique(part, return_index=True)[1]
    sizes = sizes_of(starts)[first]
    entry = entries_of(starts[first], sizes)
    node_parts = np.searchsorted(starts, node_labels)
    return Parts(node_parts, part, starts_of(sizes), node_label[entry], node_amount[entry])
