"""How the model reads a text in the light of a plan: alignments and expected features, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from groundling.features.space import FeatureSpace
from groundling.inference.courses import enumerate_courses
from groundling.inference.settings import Search
from groundling.language.instruction import Instruction
from groundling.learning.lengths import LengthModel
from groundling.learning.settings import Learning
from groundling.model.builder import Builder, Course, Passage
from groundling.model.encoding import Candidate, Problem
from groundling.model.graphs import LaidOutGraph
from groundling.model.kernels import Reals
from groundling.model.lattice import MARKS, best_reading_gradient, lattice_gradient
from groundling.model.path import align
from groundling.model.scoring import Model
from groundling.world.environment import Action, State, World

__all__ = ["Path", "Reading", "TextReader"]

Path = tuple[tuple[State, ...], tuple[Action, ...]]


@dataclass(frozen=True)
class Reading:
    """A text read in the light of one plan.

    `aligned[j]` is p(word lies on node of action j) as (words × nodes), words in the order
    of the text. Features are expected counts, dense like θ: `text[j]` those of words on
    action j, `free[j]` those of ψ(y_j), `plan` all others: ψ(n), words × plan, links.
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
    def mean(cls, readings: Sequence[Reading]) -> Reading:
        """Return the mean of what several models read; their features one after another.

        Alignments are those of the first and of the models that have as many nodes.

        >>> one = Reading(1.0, (np.ones((1, 1)),), (np.ones(1),), (np.ones(1),), np.ones(2))
        >>> two = Reading(3.0, (np.zeros((1, 1)),), (np.ones(2),), (np.ones(2),), np.ones(2))
        >>> both = Reading.mean([one, two])
        >>> both.score, both.aligned[0].item(), both.text[0].tolist()
        (2.0, 0.5, [0.5, 0.5, 0.5])
        """
        if len(readings) == 1:
            return readings[0]

        def joined(parts: Iterable[Reals]) -> Reals:
            return np.concatenate(list(parts)) / len(readings)

        actions = range(len(readings[0].aligned))
        alike = [
            [each.aligned[j] for each in readings if each.aligned[j].shape == first.shape]
            for j, first in enumerate(readings[0].aligned)
        ]
        return cls(
            float(np.mean([each.score for each in readings])),
            tuple(np.asarray(np.mean(each, axis=0)) for each in alike),
            tuple(joined(each.text[j] for each in readings) for j in actions),
            tuple(joined(each.free[j] for each in readings) for j in actions),
            joined(each.plan for each in readings),
        )


