"""Choice of the plans that fit the verbs and the names of a command.

A plan *fits* a text if its actions are of the types that the verbs of the text name, and if its
graphs have every value that the text names. A word is the verb of a type if it was demonstrated
only with actions of this type, or if it spells a label at their root nodes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

from groundling.dialogue.options import Option
from groundling.dialogue.outcomes import Considered
from groundling.features.spans import Span, SpanIndex, nearest_word
from groundling.language.languages import Language
from groundling.language.literals import read_literals
from groundling.language.sentences import is_punctuation
from groundling.models.memory import DemonstrationMemory
from groundling.plan import Plan
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State
from groundling.world.graph import GroundingGraph

_MOST_OTHERS = 30  # options that words are compared with
_MOST_STEPS = 2000  # steps taken to find plans that lead back to the current state
_PLAUSIBLE = 0.05  # of the probability of the best option: options that a verb may select
_CHANCE = 0.05  # probability by chance at which a word and a type of action belong together
_HARMLESS = ("PRON", "INTJ", "AUX", "CCONJ")  # tags of words that stand for no other word
_COMMON = 0.25  # share of texts from which on a word distinguishes no thing


def values_of(world: CachedEnvironment, plan: Plan) -> dict[str, set[str]]:
    """Return the string values in a plan's graphs, keyed by label name."""
    found: dict[str, set[str]] = {}
    for state, action in zip(plan.states, plan.actions, strict=False):
        for labels in world.ground(state, action).node_labels:
            for label in labels:
                if isinstance(label.value, str):
                    found.setdefault(label.name, set()).add(label.value)
    return found


# ---- verbs ----------------------------------------------------------------------------------


class _Shown(NamedTuple):
    """A demonstrated text: its words, those that name no value, and its action types."""

    words: frozenset[str]
    frame: frozenset[str]
    types: frozenset[str]


@dataclass(frozen=True)
class Wanted:
    """The types of action that some words name.

    A type is `sure` if its word was demonstrated only with this type, and too often for this to be
    by chance; `proven` if even one such word among all words is unlikely by chance. A type that is
    not sure is `possible`.
    """

    sure: frozenset[str] = frozenset()
    possible: frozenset[str] = frozenset()
    proven: frozenset[str] = frozenset()

    @property
    def types(self) -> frozenset[str]:
        """The sure types or, if there are none, the possible types."""
        return self.sure or self.possible

    @property
    def certain(self) -> bool:
        """Whether the types are known: some are sure, or the words name no type at all."""
        return bool(self.sure) or not self.possible


