"""A generated corpus with the sizes of SAIL: many decisions among a few graphs each."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from groundling.features.labels import NodeLabeller, WordLabel
from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.overlay.batch_builder import Encoding, Instance, Scored, encode
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph, Layouts, spell_plan
from groundling.overlay.settings import Overlay
from groundling.overlay.skeletons import joined_skeleton
from groundling.world.graph import GroundingGraph

__all__ = ["DECISIONS", "Corpus", "describe", "encoded", "generate"]

DECISIONS = 2_000  # at factor 1
_STATES = 400  # places × headings at factor 1; each occurs in about five decisions
_PLACES = 40  # per map
_HEADED = 4 * _PLACES  # states per map
_WORDS = 500
_FLOORS = ("brick", "wood", "grass", "gravel", "stone", "blue", "yellow", "rose")
_WALLS = ("fish", "tower", "butterfly")
_ITEMS = ("sofa", "lamp", "stool", "easel", "chair", "hatrack")
_KINDS = ("hall", "corner", "crossing", "end", "fork")
_NOW = ("here", "front", "left", "right", "back")
_LATER = ("there", "there front", "there left", "there right")
_ACTS = ("walk", "turn", "face", "find", "stop")
_SIDES = ("left", "right", "round", "straight")
_RELATIONS = ("from", "to", "beside", "ahead", "passes", "sees")
_DEPENDENCIES = (
    "obl", "case", "det", "obj", "advmod", "nmod", "conj", "cc", "amod", "nsubj", "compound",
    "advcl", "mark", "xcomp", "nummod", "ccomp", "acl", "fixed", "aux", "parataxis",
)  # fmt: skip


@dataclass
class Corpus:
    """Instances, and the settings with which to score them."""

    instances: list[Instance]
    overlay: Overlay


def generate(factor: float = 1, seed: int = 0) -> Corpus:
    """Return `factor` × 2,000 decisions; the number of maps grows too, but not that of words."""
    rng = random.Random(seed)
    overlay = Overlay()
    states = [_state(place, rng, overlay) for place in _places(round(_STATES * factor), rng)]
    vocabulary = [_labels_of_word(number, rng) for number in range(_WORDS)]
    zipf = np.cumsum(1 / (np.arange(_WORDS) + 2.7))
    instances = []
    decisions = round(DECISIONS * factor)
    for number in range(decisions):
        sentence = _sentence(rng, zipf)
        skeleton = joined_skeleton([sentence], overlay, lambda text, unit: [list(range(len(text)))])
        words = [
            vocabulary[int(sentence.tokens[position])][position == 0]
            for position in skeleton.position
        ]
        # Corpora are sorted by map.
        first = number * len(states) // decisions // _HEADED * _HEADED
        graphs = states[rng.randrange(first, min(first + _HEADED, len(states)))]
        gold = rng.randrange(len(graphs))
        labels = spell_plan(1, (), NodeLabeller())
        candidates = Candidates(((graph,), labels) for graph in graphs)
        instances.append(Instance(skeleton, words, [candidates], (gold,)))
    return Corpus(instances, overlay)


def encoded(corpus: Corpus) -> Encoding:
    """Return an encoding with a feature for every pair of word and node labels that occurs."""
    overlay = corpus.overlay
    return encode(
        corpus.instances,
        FeatureSpace(joins=("conjunction",), min_count=0),
        grow=True,
        scored=Scored(overlay.edge_scores, overlay.action_scores),
    )


def describe(encoding: Encoding) -> dict[str, int]:
    """Return the sizes of an encoded corpus."""
    batch = encoding.batch
    return {
        "decisions": len(encoding.batch.instance_weight),
        "candidates": len(batch.candidate_gold),
        "words": len(batch.word),
        "chart cells": int(encoding.cells.sum()),
        "distinct nodes": len(encoding.nodes),
        "distinct shapes": len(batch.shape_nodes) - 1,
        "distinct word sets": len(encoding.sets),
        "distinct pairs": len(encoding.tables.pair_node),
        "cells per decision table": len(batch.cell_pair),
        "features": len(encoding.space),
    }


# ---- worlds -----------------------------------------------------------------------------------

Place = dict[str, str]


def _places(count: int, rng: random.Random) -> list[list[Place]]:
    """Return, for each state, its place and those in front, left, right, behind and beyond."""
    around: list[list[Place]] = []
    while len(around) < count:
        the_map = []
        for _ in range(_PLACES):
            place = {"floor": rng.choice(_FLOORS), "wall": rng.choice(_WALLS)}
            place["kind"] = rng.choice(_KINDS)
            if rng.random() < 0.5:
                place["item"] = rng.choice(_ITEMS)
            the_map.append(place)
        for number in range(_PLACES):
            near = [the_map[(number + step) % _PLACES] for step in (0, 1, 7, -1, -7, 2, 14, 8, -8)]
            for heading in range(4):
                turned = near[1:5][heading:] + near[1:5][:heading]
                around.append([near[0], *turned, *near[5:]])
    return around[:count]


def _state(around: list[Place], rng: random.Random, overlay: Overlay) -> list[LaidOutGraph]:
    """Return the graphs of the actions that are possible at a place."""
    layouts = Layouts(overlay, NodeLabeller())
    present = {
        role: {role: True, **place, "distance": f"{min(number, 1) + rng.randrange(2)}"}
        for number, (role, place) in enumerate(zip(_NOW, around[:5], strict=True))
    }
    graphs = []
    for _ in range(rng.randint(6, 12)):
        side, steps = rng.choice(_SIDES), rng.randint(0, 4)
        event = {"act": rng.choice(_ACTS), "side": side, "steps": f"{steps}", "event": True}
        seen = ["here", *rng.sample(_NOW[1:], rng.randint(2, 4))]
        after = _LATER[: rng.randint(2, 4)]
        nodes: dict[str, dict[str, object]] = {"event": event}
        nodes |= {role: present[role] for role in seen}
        for role, place in zip(after, rng.sample(around[1:], len(after)), strict=True):
            nodes[role] = {role: True, **place, "distance": f"{steps}"}
        edges = [
            (name, other, rng.choice(_RELATIONS))
            for name in nodes
            for other in rng.sample([each for each in nodes if each != name], 3)
        ]
        graphs.append(layouts.lay_out(GroundingGraph(nodes, edges, root="event")))
    return graphs


# ---- texts ------------------------------------------------------------------------------------


def _labels_of_word(
    number: int, rng: random.Random
) -> tuple[tuple[tuple[WordLabel, float], ...], tuple[tuple[WordLabel, float], ...]]:
    """Return one to three labels of a word inside a sentence, and at its beginning."""
    labels = [(WordLabel(f"word=w{number}"), 1.0)]
    if rng.random() < 0.6:  # inflected forms share a stem
        labels.append((WordLabel(f"stem=s{rng.randrange(_WORDS // 3)}"), 1.0))
    return tuple(labels), (*labels, (WordLabel("first"), 1.0))


def _sentence(rng: random.Random, zipf: np.ndarray) -> Instruction:
    """Return a random sentence whose dependencies are mostly short."""
    size = rng.randint(4, 20)
    draws = np.array([rng.random() for _ in range(size)]) * zipf[-1]
    tokens = tuple(str(number) for number in np.searchsorted(zipf, draws).tolist())
    root = rng.randrange(min(size, 3))
    heads = [-1] * size
    placed = [root]
    for word in sorted((w for w in range(size) if w != root), key=lambda w: abs(w - root)):
        heads[word] = rng.choices(placed, [1 / abs(word - other) ** 1.5 for other in placed])[0]
        placed.append(word)
    relations = tuple(
        "root" if head < 0 else _DEPENDENCIES[min(int(rng.expovariate(0.22)), 19)] for head in heads
    )
    return Instruction(tokens, tuple(heads), relations)
