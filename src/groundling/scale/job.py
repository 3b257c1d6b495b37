"""Jobs: the settings, merged statistics and earlier values of θ that workers need."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from groundling import __version__
from groundling.errors import WorkerError
from groundling.features.lexicon import Lexicon
from groundling.features.space import FeatureSpace
from groundling.learning.rare_words import RareWords
from groundling.learning.trainer import Trainer
from groundling.models.base import Member
from groundling.models.lengths import LengthModel
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder
from groundling.scale.count_pass import Counts


def versions_here() -> dict[str, str]:
    """Return the versions of the software that must match on all machines."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"Groundling": __version__, "Python": python, "NumPy": np.__version__}


def check_versions(found: Mapping[str, str], wanted: Mapping[str, str], where: str) -> None:
    """Raise an error if the versions in another process differ from `wanted`.

    >>> check_versions({"Python": "3.12"}, {"Python": "3.11"}, "The worker tcp://10.0.0.7:4711")
    Traceback (most recent call last):
        ...
    groundling.errors.WorkerError: The worker tcp://10.0.0.7:4711 must have Python 3.11, like
    this process; got 3.12. Install the same version on all machines.
    """
    for name, version in wanted.items():
        if found[name] != version:
            raise WorkerError(
                f"{where} must have {name} {version}, like this process; got {found[name]}. "
                "Install the same version on all machines."
            )


@dataclass(frozen=True)
class Survey:
    """Statistics of a shard that are collected before words are labelled.

    `values` has the values of each kind in the graphs of the shard, `counts` the word counts,
    `examples` and `weight` the number and the total weight of the examples, and `digest` a
    checksum of the content.
    """

    values: dict[str, set[str]]
    counts: Mapping[str, int]
    examples: int = 0
    weight: float = 0.0
    digest: str = ""

    @classmethod
    def merged(cls, surveys: Iterable[Survey]) -> Survey:
        """Merge the surveys of several shards, given in shard order.

        >>> one = Survey({"item": {"sofa"}}, {"go": 2}, examples=2, weight=2.0)
        >>> other = Survey({"item": {"lamp"}}, {"go": 1, "on": 1}, examples=1, weight=0.5)
        >>> both = Survey.merged([one, other])
        >>> sorted(both.values["item"]), both.counts["go"], both.weight
        (['lamp', 'sofa'], 3, 2.5)
        """
        values: dict[str, set[str]] = {}
        counts: Counter[str] = Counter()
        examples, weight = 0, 0.0
        for each in surveys:
            for kind, known in each.values.items():
                values.setdefault(kind, set()).update(known)
            counts.update(each.counts)
            examples += each.examples
            weight += each.weight
        return cls(values, counts, examples, weight)


@dataclass(frozen=True)
class Encoded:
    """The counts of an encoded shard, and properties of its objective."""

    counts: Counts
    lengths: LengthModel
    begins_aligned: bool
    realigns: bool
    forgets: bool
    rare: RareWords = field(default_factory=RareWords)


@dataclass(frozen=True)
class ShardJob:
    """Everything that determines how a shard is encoded for one ensemble member.

    Given a job and a shard, any worker can repeat the work of another worker. `history` has the θ
    of each realignment.
    """

    key: str
    trainer: Trainer
    member: int
    lexicon: Lexicon
    survey: Survey | None = field(default=None, repr=False)
    context_words: frozenset[str] = field(default=frozenset(), repr=False)
    space: FeatureSpace | None = field(default=None, repr=False)
    history: tuple[Reals, ...] = field(default=(), repr=False)
    versions: Mapping[str, str] = field(default_factory=versions_here)

    def with_survey(self, survey: Survey) -> ShardJob:
        """Return the job with the merged statistics of all shards."""
        encoder = self.encoder()
        encoder.values = {kind: set(known) for kind, known in survey.values.items()}
        encoder.reader.know(survey.counts, encoder.values)
        words = encoder.reader.labeller.context_words
        return replace(self, key=f"{self.key}-labels", survey=survey, context_words=words)

    def with_space(self, space: FeatureSpace) -> ShardJob:
        """Return the job with the global feature space."""
        return replace(self, key=f"{self.key}-features", space=space)

    def realigned(self, theta: Reals, forgets: bool) -> ShardJob:
        """Return the job after the objectives were realigned at θ."""
        number = int(self.key.rpartition("-round")[2]) if "-round" in self.key else 0
        before = self.history[-1:] if forgets else self.history
        key = f"{self.key.partition('-round')[0]}-round{number + 1}"
        return replace(self, key=key, history=(*before, theta.copy()))

    @property
    def settings(self) -> Member:
        """The overlay and feature settings of the ensemble member."""
        trainer = self.trainer
        return trainer.model.all_members(trainer.overlay, trainer.features)[self.member]

    def encoder(self) -> Encoder:
        """Return a new, empty encoder for the member."""
        return self.trainer.encoder(self.settings, self.lexicon)

    def prepare(self, encoder: Encoder) -> None:
        """Give an encoder the merged statistics of all shards."""
        encoder.reader.lexicon = self.lexicon
        if self.survey is not None:
            # Shards share these objects, because lookups in them are cached.
            encoder.values = self.survey.values
            encoder.reader.counts = self.survey.counts
            encoder.reader.labeller = replace(
                encoder.reader.labeller, context_words=self.context_words
            )
