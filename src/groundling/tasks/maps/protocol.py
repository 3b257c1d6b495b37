"""The protocol of the maps: train on some maps, follow the dialogues about the others.

`python -m groundling.tasks.maps.protocol CORPUS results/maps-best.json --preset best` runs it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev

from groundling import __version__
from groundling.errors import ConvergenceWarning, CorpusError, SettingError
from groundling.evaluation.report import Report, Row
from groundling.follower import Follower
from groundling.inference.plan import Plan
from groundling.language.parser import load_parser
from groundling.learning.training import ProgressCallback
from groundling.tasks.maps.corpus import Corpus, Dialogue, load_corpus
from groundling.tasks.maps.environment import Go, MapEnvironment
from groundling.tasks.maps.metrics import PathScore, bootstrap, score_by_map, score_path
from groundling.tasks.maps.names import NameMatcher
from groundling.tasks.maps.presets import PRESETS, Preset, preset, row_names
from groundling.tasks.maps.reading import read_mentions, read_sentences
from groundling.world.environment import Demonstration

__all__ = ["Answer", "Run", "cross_validate", "evaluate", "folds", "prepare", "run", "table_row"]


@dataclass(frozen=True)
class Answer:
    """What the follower did with one dialogue, and how much of it is right."""

    dialogue: Dialogue
    demonstration: Demonstration
    plan: Plan
    score: PathScore


@dataclass(frozen=True)
class Run:
    """A follower trained on some dialogues, and its answers to others."""

    follower: Follower
    answers: tuple[Answer, ...]
    train_seconds: float
    test_seconds: float

    @property
    def score(self) -> PathScore:
        """The score of all answers together."""
        return sum((answer.score for answer in self.answers), PathScore())

    def by_map(self) -> dict[int, PathScore]:
        """Return the score of each map."""
        return score_by_map(
            [answer.score for answer in self.answers],
            [answer.dialogue.map for answer in self.answers],
        )


def prepare(chosen: Preset, corpus: Corpus, dialogues: Iterable[Dialogue]) -> list[Demonstration]:
    """Return dialogues as demonstrations, read as a preset wants them."""
    parser = load_parser(chosen.parser)
    worlds: dict[int, MapEnvironment] = {}
    matchers: dict[int, NameMatcher] = {}
    found = []
    for each in dialogues:
        landscape = corpus.sheet(each).landscape
        if each.map not in worlds:
            worlds[each.map] = MapEnvironment(landscape, **chosen.environment)
            matchers[each.map] = NameMatcher(landscape, fuzzy=chosen.fuzzy)
        world = worlds[each.map]
        if chosen.units == "sentences":
            text = read_sentences(each, parser)
        else:
            text = read_mentions(
                each, landscape, speakers=chosen.speakers, matcher=matchers[each.map]
            )
        if not text:
            raise CorpusError(
                f"The dialogue {each.name!r} has no giver lines among its "
                f"{len(each.utterances)} utterances, so nobody says where to go."
            )
        actions = world.plan(corpus.steps(each))
        found.append(
            Demonstration(
                text, world, world.start, actions, name=each.name, group=f"map {each.map}"
            )
        )
    return found


def run(
    chosen: Preset,
    corpus: Corpus,
    train: Sequence[Dialogue],
    test: Sequence[Dialogue],
    *,
    seed: int = 0,
    threads: int = 1,
    progress: ProgressCallback | None = None,
) -> Run:
    """Train on some dialogues and follow others; seconds are of the processor."""
    began = time.process_time()
    shown = prepare(chosen, corpus, train)
    with warnings.catch_warnings():
        # The presets say how many iterations there are; the paper's stop before they converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        follower = chosen.follower(seed=seed, threads=threads).fit(shown, progress=progress)
    trained = time.process_time()
    return replace(follow(follower, chosen, corpus, test), train_seconds=trained - began)


def follow(
    follower: Follower, chosen: Preset, corpus: Corpus, dialogues: Sequence[Dialogue]
) -> Run:
    """Follow dialogues and score what was done."""
    began = time.process_time()
    asked = prepare(chosen, corpus, dialogues)
    plans = follower.follow_many((e.instructions, e.environment, e.start) for e in asked)
    seconds = time.process_time() - began
    answers = tuple(
        Answer(dialogue, each, plan, _score(corpus, dialogue, plan))
        for dialogue, each, plan in zip(dialogues, asked, plans, strict=True)
    )
    return Run(follower, answers, 0.0, seconds)


def _score(corpus: Corpus, dialogue: Dialogue, plan: Plan) -> PathScore:
    start = corpus.sheet(dialogue).landscape.start
    reference = [start, *(step.landmark for step in corpus.steps(dialogue))]
    done = [action.landmark for action in plan.actions if isinstance(action, Go)]
    return score_path([start, *done], reference)


def folds(maps: Collection[int], count: int = 4) -> list[tuple[int, ...]]:
    """Deal maps out to folds, one after another.

    >>> folds(range(6), 3)
    [(0, 3), (1, 4), (2, 5)]
    """
    return [tuple(sorted(maps)[start::count]) for start in range(count)]


def cross_validate(
    chosen: Preset,
    corpus: Corpus,
    dialogues: Sequence[Dialogue],
    *,
    count: int = 4,
    seed: int = 0,
    threads: int = 1,
) -> list[Run]:
    """Leave out a part of the maps at a time; nothing of the test maps is looked at."""
    runs = []
    for left_out in folds({each.map for each in dialogues}, count):
        train = [each for each in dialogues if each.map not in left_out]
        test = [each for each in dialogues if each.map in left_out]
        runs.append(run(chosen, corpus, train, test, seed=seed, threads=threads))
    return runs


def evaluate(
    corpus: Corpus | str | Path,
    name: str,
    rows: Sequence[str] = (),
    *,
    seeds: int | None = None,
    threads: int = 1,
    save: str | Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Report:
    """Evaluate rows of a preset: train on the first three quarters of the maps, test on the rest.

    The metrics are means over seeds; `best` involves no chance and has one. The interval
    is a bootstrap of the F1 over the test dialogues of all seeds. With `save`, the report
    so far is written after every row.
    """
    if not isinstance(corpus, Corpus):
        corpus = load_corpus(corpus)
    train, test = corpus.split()
    if not train or not test:
        raise CorpusError(
            f"The corpus has {len(corpus.maps)} maps. The last quarter is for test, so at least "
            "four are needed, with dialogues about the first and the last ones."
        )
    if seeds is not None and seeds < 1:
        raise SettingError(f"seeds is {seeds}; there is at least one.")
    began = time.time()
    made: list[Row] = []
    trained: list[tuple[Preset, int, Run]] = []
    speakers = "giver and follower" if name == "best" else "giver"
    condition = f"{len(test)} dialogues about maps not trained on; lines of the {speakers}"
    chosen_rows = [(row, preset(name, row)) for row in rows or row_names(name)]
    for row, chosen in chosen_rows:
        count = seeds or (5 if chosen.learning.alignment == "viterbi" else 1)
        runs = []
        for seed in range(count):
            alike = [r for other, s, r in trained if s == seed and _learn_alike(other, chosen)]
            if alike:
                # Rows that differ in how they search need not learn again.
                follower = alike[0].follower
                follower.search = chosen.search
                done = follow(follower, chosen, corpus, test)
                done = replace(done, train_seconds=alike[0].train_seconds)
            else:
                done = run(chosen, corpus, train, test, seed=seed, threads=threads)
                trained.append((chosen, seed, done))
            tell(
                f"{name}, {row}, seed {seed}: {done.score} "
                f"(trained in {done.train_seconds:.1f} s, followed in {done.test_seconds:.1f} s)"
            )
            runs.append(done)
        made.append(table_row(row, chosen, runs))
        report = Report("maps", name, condition, tuple(made), time.time() - began, __version__)
        if save is not None:
            report.save(save)
    return report


def _learn_alike(one: Preset, other: Preset) -> bool:
    return replace(one, search=other.search, published=other.published) == other


def table_row(name: str, chosen: Preset, runs: Sequence[Run]) -> Row:
    """Put what was answered together into a row of the table."""
    scores = [each.score for each in runs]
    metrics = {
        "precision": mean(score.precision for score in scores),
        "recall": mean(score.recall for score in scores),
        "f1": mean(score.f1 for score in scores),
    }
    if len(runs) > 1:
        metrics["f1 sd"] = stdev(score.f1 for score in scores)
    for number in runs[0].by_map():
        metrics[f"map {number}"] = mean(each.by_map()[number].f1 for each in runs)
    # Means over seeds are drawn dialogue by dialogue, so that seeds do not pass for data.
    summed = [
        sum((each.answers[place].score for each in runs), PathScore())
        for place in range(len(runs[0].answers))
    ]
    low, high = bootstrap(summed)
    return Row(name, metrics, (low, high), len(runs), chosen.published)


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate a preset from the command line; the report is saved after every row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", type=Path, help="the folder of the corpus")
    parser.add_argument("out", type=Path, help="where the report goes, as JSON")
    parser.add_argument("--preset", default="best", choices=list(PRESETS))
    parser.add_argument("--rows", default="", help="rows, with commas between; all if left out")
    parser.add_argument("--seeds", type=int, help="how many seeds; 5 or 1 if left out")
    settings = parser.parse_args(arguments)
    rows = [row.strip() for row in settings.rows.split(",") if row.strip()]
    report = evaluate(
        settings.corpus, settings.preset, rows, seeds=settings.seeds, save=settings.out, tell=print
    )
    print(report.markdown())


if __name__ == "__main__":
    main()
