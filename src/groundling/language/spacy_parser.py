"""Parsers that run a spaCy pipeline: the shipped one, or any installed one."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from packaging.specifiers import SpecifierSet

from groundling.errors import ParseError, SettingError, did_you_mean
from groundling.language.attachment import attach_clauses
from groundling.language.instruction import Instruction, reattach
from groundling.language.languages import ENGLISH, NEUTRAL
from groundling.language.languages import Language as Spoken
from groundling.language.sentences import chain_of, is_unspaced, split_sentences
from groundling.language.text_limits import Limits

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


SHIPPED_PIPELINE = Path(__file__).parent / "pipeline"
"""The folder of the pipeline that comes with the package."""

SPACY_VERSIONS = ">=3.8.2,<3.9"
"""spaCy versions that the shipped pipeline supports, as in pyproject.toml.

`make parser-versions` evaluates the parser with the oldest and the newest; see docs/parser.md.
"""

_OPEN = ("ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB")
_CLOSED = ("ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ")
universal_tags = frozenset([*_OPEN, *_CLOSED, "PUNCT", "SYM", "X"])
"""The part-of-speech tags of Universal Dependencies."""

_RULES = 3  # version of the splitting and attachment rules; increase it to invalidate caches
_BATCH = 256
# spaCy's tokenizer takes quadratic time on text without spaces, so split long runs first.
_ENDLESS = re.compile(r"(\S{100})(?=\S)")
# Components that would change sentence boundaries, or whose results are not used.
_UNUSED = ("senter", "sentencizer", "ner", "entity_linker", "entity_ruler", "lemmatizer", "textcat")


class SpacyParser:
    """A parser that runs an installed spaCy pipeline, sentence by sentence.

    When the first text is parsed, spaCy is imported and the pipeline is loaded.

    Parameters
    ----------
    pipeline
        The name of an installed pipeline, or its folder.
    limits
        Maximum length of a text.
    language
        The language. Default: from the language code of the pipeline (`en`), or neutral.

    Examples
    --------
    >>> [turn, stop] = SpacyParser(SHIPPED_PIPELINE).parse("Turn left. Stop!")
    >>> turn.tokens, turn.relations
    (('Turn', 'left', '.'), ('root', 'advmod', 'punct'))
    """

    def __init__(
        self, pipeline: str | Path, limits: Limits = Limits(), language: Spoken | None = None
    ) -> None:
        self.pipeline = pipeline
        self.limits = limits
        self._spoken = language
        self._parsing = threading.Lock()

    @property
    def spoken(self) -> Spoken:
        """The language, with its numerals, plurals and sentence ends."""
        if self._spoken is None:
            self._spoken = ENGLISH if self.language.lang == "en" else NEUTRAL
        return self._spoken

    @cached_property
    def name(self) -> str:
        """The name of the parser: the pipeline with its version, and spaCy's version."""
        version = self.language.meta.get("version", "0")
        return f"spacy:{self.pipeline}@{version}-{_spacy_version()}-{_RULES}"

    @cached_property
    def language(self) -> Language:
        """The loaded spaCy pipeline."""
        try:
            import spacy
        except ImportError as error:
            raise SettingError(
                f"This parser requires spaCy, which cannot be imported ({error}). "
                "Run `pip install spacy`, or use the parser named 'chain'."
            ) from error
        try:
            loaded = spacy.load(self.pipeline)
        except Exception as error:  # spaCy raises OSError, ValueError, config errors …
            installed = spacy.util.get_installed_models()
            hint = did_you_mean(self.pipeline, installed) or " No pipeline is installed."
            raise SettingError(
                f"The spaCy pipeline {str(self.pipeline)!r} cannot be loaded: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}.{hint}"
            ) from error
        if "parser" not in loaded.pipe_names:
            raise SettingError(
                f"The spaCy pipeline {str(self.pipeline)!r} must have a dependency parser; got "
                f"only {', '.join(loaded.pipe_names) or 'a tokeniser'}. Choose another pipeline."
            )
        return loaded

    def __getstate__(self) -> dict[str, object]:
        # Copies in other processes load the pipeline again, as it has many megabytes.
        own = ("language", "_parsing")
        return {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__ |= {**state, "_parsing": threading.Lock()}

    def parse(self, text: str) -> list[Instruction]:
        """Return an instruction for each sentence of a text."""
        return self.parse_many([text])[0]

    def parse_many(self, texts: Iterable[str]) -> list[list[Instruction]]:
        """Parse the sentences of many texts in batches."""
        cut = []
        for text in texts:
            self.limits.check(text)
            cut.append(split_sentences(text, self.spoken))
            self.limits.check_words(text, sum(map(self._count, cut[-1])))
        # Without the zone, spaCy would keep every new word forever. Zones must not overlap.
        with self._parsing, self.language.memory_zone():
            parsed = self.parse_sentences(sentence for sentences in cut for sentence in sentences)
            return [list(islice(parsed, len(sentences))) for sentences in cut]

    def _count(self, sentence: str) -> int:
        # Approximate: spaCy splits slightly more finely.
        return len(sentence.split())

    def parse_sentences(self, sentences: Iterable[str]) -> Iterator[Instruction]:
        """Yield an instruction for each given sentence, which is not split further."""

        def documents() -> Iterator[Doc]:
            for sentence in sentences:
                split = self.language.tokenizer(_ENDLESS.sub(r"\1 ", sentence))
                words = [token.text for token in split if not token.is_space]
                document = one_sentence(self.language, words)
                document.user_data["sentence"] = sentence
                yield document

        return self.parse_documents(documents())

    def parse_documents(self, documents: Iterable[Doc]) -> Iterator[Instruction]:
        """Yield an instruction for each spaCy document, which must be one sentence."""
        unused = [name for name in _UNUSED if name in self.language.pipe_names]
        for document in self.language.pipe(documents, batch_size=_BATCH, disable=unused):
            yield _read(document)


class ShippedParser(SpacyParser):
    """The shipped parser, for English instructions and general English.

    Sentences that are mostly in scripts without spaces (Chinese, Japanese, Thai …) are parsed as
    chains, with each character as one word, because the pipeline would treat the whole
    sentence as one word.

    The pipeline is trained by ``python -m tools.parser.train``; its model card is in
    `SHIPPED_PIPELINE`. Untested versions of spaCy raise a `SettingError`.

    >>> [turn] = ShippedParser().parse("turn left and walk to the sofa")
    >>> [turn.tokens[head] if head >= 0 else "-" for head in turn.heads]
    ['-', 'turn', 'walk', 'turn', 'sofa', 'sofa', 'walk']
    >>> ShippedParser().parse("向左转。")[0].tokens
    ('向', '左', '转', '。')
    """

    def __init__(self, limits: Limits = Limits(), language: Spoken = ENGLISH) -> None:
        super().__init__(SHIPPED_PIPELINE, limits, language)

    @cached_property
    def language(self) -> Language:
        """The loaded spaCy pipeline."""
        _check_version(_spacy_version())
        return super().language

    @cached_property
    def name(self) -> str:
        """The parser's name, with its language and versions.

        It consists of ``default``, the language, a digest of the weights and spaCy's
        version.
        """
        digest = hashlib.blake2b(digest_size=4)
        for path in sorted(SHIPPED_PIPELINE.rglob("*")):
            if path.is_file() and path.suffix != ".md":
                digest.update(path.read_bytes())
        named = "" if self.spoken == ENGLISH else f":{self.spoken.name}"
        return f"default{named}@{digest.hexdigest()}-{_spacy_version()}-{_RULES}"

    def _count(self, sentence: str) -> int:
        return len(sentence) if is_unspaced(sentence) else super()._count(sentence)

    def parse_sentences(self, sentences: Iterable[str]) -> Iterator[Instruction]:
        """Yield an instruction for each given sentence, which is not split further."""
        listed = [(sentence, is_unspaced(sentence)) for sentence in sentences]
        parsed = super().parse_sentences(each for each, unspaced in listed if not unspaced)
        for sentence, unspaced in listed:
            yield chain_of(sentence, self.spoken) if unspaced else next(parsed)

    def parse_documents(self, documents: Iterable[Doc]) -> Iterator[Instruction]:
        """Yield an instruction for each spaCy document, which must be one sentence."""
        return map(attach_clauses, super().parse_documents(documents))


def one_sentence(language: Language, words: Iterable[str]) -> Doc:
    """Return words as a spaCy document that is marked as one sentence.

    Without the mark, spaCy could split the document into several sentences with a root each.
    """
    from spacy.tokens import Doc

    listed = list(words)
    starts: list[bool | int | None] = [place == 0 for place in range(len(listed))]
    return Doc(language.vocab, words=listed, sent_starts=starts)


def _spacy_version() -> str:
    try:
        return metadata.version("spacy")
    except metadata.PackageNotFoundError:
        return "none"


def _check_version(installed: str) -> None:
    """Raise `SettingError` if the shipped pipeline needs another version of spaCy."""
    if installed != "none" and not SpecifierSet(SPACY_VERSIONS).contains(installed, True):
        raise SettingError(
            f"The shipped parser requires spaCy {SPACY_VERSIONS}; got spaCy {installed}. Run "
            f"`pip install 'spacy{SPACY_VERSIONS}'`, or use another parser: 'chain', or "
            "'spacy:NAME' for your own pipeline."
        )


def _read(document: Doc) -> Instruction:
    """Return a spaCy document as an instruction."""
    strings = document.vocab.strings
    columns = document.to_array(["HEAD", "DEP", "TAG", "POS"])
    size = len(document)
    tokens = tuple(token.text for token in document)
    if size == 0:
        raise ParseError(
            f"A sentence must contain at least one word; got "
            f"{document.user_data.get('sentence')!r}. Remove "
            "empty sentences."
        )
    places = np.arange(size)
    absolute = columns[:, 0].astype(np.int64) + places
    absolute[absolute == places] = -1
    relations = [strings[int(each)] for each in columns[:, 1]]
    heads = reattach(tokens, absolute.tolist(), relations)
    coarse = columns[:, 3].any()
    tags = [strings[int(each)] for each in columns[:, 3 if coarse else 2]]
    return Instruction(
        tokens=tokens,
        heads=heads,
        relations=tuple(
            "root" if head == -1 else "dep" if name.lower() in ("root", "") else name
            for head, name in zip(heads, relations, strict=True)
        ),
        tags=tuple(tag if tag in universal_tags else "" for tag in tags),
        text=document.user_data.get("sentence", ""),
    )
