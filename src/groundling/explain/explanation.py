"""Explanations of plans: the words and the weights that caused each action."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import zip_longest
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from groundling.errors import InstructionError, did_you_mean
from groundling.features.space import FeatureSpace
from groundling.inference.search import Search
from groundling.language.instruction import Instruction
from groundling.models.base import FittedModel, Model, Request
from groundling.models.interpretation import Interpretation
from groundling.models.memory import Recollection
from groundling.overlay.batch import Reals
from groundling.ties import rank
from groundling.world.environment import Action, State
from groundling.world.graph import GroundingGraph
from groundling.world.trajectory import Trajectory

if TYPE_CHECKING:
    from rich.console import RenderableType


class ExplainedPlan(Protocol):
    """The attributes of `groundling.plan.Plan` that an explanation uses."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the plan, in order."""

    @property
    def states(self) -> tuple[State, ...]:
        """The states from the start to the end."""

    @property
    def probability(self) -> float:
        """The probability of exactly this plan among those considered."""

    @property
    def confidence(self) -> float:
        """The calibrated probability that the plan, or its outcome, is right."""

    @property
    def understood(self) -> bool:
        """Whether the confidence reaches the threshold of the follower."""

    @property
    def remembered(self) -> Recollection | None:
        """The demonstration with the most influence on the plan, if any."""

    @property
    def alternatives(self) -> Sequence[ExplainedPlan]:
        """Other plans that were considered, most probable first."""


class Part:
    """A part of an explanation that can be converted to JSON.

    Only the fields in `_listed` are converted, or all fields if it is empty.
    """

    _listed: ClassVar[tuple[str, ...]] = ()

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the part as JSON-ready data, with at most `most` features in each list."""

        def plain(value: Any) -> Any:
            if isinstance(value, tuple):
                return [plain(each) for each in value]
            return value.to_dict(most) if isinstance(value, Part) else value

        return {name: plain(getattr(self, name)) for name in self._listed or vars(self)}


@dataclass(frozen=True)
class Contribution(Part):
    """The contribution of a feature to a score: its weight times its expected count.

    >>> print(Contribution("word=top ∧ side=North", weight=2.0, count=0.5))
    +1.00  word=top ∧ side=North
    """

    feature: str
    weight: float
    count: float
    _listed = ("feature", "weight", "count", "amount")

    @property
    def amount(self) -> float:
        """The contribution to the score: the weight times the expected count."""
        return self.weight * self.count

    def __str__(self) -> str:
        return f"{self.amount:+.2f}  {self.feature}"


@dataclass(frozen=True)
class Contributions(Part):
    """The contributions of all features to a score, strongest first.

    >>> both = Contributions((Contribution("move", 2.0, 1.0), Contribution("turn", -1.0, 0.5)))
    >>> both.total, [each.feature for each in both.against()]
    (1.5, ['turn'])
    """

    features: tuple[Contribution, ...]

    @classmethod
    def of(cls, space: FeatureSpace, theta: Reals, counts: Reals) -> Contributions:
        """Return contributions from expected counts, an array of the same shape as θ."""
        places = np.flatnonzero(theta * counts)
        order = places[rank(np.abs((theta * counts)[places]))]
        return cls(
            tuple(
                Contribution(space.name(int(space.keys[i])), float(theta[i]), float(counts[i]))
                for i in order
            )
        )

    @classmethod
    def together(cls, parts: Iterable[Contributions]) -> Contributions:
        """Merge the contributions of several models; shared features are listed once.

        The weight of a shared feature is the mean of its weights, weighted by expected count.

        >>> one, two = Contribution("move", 2.0, 0.5), Contribution("move", 4.0, 0.5)
        >>> Contributions.together([Contributions((one,)), Contributions((two,))]).features
        (Contribution(feature='move', weight=3.0, count=1.0),)
        """
        found: dict[tuple[str, bool], Contribution] = {}
        for each in (feature for part in parts for feature in part.features):
            key = (each.feature, each.count > 0)
            known = found.get(key)
            if known is not None:
                count = known.count + each.count
                weight = (known.amount + each.amount) / count
                each = Contribution(each.feature, weight, count)
            found[key] = each
        listed = list(found.values())
        order = rank(np.array([abs(each.amount) for each in listed]))
        return cls(tuple(listed[place] for place in order))

    @property
    def total(self) -> float:
        """The sum of the contributions of all features."""
        return math.fsum(each.amount for each in self.features)

    def favouring(self, most: int = 3) -> tuple[Contribution, ...]:
        """Return the features with the largest positive contributions, strongest first."""
        return tuple(each for each in self.features if each.amount > 0)[:most]

    def against(self, most: int = 3) -> tuple[Contribution, ...]:
        """Return the features with the largest negative contributions, strongest first."""
        return tuple(each for each in self.features if each.amount < 0)[:most]

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the strongest features, and the sum of all others, as JSON-ready data."""
        shown = self.features[:most]
        return {
            "total": self.total,
            "features": [each.to_dict() for each in shown],
            "others": math.fsum(each.amount for each in self.features[most:]),
        }


