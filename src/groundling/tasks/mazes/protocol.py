"""The protocol of the mazes: train on all maps but one, follow the sentences of that one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from groundling import __version__
from groundling.evaluation.report import Report, Row, bootstrap
from groundling.follower import Follower
from groundling.inference.plan import Plan
from groundling.language.instruction import Instruction
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.learning.training import ProgressCallback
from groundling.tasks.mazes.corpus import Sail, start_as_published
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.presets import Preset, preset
from groundling.world.environment import Demonstration

__all__ = ["Answer", "Fold", "evaluate_sentences", "fold", "prepare_sentences", "table_row"]


@dataclass(frozen=True)
class Answer:
    """What the follower did with one sentence, and whether it was right."""

    demonstration: Demonstration
    plan: Plan
    right: bool


@dataclass(frozen=True)
class Fold:
    """One map left out: the follower trained on the others, and its answers there."""

    maze: str
    follower: Follower
    answers: tuple[Answer, ...]
    train_seconds: float
    test_seconds: float

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return sum(answer.right for answer in self.answers) / len(self.answers)


def prepare_sentences(chosen: Preset, sail: Sail) -> dict[str, list[Demonstration]]:
    """Return the single sentences of each map as a preset wants them."""
    parser = load_parser(chosen.parser)
    prepared = {}
    for name, corpus in sail.mazes.items():
        world = MazeEnvironment(corpus.environment.maze, **chosen.environment)
        found = []
        texts = parser.parse_many([" ".join(map(str, d.instructions)) for d in corpus.sentences])
        for each, parsed in zip(corpus.sentences, texts, strict=True):
            text: Sequence[Instruction] = parsed
            if chosen.split_commands:
                text = [part for sentence in parsed for part in split_commands(sentence)]
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


def fold(
    chosen: Preset,
    sentences: dict[str, list[Demonstration]],
    left_out: str,
    *,
    seed: int = 0,
    threads: int = 1,
    progress: ProgressCallback | None = None,
) -> Fold:
    """Train on all maps but one and follow the sentences of that one."""
    train = [each for name, found in sentences.items() if name != left_out for each in found]
    limit = chosen.search.max_length
    if chosen.learning.normalise == "decisions":
        # The authors' program learns from what it can also produce.
        train = [each for each in train if len(each.actions) <= limit]
    began = time.process_time()
    follower = chosen.follower(seed=seed, threads=threads).fit(train, progress=progress)
    trained = time.process_time()
    test = sentences[left_out]
    plans = follower.follow_many((e.instructions, e.environment, e.start) for e in test)
    done = time.process_time()
    answers = tuple(
        Answer(each, plan, _right(each, plan)) for each, plan in zip(test, plans, strict=True)
    )
    return Fold(left_out, follower, answers, trained - began, done - trained)


def _right(demonstration: Demonstration, plan: Plan) -> bool:
    world = demonstration.environment
    assert isinstance(world, MazeEnvironment)
    state = demonstration.start
    for action in demonstration.actions:
        state = world.step(state, action)  # type: ignore[arg-type]
    return world.outcome(plan.end) == world.outcome(state)  # type: ignore[arg-type]


def evaluate_sentences(
    sail: Sail,
    name: str,
    rows: Sequence[str],
    *,
    seed: int = 0,
    threads: int = 1,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Report, dict[str, list[Fold]]]:
    """Evaluate rows of a preset, leaving one map out at a time."""
    began = time.time()
    made, folds = [], {}
    for row in rows:
        chosen = preset(name, row)
        sentences = prepare_sentences(chosen, sail)
        found = []
        for left_out in sentences:
            done = fold(chosen, sentences, left_out, seed=seed, threads=threads)
            tell(
                f"{name}, {row}: {left_out} {done.accuracy:.4f} "
                f"(trained in {done.train_seconds:.1f} s, followed in {done.test_seconds:.1f} s)"
            )
            found.append(done)
        folds[row] = found
        made.append(table_row(row, found, chosen.published))
    condition = "single sentences, one map left out"
    return Report("mazes", name, condition, made, time.time() - began, __version__), folds


def table_row(name: str, folds: Sequence[Fold], published: float | None) -> Row:
    """Put what was answered together into a row of the table."""
    per_map = {each.maze: each.accuracy for each in folds}
    rights = [(each.maze, answer.right) for each in folds for answer in each.answers]

    def macro(items: Sequence[tuple[str, bool]]) -> float:
        by_map: dict[str, list[bool]] = {}
        for maze, right in items:
            by_map.setdefault(maze, []).append(right)
        return sum(sum(each) / len(each) for each in by_map.values()) / len(by_map)

    metrics = {
        "macro": sum(per_map.values()) / len(per_map),
        "micro": sum(right for _, right in rights) / len(rights),
        **per_map,
    }
    interval = bootstrap(rights, macro, draws=400)
    return Row(name, metrics, interval, published={} if published is None else {"macro": published})
