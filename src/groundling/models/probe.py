"""Checksum of feature extraction, to detect models that were trained differently."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from groundling.features.labels import NodeLabel, WordLabel
from groundling.language.instruction import Instruction
from groundling.models.base import FittedModel
from groundling.overlay.encoder import Encoder
from groundling.world.graph import GroundingGraph
from groundling.world.relations import Scene

_TEXT = (
    "turn the second big red lamps on the left of the kitchen up to 50 percent",
    "after that walk to every other lamp except the bleu one at half past seven",
)
_KNOWN = 6  # number of the model's words, kinds and values added to the text and the graph
_LONGEST = 40  # maximum characters of a word, because models may come from untrusted sources


def probe_features(fitted: FittedModel) -> str:
    """Return a checksum of a model's features for a fixed text and a fixed graph.

    The checksum depends on the model's settings, lexicon, values and word counts. For equal models,
    it differs only if features are extracted differently. Parsers, synonyms and custom joining
    functions have no effect.

    >>> from groundling import Follower
    >>> from groundling.examples import lamp_demonstrations
    >>> fitted = Follower(parser="chain").fit(lamp_demonstrations())._learnt.fitted
    >>> len(probe_features(fitted)), probe_features(fitted) == probe_features(fitted)
    (64, True)
    """
    found = hashlib.sha256()
    for member in fitted.members:
        for line in _lines(member):
            found.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return found.hexdigest()


def _lines(fitted: FittedModel) -> Iterator[str]:
    known = fitted.encoder
    # A separate encoder leaves the caches of the model unchanged.
    encoder = Encoder(replace(known.reader, synonyms=None), known.overlay, known.nodes, known.terms)
    encoder.values = {kind: set(values) for kind, values in known.values.items()}
    values = {kind: _some(each) for kind, each in sorted(encoder.values.items())[:_KNOWN]}
    learnt = _some(known.reader.counts)
    said = [value for each in values.values() for value in each]
    texts = [Instruction.chain(" ".join(each)) for each in (_TEXT[:1], _TEXT[1:], learnt, said)
             if each]  # fmt: skip
    graph, scene = _graph(values)
    graphs = [encoder.lay_out(graph), encoder.lay_out(graph, scene)]
    for laid in graphs:
        yield f"{laid.shape.near} {laid.shape.enters} {sorted(laid.values)} {_told(laid.prior)}"
        yield from map(_told, laid.nodes)
    nodes = sorted({label for laid in graphs for each in laid.nodes for label, _ in each}, key=repr)
    for text in texts:
        labelled = encoder.label([text], graphs)
        yield f"{labelled.skeleton}"
        yield from map(_told, labelled.words)
        words = sorted({label for word in labelled.words for label, _ in word}, key=repr)
        yield from _joined(fitted, words, nodes)


def _joined(fitted: FittedModel, words: list[WordLabel], nodes: list[NodeLabel]) -> Iterator[str]:
    """Yield the names and values of the joined features of all pairs of labels."""
    plain = tuple(each for each in fitted.features.joins if isinstance(each, str))
    space = replace(fitted.features, joins=plain).space()
    first, second = np.divmod(np.arange(len(words) * len(nodes)), max(len(nodes), 1))
    joins = space.join(words, nodes, first, second, grow=True)
    names = {key: space.name(key) for key in set(joins.key.tolist())}
    found = zip(joins.pair.tolist(), joins.key.tolist(), joins.value.tolist(), strict=True)
    yield from sorted(f"{pair} {names[key]} {value:.9g}" for pair, key, value in found)


def _graph(values: dict[str, list[str]]) -> tuple[GroundingGraph, Scene]:
    """Return the graph and the scene of an action on one of three things."""
    things: dict[str, dict[str, Any]] = {
        name: {"kind": kind, "colour": colour, "size": size, "x": x, "y": 1.0, "lit": x > 1}
        for name, kind, colour, size, x in (
            ("first", "lamp", "red", 2.0, 1.0),
            ("middle", "lamp", "blue", 3.0, 2.0),
            ("third", "table", "red", 3.0, 4.0),
        )
    }
    for kind, each in values.items():
        for name, value in zip(things, each, strict=False):
            things[name][kind] = value
    graph = GroundingGraph(
        {"event": {"turn": True, "brightness": 50.0, "kind": "turn"}, **things},
        [("event", "first", "of"), ("first", "middle", "left of"), ("first", "third", "2")],
    )
    return graph, Scene(dict(things.items()))


def _told(content: Iterable[tuple[WordLabel | NodeLabel, float]]) -> str:
    return " ".join(sorted(f"{tuple(label)!r}*{amount:.9g}" for label, amount in content))


def _some(words: Iterable[str]) -> list[str]:
    """Return the first few short words in alphabetical order."""
    return sorted(word for word in words if 0 < len(word) <= _LONGEST)[:_KNOWN]
