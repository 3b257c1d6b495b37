"""Parsers: from a text to instructions, one dependency tree per sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Protocol, runtime_checkable

from groundling.errors import ParseError, SettingError, did_you_mean
from groundling.language.conllu import read_conllu
from groundling.language.instruction import Instruction
from groundling.language.languages import NEUTRAL, Language, load_language
from groundling.language.parse_cache import ParseCache, cache_folder
from groundling.language.sentences import chain_of, split_sentences
from groundling.language.text_limits import Limits


@runtime_checkable
class Parser(Protocol):
    """Protocol of a parser that turns a text into instructions.

    A text without words gives no instructions: ``parse("") == []``. A value that is not a string
    raises an `InstructionError`, and so does a text longer than `Limits` allows.
    """

    @property
    def name(self) -> str:
        """The name of the parser, with its version: equal names must give equal parses."""
        ...

    def parse(self, text: str) -> list[Instruction]:
        """Return an instruction for each sentence of a text."""
        ...

    def parse_many(self, texts: Iterable[str]) -> list[list[Instruction]]:
        """Parse several texts; faster than calling `parse` for each."""
        ...


class ChainParser:
    """A parser without a model: each word depends on the one before it.

    Punctuation marks are words with the tag ``PUNCT``; all other tags are empty.

    Parameters
    ----------
    limits
        Maximum length of a text.
    language
        The language, which defines how text is split into sentences and words, and its numerals
        and plurals.

    Examples
    --------
    >>> [turn] = ChainParser().parse("Turn left!")
    >>> turn.tokens, turn.heads, turn.tags
    (('Turn', 'left', '!'), (-1, 0, 1), ('', '', 'PUNCT'))
    >>> ChainParser().parse("向左转。")[0].tokens
    ('向', '左', '转', '。')
    """

    name = "chain@2"
    limits = Limits()
    spoken = NEUTRAL

    def __init__(self, limits: Limits = Limits(), language: Language = NEUTRAL) -> None:
        self.limits = limits
        self.spoken = language
        if language != NEUTRAL:
            self.name = f"chain:{language.name}@2"

    def parse(self, text: str) -> list[Instruction]:
        """Return a chain of words for each sentence of a text."""
        self.limits.check(text)
        instructions = []
        count = 0
        for sentence in split_sentences(text, self.spoken):
            instructions.append(chain_of(sentence, self.spoken))
            count += len(instructions[-1])
            self.limits.check_words(text, count)
        return instructions

    def parse_many(self, texts: Iterable[str]) -> list[list[Instruction]]:
        """Return the chains of several texts."""
        return [self.parse(text) for text in texts]


class ConlluParser:
    """A parser that looks up sentences in CoNLL-U files, by text or by words.

    Parameters
    ----------
    paths
        A file, a folder of ``*.conllu`` files, or a list of them.
    fallback
        The parser for sentences that are not in the files. Without one, they raise a
        `ParseError`.
    limits
        Maximum length of a text.
    language
        The language of the files.

    Examples
    --------
    >>> import tempfile
    >>> from groundling.language.conllu import write_conllu
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_conllu([Instruction.chain("turn left")], Path(folder) / "a.conllu")
    ...     parser = ConlluParser(folder)
    >>> parser.parse("turn  left")[0].relations
    ('root', 'next')
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        fallback: Parser | None = None,
        limits: Limits = Limits(),
        language: Language = NEUTRAL,
    ) -> None:
        self.limits = limits
        self.spoken = language
        chosen = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
        files: list[Path] = []
        for each in map(Path, chosen):
            inside = sorted(each.glob("*.conllu")) if each.is_dir() else [each]
            if not inside:
                raise ParseError(
                    f"The folder {str(each)!r} must contain *.conllu files; got none. Pass another "
                    "folder."
                )
            files += inside
        self.paths = tuple(files)
        self.fallback = fallback
        self._known: dict[str, Instruction] = {}
        digest = hashlib.blake2b(digest_size=4)
        for path in files:
            for instruction in read_conllu(path):
                for key in (instruction.text, " ".join(instruction.tokens)):
                    self._known.setdefault(_squeeze(key), instruction)
            digest.update(path.read_bytes())
        self.name = f"conllu:{','.join(map(str, chosen))}@{digest.hexdigest()}"
        if fallback is not None:
            self.name += f"+{fallback.name}"

    def parse(self, text: str) -> list[Instruction]:
        """Return the stored parses of the sentences of a text."""
        self.limits.check(text)
        sentences = split_sentences(text, self.spoken)
        whole = self._known.get(_squeeze(text))
        if whole is not None:
            self.limits.check_parsed(text, [whole])
            return [whole]
        found: list[Instruction] = []
        for sentence in sentences:
            known = self._known.get(_squeeze(sentence))
            if known is not None:
                found.append(known)
            elif self.fallback is not None:
                found += self.fallback.parse(sentence)
            else:
                files = ", ".join(map(str, self.paths[:3])) + ("…" if len(self.paths) > 3 else "")
                raise ParseError(
                    f"The sentence {sentence[:80]!r} must be in the parsed files; got no parse in "
                    f"{files}. Add the sentence to a file, or pass a `fallback` parser."
                )
        self.limits.check_parsed(text, found)
        return found

    def parse_many(self, texts: Iterable[str]) -> list[list[Instruction]]:
        """Return the stored parses of the sentences of several texts."""
        return [self.parse(text) for text in texts]


