"""The objective in PyTorch with autograd: padded, batched level by level, in chunks.

Scores of distinct (word, node) pairs come from one sparse product, as in the library. All charts of
a chunk are then computed together: first words without dependents, then their heads, and so on.
Nodes are padded to the largest graph. There are two ways to sum over neighbours: `logsumexp`, or
`matmul`, which exponentiates rows once and multiplies matrices.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from groundling.overlay.batch_builder import Encoding

__all__ = ["TorchTwin", "feature_matrix"]

_NEVER = -1e30  # -inf would make gradients of padding undefined


@dataclass
class _Level:
    rows: torch.Tensor  # rows at this level
    parents: torch.Tensor  # the rows of their heads
    edges: torch.Tensor  # (rows × nodes × nodes) places in the table of edges


@dataclass
class _Chunk:
    pairs: torch.Tensor  # (rows × nodes)
    padding: torch.Tensor  # (rows × nodes): 0 for nodes, _NEVER for padding
    levels: list[_Level]
    roots: torch.Tensor  # row of every candidate's root
    entries: torch.Tensor  # (candidates × nodes): 0 where the root may align
    extras: torch.Tensor  # (candidates × extras): pairs that count in every alignment
    places: torch.Tensor  # candidates as (decisions × most candidates)
    present: torch.Tensor  # 0 for candidates, _NEVER for padding
    gold: torch.Tensor  # index of the gold candidate


def feature_matrix(encoding: Encoding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return φ of all distinct pairs as starts, features and values of a sparse matrix."""
    s = encoding.tables
    table: dict[tuple[int, int], tuple[int, float]] = {}
    for word in range(len(s.label_rows) - 1):
        for row in range(s.label_rows[word], s.label_rows[word + 1]):
            table[word, int(s.row_label[row])] = (int(s.row_feature[row]), float(s.row_value[row]))
    width = int(s.node_label.max()) + 1
    feature = np.full((len(s.label_rows) - 1, width), -1, np.int64)
    value = np.zeros(feature.shape)
    for (word, node), (place, strength) in table.items():
        feature[word, node], value[word, node] = place, strength
    rows, columns, values = [], [], []
    for word_set in range(len(s.set_labels) - 1):
        first, last = s.set_pairs[word_set], s.set_pairs[word_set + 1]
        nodes = s.pair_node[first:last]
        sizes = s.node_labels[nodes + 1] - s.node_labels[nodes]
        pair = np.repeat(np.arange(first, last), sizes)
        ends = np.cumsum(sizes)
        inner = np.arange(len(pair)) - np.repeat(ends - sizes, sizes)
        entry = np.repeat(s.node_labels[nodes], sizes) + inner
        for i in range(s.set_labels[word_set], s.set_labels[word_set + 1]):
            found = feature[s.set_label[i], s.node_label[entry]]
            strength = s.set_amount[i] * s.node_amount[entry]
            strength = strength * value[s.set_label[i], s.node_label[entry]]
            kept = found >= 0
            rows.append(pair[kept])
            columns.append(found[kept])
            values.append(strength[kept])
    row, column, amount = (np.concatenate(each) for each in (rows, columns, values))
    order = np.argsort(row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(s.pair_node)))])
    return starts, column[order], amount[order]


