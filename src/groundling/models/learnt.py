"""What was learnt: a fitted model with the settings of that time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from groundling.cache import CacheBudget
from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.features.reader import Reader
from groundling.inference.search import Search
from groundling.language.parser import Parser, load_parser
from groundling.models.base import FittedModel, Member, Model, Objective
from groundling.models.example import Example
from groundling.models.memory import DemonstrationMemory
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import Overlay
from groundling.settings import Settings


@dataclass(frozen=True)
class LearntSettings:
    """The settings of a follower at the time it learnt (see `Follower`)."""

    model: Model
    overlay: Overlay
    features: Features
    learning: Settings
    search: Search
    parser: str | Parser
    seed: int
    threads: int

    def encoder(self, member: Member, lexicon: Lexicon) -> Encoder:
        """Return what encodes for one member; all members read the text alike."""
        features = member.features
        labeller = replace(features.labeller(), stop_words=frozenset(self.features.stop_words))
        reader = Reader(
            load_parser(self.parser),
            self.features.promote,
            labeller,
            lexicon,
            spans=features.names == "spans",
            synonyms=self.features.synonym_source(),
            typos=self.features.typos,
        )
        budget = CacheBudget(self.search.memory * 1_000_000)
        return Encoder(reader, member.overlay, features.nodes(), self.model.terms(), budget=budget)


@dataclass(frozen=True)
class Learnt:
    """What was learnt, with the settings of that time: one value that is never changed."""

    settings: LearntSettings
    fitted: FittedModel
    loss: float
    temperature: float = 1.0
    examples: tuple[Example, ...] = field(default=(), repr=False)  # none in a model from a file
    choices: tuple[Any, ...] = ()  # what was chosen from the demonstrations
    encoded: tuple[Objective, ...] = field(default=(), repr=False)  # the first of them, if kept
    usual: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # labels, in a model from a file
    memory: DemonstrationMemory = DemonstrationMemory()  # noqa: RUF009 - a frozen value
    sets: Mapping[str, Any] | None = None  # prediction sets, calibrated for these weights
    answers: Mapping[str, Any] | None = None  # what was learnt of questions
    speech: Mapping[str, Any] | None = None  # what was learnt of speaking, in a model from a file
    questions: tuple[Any, ...] = field(default=(), repr=False)  # demonstrations, not from a file

    def __getstate__(self) -> dict[str, Any]:
        # What was encoded can be again; it holds who is told of progress, which is nobody's copy.
        return {**self.__dict__, "encoded": ()}

    @property
    def model(self) -> Model:
        """The model that learnt it."""
        return self.settings.model

    @property
    def search(self) -> Search:
        """How plans are searched for."""
        return self.settings.search

    def without_memory(self) -> Learnt:
        """Return the same by its weights alone."""
        return replace(self, memory=DemonstrationMemory())

    def with_search(self, search: Search) -> Learnt:
        """Return the same with another search; what is remembered stays shared."""
        for member in self.fitted.members:
            member.encoder.budget.allow(search.memory * 1_000_000)
        return replace(self, settings=replace(self.settings, search=search))
