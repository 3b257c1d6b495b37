"""The protocol of the mazes: train on all maps but one, follow the sentences of that one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from groundling.explain.explanation import Plan
from groundling.language.instruction import Instruction
from groundling.language.languages import ENGLISH
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.learning.training import ProgressCallback
from groundling.tasks.mazes.corpus import Sail, start_as_published
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.metrics import MapOutcome
from groundling.tasks.mazes.presets import Preset
from groundling.tasks.trials import Seconds, Trial
from groundling.world.environment import Demonstration

__all__ = ["Answer", "ends_right", "judge", "leave_out", "prepare_sentences", "training_sentences"]


@dataclass(frozen=True)
class Answer:
    """What the follower did with one sentence, and whether it was right."""

    demonstration: Demonstration
    plan: Plan
    right: bool


def prepare_sentences(chosen: Preset, sail: Sail) -> dict[str, list[Demonstration]]:
    """Return the single sentences of each map as a preset wants them."""
    parser = load_parser(chosen.parser)
    prepared = {}
    for name, corpus in sail.mazes.items():
        world = chosen.world(corpus.environment.maze)
        found = []
        texts = parser.parse_many([" ".join(map(str, d.instructions)) for d in corpus.sentences])
        for each, parsed in zip(corpus.sentences, texts, strict=True):
            text: Sequence[Instruction] = parsed
            if chosen.split_commands:
                text = [part for sentence in parsed for part in split_commands(sentence, ENGLISH)]
            demonstration = replace(
                each,
                instructions=tuple(text),
                environment=world,
                group=each.name.rsplit("-", 1)[0],
            )
            if chosen.published_start:
                demonstration = start_as_published(demonstration)
            found.append(demonstration)
        prepared[name] = found
    return prepared


def training_sentences(
    chosen: Preset, sentences: Mapping[str, Sequence[Demonstration]], left_out: str
) -> list[Demonstration]:
    """Return what a preset learns from: the sentences of all maps but one."""
    shown = [each for name, found in sentences.items() if name != left_out for each in found]
    if chosen.train_within_limit:
        shown = [each for each in shown if len(each.actions) <= chosen.search.longest]
    return shown


def leave_out(
    chosen: Preset,
    sentences: Mapping[str, Sequence[Demonstration]],
    left_out: str,
    *,
    seed: int = 0,
    threads: int = 1,
    progress: ProgressCallback | None = None,
) -> Trial[Answer]:
    """Train on all maps but one and follow the sentences of that one."""
    shown = training_sentences(chosen, sentences, left_out)
    began = time.process_time()
    follower = chosen.follower(seed=seed, threads=threads)
    follower.fit(shown, progress=progress, check=False)
    trained = time.process_time()
    test = sentences[left_out]
    plans = follower.follow_many((e.instructions, e.environment, e.start) for e in test)
    done = time.process_time()
    answers = tuple(
        Answer(each, plan, ends_right(each, plan)) for each, plan in zip(test, plans, strict=True)
    )
    return Trial(follower, answers, Seconds(trained - began, done - trained))


def ends_right(shown: Demonstration, plan: Plan) -> bool:
    """Tell whether a plan ends as a demonstration does, in place and direction."""
    world = shown.environment
    assert isinstance(world, MazeEnvironment)
    state = shown.start
    for action in shown.actions:
        state = world.step(state, action)
    return world.outcome(plan.end) == world.outcome(state)  # type: ignore[arg-type]


def judge(maze: str, trial: Trial[Answer]) -> MapOutcome:
    """Return what tables are made of."""
    return MapOutcome(maze, tuple(each.right for each in trial.answers), trial.seconds)
