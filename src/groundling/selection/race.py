"""The race: a comparison of configurations by cross-validation, within a budget."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.data.own import folds
from groundling.errors import DemonstrationError, GroundlingError, GroundlingWarning
from groundling.features.lexicon import Lexicon
from groundling.inference.plan_space import ScoredPlans
from groundling.learning.trainer import Trainer, paused_collector
from groundling.models.base import Request, SearchResult
from groundling.models.learnt import Learnt
from groundling.overlay.encoder import Encoder
from groundling.selection.configurations import Configuration, learning_for
from groundling.selection.constants import (
    A_FEW,
    DROP_OUT_ERRORS,
    FOLDS,
    LAP_ITERATIONS,
    LAPS,
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
    """Raised when a lap runs past the deadline."""


@dataclass
class Budget:
    """A budget counted in demonstrations, so that it is the same on every machine."""

    count: int
    spent: int = 0

    def affords(self, runners: Sequence[Runner], size: int) -> bool:
        """Return whether a lap of `size` demonstrations is affordable.

        The first lap always is.
        """
        more = sum(each.members * size for each in runners)
        within = size <= LAPS[1] and self.spent + more <= RACE_BUDGET * self.count
        return within or not self.spent

    def spend(self, runner: Runner, size: int) -> None:
        """Deduct the demonstrations of a lap, once for each ensemble member."""
        self.spent += runner.members * size

    def check(self, progress: object) -> None:
        """Do nothing, because this budget does not depend on time."""


@dataclass
class Clock(Budget):
    """A budget in seconds, part of which is reserved for the final fit.

    The final fit uses all demonstrations and all iterations. Its duration is estimated from the
    laps of each configuration.
    """

    seconds: float = 0.0
    now: Callable[[], float] = time.monotonic
    deadline: float = math.inf

    def __post_init__(self) -> None:
        self.began = self.mark = self.now()

    @property
    def left(self) -> float:
        """The number of seconds left in the budget."""
        return self.seconds - (self.now() - self.began)

    def last(self, runner: Runner) -> float:
        """Return the estimated duration of the final fit of a configuration, in seconds."""
        return runner.learning_seconds * self.count

    def affords(self, runners: Sequence[Runner], size: int) -> bool:
        """Return whether there is time for a lap; the first lap is always allowed."""
        self.mark = self.now()
        known = [each for each in runners if each.size]
        more = sum(each.seconds * size / each.size for each in known)
        last = max((self.last(each) for each in known), default=0.0)
        return not known or more + last <= self.left

    def spend(self, runner: Runner, size: int) -> None:
        """Record a lap's duration, and set a deadline that leaves time for the final fit."""
        now = self.now()
        runner.seconds, self.mark = now - self.mark, now
        self.deadline = min(self.deadline, self.began + self.seconds - self.last(runner))

    def check(self, progress: object) -> None:
        """Raise `LateError` after the deadline; called during training."""
        if self.now() > self.deadline:
            raise LateError


@dataclass
class Runner:
    """A configuration in the race, with the results of its last lap.

    `credit` is the correctness (0 to 1) of the best plan for each held-out demonstration. `size` is
    the number of demonstrations in the lap, or 0 before the first lap. `failed` is the reason why
    the configuration cannot run, or empty.
    """

    configuration: Configuration
    trainer: Trainer
    credit: _Reals = field(default_factory=lambda: np.empty(0))
    size: int = 0
    seconds: float = 0.0
    learning_seconds: float = 0.0  # per demonstration
    failed: str = ""

    @property
    def name(self) -> str:
        """The name of the configuration in tables and reasons."""
        return self.configuration.name

    @property
    def members(self) -> int:
        """The number of models to train: the number of ensemble members, or 1."""
        model, features = self.trainer.model, self.trainer.features
        return len(model.all_members(self.trainer.overlay, features))

    @property
    def right(self) -> float:
        """The accuracy on held-out demonstrations."""
        return float(np.mean(self.credit == 1)) if len(self.credit) else 0.0

    @property
    def score(self) -> float:
        """The mean credit over the held-out demonstrations."""
        return float(np.mean(self.credit)) if len(self.credit) else 0.0

    @property
    def error(self) -> float:
        """The standard error of the score."""
        return _standard_error(self.credit)

    def behind(self, other: Runner) -> tuple[float, float]:
        """Return by how much the score is lower than another's, and the standard error."""
        difference = other.credit - self.credit
        return float(np.mean(difference)), _standard_error(difference)