@dataclass(frozen=True)
class Unit:
    """A span of text that is aligned as a unit: its sentence, word indices and text."""

    sentence: int
    words: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Cause(Part):
    """A unit of text, and the probability that it names an action."""

    unit: Unit
    probability: float

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the text of the unit and its position."""
        said = {name: getattr(self.unit, name) for name in ("text", "sentence")}
        return {**said, "words": list(self.unit.words), "probability": self.probability}


@dataclass(frozen=True)
class Link(Part):
    """The probability that a word aligns with a node of an action's grounding graph."""

    sentence: int
    position: int
    word: str
    node: str
    probability: float


@dataclass(frozen=True)
class Rival(Part):
    """An alternative plan, with its difference in score from the chosen plan.

    `margin` is the score of the chosen plan minus that of the rival. It is exactly the sum of
    `features`, the contributions to the chosen plan minus those to the rival, and `ambiguity`, the
    difference that comes from the number of alignments.
    """

    actions: tuple[str, ...]
    probability: float
    margin: float
    differs: str
    features: Contributions
    ambiguity: float


@dataclass(frozen=True)
class ExplainedStep(Part):
    """The reasons for an action: the text that names it, and its features.

    The attributes are:

    - `support`: the probability that the most probable unit of text names the action or, if units
    are single words, the expected number of words aligned with the action (at most 1). Below one
    half, the text does not count as mentioning the action.
    - `text`: the features of the words that are aligned with the action.
    - `own`: the features that do not depend on the text (ψ(y)).
    - `without`: the best alternative plan that lacks the action, if there is one.
    - `meanings`: sentences that say how words are read and which values they name.
    """

    action: str
    asked: bool
    support: float
    causes: tuple[Cause, ...]
    links: tuple[Link, ...]
    text: Contributions
    own: Contributions
    nodes: tuple[str, ...]
    graph: GroundingGraph
    without: Rival | None = None
    meanings: tuple[str, ...] = ()
    _listed = (
        "action", "asked", "support", "causes", "links", "text", "own", "without", "meanings"
    )  # fmt: skip

    def moved(self, sentences: int) -> ExplainedStep:
        """Return a copy of the step with all sentence numbers increased by `sentences`."""

        def moved(cause: Cause) -> Cause:
            return replace(
                cause, unit=replace(cause.unit, sentence=cause.unit.sentence + sentences)
            )

        return replace(
            self,
            causes=tuple(map(moved, self.causes)),
            links=tuple(replace(e, sentence=e.sentence + sentences) for e in self.links),
        )


@dataclass(frozen=True)
class Deletion(Part):
    """The effect of leaving out a word on the plan's score and on its margin."""

    word: str
    sentence: int
    position: int
    score: float
    margin: float | None


def difference(chosen: Iterable[str], other: Iterable[str]) -> str:
    """Describe how the second of two plans differs from the first.

    >>> difference(["turn", "move"], ["turn", "move"])
    'the same actions'
    >>> difference(["turn", "go"], ["turn", "stay", "go"])
    'stay instead of go as action 2, go as action 3'
    """
    said = []
    for place, (one, two) in enumerate(zip_longest(chosen, other), 1):
        what = two if one is None else f"no {one}" if two is None else f"{two} instead of {one}"
        if one != two:
            said.append(f"{what} as action {place}")
    return ", ".join(said) or "the same actions"


_DELETED = 20_000  # maximum number of words scored again when single words are left out

ASKED = 0.5  # minimum probability at which a text mentions an action
LINKED = 0.25  # minimum probability at which a word describes an action
FAINT = 0.005  # probabilities below this are not listed
RIVALS = 3


