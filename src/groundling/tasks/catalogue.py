"""What the command line and `reproduce` ask of every task, and the three tasks by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from groundling.errors import SettingError, did_you_mean
from groundling.evaluation.report import Row
from groundling.follower import Follower
from groundling.inference.plan import Plan
from groundling.world.environment import Demonstration

__all__ = ["SAMPLE", "TASKS", "Lesson", "Scene", "Task", "changed", "get_task", "sample_count"]

TASKS = ("mazes", "maps", "puzzles")
SAMPLE = 1.0
"""The size of the generated samples, in parts of their usual size."""

Outcome = dict[str, Any]
"""What a part of an evaluation found, as JSON."""


@dataclass(frozen=True)
class Lesson:
    """What to learn from, and what is kept apart so that it can be followed unseen."""

    demonstrations: Sequence[Demonstration]
    left_out: str


class Scene(ABC):
    """A place in which instructions are followed: a maze, a map, a puzzle."""

    name: str
    """Where it is, such as `map Jelly`."""

    @abstractmethod
    def describe(self) -> str:
        """Return a line of text about how it begins."""

    @abstractmethod
    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Follow what was said, and return the plans one after another: one, or one a line."""

    @abstractmethod
    def draw(self, plans: Sequence[Plan], file: Path, title: str = "") -> None:
        """Draw the plans into a file."""


class Task(ABC):
    """A task: its corpus, its presets, how it is evaluated, and where it is followed.

    An evaluation falls into parts (a map left out, a seed, some splits) that need nothing
    of each other. Each gives an outcome in JSON, and a row is made of the outcomes of its
    parts; so they can run anywhere, and those that are done can be kept.
    """

    # Every task sets these.
    name: ClassVar[str]
    about: ClassVar[str]
    corpus: ClassVar[str]  # its folder among the corpora
    metrics: ClassVar[tuple[str, ...]]  # what tables show; intervals are of the last one

    # Some may set these.
    presets: ClassVar[tuple[str, ...]] = ("paper", "best")
    tables: ClassVar[tuple[str, ...]] = presets  # what is evaluated: presets, and perhaps more
    quick_rows: ClassVar[tuple[str, ...]] = (
        "full", "no planning", "no grounding graphs", "no text"
    )  # fmt: skip

    @abstractmethod
    def load(self, folder: Path | None, size: float | None = None) -> Any:
        """Read the corpus from the folder of the corpora, or generate a sample of some size."""

    @abstractmethod
    def preset(self, name: str, row: str = "full") -> Any:
        """Return the settings of a row."""

    @abstractmethod
    def rows(self, preset: str) -> tuple[str, ...]:
        """Return the names of the rows of a preset."""

    def groups(self, preset: str, rows: Sequence[str]) -> list[tuple[str, ...]]:
        """Return rows that are better evaluated together, since they learn alike."""
        return [(row,) for row in rows]

    def shown(self, preset: str) -> tuple[str, ...]:
        """Return the metrics that a table shows; intervals are of the last one."""
        return self.metrics

    @abstractmethod
    def parts(self, corpus: Any, preset: str, row: str, quick: bool) -> list[tuple[str, float]]:
        """Return the parts of an evaluation, each with about how many seconds it takes."""

    @abstractmethod
    def run(self, corpus: Any, preset: str, rows: Sequence[str], part: str) -> dict[str, Outcome]:
        """Run one part of an evaluation; return the outcome of each row."""

    @abstractmethod
    def row(self, preset: str, row: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the outcomes of all parts together."""

    @abstractmethod
    def condition(self, corpus: Any, preset: str, quick: bool) -> str:
        """Say in a few words how the figures come about."""

    @abstractmethod
    def lesson(self, corpus: Any, chosen: Any, left_out: str | None) -> Lesson:
        """Return what to learn from; without a wish, a default part is left out."""

    @abstractmethod
    def scene(self, corpus: Any, chosen: Any, where: str | None, start: str | None) -> Scene:
        """Return a place to follow instructions in."""

    @abstractmethod
    def inner_parts(self, corpus: Any) -> list[str]:
        """Return the parts of the training data that tuning leaves out in turn."""

    @abstractmethod
    def try_out(self, corpus: Any, chosen: Any, part: str) -> float:
        """Learn from the rest of the training data; return the score on a part of it."""


def sample_count(usual: int, least: int, size: float | None) -> int:
    """Return how many things a generated sample has.

    >>> sample_count(240, 6, 0.5), sample_count(240, 6, 0.001)
    (120, 6)
    """
    return max(least, int(usual * (SAMPLE if size is None else size)))


def get_task(name: str) -> Task:
    """Return a task by its name.

    >>> get_task("mazes").metrics
    ('micro', 'macro')
    >>> get_task("maze")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no task 'maze'. Did you mean 'mazes'?
    """
    if name not in TASKS:
        raise SettingError(f"There is no task {name!r}.{did_you_mean(name, TASKS)}")
    task: Task = import_module(f"groundling.tasks.{name}.task").TASK
    return task


def changed(chosen: Any, changes: Iterable[tuple[str, Any]]) -> Any:
    """Return settings with some of them changed, such as `learning.l2`.

    >>> paper = get_task("mazes").preset("paper")
    >>> changed(paper, [("learning.l1", 0.5)]).learning.l1
    0.5
    >>> changed(paper, [("learning.iteration", 5)])
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no setting 'learning.iteration'. Did you mean
    'iterations'?
    """
    for path, value in changes:
        chosen = _changed(chosen, path.split("."), value, path)
    return chosen


def _changed(settings: Any, names: Sequence[str], value: Any, path: str) -> Any:
    known = getattr(settings, "__dataclass_fields__", ())
    if names[0] not in known:
        raise SettingError(f"There is no setting {path!r}.{did_you_mean(names[0], known)}")
    if len(names) > 1:
        value = _changed(getattr(settings, names[0]), names[1:], value, path)
    return replace(settings, **{names[0]: value})
