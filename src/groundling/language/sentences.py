"""Splitting of text into sentences and words, by rules for all scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from groundling.errors import InstructionError
from groundling.language.instruction import Instruction
from groundling.language.languages import NEUTRAL, Language

# A full stop ends a sentence only before whitespace or the end (not in "2.5"), and not after an
# abbreviation; full-width marks need no whitespace. The possessive "++" and the lookbehind keep
# the time linear on long runs of marks.
_END = re.compile(
    r"""(?:(?<![!?…])[!?…]++|(?<!\.)\.++|;)["'”’)\]]*+(?=\s|$)"""
    r"""|[。！？；．]+[”’」』）]*|(?<![؟۔।])[؟۔।]++(?=\s|$)"""
)
_NO_BREAK = re.compile(r"[^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_LINE = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Scripts without spaces between words: each character is one word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_MARK = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
_LETTER = rf"(?:(?![{_UNSPACED}])\w)"
_WORD = re.compile(
    rf"[{_UNSPACED}][{_MARK}]*"
    rf"|{_LETTER}(?:{_LETTER}|[{_MARK}]|['’\-](?={_LETTER})|(?<=\d)[.,:](?=\d))*"
    rf"|[^\w\s](?:[{_MARK}]|(?<=\u200d)[^\w\s])*"
)
# A number is one word in any script.
_CHARACTER = re.compile(rf"\d+(?:[.,]\d+)*|\S[{_MARK}]*")
_LONGEST_ABBREVIATION = 12
_LONGEST_RUN = 8  # maximum characters of a possible word in a script without spaces


def split_sentences(text: str, language: Language = NEUTRAL) -> list[str]:
    r"""Split a text into sentences at punctuation marks and line breaks.

    The marks are full stops, question and exclamation marks and semicolons of all scripts.
    Pieces without a letter, digit or symbol (empty lines, lone punctuation) are dropped.
    Control characters count as spaces. The language defines abbreviations and further marks.

    >>> split_sentences("Turn left. Go 2.5 m; stop!\nThen wait")
    ['Turn left.', 'Go 2.5 m;', 'stop!', 'Then wait']
    >>> split_sentences("向左转。然后走到沙发！")
    ['向左转。', '然后走到沙发！']
    >>> split_sentences("  ... ")
    []
    """
    if not isinstance(text, str):
        raise InstructionError(f"A text to parse must be a string; got {type(text).__name__}.")
    sentences = []
    abbreviation, ends = _rules(language.abbreviations, language.sentence_ends)
    for line in _LINE.split(text):
        line = _NO_BREAK.sub(" ", "".join(map(_printable, line)))
        start = 0
        for match in ends.finditer(line):
            if abbreviation and match[0] == "." and match.end() < len(line.rstrip()):
                before = line[max(start, match.end() - _LONGEST_ABBREVIATION) : match.end()]
                if abbreviation.search(before):
                    continue
            sentences.append(line[start : match.end()].strip())
            start = match.end()
        sentences.append(line[start:].strip())
    return [each for each in sentences if any(map(_is_content, each))]


@lru_cache(maxsize=64)
def _rules(
    abbreviations: tuple[str, ...], ends: str
) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    """Return two patterns: abbreviations before a full stop, and sentence ends."""
    listed = "|".join(map(re.escape, abbreviations))
    found = re.compile(rf"(?:^|[\s(])(?:{listed})\.$", re.I) if abbreviations else None
    return found, re.compile(rf"{_END.pattern}|[{re.escape(ends)}]+") if ends else _END


def split_words(sentence: str, language: Language = NEUTRAL) -> list[str]:
    """Split a sentence into words and punctuation marks.

    In scripts without spaces (Chinese, Japanese, Thai …), and in languages with `spaced=False`,
    each character is one word. A language may also provide a tokeniser (`segment`).

    >>> split_words("Walk 2.5 metres, don't stop.")
    ['Walk', '2.5', 'metres', ',', "don't", 'stop', '.']
    >>> split_words("走到 sofa 旁边")
    ['走', '到', 'sofa', '旁', '边']
    """
    if language.segment is not None:
        words = language.segment(sentence)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InstructionError(
                f"The tokeniser of {language.name} must return a list of words; got "
                f"{str(words)[:60]!r} for {sentence[:60]!r}."
            )
        return [word for word in (each.strip() for each in words) if word]
    return (_WORD if language.spaced else _CHARACTER).findall(sentence)


def chain_of(sentence: str, language: Language = NEUTRAL) -> Instruction:
    """Return a sentence as a chain, in which punctuation marks have the tag ``PUNCT``.

    >>> chain_of("向左转。").tags
    ('', '', '', 'PUNCT')
    """
    words = split_words(sentence, language)
    chain = Instruction.chain(
        words, tags=("PUNCT" if is_punctuation(word) else "" for word in words)
    )
    return replace(chain, text=sentence)


def is_unspaced(sentence: str) -> bool:
    """Return whether a sentence is mostly in scripts without spaces between words.

    Each character of such a script counts as one word.

    >>> is_unspaced("歯医者を Thursday に移して"), is_unspaced("fly to 東京 on Monday")
    (True, False)
    """
    if not _HAS_UNSPACED.search(sentence):
        return False
    words = [word for word in _WORD.findall(sentence) if not is_punctuation(word)]
    return 2 * sum(bool(_HAS_UNSPACED.match(word)) for word in words) > len(words)


def are_characters(words: Sequence[str]) -> bool:
    """Return whether most words are single characters, as in scripts without spaces.

    >>> are_characters(["向", "左", "转"]), are_characters(["turn", "left"])
    (True, False)
    """
    return sum(len(word) == 1 for word in words) * 2 > len(words)


def runs_of(words: Sequence[str], longest: int = _LONGEST_RUN) -> Iterator[str]:
    """Yield sequences of neighbouring characters, because any sequence may be a word.

    Yields nothing for a text whose words are separated by spaces.

    >>> list(runs_of(["向", "左", "转"])), list(runs_of(["turn", "left"]))
    (['向左', '向左转', '左转'], [])
    """
    if are_characters(words):
        for begin, first in enumerate(words):
            run = first
            for word in words[begin + 1 : begin + longest]:
                if is_punctuation(first) or is_punctuation(word):
                    break
                run += word
                yield run


def is_punctuation(word: str) -> bool:
    """Return whether a word has no letter, digit or symbol.

    >>> is_punctuation("..."), is_punctuation("a."), is_punctuation("🙂")
    (True, False, False)
    """
    return not any(map(_is_content, word))


def _is_content(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNS" or character == "\ufffd"


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":  # a lone surrogate cannot be encoded
        return "\ufffd"
    if category == "Cc" or character in "\ufeff\u200b":
        return " "
    return character
