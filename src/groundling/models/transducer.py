"""The transducer, which reads a text unit by unit and sums over all readings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.compiler import njit
from groundling.errors import DemonstrationError, SettingError
from groundling.features.feature_settings import Features
from groundling.inference.search import Search
from groundling.inference.transduction import MARKS, Transduction, transduce
from groundling.inference.unit_scores import UnitScores
from groundling.models.base import (
    FittedModel,
    Objective,
    TrainingData,
)
from groundling.models.unit_table import UnitModel, UnitTable
from groundling.overlay.batch import Integers, Reals
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay
from groundling.settings import idle_setting, setting
from groundling.world.environment import State
from groundling.world.trajectory import ScoredTrajectory, Trajectory

_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _normaliser(act: Reals, first: int, last: int, i: int, passing: float, extra: float) -> float:
    top = passing
    for y in range(first, last):
        top = max(top, act[y, i] + extra)
    total = math.exp(passing - top)
    for y in range(first, last):
        total += math.exp(act[y, i] + extra - top)
    return top + math.log(total)


@_jit
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    if b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@_jit
def lattice_gradient(
    act: Reals,  # (alternatives of all prefixes, concatenated) × units
    starts: Integers,  # alternatives of prefix j are starts[j] … starts[j + 1] - 1
    gold: Integers,  # the demonstrated alternative of prefix j < n
    passing: Reals,  # 2 × units
    again: Reals,  # units
    act_grad: Reals,
    passing_grad: Reals,
    again_grad: Reals,
    arcs: Reals,  # units × actions: receives p(unit i names action j)
    unaligned_cost: float = 0.0,
    fertility_cost: float = 0.0,
    normaliser_power: float = 0.0,
) -> float:
    """Return -log p(actions | units), and write its gradient into the arrays."""
    units, actions = act.shape[1], len(gold)
    act_grad[:] = 0.0
    passing_grad[:] = 0.0
    again_grad[:] = 0.0
    arcs[:] = 0.0
    norm = np.empty((units, actions + 1, 2))
    ahead = np.full((units + 1, actions + 1, 2), -math.inf)
    ahead[0, 0, 0] = 0.0
    for i in range(units):
        for j in range(actions + 1):
            for f in range(2):
                extra = again[i] if f else 0.0
                leave, more = (0.0, fertility_cost) if f else (unaligned_cost, 0.0)
                # If a unit cannot name another action, there is no decision to normalise.
                kept = 1.0 if extra == -math.inf else 1.0 - normaliser_power
                norm[i, j, f] = _normaliser(act, starts[j], starts[j + 1], i, passing[f, i], extra)
                here = ahead[i, j, f]
                if here == -math.inf:
                    continue
                ahead[i + 1, j, 0] = _log_add(
                    ahead[i + 1, j, 0], here + passing[f, i] - kept * norm[i, j, f] - leave
                )
                if j < actions:
                    acts = act[gold[j], i] + extra - kept * norm[i, j, f] - more
                    ahead[i, j + 1, 1] = _log_add(ahead[i, j + 1, 1], here + acts)
    total = ahead[units, actions, 0]
    if total == -math.inf:
        return math.inf
    behind = np.full((units + 1, actions + 1, 2), -math.inf)
    behind[units, actions, 0] = 0.0
    for i in range(units - 1, -1, -1):
        for j in range(actions, -1, -1):
            for f in range(2):
                extra = again[i] if f else 0.0
                leave, more = (0.0, fertility_cost) if f else (unaligned_cost, 0.0)
                kept = 1.0 if extra == -math.inf else 1.0 - normaliser_power
                here = ahead[i, j, f]
                on = behind[i + 1, j, 0] + passing[f, i] - kept * norm[i, j, f] - leave
                done = -math.inf
                if j < actions:
                    acts = act[gold[j], i] + extra - kept * norm[i, j, f] - more
                    done = behind[i, j + 1, 1] + acts
                behind[i, j, f] = _log_add(on, done)
                if here == -math.inf or behind[i, j, f] == -math.inf:
                    continue
                visits = kept * math.exp(here + behind[i, j, f] - total)
                passed = math.exp(here + on - total)
                passing_grad[f, i] -= passed - visits * math.exp(passing[f, i] - norm[i, j, f])
                if j < actions:
                    acted = math.exp(here + done - total)
                    act_grad[gold[j], i] -= acted
                    arcs[i, j] += acted
                    if f:
                        again_grad[i] -= acted
                for y in range(starts[j], starts[j + 1]):
                    share = visits * math.exp(act[y, i] + extra - norm[i, j, f])
                    act_grad[y, i] += share
                    if f:
                        again_grad[i] += share
    return float(-total)


_ROUNDS = 5  # the default of Learning.rounds, which has no effect here


@dataclass(frozen=True, repr=False)
class TransducerModel(UnitModel):
    """A model that reads a text in order; each unit may name any number of actions.

    At every position, the model either passes to the next unit or acts. Each decision is normalised
    over all choices at its position, and all readings that give the demonstrated actions are
    summed.

    Parameters
    ----------
    allow_multiple
        Whether one unit may name several actions.
    unaligned_cost, fertility_cost
        Cost of a unit that names no action, and of each further action of a unit. Without
        `unaligned_cost`, the remaining text costs nothing once no action is possible.
    length_bonus
        Bonus for each action, added to the score of a plan in the search. Separately normalised
        decisions favour short plans: after a wrong action, no action fits the text well, and
        passing costs little.
    normaliser_power
        In the search, the probability of each decision is multiplied by its normaliser to this
        power. With 0, a unit that fits no possible action does not lower the score of the plan so
        far; with a positive value, it does.

    Examples
    --------
    >>> TransducerModel(length_bonus=1)
    TransducerModel(length_bonus=1.0)
    >>> TransducerModel(unaligned_cost=-1)
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: TransducerModel.unaligned_cost must be >= 0; got -1.0.
    """

    allow_multiple: bool = True
    unaligned_cost: float = setting(0.0, least=0)
    fertility_cost: float = setting(0.0, least=0)
    length_bonus: float = 0.0
    normaliser_power: float = 0.0

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Raise an error for settings that are invalid or have no effect in this model."""
        if features.learns_lexicon:
            raise SettingError(
                "TransducerModel cannot learn a lexicon (Features.lexicon='learn'). Use PlanModel "
                "or DecisionModel, or set Features.lexicon to a lexicon file or to 'strings'."
            )
        if rounds != _ROUNDS:
            raise idle_setting(
                "Learning.rounds",
                "in TransducerModel, which sums over alignments instead of alternating",
                "Leave it out.",
            )
        if not self.allow_multiple and self.fertility_cost:
            raise idle_setting(
                "TransducerModel.fertility_cost",
                "with allow_multiple=False, which allows a unit only one action",
                "Leave it out, or use allow_multiple=True.",
            )

    def length_cure(self, short: bool) -> str:
        """Return advice for plans that are too short or, with `short=False`, too long.

        >>> TransducerModel(length_bonus=1, allow_multiple=False).length_cure(short=False)
        'Lower TransducerModel.length_bonus (it is 1).'
        """
        bonus = f"TransducerModel.length_bonus (it is {self.length_bonus:g})"
        if short:
            less = f" Or lower fertility_cost (it is {self.fertility_cost:g})."
            return (
                f"Raise {bonus}, or unaligned_cost (it is {self.unaligned_cost:g}), the cost of a "
                f"unit that names no action.{less if self.fertility_cost else ''}"
            )
        further = f", or raise fertility_cost (it is {self.fertility_cost:g})"
        return f"Lower {bonus}{further if self.allow_multiple else ''}."

    def loss(
        self, scorer: Scorer, parts: Mapping[str, NDArray[Any]], theta: Reals
    ) -> tuple[float, Reals]:
        """Return the loss Σ weight · -log p(actions | text), and its gradient."""
        starts, gold, ends = parts["starts"], parts["gold"], parts["ends"]
        grouped, free = scorer.group_scores(theta)
        weights, free_weights = np.zeros_like(grouped), np.zeros_like(free)
        total = 0.0
        begin = 0
        for place, end in enumerate(ends.tolist()):
            first, last = (int(each) for each in scorer.batch.instance_candidates[place:][:2])
            span = slice(int(scorer.group_start[place]), int(scorer.group_start[place + 1]))
            table = grouped[span].reshape(last - first, -1) + free[first:last, None]
            # There is one more prefix than there are actions.
            of_prefixes = starts[begin + 2 * place : end + 2 * place + 2]
            count = int(of_prefixes[-1])
            reading = self.read(table[:count], table[count:], of_prefixes, gold[begin:end])
            if not np.isfinite(reading.loss):
                raise UnreadableError(place)
            weight = float(scorer.batch.instance_weight[place])
            grads = np.vstack([reading.act_grad, reading.marks_grad])
            total += weight * reading.loss
            weights[span] = weight * grads.ravel()
            free_weights[first:last] = weight * grads.sum(axis=1)
            begin = end
        return total, scorer.weighted_gradient(theta, weights, free_weights)

    def objective(self, data: TrainingData) -> TransducerObjective:
        """Return the loss, summed over all readings of each text."""
        self.check_negative_starts(data.examples)
        return TransducerObjective(self, data)

    def find(
        self, fitted: FittedModel, scores: UnitScores, start: State, search: Search
    ) -> Callable[[Search], list[ScoredTrajectory]]:
        """Return a function that finds plans by reading a text unit by unit."""
        how = Transduction(**asdict(self))
        return lambda wider: transduce(scores, start, wider, how)

    def align(self, table: UnitTable, plan: Trajectory) -> tuple[float, Reals]:
        """Return a plan's score over all readings, and p(unit names action)."""
        rows: list[int] = []
        starts, gold = [0], []
        for j, state in enumerate(plan.states):
            offered = table.world.actions(state)
            if j < len(plan):
                gold.append(len(rows) + offered.index(plan.actions[j]))
            rows += [table.place[state, each] for each in offered]
            starts.append(len(rows))
        scores = table.text + table.free[:, None]
        act, marks = scores[rows], scores[-len(MARKS) :]
        reading = self.read(
            act, marks, np.array(starts, np.int32), np.array(gold, np.int32), self.normaliser_power
        )
        return self.length_bonus * len(plan) - reading.loss, reading.arcs

    def read(
        self, act: Reals, marks: Reals, starts: Integers, gold: Integers, power: float = 0.0
    ) -> Reading:
        """Return the loss, summed over all readings that give the demonstrated actions.

        `act` has the shape (alternatives × units). The alternatives of prefix j are in the rows
        from starts[j] to starts[j + 1] - 1. The rows of `marks` score three choices: passing,
        passing after acting, and acting again. `power` is the exponent of normalisers.
        """
        passing = np.ascontiguousarray(marks[:2])
        again = marks[2].copy()
        if not self.allow_multiple:
            again[:] = -np.inf
        act_grad, passing_grad = np.zeros_like(act), np.zeros_like(passing)
        again_grad, arcs = np.zeros(act.shape[1]), np.zeros((act.shape[1], len(gold)))
        loss = lattice_gradient(
            act, starts, gold, passing, again, act_grad, passing_grad, again_grad, arcs,
            self.unaligned_cost, self.fertility_cost, power,
        )  # fmt: skip
        return Reading(float(loss), act_grad, np.vstack([passing_grad, again_grad]), arcs)