@dataclass(frozen=True)
class ActionWords:
    """The words of demonstrations, and the types of action with which they were used.

    The type of an action is the name of a label at the root node of its graph. If all root nodes
    have the same single label, it is the value of this label.

    >>> from groundling.models.memory import RememberedText
    >>> shown = [RememberedText((way, "the", "lamp"), {f"{way}=True": 1}, {}) for way in "ab"]
    >>> words = ActionWords.of(DemonstrationMemory(tuple(shown)), Language())
    >>> words.wanted(["a", "lamp"])
    Wanted(sure=frozenset({'a'}), possible=frozenset(), proven=frozenset({'a'}))
    """

    language: Language
    shown: tuple[_Shown, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: DemonstrationMemory, language: Language) -> Self:
        """Collect the words and the types of action of remembered demonstrations."""
        names = {root.partition("=")[0] for each in memory.shown for root in each.roots}
        place = 2 if len(names) == 1 else 0  # of “way=north”
        shown = []
        for each in memory.shown:
            words = frozenset(map(language.fold, each.words))
            spelt = {
                word
                for label in each.labels.keys() - each.roots.keys()
                if "=" in label
                for word in language.fold(label.partition("=")[2]).split()
            }
            types = frozenset(root.partition("=")[place] or root for root in each.roots)
            # What is spelt like an article is none at the end: *schalte die Lampe ein*.
            stop = {*language.stop_words}.difference(map(language.fold, each.words[-1:]))
            shown.append(_Shown(words, words - spelt - stop, types))
        counts = Counter(word for each in shown for word in each.words)
        return cls(language, tuple(shown), counts)

    @cached_property
    def _types(self) -> Mapping[str, int]:
        """The number of texts with each type, except for types that all texts have."""
        counts = Counter(name for each in self.shown for name in each.types)
        return {name: count for name, count in counts.items() if count < len(self.shown)}

    @property
    def has_contrast(self) -> bool:
        """Whether demonstrations have different types of action."""
        return bool(self._types)

    @cached_property
    def _verbs(self) -> Mapping[str, frozenset[str]]:
        """For each word, the types that all texts with this word have."""
        shared: dict[str, frozenset[str]] = {}
        for each in self.shown:
            own = each.types & self._types.keys()
            for word in each.words:
                shared[word] = shared.get(word, own) & own
        return shared

    def _chance(self, word: str, name: str) -> float:
        """Return the probability that all texts containing a word share a type by chance."""
        if self.language.fold(name) == word:
            return 0.0
        return float((self._types[name] / len(self.shown)) ** self.counts[word])

    def _is_certain(self, word: str, name: str) -> bool:
        return self._chance(word, name) < _CHANCE

    def wanted(self, words: Iterable[str]) -> Wanted:
        """Return the types of action that case-folded words name; words may be misspelt."""
        chances: dict[str, float] = {}
        for word in words:
            known = word if word in self.counts else nearest_word(word, self.counts)
            for name in self._verbs.get(known, ()):
                chances[name] = min(self._chance(known, name), chances.get(name, 1.0))
        # Any of the words may share a type by chance, so `proven` requires more (Bonferroni).
        few = _CHANCE / max(len(self._verbs), 1)
        return Wanted(
            frozenset(name for name, chance in chances.items() if chance < _CHANCE),
            frozenset(name for name, chance in chances.items() if chance >= _CHANCE),
            frozenset(name for name, chance in chances.items() if chance < few),
        )

    def is_plain(self, word: str) -> bool:
        """Return whether a word is too common to name a thing, or is an action's verb."""
        if self.counts.get(word, 0) >= _COMMON * len(self.shown):
            return True
        return any(self._is_certain(word, name) for name in self._verbs.get(word, ()))

    @cached_property
    def names(self) -> frozenset[str]:
        """All types of demonstrated actions."""
        return frozenset(name for each in self.shown for name in each.types)

    def missing(self, words: Collection[str], types: frozenset[str]) -> frozenset[str]:
        """Return function words that all demonstrations of `types` have and a text lacks."""
        frames = [each.frame for each in self.shown if each.types <= types]
        shared = frozenset.intersection(*frames) if frames else frozenset()
        return (shared & self.language.plain_words).difference(words)

    def is_frame(self, words: Collection[str], types: frozenset[str]) -> bool:
        """Return whether a text has all content words of any demonstration with `types`."""
        plain = self.language.plain_words
        return any(e.types <= types and (e.frame - plain).issubset(words) for e in self.shown)


# ---- plans ----------------------------------------------------------------------------------


class _Seen(NamedTuple):
    """The string values, the types and the shape of a grounding graph."""

    values: tuple[tuple[str, str], ...]
    types: frozenset[str]
    shape: tuple[Any, ...]

    @classmethod
    def of(cls, graph: GroundingGraph) -> Self:
        values: set[tuple[str, str]] = set()
        shape: list[tuple[Any, ...]] = []
        for node, labels in zip(graph.parts, graph.node_labels, strict=True):
            values.update((e.name, e.value) for e in labels if isinstance(e.value, str))
            plain = ((e.name, "" if isinstance(e.value, str) else e.value) for e in labels)
            shape.append((node, *sorted(plain, key=str)))
        root = graph.labels(graph.root)
        types = {each.name for each in root} | {e.value for e in root if isinstance(e.value, str)}
        return cls(tuple(values), frozenset(types), tuple(shape))


