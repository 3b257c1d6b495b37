"""Vocabulary of a home model: word counts and the kinds that words suggest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from groundling.errors import GroundlingError
from groundling.home.catalogue import kind_name
from groundling.language.languages import Language

_LEAST = 0.1  # minimum share of a word's sentences about a kind, so that the word suggests the kind
_MOSTLY = 0.5  # minimum share of a word's sentences about a kind, so that the word names the kind
_SEEN = 2  # minimum number of texts that contain a word
_MOST = 6  # maximum number of kinds that one text suggests


@dataclass(frozen=True)
class Knowledge:
    """Word counts of the training texts, and the kinds of entities that words suggest.

    >>> known = Knowledge.learn([(("close", "the", "blinds"), "cover:blind"),
    ...                          (("open", "the", "blinds"), "cover:blind"),
    ...                          (("close", "the", "door"), "cover:door")])
    >>> known.kinds_for(("the", "blinds"), ("light", "cover:blind", "cover:door"))
    ('cover:blind', 'cover:door')
    """

    words: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    frames: frozenset[str] = frozenset()  # words beside free texts
    verbs: frozenset[str] = frozenset()  # commands in the texts; others have no words

    @classmethod
    def learn(
        cls, examples: Iterable[tuple[Sequence[str], str]], frames: Iterable[str] = ()
    ) -> Knowledge:
        """Return the vocabulary of texts, each given as its words and its kind of entity.

        `frames` are the words around free-text values.
        """
        words, pairs = Counter[str](), Counter[tuple[str, str]]()
        for text, kind in examples:
            words.update(set(text))
            pairs.update((word, kind) for word in set(text))
        shares: dict[str, dict[str, float]] = {}
        for (word, kind), count in sorted(pairs.items()):
            if kind and count >= _LEAST * words[word]:
                shares.setdefault(word, {})[kind] = round(count / words[word], 3)
        known = {word: count for word, count in sorted(words.items()) if count >= _SEEN}
        told = {word: shares[word] for word in shares if word in known}
        return cls(known, told, frozenset(known).intersection(frames))

    def kinds_for(
        self, words: Sequence[str], kinds: Sequence[str], language: Language | None = None
    ) -> tuple[str, ...]:
        """Filter `kinds`: return those to which a text may refer, in the given order."""
        if not self.words:
            return tuple(kinds)
        best: dict[str, float] = {}
        singular = {language.singular(each) if language else each for each in words}
        for kind in kinds:
            parts = set(kind_name(kind).split())
            if parts & singular:
                best[kind] = 1.0
        for word in words:
            for kind, share in self.shares.get(word, {}).items():
                best[kind] = max(share, best.get(kind, 0.0))
        found = sorted((each for each in kinds if each in best), key=lambda each: -best[each])
        chosen = set(found[:_MOST])
        return tuple(each for each in kinds if each in chosen)

    def says(self, word: str, kind: str, language: Language) -> bool:
        """Return whether a word names a kind of entity.

        >>> from groundling.language import ENGLISH
        >>> Knowledge().says("fans", "fan", ENGLISH)
        True
        """
        return (
            language.singular(word) in kind_name(kind).split()
            or self.shares.get(word, {}).get(kind, 0.0) >= _MOSTLY
        )

    def domains_of(self, word: str) -> tuple[str, ...]:
        """Return the domains of at least half of the texts that contain a word.

        >>> Knowledge({}, {"blinds": {"cover:blind": 0.5, "cover": 0.4}}).domains_of("blinds")
        ('cover',)
        """
        found: dict[str, float] = {}
        for kind, share in self.shares.get(word, {}).items():
            domain = kind.partition(":")[0]
            found[domain] = found.get(domain, 0.0) + share
        return tuple(domain for domain, share in found.items() if share >= _MOSTLY)

    def to_json(self) -> str:
        """Return the vocabulary as a JSON string."""
        data = {
            "words": self.words, "shares": self.shares, "frames": sorted(self.frames),
            "verbs": sorted(self.verbs),
        }  # fmt: skip
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Knowledge:
        """Restore the vocabulary from a JSON string written by `to_json`."""
        try:
            data = json.loads(text)
            words = {str(word): int(count) for word, count in data["words"].items()}
            shares = {
                str(word): {str(kind): float(share) for kind, share in kinds.items()}
                for word, kinds in data["shares"].items()
            }
            frames = frozenset(map(str, data.get("frames", ())))
            verbs = frozenset(map(str, data.get("verbs", ())))
        except (
            ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
        ) as error:  # fmt: skip
            raise GroundlingError(
                "The vocabulary of a home model must be a file from `HomeModel.save`; reading it "
                f"raised {error!r}. Train the model again."
            ) from error
        return cls(words, shares, frames, verbs)
