"""The trainer, which fits any model to demonstrations."""

from __future__ import annotations

import gc
import hashlib
import json
import logging
import time
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from groundling.data.canonical import canonical
from groundling.errors import ConvergenceWarning, DemonstrationError
from groundling.features.feature_settings import Features
from groundling.features.space import FeatureSpace, name_of
from groundling.language.parser import load_parser
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.connective_gains import learn_connectives
from groundling.learning.lexicon_induction import learn_lexicon
from groundling.learning.rare_words import find_rare_words
from groundling.learning.recall import remember
from groundling.learning.rounds import (
    Progress,
    ProgressCallback,
    better_start,
    early,
    train,
)
from groundling.learning.settings import Learning
from groundling.models.base import FittedModel, Member, Objective, TrainingData
from groundling.models.example import Example, prepare
from groundling.models.learnt import Learnt, LearntSettings
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder
from groundling.world.environment import Demonstration

_LOG = logging.getLogger(__name__)
_SHARE, _FEWEST = 4, 10  # `grow` starts with 1/4 of the demonstrations, if these are at least 10
WARM_TOLERANCE = 1e-5  # tolerance when training continues from the current θ


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause Python's garbage collector while many long-lived objects are created.

    >>> with paused_collector():
    ...     gc.isenabled()
    False
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                # Freezing moves new objects to the oldest generation without a scan.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


