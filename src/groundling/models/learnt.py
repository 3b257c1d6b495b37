"""The result of `fit`: a fitted model, and the settings used for it."""

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
    """The settings of a follower during `fit` (see `Follower`)."""

    model: Model
    overlay: Overlay
    features: Features
    learning: Settings
    search: Search
    parser: str | Parser
    seed: int
    threads: int

    def encoder(self, member: Member, lexicon: Lexicon) -> Encoder:
        """Return an encoder for a member; all members parse a text in the same way."""
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
            drops_new=self.features.new_words == "drop",
        )
        budget = CacheBudget(self.search.memory * 1_000_000)
        return Encoder(reader, member.overlay, features.nodes(), self.model.terms(), budget=budget)


@dataclass(frozen=True)
class Learnt:
    """The immutable result of `fit`, including the settings used."""

    settings: LearntSettings
    fitted: FittedModel
    loss: float
    temperature: float = 1.0
    examples: tuple[Example, ...] = field(default=(), repr=False)  # empty in a loaded model
    choices: tuple[Any, ...] = ()  # settings chosen from the demonstrations
    encoded: tuple[Objective, ...] = field(default=(), repr=False)  # first objectives, if kept
    usual: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # label profile of a loaded model
    memory: DemonstrationMemory = DemonstrationMemory()  # noqa: RUF009 - a frozen value
    sets: Mapping[str, Any] | None = None  # prediction sets, calibrated for these weights
    answers: Mapping[str, Any] | None = None  # learnt from questions
    speech: Mapping[str, Any] | None = None  # speech model of a loaded model
    questions: tuple[Any, ...] = field(default=(), repr=False)  # empty in a loaded model

    def __getstate__(self) -> dict[str, Any]:
        # Objectives are left out: they can be rebuilt, and progress callbacks cannot be copied.
        return {**self.__dict__, "encoded": ()}

    @property
    def model(self) -> Model:
        """The probability model that was fitted."""
        return self.settings.model

    @property
    def search(self) -> Search:
        """The settings used to search for plans."""
        return self.settings.search

    def without_memory(self) -> Learnt:
        """Return a copy without the memory of demonstrations."""
        return replace(self, memory=DemonstrationMemory())

    def with_search(self, search: Search) -> Learnt:
        """Return a copy with other search settings and the same caches."""
        for member in self.fitted.members:
            member.encoder.budget.allow(search.memory * 1_000_000)
        return replace(self, settings=replace(self.settings, search=search))
