"""p(text | plan): against a slow twin, and what it must and must not know."""

import numpy as np
import pytest

from groundling import GroundingGraph, Lexicon
from groundling.dialogue.translation import (
    TranslationModel,
    describe_graphs,
    matches,
    symbol,
)
from groundling.errors import DemonstrationError


def plan_of(verb, thing, number=1):
    graph = GroundingGraph({"event": {verb: True, "times": number}, "object": {"thing": thing}})
    return describe_graphs([graph])


TEXTS = [
    (["grab", "the", "cup"], plan_of("take", "cup")),
    (["grab", "the", "jug"], plan_of("take", "jug")),
    (["clean", "the", "cup", "2", "times"], plan_of("dust", "cup", 2)),
    (["clean", "a", "mug"], plan_of("dust", "cup")),
]


@pytest.fixture(scope="module")
def model():
    return TranslationModel.learn(TEXTS, lexicon=Lexicon({"mug": [("thing", "cup")]}))


def slow_learn(texts, wording, prior=10.0, iterations=8):
    """EM word by word in dictionaries."""
    ways = []
    for words, plan in texts:
        for word in words:
            senses = wording.senses(word)
            plain = f"‹{senses[0][0]}›?" if senses else word
            way = [(name, plain) for name in ("", *plan.names)]
            way += [
                (name, symbol(sense[0]))
                for sense in senses
                for name, value in plan.slots
                if matches(sense, value)
            ]
            ways.append(way)
    seen = {}
    for way in ways:
        for _, token in way:
            seen[token] = seen.get(token, 0) + 1 / len(way)
    total = sum(seen.values()) + 0.5 * (len(seen) + 1)
    usual = {token: (count + 0.5) / total for token, count in seen.items()}
    share = {pair: 1.0 for way in ways for pair in way}
    for _ in range(iterations):
        counts = dict.fromkeys(share, 0.0)
        for way in ways:
            whole = sum(share[pair] for pair in way)
            for pair in way:
                counts[pair] += share[pair] / whole
        totals = {}
        for (label, _), count in counts.items():
            totals[label] = totals.get(label, 0.0) + count
        share = {
            (label, token): (counts[label, token] + prior * usual[token]) / (totals[label] + prior)
            for label, token in counts
        }
    return share


def test_translation_equals_a_slow_twin(model):
    slow = slow_learn(TEXTS, model.wording)
    for (label, token), expected in slow.items():
        found = model.shares([model.labels[label]], [model.words[token]])[0, 0]
        assert found == pytest.approx(expected, rel=1e-10)


def test_translation_is_a_distribution_over_words(model):
    everything = model.shares(range(len(model.labels)), range(len(model.words) + 1))
    assert everything.sum(axis=1) == pytest.approx(np.ones(len(model.labels)))


def test_translation_prefers_what_was_meant(model):
    plans = [plan_of("take", "cup"), plan_of("dust", "cup"), plan_of("take", "jug")]
    assert model.log_probabilities(["grab", "the", "mug"], plans).argmax() == 0
    assert model.log_probabilities(["clean", "the", "cup"], plans).argmax() == 1


def test_translation_of_a_value_holds_for_new_ones(model):
    plans = [plan_of("take", "vase"), plan_of("take", "fork")]
    for plan in plans:
        model.wording.learn_values(plan)
    vase, fork = model.log_probabilities(["grab", "the", "vase"], plans)
    assert vase > fork


def test_translation_knows_numbers(model):
    one, two = model.log_probabilities(["2"], [plan_of("dust", "cup", n) for n in (1, 2)])
    assert two > one


def test_translation_of_words_that_it_never_heard_is_finite(model):
    assert np.isfinite(model.log_probabilities(["zounds"], [plan_of("leap", "moon")])).all()


def test_translation_needs_words():
    with pytest.raises(DemonstrationError, match="at least one word"):
        TranslationModel.learn([([], plan_of("take", "cup"))])
