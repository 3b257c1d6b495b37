"""Feature settings: labels of words and nodes, and functions that join them."""

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

_ALONE = ("word", "first", "tag", "string")  # labels of at most one word


@dataclass(frozen=True, repr=False)
class Features(Settings):
    """Settings that define the joined features φ of the model.

    Parameters
    ----------
    words
        Names of word labels (see `WordLabeller`).
    compound_weight
        Factor for each further word in a label (`head=turn word=left` has one more than
        `word=left`). Values below 1 penalise combinations more than single words.
    stop_words
        Words to drop before labelling.
    promote
        Dependency relations whose words become the heads of their phrases.
    slots
        Labels whose values are matched with words by spelling or through the lexicon, instead of
        being joined with words. With the join `value`, words that match no value are also joined
        with values. `"label"` matches words with the names of labels (`{"close": True}`), including
        words that are not in the training texts.
    names
        How words match the values of slots: `"words"`, each word separately, or `"spans"`,
        several words together (see `SpanIndex`). With spans, whole names are preferred to parts
        of names, only names of the current environment are matched, and words keep their own
        labels too. Unknown words are corrected to a name or a training word one edit away.
    numbers
        How numbers are used (see `NodeLabeller`).
    joins
        Joining functions, by name or as callables (see `FeatureSpace`).
    lexicon
        A `Lexicon`, the path of a lexicon file, `"strings"` for string match only, or
        `"learn"` to learn one from the demonstrations by cross-fitting. `Lexicon(given,
        learn=True)` combines given and learnt words.
    synonyms
        Source of synonyms for unknown words: the path of a file with word vectors, `"wordnet"`,
        or an object (see `WordVectors` and `WordNet`).
    typos
        Whether unknown words are corrected to a training word one edit away. Always on with
        `names="spans"`.
    reorder
        Whether to learn connectives that reverse the order of clauses (*stop after you turn*).
        Requires plans of several actions, and adds two training runs.
    new_words
        What happens to words that are not in the training texts and name nothing: `drop` leaves
        them out of the text. `keep` aligns them, although they have no weights; each of them then
        favours plans with more nodes, which offer more alignments.
    min_count, min_word_count
        Minimum number of occurrences of a feature in the demonstrated plans, and of a word label
        in the texts.
    include, exclude
        Regular expressions. A feature is used if its name matches `include` and does not match
        `exclude`.

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
    new_words: Literal["keep", "drop"] = "keep"
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
                "Features.synonyms must be a file with word vectors or 'wordnet'; got "
                f"{given!r}.{did_you_mean(given, ('wordnet',))}"
            )
        self._check_effects()

    def _check_effects(self) -> None:
        changed = self.changed()
        if "lexicon" in changed and not self.slots and "equal" not in self.numbers:
            if self.learns_lexicon:
                raise SettingError(
                    "Features.slots must list at least one label if "
                    "Features.lexicon='learn'; got none. Set Features.slots."
                )
            raise idle_setting(
                "Features.lexicon",
                "without Features.slots, because it maps words to values of slots",
                "Set slots, or remove the lexicon.",
            )
        if self.names == "spans" and not self.slots:
            raise idle_setting(
                "Features.names",
                "without Features.slots, because names are values of slots",
                "Set slots, or remove the setting.",
            )
        if self.compound_weight != 1 and not set(self.words) - set(_ALONE):
            raise idle_setting(
                "Features.compound_weight",
                f"with words={self.words}, because none of them combines several words",
                "Add a label such as 'head', or remove the setting.",
            )

    def labeller(self) -> WordLabeller:
        """Return a `WordLabeller` with these settings."""
        return WordLabeller(
            self.words, frozenset(self.stop_words), compound_weight=self.compound_weight
        )

    def nodes(self) -> NodeLabeller:
        """Return a `NodeLabeller` with these settings."""
        return NodeLabeller(self.slots, self.numbers)

    def space(self) -> FeatureSpace:
        """Return an empty feature space with these settings."""
        return FeatureSpace(
            joins=self.joins,
            slots=tuple(kind for kind in self.slots if kind != NUMBER),
            min_count=self.min_count,
            include=self.include,
            exclude=self.exclude,
        )

    def synonym_source(self) -> Synonyms | None:
        """Return the source of synonyms, or None if `synonyms` is not set."""
        return load_synonyms(self.synonyms)

    @property
    def learns_lexicon(self) -> bool:
        """Whether the lexicon is learnt from the demonstrations."""
        if isinstance(self.lexicon, Lexicon):
            return self.lexicon.learn
        return self.lexicon == "learn"

    def first_lexicon(self) -> Lexicon:
        """Return the lexicon from which training starts: given words, or an empty one."""
        if isinstance(self.lexicon, Lexicon):
            return self.lexicon
        if self.lexicon in ("strings", "learn"):
            return Lexicon()
        return Lexicon.read(self.lexicon)
