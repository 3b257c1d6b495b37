"""What a task is, and the one way to run it: prepare, fit, follow, judge, row.

A new task is a class with `load` and `prepare`; `judge` and `read` where the defaults do not
do; and an environment that may have a method `draw`. Everything else has a default.
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
"""The size of generated samples, as a share of their usual size."""
FOLDS = 5

Source = Path | tuple[str, ...] | None
"""Where a corpus is: its folder, files of demonstrations, or None for the generated sample."""
Score = dict[str, float]
"""What `Task.judge` says of one plan: metrics by name."""
Outcome = dict[str, Any]
"""What one fold gave, as JSON: `scores`, pairs of a part and a score, and `seconds`."""

CorpusT = TypeVar("CorpusT")
PresetT = TypeVar("PresetT", bound=Preset)


@dataclass(frozen=True)
class Case:
    """A demonstration as a preset wants it, and the part of the corpus that it belongs to.

    Parameters
    ----------
    demonstration
        What is learnt from, and what a plan is judged by.
    part
        The map, puzzle or level that is held out as a whole.
    environment
        Where the text is followed, if not in the demonstration's environment.
    length
        The number of actions, where the follower is told.
    learnable
        False for a plan outside the plan space: it is judged but not learnt from.
    reference
        Whatever else `Task.judge` compares a plan with.
    """

    demonstration: Demonstration
    part: str
    environment: Environment | None = None
    length: int | None = None
    learnable: bool = True
    reference: Any = None

    @property
    def request(self) -> tuple[Text, Environment, State]:
        """What a follower is asked: the text, where it is followed, and from which state."""
        shown = self.demonstration
        return shown.instructions, self.environment or shown.environment, shown.start


class Fold(NamedTuple):
    """One training and what is followed after it; folds are independent of each other.

    Parts that are neither `held_out` nor `unused` are learnt from. `seconds` is about how long
    the fold takes; only the order of work and estimates depend on it.
    """

    name: str
    held_out: tuple[str, ...] = ()
    seed: int = 0
    unused: tuple[str, ...] = ()
    seconds: float = 1.0


@dataclass
class Scene:
    """A place in which instructions are followed, each text from where the one before ended.

    `read` turns lines into the texts that are followed one after another. `examples` are things
    to say.
    """

    name: str
    environment: Environment
    start: State
    read: Callable[[Sequence[str]], Sequence[Text]] = tuple
    examples: tuple[str, ...] = ()
    action_to_json: Callable[[Action], Any] = str

    def describe(self) -> str:
        """Return a line of text about how it begins."""
        return CachedEnvironment(self.environment).describe(self.start)

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Follow what was said, and return the plans one after another."""
        state, plans = self.start, []
        for text in self.read(lines):
            plans.append(follower.follow(text, self.environment, state, length=length))
            state = self.restart(plans[-1].end)
        return plans

    def restart(self, state: State) -> State:
        """Return the state in which the next text begins, given where the last one ended."""
        return state

    def draw(self, plans: Sequence[Plan]) -> str:
        """Return the SVG of what plans lead to."""
        from groundling.svg import draw_way

        way = [self.start, *(state for plan in plans for state in plan.states[1:])]
        return draw_way(self.environment, way)


@dataclass(frozen=True)
class DemoRequest:
    """Something to say in the unseen place of a demo, and what is interesting about it."""

    name: str
    text: str
    start: State
    remark: str


