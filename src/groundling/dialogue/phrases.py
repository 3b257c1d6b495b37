"""What an agent says and what it hears as a reply: one table of strings per language."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal

from groundling.language.languages import Language

WORDLESS: Mapping[str, str] = {
    "quoted": "“{word}”",
    "which": "{thing}: {options}?",
    "which one": "{options}?",
    "one": "{value}",
    "thing": "{value}",
    "mean": "{options}?",
    "or": "/",
    "and": "/",
    "none": "–",
    "unknown": "{words}?",
    "unknown words": "{words}?",
    "decline": "?",
    "no plan": "–",
    "cancelled": "–",
    "again": "?",
    "no question": "?",
    "yes": "✓",
    "no": "✗",
    "nothing": "–",
}
"""What an agent says in a language without phrases: signs instead of words."""


@dataclass(frozen=True)
class PhraseTable:
    """The strings of one language.

    Attributes
    ----------
    phrases
        What an agent says, by name (the names of `WORDLESS`), with places such as `{options}`.
    replies
        What people reply to a question: words for `yes`, `no`, `not`, `all`, `none`, `cancel`,
        `first`, `last`, and words without meaning (`filler`).
    common
        Frequent function words. They tell languages apart and carry no meaning in a reply.
    ordinals
        Words for *first*, *second* and so on.
    """

    phrases: Mapping[str, str]
    replies: Mapping[str, tuple[str, ...]]
    common: tuple[str, ...]
    ordinals: Mapping[str, float]


def _read_tables() -> dict[str, PhraseTable]:
    data = tomllib.loads((files("groundling.dialogue") / "phrases.toml").read_text("utf-8"))
    return {
        language: PhraseTable(
            phrases=table["phrases"],
            replies={name: tuple(said.split("|")) for name, said in table["replies"].items()},
            common=tuple(table["words"]["common"].split("|")),
            ordinals={
                word: float(number)
                for number, name in enumerate(("first", "second", "third"), 1)
                for word in table["words"][name].split("|")
            },
        )
        for language, table in data.items()
    }


PHRASES: Mapping[str, PhraseTable] = _read_tables()
"""The tables by the name of their language, read from `phrases.toml`."""

_LEAST = 0.05  # share of the words in demonstrations that must be function words of a language


def detect(counts: Mapping[str, float]) -> str:
    """Return the language in which words are frequent; nothing if none of `PHRASES` fits.

    >>> detect({"geh": 2, "zum": 2, "tisch": 1}), detect({"go": 2, "to": 2, "the": 2})
    ('german', 'english')
    >>> detect({"olu": 3, "ke": 2})
    ''
    """
    total = sum(counts.values())
    shares = {
        name: sum(counts.get(word, 0) for word in table.common) / max(total, 1)
        for name, table in PHRASES.items()
    }
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _LEAST else ""


def with_phrases(language: Language, counts: Mapping[str, float], otherwise: str = "") -> Language:
    """Return a language with the phrases of the demonstrations' language, if it has none itself.

    `counts` are the words of the demonstrations. If they tell nothing, the phrases are those of
    `otherwise`, or signs.

    >>> from groundling.language import NEUTRAL
    >>> with_phrases(NEUTRAL, {"zum": 3, "tisch": 1}).phrases["or"]
    'oder'
    """
    if language.phrases:
        return language
    known = language.name if language.name in PHRASES else otherwise
    table = PHRASES.get(detect(counts) or known)
    if table is None:
        return language
    return replace(
        language,
        phrases=table.phrases,
        replies=table.replies,
        function_words=language.function_words or table.common,
        ordinals={**table.ordinals, **language.ordinals},
    )


def phrase(language: Language, name: str, **parts: str) -> str:
    """Return a phrase of a language, with its places filled.

    >>> from groundling.language import ENGLISH
    >>> phrase(with_phrases(ENGLISH, {}), "one", value="red")
    'the red one'
    """
    text = language.phrases.get(name, WORDLESS[name])
    for place, value in parts.items():
        text = text.replace(f"{{{place}}}", value)
    return text


def listed(language: Language, items: Sequence[str], joint: Literal["or", "and"]) -> str:
    """Return items as a list in words.

    >>> from groundling.language import ENGLISH
    >>> listed(with_phrases(ENGLISH, {}), ["red", "blue", "grey"], "or")
    'red, blue or grey'
    """
    *first, last = items
    return f"{', '.join(first)} {phrase(language, joint)} {last}" if first else last


def quoted(language: Language, words: Iterable[str]) -> list[str]:
    """Return words in the quotation marks of a language."""
    return [phrase(language, "quoted", word=word) for word in words]
