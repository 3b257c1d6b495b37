"""Interpretations: the alignment and expected features of a text, given a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from groundling.overlay.batch import Reals
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.scorer import Scorer


@dataclass(frozen=True)
class Interpretation:
    """The alignment and the expected features of a text, given one plan.

    `aligned[j]` is an array (words × nodes) of the probabilities that each word aligns with each
    node of action j. Words are in text order, and dropped words have zeros. Expected features have
    the shape of θ: `text[j]` counts words on action j, `free[j]` counts ψ(y_j), and `plan` counts
    the rest: ψ(n), words × plan, and links.
    """

    score: float
    aligned: tuple[Reals, ...]
    text: tuple[Reals, ...]
    free: tuple[Reals, ...]
    plan: Reals

    def counts(self) -> Reals:
        """Return the expected count of every feature in the whole plan."""
        return np.asarray(np.sum([*self.text, *self.free, self.plan], axis=0))

    @classmethod
    def mean(cls, each_of: Sequence[Interpretation]) -> Interpretation:
        """Return the mean over several models; features of the models are concatenated.

        The alignment with each action is averaged over the models in which it has the same shape as
        in the first model.

        >>> one = Interpretation(
        ...     score=1.0, aligned=(np.ones((1, 1)),),
        ...     text=(np.ones(1),), free=(np.ones(1),), plan=np.ones(2),
        ... )
        >>> two = Interpretation(
        ...     score=3.0, aligned=(np.zeros((1, 1)),),
        ...     text=(np.ones(2),), free=(np.ones(2),), plan=np.ones(2),
        ... )
        >>> both = Interpretation.mean([one, two])
        >>> both.score, both.aligned[0].item(), both.text[0].tolist()
        (2.0, 0.5, [0.5, 0.5, 0.5])
        """
        if len(each_of) == 1:
            return each_of[0]

        def joined(counts: Iterable[Reals]) -> Reals:
            return np.concatenate(list(counts)) / len(each_of)

        actions = range(len(each_of[0].aligned))
        alike = [
            [each.aligned[j] for each in each_of if each.aligned[j].shape == first.shape]
            for j, first in enumerate(each_of[0].aligned)
        ]
        return cls(
            float(np.mean([each.score for each in each_of])),
            tuple(np.asarray(np.mean(each, axis=0)) for each in alike),
            tuple(joined(each.text[j] for each in each_of) for j in actions),
            tuple(joined(each.free[j] for each in each_of) for j in actions),
            joined(each.plan for each in each_of),
        )


def text_counts(scorer: Scorer, graph: LaidOutGraph, posteriors: Reals) -> Reals:
    """Return one instance's expected features of words with nodes of an action."""
    tables, places = scorer.tables, _node_places(scorer, graph)
    counts = np.zeros(scorer.width)
    for word, word_set in enumerate(scorer.batch.words.set.tolist()):
        amounts = np.zeros(scorer.labels)
        for node, share in zip(places, posteriors[word].tolist(), strict=True):
            span = slice(int(tables.node_labels[node]), int(tables.node_labels[node + 1]))
            np.add.at(amounts, tables.node_label[span], share * tables.node_amount[span])
        _add_features(scorer, word_set, amounts, counts)
    return counts


def free_counts(scorer: Scorer, graph: LaidOutGraph) -> Reals:
    """Return one instance's expected features of an action without text, ψ(y)."""
    batch, tables = scorer.batch, scorer.tables
    counts = np.zeros(scorer.width)
    pair = int(batch.graph_prior[scorer.encoding.graphs[0].index(graph)])
    if pair >= 0:
        node, amounts = int(tables.pair_node[pair]), np.zeros(scorer.labels)
        span = slice(int(tables.node_labels[node]), int(tables.node_labels[node + 1]))
        np.add.at(amounts, tables.node_label[span], tables.node_amount[span])
        word_set = int(np.searchsorted(tables.set_pairs, pair, "right")) - 1
        _add_features(scorer, word_set, amounts, counts)
    return counts


def _node_places(scorer: Scorer, graph: LaidOutGraph) -> list[int]:
    """Return the indices of a graph's nodes in the encoding of a single instance."""
    batch = scorer.batch
    place = scorer.encoding.graphs[0].index(graph)
    local = batch.graph_node[int(batch.graph_nodes[place]) : int(batch.graph_nodes[place + 1])]
    cells = int(batch.instance_cells[0])
    found: list[int] = scorer.tables.pair_node[batch.cell_pair[cells + local]].tolist()
    return found


def _add_features(scorer: Scorer, word_set: int, amounts: Reals, counts: Reals) -> None:
    """Add a word set's features with the given amounts of node labels to `counts`."""
    tables = scorer.tables
    for i in range(int(tables.set_labels[word_set]), int(tables.set_labels[word_set + 1])):
        label = int(tables.set_label[i])
        span = slice(int(tables.label_rows[label]), int(tables.label_rows[label + 1]))
        fired = tables.set_amount[i] * tables.row_value[span] * amounts[tables.row_label[span]]
        np.add.at(counts, tables.row_feature[span], fired)