@dataclass(frozen=True)
class DemoWorld:
    """A generated world for `groundling demo` and the studio.

    `sentences` are held-out single sentences and `routes` held-out texts of two sentences, all of
    them in the `unseen` place, which training never sees and `draw` draws with a plan. `follower`
    makes the untrained follower, given a parser; `words` are those whose weights are shown, and
    `examples` things to say in the `scenes` of the studio.
    """

    title: str
    part: str  # what a place is called
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
    """A task that can be trained, evaluated, tuned, followed and drawn by all commands.

    An installed package adds one by an entry point of the group `groundling.tasks`: the
    task's name, and where its class is (see `groundling.tasks.task_registry`).

    An evaluation consists of folds. Each gives an outcome in JSON for every variant of the
    preset, and a row of the table is made of the outcomes of all folds; so they can run
    anywhere, and those that are done can be kept.
    """

    # Every task sets these.
    name: str  # as in its entry point
    about: str  # what it is, and what its metrics mean
    metrics: tuple[str, ...]  # what tables show; intervals are of the last one
    presets: Presets[PresetT]

    # Some may set these.
    corpus: ClassVar[str] = ""  # its folder among the corpora, if there is one
    part: ClassVar[str] = "part"  # what a part of the corpus is called
    showcase: ClassVar[tuple[str, ...]] = ()  # parts to act in if none was held out
    tables_only: ClassVar[tuple[str, ...]] = ()  # presets to be evaluated but not trained
    quick_variants: ClassVar[tuple[str, ...]] = (
        "full", "no planning", "no grounding graphs", "no text"
    )  # fmt: skip

    # ---- data --------------------------------------------------------------------------

    @abstractmethod
    def load(self, source: Any, size: float | None = None) -> CorpusT:
        """Read the corpus from the folder of the corpora, or generate a sample of some size."""

    @abstractmethod
    def prepare(self, corpus: CorpusT, chosen: PresetT) -> list[Case]:
        """Return the whole corpus as a preset wants it."""

    def parts(self, corpus: CorpusT) -> list[str]:
        """Return the names of the parts that can be held out, in order."""
        return list(dict.fromkeys(each.part for each in self.prepare(corpus, self.default())))

    def held_out(self, corpus: CorpusT) -> tuple[str, ...]:
        """Return the parts that training leaves out by default: the last fifth."""
        parts = self.parts(corpus)
        return tuple(parts[len(parts) - len(parts) // FOLDS :])

    def find_parts(self, corpus: CorpusT, names: str) -> tuple[str, ...]:
        """Return the parts that a comma-separated text names."""
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
        """Return the settings of `best`, or else of the first preset."""
        return self.presets.select(self.presets.default)

    # ---- one fold: prepare, fit, follow, judge -------------------------------------------

    def folds(self, corpus: CorpusT, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the folds of an evaluation; by default five, each part held out once."""
        return split_parts(self.parts(corpus))

    def evaluate(
        self, corpus: CorpusT, chosen: Mapping[str, PresetT], fold: Fold
    ) -> dict[str, Outcome]:
        """Evaluate variants that learn alike on a fold; return the outcome of each."""
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
        """Train on what a fold learns from; return the follower and the seconds it took."""
        shown = demonstrations(cases, {*fold.held_out, *fold.unused})
        began = time.process_time()
        with warnings.catch_warnings():
            # Presets say how long to train; the paper's stop before they converge.
            warnings.simplefilter("ignore", ConvergenceWarning)
            follower = chosen.fit(shown, seed=fold.seed, check=False)
        return follower, time.process_time() - began

    def follow(self, follower: Follower, cases: Iterable[Case], parts: Collection[str]) -> Outcome:
        """Follow the cases of some parts and judge the plans."""
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

    def judge(self, case: Case, plan: Plan | None) -> Score:
        """Return the metrics of one plan; by default whether it ends as was demonstrated."""
        world = CachedEnvironment(case.demonstration.environment)
        return {"right": float(is_right(world, case.demonstration, plan))}

    def remark(self, case: Case, plan: Plan | None) -> Any:
        """Return what a report lists of a plan that is wrong, as JSON; None for nothing.

        Nothing by default: most corpora are not ours to quote.
        """
        return None

    # ---- tables --------------------------------------------------------------------------

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the outcomes of all folds together: means over cases."""
        scores = [score for outcome in outcomes for _, score in outcome["scores"]]
        metrics = {name: fmean(each[name] for each in scores) for name in scores[0]}
        interval = bootstrap([each[self.metrics[-1]] for each in scores], fmean)
        published = self.presets.select(preset, variant).published
        return Row(
            variant, metrics, interval, published=published, seconds=median_seconds(outcomes)
        )

    def condition(self, corpus: CorpusT, preset: str, quick: bool) -> str:
        """Say in a few words how the figures come about."""
        count = len(self.folds(corpus, preset, "full", quick))
        return f"{len(self.parts(corpus))} {self.part}s, {count} folds"

    def shown_metrics(self, preset: str) -> tuple[str, ...]:
        """Return the metrics that the table of a preset shows; intervals are of the last one."""
        return self.metrics

    # ---- tuning ------------------------------------------------------------------------

    def tuning_folds(self, corpus: CorpusT) -> list[Fold]:
        """Return folds inside the training data: each holds a quarter of its parts out."""
        test = self.held_out(corpus)
        parts = [each for each in self.parts(corpus) if each not in test]
        count = min(4, len(parts))
        shares = [tuple(parts[start::count]) for start in range(count)]
        return [Fold(",".join(share), share, unused=test) for share in shares]

    def try_out(self, corpus: CorpusT, chosen: PresetT, fold: Fold) -> float:
        """Train on a tuning fold; return the main metric on what it holds out."""
        outcome = self.evaluate(corpus, {FULL: chosen}, fold)[FULL]
        return self.make_row(self.presets.default, FULL, [outcome]).metrics[self.metrics[-1]]

    # ---- trying ------------------------------------------------------------------------

    def demo(self, demonstrations: int, held_out: int) -> DemoWorld:
        """Return a generated world of some size; only the task of the demo has one."""
        raise NotImplementedError

    def compile(self) -> None:
        """Use the kernels of the task once, so that they are compiled; most tasks have none."""

    # ---- following ---------------------------------------------------------------------

    def read(
        self, chosen: PresetT, environment: Environment, lines: Sequence[str]
    ) -> Sequence[Text]:
        """Return lines as the texts that are followed one after another: each line by itself."""
        return tuple(lines)

    def scene(
        self, corpus: CorpusT, chosen: PresetT, where: str | None, start: str | None
    ) -> Scene:
        """Return a place to follow instructions in: a part as its first demonstration has it."""
        if start is not None:
            raise SettingError(
                f"A {self.part} of the task {self.name} begins as it is; leave --start out."
            )
        cases = self.prepare(corpus, chosen)
        [part] = self.find_parts(corpus, where or cases[-1].part)
        case = next(each for each in cases if each.part == part)
        world = case.environment or case.demonstration.environment
        return self.make_scene(part, chosen, world, case.demonstration.start)

    def make_scene(
        self, part: str, chosen: PresetT, environment: Environment, start: State
    ) -> Scene:
        """Return a scene in an environment, in which texts are read as this task reads them."""
        read = partial(self.read, chosen, environment)
        return Scene(f"{self.part} {part}", environment, start, read)


def demonstrations(cases: Iterable[Case], left_out: Collection[str] = ()) -> list[Demonstration]:
    """Return what there is to learn from, without some parts."""
    return [each.demonstration for each in cases if each.learnable and each.part not in left_out]


def split_parts(parts: Sequence[str], count: int = FOLDS) -> list[Fold]:
    """Return folds that hold out every part once.

    >>> [fold.held_out for fold in split_parts("abcde", 2)]
    [('a', 'c', 'e'), ('b', 'd')]
    """
    count = min(count, len(parts))
    return [Fold(f"fold {n + 1}", tuple(parts[n::count])) for n in range(count)]


def follow_cases(follower: Follower, cases: Sequence[Case]) -> list[Plan | None]:
    """Follow the texts of cases; None where no plan is found."""
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


def median_seconds(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Return how long a fold takes in the median, to train and to follow.

    >>> median_seconds([{"seconds": (1.0, 0.5)}, {"seconds": (2.0, 0.1)}, {"seconds": (4.0, 0.3)}])
    {'train': 2.0, 'follow': 0.3}
    """
    pairs = [each["seconds"] for each in outcomes]
    if not pairs or len(pairs[0]) != 2:
        return {}
    return {"train": median(a for a, _ in pairs), "follow": median(b for _, b in pairs)}


def sample_count(usual: int, least: int, size: float | None) -> int:
    """Return how many things a generated sample has.

    >>> sample_count(240, 6, 0.5), sample_count(240, 6, 0.001)
    (120, 6)
    """
    return max(least, int(usual * (SAMPLE if size is None else size)))
