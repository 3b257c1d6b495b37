"""Parts of nodes equal what one gets label by label."""

import numpy as np

from groundling.overlay.parts import share_parts


def whole(parts, node):
    """Return the labels of a node, part by part."""
    found = []
    for part in parts.node_part[parts.node_parts[node] : parts.node_parts[node + 1]]:
        span = slice(parts.part_labels[part], parts.part_labels[part + 1])
        labels, amounts = parts.part_label[span].tolist(), parts.part_amount[span].tolist()
        found += zip(labels, amounts, strict=True)
    return found


def test_parts_together_are_the_labels_of_every_node():
    nodes = [[0, 1, 2, 3], [], [0, 1, 3], [2], [0, 1, 2], [0, 1]]
    starts = np.cumsum([0, *map(len, nodes)])
    labels = np.concatenate(nodes).astype(np.int32)
    parts = share_parts(starts, labels, np.ones(len(labels)), np.array([0, 0, 1, 2], np.int32))
    assert [whole(parts, node) for node in range(6)] == [
        [(label, 1.0) for label in node] for node in nodes
    ]
    assert len(parts.part_labels) - 1 == 3  # (0, 1), (2,) and (3,)


def test_parts_with_other_amounts_are_others():
    labels = np.array([0, 1, 0, 1, 0, 1], np.int32)
    amounts = np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0])
    parts = share_parts(np.array([0, 2, 4, 6]), labels, amounts, np.array([0, 1], np.int32))
    assert whole(parts, 1) == [(0, 2.0), (1, 1.0)]
    assert parts.node_part[0] == parts.node_part[4] != parts.node_part[2]


def test_parts_that_nothing_shares_are_whole_nodes():
    labels = np.array([0, 2, 1, 3], np.int32)
    about = np.array([0, 0, 1, 1], np.int32)
    parts = share_parts(np.array([0, 2, 4]), labels, np.ones(4), about)
    assert parts.node_parts.tolist() == [0, 1, 2]
