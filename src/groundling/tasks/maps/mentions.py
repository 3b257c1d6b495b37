"""Text units of dialogues: whole utterances, or labelled mentions of landmarks."""

from __future__ import annotations

import re
import tomllib
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from groundling.language import Instruction, Parser, SentenceLabel
from groundling.language.parser import load_parser
from groundling.tasks.maps.corpus import FOLLOWER, GIVER, Dialogue, DialogueLine
from groundling.tasks.maps.landscape import Landscape
from groundling.tasks.maps.map_presets import MapPreset

_SAID = tomllib.loads((files("groundling.tasks.maps") / "mentions.toml").read_text("utf-8"))
LINKS = frozenset(_SAID["links"].split())
_ALIKE = 0.9  # score of a word that is similar but not equal
_OUTSIDE = re.compile(r"[^\w]+")


class NameMatcher:
    """Matcher that scores how well spoken words match the words of landmark names.

    A spoken word that equals a word of a name has a score of 1. It scores 0.9 if one is the plural
    of the other, if they share their first five letters, or if both have at least four letters and
    a similarity (`rapidfuzz.fuzz.ratio`) of at least `threshold`. Results are cached.

    Rare words have more weight: if there are an *old mill* and an *old barn*, *mill* counts more
    than *old*. The numbers that distinguish landmarks of the same name are ignored.

    Parameters
    ----------
    landscape
        The landmarks.
    threshold
        Minimum similarity, in percent.
    fuzzy
        Whether words that are similar but not equal match.

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
        # [word, landmark]: the weight of the word as a share of the name
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
        """Return the words of names that match a spoken word, each with its score."""
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
            # the cut-off allows rapidfuzz to stop early
            return _ALIKE if fuzz.ratio(spoken, word, score_cutoff=self.threshold) > 0 else 0.0
        return 0.0

    def match(self, found: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """Return the matched share of each landmark's name, between 0 and 1."""
        scores = np.zeros(len(self.words))
        for word, score in found.items():
            scores[self._place[word]] = score
        result: npt.NDArray[np.float64] = scores @ self.shares
        return result

    def full(self, found: Mapping[str, float]) -> npt.NDArray[np.bool_]:
        """Return, for each landmark, whether its whole name was matched."""
        result: npt.NDArray[np.bool_] = self.match(dict.fromkeys(found, 1.0)) > 1.0 - 1e-9
        return result


Array = npt.NDArray[np.float64]

_AXES = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}  # (east, north)
_DIRECTION = {
    word: (family, _AXES[way])
    for family, ways in _SAID["directions"].items()
    for way, words in ways.items()
    for word in words.split()
}
# (sum, count) of direction words by family and axis
_Pulls: TypeAlias = "dict[str, tuple[int, int]]"

_CUES = {name: frozenset(words.split()) for name, words in _SAID["cues"].items()}
_QUESTION = re.compile(rf"\b({'|'.join(_SAID['questions'])})\b")
_MENTIONS = ("mention=1", "mention=2", "mention=3+")
_BEFORE = 4  # number of words before a mention that become labels
_RECENT = 6  # number of previous utterances whose direction words are used
_AROUND = 4  # number of units before and after in which mentions are looked up


@dataclass(frozen=True)
class TextUnit:
    """A unit of text that may cause one move: a mention, or an utterance without one.

    Parameters
    ----------
    instruction
        The words of the mention as a chain; for a silent unit, the words of the utterance.
    utterance, first, last
        The number of the utterance, and the range of its words: from `first` up to, but not
        including, `last`.
    speaker
        The speaker of the utterance.
    silent
        Whether no landmark is mentioned.
    labels
        The context of the unit; see `TextUnits`.
    """

    instruction: Instruction
    utterance: int
    first: int
    last: int
    speaker: str
    silent: bool
    labels: Mapping[str, bool | float]