class CommandFit:
    """A text and its possible plans: what the text names, and which plans fit it.

    `likely` are the probable options, and `others` the less probable ones. `counts` maps the
    words of demonstrations to their numbers of occurrences.
    """

    def __init__(
        self,
        found: Considered,
        language: Language,
        known: ActionWords,
        counts: Mapping[str, int],
    ) -> None:
        self.request, self.language, self.known = found.request, language, known
        self.counts = counts
        self._seen: dict[tuple[State, Any], _Seen] = {}
        self.words = [language.fold(word) for each in found.request.text for word in each.tokens]
        options = found.options[:_MOST_OTHERS]
        least = _PLAUSIBLE * options[0].probability
        count = sum(each.probability >= least for each in options)
        self.likely, self.others = options[:count], options[count:]
        self._spans = self._find([each.plan for each in options])

    # ---- words ------------------------------------------------------------------------------

    def _look(self, plan: Plan) -> list[_Seen]:
        found = []
        for pair in zip(plan.states, plan.actions, strict=False):
            if pair not in self._seen:
                self._seen[pair] = _Seen.of(self.request.world.ground(*pair))
            found.append(self._seen[pair])
        return found

    def _values(self, plan: Plan) -> set[tuple[str, str]]:
        return {pair for each in self._look(plan) for pair in each.values}

    def _find(self, plans: Iterable[Plan]) -> list[Span]:
        """Return the spans of the text that name a value of any of the plans."""
        values: dict[str, set[str]] = {}
        for kind, value in set().union(*map(self._values, plans)):
            values.setdefault(kind, set()).add(value)
        return list(SpanIndex(values, self.language).find(self.words, self.counts))

    @cached_property
    def named(self) -> frozenset[str]:
        """The words that name a value of any option."""
        return frozenset(self.words[place] for span in self._spans for place in span.places)

    @cached_property
    def _wanted(self) -> Wanted:
        return self.known.wanted(word for word in self.words if word not in self.named)

    @property
    def is_certain(self) -> bool:
        """Whether the verbs of the text name their types with certainty."""
        return self._wanted.certain

    @property
    def is_proven(self) -> bool:
        """Whether the text names an action beyond doubt, or has no verb that names any."""
        return bool(self._wanted.proven) or not self._wanted.types

    def names_action(self, plan: Plan) -> bool:
        """Return whether the text has words for the actions of a plan, not only names."""
        plain = {*self.language.plain_words, *self.named}
        return (
            bool(self._wanted.types or self._spelt(self._types(plan)))
            or any(word in self.counts and word not in plain for word in self.words)
            or self.known.is_frame(self.words, self._types(plan))
        )

    @property
    def means_all(self) -> bool:
        """Whether the text has a universal word (*all*) that no demonstration contains."""
        return bool({*self.words} & {*self.language.universals} - {*self.counts})

    @cached_property
    def has_several_types(self) -> bool:
        """Whether options or demonstrations have different types of action."""
        options = (*self.likely, *self.others)
        return self.known.has_contrast or len({self._types(each.plan) for each in options}) > 1

    def particles(self, plan: Plan) -> tuple[str, ...]:
        """Return unknown function words that may change the meaning of the text.

        A text has such words only if it lacks a function word that all demonstrations of the plan's
        types have. If *turn the lamp on* was demonstrated, *off* may change the meaning of *turn
        the lamp off*, but *please* does not change that of *please turn the lamp on*.
        """
        language, types = self.language, self._types(plan)
        known = {
            *self.counts, *self.named, *language.universals, *language.indefinites,
            *(word for name in types for word in language.fold(name).split()),
        }  # fmt: skip
        literals = read_literals(self.words, language)
        known |= {self.words[place] for each in literals for place in each.places}
        texts = self.request.world.texts(zip(plan.states, plan.actions, strict=False))
        known |= {word for text in texts for word in language.fold(text).split()}
        tags = [tag for each in self.request.text for tag in each.tags]
        said = [pair for pair in zip(self.words, tags, strict=True) if not is_punctuation(pair[0])]
        new = [
            word
            for place, (word, tag) in enumerate(said)
            if not (word in known or (word in language.stop_words and place < len(said) - 1))
            and tag not in _HARMLESS
        ]
        missing = bool(new) and self.known.missing(self.words, types)
        return tuple(dict.fromkeys(new)) if missing else ()

    # ---- plans ------------------------------------------------------------------------------

    def _types(self, plan: Plan) -> frozenset[str]:
        """Return the label names and string values at the root nodes of a plan's actions."""
        return frozenset().union(*(each.types for each in self._look(plan)))

    def _spelt(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of the given types whose whole name is spelt in the text."""
        fold = self.language.fold
        return frozenset(n for n in names if {*fold(n).split()} <= {*self.words})

    def changes_nothing(self, option: Option) -> bool:
        """Return whether an option leaves the state as it is."""
        return option.outcome == self.request.world.outcome(self.request.start)

    def _lacking(self, plan: Plan, spans: Sequence[Span]) -> int:
        """Count the names in a text that a plan lacks, up to the word *except*."""
        exceptions = {*self.language.exceptions}
        turn = next((n for n, word in enumerate(self.words) if word in exceptions), math.inf)
        spans = [span for span in spans if span.places[0] < turn]
        own = self._values(plan)
        has = {span.places for span in spans if (span.kind, span.value) in own}
        return len({span.places for span in spans} - has)

    def names_all_of(self, plan: Plan) -> bool:
        """Return whether every name in the text stands for a value of a plan."""
        return not self._lacking(plan, self._spans)

    def names_any_of(self, plan: Plan) -> bool:
        """Return whether the text names a value of a plan."""
        return bool(self._find([plan]))

    def fitting(self, options: Sequence[Option]) -> tuple[Option, ...]:
        """Return the options that fit best; empty if no option does what the verbs mean.

        These are the options that lack the fewest types of action and, if any option has everything
        that the text names, also have everything. The result is empty if no option meets both
        conditions. Options that change nothing are left out if others with the same types of action
        change something.
        """
        types = [self._types(each.plan) for each in options]
        wanted = self._wanted.types.union(*map(self._spelt, (self.known.names, *types)))
        lacking = [len(wanted - own) for own in types]
        least = min(lacking, default=0)
        if wanted and least == len(wanted):
            return ()
        kept = [place for place, count in enumerate(lacking) if count == least]
        whole = {place for place, each in enumerate(options) if self.names_all_of(each.plan)}
        if whole:
            kept = [place for place in kept if place in whole]
        same = [self.changes_nothing(each) for each in options]
        changing = {types[place] for place in kept if not same[place]}
        return tuple(
            options[place] for place in kept if not same[place] or types[place] not in changing
        )

    def fits_verbs(self, plan: Plan) -> bool:
        """Return whether a plan does everything that the verbs mean, and nothing else."""
        sure, every = self._wanted.sure, self._wanted.sure | self._wanted.possible
        done = [self._types(part) for part in plan.parts or (plan,)]
        return sure <= frozenset().union(*done) and all(not sure or own & every for own in done)

    def is_fulfilled(self, plan: Plan | None = None, strange: Collection[str] = ()) -> bool:
        """Return whether the text asks for a state that holds already.

        For example, *switch off the lamp* asks for the present state if the lamp could be switched
        on now, and switching it off would then lead back to this state. In general, an action that
        fits the text and spells the `strange` words must lead back in this way. With a `plan` of
        one action, only this action is tried, whether or not it fits the text.
        """
        alone = None if plan is None or len(plan.actions) > 1 else plan.actions[0]
        if plan is not None and alone is None and self.was_shown(plan):
            return False  # a round trip was meant
        for back in self._leading_back(alone):
            if alone is not None:
                return True
            types = self._types(back)
            spelt = self._spelt(types)
            wanted = self._wanted.types | spelt
            spans = self._find([each.plan for each in (*self.likely, *self.others)] + [back])
            spelt_words = {word for name in spelt for word in self.language.fold(name).split()}
            if (
                wanted
                and wanted <= types
                and spelt_words.issuperset(strange)
                and not self._lacking(back, spans)
            ):
                return True
        return False

    def was_shown(self, plan: Plan) -> bool:
        """Return whether the same words were demonstrated for the plan's types of action."""
        words = {word for word in self.words if not is_punctuation(word)}
        types = self._types(plan) & self.known.names
        return any(each.words == words and each.types == types for each in self.known.shown)

    def _leading_back(self, only: Any) -> Iterator[Plan]:
        """Yield one-action plans that undo an action which is possible now.

        `only` is the single action to try; None tries all actions.
        """
        world, now, steps = self.request.world, self.request.start, 0
        here = world.outcome(now)
        for first in world.actions(now):
            there = world.step(now, first)
            if world.outcome(there) == here:
                continue
            for back in world.actions(there) if only is None else (only,):
                steps += 1
                if steps > _MOST_STEPS:
                    return
                if only is not None and back not in world.actions(there):
                    continue
                if world.outcome(world.step(there, back)) == here:
                    yield Plan((back,), (there, now), 0.0, 1.0)

    def _shape(self, plan: Plan) -> list[tuple[Any, ...]]:
        """Return the nodes and labels of a plan's graphs without their string values."""
        return [each.shape for each in self._look(plan)]

    # ---- equal options ----------------------------------------------------------------------

    def equals(self, chosen: Option, options: Iterable[Option]) -> tuple[Option, ...]:
        """Return the chosen option and all others that the text describes equally well.

        The others make the same change to other things, and their plans have every value that the
        text names: *the lamp* fits all lamps. A chosen option that changes nothing is left out if
        there are others. Only the chosen option is returned if the text has an indefinite article
        (*a lamp*) or a word that may distinguish the things.
        """
        language = self.language
        spans = self._find([chosen.plan])
        named = {(span.kind, span.value) for span in spans}
        places = {place for span in spans for place in span.places}
        plain = {*language.stop_words, *language.function_words, *language.universals}
        others = (word for place, word in enumerate(self.words) if place not in places)
        if (
            not (named or {*self.words} & {*language.universals})
            or {*self.words} & {*language.indefinites}
            or not all(w in plain or is_punctuation(w) or self.known.is_plain(w) for w in others)
        ):
            return (chosen,)
        shape = self._shape(chosen.plan)
        equal = [
            each
            for each in options
            if each.outcome != chosen.outcome
            and not self.changes_nothing(each)
            and self._shape(each.plan) == shape
            and named <= self._values(each.plan)
        ]
        return tuple(equal) if equal and self.changes_nothing(chosen) else (chosen, *equal)
