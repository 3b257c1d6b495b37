"""Base class of tasks: data, evaluation, tables and scenes.

To add a task, derive a class from `Task` and define `load` and `prepare`. All other methods have
defaults; the ones most often replaced are `judge` and `read`. Pictures require that the task's
environment has a method `draw`.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from groundling.errors import (
    ConvergenceWarning,
    GroundlingError,
    SearchError,
    SettingError,
    did_you_mean,
)
from groundling.evaluation.report import Row, bootstrap
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.plan import Plan
from groundling.tasks.presets import FULL, Preset, Presets
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, Demonstration, Environment, State
from groundling.world.judgement import is_right

SAMPLE = 1.0
"""Size of generated samples, relative to the default."""
FOLDS = 5

Source = Path | tuple[str, ...] | None
"""Folder of a corpus, files of demonstrations, or None for the generated sample."""
Score = dict[str, float]
"""Metrics of one plan, by name."""
Outcome = dict[str, Any]
"""Result of one fold as JSON: `scores` is a list of pairs (part, score); `seconds` is the time."""

CorpusT = TypeVar("CorpusT")
PresetT = TypeVar("PresetT", bound=Preset)


@dataclass(frozen=True)
class Case:
    """A demonstration prepared for a preset, with its part of the corpus.

    Parameters
    ----------
    demonstration
        The demonstration.
    part
        The map, puzzle or level to which the case belongs; parts are held out as a whole.
    environment
        Environment in which the text is followed; defaults to that of the demonstration.
    length
        Number of actions of the plan, if the follower may know it.
    learnable
        Whether the case can be used for training; False if the plan is outside the plan space.
    reference
        Further data that `Task.judge` needs.
    """

    demonstration: Demonstration
    part: str
    environment: Environment | None = None
    length: int | None = None
    learnable: bool = True
    reference: Any = None

    @property
    def request(self) -> tuple[Text, Environment, State]:
        """Arguments of `Follower.follow`: the text, the environment and the initial state."""
        shown = self.demonstration
        return shown.instructions, self.environment or shown.environment, shown.start


class Fold(NamedTuple):
    """One training run with its test data; folds do not depend on each other.

    Parts that are neither `held_out` nor `unused` are used for training. `seconds` is the estimated
    run time, which orders jobs and scales the progress bar.
    """

    name: str
    held_out: tuple[str, ...] = ()
    seed: int = 0
    unused: tuple[str, ...] = ()
    seconds: float = 1.0


class StudyCases(NamedTuple):
    """Followers for a dialogue study, with cases on which they were not trained.

    `follower` is evaluated on the `test` cases. `calibration` lists followers, each with cases of
    the training data that were held out from its training. `part` is the word for a group of test
    cases, such as *map*. If it is set, each group is also calibrated separately, on some of its
    own texts.
    """

    follower: Follower
    calibration: list[tuple[Follower, list[Case]]]
    test: list[Case]
    part: str = ""


@dataclass
class Scene:
    """An environment and an initial state, for following a series of instructions.

    Each instruction starts in the final state of the previous one. `read` converts typed lines to
    the texts to follow. `examples` are example instructions.
    """

    name: str
    environment: Environment
    start: State
    read: Callable[[Sequence[str]], Sequence[Text]] = tuple
    examples: tuple[str, ...] = ()
    action_to_json: Callable[[Action], Any] = str

    def describe(self) -> str:
        """Return a one-line description of the initial state."""
        return CachedEnvironment(self.environment).describe(self.start)

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Return the plan of each line; each plan starts where the previous one ends."""
        state, plans = self.start, []
        for text in self.read(lines):
            plans.append(follower.follow(text, self.environment, state, length=length))
            state = self.restart(plans[-1].end)
        return plans

    def restart(self, state: State) -> State:
        """Return the state in which the next text starts, given the final state of a plan."""
        return state

    def draw(self, plans: Sequence[Plan]) -> str:
        """Return an SVG drawing of the final state and of the path to it."""
        from groundling.svg import draw_way

        way = [self.start, *(state for plan in plans for state in plan.states[1:])]
        return draw_way(self.environment, way)


