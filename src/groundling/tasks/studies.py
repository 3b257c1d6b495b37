"""Studies of a task: clarification questions, speaker and pragmatic listener.

For each fold of the task, a study trains on the training cases and scores the held-out ones.
Thresholds and weights are chosen by cross-fitting within the training cases. Rows named *own* are
the exception: they are calibrated on some of the held-out texts and scored on the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple, cast

from groundling.dialogue.cross_fit import HeldOutFold, cross_fit
from groundling.dialogue.listener import PragmaticListener
from groundling.dialogue.options import Option, right_outcomes
from groundling.dialogue.outcomes import all_options
from groundling.dialogue.prediction_sets import Case as Judged
from groundling.dialogue.prediction_sets import DialogueScores, PredictionSets, evaluate
from groundling.dialogue.speaker import Speaker
from groundling.errors import DemonstrationError, PluginError
from groundling.evaluation.report import Row
from groundling.follower import Follower
from groundling.plan import Plan
from groundling.tasks.benchmark import (
    Case,
    Fold,
    Outcome,
    StudyCases,
    Task,
    demonstrations,
    split_parts,
)
from groundling.tasks.presets import Preset
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration

COVERAGES = (0.8, 0.9, 0.95)
OWN = 50
"""Number of held-out texts of a part, at most two thirds, that calibrate prediction sets."""
DRAWS = 40
"""Number of random draws of the calibration texts; scores are means over draws."""
_FOLDS = 4  # number of folds for cross-fitting inside the training data
_UNCALIBRATED = "not calibrated"

Measured = dict[str, Outcome]


class Study(NamedTuple):
    """A study of a task; `measure` scores a fold, and `rows` builds the table.

    `metrics` are the printed columns; if it is empty, those of the task are printed.
    """

    measure: Callable[[Task[Any, Any], Any, Preset, Fold], Measured]
    rows: Callable[[Task[Any, Any], str, str, Sequence[Measured]], list[Row]]
    metrics: tuple[str, ...] = ()


def study_folds(
    task: Task[Any, Any], corpus: Any, preset: str, variant: str, quick: bool
) -> list[Fold]:
    """Return the folds of a study; with `quick`, only the first one.

    These are the folds of the task. If they hold out no parts, the cases are split by part instead
    (see `split_parts`), unless the task defines a `study_condition`.
    """
    folds = task.folds(corpus, preset, variant, quick=True)
    if not task.study_condition and not all(fold.held_out for fold in folds):
        cases = task.prepare(corpus, task.presets.select(preset, variant))
        folds = split_parts(list(dict.fromkeys(each.part for each in cases)))
    return folds[:1] if quick else folds


def _cross_fit(
    chosen: Preset, cases: Sequence[Case], fold: Fold, follower: Follower
) -> list[HeldOutFold]:
    """Return cross-fitted folds by part or, if there is only one part, by demonstration."""
    known = [e for e in cases if e.learnable and e.part not in {*fold.held_out, *fold.unused}]
    parts = list(dict.fromkeys(each.part for each in known))
    if len(parts) < 2:
        return cross_fit(follower, [each.demonstration for each in known], _FOLDS)
    count, found = min(_FOLDS, len(parts)), []
    for number in range(count):
        out = set(parts[number::count])
        rest = [each.demonstration for each in known if each.part not in out]
        part = [each.demonstration for each in known if each.part in out]
        found.append(HeldOutFold(chosen.fit(rest, seed=fold.seed, check=False), rest, part))
    return found


# ---- asking -----------------------------------------------------------------------------------


def _judged(follower: Follower, cases: Sequence[Case]) -> list[Judged]:
    """Return the options and correct outcomes of each case for which a plan was found."""
    found: list[Judged | None] = [None] * len(cases)
    for length in dict.fromkeys(each.length for each in cases):
        places = [place for place, each in enumerate(cases) if each.length == length]
        used = follower
        if length is not None:
            search = replace(follower._fitted().search, min_length=length, max_length=length)
            used = follower.with_search(search)
        options = all_options(used, [cases[place].request for place in places])
        for place, each in zip(places, options, strict=True):
            kept = tuple(Option(o.outcome, o.probability, _NO_PLAN) for o in each)
            found[place] = (kept, right_outcomes(cases[place].demonstration))
    return [each for each in found if each is not None and each[0]]


_NO_PLAN = Plan((), (None,), 0.0, 1.0)  # replaces the plans of options, to save memory


def _measure_dialogue(task: Task[Any, Any], corpus: Any, chosen: Preset, fold: Fold) -> Measured:
    study = task.study_cases(corpus, chosen, fold) or _cross_fitted(task, corpus, chosen, fold)
    inside = [each for used, part in study.calibration for each in _judged(used, part)]
    parts = [study.test]
    if study.part:
        names = dict.fromkeys(each.part for each in study.test)
        parts = [[each for each in study.test if each.part == name] for name in names]
    groups = [_judged(study.follower, part) for part in parts]
    judged = [each for group in groups for each in group]
    missed = len(study.test) - len(judged)
    found: Measured = {}
    for coverage in COVERAGES:
        name = _percent(coverage)
        sets = _calibrated(inside, coverage)
        if sets is not None:
            found[name] = _share(evaluate(judged, sets), missed)
        own = [each for group in groups if (each := _own_part(group, coverage)) is not None]
        if own:
            found[f"{name}, own {study.part or task.part}"] = _share(
                DialogueScores.mean(own), missed
            )
    found[_UNCALIBRATED] = _share(evaluate(judged, None), missed)
    return found


def _cross_fitted(task: Task[Any, Any], corpus: Any, chosen: Preset, fold: Fold) -> StudyCases:
    """Return a follower trained on a fold, and cross-fitted cases of its training data."""
    cases = task.prepare(corpus, chosen)
    follower, _ = task.fit(chosen, cases, fold)
    case_of = {id(each.demonstration): each for each in cases}
    inside = [
        (cast(Follower, other), [case_of[id(each)] for each in part])
        for other, _, part in _cross_fit(chosen, cases, fold, follower)
    ]
    return StudyCases(follower, inside, [each for each in cases if each.part in fold.held_out])


def _percent(coverage: float) -> str:
    return f"{coverage:.0%}".replace("%", " %")


def _calibrated(cases: Sequence[Judged], coverage: float) -> PredictionSets | None:
    """Return calibrated prediction sets, or None if there are too few cases."""
    try:
        return PredictionSets.calibrate(cases, coverage)
    except DemonstrationError:
        return None


def _own_part(cases: Sequence[Judged], coverage: float) -> DialogueScores | None:
    """Return the scores after calibration on a random sample of the held-out texts.

    The remaining texts are scored. Scores are means over several samples.
    """
    dice, found = random.Random(0), []
    count = min(OWN, len(cases) * 2 // 3)
    for _ in range(DRAWS):
        drawn = dice.sample(range(len(cases)), len(cases))
        sets = _calibrated([cases[place] for place in drawn[:count]], coverage)
        if sets is None:
            return None
        found.append(evaluate([cases[place] for place in drawn[count:]], sets))
    return DialogueScores.mean(found)


def _share(scores: DialogueScores, missed: int) -> Outcome:
    """Return scores as fractions; texts without a plan count as unhelpful questions."""
    told, total = scores.to_dict(), scores.count + missed
    share = scores.count / total
    for name in ("coverage", "alone", "success_after_one_answer", "overask", "overstep"):
        told[name] *= share
    return {**told, "asked": 1.0 - told["alone"], "count": total}


def _dialogue_rows(
    task: Task[Any, Any], preset: str, variant: str, outcomes: Sequence[Measured]
) -> list[Row]:
    names = dict.fromkeys(row for each in outcomes for row in each)
    rows = []
    for row in sorted(names, key=lambda each: (each == _UNCALIBRATED, "own" in each)):
        found = [DialogueScores(**each[row]) for each in outcomes if row in each]
        rows.append(Row(row, DialogueScores.mean(found).to_dict()))
    return rows


# ---- speaking ---------------------------------------------------------------------------------


def _measure_speaker(task: Task[Any, Any], corpus: Any, chosen: Preset, fold: Fold) -> Measured:
    """Return how well an independent follower understands human and generated texts.

    Both kinds of text describe the same plans. The training data are split into halves that share
    no group. One half trains the speaker and its own listener; the other half trains the
    independent follower.
    """
    bleu = _corpus_bleu()
    cases = task.prepare(corpus, chosen)
    mine, yours = _halves(demonstrations(cases, {*fold.held_out, *fold.unused}))
    speaker = Speaker(chosen.fit(mine, seed=fold.seed, check=False))
    judge = chosen.fit(yours, seed=fold.seed, check=False)
    test = [each.demonstration for each in cases if each.part in fold.held_out]
    texts = []
    for each in test:
        way = CachedEnvironment(each.environment).trace(each.start, each.actions)
        plan = Plan(way.actions, way.states, 0.0, 1.0)
        texts.append(speaker.describe(plan, each.environment).text)
    told = [replace(each, instructions=t) for each, t in zip(test, texts, strict=True) if t]
    written = [
        e.instructions if isinstance(e.instructions, str) else " ".join(map(str, e.instructions))
        for e in test
    ]
    count = len(test)
    return {
        "human text": {"success": judge.score(test), "bleu": 1.0, "count": count},
        "generated text": {
            "success": judge.score(told) * len(told) / count if told else 0.0,
            "bleu": bleu(texts, written),
            "silent": 1 - len(told) / count,
            "count": count,
        },
    }


def _corpus_bleu() -> Callable[[list[str], list[str]], float]:
    try:
        import sacrebleu
    except ImportError as error:
        raise PluginError(
            "--speaker requires the package sacrebleu, which is not installed. Run `pip "
            "install sacrebleu`."
        ) from error

    def bleu(said: list[str], written: list[str]) -> float:
        return float(sacrebleu.corpus_bleu(said, [written], lowercase=True).score) / 100

    return bleu


def _halves(
    shown: Sequence[Demonstration], seed: int = 0
) -> tuple[list[Demonstration], list[Demonstration]]:
    """Return demonstrations in two halves that share no group, if there are several."""
    groups = sorted({each.group for each in shown})
    if len(groups) < 2:
        return list(shown[::2]), list(shown[1::2])
    random.Random(seed).shuffle(groups)
    first = set(groups[::2])
    return [d for d in shown if d.group in first], [d for d in shown if d.group not in first]


def _speaker_rows(
    task: Task[Any, Any], preset: str, variant: str, outcomes: Sequence[Measured]
) -> list[Row]:
    rows = []
    for row in ("human text", "generated text"):
        found = [each[row] for each in outcomes]
        metrics = {key: fmean(each[key] for each in found) for key in found[0]}
        rows.append(Row(row, metrics | {"count": sum(each["count"] for each in found)}))
    return rows


# ---- listening --------------------------------------------------------------------------------


def _measure_pragmatic(task: Task[Any, Any], corpus: Any, chosen: Preset, fold: Fold) -> Measured:
    """Return the scores with and without the pragmatic listener."""
    cases = task.prepare(corpus, chosen)
    follower, _ = task.fit(chosen, cases, fold)
    known = demonstrations(cases, {*fold.held_out, *fold.unused})
    folds = _cross_fit(chosen, cases, fold, follower)
    listener = PragmaticListener.learn(follower, known, cross_fitted=folds)
    test = [each for each in cases if each.part in fold.held_out]
    found: Measured = {}
    for name, used in (("", follower), (", pragmatic", listener)):
        plans = used.follow_many(each.request for each in test)
        scores = [(e.part, task.judge(e, plan)) for e, plan in zip(test, plans, strict=True)]
        found[name] = {"scores": scores, "seconds": [], "weight": listener.weight}
    return found


def _pragmatic_rows(
    task: Task[Any, Any], preset: str, variant: str, outcomes: Sequence[Measured]
) -> list[Row]:
    rows = []
    for added in ("", ", pragmatic"):
        row = task.make_row(preset, variant, [each[added] for each in outcomes])
        weights = {"weight": fmean(each[added]["weight"] for each in outcomes)} if added else {}
        rows.append(replace(row, name=f"{variant}{added}", metrics={**row.metrics, **weights}))
    return rows


_DIALOGUE = ("coverage", "alone", "options", "success_alone", "success_after_one_answer")
STUDIES: Mapping[str, Study] = {
    "dialogue": Study(_measure_dialogue, _dialogue_rows, _DIALOGUE),
    "speaker": Study(_measure_speaker, _speaker_rows, ("success", "bleu")),
    "pragmatic": Study(_measure_pragmatic, _pragmatic_rows),
}
"""Studies, by the name of their command-line option."""
