"""Costs of lexicon entries, based on the contexts of words.

Words that spell a value show the typical contexts of each kind of value (“the … hall”, “past the
…”). From the neighbouring words, a multinomial logistic regression learns to predict the kind of
value, or that there is none. Its predictions tell how typical the contexts of every other word are.
They only scale the cost of lexicon entries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from groundling.features.labels import NUMBER
from groundling.features.lexicon import Lexicon, Meaning
from groundling.learning.optimise import minimise
from groundling.models.example import Example
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder


def context_penalties(
    encoder: Encoder,
    known: Lexicon,
    examples: Sequence[Example],
    entries: Sequence[tuple[str, Meaning]],
) -> Reals:
    """Return, for each (word, value) entry, the factor by which to multiply its cost."""
    wanted = {kind for kind in encoder.values if kind != NUMBER}
    kinds = ["", *sorted(wanted | {kind for _, (kind, _) in entries})]
    place = {kind: number for number, kind in enumerate(kinds)}
    tokens, contexts, classes = _contexts(encoder, known, examples, place)
    if len(set(classes)) < 2:
        return np.ones(len(entries))
    features: dict[str, int] = {}
    rows, columns = [], []
    for row, context in enumerate(contexts):
        for name in context:
            rows.append(row)
            columns.append(features.setdefault(name, len(features)))
    design = sparse.csr_matrix(
        (np.ones(len(rows)), (rows, columns)), shape=(len(contexts), len(features))
    )
    target = np.eye(len(kinds))[np.array(classes)]

    def loss(flat: Reals) -> tuple[float, Reals]:
        scores = np.asarray(design @ flat.reshape(len(features), len(kinds)))
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        gradient = design.T @ (np.exp(logs) - target)
        return float(-(target * logs).sum()), np.asarray(gradient).ravel()

    _, flat, _ = minimise(loss, np.zeros(len(features) * len(kinds)), l2=1.0, iterations=100)
    scores = np.asarray(design @ flat.reshape(len(features), len(kinds)))
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    base = target.mean(axis=0)
    words = sorted({word for word, _ in entries})
    mean = np.zeros((len(words), len(kinds)))
    where = {word: number for number, word in enumerate(words)}
    counts = np.zeros(len(words))
    for row, word in enumerate(tokens):
        if word in where:
            mean[where[word]] += chances[row]
            counts[where[word]] += 1
    mean /= np.maximum(counts, 1)[:, None]
    lift = (mean + 0.01) / (base + 0.01)
    share = (mean + 0.001) / (mean[:, 1:].max(axis=1, keepdims=True) + 0.001)
    penalty = np.clip(1 / lift / np.sqrt(share), 0.3, 8.0)
    return np.array([penalty[where[word], place[kind]] for word, (kind, _) in entries])


def _contexts(
    encoder: Encoder,
    known: Lexicon,
    examples: Sequence[Example],
    place: dict[str, int],
) -> tuple[list[str], list[list[str]], list[int]]:
    tokens: list[str] = []
    contexts: list[list[str]] = []
    classes: list[int] = []
    senses: dict[str, str] = {}
    language = encoder.reader.language
    for example in examples:
        for instruction in example.instructions:
            words = [language.fold(word) for word in instruction.tokens]
            for word in words:
                if word not in senses:
                    # Word endings are ignored here; the candidate search has cached these look-ups.
                    found = known.look_up(word, encoder.values, language=language, endings=False)
                    senses[word] = found[0][0] if found else ""
            shown = [f"‹{senses[word]}›" if senses[word] else word for word in words]
            padded = ["^", "^", *shown, "$", "$"]
            for i, word in enumerate(words):
                b2, b1, a1, a2 = padded[i], padded[i + 1], padded[i + 3], padded[i + 4]
                tokens.append(word)
                contexts.append(
                    ["*", f"-1 {b1}", f"+1 {a1}", f"-2 {b2}", f"+2 {a2}",
                     f"-1 {b1} +1 {a1}", f"-2 {b2} -1 {b1}"]
                )  # fmt: skip
                classes.append(place.get(senses[word], 0))
    return tokens, contexts, classes