@dataclass(frozen=True)
class Trainer(LearntSettings):
    """A trainer: the settings of a follower, and the methods that fit its model."""

    learning: Learning

    @classmethod
    def of(cls, learnt: Learnt) -> Trainer:
        """Return a trainer with the settings of a fitted model."""
        return cls(**{each.name: getattr(learnt.settings, each.name) for each in fields(cls)})

    def fit(
        self,
        demonstrations: Iterable[Demonstration],
        progress: ProgressCallback | None = None,
        checkpoint: str | Path | None = None,
        every: int = 25,
        encoders: dict[Hashable, Encoder] | None = None,
    ) -> Learnt:
        """Fit the model: learn the lexicon if required, then the weights of each member.

        `encoders` keeps encoders between several fits on demonstrations in the same cached
        environments, so that laid-out graphs and plans are shared.
        """
        self.model.check(self.overlay, self.features, self.learning.rounds, self.search)
        first, *others = self.model.all_members(self.overlay, self.features)
        encoder = self.encoder(first, self.features.first_lexicon())
        if encoders is not None:
            encoder.share(encoders)
        with paused_collector():
            early(progress)("reading", 0, 1)
            examples = self.prepare(encoder, demonstrations)
        if self.features.reorder:
            with paused_collector():
                encoder.reader.connectives = learn_connectives(
                    self.model.member_model,
                    lambda some: self._train(first, encoder.fork(), some, None, None)[1],
                    examples, self.search, fold=encoder.reader.language.fold, seed=self.seed,
                )  # fmt: skip
            turn = encoder.reader.in_order
            examples = [replace(each, instructions=turn(each.instructions)) for each in examples]
        state = None
        if checkpoint is not None:
            digest = self.fingerprint(map(content_of, examples))
            state = Checkpoint(Path(checkpoint), every, digest)
        if self.features.learns_lexicon:
            state = self.learn_lexicon(encoder, examples, progress, state)
        loss, fitted, _ = self._train(first, encoder, examples, progress, state)
        further = []
        for number, member in enumerate(others, 1):
            other = self.encoder(member, encoder.reader.lexicon)
            if encoders is not None:
                other.share(encoders)
            other.reader.connectives = encoder.reader.connectives
            own = None if state is None else replace(state, folder=state.folder / f"{number}")
            more, learnt, _ = self._train(member, other, examples, progress, own)
            loss += more
            further.append(learnt)
        fitted = replace(fitted, others=tuple(further))
        return self.remember(Learnt(self, fitted, loss, examples=tuple(examples)))

    def remember(self, learnt: Learnt) -> Learnt:
        """Return the model with a memory, whose strength is `Learning.recall`."""
        return remember(learnt, self.learning.recall)

    def learn_lexicon(
        self,
        encoder: Encoder,
        examples: Sequence[Example],
        progress: ProgressCallback | None,
        state: Checkpoint | None,
    ) -> Checkpoint | None:
        """Learn the lexicon; return the checkpoint for θ, or None if learning was stopped."""
        wishes: list[object] = []

        def listen(step: Progress) -> object:
            wishes.append(None if progress is None else progress(step))
            return wishes[-1]

        with paused_collector():
            encoder.reader.lexicon = learn_lexicon(
                self.model, self.data(encoder, self.features, examples), self.features,
                self.learning, seed=self.seed, progress=listen, checkpoint=state,
            )  # fmt: skip
        # Checkpoints of a partially learnt lexicon must not be used.
        return None if any(wish is True for wish in wishes) else state

    def go_on(
        self,
        learnt: Learnt,
        examples: Sequence[Example],
        progress: ProgressCallback | None = None,
    ) -> Learnt:
        """Continue training on other examples, with the current θ and lexicon.

        Encodings are kept for `incremental.teach`, unless they depend on θ.
        """
        if not examples:
            raise DemonstrationError(
                "At least one training demonstration must remain; got none. Keep or add a "
                "demonstration."
            )
        trainer = replace(
            self,
            learning=replace(self.learning, tolerance=max(self.learning.tolerance, WARM_TOLERANCE)),
        )
        members = self.model.all_members(self.overlay, self.features)
        loss, fitted, encoded = 0.0, [], []
        for member, known in zip(members, learnt.fitted.members, strict=True):
            more, found, objective = trainer._train(
                member, known.encoder.fork(), examples, progress, None, known
            )
            loss += more
            fitted.append(found)
            encoded.append(objective)
        first, *others = fitted
        result = replace(
            learnt,
            fitted=replace(first, others=tuple(others)),
            loss=loss,
            examples=tuple(examples),
            encoded=() if any(each.realigns for each in encoded) else tuple(encoded),
        )
        return self.remember(result)

    def prepare(self, encoder: Encoder, demonstrations: Iterable[Demonstration]) -> list[Example]:
        """Return the training examples: demonstrations, mirror images and compositions."""
        return prepare(
            encoder, demonstrations, augment=self.learning.augment,
            composed=self.learning.composed, max_length=self.search.longest,
        )  # fmt: skip

    def data(
        self, encoder: Encoder, features: Features, examples: Sequence[Example]
    ) -> TrainingData:
        """Return the data from which the objective of an ensemble member is built."""
        return TrainingData(
            encoder=encoder,
            space=features.space(),
            examples=examples,
            search=self.search,
            random=np.random.default_rng(self.seed),
            threads=self.threads,
            min_word_count=features.min_word_count,
        )

    def _train(
        self,
        member: Member,
        encoder: Encoder,
        examples: Sequence[Example],
        progress: ProgressCallback | None,
        checkpoint: Checkpoint | None,
        known: FittedModel | None = None,
    ) -> tuple[float, FittedModel, Objective]:
        data = self.data(encoder, member.features, examples)
        if known is not None:  # keep the indices of names, so that weights can be matched
            data.space.word_names = dict(known.space.word_names)
            data.space.node_names = dict(known.space.node_names)
        began = time.perf_counter()
        with paused_collector():
            objective = self.model.objective(replace(data, tell=early(progress))).prepare()
        _LOG.info(
            "encoded %d demonstrations with %d features in %.1f s",
            len(examples), len(data.space), time.perf_counter() - began,
        )  # fmt: skip
        start = None
        if known is not None:
            start = objective.first(len(data.space), self.seed)
            places = data.space.places(known.space.keys)
            start[places[places >= 0]] = known.theta[places >= 0]
        l2 = self.penalty(encoder, examples, data.space)
        if known is None and self.learning.grow and not objective.realigns:
            small = self._grown(member, encoder, examples)
            if small is not None:
                grown = objective.first(len(data.space), self.seed)
                places = data.space.translate(small.space)
                grown[places[places >= 0]] = small.theta[places >= 0]
                first = objective.first(len(data.space), self.seed)
                start = better_start(objective, self.learning, (first, grown), l2)
        loss, theta = train(
            objective, self.learning, seed=self.seed, progress=progress, checkpoint=checkpoint,
            start=start, l2=l2,
        )  # fmt: skip
        _LOG.info("trained to a loss of %.6g in %.1f s", loss, time.perf_counter() - began)
        lengths = self.model.lengths(encoder, examples)
        fitted = FittedModel(member.features, encoder, data.space, theta, lengths, self.seed)
        return loss, fitted, objective

    def _grown(
        self, member: Member, encoder: Encoder, examples: Sequence[Example]
    ) -> FittedModel | None:
        """Return a model trained on a quarter of the examples; None if there are too few."""
        count = len(examples) // _SHARE
        if count < _FEWEST:
            return None
        drawn = np.random.default_rng(self.seed).permutation(len(examples))[:count]
        some = [examples[place] for place in sorted(drawn.tolist())]
        l2 = self.learning.l2 / _SHARE
        smaller = replace(self, learning=replace(self.learning, l2=l2, grow=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return smaller._train(member, encoder.fork(), some, None, None)[1]

    def penalty(
        self, encoder: Encoder, examples: Sequence[Example], space: FeatureSpace
    ) -> float | Reals:
        """Return the L2 penalty of each weight, or a single number for all weights."""
        if not self.learning.rare_words:
            return self.learning.l2
        found = find_rare_words(encoder, examples, encoder.reader.counts)
        return found.penalty(self.learning.l2, space)

    def fingerprint(self, content: Iterable[object]) -> str:
        """Return a checksum of all inputs of training, to identify checkpoints."""
        # Functions and parsers are identified by name, because their repr differs between runs.
        members = self.model.all_members(self.overlay, self.features)
        described = [
            (
                repr(member.overlay), repr(replace(member.features, joins=())),
                [j if isinstance(j, str) else name_of(j) for j in member.features.joins],
            )
            for member in members
        ]  # fmt: skip
        settings = [
            repr(self.model.member_model), repr(self.learning), repr(self.search), self.seed,
            self.threads, load_parser(self.parser).name,
        ]  # fmt: skip
        shown = json.dumps([settings, described, list(content)])
        return hashlib.sha256(shown.encode()).hexdigest()


def content_of(example: Example) -> tuple[object, ...]:
    """Return everything in an example that affects training, for a checksum."""
    return (
        tuple(map(repr, example.instructions)), canonical(example.trajectory.actions),
        canonical(example.trajectory.start),
        canonical([other.actions for other in example.also]), example.weight,
        canonical(example.demonstration.negative_starts),
    )  # fmt: skip
