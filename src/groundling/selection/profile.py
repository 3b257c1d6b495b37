"""The profile of demonstrations: facts about them, before anything is learnt."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby, pairwise
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
from groundling.selection.constants import MOSTLY, SAMPLE, SEVERAL, SHARE, SHARING
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
        some = 2 * len(self.spelled) > len(self.values) or len(self.spelled) > SEVERAL
        return len(self.spelled) > 1 and some and self.is_meant

    @property
    def is_meant(self) -> bool:
        """Whether words that spell a value mostly mean it, however few actions have one."""
        most = MOSTLY * max(SEVERAL, self.shown)
        return bool(self.spelled) and (2 * self.hits >= self.mentions or self.hits >= most)

    @property
    def is_often_unsaid(self) -> bool:
        """Whether actions often have a value that no word of their text spells.

        >>> few = frozenset({"red", "blue"})
        >>> [Kind("colour", few, few, 10, 9, shown).is_often_unsaid for shown in (10, 20)]
        [False, True]
        """
        return self.hits < MOSTLY * self.shown


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
            return prepare(self.encoder, self.ordered[:SAMPLE])
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
        found = [
            self.encoder.world(each.environment).follower_settings for each in self.demonstrations
        ]
        return found[0] if all(each == found[0] for each in found) else {}

    @cached_property
    def takes_sets(self) -> bool:
        """Whether actions take sets of things, so that singular and plural matter."""
        worlds = {id(each.environment): each.environment for each in self.demonstrations}
        return any("set" in self.encoder.world(each).open_values for each in worlds.values())

    @cached_property
    def has_things(self) -> bool:
        """Whether environments list things, so that their ranks and relations are known."""
        worlds = {id(each.environment): each.environment for each in self.demonstrations}
        return any(self.encoder.world(each).has_things for each in worlds.values())

    @cached_property
    def relates(self) -> bool:
        """Whether texts often name values that only other things have than those acted on."""
        if not self.has_things:
            return False
        return sum(map(_names_others, self.examples)) > SHARE * len(self.examples)

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
        return PlanCounts([(each.world, each.trajectory.start) for each in self.examples[:SEVERAL]])

    def plans(self, length: int) -> float:
        """Return about how many plans of up to so many actions there are from a start."""
        return self.counts.plans(length)

    @cached_property
    def listing(self) -> Lengths:
        """The lengths of plans that can be listed."""
        starts: dict[int, set[str]] = {}
        for each in self.demonstrations:
            starts.setdefault(id(each.environment), set()).add(canonical(each.start))
        different = sum(min(SHARING, len(found)) for found in starts.values())
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
        some = pairs[:: max(1, len(pairs) // SAMPLE)]
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
        return bool(several) and sum(several) >= MOSTLY * len(several)

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
            {
                (label.name, label.value)
                for state, action in each.trajectory.decisions()
                for node in each.world.ground(state, action).node_labels
                for label in node
                if not isinstance(label.value, float)
            }
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
            order = (
                is_reordered(example, self.slots, self._spells)
                if len(example.trajectory) > 1
                else None
            )
            if order is None:
                continue
            fold = self.encoder.reader.language.fold
            for each in possible_connectives(example.instructions, fold):
                seen[each] += 1
                turned[each] += order
        return tuple(
            sorted(
                str(each)
                for each, count in turned.items()
                if count > SEVERAL and 2 * count > seen[each]
            )
        )

    # ---- labels -------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> frozenset[float]:
        return frozenset(
            label.value
            for each in self.examples
            for state, action in each.trajectory.decisions()
            for labels in each.world.ground(state, action).node_labels
            for label in labels
            if isinstance(label.value, float)
        )

    @property
    def has_numbers(self) -> bool:
        """Whether demonstrated actions have labels that are numbers."""
        return bool(self._numbers)

    @cached_property
    def says_numbers(self) -> bool:
        """Whether words say numbers: numerals, or ordinals of labels or of ranks of things."""
        language = self.encoder.reader.language
        ordinals = {language.ordinal(word) for word in self.words} - {None}
        return bool(ordinals & self._numbers if not self.has_things else ordinals) or any(
            language.numeral(word) is not None for word in self.words
        )

    @cached_property
    def shares_numbers(self) -> bool:
        """Whether words say numbers, and nodes have several that may be meant, such as ranks."""
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
        """How words go with each kind of string label, by name."""
        shown = [_values(each) for each in self.examples]
        known: dict[str, set[str]] = {}
        for found in shown:
            for kind, value in found:
                known.setdefault(kind, set()).add(value)
        offered = {kind: set(values) for kind, values in known.items()}
        for each in self.examples[:SHARING]:
            for action in each.world.some_actions(each.trajectory.start):
                for kind, value in graph_values(each.world, each.trajectory.start, action):
                    offered.setdefault(kind, set()).add(value)
        return [self._kind(kind, known.get(kind, set()), offered[kind], shown) for kind in
                sorted(offered)]  # fmt: skip

    def _kind(
        self,
        kind: str,
        values: set[str],
        offered: set[str],
        shown: Sequence[frozenset[tuple[str, str]]],
    ) -> Kind:
        language = self.encoder.reader.language
        spelled = {
            word: frozenset(value for value in offered if self._spells(word, value))
            for word in self.words
            if language.numeral(word) is None and language.ordinal(word) is None
        }
        spelled = {word: found for word, found in spelled.items() if found}
        matched = frozenset(value for found in spelled.values() for value in found) & values
        mentions = hits = 0
        for example, has in zip(self.examples, shown, strict=True):
            said = {value for word in words_of(example) for value in spelled.get(word, ())}
            mentions += bool(said)
            hits += any((kind, value) in has for value in said)
        having = sum(any(name == kind for name, _ in has) for has in shown)
        return Kind(kind, frozenset(values), matched, mentions, hits, having)

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
            Counter(kind for kind, _ in graph_values(each.world, state, action))
            for each in self.examples
            for state, action in each.trajectory.decisions()
        ]
        several = sum(any(each[kind] > 1 for kind in self.slots) for each in found)
        if several > SHARE * len(found):
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
        several = [each for each in self.kinds if len(each.values) >= SEVERAL]
        spelled = sum(len(each.spelled) for each in several)
        if self.slots or spelled > SHARE * sum(len(each.values) for each in several):
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


def graph_values(
    world: CachedEnvironment, state: State, action: object
) -> frozenset[tuple[str, str]]:
    """Return the string labels of an action, each a kind and a value."""
    return frozenset(
        (kind_of(label), label.value)
        for labels in world.ground(state, action).node_labels
        for label in labels
        if isinstance(label.value, str)
    )


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
        if not any(name in things for name in graph.node_names):
            continue
        about.update(str(each.value).lower() for each in _listed(graph.node_labels))
        there.update(str(each.value).lower() for each in _listed(things.values()))
    return any(words.issuperset(value.split()) for value in there - about)


def _listed(labels: Iterable[tuple[Label, ...]]) -> Iterator[Label]:
    return (each for some in labels for each in some if isinstance(each.value, str))


def _values(example: Example) -> frozenset[tuple[str, str]]:
    return frozenset(
        pair
        for state, action in example.trajectory.decisions()
        for pair in graph_values(example.world, state, action)
    )