@dataclass(frozen=True)
class DemoRequest:
    """An example instruction for the demo's unseen world, with an explanation."""

    name: str
    text: str
    start: State
    remark: str


@dataclass(frozen=True)
class DemoWorld:
    """A generated world for the command `groundling demo` and for the studio.

    The held-out texts in the `unseen` environment are `sentences` (single sentences) and `routes`
    (two sentences each). `draw` draws a plan in this environment. `follower` creates the untrained
    follower for a parser. `words` are the words whose weights the demo prints. The studio shows
    `scenes` and suggests `examples`.
    """

    title: str
    part: str  # noun for one environment
    unseen: Any
    training: tuple[Demonstration, ...]
    sentences: tuple[Demonstration, ...]
    routes: tuple[Demonstration, ...]
    requests: tuple[DemoRequest, ...]
    scenes: tuple[Scene, ...]
    follower: Callable[[str], Follower]
    draw: Callable[[Plan], str]
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


class Task(ABC, Generic[CorpusT, PresetT]):
    """Base class of a benchmark task that all commands can use.

    A package adds a task with an entry point of the group `groundling.tasks` (see
    `groundling.tasks.task_registry`).

    An evaluation consists of folds. Each fold returns one JSON outcome for every row of the results
    table, and the outcomes of all folds are combined into the row. Folds can run on different
    machines, and finished folds are reused.
    """

    # Set by every task.
    name: str  # name of the entry point
    about: str  # description of the task and its metrics
    metrics: tuple[str, ...]  # columns of the tables; the interval is for the last one
    presets: Presets[PresetT]

    # Set by some tasks.
    corpus: ClassVar[str] = ""  # folder of the corpus, if there is one
    part: ClassVar[str] = "part"  # noun for a part of the corpus
    showcase: ClassVar[tuple[str, ...]] = ()  # parts that the studio offers if none is held out
    tables_only: ClassVar[tuple[str, ...]] = ()  # presets that can be evaluated but not trained
    quick_variants: ClassVar[tuple[str, ...]] = (
        "full", "no planning", "no grounding graphs", "no text"
    )  # fmt: skip

    # ---- data --------------------------------------------------------------------------

    @abstractmethod
    def load(self, source: Any, size: float | None = None) -> CorpusT:
        """Return the corpus in a folder, or a generated sample if `source` is None."""

    @abstractmethod
    def prepare(self, corpus: CorpusT, chosen: PresetT) -> list[Case]:
        """Return all cases of the corpus, prepared for a preset."""

    def parts(self, corpus: CorpusT) -> list[str]:
        """Return the names of the parts that can be held out, in order."""
        return list(dict.fromkeys(each.part for each in self.prepare(corpus, self.default())))

    def held_out(self, corpus: CorpusT) -> tuple[str, ...]:
        """Return the parts that training holds out by default: the last fifth."""
        parts = self.parts(corpus)
        return tuple(parts[len(parts) - len(parts) // FOLDS :])

    def find_parts(self, corpus: CorpusT, names: str) -> tuple[str, ...]:
        """Return the names in a comma-separated list; raise an error for unknown parts."""
        known = {each.casefold(): each for each in self.parts(corpus)}
        found = []
        for name in filter(None, map(str.strip, names.split(","))):
            plain = name.casefold().removeprefix(self.part).strip()
            if plain not in known:
                hint = did_you_mean(name, list(known.values()))
                raise SettingError(f"There is no {self.part} {name!r}.{hint}")
            found.append(known[plain])
        return tuple(found)

    def default(self) -> PresetT:
        """Return the settings of the row that is trained by default."""
        return self.presets.select(self.presets.default)

    # ---- one fold: prepare, fit, follow, judge -------------------------------------------

    def folds(self, corpus: CorpusT, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the folds of an evaluation, by default five that hold out whole parts."""
        return split_parts(self.parts(corpus))

    def evaluate(
        self, corpus: CorpusT, chosen: Mapping[str, PresetT], fold: Fold
    ) -> dict[str, Outcome]:
        """Train once on a fold, and return the outcome of each row."""
        first, *_ = chosen.values()
        cases = self.prepare(corpus, first)
        follower, seconds = self.fit(first, cases, fold)
        found = {}
        for variant, each in chosen.items():
            used = follower if each is first else follower.with_search(each.search)
            found[variant] = self.follow(used, cases, fold.held_out)
            found[variant]["seconds"].insert(0, seconds)
        return found

    def fit(self, chosen: PresetT, cases: Iterable[Case], fold: Fold) -> tuple[Follower, float]:
        """Return a follower trained on a fold, and the processor time of training."""
        shown = demonstrations(cases, {*fold.held_out, *fold.unused})
        began = time.process_time()
        with warnings.catch_warnings():
            # Presets limit the iterations, so training may stop before convergence on purpose.
            warnings.simplefilter("ignore", ConvergenceWarning)
            follower = chosen.fit(shown, seed=fold.seed, check=False)
        return follower, time.process_time() - began

    def follow(self, follower: Follower, cases: Iterable[Case], parts: Collection[str]) -> Outcome:
        """Follow the cases in the given parts; return their scores and the processor time."""
        test = [each for each in cases if each.part in parts]
        began = time.process_time()
        plans = follow_cases(follower, test)
        seconds = time.process_time() - began
        pairs = list(zip(test, plans, strict=True))
        scores = [(each.part, self.judge(each, plan)) for each, plan in pairs]
        remarks = [self.remark(each, plan) for each, plan in pairs]
        return {
            "scores": scores,
            "seconds": [seconds],
            "mistakes": [each for each in remarks if each is not None],
        }

    def study_cases(self, corpus: CorpusT, chosen: PresetT, fold: Fold) -> StudyCases | None:
        """Return followers and cases for a dialogue study.

        Returns None, the default, if the study should cross-fit all cases.
        """
        return None

    def judge(self, case: Case, plan: Plan | None) -> Score:
        """Return the metrics of one plan; by default, 1 if its outcome is correct, else 0."""
        world = CachedEnvironment(case.demonstration.environment)
        return {"right": float(is_right(world, case.demonstration, plan))}

    def remark(self, case: Case, plan: Plan | None) -> Any:
        """Return JSON that describes a wrong plan in the report, or None to leave it out.

        The default is None, because the licences of most corpora do not allow quotations.
        """
        return None

    # ---- tables --------------------------------------------------------------------------

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return a row of the table: the means over the cases of all folds."""
        scores = [score for outcome in outcomes for _, score in outcome["scores"]]
        metrics = {name: fmean(each[name] for each in scores) for name in scores[0]}
        interval = bootstrap([each[self.metrics[-1]] for each in scores], fmean)
        published = self.presets.select(preset, variant).published
        return Row(
            variant, metrics, interval, published=published, seconds=median_seconds(outcomes)
        )

    study_condition = ""
    """Description of the protocol of studies; by default, that of `condition`."""

    def condition(self, corpus: CorpusT, preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        count = len(self.folds(corpus, preset, "full", quick))
        return f"{len(self.parts(corpus))} {self.part}s, {count} folds"

    def shown_metrics(self, preset: str) -> tuple[str, ...]:
        """Return the metrics in a preset's table; the last one has a confidence interval."""
        return self.metrics

    # ---- tuning ------------------------------------------------------------------------

    def tuning_folds(self, corpus: CorpusT) -> list[Fold]:
        """Return four folds inside the training data, for comparing settings."""
        test = self.held_out(corpus)
        parts = [each for each in self.parts(corpus) if each not in test]
        count = min(4, len(parts))
        shares = [tuple(parts[start::count]) for start in range(count)]
        return [Fold(",".join(share), share, unused=test) for share in shares]

    def try_out(self, corpus: CorpusT, chosen: PresetT, fold: Fold) -> float:
        """Train on a tuning fold, and return the main metric on its held-out parts."""
        outcome = self.evaluate(corpus, {FULL: chosen}, fold)[FULL]
        return self.make_row(self.presets.default, FULL, [outcome]).metrics[self.metrics[-1]]

    # ---- demo --------------------------------------------------------------------------

    def demo(self, demonstrations: int, held_out: int) -> DemoWorld:
        """Return a generated world for `groundling demo`; implemented only by mazes."""
        raise NotImplementedError

    def compile(self) -> None:
        """Compile the task's own kernels by calling each once; most tasks have none."""

    # ---- following ---------------------------------------------------------------------

    def read(
        self, chosen: PresetT, environment: Environment, lines: Sequence[str]
    ) -> Sequence[Text]:
        """Return the texts to follow, given typed lines; by default, each line is a text."""
        return tuple(lines)

    def scene(
        self, corpus: CorpusT, chosen: PresetT, where: str | None, start: str | None
    ) -> Scene:
        """Return the scene of a part: its first demonstration's environment and start."""
        if start is not None:
            raise SettingError(
                f"--start must not be used with the task {self.name}, which has a fixed initial "
                "state. Remove --start."
            )
        cases = self.prepare(corpus, chosen)
        [part] = self.find_parts(corpus, where or cases[-1].part)
        case = next(each for each in cases if each.part == part)
        world = case.environment or case.demonstration.environment
        return self.make_scene(part, chosen, world, case.demonstration.start)

    def make_scene(
        self, part: str, chosen: PresetT, environment: Environment, start: State
    ) -> Scene:
        """Return a scene that converts typed lines with this task's `read` method."""
        read = partial(self.read, chosen, environment)
        return Scene(f"{self.part} {part}", environment, start, read)


def demonstrations(cases: Iterable[Case], left_out: Collection[str] = ()) -> list[Demonstration]:
    """Return the demonstrations to train on, excluding the parts in `left_out`."""
    return [each.demonstration for each in cases if each.learnable and each.part not in left_out]


def split_parts(parts: Sequence[str], count: int = FOLDS) -> list[Fold]:
    """Return folds that together hold out every part once.

    >>> [fold.held_out for fold in split_parts("abcde", 2)]
    [('a', 'c', 'e'), ('b', 'd')]
    """
    count = min(count, len(parts))
    return [Fold(f"fold {n + 1}", tuple(parts[n::count])) for n in range(count)]


def follow_cases(follower: Follower, cases: Sequence[Case]) -> list[Plan | None]:
    """Return the plan for each case, or None if the follower finds no plan."""
    asked = [each.request for each in cases]
    lengths = [each.length for each in cases]
    found: list[Plan | GroundlingError] = []
    if set(lengths) <= {None}:
        found = follower.follow_many(asked, errors="return")
    else:
        for each, length in zip(asked, lengths, strict=True):
            found += follower.follow_many([each], length=length, errors="return")
    for plan in found:
        if isinstance(plan, GroundlingError) and not isinstance(plan, SearchError):
            raise plan
    return [plan if isinstance(plan, Plan) else None for plan in found]


def by_part(scores: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Return the scores of cases grouped by part of the corpus.

    >>> by_part([("A", 1.0), ("B", 1.0), ("A", 0.0)])
    {'A': [1.0, 0.0], 'B': [1.0]}
    """
    found: dict[str, list[float]] = {}
    for part, score in scores:
        found.setdefault(part, []).append(score)
    return found


def median_seconds(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Return the median seconds per fold, for training and for following.

    Each outcome of a fold has both durations as a pair in `seconds`.

    >>> median_seconds([{"seconds": (1.0, 0.5)}, {"seconds": (2.0, 0.1)}, {"seconds": (4.0, 0.3)}])
    {'train': 2.0, 'follow': 0.3}
    """
    pairs = [each["seconds"] for each in outcomes]
    if not pairs or len(pairs[0]) != 2:
        return {}
    return {"train": median(a for a, _ in pairs), "follow": median(b for _, b in pairs)}


def sample_count(usual: int, least: int, size: float | None) -> int:
    """Return the size of a generated sample: `usual` times `size`, at least `least`.

    >>> [sample_count(usual=240, least=6, size=size) for size in (0.5, 0.001)]
    [120, 6]
    """
    return max(least, int(usual * (SAMPLE if size is None else size)))