class TextUnits(list[TextUnit]):
    """The text units of a dialogue, with labels that relate them to the landmarks.

    Each unit has **its own labels** (`unit.labels`; false labels are omitted):

    - `giver` or `follower`; `silent` if no landmark is mentioned;
    - `before=…`: each of the four words before the mention (not for silent units);
    - `question`, `negation`, `motion`, `ending`: whether the utterance contains words that suggest
      this, such as *have you got* for a question (`mentions.toml` lists the others);
    - `compass-east`, `compass-north`, `page-…`, `place-…`: the mean direction of the words for
      directions in the utterance, from -1 to 1, for each family of such words; with the prefix
      `recent-`, the same for the previous six utterances;
    - `passed`: the share of units before this one, from 0 to just under 1.

    Each unit also has **labels for each landmark** (`units.labels(number, key)`):

    - `match`: the matched share of its name, between 0 and 1; `full` if the whole name matches,
      `best` if no landmark matches better, `follower-match` if the follower says it;
    - `mention=1`, `mention=2` or `mention=3+`: the number of this mention of the landmark, if it
      is the best match;
    - `left=0`, `left=1-2` or `left=5+`: the number of later mentions (3 or 4 have no label);
      `never` if there are none in the whole dialogue; `share`: its share of all mentions;
    - `soon` and `lately`: its best match in the next four and in the previous four units.

    The same numbers are available as arrays [unit, landmark]: `match`, `full`, `best`, `earlier`
    and `later` (counts of mentions before and after), `soon` and `lately`.
    """

    def __init__(
        self,
        landscape: Landscape,
        units: Sequence[TextUnit],
        match: Array,
        full: npt.NDArray[np.bool_],
    ) -> None:
        super().__init__(units)
        self.landscape = landscape
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

    def labels(self, number: int, key: str) -> dict[str, bool | float]:
        """Return the labels of a unit for one landmark (see `TextUnits`)."""
        place = (number, self.landscape.place(key))
        match, later = float(self.match[place]), int(self.later[place])
        total = int(self.total[place[1]])
        labels: dict[str, bool | float] = {}
        if match > 0:
            labels["match"] = match
            if self.full[place]:
                labels["full"] = True
            if self[number].speaker == FOLLOWER:
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
    utterances: Sequence[DialogueLine],
    landscape: Landscape,
    *,
    speakers: Collection[str] = (GIVER, FOLLOWER),
    matcher: NameMatcher | None = None,
) -> TextUnits:
    """Return the text units of a dialogue, in linear time.

    A mention is a sequence of words, as long as possible, that match words of landmark names (see
    `NameMatcher`). Function words count only inside a sequence. An utterance of the giver with at
    least two words and no mention is a silent unit.

    Parameters
    ----------
    utterances
        The utterances.
    landscape
        The landmarks.
    speakers
        The speakers whose utterances are read; `("g",)` for the giver only.
    matcher
        The matcher of the landscape, to share its cache among dialogues.

    Examples
    --------
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape((Landmark("start", 0, 0), Landmark("old mill", 90, 0)))
    >>> said = "go right", "'til you reach the old mill there"
    >>> talk = [DialogueLine("g", text) for text in said]
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
    """Return the index of each mention's first word, and the index after its last."""
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
    """Return the sum and the count of direction words for each family and axis."""
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
    labels |= {name: True for name, cues in _CUES.items() if not cues.isdisjoint(lowered)}
    before: _Pulls = {}
    for each in recent:
        for name, (total, count) in each.items():
            sums = before.get(name, (0, 0))
            before[name] = (sums[0] + total, sums[1] + count)
    labels |= {name: total / count for name, (total, count) in pulls.items() if total}
    labels |= {f"recent-{name}": total / count for name, (total, count) in before.items() if total}
    return labels


# Contexts in which a mention may have a different weight.
_CONTEXTS = ("follower", "question", "negation", "motion", "ending")
_LINKING = frozenset(_SAID["linking"].split())


def read_dialogue(
    chosen: MapPreset, dialogue: Dialogue, landscape: Landscape, matcher: NameMatcher | None = None
) -> tuple[Instruction, ...]:
    """Return the instructions that a preset reads from a dialogue."""
    if chosen.units == "sentences":
        return read_sentences(dialogue, load_parser(chosen.parser))
    matcher = matcher or NameMatcher(landscape, fuzzy=chosen.fuzzy)
    return read_mentions(dialogue, landscape, speakers=chosen.speakers, matcher=matcher)


def read_sentences(dialogue: Dialogue, parser: Parser) -> tuple[Instruction, ...]:
    """Return the parsed utterances of the giver, as in the paper."""
    parsed = parser.parse_many([each.text for each in dialogue.giver])
    return tuple(instruction for each in parsed for instruction in each)


def read_mentions(
    dialogue: Dialogue,
    landscape: Landscape,
    *,
    speakers: Collection[str] = (GIVER, FOLLOWER),
    matcher: NameMatcher | None = None,
) -> tuple[Instruction, ...]:
    """Return the text units of a dialogue, each as one word with labels.

    >>> from groundling.tasks.maps.corpus import DialogueLine
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape((Landmark("start", 0, 0), Landmark("old mill", 90, 0)))
    >>> lines = (DialogueLine("g", "go over to the old mill"),)
    >>> talk = Dialogue("talk", map=0, utterances=lines)
    >>> [unit] = read_mentions(talk, landscape)
    >>> unit.tokens, [label for label in unit.labels if label.name == "match"]
    (('old mill',), [SentenceLabel(name='match', amount=1.0, kind='landmark', value='old mill')])
    """
    units = read_units(dialogue.utterances, landscape, speakers=speakers, matcher=matcher)
    return unit_instructions(units, dialogue.utterances)


def unit_instructions(
    units: TextUnits, utterances: Sequence[DialogueLine]
) -> tuple[Instruction, ...]:
    """Return text units as instructions, each with one word and labels.

    The word is the mention, and the text is the whole utterance. A label for a landmark has the
    kind `landmark` and the landmark's key as its value, so that it matches the landmark in a
    grounding graph.
    """
    found = []
    for number, unit in enumerate(units):
        labels = [
            SentenceLabel(name, float(amount))
            for name, amount in unit.labels.items()
            if not name.startswith("before=")
        ]
        around = [
            name
            for name in unit.labels
            if name in _CONTEXTS
            or (name.startswith("before=") and name.removeprefix("before=") in _LINKING)
        ]
        for key in units.landscape.keys:
            about = units.labels(number, key)
            labels += [
                SentenceLabel(name, float(amount), "landmark", key)
                for name, amount in about.items()
            ]
            if "match" in about:
                labels += [
                    SentenceLabel(f"{name}, match", float(about["match"]), "landmark", key)
                    for name in around
                ]
        spoken = str(unit.instruction)
        said = utterances[unit.utterance].text
        found.append(Instruction((spoken,), (-1,), ("root",), text=said, labels=tuple(labels)))
    return tuple(found)
