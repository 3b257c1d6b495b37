"""Cases for every semiring × layout, and what brute force says about them.

`PATHS` lists what cases are made for; `kernel_paths.py` finds lines that none takes.
"""

import math
from typing import NamedTuple

import numpy as np

from groundling.features.labels import NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.overlay.batch_builder import Instance, Scored, encode
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.layout import FlatLayout, GraphLayout, arrange, lay_out_graphs
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay
from groundling.overlay.skeletons import BOUND, FREE, UNIT, joined_skeleton, separate_skeleton
from tests.overlay import overlay_twin as twin


class Case(NamedTuple):
    """What is to be laid out, and how it is to be read."""

    name: str
    overlay: Overlay
    lengths: tuple[int, ...]  # of plans
    flat: bool = False
    as_graph: bool = False  # lay flat plans out as graphs
    units: bool = False
    text: tuple[str, ...] = ("x y z", "z x")
    spread: float = 0.7
    logs: bool = False  # read everything in logarithms
    listed: bool = False  # some node is no neighbour of itself
    skip: float = 0.3
    weight: float = 1.0

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        return "units" if self.units else "flat" if self.flat else "graph"


TREE, WORDS, CLAUSE = Overlay(entry="any"), Overlay(unit="word"), Overlay(unit="clause")
CHAIN, BAG = Overlay(skeleton="chain", unit="word"), Overlay(skeleton="bag")
MANY = tuple(1 + place % 3 for place in range(150))  # more than one flat tile has room for
FEW = (2, 1, 2)
CASES = [
    Case("graph", WORDS, FEW),
    Case("graph, links listed", TREE, FEW, listed=True),
    Case("graph, tiles", CHAIN, tuple(1 + place % 2 for place in range(60)), text=("x y z",)),
    Case("graph, clauses", CLAUSE, FEW),
    Case("graph, bag", BAG, FEW),
    Case("graph, rescaled", WORDS, FEW, text=("x y z y x",), spread=15.0),
    Case("graph, nobody enters", WORDS, (1, 0, 2)),
    Case("graph, no weight", WORDS, FEW, weight=0.0),
    Case("graph, logs", WORDS, FEW, logs=True),
    Case("graph, logs, listed", TREE, FEW, logs=True, listed=True),
    Case("graph, underflow", CLAUSE, FEW, spread=300.0),
    Case("flat", Overlay.flat(), FEW, flat=True),
    Case("flat, tiles", Overlay.flat(), MANY, flat=True),
    Case("flat, clauses", CLAUSE, MANY[:11], flat=True),
    Case("flat, bag", BAG, MANY[:9], flat=True),
    Case("flat, rescaled", Overlay.flat(), MANY[:20], flat=True, spread=9.0),
    Case("flat, underflow", Overlay.flat(), MANY[:20], flat=True, spread=300.0),
    Case("flat, logs", Overlay.flat(), MANY[:9], flat=True, logs=True),
    Case("flat as graph", Overlay.flat(), MANY[:20], flat=True, as_graph=True),
    Case("units", WORDS, (1,) * 9, units=True),
    Case("units, flat", WORDS, (1,) * 20, flat=True, units=True),
    Case("units, logs", WORDS, (1,) * 9, units=True, logs=True),
    Case("units, underflow", WORDS, (1,) * 9, units=True, spread=250.0),
]