class TextReader:
    """Reads a text in the light of plans, with the weights that θ was when it was made."""

    def __init__(
        self,
        builder: Builder,
        space: FeatureSpace,
        theta: Reals,
        learning: Learning,
        search: Search,
        lengths: LengthModel,
        world: World,
    ) -> None:
        self.builder = builder
        self.space = space
        self.theta = theta
        self.learning = learning
        self.search = search
        self.lengths = lengths
        self.world = world
        self._searched: dict[State, list[LaidOutGraph]] = {}

    def read(self, text: Sequence[Instruction], paths: Sequence[Path]) -> list[Reading]:
        """Return how a text is read in the light of each of several plans."""
        if self.learning.normalise == "plans":
            return self._plans(text, paths)
        return self._decisions(text, paths)

    def scores(self, text: Sequence[Instruction], paths: Sequence[Path]) -> list[float]:
        """Return the score of several plans."""
        if self.learning.normalise == "plans":
            model, _, _ = self._plan_model(text, paths)
            found: list[float] = model.candidate_scores(self.theta).tolist()
            return found
        table = _UnitTable(self, text, paths)
        return [table.align(path)[0] for path in paths]

    # ---- whole plans --------------------------------------------------------------------

    def _plan_model(
        self, text: Sequence[Instruction], paths: Sequence[Path]
    ) -> tuple[Model, list[Course], Passage]:
        courses = [self.builder.course(self.world, *path) for path in paths]
        graphs = dict.fromkeys(g for each in courses for g in each.graphs)
        graphs |= dict.fromkeys(self._searched_from(paths[0][0][0]))
        passage = self.builder.passage(text, list(graphs))
        problem = Problem(passage.forest, passage.words, [c.candidate() for c in courses])
        model = Model(self.builder.encode([problem], self.space), self.builder.overlay)
        return model, courses, passage

    def _searched_from(self, start: State) -> list[LaidOutGraph]:
        """Return the graphs of all plans that were searched: their names label the words."""
        if start not in self._searched:
            courses = enumerate_courses(self.builder, self.world, start, self.search) or ()
            self._searched[start] = list(dict.fromkeys(g for c in courses for g in c.graphs))
        return self._searched[start]

    def _plans(self, text: Sequence[Instruction], paths: Sequence[Path]) -> list[Reading]:
        model, courses, passage = self._plan_model(text, paths)
        potentials = model.potentials(self.theta)
        scores = model.candidate_scores(self.theta)
        order = _text_order(passage)
        readings = []
        for place, course in enumerate(courses):
            posteriors, _, _ = model.posteriors(potentials, 0, place)
            chosen = np.zeros(len(courses))
            chosen[place] = 1.0
            total = model.weighted_gradient(self.theta, chosen, chosen)
            aligned, texts, frees = [], [], []
            first = 0
            for graph in course.graphs:
                here = posteriors[:, first : first + len(graph.nodes)]
                first += len(graph.nodes)
                texts.append(self._text_counts(model, graph, here))
                frees.append(self._free_counts(model, graph))
                aligned.append(here[order])
            rest = total - np.sum([*texts, *frees], axis=0)
            rest[np.abs(rest) < 1e-12] = 0.0  # what rounding left of features counted above
            readings.append(
                Reading(float(scores[place]), tuple(aligned), tuple(texts), tuple(frees), rest)
            )
        return readings

    def _text_counts(self, model: Model, graph: LaidOutGraph, posteriors: Reals) -> Reals:
        """Return the expected features of words on the nodes of one action."""
        scores, places = model.scores, _node_places(model, graph)
        counts = np.zeros(len(self.theta))
        for word, word_set in enumerate(model.encoding.word_sets.tolist()):
            amounts = np.zeros(model.labels)
            for node, share in zip(places, posteriors[word].tolist(), strict=True):
                span = slice(int(scores.node_labels[node]), int(scores.node_labels[node + 1]))
                np.add.at(amounts, scores.node_label[span], share * scores.node_amount[span])
            _add_features(model, word_set, amounts, counts)
        return counts

    def _free_counts(self, model: Model, graph: LaidOutGraph) -> Reals:
        """Return the features of ψ(y)."""
        charts, scores = model.charts, model.scores
        counts = np.zeros(len(self.theta))
        pair = int(charts.graph_prior[model.encoding.graphs[0].index(graph)])
        if pair >= 0:
            node, amounts = int(scores.pair_node[pair]), np.zeros(model.labels)
            span = slice(int(scores.node_labels[node]), int(scores.node_labels[node + 1]))
            np.add.at(amounts, scores.node_label[span], scores.node_amount[span])
            _add_features(model, int(model.encoding.pair_set[pair]), amounts, counts)
        return counts

    # ---- decisions ----------------------------------------------------------------------

    def _decisions(self, text: Sequence[Instruction], paths: Sequence[Path]) -> list[Reading]:
        table = _UnitTable(self, text, paths)
        readings = []
        for path in paths:
            score, arcs = table.align(path)
            aligned, texts, frees = [], [], []
            for j, place in enumerate(table.actions(path)):
                within = table.posteriors(place)
                aligned.append(within * arcs[table.unit_of, j][:, None])
                texts.append(table.counts(place, arcs[:, j], 0.0))
                frees.append(table.counts(place, np.zeros(table.units), 1.0))
            none = np.zeros(len(self.theta))
            readings.append(Reading(score, tuple(aligned), tuple(texts), tuple(frees), none))
        return readings