@dataclass(frozen=True)
class Explanation(Part):
    """The reasons why the follower chose a plan.

    Attributes
    ----------
    plan
        The explained plan.
    instructions
        The text as the model read it, one dependency tree per sentence.
    units
        The spans of text that are aligned as units.
    steps
        For each action, its causes, its links from words to nodes, and its features.
    whole
        Features of the whole plan: its length and pattern, words joined with these, and
        dependencies joined with relations.
    ambiguity
        The part of the score that does not come from features: the entropy of the alignments, minus
        the cost of skipped actions.
    score
        The plan's score under θ (the mean, in an ensemble):
        `sum(step.text.total + step.own.total for each step) + whole.total + ambiguity`, exactly.
    rivals
        The next best plans.

    Examples
    --------
    >>> from groundling import Follower
    >>> from groundling.examples import Lamp, lamp_demonstrations
    >>> shown = lamp_demonstrations()
    >>> follower = Follower(parser="chain").fit(shown)
    >>> why = follower.follow("light the room", Lamp(), "off").explain()
    >>> [cause.unit.text for cause in why.steps[0].causes]
    ['light the room']
    >>> why.steps[0].text.features[0].feature
    'word=light ∧ on'
    >>> round(why.without("light").score, 2) == round(why.deletions[0].score, 2)
    True
    """

    plan: ExplainedPlan
    instructions: tuple[Instruction, ...]
    units: tuple[Unit, ...]
    steps: tuple[ExplainedStep, ...]
    whole: Contributions
    ambiguity: float
    score: float
    rivals: tuple[Rival, ...]
    _source: Source | None = field(repr=False, compare=False)
    _listed = ("score", "margin", "steps", "whole", "ambiguity", "rivals", "deletions")

    @classmethod
    def joined(cls, plan: ExplainedPlan, parts: Sequence[Explanation]) -> Explanation:
        """Join the explanations of several partial plans into one, which has no rivals."""
        units: list[Unit] = []
        steps: list[ExplainedStep] = []
        before = 0  # number of sentences in earlier parts
        for each in parts:
            units += [replace(unit, sentence=unit.sentence + before) for unit in each.units]
            steps += [step.moved(before) for step in each.steps]
            before += len(each.instructions)
        return cls(
            plan=plan,
            instructions=tuple(text for each in parts for text in each.instructions),
            units=tuple(units),
            steps=tuple(steps),
            whole=Contributions.together(each.whole for each in parts),
            ambiguity=sum(each.ambiguity for each in parts),
            score=sum(each.score for each in parts),
            rivals=(),
            _source=None,
        )

    @property
    def margin(self) -> float | None:
        """The score of the plan minus that of the best rival; None if there is no rival."""
        return self.rivals[0].margin if self.rivals else None

    # ---- leaving words out --------------------------------------------------------------

    @cached_property
    def deletions(self) -> tuple[Deletion, ...]:
        """The effect of leaving out each word of the text; empty for a text of one word.

        The text is scored again without each word. To save time, only the words with the most
        certain alignments are left out of a long text: all words of a text of 140 words, but only
        twenty of a text of a thousand.
        """
        places = [(s, p) for s, each in enumerate(self.instructions) for p in range(len(each))]
        if len(places) == 1 or self._source is None:
            return ()
        most = max(10, _DELETED // len(places))
        if len(places) > most:
            lies: Counter[tuple[int, int]] = Counter()
            for step in self.steps:
                for link in step.links:
                    lies[link.sentence, link.position] += round(1000 * link.probability)
            surest = {place for place, _ in lies.most_common(most)}
            places = [place for place in places if place in surest]
        return tuple(self._delete([place]) for place in places)

    def without(self, word: str) -> Deletion:
        """Return the effect of leaving out all occurrences of a word."""
        places = [
            (s, p)
            for s, each in enumerate(self.instructions)
            for p, token in enumerate(each.tokens)
            if token.lower() == word.lower()
        ]
        known = {token for each in self.instructions for token in each.tokens}
        if not places:
            raise InstructionError(
                f"`word` must be in the text; got {word!r}.{did_you_mean(word, known)}"
            )
        if len(places) == sum(map(len, self.instructions)):
            raise InstructionError(
                f"`word` must not be the only word of the text; got {word!r}. Explain a longer "
                "text."
            )
        if self._source is None:
            raise InstructionError(
                "Only words of a single command can be left out; got several commands. Explain "
                "each of `plan.parts` instead."
            )
        return self._delete(places)

    def _delete(self, places: Sequence[tuple[int, int]]) -> Deletion:
        text = []
        for number, instruction in enumerate(self.instructions):
            kept = [p for p in range(len(instruction)) if (number, p) not in places]
            if kept:
                text.append(instruction.select(kept))
        assert self._source is not None
        after = self._source.scores(text, self.plan)
        sentence, position = places[0]
        return Deletion(
            self.instructions[sentence].tokens[position],
            sentence,
            position,
            after[0] - self.score,
            None if self.margin is None else after[0] - after[1] - self.margin,
        )

    # ---- output -------------------------------------------------------------------------

    def sentence_shares(self) -> Reals:
        """Return the share of each sentence that aligns with each action, as a matrix."""
        shares = np.zeros((len(self.instructions), len(self.steps)))
        for j, step in enumerate(self.steps):
            for link in step.links:
                size = len(self.instructions[link.sentence])
                shares[link.sentence, j] += link.probability / size
        return shares

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the explanation as JSON-ready data.

        Each list of features has at most the `most` strongest ones.
        """
        return {
            "text": [each.text for each in self.instructions],
            "words": [list(each.tokens) for each in self.instructions],
            "actions": [step.action for step in self.steps],
            "probability": self.plan.probability,
            "confidence": self.plan.confidence,
            "understood": self.plan.understood,
            "remembered": None if (told := self.plan.remembered) is None else told.to_dict(),
            **super().to_dict(most),
        }

    def __str__(self) -> str:
        from groundling.explain.prose import plain

        return plain(self)

    def rich(self) -> RenderableType:
        """Return the explanation as a renderable for a `rich` console."""
        from groundling.explain.prose import renderable

        return renderable(self)

    __rich__ = rich

    def svg(self) -> str:
        """Return an SVG drawing of the trees, the grounding graphs and the alignments."""
        from groundling.explain.figure import draw

        return draw(self)

    def _repr_html_(self) -> str:
        """Show the explanation as a picture with alternative text, in a notebook."""
        return f'<div role="img" aria-label="{escape(str(self))}">{self.svg()}</div>'

    def save(self, file: str | FilePath) -> FilePath:
        """Write the explanation as a picture to a PNG, SVG or PDF file."""
        from groundling.svg import write_page

        return write_page(self.svg(), file)


class Source:
    """The model and the request that led to a plan, kept to explain the plan later.

    The source keeps the weights, so later training does not change the explanation.
    """

    def __init__(self, model: Model, fitted: FittedModel, request: Request, search: Search) -> None:
        self.model = model
        self.fitted = fitted
        self.request = request
        self.search = search
        self.text = request.text
        self.world = request.world
        self.encoder = fitted.encoder

    def explain(self, plan: ExplainedPlan) -> Explanation:
        """Return the explanation of a plan: the words and weights that caused each action."""
        considered = (plan, *plan.alternatives)
        wanted = sorted({*range(min(RIVALS, len(plan.alternatives))), *self._avoiding(plan)})
        chosen = [considered[0], *(plan.alternatives[place] for place in wanted)]
        reading, *others = self.model.interpret(
            self.fitted, self.request, [_trajectory(each) for each in chosen], self.search
        )
        whole = self._sum(reading.plan)
        rivals = {
            place: self._rival(plan, plan.alternatives[place], reading, other)
            for place, other in zip(wanted, others, strict=True)
        }
        units = self._units()
        steps = tuple(self._step(plan, j, reading, units, rivals) for j in range(len(plan.actions)))
        features = sum(step.text.total + step.own.total for step in steps) + whole.total
        return Explanation(
            plan=plan,
            instructions=self.text,
            units=units,
            steps=steps,
            whole=whole,
            ambiguity=reading.score - features,
            score=reading.score,
            rivals=tuple(rivals[place] for place in wanted[:RIVALS]),
            _source=self,
        )

    def word_places(self, plan: ExplainedPlan) -> tuple[dict[str, int], ...]:
        """Return, for each action, the position of the most probable word of each node."""
        [reading] = self.model.interpret(
            self.fitted, self.request, [_trajectory(plan)], self.search
        )
        found = []
        for state, action, aligned in zip(plan.states, plan.actions, reading.aligned, strict=False):
            names = self.encoder.ground(self.world, state, action).names
            found.append(dict(zip(names, aligned.argmax(axis=0).tolist(), strict=True)))
        return tuple(found)

    def scores(self, text: Sequence[Instruction], plan: ExplainedPlan) -> list[float]:
        """Return the scores that a plan and its best rival would have for another text."""
        plans = [_trajectory(each) for each in (plan, *plan.alternatives[:1])]
        request = replace(self.request, text=tuple(text))
        return self.model.scores(self.fitted, request, plans, self.search)

    def _sum(self, counts: Reals) -> Contributions:
        """Return the contributions of features, merged over all ensemble members."""
        members = self.fitted.members
        ends = np.cumsum([len(each.theta) for each in members])[:-1]
        found = [
            Contributions.of(each.space, each.theta, own)
            for each, own in zip(members, np.split(counts, ends), strict=True)
        ]
        return found[0] if len(found) == 1 else Contributions.together(found)

    @staticmethod
    def _without(plan: ExplainedPlan, j: int) -> int | None:
        """Return the index of the best alternative without the given action."""
        for place, other in enumerate(plan.alternatives):
            if plan.actions[j] not in other.actions:
                return place
        return None

    def _avoiding(self, plan: ExplainedPlan) -> list[int]:
        found = (self._without(plan, j) for j in range(len(plan.actions)))
        return [place for place in found if place is not None]

    def _rival(
        self,
        plan: ExplainedPlan,
        rival: ExplainedPlan,
        ours: Interpretation,
        theirs: Interpretation,
    ) -> Rival:
        features = self._sum(ours.counts() - theirs.counts())
        margin = ours.score - theirs.score
        names = tuple(map(str, rival.actions))
        return Rival(
            actions=names,
            probability=rival.probability,
            margin=margin,
            differs=difference(map(str, plan.actions), names),
            features=features,
            ambiguity=margin - features.total,
        )

    def _units(self) -> tuple[Unit, ...]:
        return tuple(
            Unit(number, tuple(words), " ".join(instruction.tokens[p] for p in words))
            for number, instruction in enumerate(self.text)
            for words in self.encoder.split(instruction, self.encoder.overlay.unit)
        )

    def _step(
        self,
        plan: ExplainedPlan,
        j: int,
        reading: Interpretation,
        units: tuple[Unit, ...],
        rivals: dict[int, Rival],
    ) -> ExplainedStep:
        decision = plan.states[j], plan.actions[j]
        graph = self.encoder.ground(self.world, *decision)
        aligned = reading.aligned[j]  # words × nodes
        words = [(s, p, word) for s, each in enumerate(self.text) for p, word in enumerate(each)]
        row = {(s, p): number for number, (s, p, _) in enumerate(words)}
        kept = sum(each.sum(axis=1) for each in reading.aligned) > 0  # words that were not dropped
        causes = []
        for unit in units:
            rows = [row[unit.sentence, p] for p in unit.words]
            share = aligned[rows].sum() / max(1, np.count_nonzero(kept[rows]))
            causes.append(Cause(unit, min(1.0, float(share))))
        links = tuple(
            Link(*word, name, min(1.0, float(probability)))
            for word, probabilities in zip(words, aligned, strict=True)
            for name, probability in zip(graph.names, probabilities, strict=True)
            if probability >= FAINT
        )
        support, avoiding = _support(causes), self._without(plan, j)
        near = {number for number, each in enumerate(aligned) if each.sum() >= LINKED}
        meanings = self.encoder.explain_names([word for *_, word in words], graph, near)
        return ExplainedStep(
            action=str(plan.actions[j]),
            asked=support >= ASKED,
            support=support,
            causes=tuple(
                causes[place]
                for place in rank(np.array([each.probability for each in causes]))
                if causes[place].probability >= FAINT
            ),
            links=links,
            text=self._sum(reading.text[j]),
            own=self._sum(reading.free[j]),
            nodes=graph.names,
            graph=self.world.ground(*decision),
            without=None if avoiding is None else rivals[avoiding],
            meanings=(*meanings, *self.world.explain_values(*decision)),
        )


def _trajectory(plan: ExplainedPlan) -> Trajectory:
    return Trajectory(plan.states, plan.actions)


def _support(causes: Sequence[Cause]) -> float:
    """Return the probability that the text mentions an action."""
    if all(len(cause.unit.words) == 1 for cause in causes):
        # Several words may name an action, so use their expected number.
        return min(1.0, sum(cause.probability for cause in causes))
    return max(cause.probability for cause in causes)
