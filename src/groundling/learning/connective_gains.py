"""Connectives: learn which words reverse the order of clauses.

Two models are each trained on one half of the demonstrations. Each measures on the other half how
much more probable the demonstrated plans become if the clauses around a word are reversed. A word
is a connective if its total gain exceeds a fixed cost.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from groundling.errors import GroundlingWarning
from groundling.features.connectives import Connective, in_order, possible_connectives
from groundling.inference.search import Search
from groundling.language.instruction import Instruction
from groundling.models.base import FittedModel, Model, Request
from groundling.models.example import Example
from groundling.settings import idle_setting

_COST = 3.0  # minimum total gain over all texts with the word, in nats
_SHARE = 0.6  # minimum share of these texts with a gain
_FEWEST = 3  # minimum number of these texts
_MOST_WORDS, _MOST_TEXTS, _MOST_FOUND = 40, 20, 6
_FOLDS = 2

Text = tuple[Instruction, ...]


def learn_connectives(
    model: Model,
    train: Callable[[Sequence[Example]], FittedModel],
    examples: Sequence[Example],
    search: Search,
    *,
    fold: Callable[[str], str],
    seed: int = 0,
) -> frozenset[Connective]:
    """Return the connectives: words that reverse clauses, with their positions.

    Parameters
    ----------
    model, search
        The model and the search settings for finding plans.
    train
        A function that trains a model on some of the examples.
    examples
        The demonstrations. Only those with several actions are used.
    fold
        A function that normalises a word for comparison.
    """
    told = [each for each in examples if len(each.trajectory) > 1]
    if not told:
        raise idle_setting(
            "Features.reorder", "if every demonstration has one action", "Leave it out."
        )
    counts = Counter(c for each in told for c in possible_connectives(each.instructions, fold))
    often = [each for each, count in counts.items() if count >= _FEWEST]
    often = sorted(often, key=lambda each: (-counts[each], each))[:_MOST_WORDS]
    if not often:
        return frozenset()
    parts = _parts(examples, seed)
    if any(not part for part in parts):
        return frozenset()
    fitted = []
    for number in range(_FOLDS):
        rest = [each for other, part in enumerate(parts) if other != number for each in part]
        with _quiet():
            fitted.append(train(rest))
    found: frozenset[Connective] = frozenset()
    for _ in range(_MOST_FOUND):
        gains = {
            each: _gains(model, fitted, parts, search, found, each, fold)
            for each in often
            if each not in found
        }
        paid = {
            each: float(np.sum(gain))
            for each, gain in gains.items()
            if len(gain) >= _FEWEST and np.mean(gain > 0) >= _SHARE and np.sum(gain) >= _COST
        }
        if not paid:
            break
        found |= {max(sorted(paid), key=paid.__getitem__)}
    return found


def _parts(examples: Sequence[Example], seed: int) -> list[list[Example]]:
    groups = sorted({each.group for each in examples})
    order = np.random.default_rng(seed).permutation(len(groups)).tolist()
    part_of = {groups[place]: number % _FOLDS for number, place in enumerate(order)}
    return [[e for e in examples if part_of[e.group] == number] for number in range(_FOLDS)]


def _gains(
    model: Model,
    fitted: Sequence[FittedModel],
    parts: Sequence[Sequence[Example]],
    search: Search,
    known: frozenset[Connective],
    new: Connective,
    fold: Callable[[str], str],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the gain in log probability of each text that `new` would reverse."""
    found: list[float] = []
    for one, part in zip(fitted, parts, strict=True):
        chosen: list[tuple[Example, Text, Text]] = []
        for each in part:
            if len(each.trajectory) < 2 or len(chosen) == _MOST_TEXTS:
                continue
            before = in_order(each.instructions, known, fold)
            after = in_order(each.instructions, known | {new}, fold)
            if before != after:
                chosen.append((each, before, after))
        plain = [Request(before, each.world, each.trajectory.start) for each, before, _ in chosen]
        turned = [Request(after, each.world, each.trajectory.start) for each, _, after in chosen]
        results = list(model.search(one, [*plain, *turned], search)) if chosen else []
        for place, (each, _, _) in enumerate(chosen):
            logs = [
                _log_probability(each, [(plan.actions, plan.score) for plan in result.plans])
                for result in (results[place], results[place + len(chosen)])
            ]
            if np.isfinite(logs).all():
                found.append(logs[1] - logs[0])
    return np.array(found)


def _log_probability(example: Example, plans: Sequence[tuple[tuple[object, ...], float]]) -> float:
    """Return the log probability of the demonstrated plans among the plans found."""
    wanted = {each.actions for each in (example.trajectory, *example.also)}
    scores = np.array([score for _, score in plans])
    right = np.array([actions in wanted for actions, _ in plans], bool)
    if not right.any():
        return -np.inf
    return float(np.logaddexp.reduce(scores[right]) - np.logaddexp.reduce(scores))


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress convergence warnings, because these models are not fully trained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GroundlingWarning)
        yield
