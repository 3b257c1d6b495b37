"""Phrases and reply words of the agent, in one table per language."""

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
    "no answer": "?",
    "no plan": "–",
    "already": "✓",
    "cancelled": "–",
    "again": "?",
    "no question": "?",
    "yes": "✓",
    "no": "✗",
    "nothing": "–",
}
"""Phrases for languages without a table, with symbols instead of words."""


@dataclass(frozen=True)
class PhraseTable:
    """The phrases and reply words of one language.

    Attributes
    ----------
    phrases
        The agent's phrases, with the same keys as `WORDLESS` and placeholders such as `{options}`.
        Further keys are `which ARTICLE` and `one ARTICLE` for nouns with that article, and `asks
        KIND` for the first words of questions.
    replies
        Words in replies to a question: `yes`, `no`, `not`, `all`, `none`, `cancel`, `first`,
        `last`, and words to ignore (`filler`).
    common
        Frequent function words, used for language detection and ignored in replies.
    ordinals
        Words for *first*, *second* and so on.
    articles
        Articles that agree with the noun after them.
    endings
        Endings in which the forms of a word may differ, for parsers of another language.
    """

    phrases: Mapping[str, str]
    replies: Mapping[str, tuple[str, ...]]
    common: tuple[str, ...]
    ordinals: Mapping[str, float]
    articles: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()


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
            articles=frozenset(table["words"].get("articles", "").split("|")) - {""},
            endings=tuple(filter(None, table["words"].get("endings", "").split("|"))),
        )
        for language, table in data.items()
    }


PHRASES: Mapping[str, PhraseTable] = _read_tables()
"""The tables from `phrases.toml`, keyed by language name."""

_LEAST = 0.05  # minimum share of function words for detecting a language


def detect(counts: Mapping[str, float]) -> str:
    """Return the name of the language in which words are frequent; "" if none fits.

    `counts` are the numbers of occurrences of the words. The possible languages are those of
    `PHRASES`.

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


def with_phrases(language: Language, counts: Mapping[str, float], chosen: str = "") -> Language:
    """Return a language with phrases and reply words; existing ones are kept.

    The phrases are those of the language `chosen` or, by default, of the language of the
    demonstrations, which is detected from the word `counts`. If detection fails, the name of the
    given language decides. If there are no phrases, the given language is returned unchanged.
    Replies are understood in the language of the phrases and in that of the demonstrations.

    >>> from groundling.language import NEUTRAL
    >>> with_phrases(NEUTRAL, {"zum": 3, "tisch": 1}).phrases["or"]
    'oder'
    >>> both = with_phrases(NEUTRAL, {"zum": 3, "tisch": 1}, "english")
    >>> both.phrases["or"], "doch nicht" in both.replies["cancel"]
    ('or', True)
    """
    if language.phrases:
        return language
    names = dict.fromkeys(filter(PHRASES.get, (chosen, detect(counts) or language.name)))
    tables = [PHRASES[name] for name in names]
    if not tables:
        return language
    # A parser of another language does not know the function words of these tables.
    foreign = [PHRASES[name] for name in names if name != language.name]

    def more(known: tuple[str, ...], name: str) -> tuple[str, ...]:
        return (*known, *(word for each in foreign for word in each.replies.get(name, ())))

    return replace(
        language,
        phrases=tables[0].phrases,
        replies={
            meaning: tuple(word for table in tables for word in table.replies.get(meaning, ()))
            for meaning in dict.fromkeys(each for table in tables for each in table.replies)
        },
        function_words=(*language.function_words, *(w for e in foreign for w in e.common)),
        stop_words=(*language.stop_words, *(w for e in foreign for w in sorted(e.articles))),
        universals=more(language.universals, "all"),
        negations=more(language.negations, "not"),
        plurals=(*((end, "") for table in foreign for end in table.endings), *language.plurals),
        ordinals={
            word: n
            for ordinals in (*(table.ordinals for table in tables), language.ordinals)
            for word, n in ordinals.items()
        },
    )


def phrase(language: Language, name: str, **parts: str) -> str:
    """Return a phrase of a language, with its placeholders filled in.

    >>> from groundling.language import ENGLISH
    >>> phrase(with_phrases(ENGLISH, {}), "one", value="red")
    'the red one'
    """
    text = language.phrases.get(name) or WORDLESS[name]
    for place, value in parts.items():
        text = text.replace(f"{{{place}}}", value)
    return text


def listed(language: Language, items: Sequence[str], joint: Literal["or", "and"]) -> str:
    """Join items into a list, with *or* or *and* before the last item.

    >>> from groundling.language import ENGLISH
    >>> listed(with_phrases(ENGLISH, {}), ["red", "blue", "grey"], "or")
    'red, blue or grey'
    """
    *first, last = items
    return f"{', '.join(first)} {phrase(language, joint)} {last}" if first else last


def quoted(language: Language, words: Iterable[str]) -> list[str]:
    """Put each word in the quotation marks of the language."""
    return [phrase(language, "quoted", word=word) for word in words]