class CachedParser:
    """A parser that caches the parses of another one, in memory and on disk.

    >>> parser = CachedParser(ChainParser(), ParseCache(None))
    >>> parser.parse("turn left") == ChainParser().parse("turn left")
    True
    """

    def __init__(self, parser: Parser, cache: ParseCache) -> None:
        self.parser = parser
        self.cache = cache

    @property
    def name(self) -> str:
        """The name of the inner parser."""
        return self.parser.name

    @property
    def spoken(self) -> Language:
        """The language of the inner parser."""
        return language_of(self.parser)

    def parse(self, text: str) -> list[Instruction]:
        """Return an instruction for each sentence of a text."""
        return self.parse_many([text])[0]

    def parse_many(self, texts: Iterable[str]) -> list[list[Instruction]]:
        """Parse several texts; the inner parser gets only those that are not cached."""
        wanted = list(texts)
        distinct = list(dict.fromkeys(each for each in wanted if isinstance(each, str)))
        if len(distinct) == 0:
            return self.parser.parse_many(wanted)
        known = self.cache.get(self.name, distinct)
        new = [text for text in distinct if text not in known]
        # The inner parser raises the error for values that are not strings.
        new += [text for text in wanted if not isinstance(text, str)]
        if new:
            fresh = dict(zip(new, self.parser.parse_many(new), strict=True))
            self.cache.put(self.name, fresh)
            known.update(fresh)
        return [list(known[text]) for text in wanted]


def language_of(parser: Parser) -> Language:
    """Return the language of a parser (its attribute `spoken`); by default, neutral.

    >>> language_of(ChainParser()).name
    'neutral'
    """
    spoken = getattr(parser, "spoken", NEUTRAL)
    return spoken if isinstance(spoken, Language) else NEUTRAL


_KINDS = ("default", "chain", "chain:LANGUAGE", "spacy:NAME", "conllu:PATH")


def load_parser(
    name: str | Parser = "default", *, cache: ParseCache | None = None, limits: Limits = Limits()
) -> Parser:
    """Load a parser by name; a parser object is returned unchanged.

    Parameters
    ----------
    name
        One of the following. A version suffix such as ``@2`` is ignored, so the `name` of a
        parser is accepted too.

        - ``"default"``: the parser shipped with the package, for English. Sentences in scripts
          without spaces are parsed as chains. ``"default:neutral"`` selects another
          `Language`;
        - ``"chain"``: no model, for any language. ``"chain:english"`` or ``"chain:PATH"``
          selects a `Language` by name or file;
        - ``"spacy:NAME"``: an installed spaCy pipeline, or its folder;
        - ``"conllu:PATH"``: trees from a file.
    cache
        The cache of parses. Default: one in the user's cache folder, see `cache_folder`.
    limits
        Maximum length of a text. Parser objects use their own limits.

    Examples
    --------
    >>> load_parser("chain").parse("turn left")[0].heads
    (-1, 0)
    >>> load_parser("chian")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The parser must be one of default, chain, chain:LANGUAGE,
    spacy:NAME, conllu:PATH; got 'chian'. Did you mean 'chain'?
    """
    if not isinstance(name, str):
        if isinstance(name, Parser):
            return name
        raise SettingError(
            "A parser must be a name or an object with `name`, `parse` and `parse_many`; got "
            f"{type(name).__name__}."
        )
    kind, colon, rest = name.partition(":")
    if not colon:
        kind = name.partition("@")[0]
    if kind == "chain":
        spoken = load_language(_known(rest) if colon else "neutral")
        return ChainParser(limits, spoken)
    if kind == "conllu" and rest:
        return ConlluParser(_known(rest), limits=limits)
    if kind == "default" or (kind == "spacy" and rest):
        from groundling.language.spacy_parser import ShippedParser, SpacyParser

        parser = (
            ShippedParser(limits, load_language(_known(rest) if colon else "english"))
            if kind == "default"
            else SpacyParser(rest.partition("@")[0], limits)
        )
        return CachedParser(parser, ParseCache(cache_folder()) if cache is None else cache)
    raise SettingError(
        f"The parser must be one of {', '.join(_KINDS)}; got {name!r}." + did_you_mean(name, _KINDS)
    )


def _known(name: str) -> str:
    """Remove the version suffix from a name or path."""
    return name if Path(name).exists() else name.rpartition("@")[0] or name


def _squeeze(text: str) -> str:
    return " ".join(text.split())
