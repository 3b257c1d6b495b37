"""The compiled overlay equals brute force: scores, posteriors, best alignments, gradients."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.features.labels import NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.overlay.batch_builder import Instance, Scored, encode
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay
from groundling.overlay.skeletons import joined_skeleton, separate_skeleton
from tests.overlay import overlay_twin as twin


def every_word(instruction, unit):
    if unit == "word":
        return [[i] for i in range(len(instruction))]
    if unit == "sentence":
        return [list(range(len(instruction)))]
    middle = len(instruction) // 2
    return [each for each in (list(range(middle)), list(range(middle, len(instruction)))) if each]


EVERYTHING = Scored(advances=True, plan_words=True)
RELATIONS = (("to",), ("near",), ("self",), ("far",))


@st.composite
def graphs(draw, flat=False):
    size = 1 if flat else draw(st.integers(1, 3))
    nodes = tuple(
        tuple(
            (NodeLabel(name), amount)
            for name, amount in draw(
                st.dictionaries(
                    st.sampled_from(("a", "b", "c", "here.a", "here.b")),
                    st.sampled_from([1.0, 0.5, -2.0]),
                    max_size=4 if flat else 2,
                )
            ).items()
        )
        for _ in range(size)
    )
    near = tuple(
        tuple(
            (k, draw(st.sampled_from(RELATIONS)))
            for k in sorted(draw(st.sets(st.integers(0, size - 1), min_size=1)))
        )
        for _ in range(size)
    )
    enters = [draw(st.booleans()) for _ in range(size)]
    enters[draw(st.integers(0, size - 1))] = True
    if flat:
        near = (((0, ("self",)),),)
    prior = tuple(label for node in nodes for label in node)
    names = tuple(f"n{k}" for k in range(size))
    return LaidOutGraph(nodes, names, twin.shape_of(near, tuple(enters)), prior, ())


@st.composite
def sentences(draw, most=4):
    size = draw(st.integers(1, most))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))]
    words = tuple(draw(st.sampled_from("xyz")) for _ in range(size))
    relations = tuple(draw(st.sampled_from(("obj", "nmod"))) for _ in range(size))
    return Instruction(words, tuple(heads), relations)


@st.composite
def instances(draw, separate=False):
    overlay = Overlay(
        skeleton=draw(st.sampled_from(("tree", "chain", "bag"))),
        unit=draw(st.sampled_from(("sentence", "clause", "word"))),
        entry="any",
    )
    skip = draw(st.sampled_from((0.0, 2.0)))
    flat = draw(st.booleans())  # then other kernels do it, see `flat.py`
    text = [draw(sentences(3)) for _ in range(draw(st.integers(1, 2)))]
    skeleton = (separate_skeleton if separate else joined_skeleton)(text, overlay, every_word)
    words = [
        ((WordLabel(f"word={text[s].tokens[p]}"), 1.0), (WordLabel("first"), 0.5 * p))
        for s, p in zip(skeleton.sentence, skeleton.position, strict=True)
    ]
    plans = []
    for _ in range(draw(st.integers(1, 3))):
        count = 1 if separate else draw(st.integers(1, 3))
        labels = ((NodeLabel(f"plan.length={count}"), 1.0),)
        plans.append((tuple(draw(graphs(flat)) for _ in range(count)), labels))
    # In one list or in two: candidates are counted through all of them.
    cut = draw(st.integers(1, len(plans)))
    candidates = [Candidates(each) for each in (plans[:cut], plans[cut:]) if each]
    weight = draw(st.sampled_from((1.0, 0.5)))
    return Case(overlay, skip, Instance(skeleton, words, candidates, (0,), weight), plans)


class Case(NamedTuple):
    """An instance, and its candidates as the twin reads them."""

    overlay: Overlay
    skip: float
    instance: Instance
    plans: list[twin.Plan]

    def alignments(self, plan, names, advance=True):
        return twin.alignments(self.instance, plan, names, self.skip, advance)

    def scores(self, names):
        return [
            twin.text_free(self.instance, plan, names, plan_words=True)
            + twin.log_sum(score for _, score, _ in self.alignments(plan, names))
            for plan in self.plans
        ]

    def without_skips(self):
        return self._replace(skip=0.0)


def build(case, spread=1.0, seed=0, threads=1):
    space = FeatureSpace(joins=("conjunction", "slot"), min_count=0)
    encoding = encode([case.instance], space, grow=True, scored=EVERYTHING)
    theta = np.random.default_rng(seed).normal(size=len(space)) * spread
    names = dict(zip(space.names(), theta, strict=True))
    return Scorer(encoding, skip=case.skip, threads=threads), theta, names


@settings(max_examples=60, deadline=None)
@given(instances(), st.sampled_from((1.0, 30.0, 1e6)), st.integers(0, 5))
def test_overlay_candidate_scores_equal_brute_force(case, spread, seed):
    scorer, theta, names = build(case, spread, seed)
    np.testing.assert_allclose(
        scorer.candidate_scores(theta), case.scores(names), rtol=1e-10, atol=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(instances(separate=True), st.integers(0, 5))
def test_overlay_group_scores_equal_brute_force(case, seed):
    case = case.without_skips()
    instance = case.instance
    scorer, theta, names = build(case, 1.0, seed)
    grouped, free = scorer.group_scores(theta)
    grouped = grouped.reshape(len(case.plans), instance.skeleton.groups)
    for row, total, plan in zip(grouped, free, case.plans, strict=True):
        expected = twin.text_free(instance, plan, names, plan_words=True)
        assert total == pytest.approx(expected)
        found = list(case.alignments(plan, names, advance=False))
        for group in range(instance.skeleton.groups):
            # Groups are independent: the sum over all alignments factorises.
            if not found:
                assert row[group] == -math.inf or math.isinf(row.sum())
        if found:
            assert row.sum() == pytest.approx(twin.log_sum(s for _, s, _ in found))


@settings(max_examples=40, deadline=None)
@given(instances(), st.sampled_from((1.0, 30.0)), st.integers(0, 5))
def test_overlay_posteriors_and_best_alignment_equal_brute_force(case, spread, seed):
    scorer, theta, names = build(case, spread, seed)
    potentials = scorer.potentials(theta)
    for number, plan in enumerate(case.plans):
        found = list(case.alignments(plan, names))
        if not found:
            continue
        total = twin.log_sum(s for _, s, _ in found)
        states = twin.states_of(plan)
        expected = np.zeros((len(case.instance.skeleton), len(states)))
        for choice, score, _ in found:
            for w, state in enumerate(choice):
                expected[w, states.index(state)] += math.exp(score - total)
        actual = scorer.posteriors(potentials, 0, number)
        np.testing.assert_allclose(actual, expected, atol=1e-9)
        best = max(score for _, score, _ in found)
        below = np.full_like(expected, -math.inf)
        for choice, score, _ in found:
            for w, state in enumerate(choice):
                place = w, states.index(state)
                below[place] = max(below[place], score - best)
        actual = scorer.posteriors(potentials, 0, number, best=True)
        np.testing.assert_allclose(actual, below, rtol=1e-10, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(instances(), st.integers(0, 5))
def test_overlay_counts_all_alignments_when_weights_are_zero(case, seed):
    case = case.without_skips()
    scorer, theta, _ = build(case, 0.0, seed)
    for score, plan in zip(scorer.candidate_scores(theta), case.plans, strict=True):
        count = sum(1 for _ in case.alignments(plan, {}))
        assert math.exp(score) == pytest.approx(count, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(instances(), st.integers(0, 5), st.sampled_from((1.0, 25.0)))
def test_overlay_loss_gradient_equals_finite_differences(case, seed, spread):
    scorer, theta, names = build(case, spread, seed)
    if math.isinf(case.scores(names)[0]):
        return  # the gold candidate has no alignment: nothing to learn
    loss, gradient = scorer.loss(theta)
    gradient = gradient.copy()
    assert loss >= -1e-9
    for i in range(len(theta)):
        step = 1e-6
        up, down = theta.copy(), theta.copy()
        up[i] += step
        down[i] -= step
        slope = (scorer.loss(up)[0] - scorer.loss(down)[0]) / (2 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=2e-6)


def test_overlay_two_threads_agree_with_one():
    rng = np.random.default_rng(3)
    overlay = Overlay(entry="any")
    text = [Instruction.chain("x y z x")]
    skeleton = joined_skeleton(text, overlay, every_word)
    words = [((WordLabel(f"word={text[0].tokens[p]}"), 1.0),) for p in skeleton.position]
    listed = []
    for _ in range(40):
        labels = [((NodeLabel(str(c)), 1.0),) for c in rng.choice(list("abc"), 3)]
        shape = twin.shape_of(
            (((1, ("to",)),), ((2, ("to",)), (1, ("self",))), ((0, ("back",)),)), (True,) * 3
        )
        candidates = Candidates.single(
            LaidOutGraph((*labels[i:], *labels[:i]), tuple("abc"), shape, labels[0], ())
            for i in range(3)
        )
        listed.append(Instance(skeleton, words, [candidates], (0,)))
    results = []
    for threads in (1, 2):
        space = FeatureSpace(joins=("conjunction",))
        scorer = Scorer(encode(listed, space, grow=True), threads=threads)
        theta = np.random.default_rng(0).normal(size=len(space))
        results.append(scorer.loss(theta))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-9, atol=1e-12)


def test_overlay_deep_chain_of_five_thousand_words():
    overlay = Overlay(skeleton="chain", entry="any")
    text = [Instruction.chain(["x", "y"] * 2500)]
    skeleton = joined_skeleton(text, overlay, every_word)
    words = [((WordLabel(f"word={text[0].tokens[p]}"), 1.0),) for p in skeleton.position]
    near = (((0, ("self",)), (1, ("to",))), ((1, ("self",)), (0, ("back",))))
    shape = twin.shape_of(near, (True, True))
    graph = LaidOutGraph(
        (((NodeLabel("a"), 1.0),), ((NodeLabel("b"), 1.0),)), ("a", "b"), shape, (), ()
    )
    candidates = Candidates([((graph,), None), ((graph, graph), None)])
    instance = Instance(skeleton, words, [candidates], (0,))
    scorer, theta, _ = build(Case(overlay, 0.0, instance, []))
    loss, gradient = scorer.loss(theta)
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()
    zero = scorer.candidate_scores(np.zeros_like(theta))
    assert zero[0] == pytest.approx(5000 * math.log(2))


@pytest.mark.parametrize("kind", ["tree", "chain", "bag"])
def test_overlay_dependents_of_a_dropped_word_move_to_its_ancestor(kind):
    # 0 ← 1 → 2 → 3, and a second sentence that follows
    text = [
        Instruction(("a", "b", "c", "d"), (1, -1, 1, 2), ("x", "root", "y", "z")),
        Instruction.chain("e f"),
    ]
    overlay = Overlay(skeleton=kind)
    whole = joined_skeleton(text, overlay, every_word)
    kept = joined_skeleton(text, overlay, every_word, {(0, 1), (0, 2)})

    def parents(skeleton):
        words = [*zip(skeleton.sentence, skeleton.position, strict=True), None]
        return dict(zip(words, [words[each] for each in skeleton.parent], strict=False))

    assert set(parents(whole)) - set(parents(kept)) == {(0, 1), (0, 2)}
    found = parents(kept)
    if kind == "bag":
        assert set(found.values()) == {None}
    else:  # the first word without a head becomes the root of the sentence
        assert found[0, 0] is None
        assert found[0, 3] == (0, 0)
        assert found[1, 0] in {(0, 0), (0, 3)}
    assert joined_skeleton(text, overlay, every_word, ()) == whole