@dataclass(frozen=True)
class Reading:
    """The loss -log p(actions | units), its gradients, and p(unit names action)."""

    loss: float
    act_grad: Reals
    marks_grad: Reals
    arcs: Reals


class TransducerObjective(Objective):
    """The loss of separately normalised decisions, summed over all readings."""

    def __init__(self, model: TransducerModel, data: TrainingData) -> None:
        self.model = model
        self.data = data
        encoder = data.encoder
        marks = [encoder.lay_out(mark) for mark in MARKS]
        self.layout: list[tuple[Integers, Integers]] = []
        self.graphs: list[list[LaidOutGraph]] = []
        for place, example in enumerate(data.examples):
            data.report("listing actions", place)
            graphs: list[LaidOutGraph] = []
            starts, gold = [0], []
            for j, state in enumerate(example.trajectory.states):
                actions = example.world.actions(state)
                if j < len(example.trajectory):
                    gold.append(len(graphs) + actions.index(example.trajectory.actions[j]))
                graphs += [encoder.ground(example.world, state, action) for action in actions]
                starts.append(len(graphs))
            self.layout.append((np.array(starts, np.int32), np.array(gold, np.int32)))
            self.graphs.append([*graphs, *marks])
        self._parts: dict[str, NDArray[Any]] = {
            "starts": np.concatenate([starts for starts, _ in self.layout]),
            "gold": np.concatenate([gold for _, gold in self.layout]),
            "ends": np.cumsum([len(gold) for _, gold in self.layout]),
        }

    def encode(self) -> None:
        """Label the texts, and encode them with the actions of all prefixes."""
        data = self.data
        texts = data.label(self.graphs, separate=True)
        instances = [
            Instance(
                text.skeleton,
                text.words,
                [Candidates.single(pool)],
                [*gold.tolist(), *range(len(pool) - len(MARKS), len(pool))],
                example.weight,
            )
            for example, text, pool, (_, gold) in zip(
                data.examples, texts, self.graphs, self.layout, strict=True
            )
        ]
        self.scorer = data.encode(instances)
        self.graphs = []  # no longer needed

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss Σ weight · -log p(actions | text), and its gradient."""
        try:
            return self.model.loss(self.scorer, self._parts, theta)
        except UnreadableError as error:
            raise self._unreadable(error.place) from None

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the first alternative of each prefix, and the demonstrated alternatives."""
        return self._parts

    def _unreadable(self, place: int) -> DemonstrationError:
        return DemonstrationError(
            f"{self.data.examples[place].demonstration}: its text must have an alignment with its "
            "actions; got none. Use a smaller Overlay.unit, or allow_multiple=True."
        )


class UnreadableError(DemonstrationError):
    """Raised if no reading of the instance `place` gives the demonstrated actions."""

    def __init__(self, place: int) -> None:
        super().__init__(f"Demonstration {place + 1} must have an alignment with its text.")
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.place,)
