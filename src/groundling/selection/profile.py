"""Facts about demonstrations, computed before training."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, groupby, pairwise
from typing import Any, Literal

from groundling.cache import CacheBudget
from groundling.data.canonical import canonical
from groundling.errors import DemonstrationError
from groundling.features.connectives import Connective, possible_connectives
from groundling.features.feature_settings import Features
from groundling.features.labels import string_values
from groundling.features.lexicon import Lexicon, matches_name
from groundling.features.reader import Reader
from groundling.features.spans import split_name, split_word
from groundling.language.parser import Parser, load_parser
from groundling.language.sentences import are_characters, is_unspaced, runs_of
from groundling.language.units import split_units
from groundling.learning.plan_counts import Lengths, PlanCounts
from groundling.models.example import Example, prepare
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import Overlay
from groundling.selection.constants import (
    A_FEW,
    HARDLY_ANY,
    NEARLY_ALL,
    PROFILE_SIZE,
    SAMPLED_STARTS,
)
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.composition import follow_each_other
from groundling.world.environment import Demonstration, State
from groundling.world.graph import Label

_RACE_MEMORY = 400_000_000  # bytes for what all configurations cache


@dataclass(frozen=True)
class Kind:
    """Statistics of how the words of texts match the values of a string label.

    A text *spells* a value if one of its words does, and *means* a value if the demonstrated
    actions have it.

    Parameters
    ----------
    name
        The name of the label.
    values
        The values that are meant by any text.
    spelled
        Those of `values` that are spelled by any text.
    mentions, hits
        The number of texts that spell a value, and the number of those that also mean it.
    shown
        The number of texts that mean a value.
    """

    name: str
    values: frozenset[str]
    spelled: frozenset[str]
    mentions: int
    hits: int
    shown: int = 0

    @property
    def is_slot(self) -> bool:
        """Whether the label should be a slot, whose values words match by spelling.

        Texts that spell a value must usually mean it (see `is_meant`). In addition, several values
        must be spelled, and not just a small part of many; otherwise, matches may be due to chance.
        The second condition is waived if every text that spells a value means it.

        >>> values = frozenset({"red", "blue"})
        >>> Kind("colour", values, spelled=values, mentions=10, hits=9).is_slot
        True
        >>> Kind("colour", values, spelled=frozenset({"red"}), mentions=10, hits=9).is_slot
        False
        >>> Kind("colour", values, spelled=frozenset({"red"}), mentions=10, hits=10).is_slot
        True
        """
        some = 2 * len(self.spelled) > len(self.values) or len(self.spelled) > A_FEW
        always = self.mentions == self.hits
        return (always or (len(self.spelled) > 1 and some)) and self.is_meant

    @property
    def is_meant(self) -> bool:
        """Whether texts that spell a value usually mean it.

        This holds if at least half of the texts that spell a value mean it, or if nearly all texts
        that mean a value spell it. The latter suffices because a word of a name (*lamp* in “bedroom
        lamp”) often has another meaning too.

        >>> values = frozenset({"kitchen lamp", "bedroom lamp"})
        >>> Kind("name", values, spelled=values, mentions=100, hits=30, shown=30).is_meant
        True
        >>> Kind("name", values, spelled=values, mentions=100, hits=30, shown=90).is_meant
        False
        """
        most = NEARLY_ALL * max(A_FEW, self.shown)
        return bool(self.spelled) and (2 * self.hits >= self.mentions or self.hits >= most)

    @property
    def is_often_unsaid(self) -> bool:
        """Whether texts often mean a value without spelling it.

        >>> values = frozenset({"red", "blue"})
        >>> Kind("colour", values, spelled=values, mentions=10, hits=9, shown=20).is_often_unsaid
        True
        """
        return self.hits < NEARLY_ALL * self.shown


class Profile:
    """Facts about demonstrations, each computed on first use.

    Lengths are computed from all demonstrations. Other facts are computed from a sample that does
    not depend on the order or names of demonstrations. `max_length` is the plan length that the
    user set, if any. `on_step` is called at each step of an environment, to report the progress of
    slow simulators.

    Examples
    --------
    >>> from groundling import Demonstration
    >>> from groundling.examples import Lamp
    >>> profile = Profile([Demonstration("light it", Lamp(), "off", ("on",))], "chain")
    >>> profile.count, profile.longest, profile.plans(1)
    (1, 1, 2.0)
    """

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        parser: str | Parser,
        max_length: int | None = None,
        on_step: Callable[[], object] | None = None,
    ) -> None:
        self.demonstrations = demonstrations
        self.parser = parser
        self.max_length = max_length
        self.on_step = on_step

    @property
    def count(self) -> int:
        """Number of demonstrations."""
        return len(self.demonstrations)

    @cached_property
    def ordered(self) -> list[Demonstration]:
        """All demonstrations, in an order that depends only on their content."""
        return sample(self.demonstrations, self.count)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder that reads and caches the sample."""
        features = Features(words=("word",))
        reader = Reader(load_parser(self.parser), (), features.labeller(), Lexicon())
        budget = CacheBudget(_RACE_MEMORY)
        encoder = Encoder(reader, Overlay(), features.nodes(), budget=budget)
        encoder.worlds.on_step = self.on_step
        encoder.worlds.keep_graphs = True  # all configurations of a race ask for them
        return encoder

    @cached_property
    def examples(self) -> list[Example]:
        """The sample, with parsed texts and executed actions."""
        try:
            return prepare(self.encoder, self.ordered[:PROFILE_SIZE])
        except DemonstrationError:
            prepare(self.encoder, self.demonstrations)  # raises the first error
            raise

    def cached(self, demonstrations: Sequence[Demonstration]) -> list[Demonstration]:
        """Return the demonstrations with their environments replaced by cached ones."""
        world: Any = self.encoder.world
        return [replace(each, environment=world(each.environment)) for each in demonstrations]

    @cached_property
    def declared(self) -> Mapping[str, Any]:
        """Settings that all environments declare (`Environment.follower_settings`)."""
        found = [each.follower_settings for each in self.worlds]
        return found[0] if all(each == found[0] for each in found) else {}

    @cached_property
    def worlds(self) -> list[CachedEnvironment]:
        """The distinct environments."""
        found = {id(each.environment): each.environment for each in self.demonstrations}
        return [self.encoder.world(each) for each in found.values()]

    @cached_property
    def takes_sets(self) -> bool:
        """Whether actions take sets of things, so that plurals have a meaning of their own."""
        return any("set" in each.open_values for each in self.worlds)

    @cached_property
    def has_things(self) -> bool:
        """Whether environments list things, so that ranks and relations are known."""
        return any(each.has_things for each in self.worlds)

    @cached_property
    def relates(self) -> bool:
        """Whether texts often name things other than those acted on."""
        if not self.has_things:
            return False
        return sum(map(_names_others, self.examples)) > HARDLY_ANY * len(self.examples)

    # ---- plans --------------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Counter[int]:
        """The number of demonstrations by plan length, without `extra_length` actions."""
        found: Counter[int] = Counter()
        for each in self.demonstrations:
            extra = self.encoder.world(each.environment).extra_length(each.start)
            found[max(1, len(each.actions) - extra)] += 1
        return found

    @property
    def longest(self) -> int:
        """The number of actions of the longest demonstration."""
        return max(self.lengths)

    @cached_property
    def counts(self) -> PlanCounts:
        """The estimated number of plans, from a sample of starts."""
        return PlanCounts([(each.world, each.trajectory.start) for each in self.examples[:A_FEW]])

    def plans(self, length: int) -> float:
        """Return the approximate number of plans of up to `length` actions from a start."""
        return self.counts.plans(length)

    @cached_property
    def listing(self) -> Lengths:
        """The plan lengths at which all plans can be listed in acceptable time."""
        starts: dict[int, set[str]] = {}
        for each in self.demonstrations:
            starts.setdefault(id(each.environment), set()).add(canonical(each.start))
        different = sum(min(SAMPLED_STARTS, len(found)) for found in starts.values())
        return Lengths(self.counts, self.lengths, different, self.max_length)

    @property
    def listable(self) -> int | None:
        """The maximum plan length at which training can list all plans; None if it cannot."""
        return self.listing.of_plans

    @property
    def quick(self) -> int | None:
        """The maximum plan length at which a race can list all plans; None if it cannot."""
        return self.listing.of_trials

    @cached_property
    def consecutive(self) -> bool:
        """Whether most demonstrations start where the previous one of their group ended."""
        groups: dict[str, list[Demonstration]] = {}
        for each in self.demonstrations:
            if each.group:
                groups.setdefault(each.group, []).append(each)
        pairs = [pair for group in groups.values() for pair in pairwise(group)]
        if 2 * len(pairs) < self.count:
            return False
        some = pairs[:: max(1, len(pairs) // PROFILE_SIZE)]
        return 2 * sum(follow_each_other(*pair, self.encoder.world) for pair in some) >= len(some)

    @cached_property
    def has_goal(self) -> bool:
        """Whether any environment defines `is_goal`."""
        return any(each.world.has_goal for each in self.examples)

    @cached_property
    def has_outcome(self) -> bool:
        """Whether any environment defines `outcome`."""
        return any(each.world.has_outcome for each in self.examples)

    # ---- texts --------------------------------------------------------------------------

    @cached_property
    def unit(self) -> Literal["sentence", "clause"]:
        """The kind of text unit whose number is closest to the number of actions."""
        off = {
            unit: sum(abs(_units(each, unit) - len(each.trajectory)) for each in self.examples)
            for unit in ("sentence", "clause")
        }
        return "clause" if off["clause"] < off["sentence"] else "sentence"

    @cached_property
    def units(self) -> float:
        """Mean number of units of a text."""
        return sum(_units(each, self.unit) for each in self.examples) / len(self.examples)

    @cached_property
    def actions(self) -> float:
        """Mean number of actions of a demonstration."""
        return sum(len(each.trajectory) for each in self.examples) / len(self.examples)

    @cached_property
    def crowded(self) -> bool:
        """Whether nearly all texts of several actions have fewer units than actions.

        In such texts, only single words can show the order of actions. Repeated actions count once,
        because a text may name them only once.
        """
        changes = [
            (_units(each, self.unit), sum(1 for _ in groupby(each.trajectory.actions)))
            for each in self.examples
        ]
        several = [units < actions for units, actions in changes if actions > 1]
        return bool(several) and sum(several) >= NEARLY_ALL * len(several)

    @cached_property
    def in_characters(self) -> bool:
        """Whether most texts have no spaces and are read character by character."""
        language = self.encoder.reader.language
        sentences = [each.tokens for example in self.examples for each in example.instructions]
        found = [
            are_characters(tokens) and (not language.spaced or is_unspaced(" ".join(tokens)))
            for tokens in sentences
        ]
        return sum(found) * 2 > len(sentences)

    @cached_property
    def words(self) -> Counter[str]:
        """The number of texts of the sample in which each word occurs."""
        return Counter(word for each in self.examples for word in words_of(each))

    @cached_property
    def has_rare_meaning(self) -> bool:
        """Whether some word and some label occur only once, in the same demonstration."""
        examples = self.examples
        if self.count > len(examples):
            examples = prepare(self.encoder, self.demonstrations)
        words = [words_of(each) for each in examples]
        labels = [
            {(e.name, e.value) for e in labels_of(each) if not isinstance(e.value, float)}
            for each in examples
        ]
        said, had = (Counter(one for each in found for one in each) for found in (words, labels))
        return any(
            any(said[word] == 1 for word in one) and any(had[label] == 1 for label in other)
            for one, other in zip(words, labels, strict=True)
        )

    @cached_property
    def reordering(self) -> tuple[str, ...]:
        """The connectives that usually reverse the order of actions in their texts."""
        turned: Counter[Connective] = Counter()
        seen: Counter[Connective] = Counter()
        for example in self.examples:
            order = is_reordered(example, self.slots, self._spells)
            if order is not None:
                found = possible_connectives(
                    example.instructions, self.encoder.reader.language.fold
                )
                seen.update(found)
                turned.update(found if order else ())
        return tuple(
            sorted(str(e) for e, count in turned.items() if count > A_FEW and 2 * count > seen[e])
        )

    # ---- labels -------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> frozenset[float]:
        labels = (label for each in self.examples for label in labels_of(each))
        return frozenset(each.value for each in labels if isinstance(each.value, float))

    @property
    def has_numbers(self) -> bool:
        """Whether the graphs of demonstrated actions have numeric labels."""
        return bool(self._numbers)

    @cached_property
    def says_numbers(self) -> bool:
        """Whether texts contain numbers: numerals, or ordinals used as labels or ranks."""
        language = self.encoder.reader.language
        ordinals = {language.ordinal(word) for word in self.words} - {None}
        return bool(ordinals & self._numbers if not self.has_things else ordinals) or any(
            language.numeral(word) is not None for word in self.words
        )

    @cached_property
    def shares_numbers(self) -> bool:
        """Whether texts contain numbers that match several labels of the same node."""
        return self.says_numbers and (
            self.has_things
            or any(
                sum(isinstance(label.value, float) for label in labels) > 1
                for example in self.examples
                for step in example.trajectory.decisions()
                for labels in example.world.ground(*step).node_labels
            )
        )

    def _spells(self, word: str, value: str) -> bool:
        return matches_name(word, value, language=self.encoder.reader.language)

    @cached_property
    def kinds(self) -> list[Kind]:
        """Statistics of how words match each string label, sorted by label name."""
        shown = [_values(each) for each in self.examples]
        offered = set().union(*shown)
        for each in self.examples[:SAMPLED_STARTS]:
            for action in each.world.some_actions(each.trajectory.start):
                offered |= graph_values(each.world, each.trajectory.start, action)
        names = sorted({kind for kind, _ in offered})
        return [self._kind(kind, offered, shown) for kind in names]

    def _kind(
        self, kind: str, offered: set[tuple[str, str]], shown: Sequence[frozenset[tuple[str, str]]]
    ) -> Kind:
        language = self.encoder.reader.language
        candidates = [value for name, value in offered if name == kind]
        spelled = {
            word: {value for value in candidates if self._spells(word, value)}
            for word in self.words
            if language.numeral(word) is None and language.ordinal(word) is None
        }
        mentions = hits = having = 0
        values: set[str] = set()
        for example, has in zip(self.examples, shown, strict=True):
            own = {value for name, value in has if name == kind}
            said = {value for word in words_of(example) for value in spelled.get(word, ())}
            values |= own
            # A value may also be that of another label: a guest, not the person to be met.
            mentions += bool(said - {value for name, value in has if name != kind} or said & own)
            hits += bool(said & own)
            having += bool(own)
        matched = values & set().union(*spelled.values())
        return Kind(kind, frozenset(values), frozenset(matched), mentions, hits, having)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The labels whose values are matched with words by spelling."""
        return tuple(each.name for each in self.kinds if each.is_slot)

    @cached_property
    def meant(self) -> tuple[str, ...]:
        """The labels for which texts that spell a value usually mean it (see `Kind`)."""
        return tuple(each.name for each in self.kinds if each.is_meant)

    @cached_property
    def spoken(self) -> float:
        """The share of texts with a word that spells a value of a slot."""
        values = [value for each in self.kinds if each.is_slot for value in each.spelled]
        spelling = {
            word for word in self.words if any(self._spells(word, value) for value in values)
        }
        return sum(bool(words_of(e) & spelling) for e in self.examples) / len(self.examples)

    @cached_property
    def unsaid(self) -> tuple[str, ...]:
        """The slots whose values are often expressed in words that do not spell them.

        The tuple is empty if actions have several values of a slot, such as the values of all
        nearby things.
        """
        found = [
            Counter(kind for kind, _ in graph_values(each.world, *decision))
            for each in self.examples
            for decision in each.trajectory.decisions()
        ]
        several = sum(any(each[kind] > 1 for kind in self.slots) for each in found)
        if several > HARDLY_ANY * len(found):
            return ()
        return tuple(each.name for each in self.kinds if each.is_slot and each.is_often_unsaid)

    @cached_property
    def leaves_unsaid(self) -> bool:
        """Whether there is a slot whose values texts often mean without spelling them."""
        return any(each.is_slot and each.is_often_unsaid for each in self.kinds)

    @cached_property
    def named(self) -> bool:
        """Whether texts contain words of multi-word names."""
        if self.in_characters:  # such texts are matched by characters
            return False
        fold = self.encoder.reader.language.fold
        split = [split_name(fold(value)) for each in self.kinds for value in each.values]
        names = {part for parts in split if len(parts) > 1 for part in parts if part.isalpha()}
        return any(part in names for word in self.words for part in split_word(word))

    @cached_property
    def opaque(self) -> tuple[str, ...]:
        """The labels whose words must be learnt, because texts rarely spell their values."""
        several = [each for each in self.kinds if len(each.values) >= A_FEW]
        spelled = sum(len(each.spelled) for each in several)
        if self.slots or spelled > HARDLY_ANY * sum(len(each.values) for each in several):
            return ()
        return tuple(each.name for each in several)


def sample(demonstrations: Sequence[Demonstration], most: int) -> list[Demonstration]:
    """Return a sample that does not depend on the order or names of demonstrations.

    >>> from groundling import Demonstration
    >>> shown = [Demonstration(text, object(), 0, ("go",)) for text in "abcd"]
    >>> sample(shown, 2) == sample(shown[::-1], 2)
    True
    """

    def key(each: Demonstration) -> tuple[bytes, str]:
        content = f"{each.instructions}|{canonical(each.start)}|{canonical(each.actions)}"
        # The name is only used to break ties.
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest(), each.name

    return sorted(demonstrations, key=key)[:most]


def words_of(example: Example) -> frozenset[str]:
    """Return the words of a text in lower case.

    If the text is read character by character, sequences of neighbouring characters are included.
    """
    return frozenset(
        word.lower()
        for sentence in example.instructions
        for word in (*sentence.tokens, *runs_of(sentence.tokens))
        if any(character.isalnum() for character in word)
    )


def action_labels(world: CachedEnvironment, state: State, action: object) -> Iterator[Label]:
    """Yield the labels of all nodes of an action's grounding graph."""
    return chain.from_iterable(world.ground(state, action).node_labels)


def labels_of(example: Example) -> Iterator[Label]:
    """Yield the labels of the demonstrated actions."""
    for decision in example.trajectory.decisions():
        yield from action_labels(example.world, *decision)


def graph_values(
    world: CachedEnvironment, state: State, action: object
) -> frozenset[tuple[str, str]]:
    """Return the string labels of an action as (name, value) pairs."""
    return frozenset(string_values(action_labels(world, state, action)))


def is_reordered(
    example: Example, kinds: Collection[str], spells: Callable[[str, str], bool]
) -> bool | None:
    """Return whether a text names values in a different order from the actions.

    Returns None if the values in the text do not determine the order.
    """
    held: dict[str, list[int]] = {}
    for number, (state, action) in enumerate(example.trajectory.decisions()):
        for kind, value in graph_values(example.world, state, action):
            if kind in kinds:
                held.setdefault(value, []).append(number)
    words = [word.lower() for each in example.instructions for word in each.tokens]
    joined = "".join(words) if are_characters(words) else ""
    places = []
    for value, actions in held.items():
        if joined:
            said = [found.start() for found in re.finditer(re.escape(value.lower()), joined)]
        else:
            said = [place for place, word in enumerate(words) if spells(word, value)]
        if len(said) == len(actions) == 1:
            places.append((said[0], actions[0]))
    pairs = [pair for pair in combinations(sorted(places), 2) if pair[0][1] != pair[1][1]]
    if not pairs:
        return None
    return sum(one[1] > other[1] for one, other in pairs) * 2 > len(pairs)


def _units(example: Example, unit: str) -> int:
    return sum(len(split_units(sentence, unit)) for sentence in example.instructions)


def _names_others(example: Example) -> bool:
    """Return whether a text names a thing other than those acted on."""
    world, words = example.world, words_of(example)
    if not world.has_things:
        return False
    there: set[str] = set()
    about: set[str] = set()
    for state, action in example.trajectory.decisions():
        graph, things = world.ground(state, action), world.scene(state).labels
        if any(name in things for name in graph.node_names):
            for names, labels in ((about, graph.node_labels), (there, things.values())):
                names.update(
                    value.lower() for _, value in string_values(chain.from_iterable(labels))
                )
    return any(words.issuperset(value.split()) for value in there - about)


def _values(example: Example) -> frozenset[tuple[str, str]]:
    return frozenset(string_values(labels_of(example)))
