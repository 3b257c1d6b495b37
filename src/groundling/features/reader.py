"""The reader, which parses texts and labels their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from groundling.errors import InstructionError
from groundling.features.connectives import Connective, in_order
from groundling.features.labels import LABEL, NUMBER, ORDINAL, SAID, WordLabel, WordLabeller
from groundling.features.lexicon import Lexicon, index_names
from groundling.features.name_index import LayeredValues, NameIndex
from groundling.features.spans import SpanIndex, nearest_word
from groundling.features.synonyms import Synonyms
from groundling.language.instruction import Instruction, promote_function_words
from groundling.language.languages import Language
from groundling.language.literals import read_literals
from groundling.language.parser import Parser, language_of
from groundling.language.sentences import are_characters
from groundling.world.reprs import shorten

__all__ = ["CONTEXT_WORDS", "LabelledWord", "Reader", "Text"]

CONTEXT_WORDS = 60
_MOST_SENSES = 4_000  # maximum number of cached words
_BY_NAME = 2.0  # amount of matches with label names, for which all labels share one feature
_COVERAGE = 2.0  # amount of the label `SAID`, shared by all kinds

Text = str | Instruction | Sequence[str | Instruction]
LabelledWord = tuple[tuple[WordLabel, float], ...]


@dataclass
class Reader:
    """A reader that parses texts into instructions and labels their words.

    Parameters
    ----------
    parser, promote
        The parser for plain text, and the dependency relations whose words become heads of
        their phrases (see `promote_function_words`).
    labeller, lexicon
        The labeller of words, and the lexicon, which maps words to values.
    counts
        Word counts of the training texts. A rare word may differ from a name by one edit.
    connectives
        Words that reverse the order of a text (see `in_order`).
    spans
        Whether values are matched by spans of words (see `SpanIndex`) instead of single words.
    synonyms
        Source of synonyms for words that are not in the training texts, or None.
    typos
        Whether unknown words are corrected to a training word one edit away. Always on with
        `spans`.
    drops_new
        True to ignore words that are not in the training texts and name nothing.

    Examples
    --------
    >>> from groundling.language import ChainParser
    >>> reader = Reader(ChainParser(), labeller=WordLabeller(("word",)))
    >>> [instruction] = reader.read("Go to the bricks")
    >>> [label for label, _ in reader.label(instruction, {"floor": {"brick"}})[3]]
    [WordLabel(name='word=‹floor›', kind='', value=None),
     WordLabel(name='word=‹floor›', kind='floor', value='brick')]
    """

    parser: Parser
    promote: tuple[str, ...] = ()
    labeller: WordLabeller = field(default_factory=WordLabeller)
    lexicon: Lexicon = field(default_factory=Lexicon)
    counts: Mapping[str, int] = field(default_factory=dict)
    connectives: frozenset[Connective] = frozenset()
    spans: bool = False
    synonyms: Synonyms | None = None
    typos: bool = False
    drops_new: bool = False
    language: Language = field(init=False)
    _senses: dict[str, tuple[tuple[str, str | float], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _senses_of: tuple[object, ...] = field(default=(), init=False, repr=False, compare=False)
    _senses_size: int = field(default=-1, init=False, repr=False, compare=False)
    _compounds: frozenset[str] | None = field(default=None, init=False, repr=False, compare=False)
    _names: SpanIndex | None = field(default=None, init=False, repr=False, compare=False)
    _known: tuple[object, frozenset[str]] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _values: NameIndex | None = field(default=None, init=False, repr=False, compare=False)
    _base: tuple[object, int, NameIndex] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _corrected: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.language = language_of(self.parser)
        if not self.language.spaced and "previous" not in self.labeller.labels:
            # Single characters carry little meaning, so add pairs of them.
            self.labeller = replace(self.labeller, labels=(*self.labeller.labels, "previous"))

    def read(self, text: Text) -> tuple[Instruction, ...]:
        """Parse a text into instructions, prepared for labelling."""
        return self.read_many([text])[0]

    def read_many(self, texts: Iterable[Text]) -> list[tuple[Instruction, ...]]:
        """Parse several texts; plain strings are parsed in one batch."""
        parts = [_parts(text) for text in texts]
        plain = list(dict.fromkeys(p for each in parts for p in each if isinstance(p, str)))
        parsed = dict(zip(plain, self.parser.parse_many(plain), strict=True)) if plain else {}
        read = []
        for each in parts:
            found: list[Instruction] = []
            for part in each:
                found += parsed[part] if isinstance(part, str) else [part]
            if not found:
                shown = " ".join(str(part) for part in each)
                raise InstructionError(
                    f"An instruction must contain at least one word; got {shown[:60]!r}. "
                    "Remove this text, or enter an instruction."
                )
            read.append(self.in_order([self._prepare(instruction) for instruction in found]))
        return read

    def in_order(self, text: Sequence[Instruction]) -> tuple[Instruction, ...]:
        """Return a text in the order of its actions, according to the connectives."""
        return in_order(text, self.connectives, self.language.fold)

    def _prepare(self, instruction: Instruction) -> Instruction:
        if self.promote:
            instruction = promote_function_words(instruction, self.promote)
        stop = self.labeller.stop_words
        if stop:
            fold = self.language.fold
            kept = [i for i, word in enumerate(instruction.tokens) if fold(word) not in stop]
            if kept and len(kept) < len(instruction):
                instruction = instruction.select(kept)
        return instruction

    def count(
        self, texts: Iterable[Sequence[Instruction]], values: Mapping[str, Collection[str]]
    ) -> None:
        """Count the words of the training texts, and choose the context words."""
        self.know(
            Counter(
                self.language.fold(word)
                for text in texts
                for instruction in text
                for word in instruction.tokens
            ),
            values,
        )

    def know(self, counts: Mapping[str, int], values: Mapping[str, Collection[str]]) -> None:
        """Set the word counts, and choose the context words from them."""
        self.counts = counts
        if "context" in self.labeller.labels:
            order = sorted(self.counts, key=lambda word: (-self.counts[word], word))
            plain = (w for w in order if w.isalpha() and not self.sense(w, values))
            frequent = frozenset(islice(plain, CONTEXT_WORDS))
            self.labeller = replace(self.labeller, context_words=frequent)

    def sense(
        self, word: str, values: Mapping[str, Collection[str]]
    ) -> tuple[tuple[str, str | float], ...]:
        """Return the (kind, value) pairs that a word may mean.

        The pairs are cached until the values change.
        """
        # The cache keeps a reference to the values, so that their id is not reused.
        self._remember(values)
        return self._sense(word, values)

    def _sense(
        self, word: str, values: Mapping[str, Collection[str]]
    ) -> tuple[tuple[str, str | float], ...]:
        found = self._senses.get(word)
        if found is None:
            rare = 0 < self.counts.get(word, 0) < 4
            found = self._senses[word] = self.lexicon.look_up(
                word, values, rare=rare, language=self.language, names=self._index(values)
            )
        return found

    def _index(self, values: Mapping[str, Collection[str]]) -> NameIndex:
        """Return an index of the values; the index of values from training is cached."""
        if self._values is None:
            base = values.base if isinstance(values, LayeredValues) else values
            size = sum(map(len, base.values()))
            if self._base is None or self._base[0] is not base or self._base[1] != size:
                self._base = base, size, index_names(base, self.language)
            self._values = self._base[2]
            if isinstance(values, LayeredValues):
                self._values = index_names(values.added, self.language, self._values)
        return self._values

    def _remember(self, values: Mapping[str, Collection[str]]) -> None:
        """Clear the cache of words if the lexicon, the counts or the values have changed."""
        state = (self.lexicon, self.counts, values)
        layers = (values.base, values.added) if isinstance(values, LayeredValues) else (values,)
        size = sum(len(each) for layer in layers for each in layer.values())
        if (
            size != self._senses_size
            or len(self._senses) > _MOST_SENSES
            or any(one is not other for one, other in zip(state, self._senses_of, strict=False))
        ):
            self._senses, self._senses_of, self._senses_size = {}, state, size
            self._compounds = self._names = self._values = None
            self._corrected = {}

    def _find_compounds(self, values: Mapping[str, Collection[str]]) -> frozenset[str]:
        """Return the names, numerals and lexicon words that have more than one character."""
        known = {*self.lexicon.given}
        if NUMBER in values:
            known |= {*self.language.numerals, *self.language.ordinals}
        if self.lexicon.string_match:
            known |= {value for each in values.values() for value in each}
        folded = ("".join(self.language.fold(each).split()) for each in known)
        return frozenset(each for each in folded if len(each) > 1)

    def compound(
        self, instruction: Instruction, values: Mapping[str, Collection[str]]
    ) -> tuple[Instruction, tuple[int, ...]]:
        """Merge the characters of each name into one word, for text without spaces.

        The longest match is used. Also returns, for each original word, the index of the merged
        word.

        >>> from groundling.language import ChainParser, Language
        >>> reader = Reader(ChainParser(language=Language("mine", spaced=False)))
        >>> [instruction] = reader.read("人参に水")
        >>> reader.compound(instruction, {"crop": {"人参", "豆"}})[0].tokens
        ('人参', 'に', '水')
        """
        words = [self.language.fold(word) for word in instruction.tokens]
        if self.language.spaced and not are_characters(words):
            return instruction, tuple(range(len(words)))
        self._remember(values)
        if self._compounds is None:
            self._compounds = self._find_compounds(values)
        longest = max(map(len, self._compounds), default=0)
        begins: list[int] = []
        merged: list[str] = []
        owner: list[int] = []
        place = 0
        while place < len(words):
            end, run = place + 1, words[place]
            for last in range(place + 1, len(words)):
                run += words[last]
                if len(run) > longest:
                    break
                if run in self._compounds:
                    end = last + 1
            owner += [len(begins)] * (end - place)
            begins.append(place)
            merged.append("".join(instruction.tokens[place:end]))
            place = end
        if len(begins) == len(words):
            return instruction, tuple(owner)
        return replace(instruction.select(begins), tokens=tuple(merged)), tuple(owner)

    def label(
        self,
        instruction: Instruction,
        values: Mapping[str, Collection[str]],
        names: SpanIndex | None = None,
    ) -> list[LabelledWord]:
        """Return the labels of each word, given the existing values of each kind.

        If several words are merged into a name (see `compound`), the first one gets the labels.
        With `spans`, `names` is the index of names to match; by default, all values are matched.
        """
        compound, owner = self.compound(instruction, values)
        found = self._label(compound, values, names)
        if compound is instruction:
            return found
        before = (-1, *owner[:-1])
        return [found[own] if own != last else () for last, own in zip(before, owner, strict=True)]

    def _meanings(
        self,
        words: list[str],
        values: Mapping[str, Collection[str]],
        names: SpanIndex | None,
    ) -> tuple[list[str], list[list[tuple[str, str | float, float]]]]:
        """Return the corrected words, and the (kind, value, extent) triples of each word.

        The extent is the matched share of the value's name, divided by the number of words.
        """
        self._remember(values)
        if not (self.spans and self.lexicon.string_match):
            if self.synonyms is not None or self.typos:
                if self._names is None:
                    self._names = SpanIndex(values, self.language)
                known = self._names
                words = [
                    word if self._sense(word, values) else self.read_as(word, known)
                    for word in words
                ]
            senses = [self._sense(word, values) for word in words]
            return words, [[(kind, value, 1.0) for kind, value in each] for each in senses]
        if names is None:
            if self._names is None:
                self._names = SpanIndex(values, self.language)
            names = self._names
        # Numerals and given lexicon entries are single words.
        others: dict[str, tuple[str, ...]] = dict.fromkeys(values, ())
        found: list[list[tuple[str, str | float, float]]] = []
        read = []
        for word in words:
            given = self.lexicon.look_up(word, others, language=self.language)
            found.append([(kind, value, 1.0) for kind, value in given])
            read.append(word if given or word in names else self.read_as(word, names))
        if NUMBER in values:
            for start, end, number in self.language.numerals_in(words):
                for place in range(start, end):
                    found[place] = [(NUMBER, number, 1.0 / (end - start))]
        for literal in read_literals(words, self.language):
            extent = 1.0 / len(literal.places)
            kinds = [kind for kind, known in values.items() if literal.value in known]
            if NUMBER in values and isinstance(literal.value, float):
                kinds = [NUMBER]
            for place in literal.places if kinds else ():
                found[place] = [each for each in found[place] if each[0] not in kinds]
                found[place] += [(kind, literal.value, extent) for kind in kinds]
        spans = names.find(read, self.counts)
        for span in sorted(spans, key=lambda each: each.kind == LABEL):
            for place in span.places:
                if not any(kind == span.kind for kind, _, extent in found[place] if extent == 1.0):
                    extent = span.extent * (_BY_NAME if span.kind == LABEL else 1.0)
                    found[place].append((span.kind, span.value, extent / len(span.places)))
        return read, found

    def read_as(self, word: str, names: SpanIndex) -> str:
        """Return the known word that replaces an unknown one, or else the word itself."""
        if word in self.counts or word in self.language.plain_words:
            return word
        found = self.nearest(word) if self.spans or self.typos else ""
        if not found and self.typos and not self.spans:  # else SpanIndex corrects them
            found = names.nearest(word)
        return found or self.synonym(word, names) or word

    def nearest(self, word: str) -> str:
        """Return the most frequent training word one edit away, or "" if there is none.

        Words that can begin a value, such as *half*, are never corrected (in this case, to *hall*).
        """
        found = "" if word in self.language.value_words else self._corrected.get(word)
        if found is None:
            if len(self._corrected) > _MOST_SENSES:
                self._corrected.clear()
            found = self._corrected[word] = nearest_word(word, self.counts)
        return found

    def synonym(self, word: str, names: SpanIndex | None = None) -> str:
        """Return the known word nearest in meaning to an unknown one.

        Known words are the words of the training texts and, if given, of `names`. Function words
        neither replace other words nor are replaced. Returns "" if no known word is similar.
        """
        plain = self.language.plain_words
        if self.synonyms is None or word in self.counts or word in plain or not word.isalpha():
            return ""
        if self._known is None or self._known[0] is not self.counts:
            self._known = self.counts, frozenset(w for w in self.counts if w not in plain)
        candidates = [self._known[1]] if names is None else [self._known[1], names.words]
        forms = dict.fromkeys((word, self.language.singular(word)))
        found = [self.synonyms.nearest(form, each) for form in forms for each in candidates]
        return max(found, key=lambda each: each[1])[0]

    def _label(
        self,
        instruction: Instruction,
        values: Mapping[str, Collection[str]],
        names: SpanIndex | None = None,
    ) -> list[LabelledWord]:
        words = [self.language.fold(word) for word in instruction.tokens]
        words, senses = self._meanings(words, values, names)
        # A word that matches a label name keeps its own labels too.
        cores = [
            f"‹{found[0][0]}›" if found and found[0][0] != LABEL else word
            for word, found in zip(words, senses, strict=True)
        ]
        labelled: list[LabelledWord] = []
        amount = self.labeller.amount
        # The plan need not contain the values that the text names after an exception.
        turn = next((n for n, w in enumerate(words) if w in self.language.exceptions), len(words))
        for position, (word, core, found) in enumerate(zip(words, cores, senses, strict=True)):
            labels: list[tuple[WordLabel, float]] = []
            if self.drops_new and not found and word not in self.counts:
                labelled.append(())
                continue
            if found:
                by_kind: dict[str, list[tuple[str | float, float]]] = {}
                for kind, value, extent in found:
                    by_kind.setdefault(kind, []).append((value, extent))
                for kind, meant in by_kind.items():
                    called = self.labeller.names(instruction, cores, position, f"‹{kind}›")
                    labels += [(WordLabel(name), amount(name)) for name in called]
                    labels += [
                        (WordLabel(name, kind, value), amount(name) * extent)
                        for name in called
                        for value, extent in meant
                    ]
                    if self.spans and kind != LABEL and position < turn:
                        labels += [
                            (WordLabel(SAID, kind, value), _COVERAGE * extent)
                            for value, extent in meant
                        ]
                    # “both” and “two” have the same value but different meanings; digits that
                    # were demonstrated once mean only their value.
                    own = not word[:1].isdigit() or self.counts.get(word) != 1
                    if kind in (NUMBER, ORDINAL) and own and "word" in self.labeller.labels:
                        labels.append((WordLabel(f"word={word}"), 1.0))
                if "number" in self.labeller.labels:
                    plural = self.language.singular(word) != word
                    labels.append((WordLabel("plural" if plural else "singular"), 1.0))
                if self.spans and "word" in self.labeller.labels and core != word:
                    # A word of a name may also have its own meaning (“lock the shed lock”).
                    labels.append((WordLabel(f"word={word}"), 1.0))
            if core == word:
                called = self.labeller.names(instruction, cores, position, word)
                labels += [(WordLabel(name), amount(name)) for name in called]
                labels += self._learnt(instruction, cores, position, words, values)
            if "string" in self.labeller.labels and word not in self.labeller.stop_words:
                labels.append((WordLabel("string", "string", word), 1.0))
            if instruction.labels and position == instruction.root:
                labels += [
                    (WordLabel(each.name, each.kind, each.value), each.amount)
                    for each in instruction.labels
                ]
            labelled.append(tuple(labels))
        return labelled

    def _learnt(
        self,
        instruction: Instruction,
        cores: Sequence[str],
        position: int,
        words: Sequence[str],
        values: Mapping[str, Collection[str]],
    ) -> list[tuple[WordLabel, float]]:
        """Return the labels of a word's learnt values, weighted by the lexicon.

        The last word of a pair also gets the labels learnt for the pair.
        """
        found: list[tuple[WordLabel, float]] = []
        entries = dict(self.lexicon.learnt.get(words[position], {}))
        if position:
            entries |= self.lexicon.learnt.get(f"{words[position - 1]} {words[position]}", {})
        named: dict[str, list[tuple[str, float]]] = {}  # label names and amounts of each kind
        for (kind, value), extent in entries.items():
            if extent > 0 and kind in values:
                if kind not in named:
                    names = self.labeller.names(instruction, cores, position, f"‹{kind}›")
                    named[kind] = [(name, self.labeller.amount(name)) for name in names]
                found += [
                    (WordLabel(name, kind, value), extent * amount) for name, amount in named[kind]
                ]
        return found


def _parts(text: Text) -> list[str | Instruction]:
    """Return the sentences of a text; raise `InstructionError` if it has another type."""
    parts = [text] if isinstance(text, (str, Instruction)) else text
    if isinstance(parts, (list, tuple)):
        wrong = next((each for each in parts if not isinstance(each, (str, Instruction))), None)
        if wrong is None and None not in parts:
            return list(parts)
    else:
        wrong = parts
    decode = " Decode it first." if isinstance(wrong, (bytes, bytearray)) else ""
    found = "None" if wrong is None else f"{shorten(wrong)}, of type {type(wrong).__name__}"
    raise InstructionError(
        f"An instruction must be a string or a list of sentences; got {found}.{decode}"
    )
