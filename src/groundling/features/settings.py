"""The settings of features: which labels words and nodes carry, and how they are joined."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from groundling.errors import SettingError, did_you_mean
from groundling.features.labels import NUMBER, NodeLabeller, WordLabeller
from groundling.features.lexicon import Lexicon
from groundling.features.space import JOINS, FeatureSpace, JoiningFunction

__all__ = ["Features"]


@dataclass(frozen=True)
class Features:
    """Which joined features φ the model has.

    Parameters
    ----------
    words
        Labels of words, by name (see `WordLabeller`).
    composed
        How much a label counts for each further word it names (`head=turn word=left` names
        one more than `word=left`). Below one, combinations are penalised more than words.
    stop_words
        Words that are dropped before anything else.
    promote
        Dependencies whose words become the heads of their phrases.
    slots
        Kinds of values that words match through the lexicon instead of being joined with.
    numbers, bins
        How numbers are used (see `NodeLabeller`).
    joins
        Joining functions by name, or functions of your own (see `FeatureSpace`).
    lexicon
        A `Lexicon`, the path of a lexicon file, `"strings"` for string match only, or
        `"learn"` to learn one from the demonstrations by cross-fitting.
    min_count, min_word_count
        How often a feature must occur in the demonstrated plans, and a word label in the
        texts, to be kept.
    include, exclude
        Regular expressions that names of features must and must not match.

    Examples
    --------
    >>> Features(slots=("floor", "item")).space().slots
    ('floor', 'item')
    >>> Features(words=("wrod",))
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Unknown word label 'wrod'. Did you mean 'word'?
    """

    words: tuple[str, ...] = ("word", "string")
    composed: float = 1.0
    stop_words: tuple[str, ...] = ()
    promote: tuple[str, ...] = ("case", "mark")
    slots: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ("real", "bins", "equal")
    bins: tuple[float, ...] = (0.5, 1.5, 2.5, 4.5, 8.5, 16.5)
    joins: tuple[str | JoiningFunction, ...] = JOINS
    lexicon: Lexicon | str | Path = "strings"
    min_count: float = 1
    min_word_count: int = 1
    include: str = ""
    exclude: str = ""

    def __post_init__(self) -> None:
        for name in ("words", "stop_words", "promote", "slots", "numbers", "bins", "joins"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if not 0 < self.composed <= 1:
            raise SettingError(f"Features.composed is above 0 and at most 1, not {self.composed}.")
        self.labeller()
        self.nodes()
        self.space()
        ways = ("strings", "learn")
        named = isinstance(self.lexicon, (str, Path)) and self.lexicon not in ways
        if named and not Path(str(self.lexicon)).exists():
            raise SettingError(
                f"Features.lexicon is {str(self.lexicon)!r}, which is neither a lexicon file nor "
                f"a way to get one.{did_you_mean(self.lexicon, ways)}"
            )

    def labeller(self) -> WordLabeller:
        """Return the labeller of words."""
        return WordLabeller(self.words, frozenset(self.stop_words), composed=self.composed)

    def nodes(self) -> NodeLabeller:
        """Return the labeller of nodes."""
        return NodeLabeller(self.slots, self.numbers, self.bins)

    def space(self) -> FeatureSpace:
        """Return an empty index of features."""
        return FeatureSpace(
            joins=self.joins,
            slots=tuple(kind for kind in self.slots if kind != NUMBER),
            min_count=self.min_count,
            include=self.include,
            exclude=self.exclude,
        )

    def first_lexicon(self) -> Lexicon:
        """Return the lexicon that learning begins with."""
        if isinstance(self.lexicon, Lexicon):
            return self.lexicon
        if self.lexicon in ("strings", "learn"):
            return Lexicon()
        return Lexicon.read(self.lexicon)
