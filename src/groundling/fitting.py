"""Fitting: from demonstrations to what a follower and its partners know."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groundling.errors import SettingError
from groundling.features.lexicon import Lexicon
from groundling.features.reading import Reader
from groundling.features.settings import Features
from groundling.features.space import name_of
from groundling.inference.settings import Search
from groundling.language.parser import Parser, load_parser
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.examples import Example, prepare
from groundling.learning.lengths import LengthModel
from groundling.learning.lexicon import learn_lexicon
from groundling.learning.objectives import make_objective
from groundling.learning.settings import Learning
from groundling.learning.training import ProgressCallback, train
from groundling.model.builder import Builder
from groundling.model.settings import Overlay
from groundling.partner import Partner
from groundling.searching import Part
from groundling.world.environment import Demonstration

__all__ = ["Fitted", "Fitting"]


class Fitted(NamedTuple):
    """What was learnt: the follower's own part, its partners', lengths, and the final loss."""

    parts: tuple[Part, ...]
    lengths: LengthModel
    loss: float


@dataclass(frozen=True)
class Fitting:
    """The settings of a follower at the time it learns (see `Follower`)."""

    overlay: Overlay
    features: Features
    learning: Learning
    search: Search
    parser: str | Parser
    seed: int
    threads: int
    partners: tuple[Partner, ...]

    def __post_init__(self) -> None:
        for each in self.partners:
            if not isinstance(each, Partner):
                raise SettingError(
                    f"Follower.partners holds a {type(each).__name__}; make it a Partner(overlay, "
                    "features)."
                )

    def fit(
        self,
        demonstrations: Iterable[Demonstration],
        progress: ProgressCallback | None,
        checkpoint: str | Path | None,
        every: int,
    ) -> Fitted:
        """Learn the lexicon, if asked to, then θ, then the θ of each partner."""
        if self.partners and self.learning.normalise != "plans":
            raise SettingError(
                "Follower.partners go with Learning.normalise='plans': decisions that are "
                "normalised one by one are not averaged."
            )
        builder = self.builder(self.overlay, self.features, self.features.first_lexicon())
        examples = prepare(builder, demonstrations, mirror=self.learning.mirror)
        state = None
        if checkpoint is not None:
            state = Checkpoint(Path(checkpoint), every, self._fingerprint(examples, every))
        if self.features.lexicon == "learn":
            builder.reader.lexicon = learn_lexicon(
                builder, self.features, examples, self.learning, self.search,
                seed=self.seed, threads=self.threads, progress=progress, checkpoint=state,
            )  # fmt: skip
        loss, part = self._train(builder, self.features, examples, progress, state)
        parts = [part]
        for number, partner in enumerate(self.partners, 1):
            other = self.builder(partner.overlay, partner.features, builder.reader.lexicon)
            own = None if state is None else replace(state, folder=state.folder / f"{number}")
            more, part = self._train(other, partner.features, examples, progress, own)
            loss += more
            parts.append(part)
        lengths = LengthModel()
        if self.learning.normalise == "decisions":
            units = [
                builder.passage(each.instructions, separate=True).forest.groups for each in examples
            ]
            lengths.fit(
                (count, len(each.trace.actions))
                for count, each in zip(units, examples, strict=True)
            )
        return Fitted(tuple(parts), lengths, loss)

    def builder(self, overlay: Overlay, features: Features, lexicon: Lexicon) -> Builder:
        """Return what builds problems for one part; all parts read the text alike."""
        labeller = replace(features.labeller(), stop_words=frozenset(self.features.stop_words))
        reader = Reader(load_parser(self.parser), self.features.promote, labeller, lexicon)
        return Builder(reader, overlay, features.nodes())

    def _train(
        self,
        builder: Builder,
        features: Features,
        examples: Sequence[Example],
        progress: ProgressCallback | None,
        checkpoint: Checkpoint | None,
    ) -> tuple[float, Part]:
        space = features.space()
        objective = make_objective(
            builder, space, examples, self.learning, self.search,
            np.random.default_rng(self.seed),
            threads=self.threads, min_word_count=features.min_word_count,
        )  # fmt: skip
        loss, theta = train(
            objective, len(space), self.learning,
            seed=self.seed, progress=progress, checkpoint=checkpoint,
            l2=self.learning.strengths(space.names()),
        )  # fmt: skip
        return loss, Part(builder, space, theta)

    def _fingerprint(self, examples: Sequence[Example], every: int) -> str:
        """Return what training depends on, so that another one does not go on from it."""
        content = [
            (
                tuple(map(repr, e.instructions)), repr(e.trace.actions), repr(e.trace.states[0]),
                repr([trace.actions for trace in e.also]), e.weight, e.group,
                repr(e.demonstration.rivals),
            )
            for e in examples
        ]  # fmt: skip
        # Functions and parsers are known by name: how they print differs from run to run.
        features = (self.features, *(each.features for each in self.partners))
        joins = [[j if isinstance(j, str) else name_of(j) for j in f.joins] for f in features]
        plain = replace(
            self,
            features=replace(self.features, joins=()),
            parser=load_parser(self.parser).name,
            partners=tuple(
                replace(each, features=replace(each.features, joins=())) for each in self.partners
            ),
        )
        shown = json.dumps([repr(plain), joins, every, content])
        return hashlib.sha256(shown.encode()).hexdigest()