class TorchTwin:
    """Loss and gradient of an encoding of single actions, by autograd in float64."""

    def __init__(self, encoding: Encoding, way: str = "logsumexp", decisions: int = 50) -> None:
        self.way = way
        warnings.filterwarnings("ignore", "Sparse", UserWarning)  # sparse tensors are still in beta
        shape = (len(encoding.tables.pair_node), len(encoding.space))
        starts, columns, values = (torch.from_numpy(x) for x in feature_matrix(encoding))
        self.features = torch.sparse_csr_tensor(starts, columns, values, shape)
        turned = self.features.to_sparse_coo().t().coalesce()
        self.turned = turned.to_sparse_csr()
        self.edge_features, self.turned_edges = _edge_matrices(encoding)
        self.relations = encoding.relations
        instances = len(encoding.batch.instance_weight)
        self.chunks = [
            _chunk(encoding, first, min(first + decisions, instances))
            for first in range(0, instances, decisions)
        ]

    def loss(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return Σ -log p(gold) and its gradient."""
        weights = torch.from_numpy(theta)
        # Each chunk's graph ends at the potentials, so that memory stays bounded.
        pair_score = torch.mv(self.features, weights).requires_grad_()
        edge_score = torch.mv(self.edge_features, weights).requires_grad_()
        total = 0.0
        for chunk in self.chunks:
            loss = self._chunk_loss(chunk, pair_score, edge_score)
            loss.backward()
            total += loss.item()
        assert pair_score.grad is not None
        assert edge_score.grad is not None
        gradient = torch.mv(self.turned, pair_score.grad)
        gradient += torch.mv(self.turned_edges, edge_score.grad)
        return total, gradient.numpy()

    def _chunk_loss(
        self, chunk: _Chunk, pair_score: torch.Tensor, edge_score: torch.Tensor
    ) -> torch.Tensor:
        rows, nodes = chunk.pairs.shape
        emission = (
            pair_score.index_select(0, chunk.pairs.view(-1)).view(rows, nodes) + chunk.padding
        )
        told = torch.zeros_like(emission)  # the sum of the messages of a word's dependents
        table = edge_score.view(-1, self.relations)
        nothing = table.new_full((len(table), 1), _NEVER)
        table = torch.cat([table, nothing], 1).view(-1)  # one more relation, for no relation
        if self.way == "matmul":
            table = table.exp()
        for level in chunk.levels:
            row = emission.index_select(0, level.rows) + told.index_select(0, level.rows)
            edges = table.index_select(0, level.edges.view(-1)).view(level.edges.shape)
            if self.way == "matmul":
                top = row.detach().amax(1, keepdim=True)
                sums = torch.bmm(edges, (row - top).exp().unsqueeze(2)).squeeze(2)
                message = sums.clamp_min(1e-300).log() + top
            else:
                message = torch.logsumexp(edges + row.unsqueeze(1), 2)
            told.index_add_(0, level.parents, message)
        roots = emission[chunk.roots] + told[chunk.roots] + chunk.entries
        score = torch.logsumexp(roots, 1) + pair_score[chunk.extras].sum(1)
        score = score[chunk.places] + chunk.present
        gold = score.gather(1, chunk.gold.unsqueeze(1)).squeeze(1)
        return (torch.logsumexp(score, 1) - gold).sum()


def _edge_matrices(encoding: Encoding) -> tuple[torch.Tensor, torch.Tensor]:
    s = encoding.tables
    shape = (len(s.edge_rows) - 1, len(encoding.space))
    starts, columns = s.edge_rows.astype(np.int64), s.edge_feature.astype(np.int64)
    matrix = torch.sparse_csr_tensor(
        torch.from_numpy(starts), torch.from_numpy(columns), torch.from_numpy(s.edge_value), shape
    )
    return matrix, matrix.to_sparse_coo().t().coalesce().to_sparse_csr()


def _chunk(encoding: Encoding, first: int, last: int) -> _Chunk:
    """Return the padded and batched charts of decisions first … last - 1."""
    batch = encoding.batch
    relations = encoding.relations
    begin, end = batch.instance_candidates[first], batch.instance_candidates[last]
    graphs = batch.action_graph[batch.candidate_actions[begin:end]]
    sizes = batch.graph_nodes[graphs + 1] - batch.graph_nodes[graphs]
    most = int(sizes.max())
    near = np.full((end - begin, most, most), relations)
    entries = np.full((end - begin, most), _NEVER)
    for c, graph in enumerate(graphs):
        base = batch.shape_nodes[batch.graph_shape[graph]]
        for k in range(sizes[c]):
            span = slice(batch.node_near[base + k], batch.node_near[base + k + 1])
            near[c, k, batch.near_node[span]] = batch.near_relation[span]
            if batch.node_enters[base + k]:
                entries[c, k] = 0.0
    pairs, padding, parents, heights, dependency, owner, roots = [], [], [], [], [], [], []
    count = 0
    for instance in range(first, last):
        span = slice(batch.instance_words[instance], batch.instance_words[instance + 1])
        parent = batch.words.parent[span]
        height = np.zeros(len(parent), np.int64)
        for w in range(len(parent)):  # dependents come before their heads
            if parent[w] >= 0:
                height[parent[w]] = max(height[parent[w]], height[w] + 1)
        nodes = batch.instance_nodes[instance]
        cells = batch.instance_cells[instance]
        table = batch.cell_pair[cells : cells + len(parent) * nodes].reshape(len(parent), nodes)
        for c in range(
            batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
        ):
            graph = graphs[c - begin]
            here = batch.graph_node[batch.graph_nodes[graph] : batch.graph_nodes[graph + 1]]
            block = np.zeros((len(parent), most), np.int64)
            block[:, : len(here)] = table[:, here]
            pad = np.full((len(parent), most), _NEVER)
            pad[:, : len(here)] = 0.0
            pairs.append(block)
            padding.append(pad)
            parents.append(np.where(parent >= 0, parent + count, -1))
            heights.append(height)
            dependency.append(batch.words.dependency[span])
            owner.append(np.full(len(parent), c - begin))
            roots.append(count + int(np.flatnonzero(parent < 0)[0]))
            count += len(parent)
    parent_of, height_of, dependency_of, owner_of = (
        np.concatenate(each) for each in (parents, heights, dependency, owner)
    )
    levels = []
    for height in range(int(height_of.max()) + 1):
        rows = np.flatnonzero((height_of == height) & (parent_of >= 0))
        if len(rows):
            edges = dependency_of[rows, None, None] * (relations + 1) + near[owner_of[rows]]
            tensors = (torch.from_numpy(x.astype(np.int64)) for x in (rows, parent_of[rows], edges))
            levels.append(_Level(*tensors))
    starts = batch.instance_candidates[first : last + 1] - begin
    many = int(np.diff(starts).max())
    places = np.zeros((last - first, many), np.int64)
    present = np.full((last - first, many), _NEVER)
    for row, (a, b) in enumerate(pairwise(starts)):
        places[row, : b - a], present[row, : b - a] = np.arange(a, b), 0.0
    gold = [int(np.flatnonzero(batch.candidate_gold[begin + a : begin + b])[0])
            for a, b in pairwise(starts)]  # fmt: skip
    kinds = batch.instance_kinds[first : last + 1]
    extra = batch.extra_pair[batch.kind_extras[kinds[0]] : batch.kind_extras[kinds[-1]]]
    kind = batch.candidate_kind[begin:end] - kinds[0]
    extra = extra.reshape(kinds[-1] - kinds[0], -1)[kind]
    extras = np.concatenate([extra, batch.graph_prior[graphs, None]], 1)
    return _Chunk(
        pairs=torch.from_numpy(np.concatenate(pairs)),
        padding=torch.from_numpy(np.concatenate(padding)),
        levels=levels,
        roots=torch.tensor(roots),
        entries=torch.from_numpy(entries),
        extras=torch.from_numpy(extras.astype(np.int64)),
        places=torch.from_numpy(places),
        present=torch.from_numpy(present),
        gold=torch.tensor(gold),
    )
