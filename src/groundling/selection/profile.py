"""The profile of demonstrations: facts about them, before anything is learnt."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, groupby, pairwise
from typing import Any, Literal

from groundling.data.canonical import canonical
from groundling.errors import DemonstrationError
from groundling.features.connectives import Connective, possible_connectives
from groundling.features.feature_settings import Features
from groundling.features.labels import kind_of
from groundling.features.lexicon import Lexicon, matches_name
from groundling.features.reader import Reader
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


@dataclass(frozen=True)
class Kind:
    """How words go with the string labels of one name.

    Parameters
    ----------
    name
        The name of the labels.
    values
        The values of demonstrated actions.
    spelled
        Those of them that some word of some text spells.
    mentions, hits
        In how many demonstrations a word spells a value of this kind, and in how many of these
        the demonstrated actions have that value.
    shown
        In how many demonstrations actions have a value of this kind.
    """

    name: str
    values: frozenset[str]
    spelled: frozenset[str]
    mentions: int
    hits: int
    shown: int = 0

    @property
    def is_slot(self) -> bool:
        """Whether words spell most values, and mostly those of the demonstrated actions.

        Either most texts that spell a value mean it, or nearly all that mean one spell it: words
        of names (*lamp* in “bedroom lamp”) often mean other things.

        >>> few = frozenset({"red", "blue"})
        >>> Kind("colour", few, few, 10, 9).is_slot, Kind("way", few, few, 10, 2).is_slot
        (True, False)
        >>> Kind("name", few, few, 100, 30, 30).is_slot
        True
        """
        some = 2 * len(self.spelled) > len(self.values) or len(self.spelled) > A_FEW
        return len(self.spelled) > 1 and some and self.is_meant

    @property
    def is_meant(self) -> bool:
        """Whether words that spell a value mostly mean it, however few actions have one."""
        most = NEARLY_ALL * max(A_FEW, self.shown)
        return bool(self.spelled) and (2 * self.hits >= self.mentions or self.hits >= most)

    @property
    def is_often_unsaid(self) -> bool:
        """Whether actions often have a value that no word of their text spells.

        >>> few = frozenset({"red", "blue"})
        >>> [Kind("colour", few, few, 10, 9, shown).is_often_unsaid for shown in (10, 20)]
        [False, True]
        """
        return self.hits < NEARLY_ALL * self.shown


class Profile:
    """Facts about demonstrations; each is computed when it is first asked for.

    Lengths are those of all demonstrations; the other facts are those of a sample that depends
    neither on their order nor on their names. `max_length` is a length of plans that was given;
    `on_step` is called whenever an environment steps, which takes long where it simulates.

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
        """All demonstrations in an order that depends on their content only."""
        return sample(self.demonstrations, self.count)

    @cached_property
    def encoder(self) -> Encoder:
        """What reads and caches the sample."""
        features = Features(words=("word",))
        reader = Reader(load_parser(self.parser), (), features.labeller(), Lexicon())
        encoder = Encoder(reader, Overlay(), features.nodes())
        encoder.worlds.on_step = self.on_step
        return encoder

    @cached_property
    def examples(self) -> list[Example]:
        """The sample, read and carried out."""
        try:
            return prepare(self.encoder, self.ordered[:PROFILE_SIZE])
        except DemonstrationError:
            prepare(self.encoder, self.demonstrations)  # names the first of all that is wrong
            raise

    def cached(self, demonstrations: Sequence[Demonstration]) -> list[Demonstration]:
        """Return demonstrations in worlds that share what was asked of their environments."""
        world: Any = self.encoder.world
        return [replace(each, environment=world(each.environment)) for each in demonstrations]

    @cached_property
    def declared(self) -> Mapping[str, Any]:
        """Settings that all environments declare (`Environment.follower_settings`)."""
        found = [each.follower_settings for each in self.worlds]
        return found[0] if all(each == found[0] for each in found) else {}

    @cached_property
    def worlds(self) -> list[CachedEnvironment]:
        """The environments, each once."""
        found = {id(each.environment): each.environment for each in self.demonstrations}
        return [self.encoder.world(each) for each in found.values()]

    @cached_property
    def takes_sets(self) -> bool:
        """Whether actions take sets of things, so that singular and plural matter."""
        return any("set" in each.open_values for each in self.worlds)

    @cached_property
    def has_things(self) -> bool:
        """Whether environments list things, so that their ranks and relations are known."""
        return any(each.has_things for each in self.worlds)

    @cached_property
    def relates(self) -> bool:
        """Whether texts often name values that only other things have than those acted on."""
        if not self.has_things:
            return False
        return sum(map(_names_others, self.examples)) > HARDLY_ANY * len(self.examples)

    # ---- plans --------------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Counter[int]:
        """How many demonstrations have how many actions, not counting what a start adds."""
        found: Counter[int] = Counter()
        for each in self.demonstrations:
            extra = self.encoder.world(each.environment).extra_length(each.start)
            found[max(1, len(each.actions) - extra)] += 1
        return found

    @property
    def longest(self) -> int:
        """The length of the longest demonstration."""
        return max(self.lengths)

    @cached_property
    def counts(self) -> PlanCounts:
        """How many plans there are from some starts."""
        return PlanCounts([(each.world, each.trajectory.start) for each in self.examples[:A_FEW]])

    def plans(self, length: int) -> float:
        """Return about how many plans of up to so many actions there are from a start."""
        return self.counts.plans(length)

    @cached_property
    def listing(self) -> Lengths:
        """The lengths of plans that can be listed."""
        starts: dict[int, set[str]] = {}
        for each in self.demonstrations:
            starts.setdefault(id(each.environment), set()).add(canonical(each.start))
        different = sum(min(SAMPLED_STARTS, len(found)) for found in starts.values())
        return Lengths(self.counts, self.lengths, different, self.max_length)

    @property
    def listable(self) -> int | None:
        """The length of plans that can all be listed to learn from; None if that is too short."""
        return self.listing.of_plans

    @property
    def quick(self) -> int | None:
        """The same for a lap of the race, which lists them several times over."""
        return self.listing.of_trials

    @cached_property
    def consecutive(self) -> bool:
        """Whether most demonstrations begin where the one before in their group ended."""
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
        """Whether an environment has a goal test."""
        return any(each.world.has_goal for each in self.examples)

    @cached_property
    def has_outcome(self) -> bool:
        """Whether an environment says what of a final state counts."""
        return any(each.world.has_outcome for each in self.examples)

    # ---- texts --------------------------------------------------------------------------

    @cached_property
    def unit(self) -> Literal["sentence", "clause"]:
        """The unit of text of which there are about as many as actions."""
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
        """Whether nearly all texts of several different actions have fewer units than these.

        Then only words are small enough to tell in which order actions are named; an action that
        is repeated may be named once.
        """
        changes = [
            (_units(each, self.unit), sum(1 for _ in groupby(each.trajectory.actions)))
            for each in self.examples
        ]
        several = [units < actions for units, actions in changes if actions > 1]
        return bool(several) and sum(several) >= NEARLY_ALL * len(several)

    @cached_property
    def in_characters(self) -> bool:
        """Whether most texts are written without spaces and read character by character."""
        language = self.encoder.reader.language
        sentences = [each.tokens for example in self.examples for each in example.instructions]
        found = [
            are_characters(tokens) and (not language.spaced or is_unspaced(" ".join(tokens)))
            for tokens in sentences
        ]
        return sum(found) * 2 > len(sentences)

    @cached_property
    def words(self) -> Counter[str]:
        """In how many texts of the sample each word occurs."""
        return Counter(word for each in self.examples for word in words_of(each))

    @cached_property
    def has_rare_meaning(self) -> bool:
        """Whether a word of one text only goes with a label of one demonstration only."""
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
        """Connectives whose texts mostly name values in another order than actions have them."""
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
        """Whether demonstrated actions have labels that are numbers."""
        return bool(self._numbers)

    @cached_property
    def says_numbers(self) -> bool:
        """Whether words say numbers: numerals, or ordinals that some label is equal to."""
        language = self.encoder.reader.language
        return any(
            language.numeral(word) is not None or language.ordinal(word) in self._numbers
            for word in self.words
        )

    @cached_property
    def shares_numbers(self) -> bool:
        """Whether words say numbers, and nodes have several that may be meant."""
        return self.says_numbers and any(
            sum(isinstance(label.value, float) for label in labels) > 1
            for example in self.examples
            for step in example.trajectory.decisions()
            for labels in example.world.ground(*step).node_labels
        )

    def _spells(self, word: str, value: str) -> bool:
        return matches_name(word, value, language=self.encoder.reader.language)

    @cached_property
    def kinds(self) -> list[Kind]:
        """How words go with each kind of string label, by name."""
        shown = [_values(each) for each in self.examples]
        offered = set().union(*shown)
        for each in self.examples[:SAMPLED_STARTS]:
            for action in each.world.some_actions(each.trajectory.start):
                offered |= graph_values(each.world, each.trajectory.start, action)
        return [self._kind(kind, offered, shown) for kind in sorted({kind for kind, _ in offered})]

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
            mentions += bool(said)
            hits += bool(said & own)
            having += bool(own)
        matched = values & set().union(*spelled.values())
        return Kind(kind, frozenset(values), frozenset(matched), mentions, hits, having)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The kinds of values that words match by their spelling."""
        return tuple(each.name for each in self.kinds if each.is_slot)

    @cached_property
    def meant(self) -> tuple[str, ...]:
        """The kinds of which some values are spelled, and mostly meant where they are."""
        return tuple(each.name for each in self.kinds if each.is_meant)

    @cached_property
    def spoken(self) -> float:
        """The share of texts in which some word spells a value of a slot."""
        values = [value for each in self.kinds if each.is_slot for value in each.spelled]
        spelling = {
            word for word in self.words if any(self._spells(word, value) for value in values)
        }
        return sum(bool(words_of(e) & spelling) for e in self.examples) / len(self.examples)

    @cached_property
    def unsaid(self) -> tuple[str, ...]:
        """The slots of which texts often spell no value, so that other words may mean it.

        None, if actions have several values of a slot, as of all things around.
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
    def named(self) -> bool:
        """Whether texts say words of names: string labels whose values have several words."""
        if self.in_characters:  # there names are found as they are written
            return False
        names = {
            part
            for each in self.kinds
            for value in each.values
            if len(value.split()) > 1
            for part in value.lower().split()
        }
        return bool(names & set(self.words))

    @cached_property
    def opaque(self) -> tuple[str, ...]:
        """The kinds of values that other words may stand for, if words spell hardly any value."""
        several = [each for each in self.kinds if len(each.values) >= A_FEW]
        spelled = sum(len(each.spelled) for each in several)
        if self.slots or spelled > HARDLY_ANY * sum(len(each.values) for each in several):
            return ()
        return tuple(each.name for each in several)


