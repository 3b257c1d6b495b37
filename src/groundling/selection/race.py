"""The race: configurations compared by cross-validation on growing subsets, within a budget."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groundling.data.own import folds
from groundling.errors import DemonstrationError, GroundlingError, GroundlingWarning
from groundling.inference.plan_space import ScoredPlans
from groundling.learning.trainer import Trainer
from groundling.models.base import Request, SearchResult
from groundling.models.learnt import Learnt
from groundling.selection.configurations import Configuration, learning_for
from groundling.selection.constants import (
    DROP_OUT_ERRORS,
    FIRST_LAP,
    FOLDS,
    LAP_ITERATIONS,
    NEARLY_ALL,
    RACE_BUDGET,
)
from groundling.selection.profile import Profile
from groundling.settings import AUTO
from groundling.world.environment import Demonstration
from groundling.world.judgement import Judgement
from groundling.world.trajectory import ScoredTrajectory

_Reals = NDArray[np.float64]


class LateError(Exception):
    """There is no time left for what is being learnt."""


class Budget(Protocol):
    """What a race may spend."""

    def affords(self, runners: Sequence[Runner], size: int) -> bool:
        """Tell whether another lap of so many demonstrations can be run."""

    def spend(self, runner: Runner, size: int) -> None:
        """Count what a lap of one configuration took."""

    def check(self, progress: object) -> None:
        """Raise `LateError` if a lap takes too long; called while it runs."""


@dataclass
class Work:
    """A budget of demonstrations learnt from or followed, the same on every machine.

    >>> Work(300).affords([], 60), Work(0).affords([], 60)
    (True, True)
    """

    count: int
    spent: int = 0

    def affords(self, runners: Sequence[Runner], size: int) -> bool:
        """Tell whether as much again is left; the first lap always is."""
        more = sum(each.members * size for each in runners)
        return not self.spent or self.spent + more <= RACE_BUDGET * self.count

    def spend(self, runner: Runner, size: int) -> None:
        """Count demonstrations, for each member."""
        self.spent += runner.members * size

    def check(self, progress: object) -> None:
        """Let it run: work is counted, not timed."""


@dataclass
class Clock:
    """A budget of seconds, of which the last fit gets its share.

    The last fit learns from all demonstrations with all iterations; how long it takes is guessed
    from the laps of each configuration.
    """

    seconds: float
    count: int
    now: Callable[[], float] = time.monotonic
    began: float = 0.0
    deadline: float = math.inf
    mark: float = 0.0

    def __post_init__(self) -> None:
        self.began = self.mark = self.now()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (self.now() - self.began)

    def last(self, runner: Runner) -> float:
        """Return about how many seconds the last fit of a configuration takes."""
        return runner.learning_seconds * self.count

    def affords(self, runners: Sequence[Runner], size: int) -> bool:
        """Tell whether a lap fits in before the last fit; the first lap is begun in any case."""
        self.mark = self.now()
        known = [each for each in runners if each.size]
        more = sum(each.seconds * size / each.size for each in known)
        last = max((self.last(each) for each in known), default=0.0)
        return not known or more + last <= self.left

    def spend(self, runner: Runner, size: int) -> None:
        """Keep how long a lap took; the others must leave time for the last fit."""
        now = self.now()
        runner.seconds, self.mark = now - self.mark, now
        self.deadline = min(self.deadline, self.began + self.seconds - self.last(runner))

    def check(self, progress: object) -> None:
        """Stop what is late."""
        if self.now() > self.deadline:
            raise LateError


@dataclass
class Runner:
    """A configuration in the race, with what it did in its last lap.

    `credit` has an entry for each demonstration that was followed; `size` is the number of
    demonstrations of the lap, 0 before the first. `failed` says why it cannot run.
    """

    configuration: Configuration
    trainer: Trainer
    credit: _Reals = field(default_factory=lambda: np.empty(0))
    size: int = 0
    seconds: float = 0.0
    learning_seconds: float = 0.0  # of learning, for a demonstration
    failed: str = ""

    @property
    def name(self) -> str:
        """The name of the configuration."""
        return self.configuration.name

    @property
    def members(self) -> int:
        """Number of models that learn."""
        model, features = self.trainer.model, self.trainer.features
        return len(model.all_members(self.trainer.overlay, features))

    @property
    def right(self) -> float:
        """Share of right plans."""
        return float(np.mean(self.credit == 1)) if len(self.credit) else 0.0

    @property
    def score(self) -> float:
        """Mean credit."""
        return float(np.mean(self.credit)) if len(self.credit) else 0.0

    @property
    def error(self) -> float:
        """Standard error of the score."""
        return _standard_error(self.credit)

    def behind(self, other: Runner) -> tuple[float, float]:
        """Return by how much it is behind another in the same lap, and the standard error."""
        difference = other.credit - self.credit
        return float(np.mean(difference)), _standard_error(difference)


def _standard_error(values: _Reals) -> float:
    return float(np.std(values) / math.sqrt(len(values))) if len(values) else 0.0


@dataclass
class Race:
    """Configurations that are compared, simplest first.

    In a lap each learns from two thirds of some demonstrations and follows the others. Laps double
    in size, up to all demonstrations, then take the other thirds in turn. Whoever is clearly
    behind the leader drops out. Demonstrations come in an order that depends on their content only.
    """

    settings: Mapping[str, Any]
    profile: Profile
    budget: Budget
    tell: Callable[[str], object] = lambda what: None
    finished: list[Runner] = field(default_factory=list)  # in the last lap, simplest first
    dropped: list[Runner] = field(default_factory=list)
    folds: int = 0  # that the last lap has had so far
    keep: str = ""  # the name of a configuration that never drops out

    def runner(self, configuration: Configuration, times: float = 1.0) -> Runner:
        """Return a configuration with the other settings; `times` multiplies the penalty."""
        learning = self.settings["learning"]
        if learning == AUTO:
            learning = learning_for(self.profile, configuration.model)
            learning = replace(learning, l2=learning.l2 * times)
        chosen = {name: getattr(configuration, name) for name in
                  ("model", "overlay", "features", "search")}  # fmt: skip
        trainer = Trainer(**{**self.settings, **chosen, "learning": learning})
        return Runner(configuration, trainer)

    def run(self, runners: Sequence[Runner]) -> Runner:
        """Return the simplest within one standard error of the best."""
        alive, size, fold = list(runners), min(FIRST_LAP, self.profile.count), 0
        while fold < FOLDS:
            starting = self._starting(alive, fold)
            if not self.budget.affords(starting, size):
                break
            before = [(each, each.credit, each.size) for each in self.finished]
            ahead = self.lap(starting, size, fold)
            if before and len(ahead) < len(starting) and not self._is_settled(ahead):
                for each, credit, known in before:  # a lap that was not finished compares nothing
                    each.credit, each.size = credit, known
                break
            self.finished = [each for each in ahead if not each.failed]
            self.folds = fold + 1
            leader = self._leader()
            if leader is None or self._is_settled(ahead):
                break
            alive = [
                each
                for each in alive
                if not each.failed and (not each.size or self._may_win(each, leader))
            ]
            fold += size == self.profile.count
            if len(self._starting(alive, fold)) == 1:
                break
            size = min(2 * size, self.profile.count)
        return self.winner()

    def recall(self, runners: Sequence[Runner]) -> Runner:
        """Return the simplest that best follows what it learnt from: for too few to hold out."""
        best, most = runners[0], -1.0
        for each in runners:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", GroundlingWarning)
                    learnt = each.trainer.fit(self.profile.ordered)
                    score = float(np.mean(credits_of(learnt, self.profile.ordered, exactly=True)))
            except GroundlingError:  # a configuration that cannot work here
                continue
            if score > most:
                best, most = each, score
            if score == 1:
                break
        return best

    def _starting(self, alive: Sequence[Runner], fold: int) -> list[Runner]:
        """Return who runs the next lap: what adds to another waits until that one leads."""
        leader = self._leader()
        leads = leader.name if leader is not None and not fold else None
        return [each for each in alive if each.size or each.configuration.base in ("", leads)]

    def _may_win(self, runner: Runner, leader: Runner) -> bool:
        behind, error = runner.behind(leader)
        if behind <= DROP_OUT_ERRORS * error or runner.name == self.keep:
            return True
        self.dropped.append(runner)
        return False

    def lap(self, runners: Sequence[Runner], size: int, fold: int = 0) -> list[Runner]:
        """Let each configuration learn from a part and follow the rest."""
        some = self.profile.ordered[:size]
        if len({each.group or str(place) for place, each in enumerate(some)}) < FOLDS:
            some = [replace(each, group="") for each in some]  # one group cannot be split
        learn, test = folds(self.profile.cached(some), FOLDS)[fold]
        done: list[Runner] = []
        for each in runners:
            self.tell(f"trying {each.name}")
            try:
                self._try(each, learn, test, size)
            except LateError:
                each.failed = each.failed or "no time left"
                break
            self.budget.spend(each, size)
            done.append(each)
            if self._is_settled(done):
                break
        return done

    def _is_settled(self, done: Sequence[Runner]) -> bool:
        """Tell whether the simplest is within one standard error of perfect."""
        return (
            not self.keep
            and bool(done)
            and bool(done[0].size)
            and 1 - done[0].score <= done[0].error
        )

    def _try(
        self,
        runner: Runner,
        learn: list[Demonstration],
        test: list[Demonstration],
        size: int,
    ) -> None:
        # The penalty is the same for each demonstration as in the last fit.
        times = runner.trainer.learning.l2 / self._usual(runner, self.profile.count)
        trainer = brief(runner.trainer, self.profile)
        learning = replace(trainer.learning, l2=times * self._usual(runner, len(learn)))
        began = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GroundlingWarning)
                learnt = replace(trainer, learning=learning).fit(learn, self.budget.check)
                runner.learning_seconds = (time.monotonic() - began) / len(learn)
                credit = credits_of(learnt, test)
        except GroundlingError as error:  # a configuration that cannot work here
            runner.failed = str(error)
            return
        known = runner.credit if runner.size == size else np.empty(0)
        runner.credit, runner.size = np.append(known, credit), size

    def _usual(self, runner: Runner, count: int) -> float:
        return learning_for(self.profile, runner.trainer.model, count).l2

    def _leader(self) -> Runner | None:
        return max(self.finished, key=lambda each: each.score, default=None)

    def winner(self) -> Runner:
        """Return the first that is not behind the leader by more than a standard error."""
        leader = self._leader()
        if leader is None:
            raise DemonstrationError(
                "No configuration follows any demonstration that it did not learn from. Give more "
                "demonstrations, or fit one configuration and call diagnose to see why."
            )
        for each in self.finished:
            behind, error = each.behind(leader)
            if behind <= error:
                return each
        return leader


def brief(trainer: Trainer, profile: Profile) -> Trainer:
    """Return settings that learn as a race needs it: few steps, short plans, shown plans only."""
    features = replace(trainer.features, reorder=False)
    if features.learns_lexicon and profile.slots:
        features = replace(features, lexicon="strings")
    model: Any = trainer.model
    if features != trainer.features and model.member_model is not model:
        members = tuple(
            replace(each, features=replace(each.features, reorder=False, lexicon=features.lexicon))
            for each in model.members
        )
        model = replace(model, members=members)
    learning = replace(trainer.learning, iterations=LAP_ITERATIONS, augment=False, composed=0.0)
    search = trainer.search
    if model.member_model.lists_plans and profile.quick is not None and search.max_length:
        short = max(search.min_length, min(profile.quick, search.max_length))
        search = replace(search, max_length=short)
    return replace(trainer, model=model, features=features, learning=learning, search=search)


def credits_of(
    learnt: Learnt, demonstrations: Sequence[Demonstration], *, exactly: bool = False
) -> list[float]:
    """Return the credit of the best plan for each demonstration.

    With `exactly`, a plan that ends alike but has other actions gets a little less than 1.
    """
    encoder = learnt.fitted.encoder
    texts = encoder.reader.read_many(each.instructions for each in demonstrations)
    requests = [
        Request(text, encoder.bind(each.environment, text), each.start)
        for text, each in zip(texts, demonstrations, strict=True)
    ]
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    found = []
    for each, request, result in zip(demonstrations, requests, results, strict=True):
        judgement, best = Judgement.of(request.world, each), _best(result)
        credit = judgement.credit(best)
        if exactly and not judgement.accepts(best, exactly=True):
            credit *= NEARLY_ALL
        found.append(credit)
    return found


def _best(result: SearchResult) -> ScoredTrajectory | None:
    """Return the plan with the highest score, or the one that a search settled on."""
    plans = result.plans
    if not len(plans) or result.settled:
        return plans[0] if len(plans) else None
    scores = plans.scores if isinstance(plans, ScoredPlans) else [each.score for each in plans]
    return plans[int(np.argmax(scores))]