def _standard_error(values: _Reals) -> float:
    count = len(values)
    return float(np.std(values, ddof=1) / math.sqrt(count)) + 1e-12 if count > 1 else 0.0


@dataclass
class Race:
    """A comparison of configurations by cross-validation on growing subsets.

    In each lap, configurations are trained on two folds of a subset and evaluated on the third. The
    subset doubles from lap to lap, as far as the budget allows; if it has all demonstrations, the
    other folds are held out in turn. A configuration that is clearly behind the leader drops out.
    The order of demonstrations depends only on their content.
    """

    settings: Mapping[str, Any]
    profile: Profile
    budget: Budget
    tell: Callable[[str], object] = lambda what: None
    finished: list[Runner] = field(default_factory=list)  # in the last lap, simplest first
    dropped: list[Runner] = field(default_factory=list)
    folds: int = 0  # completed in the last lap
    encoders: dict[Hashable, Encoder] = field(default_factory=dict)  # of all laps, by kind
    keep: str = ""  # the name of a configuration that never drops out

    def __post_init__(self) -> None:
        self.encoders[None] = self.profile.encoder

    def runner(self, configuration: Configuration, times: float = 1.0) -> Runner:
        """Return a configuration as a runner; `times` multiplies an automatic L2 penalty."""
        learning = self.settings["learning"]
        if learning == AUTO:
            learning = learning_for(self.profile, configuration.model)
            learning = replace(learning, l2=learning.l2 * times)
        chosen = {name: getattr(configuration, name) for name in
                  ("model", "overlay", "features", "search")}  # fmt: skip
        trainer = Trainer(**{**self.settings, **chosen, "learning": learning})
        return Runner(configuration, trainer)

    def run(self, runners: Sequence[Runner]) -> Runner:
        """Run the race, and return the winner (see `winner`)."""
        alive, size, fold = list(runners), min(LAPS[0], self.profile.count), 0
        while fold < FOLDS:
            starting = self._starting(alive, fold)
            if not self.budget.affords(starting, size):  # without extensions, for now
                starting = [each for each in starting if each.size]
            if not self.budget.affords(starting, size):
                self._extend(alive)
                break
            before = [(each, each.credit, each.size) for each in self.finished]
            ahead = self.lap(starting, size, fold)
            if before and len(ahead) < len(starting) and not self._is_settled(ahead):
                for each, credit, known in before:  # discard an unfinished lap
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
        """Return the simplest of the configurations that fit all demonstrations best.

        This replaces the race if there are too few demonstrations for it.
        """
        best, most = runners[0], -1.0
        for each in runners:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", GroundlingWarning)
                    learnt = each.trainer.fit(self.profile.ordered)
                    score = float(np.mean(credits_of(learnt, self.profile.ordered, exactly=True)))
            except GroundlingError:  # the configuration does not work here
                continue
            if score > most:
                best, most = each, score
            if score == 1:
                break
        return best

    def _starting(self, alive: Sequence[Runner], fold: int) -> list[Runner]:
        """Return the configurations in the next lap, including extensions of the leader."""
        leader = self._leader()
        leads = leader.name if leader is not None and not fold else None
        return [each for each in alive if each.size or each.configuration.base in ("", leads)]

    def _extend(self, alive: Sequence[Runner]) -> None:
        """Repeat the last lap with the leader's extensions, unless it had several folds."""
        leader = self._leader()
        if leader is None or self.folds > 1:
            return
        new = [each for each in alive if not each.size and each.configuration.base == leader.name]
        ahead = {id(each) for each in (*self.finished, *self.lap(new, leader.size))}
        self.finished = [each for each in alive if id(each) in ahead and not each.failed]

    def _may_win(self, runner: Runner, leader: Runner) -> bool:
        behind, error = runner.behind(leader)
        if behind <= DROP_OUT_ERRORS * error or runner.name == self.keep:
            return True
        self.dropped.append(runner)
        return False

    def lap(self, runners: Sequence[Runner], size: int, fold: int = 0) -> list[Runner]:
        """Train and test configurations on one fold; return those that were tested."""
        some = self.profile.ordered[:size]
        if len({each.group or str(place) for place, each in enumerate(some)}) < FOLDS:
            some = [replace(each, group="") for each in some]  # a single group cannot be split
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
        """Return whether the simplest configuration is within one standard error of 100 %."""
        first = done[0] if done and not self.keep else None
        return first is not None and bool(first.size) and 1 - first.score <= first.error

    def _try(
        self,
        runner: Runner,
        learn: list[Demonstration],
        test: list[Demonstration],
        size: int,
    ) -> None:
        # Use the same penalty for each demonstration as in the final fit.
        times = runner.trainer.learning.l2 / self._usual(runner, self.profile.count)
        trainer = brief(runner.trainer, self.profile)
        learning = replace(trainer.learning, l2=times * self._usual(runner, len(learn)))
        began = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GroundlingWarning)
                learnt = replace(trainer, learning=learning).fit(
                    learn, self.budget.check, encoders=self.encoders
                )
                runner.learning_seconds = (time.monotonic() - began) / len(learn)
                with paused_collector():
                    credit = credits_of(learnt, test)
        except GroundlingError as error:  # the configuration does not work here
            runner.failed = str(error)
            return
        known = runner.credit if runner.size == size else np.empty(0)
        runner.credit, runner.size = np.append(known, credit), size

    def _usual(self, runner: Runner, count: int) -> float:
        return learning_for(self.profile, runner.trainer.model, count).l2

    def release(self, trainer: Trainer) -> None:
        """Keep the plans that the final fit needs, and free the memory of all others."""
        members = trainer.model.all_members(trainer.overlay, trainer.features)
        kept = {trainer.encoder(each, Lexicon()).kind for each in members}
        for kind, each in list(self.encoders.items()):
            if kind not in kept and each is not self.profile.encoder:
                each.empty_plans()  # reference cycles would keep them
                del self.encoders[kind]
        self.profile.encoder.worlds.drop_graphs()
        self.profile.encoder.budget.allow(trainer.search.memory * 1_000_000)

    def _leader(self) -> Runner | None:
        return max(self.finished, key=lambda each: each.score, default=None)

    def winner(self) -> Runner:
        """Return the simplest configuration within one standard error of the leader."""
        leader = self._leader()
        if leader is None:
            raise nothing_learnt()
        for each in self.finished:
            behind, error = each.behind(leader)
            if behind <= error:
                return each
        return leader


def nothing_learnt() -> DemonstrationError:
    """Return the error for a race in which no configuration gets any plan right."""
    return DemonstrationError(
        "No configuration follows any held-out demonstration correctly. Add demonstrations, or fit "
        "a follower with fixed settings and call `diagnose` to see why."
    )


def brief(trainer: Trainer, profile: Profile) -> Trainer:
    """Return the settings for a lap: few iterations, short plans, no mirror images."""
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
    if search.beam is not None and search.beam > A_FEW:
        search = replace(search, beam=A_FEW)  # enough for an answer; the final search is wider
    return replace(trainer, model=model, features=features, learning=learning, search=search)


def credits_of(
    learnt: Learnt, demonstrations: Sequence[Demonstration], *, exactly: bool = False
) -> list[float]:
    """Return, for each demonstration, how correct its best plan is (0 to 1).

    With `exactly`, a plan with the demonstrated outcome but other actions counts less than 1.
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
    """Return the plan that the search has settled on, or else the one with the best score."""
    plans = result.plans
    if not len(plans) or result.settled:
        return plans[0] if len(plans) else None
    scores = plans.scores if isinstance(plans, ScoredPlans) else [each.score for each in plans]
    return plans[int(np.argmax(scores))]
