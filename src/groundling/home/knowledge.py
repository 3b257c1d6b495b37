"""What is learnt about words before the model is: which there are, and which kinds they suggest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from groundling.errors import GroundlingError
from groundling.home.catalogue import kind_name
from groundling.language.languages import Language

_LEAST = 0.1  # share of a word's sentences that suggest a kind
_MOSTLY = 0.5  # share of a word's sentences from which it is a word for a kind
_SEEN = 2  # texts that a word must be in
_MOST = 6  # kinds that one text suggests


@dataclass(frozen=True)
class Knowledge:
    """Words of the training texts with their counts, and the kinds of things they go with.

    >>> known = Knowledge.learn([(("close", "the", "blinds"), "cover:blind"),
    ...                          (("open", "the", "blinds"), "cover:blind"),
    ...                          (("close", "the", "door"), "cover:door")])
    >>> known.kinds_for(("the", "blinds"), ("light", "cover:blind", "cover:door"))
    ('cover:blind', 'cover:door')
    """

    words: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def learn(cls, examples: Iterable[tuple[Sequence[str], str]]) -> Knowledge:
        """Count the words of masked texts, and how often each goes with a kind."""
        words, pairs = Counter[str](), Counter[tuple[str, str]]()
        for text, kind in examples:
            words.update(set(text))
            pairs.update((word, kind) for word in set(text))
        shares: dict[str, dict[str, float]] = {}
        for (word, kind), count in sorted(pairs.items()):
            if kind and count >= _LEAST * words[word]:
                shares.setdefault(word, {})[kind] = round(count / words[word], 3)
        known = {word: count for word, count in sorted(words.items()) if count >= _SEEN}
        return cls(known, {word: shares[word] for word in shares if word in known})

    def kinds_for(
        self, words: Sequence[str], kinds: Sequence[str], language: Language | None = None
    ) -> tuple[str, ...]:
        """Return the kinds that a text may speak of, in their usual order; without words, all."""
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
        """Tell whether a word is one for a kind of things.

        >>> from groundling.language import ENGLISH
        >>> Knowledge().says("fans", "fan", ENGLISH)
        True
        """
        return (
            language.singular(word) in kind_name(kind).split()
            or self.shares.get(word, {}).get(kind, 0.0) >= _MOSTLY
        )

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps({"words": self.words, "shares": self.shares}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Knowledge:
        """Return what `to_json` wrote."""
        try:
            data = json.loads(text)
            words = {str(word): int(count) for word, count in data["words"].items()}
            shares = {
                str(word): {str(kind): float(share) for kind, share in kinds.items()}
                for word, kinds in data["shares"].items()
            }
        except (
            ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
        ) as error:  # fmt: skip
            raise GroundlingError(
                f"The words of a model of homes must be as they were saved; got {error}."
            ) from error
        return cls(words, shares)
