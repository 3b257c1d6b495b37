"""What a task is: its corpus, its presets, how it is evaluated, and where it is followed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from groundling.evaluation.report import Row
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.tasks.presets import BasePreset, Presets
from groundling.world.environment import Action, Demonstration

__all__ = ["SAMPLE", "Fold", "Outcome", "Scene", "Task", "TrainingSet", "sample_count"]

SAMPLE = 1.0
"""The size of the generated samples, as a share of their usual size."""

Outcome = dict[str, Any]
"""What a fold of an evaluation found, as JSON."""

CorpusT = TypeVar("CorpusT")
PresetT = TypeVar("PresetT", bound=BasePreset)


@dataclass(frozen=True)
class TrainingSet:
    """What to learn from, and what is kept apart so that it can be followed unseen."""

    demonstrations: Sequence[Demonstration]
    left_out: str


class Fold(NamedTuple):
    """A part of an evaluation (a map left out, a seed, some splits) that needs no other.

    `seconds` is about how long it takes; only the order of work and estimates depend on it.
    """

    name: str
    seconds: float = 1.0


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

    def action_to_json(self, action: Action) -> Any:
        """Return an action as JSON: its text, unless the scene knows better."""
        return str(action)


class Task(ABC, Generic[CorpusT, PresetT]):
    """A task that can be trained, evaluated, tuned and followed from the command line.

    An installed package adds one by an entry point of the group `groundling.tasks`: the
    task's name, and where its class is (see `groundling.tasks.registry`).

    An evaluation falls into folds. Each gives an outcome in JSON for every variant of the
    preset, and a row of the table is made of the outcomes of all folds; so they can run
    anywhere, and those that are done can be kept.
    """

    # Every task sets these.
    name: ClassVar[str]  # as in its entry point
    about: ClassVar[str]  # what it is, and what its metrics mean
    metrics: ClassVar[tuple[str, ...]]  # what tables show; intervals are of the last one
    presets: Presets[PresetT]

    # Some may set these.
    corpus: ClassVar[str] = ""  # its folder among the corpora, if there is one
    tables_only: ClassVar[tuple[str, ...]] = ()  # presets to be evaluated but not trained
    quick_variants: ClassVar[tuple[str, ...]] = (
        "full", "no planning", "no grounding graphs", "no text"
    )  # fmt: skip

    # ---- data --------------------------------------------------------------------------

    @abstractmethod
    def load(self, folder: Path | None, size: float | None = None) -> CorpusT:
        """Read the corpus from the folder of the corpora, or generate a sample of some size."""

    @abstractmethod
    def training_set(self, corpus: CorpusT, chosen: PresetT, left_out: str | None) -> TrainingSet:
        """Return what to learn from; without a wish, a default part is left out."""

    # ---- evaluation --------------------------------------------------------------------

    @abstractmethod
    def folds(self, corpus: CorpusT, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the folds of an evaluation."""

    @abstractmethod
    def evaluate_fold(
        self, corpus: CorpusT, preset: str, variants: Sequence[str], fold: str
    ) -> dict[str, Outcome]:
        """Evaluate variants that learn alike on a fold; return the outcome of each."""

    @abstractmethod
    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the outcomes of all folds together into a row of the table."""

    @abstractmethod
    def condition(self, corpus: CorpusT, preset: str, quick: bool) -> str:
        """Say in a few words how the figures come about."""

    def shown_metrics(self, preset: str) -> tuple[str, ...]:
        """Return the metrics that the table of a preset shows; intervals are of the last one."""
        return self.metrics

    # ---- tuning ------------------------------------------------------------------------

    @abstractmethod
    def tuning_folds(self, corpus: CorpusT) -> list[str]:
        """Return the parts of the training data that tuning leaves out in turn."""

    @abstractmethod
    def try_out(self, corpus: CorpusT, chosen: PresetT, fold: str) -> float:
        """Learn from the rest of the training data; return the score on a part of it."""

    # ---- following ---------------------------------------------------------------------

    @abstractmethod
    def scene(
        self, corpus: CorpusT, chosen: PresetT, where: str | None, start: str | None
    ) -> Scene:
        """Return a place to follow instructions in."""


def sample_count(usual: int, least: int, size: float | None) -> int:
    """Return how many things a generated sample has.

    >>> sample_count(240, 6, 0.5), sample_count(240, 6, 0.001)
    (120, 6)
    """
    return max(least, int(usual * (SAMPLE if size is None else size)))
