"""Effect of speaking, asking and listening in mazes: `python -m research.dialogue CORPORA/sail`.

The script trains on some maps and follows another one. The weight of the speaker, and the
thresholds of rows without *own map*, are chosen inside the training maps. With `--speaker`, half of
the training sentences train a speaker and its listener, and the other half train an independent
follower, which then follows human and generated sentences.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from groundling import Demonstration, Follower, Plan
from groundling.dialogue.cross_fit import cross_fit
from groundling.dialogue.listener import PragmaticListener, learn_translation
from groundling.dialogue.options import Option, right_outcomes
from groundling.dialogue.prediction_sets import (
    Case,
    DialogueScores,
    PredictionSets,
    Score,
    evaluate,
)
from groundling.dialogue.speaker import Speaker
from groundling.errors import GroundlingWarning
from groundling.tasks.mazes import load_sail
from groundling.tasks.mazes.maze_presets import PRESETS, prepare_sentences
from groundling.world.cached_environment import CachedEnvironment

__all__ = ["asking", "halves", "listening", "main", "own_map", "speaking"]

COVERAGES = (0.8, 0.9, 0.95)
SCORES: tuple[Score, ...] = ("probability", "ratio")
DRAWS, OWN = 40, 50


def cases_of(options: Sequence[Sequence[Option]], shown: Sequence[Demonstration]) -> list[Case]:
    """Return the options of plans, with the right outcomes."""
    return [(found, right_outcomes(each)) for found, each in zip(options, shown, strict=True)]


def share_right(cases: Iterable[Case]) -> float:
    """Return the share of cases whose most probable outcome is right."""
    return float(np.mean([options[0].outcome in right for options, right in cases]))


def requests_of(shown: Iterable[Demonstration]) -> list[tuple[Any, Any, Any]]:
    """Return the arguments of `follow` for demonstrations."""
    return [(each.instructions, each.environment, each.start) for each in shown]


def own_map(
    cases: Sequence[Case], coverage: float, score: Score, draws: int = DRAWS, own: int = OWN
) -> DialogueScores:
    """Return mean scores over draws of sentences about the test map that calibrate the agent."""
    dice, found = random.Random(0), []
    for _ in range(draws):
        drawn = dice.sample(range(len(cases)), len(cases))
        sets = PredictionSets.calibrate([cases[p] for p in drawn[:own]], coverage, score=score)
        found.append(evaluate([cases[p] for p in drawn[own:]], sets))
    return DialogueScores.mean(found)


def asking(inside: Sequence[Case], test: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return the rows of the table of clarification questions, for both scores."""
    rows = {}
    for score in SCORES:
        for coverage in COVERAGES:
            sets = PredictionSets.calibrate(inside, coverage, score=score)
            rows[f"{coverage:.0%}, {score}"] = evaluate(test, sets).to_dict()
            rows[f"{coverage:.0%}, own map, {score}"] = own_map(test, coverage, score).to_dict()
    rows["not calibrated"] = evaluate(test, None).to_dict()
    return rows


def listening(
    train: Sequence[Demonstration], test: Sequence[Demonstration], follower: Follower
) -> dict[str, Any]:
    """Return the results of following a map with and without the speaker."""
    follower.fit(train, check=False)
    folds = cross_fit(follower, train)
    listener = PragmaticListener.learn(follower, train, cross_fitted=folds)
    found: dict[str, Any] = {"trials": [asdict(each) for each in listener.trials]}
    for weight in dict.fromkeys((0.0, listener.weight)):
        using = PragmaticListener(follower, listener.model, weight)
        plans = using.follow_many(requests_of(test))
        right = [
            CachedEnvironment(each.environment).outcome(plan.end) in right_outcomes(each)
            for each, plan in zip(test, plans, strict=True)
        ]
        inside: list[Case] = []
        for other, rest, part in folds:
            held_out = PragmaticListener(other, learn_translation(other, rest), weight)
            inside += cases_of(held_out.options(requests_of(part)), part)
        cases = cases_of(using.options(requests_of(test)), test)
        among = [
            float(np.mean([any(o.outcome in right for o in opts[:k]) for opts, right in cases]))
            for k in (1, 2, 3, 5, 8, 10_000)
        ]
        name = "listener" if weight == 0 else "pragmatic"
        found[name] = {
            "weight": weight,
            "success": float(np.mean(right)),
            "among": among,
            "asking": asking(inside, cases),
        }
    return found


def halves(
    shown: Sequence[Demonstration], seed: int = 0
) -> tuple[list[Demonstration], list[Demonstration]]:
    """Return demonstrations as two halves that share no group."""
    groups = sorted({each.group for each in shown})
    random.Random(seed).shuffle(groups)
    first = set(groups[::2])
    return [d for d in shown if d.group in first], [d for d in shown if d.group not in first]


def speaking(
    train: Sequence[Demonstration],
    test: Sequence[Demonstration],
    follower: Follower,
    other: Follower,
) -> dict[str, Any]:
    """Return how well an independent follower follows human and generated texts."""
    import sacrebleu

    mine, yours = halves(train)
    speaker, judge = Speaker(follower.fit(mine, check=False)), other.fit(yours, check=False)
    texts, began = [], time.process_time()
    for each in test:
        way = CachedEnvironment(each.environment).trace(each.start, each.actions)
        texts.append(
            speaker.describe(Plan(way.actions, way.states, 0.0, 1.0), each.environment).text
        )
    seconds = time.process_time() - began
    human = judge.score(test)
    said = [(text, each) for text, each in zip(texts, test, strict=True) if text]
    told = [Demonstration(text, each.environment, each.start, each.actions) for text, each in said]
    generated = judge.score(told) * len(told) / len(test)
    written = [" ".join(map(str, each.instructions)) for each in test]
    bleu = sacrebleu.corpus_bleu(texts, [written], lowercase=True)
    return {
        "human text": {"success": human},
        "generated text": {"success": generated, "bleu": bleu.score},
        "silent": 1 - len(told) / len(test),
        "cpu seconds per plan": seconds / len(test),
        "examples": [
            {"plan": str(e.actions), "human": w, "generated": t}
            for e, w, t in list(zip(test, written, texts, strict=True))[:: max(1, len(test) // 20)]
        ],
    }


def main() -> None:
    """Measure one map, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--learn", nargs="+", default=["Grid"])
    parser.add_argument("--follow", default="Jelly")
    parser.add_argument("--speaker", action="store_true")
    parser.add_argument("--variant", default="full")
    parser.add_argument("--most", type=int, help="maximum number of sentences to follow")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore", GroundlingWarning)
    chosen = PRESETS.select("best", given.variant)
    sentences = prepare_sentences(chosen, load_sail(given.corpus))
    train = [each for name in given.learn for each in sentences[name]]
    test = list(sentences[given.follow])
    if given.most:
        test = random.Random(1).sample(test, min(given.most, len(test)))
    if given.speaker:
        found = speaking(train, test, chosen.follower(), chosen.follower())
    else:
        found = listening(train, test, chosen.follower())
    report = {"learn": given.learn, "follow": given.follow, "count": len(test), **found}
    text = json.dumps(report, indent=1, ensure_ascii=False)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