def words_of(instruction, unit):
    """Cut a sentence into words, into halves, or not at all."""
    size = len(instruction)
    if unit == "word":
        return [[i] for i in range(size)]
    cuts = [range(size)] if unit == "sentence" else [range(size // 2), range(size // 2, size)]
    return [list(each) for each in cuts if len(each)]


def graph(random, case) -> LaidOutGraph:
    size = 1 if case.flat else 3
    labels = [
        tuple((NodeLabel(str(name)), 1.0) for name in random.choice(list("abcd"), 2, False))
        for _ in range(size)
    ]
    near = [
        [(k, (str(random.choice(["to", "by"])),)) for k in range(size) if k != node]
        for node in range(size)
    ]
    for node, around in enumerate(near):
        if not (case.listed and node == 0):
            around.append((node, ("self",)))
    enters = (True,) * size if case.flat else (True, False, bool(random.integers(2)))
    shape = twin.shape_of(tuple(map(tuple, near)), enters)
    prior = tuple(label for each in labels for label in each)
    return LaidOutGraph(tuple(labels), tuple("abc"[:size]), shape, prior, ())


class Made(NamedTuple):
    case: Case
    scorer: Scorer
    theta: np.ndarray
    names: dict
    instance: Instance
    plans: list


def make(case: Case) -> Made:
    """Return a case as the library sees it, and as the twin does."""
    random = np.random.default_rng(len(case.name))
    text = [Instruction.chain(each) for each in case.text]
    if case.overlay.skeleton == "tree":  # heads on both sides
        text = [
            Instruction(each.tokens, (1, -1, 1, 2, 2)[: len(each)], ("obj",) * len(each))
            for each in text
        ]
    skeleton = (separate_skeleton if case.units else joined_skeleton)(text, case.overlay, words_of)
    words = [
        ((WordLabel(f"word={text[s].tokens[p]}"), 1.0), (WordLabel("first"), 0.5 * p))
        for s, p in zip(skeleton.sentence, skeleton.position, strict=True)
    ]
    plans = [
        (tuple(graph(random, case) for _ in range(length)), ((NodeLabel(f"n={length}"), 1.0),))
        for length in case.lengths
    ]
    instance = Instance(skeleton, words, [Candidates(plans)], (0,), case.weight)
    space = FeatureSpace(joins=("conjunction", "slot"), min_count=0)
    scored = Scored(advances=not case.units, plan_words=True)
    encoding = encode([instance], space, grow=True, scored=scored)
    arrangement = arrange(encoding)
    if case.as_graph:
        layout = lay_out_graphs(encoding.batch)
        arrangement = arrangement._replace(layout=layout)
    scorer = Scorer(encoding, skip=case.skip, arrangement=arrangement)
    assert isinstance(
        scorer.arrangement.layout, FlatLayout if case.flat and not case.as_graph else GraphLayout
    )
    if case.logs:  # say that relations are too large for plain numbers
        potentials = scorer.potentials

        def too_large(theta):
            found = potentials(theta)
            return found._replace(scaled=found.scaled._replace(edge_top=1e9))

        scorer.potentials = too_large
    theta = random.normal(size=len(space)) * case.spread
    return Made(case, scorer, theta, dict(zip(space.names(), theta, strict=True)), instance, plans)


def check(case: Case) -> None:
    """Compare everything that a scorer says with brute force."""
    _, scorer, theta, names, instance, plans = make(case)
    groups = instance.skeleton.groups
    found = [
        list(twin.alignments(instance, plan, names, case.skip, not case.units)) for plan in plans
    ]
    free = [twin.text_free(instance, plan, names, plan_words=True) for plan in plans]
    # Sums: of plans and, where units are read one by one, of every unit.
    expected = [
        alone + twin.log_sum(score for _, score, _ in each)
        for alone, each in zip(free, found, strict=True)
    ]
    tolerance = {"rtol": 1e-10, "atol": 1e-9}
    np.testing.assert_allclose(scorer.candidate_scores(theta), expected, **tolerance)
    grouped, alone = scorer.group_scores(theta)
    np.testing.assert_allclose(alone, free, **tolerance)
    grouped = grouped.reshape(len(plans), groups)
    np.testing.assert_allclose(grouped.sum(axis=1) + alone, expected, **tolerance)
    # Gradients: along a direction, by the slope of what was compared above.
    direction = np.random.default_rng(1).normal(size=len(theta))
    step = 1e-6
    if math.isfinite(expected[0]):
        _, gradient = scorer.loss(theta)
        slope = (
            scorer.loss(theta + step * direction)[0] - scorer.loss(theta - step * direction)[0]
        ) / (2 * step)
        np.testing.assert_allclose(gradient @ direction, slope, rtol=2e-5, atol=2e-4)
    weight = np.random.default_rng(2).normal(size=(len(plans), groups))
    weight[~np.isfinite(grouped)] = 0.0
    if groups > 1:
        weight[:, 0] = 0.0
    free_weight = np.random.default_rng(3).normal(size=len(plans))

    def total(where):
        some, rest = scorer.group_scores(where)
        some = np.where(weight != 0.0, some.reshape(weight.shape), 0.0)
        return float((some * weight).sum() + rest @ free_weight)

    expect = scorer.weighted_gradient(theta, weight.ravel(), free_weight)
    slope = (total(theta + step * direction) - total(theta - step * direction)) / (2 * step)
    scale = max(1.0, abs(slope))
    np.testing.assert_allclose(expect @ direction / scale, slope / scale, rtol=2e-5, atol=1e-4)
    # Marginals, and how far below the best alignment each state is; the best is 0.
    potentials = scorer.potentials(theta)
    for number in range(min(3, len(plans))):
        if not found[number]:
            continue
        sums, best = marginals(found[number], twin.states_of(plans[number]))
        np.testing.assert_allclose(scorer.posteriors(potentials, 0, number), sums, atol=1e-9)
        below = scorer.posteriors(potentials, 0, number, best=True)
        np.testing.assert_allclose(below, best, **tolerance)


def marginals(found, states):
    """Return p(word at state), and the score of the best alignment with it below the best."""
    total, top = twin.log_sum(s for _, s, _ in found), max(s for _, s, _ in found)
    sums = np.zeros((len(found[0][0]), len(states)))
    best = np.full_like(sums, -math.inf)
    for choice, score, _ in found:
        for w, state in enumerate(choice):
            place = w, states.index(state)
            sums[place] += math.exp(score - total)
            best[place] = max(best[place], score - top)
    return sums, best


# ---- paths through the kernels ----------------------------------------------------------------


def graph_tiles(made: Made) -> bool:
    return isinstance(made.scorer.arrangement.layout, GraphLayout)


def states_of(made: Made) -> np.ndarray:
    sizes = np.diff(made.scorer.batch.graph_nodes)[made.scorer.batch.action_graph]
    ends = np.append(0, np.cumsum(sizes))[made.scorer.batch.candidate_actions]
    return np.diff(ends)


def in_logs(passes, ring: str = "Scaled") -> list[tuple[bool, ...]]:
    """Return which candidates needed logarithms after each pass in a semiring."""
    return [flags for name, _, flags, _ in passes if name == ring]


def kinds_of_links(made: Made) -> set[tuple[int, int]]:
    skeleton = made.instance.skeleton
    links = zip(skeleton.parent, skeleton.link, skeleton.direction, strict=True)
    return {(link, direction) for parent, link, direction in links if parent >= 0}


def rescales(made: Made) -> bool:
    """Whether ⊗ of what a parent takes in leaves the range, and nothing else changes."""
    factors = made.scorer._workspaces[0].chart.factors
    factors[:] = -7.0
    made.scorer.candidate_scores(made.theta)
    return bool(np.any(factors != -7.0))


PATHS = {
    "several tiles in an instance, of graphs": lambda made, passes: (
        graph_tiles(made) and len(made.scorer.arrangement.layout.tile_candidates) > 2
    ),
    "several tiles in an instance, flat": lambda made, passes: (
        not graph_tiles(made) and len(made.scorer.arrangement.layout.tile_candidates) > 2
    ),
    "a tile whose last eight is not full": lambda made, passes: (
        graph_tiles(made) and states_of(made).sum() % 8 > 0
    ),
    "a flat block that is not full": lambda made, passes: (
        not graph_tiles(made) and len(made.plans) % 8 > 0
    ),
    "flat plans of different lengths in a block": lambda made, passes: (
        not graph_tiles(made) and len(set(made.case.lengths[:8])) > 1
    ),
    "a relation that every node has to itself, not listed": lambda made, passes: (
        graph_tiles(made) and made.scorer.arrangement.layout.stay >= 0
    ),
    "no such relation: all links listed": lambda made, passes: (
        graph_tiles(made) and made.scorer.arrangement.layout.stay < 0
    ),
    "bound links to the left and to the right": lambda made, passes: (
        {(BOUND, -1), (BOUND, 1)} <= kinds_of_links(made)
    ),
    "free links to the left and to the right": lambda made, passes: (
        {(FREE, -1), (FREE, 1)} <= kinds_of_links(made)
    ),
    "unit links to the left and to the right": lambda made, passes: (
        {(UNIT, -1), (UNIT, 1)} <= kinds_of_links(made)
    ),
    "four words counted at a time, and a rest": lambda made, passes: (
        len(made.instance.words) > 4 and len(made.instance.words) % 4 > 0
    ),
    "rows that are rescaled, of graphs": lambda made, passes: graph_tiles(made) and rescales(made),
    "rows that are rescaled, flat": lambda made, passes: not graph_tiles(made) and rescales(made),
    "one candidate of several that needs logarithms": lambda made, passes: any(
        0 < sum(flags) < len(flags) for flags in in_logs(passes)
    ),
    "underflow to logarithms": lambda made, passes: (
        not made.case.logs and any(any(flags) for flags in in_logs(passes))
    ),
    "all candidates in logarithms": lambda made, passes: any(
        all(flags) for flags in in_logs(passes)
    ),
    "a plan without actions": lambda made, passes: 0 in made.case.lengths,
    "several groups of words": lambda made, passes: made.instance.skeleton.groups > 1,
    "an instance without weight": lambda made, passes: made.case.weight == 0.0,
}
"""The paths that cases are made for, and how to tell from its data that a case takes one."""
