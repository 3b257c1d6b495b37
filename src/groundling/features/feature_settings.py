"""The settings of features: which labels words and nodes carry, and how they are joined."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundling.errors import SettingError, did_you_mean
from groundling.features.labels import NUMBER, NodeLabeller, WordLabeller
from groundling.features.lexicon import Lexicon
from groundling.features.space import JOINS, FeatureSpace, JoiningFunction
from groundling.features.synonyms import Synonyms, load_synonyms
from groundling.settings import Settings, idle_setting, setting

_ALONE = ("word", "first", "tag", "string")  # labels that name one word or none


@dataclass(frozen=True, repr=False)
class Features(Settings):
    """Which joined features φ the model has.

    Parameters
    ----------
    words
        Labels of words, by name (see `WordLabeller`).
    compound_weight
        How much a label counts for each further word it names (`head=turn word=left` names
        one more than `word=left`). Below one, combinations are penalised more than words.
    stop_words
        Words that are dropped before anything else.
    promote
        Dependencies whose words become the heads of their phrases.
    slots
        Kinds of values that words match by spelling or through the lexicon instead of being
        joined with; words that match none are joined with them by `value` (see `joins`).
        `"label"` stands for the names of labels (`{"close": True}`), so that words that were never
        shown can spell one.
    names
        How words spell the values of slots: `"words"`, each word by itself, or `"spans"`,
        several words together (see `SpanIndex`). With spans, a name is found as a whole before
        parts of it are, only names that exist where the text is said are looked for, every word
        keeps its own reading too, and an unknown word that is one edit from a name or from a word
        of the training texts is read as that.
    numbers
        How numbers are used (see `NodeLabeller`).
    joins
        Joining functions by name, or functions of your own (see `FeatureSpace`).
    lexicon
        A `Lexicon`, the path of a lexicon file, `"strings"` for string match only, or
        `"learn"` to learn one from the demonstrations by cross-fitting. `Lexicon(given,
        learn=True)` does both: words that are given, and others that are learnt.
    synonyms
        How words that no demonstration had are read as words that some had: the path of a file
        with word vectors, `"wordnet"`, or an object (see `WordVectors` and `WordNet`).
    typos
        Whether a word that no demonstration had is read as a word one edit away that some had.
        With `names="spans"` it always is.
    reorder
        Whether words are learnt that turn the order of a text around (*stop after you turn*).
        Needs plans of several actions; takes two more trainings.
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
    groundling.errors.SettingError: Features.words must be one of ...; got 'wrod'. Did you mean
    'word' or 'around'?
    """

    words: tuple[
        Literal[
            "word", "first", "next", "previous", "head", "relation",
            "grandparent", "preposition", "context", "verb", "beside", "around", "number", "tag",
            "string",
        ],
        ...,
    ] = ("word", "string")  # fmt: skip
    compound_weight: float = setting(1.0, above=0, most=1)
    stop_words: tuple[str, ...] = ()
    promote: tuple[str, ...] = ("case", "mark")
    slots: tuple[str, ...] = ()
    names: Literal["words", "spans"] = "words"
    numbers: tuple[Literal["real", "bins", "equal"], ...] = ("real", "bins", "equal")
    joins: tuple[str | JoiningFunction, ...] = JOINS
    lexicon: Lexicon | str | Path = "strings"
    synonyms: Synonyms | str | Path = ""
    typos: bool = False
    reorder: bool = False
    min_count: float = setting(1.0, least=0)
    min_word_count: int = setting(1, least=1)
    include: str = ""
    exclude: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.space()
        ways = ("strings", "learn")
        named = isinstance(self.lexicon, (str, Path)) and self.lexicon not in ways
        if named and not Path(str(self.lexicon)).exists():
            raise SettingError(
                f"Features.lexicon must be a lexicon file, 'strings' or 'learn'; got "
                f"{str(self.lexicon)!r}.{did_you_mean(self.lexicon, ways)}"
            )
        given = "" if isinstance(self.synonyms, Synonyms) else str(self.synonyms)
        if given not in ("", "wordnet") and not Path(given).is_file():
            raise SettingError(
                f"Features.synonyms must be a file with word vectors or 'wordnet'; got {given!r}."
                f"{did_you_mean(given, ('wordnet',))}"
            )
        self._check_effects()

    def _check_effects(self) -> None:
        changed = self.changed()
        if "lexicon" in changed and not self.slots and "equal" not in self.numbers:
            if self.learns_lexicon:
                raise SettingError(
                    "Features.lexicon='learn' needs Features.slots: the kinds of values to learn "
                    "words for."
                )
            raise idle_setting(
                "Features.lexicon",
                "without Features.slots, whose values it looks words up for",
                "Name slots, or leave the lexicon out.",
            )
        if self.names == "spans" and not self.slots:
            raise idle_setting(
                "Features.names",
                "without Features.slots, whose values are names",
                "Name slots, or leave it out.",
            )
        if self.compound_weight != 1 and not set(self.words) - set(_ALONE):
            raise idle_setting(
                "Features.compound_weight",
                f"with words={self.words}, none of which names several words",
                "Add such as 'head', or leave it out.",
            )

    def labeller(self) -> WordLabeller:
        """Return the labeller of words."""
        return WordLabeller(
            self.words, frozenset(self.stop_words), compound_weight=self.compound_weight
        )

    def nodes(self) -> NodeLabeller:
        """Return the labeller of nodes."""
        return NodeLabeller(self.slots, self.numbers)

    def space(self) -> FeatureSpace:
        """Return an empty index of features."""
        return FeatureSpace(
            joins=self.joins,
            slots=tuple(kind for kind in self.slots if kind != NUMBER),
            min_count=self.min_count,
            include=self.include,
            exclude=self.exclude,
        )

    def synonym_source(self) -> Synonyms | None:
        """Return where synonyms come from, if anywhere."""
        return load_synonyms(self.synonyms)

    @property
    def learns_lexicon(self) -> bool:
        """Whether words for values are learnt from the demonstrations."""
        if isinstance(self.lexicon, Lexicon):
            return self.lexicon.learn
        return self.lexicon == "learn"

    def first_lexicon(self) -> Lexicon:
        """Return the lexicon that learning begins with."""
        if isinstance(self.lexicon, Lexicon):
            return self.lexicon
        if self.lexicon in ("strings", "learn"):
            return Lexicon()
        return Lexicon.read(self.lexicon)
