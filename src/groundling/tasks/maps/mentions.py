"""Text units of a dialogue: the places where a landmark is mentioned, and those where none is."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

from groundling.language import Instruction
from groundling.tasks.maps.corpus import FOLLOWER, GIVER, Utterance
from groundling.tasks.maps.landscape import Landscape
from groundling.tasks.maps.names import LINKS, NameMatcher

Array = npt.NDArray[np.float64]

# Families of direction words, as (east, north).
DIRECTIONS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "compass": {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)},
    "page": {
        **dict.fromkeys(("up", "upwards", "upward"), (0, 1)),
        **dict.fromkeys(("down", "downwards", "downward"), (0, -1)),
        **dict.fromkeys(("right", "right-hand", "rightwards"), (1, 0)),
        **dict.fromkeys(("left", "left-hand", "leftwards"), (-1, 0)),
    },
    "place": {
        **dict.fromkeys(("top", "above", "over"), (0, 1)),
        **dict.fromkeys(("bottom", "below", "beneath", "underneath", "under"), (0, -1)),
    },
}
_DIRECTION = {
    word: (family, axes) for family, words in DIRECTIONS.items() for word, axes in words.items()
}
# (sum, number) of direction words by family and axis
_Pulls: TypeAlias = "dict[str, tuple[int, int]]"

_CUES = {
    "negation": "no not don't haven't hasn't isn't doesn't didn't won't can't never without",
    "motion": (
        "go going come coming head heading move moving turn turning walk carry continue follow "
        "curve curving bend draw pass passing travel keep loop round around"
    ),
    "ending": "finish finishes finished end ends cross stop stops x",
}
# What an utterance does, told by its words.
CUES: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _CUES.items()
}
_QUESTION = re.compile(
    r"\b(have you|do you have|have you got|you got|do you see|can you see|is there|got a)\b"
)
_MENTIONS = ("mention=1", "mention=2", "mention=3+")
_BEFORE = 4  # words before a mention
_RECENT = 6  # utterances whose direction words are remembered
_AROUND = 4  # units before and after in which mentions are looked for


@dataclass(frozen=True)
class TextUnit:
    """A stretch of text that may make the agent move once: a mention, or an utterance without.

    Parameters
    ----------
    instruction
        The words of the mention as a chain; for a silent unit, those of the utterance.
    utterance, first, last
        Where the words stand: the utterance's number in the dialogue, the first word and
        the one after the last.
    speaker
        Who speaks.
    silent
        Whether no landmark is mentioned.
    labels
        The unit's context, see `TextUnits`.
    """

    instruction: Instruction
    utterance: int
    first: int
    last: int
    speaker: str
    silent: bool
    labels: Mapping[str, bool | float]


class TextUnits(Sequence[TextUnit]):
    """The text units of a dialogue in order, and how they relate to the landmarks.

    Each unit has **labels of its own** (`unit.labels`; false ones are left out):

    - `giver` or `follower`; `silent` where no landmark is mentioned;
    - `before=…`: each of the four words before the mention (not of silent units);
    - `question`, `negation`, `motion`, `ending`: what the words of the utterance suggest
      (*have you got*; the words in `CUES`);
    - `compass-east`, `compass-north`, `page-…`, `place-…`: where the direction words of
      the utterance point, between -1 and 1, for each family in `DIRECTIONS`; with
      `recent-` before, those of the six utterances before;
    - `passed`: the share of the units that came before, from 0 to just under 1.

    And **labels for each landmark** (`units.labels(number, key)`):

    - `match`: how much of its name the unit has, between 0 and 1; `full` where it has all
      of it, `best` where no landmark matches better, `follower-match` where the follower
      says it;
    - `mention=1`, `mention=2` or `mention=3+`: which mention of the landmark it is,
      where it is the best match;
    - `left=0`, `left=1-2` or `left=5+`: how many mentions of it follow; `never` where
      there are none in the whole dialogue; `share`: its share of all mentions;
    - `soon` and `lately`: its best match in the four units after and before.

    The same numbers as arrays, [unit, landmark]: `match`, `full`, `best`, `earlier` and
    `later` (counts of mentions before and after), `soon` and `lately`.
    """

    def __init__(
        self,
        landscape: Landscape,
        units: Sequence[TextUnit],
        match: Array,
        full: npt.NDArray[np.bool_],
    ) -> None:
        self.landscape = landscape
        self._units = tuple(units)
        self.match = match
        self.full = full
        top = match.max(axis=1, keepdims=True, initial=0.0)
        self.best = (match > 0) & (match >= top)
        mentions = self.best.astype(np.int64)
        so_far = np.cumsum(mentions, axis=0)
        self.earlier = so_far - mentions
        self.total: npt.NDArray[np.int64] = mentions.sum(axis=0)
        self.later = self.total - so_far
        self.soon, self.lately = np.zeros_like(match), np.zeros_like(match)
        for shift in range(1, min(_AROUND, len(match) - 1) + 1):
            np.maximum(self.soon[:-shift], match[shift:], out=self.soon[:-shift])
            np.maximum(self.lately[shift:], match[:-shift], out=self.lately[shift:])

    def __len__(self) -> int:
        return len(self._units)

    @overload
    def __getitem__(self, number: int) -> TextUnit: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[TextUnit, ...]: ...

    def __getitem__(self, number: int | slice) -> TextUnit | tuple[TextUnit, ...]:
        return self._units[number]

    def __iter__(self) -> Iterator[TextUnit]:
        return iter(self._units)

    def labels(self, number: int, key: str) -> dict[str, bool | float]:
        """Return the labels of a unit for one landmark; see the class."""
        place = (number, self.landscape.place(key))
        match, later = float(self.match[place]), int(self.later[place])
        total = int(self.total[place[1]])
        labels: dict[str, bool | float] = {}
        if match > 0:
            labels["match"] = match
            if self.full[place]:
                labels["full"] = True
            if self._units[number].speaker == FOLLOWER:
                labels["follower-match"] = True
        if self.best[place]:
            labels["best"] = True
            labels[_MENTIONS[min(int(self.earlier[place]), 2)]] = True
        if total == 0:
            labels["never"] = True
        elif later == 0:
            labels["left=0"] = True
        elif later <= 2:
            labels["left=1-2"] = True
        elif later >= 5:
            labels["left=5+"] = True
        numbers = {
            "share": total / max(1, int(self.total.sum())),
            "soon": float(self.soon[place]),
            "lately": float(self.lately[place]),
        }
        labels.update((name, value) for name, value in numbers.items() if value > 0)
        return labels


def read_units(
    utterances: Sequence[Utterance],
    landscape: Landscape,
    *,
    speakers: Collection[str] = (GIVER, FOLLOWER),
    matcher: NameMatcher | None = None,
) -> TextUnits:
    """Find the text units of a dialogue, in time linear in its words.

    A mention is a longest run of words that each may be a word of some landmark's name
    (see `NameMatcher`); *of* and the like count inside a run only. The giver's utterances
    of two words or more without a mention are silent units.

    Parameters
    ----------
    utterances
        Who said what.
    landscape
        Whose landmarks are talked about.
    speakers
        Whose lines are read: give `("g",)` for the giver's alone.
    matcher
        The matcher of the landscape, to share its memory among the dialogues of a map.

    Examples
    --------
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape((Landmark("start", 0, 0), Landmark("old mill", 90, 0)))
    >>> talk = [Utterance("g", "go right"), Utterance("g", "'til you reach the old mill there")]
    >>> units = read_units(talk, landscape)
    >>> [(str(unit.instruction), unit.silent) for unit in units]
    [('go right', True), ('old mill', False)]
    >>> units[0].labels
    {'giver': True, 'motion': True, 'page-east': 1.0, 'silent': True, 'passed': 0.0}
    >>> units.labels(1, "old mill")
    {'match': 1.0, 'full': True, 'best': True, 'mention=1': True, 'left=0': True, 'share': 1.0}
    """
    matcher = NameMatcher(landscape) if matcher is None else matcher
    drafts: list[tuple[int, int, int, dict[str, float]]] = []
    split: dict[int, tuple[str, ...]] = {}
    contexts: dict[int, dict[str, bool | float]] = {}
    recent: deque[_Pulls] = deque(maxlen=_RECENT)
    for number, utterance in enumerate(utterances):
        if utterance.speaker not in speakers:
            continue
        words = split[number] = utterance.words
        pulls = _pulls(words)
        contexts[number] = _context(words, pulls, recent)
        recent.append(pulls)
        runs = _runs(words, matcher)
        for first, last in runs:
            drafts.append((number, first, last, _found(words[first:last], matcher)))
        if not runs and utterance.speaker == GIVER and len(words) >= 2:
            drafts.append((number, 0, len(words), {}))

    units: list[TextUnit] = []
    for number, first, last, found in drafts:
        speaker, words = utterances[number].speaker, split[number]
        labels = {"giver" if speaker == GIVER else "follower": True, **contexts[number]}
        if found:
            near = words[max(0, first - _BEFORE) : first]
            labels |= {f"before={word.lower()}": True for word in near}
        else:
            labels["silent"] = True
        labels["passed"] = len(units) / len(drafts)
        chain = Instruction.chain(words[first:last])
        units.append(TextUnit(chain, number, first, last, speaker, not found, labels))
    shape = (len(drafts), len(landscape))
    return TextUnits(
        landscape,
        units,
        np.array([matcher.match(draft[-1]) for draft in drafts], dtype=float).reshape(shape),
        np.array([matcher.full(draft[-1]) for draft in drafts], dtype=bool).reshape(shape),
    )


def _runs(words: Sequence[str], matcher: NameMatcher) -> list[tuple[int, int]]:
    """Return the first word of each mention and the one after its last."""
    runs: list[tuple[int, int]] = []
    first = last = -1
    for place, word in enumerate(words):
        if not matcher.scores(word):
            if first >= 0:
                runs.append((first, last))
            first = -1
        elif word.lower() not in LINKS:
            first, last = (place if first < 0 else first), place + 1
    if first >= 0:
        runs.append((first, last))
    return runs


def _found(words: Sequence[str], matcher: NameMatcher) -> dict[str, float]:
    found: dict[str, float] = {}
    for word in words:
        for name, score in matcher.scores(word).items():
            found[name] = max(score, found.get(name, 0.0))
    return found


def _pulls(words: Sequence[str]) -> _Pulls:
    """Return for each family and axis the sum and the number of its direction words."""
    pulls: _Pulls = {}
    for word in words:
        if word.lower() in _DIRECTION:
            family, axes = _DIRECTION[word.lower()]
            for axis, pull in zip(("east", "north"), axes, strict=True):
                if pull:
                    total, count = pulls.get(f"{family}-{axis}", (0, 0))
                    pulls[f"{family}-{axis}"] = (total + pull, count + 1)
    return pulls


def _context(
    words: Sequence[str], pulls: _Pulls, recent: Iterable[_Pulls]
) -> dict[str, bool | float]:
    labels: dict[str, bool | float] = {}
    lowered = [word.lower() for word in words]
    if _QUESTION.search(" ".join(lowered)):
        labels["question"] = True
    labels |= {name: True for name, cues in CUES.items() if not cues.isdisjoint(lowered)}
    before: _Pulls = {}
    for each in recent:
        for name, (total, count) in each.items():
            sums = before.get(name, (0, 0))
            before[name] = (sums[0] + total, sums[1] + count)
    labels |= {name: total / count for name, (total, count) in pulls.items() if total}
    labels |= {f"recent-{name}": total / count for name, (total, count) in before.items() if total}
    return labels
