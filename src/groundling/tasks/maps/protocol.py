"""The protocol of the maps: train on some maps, follow the dialogues about the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from groundling.errors import ConvergenceWarning, CorpusError
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.language.parser import load_parser
from groundling.learning.training import ProgressCallback
from groundling.tasks.maps.corpus import Corpus, Dialogue
from groundling.tasks.maps.environment import Go, MapEnvironment
from groundling.tasks.maps.metrics import DialogueScore, PathScore, RunOutcome, score_path
from groundling.tasks.maps.names import NameMatcher
from groundling.tasks.maps.presets import Preset
from groundling.tasks.maps.reading import read_mentions, read_sentences
from groundling.tasks.trials import Seconds, Trial
from groundling.world.environment import Demonstration

__all__ = ["Answer", "deal_maps", "follow", "judge", "learn_and_follow", "prepare", "split"]


@dataclass(frozen=True)
class Answer:
    """What the follower did with one dialogue, and how much of it is right."""

    dialogue: Dialogue
    demonstration: Demonstration
    plan: Plan
    score: PathScore


def split(corpus: Corpus) -> tuple[list[Dialogue], list[Dialogue]]:
    """Return the dialogues to train on and those for test, about the last quarter of the maps."""
    train, test = corpus.split()
    if not train or not test:
        raise CorpusError(
            f"The corpus has {len(corpus.maps)} maps. The last quarter is for test, so at least "
            "four are needed, with dialogues about the first and the last ones."
        )
    return list(train), list(test)


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


def learn_and_follow(
    chosen: Preset,
    corpus: Corpus,
    train: Sequence[Dialogue],
    test: Sequence[Dialogue],
    *,
    seed: int = 0,
    threads: int = 1,
    progress: ProgressCallback | None = None,
) -> Trial[Answer]:
    """Train on some dialogues and follow others."""
    began = time.process_time()
    shown = prepare(chosen, corpus, train)
    with warnings.catch_warnings():
        # The presets say how many iterations there are; the paper's stop before they converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        follower = chosen.follower(seed=seed, threads=threads)
        follower.fit(shown, progress=progress, check=False)
    trained = time.process_time() - began
    done = follow(follower, chosen, corpus, test)
    return replace(done, seconds=done.seconds._replace(train=trained))


def follow(
    follower: Follower, chosen: Preset, corpus: Corpus, dialogues: Sequence[Dialogue]
) -> Trial[Answer]:
    """Follow dialogues and score what was done."""
    began = time.process_time()
    asked = prepare(chosen, corpus, dialogues)
    plans = follower.follow_many((e.instructions, e.environment, e.start) for e in asked)
    seconds = time.process_time() - began
    answers = tuple(
        Answer(dialogue, each, plan, _score(corpus, dialogue, plan))
        for dialogue, each, plan in zip(dialogues, asked, plans, strict=True)
    )
    return Trial(follower, answers, Seconds(0.0, seconds))


def _score(corpus: Corpus, dialogue: Dialogue, plan: Plan) -> PathScore:
    start = corpus.sheet(dialogue).landscape.start
    reference = [start, *(step.landmark for step in corpus.steps(dialogue))]
    done = [action.landmark for action in plan.actions if isinstance(action, Go)]
    return score_path([start, *done], reference)


def judge(trial: Trial[Answer]) -> RunOutcome:
    """Return what tables are made of."""
    scores = tuple(DialogueScore(each.dialogue.map, each.score) for each in trial.answers)
    return RunOutcome(scores, trial.seconds)


def deal_maps(maps: Collection[int], count: int = 4) -> list[tuple[int, ...]]:
    """Deal maps out to folds, one after another.

    >>> deal_maps(range(6), 3)
    [(0, 3), (1, 4), (2, 5)]
    """
    return [tuple(sorted(maps)[start::count]) for start in range(count)]