class _UnitTable:
    """Scores of all units of a text against every action that some plans could have taken."""

    def __init__(self, reader: TextReader, text: Sequence[Instruction], paths: Sequence[Path]):
        self.reader = reader
        builder, world = reader.builder, reader.world
        states = dict.fromkeys(state for path in paths for state in path[0])
        self.place: dict[tuple[State, Action], int] = {}
        graphs: list[LaidOutGraph] = []
        for state in states:
            for action in world.actions(state):
                self.place[state, action] = len(graphs)
                graphs.append(builder.ground(world, state, action))
        self.marks = len(graphs)
        graphs += [builder.lay_out(mark) for mark in MARKS]
        passage = builder.passage(text, separate=True)
        self.learning = reader.learning
        self.units = passage.forest.groups
        self.order = _text_order(passage)
        self.unit_of = np.array(passage.forest.group)[self.order]
        self.text, self.free = np.zeros((len(graphs), self.units)), np.zeros(len(graphs))
        self.models: dict[int, tuple[Model, int]] = {}  # of each graph, and its place there
        at: dict[LaidOutGraph, list[int]] = {}
        for place, graph in enumerate(graphs):
            at.setdefault(graph, []).append(place)
        # As in the search, words are labelled in the light of each graph's own new names.
        for named in builder.by_new_values(list(at)):
            passage = builder.passage(text, named[:1], separate=True)
            problem = Problem(passage.forest, passage.words, [Candidate((g,)) for g in named])
            model = Model(builder.encode([problem], reader.space), builder.overlay)
            grouped, free = model.group_scores(reader.theta)
            for number, graph in enumerate(named):
                for place in at[graph]:
                    self.text[place] = grouped[number * self.units : (number + 1) * self.units]
                    self.free[place] = free[number]
                    self.models[place] = (model, number)

    def actions(self, path: Path) -> list[int]:
        return [self.place[pair] for pair in zip(path[0], path[1], strict=False)]

    def align(self, path: Path) -> tuple[float, Reals]:
        """Return the score of a plan, and p(unit names action) as (units × actions)."""
        learning, places = self.reader.learning, self.actions(path)
        if learning.reads:
            return self._lattice(path)
        text, free = self.text[places].T, float(self.free[places].sum())
        free += self.reader.lengths.score(len(places), self.units)
        score, chosen = align(text, silence=learning.silence, last_to_last=learning.last_to_last)
        arcs = np.zeros(text.shape)
        for unit, action in enumerate(chosen):
            if action >= 0:
                arcs[unit, action] = 1.0
        return score + free, arcs

    def _lattice(self, path: Path) -> tuple[float, Reals]:
        states, actions = path
        rows: list[int] = []
        starts, gold = [0], []
        for j, state in enumerate(states):
            if j < len(actions):
                gold.append(len(rows) + self.reader.world.actions(state).index(actions[j]))
            rows += [self.place[state, each] for each in self.reader.world.actions(state)]
            starts.append(len(rows))
        table = self.text + self.free[:, None]
        act, passing = table[rows], np.ascontiguousarray(table[self.marks : self.marks + 2])
        again = table[self.marks + 2].copy()
        if not self.learning.again:
            again[:] = -np.inf
        arcs = np.zeros((self.units, len(actions)))
        summed = self.learning.alignment == "marginal"
        loss = (lattice_gradient if summed else best_reading_gradient)(
            act, np.array(starts, np.int32), np.array(gold, np.int32), passing, again,
            np.zeros_like(act), np.zeros_like(passing), np.zeros_like(again), arcs,
            self.reader.learning.idle, self.reader.learning.repeat,
        )  # fmt: skip
        return -float(loss), arcs

    def posteriors(self, place: int) -> Reals:
        """Return p(word lies on node | its unit names this action)."""
        model, number = self.models[place]
        potentials = model.potentials(self.reader.theta)
        return model.posteriors(potentials, 0, number)[0][self.order]

    def counts(self, place: int, units: Reals, free: float) -> Reals:
        """Return the expected features of an action, units weighted as told."""
        model, number = self.models[place]
        candidates = len(model.charts.candidate_base)
        weights, free_weights = np.zeros((candidates, self.units)), np.zeros(candidates)
        weights[number], free_weights[number] = units, free
        return model.weighted_gradient(self.reader.theta, weights.ravel(), free_weights)


def _text_order(passage: Passage) -> list[int]:
    """Return the places of the forest in the order of the text."""
    forest = passage.forest
    return sorted(range(len(forest)), key=lambda i: (forest.sentence[i], forest.position[i]))


def _node_places(model: Model, graph: LaidOutGraph) -> list[int]:
    """Return the encoding's numbers of a graph's nodes (all graphs are of problem 0)."""
    charts = model.charts
    place = model.encoding.graphs[0].index(graph)
    local = charts.graph_node[int(charts.graph_nodes[place]) : int(charts.graph_nodes[place + 1])]
    cells = int(charts.problem_cells[0])
    found: list[int] = model.scores.pair_node[charts.cell_pair[cells + local]].tolist()
    return found


def _add_features(model: Model, word_set: int, amounts: Reals, counts: Reals) -> None:
    """Add the features that a word set joins with so much of each node label."""
    scores = model.scores
    for i in range(int(scores.set_labels[word_set]), int(scores.set_labels[word_set + 1])):
        label = int(scores.set_label[i])
        span = slice(int(scores.label_rows[label]), int(scores.label_rows[label + 1]))
        fired = scores.set_amount[i] * scores.row_value[span] * amounts[scores.row_label[span]]
        np.add.at(counts, scores.row_feature[span], fired)
