"""Landmark names in speech: which words may mean which name, although nobody spells."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from groundling.tasks.maps.landscape import Landscape

# Words that join the parts of a name; alone they name nothing.
LINKS = frozenset({"a", "an", "and", "at", "by", "in", "of", "on", "the"})

_ALIKE = 0.9  # what a word that is only similar counts
_OUTSIDE = re.compile(r"[^\w]+")


class NameMatcher:
    """Which words of a landscape's names a spoken word may be.

    A spoken word is a name's word when they are equal (score 1), or (score 0.9) when one
    is the other's plural, both begin with the same five letters, or both have at least
    four letters and a similarity (`rapidfuzz.fuzz.ratio`) of at least `threshold`. Each
    different word is compared once.

    A name's words count by how few names of the map have them: of *old mill* and *old
    barn*, *mill* says more than *old*. The number of a landmark's copy counts nothing.

    Parameters
    ----------
    landscape
        The landmarks whose names are looked for.
    threshold
        The least similarity, in percent; above 100 there are no similar words.
    fuzzy
        Whether words that are not equal count at all.

    Examples
    --------
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> matcher = NameMatcher(Landscape(
    ...     (Landmark("start", 0, 0), Landmark("old mill", 0, 9), Landmark("old barn", 9, 9))
    ... ))
    >>> matcher.scores("Mills")
    {'mill': 0.9}
    >>> [float(round(score, 2)) for score in matcher.match({"old": 1.0, "mill": 0.9})]
    [0.0, 0.93, 0.33]
    """

    def __init__(self, landscape: Landscape, threshold: float = 80.0, fuzzy: bool = True) -> None:
        self.fuzzy = fuzzy
        self.landscape = landscape
        self.threshold = threshold
        names = {each.name: tuple(map(self._plain, each.words)) for each in landscape.landmarks}
        self.words = tuple(dict.fromkeys(word for words in names.values() for word in words))
        self._place = {word: number for number, word in enumerate(self.words)}
        # [word, landmark]: the share of the name that the word makes up
        self.shares: npt.NDArray[np.float64] = np.zeros((len(self.words), len(landscape)))
        for column, landmark in enumerate(landscape.landmarks):
            content = [word for word in names[landmark.name] if word not in LINKS]
            for word in content or names[landmark.name]:
                owners = sum(word in words for words in names.values())
                self.shares[self._place[word], column] = 1.0 / owners
        self.shares /= self.shares.sum(axis=0)
        self._scores: dict[str, dict[str, float]] = {}

    @staticmethod
    def _plain(word: str) -> str:
        return _OUTSIDE.sub("", word.lower())

    def scores(self, token: str) -> dict[str, float]:
        """Return the name words that a spoken word may be, and how well each fits."""
        if token not in self._scores:
            plain = self._plain(token)
            fits = ((word, self._fit(plain, word)) for word in self.words)
            self._scores[token] = {word: fit for word, fit in fits if fit > 0}
        return self._scores[token]

    def _fit(self, spoken: str, word: str) -> float:
        if spoken == word:
            return 1.0
        if not self.fuzzy or not spoken or word in LINKS or spoken in LINKS:
            return 0.0
        if spoken == word + "s" or word == spoken + "s":
            return _ALIKE
        if min(len(spoken), len(word)) >= 5 and spoken[:5] == word[:5]:
            return _ALIKE
        if min(len(spoken), len(word)) >= 4:
            # the cut-off lets rapidfuzz give up early on words that differ
            return _ALIKE if fuzz.ratio(spoken, word, score_cutoff=self.threshold) > 0 else 0.0
        return 0.0

    def match(self, found: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """Return for each landmark how much of its name was found, between 0 and 1."""
        scores = np.zeros(len(self.words))
        for word, score in found.items():
            scores[self._place[word]] = score
        result: npt.NDArray[np.float64] = scores @ self.shares
        return result

    def full(self, found: Mapping[str, float]) -> npt.NDArray[np.bool_]:
        """Tell for each landmark whether its whole name was found."""
        result: npt.NDArray[np.bool_] = self.match(dict.fromkeys(found, 1.0)) > 1.0 - 1e-9
        return result
