"""The loss of demonstrated plans against all others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from groundling.inference.plan_space import PlanScorer, beam_plans, sample_plans
from groundling.models.base import Objective, TrainingData
from groundling.models.examples import Example
from groundling.models.plan_spaces import PlanSpace, PlanSpaces
from groundling.overlay.batch import Reals
from groundling.overlay.encoding import Instance
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, State
from groundling.world.trajectory import Trajectory

__all__ = ["PlanObjective"]


class PlanObjective(Objective):
    """The loss of demonstrated plans against all others, alignments summed."""

    def __init__(self, data: TrainingData, alternatives: int) -> None:
        self.alternatives = alternatives
        self.data = data
        self.spaces = PlanSpaces.of(data.encoder)
        self.complete = True
        self.plans: list[PlanSpace] = []  # of each example, shared where they start alike
        self.further: list[list[Trajectory]] = []  # plans beside these
        self.gold: list[list[int]] = []
        self.negative: list[list[PlanSpace]] = []  # plans from elsewhere, never right
        apart: dict[tuple[int, Hashable], PlanSpace] = {}
        for place, example in enumerate(data.examples):
            data.report("listing plans", place)
            self._add(example, self._from(example, example.trajectory.start))
            found = (
                self._others(example, self._from(example, start), apart)
                for start in example.demonstration.negative_starts
            )
            self.negative.append([space for space in found if space])
        graphs = [
            list(
                dict.fromkeys(
                    graph
                    for space in (*self._spaces(place), *self.negative[place])
                    for graph in space.candidates.graphs
                )
            )
            for place in range(len(data.examples))
        ]
        self.texts = data.label(graphs, separate=False)
        self.scorer = data.encoder.encode(
            self._instances(),
            data.space,
            grow=data.grow,
            min_word_count=data.min_word_count,
            threads=data.threads,
        )
        self.check_possible()

    def _from(self, example: Example, start: State) -> PlanSpace:
        space = self.spaces.plans(example.world, start, self.data.search)
        if space is None:
            self.complete, self.realigns = False, True
            plans = sample_plans(
                example.world, start, self.data.search, self.alternatives, self.data.random
            )
            space = PlanSpace(plans, self.data.encoder.candidates(example.world, plans))
        return space

    def _others(
        self, example: Example, space: PlanSpace, apart: dict[tuple[int, Hashable], PlanSpace]
    ) -> PlanSpace:
        """Return the plans from a negative start, without those that end as demonstrated."""
        world = example.world
        end = world.outcome(example.trajectory.end)
        key = (id(space), end)
        if key not in apart or apart[key].whole is not space:
            others = [plan for plan in space if world.outcome(plan.end) != end]
            candidates = space.candidates
            if len(others) < len(space):
                candidates = self.data.encoder.candidates(world, others)
            # Holding the whole space keeps its identity from being reused.
            apart[key] = PlanSpace(others, candidates, whole=space)
        return apart[key]

    def _add(self, example: Example, space: PlanSpace) -> None:
        world, further = example.world, []
        wanted = {each.actions for each in (example.trajectory, *example.also)}
        gold = [place for place, plan in enumerate(space) if plan.actions in wanted]
        if not gold:
            # Too long for the space: any shortest plan to the same outcome will do.
            end = world.outcome(example.trajectory.end)
            alike = [
                (len(plan), place)
                for place, plan in enumerate(space)
                if world.outcome(plan.end) == end
            ]
            shortest = min((length for length, _ in alike), default=0)
            gold = [place for length, place in alike if length == shortest]
        if not gold:
            further = [example.trajectory]
            gold = [len(space)]
        self.plans.append(space)
        self.further.append(further)
        self.gold.append(gold)

    def _spaces(self, place: int) -> list[PlanSpace]:
        """Return the plans of an example from its own start."""
        further, world = self.further[place], self.data.examples[place].world
        if not further:
            return [self.plans[place]]
        candidates = self.data.encoder.candidates(world, further)
        return [self.plans[place], PlanSpace(further, candidates)]

    def _instances(self) -> list[Instance]:
        return [
            Instance(
                text.skeleton,
                text.words,
                [each.candidates for each in (*self._spaces(place), *self.negative[place])],
                self.gold[place],
                example.weight,
            )
            for place, (example, text) in enumerate(
                zip(self.data.examples, self.texts, strict=True)
            )
        ]

    def realign(self, theta: Reals) -> bool:
        """Find new plans to win against by beam, where plans were sampled."""
        if self.complete:
            return False
        grown = False
        for place, example in enumerate(self.data.examples):
            score = self._scorer(place, theta)
            known = {plan.actions for space in self._spaces(place) for plan in space}
            new = self._new(example.world, example.trajectory.start, score, known)
            self.further[place] = [*self.further[place], *new]
            grown |= bool(new)
            for number, space in enumerate(self.negative[place]):
                known = {plan.actions for plan in space}
                new = self._new(example.world, space[0].start, score, known)
                if new:
                    plans = [*space, *new]
                    candidates = self.data.encoder.candidates(example.world, plans)
                    self.negative[place][number] = PlanSpace(plans, candidates)
                    grown = True
        if grown:
            self.scorer = self.data.encoder.encode(
                self._instances(), self.data.space, threads=self.data.threads
            )
        return grown

    def _scorer(self, place: int, theta: Reals) -> PlanScorer:
        """Return what scores plans under the text of an example."""
        encoder, text = self.data.encoder, self.texts[place]
        world = self.data.examples[place].world

        def score(plans: Sequence[Trajectory]) -> Reals:
            candidates = encoder.candidates(world, plans)
            instance = Instance(text.skeleton, text.words, [candidates])
            return encoder.encode([instance], self.data.space).candidate_scores(theta)

        return score

    def _new(
        self,
        world: CachedEnvironment,
        start: State,
        score: PlanScorer,
        known: set[tuple[Action, ...]],
    ) -> list[Trajectory]:
        """Return plans that a beam finds and that are not yet known."""
        found = beam_plans(world, start, self.data.search, score)
        return [plan for plan in found if plan.actions not in known]