def sample(demonstrations: Sequence[Demonstration], most: int) -> list[Demonstration]:
    """Return some of the demonstrations: the same ones whatever their order and their names.

    >>> from groundling import Demonstration
    >>> shown = [Demonstration(text, object(), 0, ("go",)) for text in "abcd"]
    >>> sample(shown, 2) == sample(shown[::-1], 2)
    True
    """

    def key(each: Demonstration) -> tuple[bytes, str]:
        content = f"{each.instructions}|{canonical(each.start)}|{canonical(each.actions)}"
        # Only demonstrations that are equal in all of this are ordered by name.
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest(), each.name

    return sorted(demonstrations, key=key)[:most]


def words_of(example: Example) -> frozenset[str]:
    """Return the words of a text; where characters are words, runs of them, too."""
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
    """Return the string labels of an action, each a kind and a value."""
    return _pairs(action_labels(world, state, action))


def _pairs(labels: Iterable[Label]) -> frozenset[tuple[str, str]]:
    return frozenset((kind_of(e), e.value) for e in labels if isinstance(e.value, str))


def is_reordered(
    example: Example, kinds: Collection[str], spells: Callable[[str, str], bool]
) -> bool | None:
    """Return whether a text names values in another order than its actions have them.

    None, if its values do not tell.
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
    """Tell whether a text names values of other things, and of none that it is about."""
    world, words = example.world, words_of(example)
    if not world.has_things:
        return False
    there: set[str] = set()
    about: set[str] = set()
    for state, action in example.trajectory.decisions():
        graph, things = world.ground(state, action), world.scene(state).labels
        if any(name in things for name in graph.node_names):
            for names, labels in ((about, graph.node_labels), (there, things.values())):
                names.update(value.lower() for _, value in _pairs(chain.from_iterable(labels)))
    return any(words.issuperset(value.split()) for value in there - about)


def _values(example: Example) -> frozenset[tuple[str, str]]:
    return _pairs(labels_of(example))
