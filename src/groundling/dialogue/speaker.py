"""The speaker, which describes plans in the language of the demonstrations.

Each demonstration is split into fragments, one for each action, in which words that name values
become gaps. A plan is described by fragments for actions of the same types, with its own values in
the gaps. Candidate texts are ranked by how strongly their words indicate the plan. The follower
reads the best few, and the text that it understands best is chosen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from groundling.dialogue.clarification import Led
from groundling.dialogue.outcomes import Listener, chances, world_of
from groundling.dialogue.phrases import PHRASES, detect, with_phrases
from groundling.dialogue.translation import (
    PlanLabels,
    Reals,
    TranslationModel,
    describe_graphs,
    graphs_of,
    matches,
    words_of,
)
from groundling.errors import DemonstrationError, ModelFileError
from groundling.features.lexicon import Meaning
from groundling.features.reader import Text
from groundling.language.languages import Language
from groundling.language.parser import language_of, load_parser
from groundling.language.sentences import is_punctuation, is_unspaced
from groundling.plan import Plan
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, Environment
from groundling.world.graph import GroundingGraph

_KEPT = 8  # maximum number of fragments for each span of a plan
_CHECKED = (1, 5)  # candidates that the listener reads first, and then if necessary
_SURE = 0.9  # probability of the plan at which no more candidates are checked
_PER_WORD = 0.2  # penalty for each word
_CUT = 2.0  # penalty for a fragment of a longer text
_FLUENCY = 0.1  # weight of the speaker's score against the listener's log probability
_JOINT = 1.0  # penalty for each additional fragment
_LONGEST = 3  # maximum number of actions in a fragment

Signature = tuple[str, ...]


class Gap(NamedTuple):
    """A gap in a fragment, to be filled with the name of a value.

    `kind` and `label` say which value, and `action` is the index of its action.
    """

    kind: str
    label: str
    action: int


class Fragment(NamedTuple):
    """Words and gaps that describe one or more actions.

    `first` is true if the fragment began a demonstrated text, and `whole` if it
    was the whole text.
    """

    words: tuple[str | Gap, ...]
    first: bool
    whole: bool


class _Said(NamedTuple):
    """The beginning of a candidate text: its score and its words.

    `ends` contains, for each fragment, the number of actions described so far.
    """

    score: float
    words: tuple[str, ...]
    ends: tuple[int, ...]

    def followed_by(self, words: tuple[str, ...], first: bool, end: int, score: float) -> _Said:
        """Return the text with a fragment added; with `first`, it begins a new sentence."""
        joint = (".",) if self.words and first else ()
        return _Said(self.score + score - _JOINT, (*self.words, *joint, *words), (*self.ends, end))


def _varied(said: Iterable[_Said], most: int) -> list[_Said]:
    """Return the best texts, alternating between different divisions of a plan."""
    ways: dict[tuple[int, ...], list[_Said]] = {}
    for each in sorted(said, key=lambda one: (-one.score, one.words)):
        ways.setdefault(each.ends, []).append(each)
    turns = [
        (place, number) for number, way in enumerate(ways.values()) for place in range(len(way))
    ]
    listed = list(ways.values())
    return [listed[number][place] for place, number in sorted(turns)][:most]


@dataclass(frozen=True)
class Description:
    """A description of a plan, and a listener's probability of the plan's outcome.

    `text` is empty if the demonstrations have no words for the actions. If `understood` is false,
    the words may be misleading, so show the plan itself instead.
    """

    text: str
    probability: float

    @property
    def understood(self) -> bool:
        """Whether the listener gives the outcome of the plan a probability above 1/2."""
        return self.probability > 0.5

    def __str__(self) -> str:
        return self.text


class Speaker:
    """Speaker that describes plans in the language of a follower's demonstrations.

    Parameters
    ----------
    follower
        A fitted follower, which is also the listener that checks candidate texts.
    demonstrations
        Demonstrations for training; by default, those of the follower.

    Examples
    --------
    >>> from groundling import Follower, GroundingGraph, Search
    >>> class Shelf:
    ...     def __init__(self, *things): self.things = things
    ...     def actions(self, taken): return tuple((v, t) for v in ("take", "dust")
    ...                                            for t in self.things)
    ...     def step(self, taken, action): return action
    ...     def ground(self, taken, action, after):
    ...         return GroundingGraph({"event": {action[0]: True}, "object": {"thing": action[1]}},
    ...                               [("event", "object", "of")])
    >>> old = Shelf("cup", "jug", "bowl")
    >>> shown = [Demonstration(f"{said} the {thing}", old, None, ((verb, thing),))
    ...          for verb, said in (("take", "grab"), ("dust", "clean")) for thing in old.things]
    >>> follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown, check=False)
    >>> speaker = Speaker(follower)
    >>> new, plan = Shelf("vase", "plate"), ("dust", "vase")
    >>> print(speaker.describe(Plan((plan,), (None, plan), 0.0, 1.0), new))
    clean the vase
    """

    def __init__(
        self, follower: Listener, demonstrations: Iterable[Demonstration] | None = None
    ) -> None:
        given = follower.demonstrations_ if demonstrations is None else demonstrations
        shown = [each for each in given if each.answer is None]
        if not shown:
            raise DemonstrationError(
                "A speaker needs demonstrations to learn from; got none. Model files do not "
                "store them: pass the demonstrations the follower was trained on."
            )
        self.follower = follower
        self.language = _language_of(follower)
        traces = [CachedEnvironment(e.environment).trace(e.start, e.actions, str(e)) for e in shown]
        texts = [words_of(each.instructions, self.language) for each in shown]
        self.model = TranslationModel.learn(
            [
                (words, describe_graphs(way.graphs))
                for words, way in zip(texts, traces, strict=True)
            ],
            lexicon=follower.lexicon_,
            language=self.language,
        )
        self._fragments: dict[tuple[Signature, ...], Counter[Fragment]] = {}
        self._names: dict[Meaning, Counter[str]] = {}
        # The words before a name, and the name after them: *in der*, *Küche*.
        self._phrases: dict[str | float, Counter[tuple[Signature, str]]] = {}
        self._inflected = _inflected(word for words in texts for word in words)
        for words, way in zip(texts, traces, strict=True):
            if words and way.graphs:
                self._cut(words, way.graphs)
        spaced = self.language.spaced and not is_unspaced("".join(map("".join, texts)))
        self._space = " " if spaced else ""

    # ---- files ------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the trained speaker as JSON-ready data."""
        return {
            "model": self.model.to_dict(),
            "space": self._space,
            "fragments": [
                [
                    [list(sort) for sort in signatures],
                    [
                        [[w if isinstance(w, str) else list(w) for w in each.words],
                         each.first, each.whole, count]
                        for each, count in found.items()
                    ],
                ]
                for signatures, found in self._fragments.items()
            ],
            "names": [[*meaning, dict(found)] for meaning, found in self._names.items()],
            "phrases": [
                [value, [[list(lead), name, count] for (lead, name), count in found.items()]]
                for value, found in self._phrases.items()
            ],
            "inflected": list(map(sorted, self._inflected)),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], follower: Listener) -> Speaker:
        """Restore a speaker from the output of `to_dict`."""
        speaker = cls.__new__(cls)
        speaker.follower = follower
        speaker.language = _language_of(follower)
        try:
            speaker.model = TranslationModel.from_dict(
                data["model"], follower.lexicon_, speaker.language
            )
            speaker._space = " " if data["space"] else ""
            speaker._fragments = {
                tuple(tuple(map(str, sort)) for sort in signatures): Counter(
                    {
                        Fragment(
                            tuple(_word(each, len(signatures)) for each in words),
                            bool(first),
                            bool(whole),
                        ): _count(count)
                        for words, first, whole, count in found
                    }
                )
                for signatures, found in data["fragments"]
            }
            speaker._names = {
                (str(kind), value if isinstance(value, float) else str(value)): Counter(
                    {str(name): _count(count) for name, count in found.items()}
                )
                for kind, value, found in data["names"]
            }
            speaker._phrases = {
                value if isinstance(value, float) else str(value): Counter(
                    {
                        (tuple(map(str, lead)), str(name)): _count(count)
                        for lead, name, count in found
                    }
                )
                for value, found in data.get("phrases", ())
            }
            articles, common = data.get("inflected", ((), ()))
            speaker._inflected = frozenset(map(str, articles)), frozenset(map(str, common))
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFileError(
                "The speaker model must contain fragments and counts; reading it raised "
                f"{error!r}. Train and save the model again."
            ) from error
        return speaker

    # ---- learning -------------------------------------------------------------------------

    def _cut(self, words: Sequence[str], graphs: Sequence[GroundingGraph]) -> None:
        """Store the fragments of a demonstration: the whole text, and one for each action."""
        labels = [describe_graphs([graph]) for graph in graphs]
        owners = self._owners(words, labels)
        signatures = tuple(map(_signature, graphs))
        parts: list[tuple[int, int, list[int]]] = []
        if len(graphs) <= _LONGEST:
            parts.append((0, len(graphs), list(range(len(words)))))
        if len(graphs) > 1:
            parts += [
                (k, k + 1, [p for p, owner in enumerate(owners) if owner == k])
                for k in range(len(graphs))
            ]
        for begin, end, places in parts:
            places = _trimmed(words, places)
            gapped = self._gapped(words, places, owners, labels, begin, end)
            if gapped:
                found = self._fragments.setdefault(signatures[begin:end], Counter())
                whole = end - begin == len(graphs)
                found[Fragment(gapped, places[0] == 0, whole)] += 1

    def _owners(self, words: Sequence[str], labels: Sequence[PlanLabels]) -> list[int]:
        """Align a text monotonically with its plan, and return the action of each word."""
        if len(labels) == 1 or len(words) < len(labels):
            return [0] * len(words)
        logs = np.log(self.model.word_probabilities(words, labels))
        best = np.full((len(labels), len(words)), -np.inf)
        came = np.zeros(best.shape, dtype=int)
        best[0] = np.cumsum(logs[0])
        for k in range(1, len(labels)):
            for j in range(k, len(words)):
                stay, move = best[k, j - 1], best[k - 1, j - 1]
                came[k, j] = int(move > stay)
                best[k, j] = max(stay, move) + logs[k, j]
        owners, k = [], len(labels) - 1
        for j in range(len(words) - 1, -1, -1):
            owners.append(k)
            k -= int(came[k, j]) if k else 0
        return owners[::-1]

    def _gapped(
        self,
        words: Sequence[str],
        places: Sequence[int],
        owners: Sequence[int],
        labels: Sequence[PlanLabels],
        begin: int,
        end: int,
    ) -> tuple[str | Gap, ...]:
        """Return words with gaps in place of names; empty if a name matches no label."""
        found: list[str | Gap] = []
        names: list[tuple[Meaning, list[str], Signature]] = []  # of each gap: words, words before
        last = -1  # position of the last word in a gap
        for place in places:
            word = words[place]
            senses = self.model.wording.senses(word)
            if not senses:
                found.append(word)
                continue
            near = sorted(range(begin, end), key=lambda k: (abs(k - owners[place]), k))
            gaps = (
                (Gap(sense[0], label, k - begin), sense)
                for k in near
                for sense in senses
                if (label := self.model.best_slot(sense, labels[k])) is not None
            )
            gap = next(gaps, None)
            if gap is None:
                return ()
            if found and found[-1] == gap[0] and last == place - 1:  # the same name
                names[-1][1].append(word)
            else:
                follows = bool(found) and isinstance(found[-1], Gap) and last == place - 1
                names.append((gap[1], [word], names[-1][2] if follows else self._lead(found)))
                found.append(gap[0])
            last = place
        for meaning, spelt, lead in names:
            name = " ".join(spelt)
            self._names.setdefault(meaning, Counter())[name] += 1
            if lead:
                self._phrases.setdefault(meaning[1], Counter())[lead, name] += 1
        return tuple(found)

    # ---- speaking -------------------------------------------------------------------------

    def describe(
        self, plan: Plan, environment: Environment, *, unlike: Plan | None = None
    ) -> Description:
        """Describe a plan in words that the listener understands.

        With `unlike`, it is enough that the text distinguishes the plan from that other plan.
        """
        world = world_of(self.follower, environment)
        target = world.outcome(plan.end)
        other = None if unlike is None else world.outcome(unlike.end)
        texts = self.candidates(plan, environment)
        best = Description("", 0.0)
        highest, read = -math.inf, 0
        for size in _CHECKED:
            batch = texts[read : read + size]
            requests = [(text, environment, plan.start) for text, _ in batch]
            for (text, score), found in zip(
                batch, chances(self.follower, requests, {target, other}), strict=True
            ):
                chance = min(found[target], 1.0)
                if unlike is not None:
                    chance /= max(chance + found[other], 1e-300)
                utility = math.log(max(chance, 1e-12)) + _FLUENCY * score
                if utility > highest:
                    best, highest = Description(text, chance), utility
            read += len(batch)
            if best.probability >= _SURE or read >= len(texts):
                break
        return best

    def candidates(self, plan: Plan, environment: Environment) -> list[tuple[str, float]]:
        """Return candidate texts for a plan with their scores, best first."""
        graphs = graphs_of(world_of(self.follower, environment), plan.states, plan.actions)
        labels = [describe_graphs([graph]) for graph in graphs]
        for each in labels:
            self.model.wording.learn_values(each)
        signatures = tuple(map(_signature, graphs))
        beams: list[list[_Said]] = [[] for _ in range(len(graphs) + 1)]
        beams[0] = [_Said(_JOINT, (), ())]
        for begin in range(len(graphs)):
            kept = _varied(beams[begin], _KEPT)
            for end in range(begin + 1, min(begin + _LONGEST, len(graphs)) + 1):
                spoken = self._spoken(signatures[begin:end], labels[begin:end], graphs[begin:end])
                beams[end] += [
                    said.followed_by(words, first, end, score)
                    for said in kept
                    for score, words, first in spoken
                    if first or said.words
                ]
            if not beams[begin + 1]:
                beams[begin + 1] += kept  # this action has no words; describe the others
        found: dict[str, float] = {}
        for said in _varied(beams[-1], len(beams[-1])):
            text = self._joined(said.words)
            if text and text not in found:
                found[text] = said.score
        return list(found.items())[: sum(_CHECKED)]

    def _spoken(
        self,
        signatures: tuple[Signature, ...],
        labels: Sequence[PlanLabels],
        graphs: Sequence[GroundingGraph],
    ) -> list[tuple[float, tuple[str, ...], bool]]:
        """Return the best filled-in fragments for a span of a plan, with their scores."""
        filled = []
        known = self._fragments.get(signatures, Counter[Fragment]())
        gaps = {part for each in known for part in each.words if isinstance(part, Gap)}
        spelt = _spellings(graphs)
        names = {gap: self._name_in(gap, labels, spelt) for gap in gaps}
        for fragment, count in known.items():
            words = self._filled(fragment, names)
            if words:
                prior = math.log(count) - _CUT * (not fragment.whole)
                filled.append((words, fragment.first, prior))
        if not filled:
            return []
        tokens = sorted({word for words, _, _ in filled for word in words})
        plan = describe_graphs(graphs)
        here = np.log(self.model.word_probabilities(tokens, [plan]))[0]
        usual = np.log([self._usual(token) for token in tokens])
        worth = dict(zip(tokens, (here - usual - _PER_WORD).tolist(), strict=True))
        scored = [
            (math.fsum(worth[word] for word in words) + prior, words, first)
            for words, first, prior in filled
        ]
        scored.sort(key=lambda each: (-each[0], each[1]))
        # Keep fragments of both kinds: those that may begin a text, and those that may not.
        return [
            each
            for first in (True, False)
            for each in [one for one in scored if one[2] == first][:_KEPT]
        ]

    def _usual(self, token: str) -> float:
        """Return the frequency of a word in all texts."""
        [(plain, slots)] = self.model.columns([token])
        frequencies = self.model.frequencies
        return float(frequencies[plain] + sum(frequencies[column] for column, _ in slots))

    def _lead(self, words: Sequence[str | Gap]) -> Signature:
        """Return the article at the end of some words, and the function words before it."""
        articles, common = self._inflected
        if not articles:
            return ()
        lead: list[str] = []
        for word in reversed(words):
            plain = self.language.fold(word) if isinstance(word, str) else ""
            if plain not in (common if lead else articles):
                break
            lead.insert(0, plain)
        return tuple(lead)

    def _own_phrases(self, value: str | float) -> Counter[tuple[Signature, str]]:
        """Return the demonstrated phrases for a value, with their counts.

        For a value that was not demonstrated, these are the phrases for a value with which it ends
        (*Lampe* for *Tischlampe*).
        """
        if value in self._phrases or not isinstance(value, str):
            return self._phrases.get(value, Counter())
        ends = [name for name in map(str, self._phrases) if value.endswith(name)]
        return self._phrases[max(ends, key=len)] if ends else Counter()

    def _is_noun(self, value: str | float) -> bool:
        """Return whether a value was never demonstrated with an ending added to its name."""
        return all(str(value).endswith(name.lower()) for _, name in self._own_phrases(value))

    def _after(self, kind: str, value: str | float, lead: Signature) -> str:
        """Return the name of a value, with the ending that it has after the words `lead`.

        If the name was never demonstrated after these words, it gets the ending of other values of
        its kind. The result is empty if no ending is known.
        """
        if not lead:
            return ""
        own: Counter[str] = Counter()
        endings: Counter[str] = Counter()
        for _, other in (each for each in self._names if each[0] == kind):
            for (words, name), count in self._phrases.get(other, Counter()).items():
                if words == lead and other == value:
                    own[name] += count
                elif words == lead and name.lower().startswith(str(other)):
                    endings[name[len(str(other)) :]] += count
        if own or not any(endings) or not isinstance(value, str):
            return own.most_common(1)[0][0] if own else ""
        return value + endings.most_common(1)[0][0]

    def led(self, kind: str, value: str, article: str = "") -> Led:
        """Return the name of a value, and the words that were demonstrated before it.

        No words are returned in languages whose articles do not depend on the noun. If the only
        word before the name is an article, the name gets the ending that it has after `article`.
        """
        known = value.lower()  # as labels of plans are read
        phrases = self._own_phrases(known)
        [((lead, name), _)] = phrases.most_common(1) or [(((), value), 0)]
        if article and len(lead) == 1 and lead[0] in self._inflected[0]:
            name = self._after(kind, known, (article,)) or name
        return Led(lead, value if name.lower() == known or known not in self._phrases else name)

    def _name_in(
        self, gap: Gap, labels: Sequence[PlanLabels], spelt: Mapping[str, str]
    ) -> tuple[str, str | float]:
        """Return a name that fills a gap, and its value; two empty strings if none does.

        `spelt` maps values to their spelling in the plan's graphs.
        """
        names = (
            (name, value[1])
            for label, value in labels[gap.action].slots
            if label == gap.label and (name := self._name(gap.kind, value, spelt)) is not None
        )
        return next(names, ("", ""))

    def _filled(
        self, fragment: Fragment, names: Mapping[Gap, tuple[str, str | float]]
    ) -> tuple[str, ...]:
        """Return a fragment with names in its gaps; empty if a gap has no name.

        The first noun of adjacent gaps decides the article before them: *im Flur*, but *in der
        Küche*.
        """
        gaps = [part for part in fragment.words if isinstance(part, Gap)]
        if not all(names[gap][0] for gap in gaps):
            return ()
        words: list[str] = []
        last = 0  # where the words since the last gap begin
        run: list[tuple[str, Meaning]] = []  # names and values of adjacent gaps

        def fill() -> None:
            nonlocal last
            lead, known = self._lead(words[last:]), Counter[Signature]()
            if lead:
                nouns = (value for _, (_, value) in run if self._is_noun(value))
                for (own, _), count in self._own_phrases(next(nouns, run[-1][1][1])).items():
                    known[own] += count
            if lead and known and lead not in known:
                words[len(words) - len(lead) :] = lead = known.most_common(1)[0][0]
            for name, (kind, value) in run:
                words.extend((self._after(kind, value, lead) or name).split())
            run.clear()
            last = len(words)

        for part in fragment.words:
            if not isinstance(part, Gap):
                if run:
                    fill()
                words.append(part)
                continue
            name, value = names[part]
            run.append((name, (part.kind, value)))
        if run:
            fill()
        return tuple(words)

    def _name(self, kind: str, value: Meaning, spelt: Mapping[str, str]) -> str | None:
        """Return the most frequent word for a value or, without one, its own name.

        Returns None if the listener does not understand the name.
        """
        known = self._names.get((kind, value[1]))
        if known:
            return max(known, key=lambda word: (known[word], word))
        name = f"{value[1]:g}" if isinstance(value[1], float) else value[1]
        senses = self.model.wording.senses(name)
        readable = any(matches(sense, value) and sense[0] == kind for sense in senses)
        return spelt.get(name, name) if readable else None

    def _joined(self, words: Sequence[str]) -> str:
        text, last = "", ""
        for word in words:
            if word != last:  # do not repeat the name in adjacent gaps
                text += word if is_punctuation(word) or not text else self._space + word
            last = word
        return text

    # ---- probabilities --------------------------------------------------------------------

    def log_probabilities(
        self, text: Text, plans: Sequence[Plan], environment: Environment
    ) -> Reals:
        """Return log p(text | plan) for each plan."""
        world = world_of(self.follower, environment)
        labels = [describe_graphs(graphs_of(world, p.states, p.actions)) for p in plans]
        return self.model.log_probabilities(words_of(text, self.language), labels)


