"""What demonstrations look like before anything is learnt: lengths, plans, texts, values."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from groundling.data.canonical import canonical
from groundling.errors import DemonstrationError
from groundling.features.connectives import Connective
from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon, matches_name
from groundling.features.reader import Reader
from groundling.language.parser import Parser, load_parser
from groundling.language.units import split_units
from groundling.learning.counting import Lengths, PlanCounts
from groundling.learning.wording import KindFacts, graph_values, turning_words, words_of
from groundling.models.examples import Example, prepare
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import Overlay
from groundling.world.composition import follow_each_other
from groundling.world.environment import Demonstration

__all__ = ["Facts", "sample"]

_SAMPLE = 180  # demonstrations that are looked at closely
_STARTS = 3  # starts from which plans are counted
_COVERED = 0.95  # of the texts, where nearly all are meant
_SHARING = 10  # starts in one environment that have hardly an action in common
_FAR_MORE = 3  # times as many units as actions, where most units name none
_CROWDED = 0.8  # share of the texts of several actions that have fewer units
_VALUES = 3  # of a kind that words may stand for
_SPELLED = 0.1  # share of the values that may be spelled by chance
_FOLLOWING = 0.5  # share of demonstrations that go on where others ended
_FEW_TURNED = 2  # texts that a word may have turned around
_SEEN_ACTIONS = 20  # demonstrations of which the alternatives are looked at


class Facts:
    """What demonstrations look like; each question is answered when it is first asked.

    Lengths are those of all demonstrations; what else there is to know is found in a sample,
    which does not depend on their order or their names. `max_length` is a length of plans that
    was asked for, whatever was demonstrated.

    Examples
    --------
    >>> from groundling import Demonstration, GroundingGraph
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"lamp": {action: True}})
    >>> facts = Facts([Demonstration("light it", Lamp(), "off", ("on",))], "chain")
    >>> facts.count, facts.longest, facts.plans(1), facts.several
    (1, 1, 2.0, False)
    """

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        parser: str | Parser,
        max_length: int | None = None,
    ) -> None:
        self.demonstrations = demonstrations
        self.parser = parser
        self.max_length = max_length

    @property
    def count(self) -> int:
        """How many demonstrations there are."""
        return len(self.demonstrations)

    @cached_property
    def sampled(self) -> list[Demonstration]:
        """Some of the demonstrations, whatever their order."""
        return sample(self.demonstrations, _SAMPLE)

    @cached_property
    def encoder(self) -> Encoder:
        """What reads and remembers the sample."""
        features = Features(words=("word",))
        reader = Reader(load_parser(self.parser), (), features.labeller(), Lexicon())
        return Encoder(reader, Overlay(), features.nodes())

    @cached_property
    def examples(self) -> list[Example]:
        """The sample, read and carried out."""
        try:
            return prepare(self.encoder, self.sampled)
        except DemonstrationError:
            prepare(self.encoder, self.demonstrations)  # says which of all it was
            raise

    @cached_property
    def remembered(self) -> list[Demonstration]:
        """The sample in worlds that remember what they were asked, for those who learn from it."""
        worlds: Any = self.encoder.world
        return [replace(each, environment=worlds(each.environment)) for each in self.sampled]

    # ---- lengths ------------------------------------------------------------------------

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
    def consecutive(self) -> bool:
        """Whether many demonstrations begin where the one before in their group ended."""
        groups: dict[str, list[Demonstration]] = {}
        for each in self.demonstrations:
            if each.group:
                groups.setdefault(each.group, []).append(each)
        pairs = [pair for group in groups.values() for pair in pairwise(group)]
        if len(pairs) < _FOLLOWING * self.count:
            return False
        some = pairs[:: max(1, len(pairs) // _SAMPLE)]
        following = sum(follow_each_other(*pair, self.encoder.world) for pair in some)
        return following >= _FOLLOWING * len(some)

    # ---- plans --------------------------------------------------------------------------

    @cached_property
    def counts(self) -> PlanCounts:
        """How many plans there are from some starts."""
        return PlanCounts([(each.world, each.trajectory.start) for each in self.examples[:_STARTS]])

    def plans(self, length: int) -> float:
        """Return about how many plans of up to so many actions there are from a start."""
        return self.counts.plans(length)

    @cached_property
    def _listing(self) -> Lengths:
        # Starts in one environment share most of their actions.
        starts: dict[int, set[str]] = {}
        for each in self.demonstrations:
            starts.setdefault(id(each.environment), set()).add(canonical(each.start))
        different = sum(min(_SHARING, len(found)) for found in starts.values())
        return Lengths(self.counts, self.lengths, different, self.max_length)

    def covering(self, share: float) -> int:
        """Return the length within which a share of the demonstrations lies."""
        return self._listing.covering(share)

    @property
    def enumerable_length(self) -> int | None:
        """How long plans are to be so that all can be listed; nothing if that is too short."""
        return self._listing.of_plans

    @property
    def trial_length(self) -> int | None:
        """The same for what is only tried, which takes several times as long."""
        return self._listing.of_trials

    @cached_property
    def has_goal(self) -> bool:
        """Whether a world says where plans must end."""
        return any(each.world.has_goal for each in self.examples)

    @cached_property
    def has_outcome(self) -> bool:
        """Whether a world says what counts of the state that a plan ends in."""
        return any(hasattr(each.world.environment, "outcome") for each in self.examples)

    # ---- texts --------------------------------------------------------------------------

    @cached_property
    def several(self) -> bool:
        """Whether many texts hold several instructions: sentences, or clauses of one."""
        many = sum(_units(each, "clause") > 1 for each in self.examples)
        return many >= 0.05 * len(self.examples)

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
        """How many units a text has in the mean."""
        return sum(_units(each, self.unit) for each in self.examples) / len(self.examples)

    @cached_property
    def actions(self) -> float:
        """How many actions a demonstration has in the mean."""
        return sum(len(each.trajectory) for each in self.examples) / len(self.examples)

    @cached_property
    def crowded(self) -> bool:
        """Whether nearly all texts of several actions have fewer units than actions.

        Then a unit would have to stand for several actions, as where a parser knows no clauses.
        """
        several = [each for each in self.examples if len(each.trajectory) > 1]
        few = sum(_units(each, self.unit) < len(each.trajectory) for each in several)
        return bool(several) and few >= _CROWDED * len(several)

    @cached_property
    def surplus(self) -> bool:
        """Whether nearly all texts have far more units than actions, so that most name none."""
        many = sum(
            _units(each, self.unit) >= _FAR_MORE * len(each.trajectory) for each in self.examples
        )
        return many >= _COVERED * len(self.examples)

    @cached_property
    def told(self) -> tuple[str, ...]:
        """The kinds of values that labels speak of which stand for whole sentences.

        None, unless half of the sentences are a single word with labels.
        """
        sentences = [each for example in self.examples for each in example.instructions]
        labelled = [each.labels for each in sentences if len(each) == 1 and each.labels]
        if 2 * len(labelled) < len(sentences):
            return ()
        spoken = {label.kind for labels in labelled for label in labels}
        return tuple(each.kind for each in self.kinds if each.kind in spoken)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The names of the nodes that stand for what is done."""
        return tuple(
            sorted(
                {
                    each.world.ground(state, action).root
                    for each in self.examples
                    for state, action in each.trajectory.decisions()
                }
            )
        )

    @cached_property
    def steps(self) -> float:
        """How many units and actions a demonstration has in the mean."""
        return self.units + self.actions

    @cached_property
    def words(self) -> Counter[str]:
        """In how many texts of the sample each word occurs."""
        return Counter(word for each in self.examples for word in words_of(each))

    @cached_property
    def numerals(self) -> bool:
        """Whether words say numbers: numerals, or ordinals that some label is equal to."""
        language = self.encoder.reader.language
        return any(
            language.numeral(word) is not None or language.ordinal(word) in self._numbers
            for word in self.words
        )

    def _is_number(self, word: str) -> bool:
        language = self.encoder.reader.language
        return language.numeral(word) is not None or language.ordinal(word) is not None

    def _spells(self, word: str, value: str) -> bool:
        return matches_name(word, value, language=self.encoder.reader.language)

    @cached_property
    def ratio(self) -> str:
        """How many units and actions texts have, in words."""
        return (
            f"a text has {self.units:.1f} {self.unit}s and {self.actions:.1f} actions in the mean"
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
    def numbers(self) -> bool:
        """Whether demonstrated actions have labels that are numbers."""
        return bool(self._numbers)

    @property
    def measures(self) -> bool:
        """Whether most of these numbers are not whole: they measure, and count nothing."""
        return 2 * sum(not each.is_integer() for each in self._numbers) > len(self._numbers)

    @cached_property
    def kinds(self) -> list[KindFacts]:
        """How words go with each kind of string label, in the order of their names."""
        shown = [_values(each) for each in self.examples]
        known: dict[str, set[str]] = {}
        for found in shown:
            for kind, value in found:
                known.setdefault(kind, set()).add(value)
        offered = {kind: set(values) for kind, values in known.items()}
        for each in self.examples[:_SEEN_ACTIONS]:
            for action in each.world.actions(each.trajectory.start):
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
    ) -> KindFacts:
        spelled = {
            word: frozenset(value for value in offered if self._spells(word, value))
            for word in self.words
            if not self._is_number(word)
        }
        spelled = {word: found for word, found in spelled.items() if found}
        matched = frozenset(value for found in spelled.values() for value in found) & values
        mentions = hits = 0
        for example, has in zip(self.examples, shown, strict=True):
            said = {value for word in words_of(example) for value in spelled.get(word, ())}
            mentions += bool(said)
            hits += any((kind, value) in has for value in said)
        having = sum(any(name == kind for name, _ in has) for has in shown)
        return KindFacts(kind, frozenset(values), matched, mentions, hits, having)

    @cached_property
    def spoken(self) -> float:
        """The share of texts in which some word spells a value of a slot."""
        values = [value for each in self.kinds if each.is_slot for value in each.matched]
        spelling = {
            word for word in self.words if any(self._spells(word, value) for value in values)
        }
        return sum(bool(words_of(e) & spelling) for e in self.examples) / len(self.examples)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The kinds of values that words match by their spelling."""
        return tuple(each.kind for each in self.kinds if each.is_slot)

    @cached_property
    def unsaid(self) -> tuple[str, ...]:
        """The slots of which texts often spell no value, so that other words may mean it.

        None, if actions have several values of a slot, as of all things around: most of them are
        nobody's concern.
        """
        found = [
            Counter(kind for kind, _ in graph_values(each.world, state, action))
            for each in self.examples
            for state, action in each.trajectory.decisions()
        ]
        several = sum(any(each[kind] > 1 for kind in self.slots) for each in found)
        if several > (1 - _COVERED) * len(found):
            return ()
        return tuple(each.kind for each in self.kinds if each.is_slot and each.is_often_unsaid)

    @cached_property
    def opaque(self) -> tuple[str, ...]:
        """The kinds of values that other words may stand for, if words spell hardly any value."""
        several = [each for each in self.kinds if len(each.values) >= _VALUES]
        matched, values = (sum(map(len, found)) for found in (
            [each.matched for each in several], [each.values for each in several]
        ))  # fmt: skip
        if self.slots or self.told or matched > _SPELLED * values:
            return ()
        return tuple(each.kind for each in several)

    @cached_property
    def turning(self) -> tuple[str, ...]:
        """Words that turn texts around: what they name later is done before."""
        return tuple(map(str, self._turning()))

    @cached_property
    def may_turn(self) -> bool:
        """Whether some word may turn texts around, if too few have it to be sure."""
        return bool(self._turning(fewest=_FEW_TURNED))

    def _turning(self, **least: int) -> tuple[Connective, ...]:
        fold = self.encoder.reader.language.fold
        return turning_words(self.examples, self.slots, self._spells, fold, **least)


def sample(demonstrations: Sequence[Demonstration], most: int) -> list[Demonstration]:
    """Return some of the demonstrations: the same ones whatever their order and their names.

    >>> from groundling import Demonstration
    >>> shown = [Demonstration(text, object(), 0, ("go",)) for text in "abcd"]
    >>> sample(shown, 2) == sample(shown[::-1], 2)
    True
    """

    def key(each: Demonstration) -> tuple[bytes, str]:
        told = f"{each.instructions}|{canonical(each.start)}|{canonical(each.actions)}"
        # Only what is the same in all of this, elsewhere, goes by the name.
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest(), each.name

    return sorted(demonstrations, key=key)[:most]


def _units(example: Example, unit: str) -> int:
    return sum(len(split_units(sentence, unit)) for sentence in example.instructions)


def _values(example: Example) -> frozenset[tuple[str, str]]:
    return frozenset(
        pair
        for state, action in example.trajectory.decisions()
        for pair in graph_values(example.world, state, action)
    )