def _language_of(follower: Listener) -> Language:
    """Return a follower's language, with phrases that fit its demonstrations."""
    counts = follower._fitted().fitted.encoder.reader.counts
    return with_phrases(language_of(load_parser(follower.parser)), counts)


def _count(value: Any) -> int:
    """Return a count from a model file; raise `ValueError` if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**53:
        raise ValueError(f"Counts must be whole numbers >= 1; got {value!r:.40}.")
    return value


def _word(data: Any, actions: int) -> str | Gap:
    """Return a word or a gap from JSON data.

    `actions` is the number of actions that the fragment describes.
    """
    if isinstance(data, str):
        return data
    kind, label, action = data
    if not 0 <= int(action) < actions:
        raise ValueError(
            f"The index of the action in a gap must be from 0 to {actions - 1}; got {action!r:.40}."
        )
    return Gap(str(kind), str(label), int(action))


def _inflected(words: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the articles and the function words of the language of some words.

    Both sets are empty if the language is unknown, or if its articles do not depend on nouns.
    """
    table = PHRASES.get(detect(Counter(word.lower() for word in words)))
    if table is None or not table.articles:
        return frozenset(), frozenset()
    return table.articles, frozenset(table.common) | table.articles


def _spellings(graphs: Iterable[GroundingGraph]) -> dict[str, str]:
    """Map string values in lower case to their spelling in the graphs."""
    labels = (label for graph in graphs for each in graph.node_labels for label in each)
    return {e.value.lower(): e.value for e in labels if isinstance(e.value, str)}


def _signature(graph: GroundingGraph) -> Signature:
    """Return the type of an action, that is, the label names of its root node."""
    return tuple(dict.fromkeys(label.name for label in graph.labels(graph.root)))


def _trimmed(words: Sequence[str], places: list[int]) -> list[int]:
    """Return the positions of words, without punctuation at either end."""
    while places and is_punctuation(words[places[0]]):
        places = places[1:]
    while places and is_punctuation(words[places[-1]]):
        places = places[:-1]
    return places
