"""Sets of things, described by quantifiers, coordination and exceptions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from groundling.errors import WorldError
from groundling.language.languages import NEUTRAL, Language
from groundling.language.literals import Literal
from groundling.world.graph import Label, Labels, labels_of

_MOST_VALUES = 3  # maximum number of values of a label that describe a set
_MOST_KINDS = 5  # maximum number of labels that one description combines
_MOST_SINGLE = 12  # maximum size of a described set whose members are also candidates
_MOST_SETS = 300
_MOST_CHOICES = 40  # maximum subsets of a given size that are offered

_MOST_APART = 2  # maximum distance in words between a number and the label it belongs to

Pair = tuple[str, str | float]
Mention = tuple[str, str | float, tuple[int, ...]]
"""A label and its value that a text mentions, with the indices of the words."""
Things = Mapping[Hashable, Labels]
Finder = Callable[[Mapping[str, Iterable[str]]], Sequence[Mention]]


def _find_nothing(values: Mapping[str, Iterable[str]]) -> Sequence[Mention]:
    return ()


@dataclass(frozen=True)
class TextValues:
    """The parts of a text that can fill open values: words, literals and names.

    `find` takes existing values by label, and returns those that the text mentions. `language`
    provides the words for *except*, *and*, *every*, *none* and *the other*, and the plural endings.
    """

    words: Sequence[str]
    literals: Sequence[Literal] = ()
    find: Finder = _find_nothing
    language: Language = NEUTRAL

    def has(self, words: Sequence[str]) -> bool:
        """Return whether the text contains at least one of the given words."""
        return any(self.language.fold(word) in words for word in self.words)

    def plural(self, place: int) -> bool:
        """Return whether the word at an index is a plural."""
        word = self.language.fold(self.words[place])
        return self.language.singular(word) != word

    def count(self, mentions: Sequence[Mention]) -> int | None:
        """Return the number of things that the text asks for, or None if it has no number.

        *One* is a number before a name (*one lamp*, *one of the lamps*) and a pronoun elsewhere
        (*the red one*). Numbers after an exception count the excluded things.
        """
        begins = {each[2][0] for each in mentions}
        used = {place for each in mentions for place in each[2]}
        turn = self.turn(mentions)
        counts = []
        for each in self.literals:
            value, after = each.value, each.places[-1] + 1
            if each.type != "number" or each.unit or each.places[0] > turn or after == turn:
                continue
            if not isinstance(value, float) or not value.is_integer() or used & {*each.places}:
                continue
            of = after < len(self.words) and self.words[after] in self.language.partitives
            if 0 < value < 100 and (value > 1 or after in begins or of):
                counts.append(int(value))
        return counts[0] if len(counts) == 1 else None

    def turn(self, mentions: Sequence[Mention]) -> int:
        """Return the index of the word that begins an exception, or the text length.

        The word is *except*, or a negation after the first name (*those that are not red*).
        """
        begin = self._begin(mentions)
        for place, word in enumerate(map(self.language.fold, self.words)):
            negated = word in self.language.negations and place > begin
            if negated or word in self.language.exceptions:
                return place
        return len(self.words)

    def denies(self, mentions: Sequence[Mention]) -> bool:
        """Return whether a negation precedes the first name, as in *none of the lamps*.

        The first *every*, *all* or the like counts as a name.
        """
        return bool(mentions) and any(
            self.language.fold(word) in self.language.negations and self.words[place + 1] != ","
            for place, word in enumerate(self.words[: self._begin(mentions)])
        )

    def _begin(self, mentions: Sequence[Mention]) -> int:
        """Return the index where the description begins: the first name or *every*."""
        places = [each[2][0] for each in mentions]
        places += [n for n, w in enumerate(self.words) if w.lower() in self.language.universals]
        return min(places, default=len(self.words))


@dataclass(frozen=True)
class OpenSet:
    """A placeholder in an action, filled with the set of things that a text describes.

    The environment declares `open_values = ("set",)` and returns labels for each thing from
    `things(state)`. Candidate sets come from the text (*all lamps but the red one*), so `actions`
    need not list subsets. `step` and `ground` receive a frozenset of things, and `describe_set`
    returns labels for it.

    Parameters
    ----------
    having
        Labels that things must have, such as `{"kind": "lamp"}`.

    Examples
    --------
    >>> from groundling.language import ENGLISH
    >>> lamps = {1: {"kind": "lamp", "colour": "red"}, 2: {"kind": "lamp", "colour": "blue"}}
    >>> mentions = [("kind", "lamp", (1,)), ("colour", "red", (4,))]
    >>> text = "all lamps but the red one".split()
    >>> said = TextValues(text, find=lambda values: mentions, language=ENGLISH)
    >>> [sorted(each) for each in OpenSet().sets(lamps, said)]
    [[1, 2], [2], [1]]
    """

    having: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.having.items())))

    def among(self, things: Things) -> dict[Hashable, frozenset[Pair]]:
        """Return the things that may be in the set, with their labels and values."""
        read = {thing: _pairs(labels) for thing, labels in things.items()}
        needed = frozenset(self.having.items())
        return {thing: labels for thing, labels in read.items() if needed <= labels}

    def accepts(self, value: object) -> bool:
        """Return whether a value is a non-empty frozenset."""
        return isinstance(value, frozenset) and bool(value)

    def sets(self, things: Things, text: TextValues) -> list[frozenset[Hashable]]:
        """Return the sets that a text may describe, in a deterministic order."""
        read = self.among(things)
        denoted, excluded = _denoted(read, _mentions(read, text), text)
        found: dict[frozenset[Hashable], None] = dict.fromkeys(denoted)
        for each in denoted:
            for other in excluded:
                found[each - other] = None
        found |= dict.fromkeys(self.described(things, text))
        if text.has((*text.language.complements, *text.language.restrictives)):
            for each in denoted:  # the text asks for the remaining things
                for other in (*denoted, *_marked(read, things)):
                    found[each - other] = None
        for each in denoted:
            if len(each) <= _MOST_SINGLE:
                found |= dict.fromkeys(frozenset({thing}) for thing in things if thing in each)
        found.pop(frozenset(), None)
        return list(found)[:_MOST_SETS]

    def described(
        self,
        things: Things,
        text: TextValues,
        others: Iterable[Hashable] = (),
        mentions: Sequence[Mention] | None = None,
    ) -> list[frozenset[Hashable]]:
        """Return the sets that match the description exactly.

        There is one such set, unless more things match than a number or a singular asks for. Then
        every choice among them is returned. `others` are the other arguments of the action; their
        names do not describe the set (*move all files to work*). Pass `mentions` if
        they are known already.

        >>> from groundling.language import ENGLISH
        >>> from groundling.language.literals import read_literals
        >>> lamps = {n: {"kind": "lamp"} for n in "abc"}
        >>> mentions = [("kind", "lamp", (1,))]
        >>> for text in ("the lamp", "the lamps", "two lamps"):
        ...     words = text.split()
        ...     said = TextValues(words, read_literals(words, ENGLISH), lambda values: mentions,
        ...                       ENGLISH)
        ...     print(text, ["".join(sorted(each)) for each in OpenSet().described(lamps, said)])
        the lamp ['a', 'b', 'c']
        the lamps ['abc']
        two lamps ['ab', 'ac', 'bc']
        """
        read = self.among(things)
        mentions = _without(_mentions(read, text) if mentions is None else mentions, others, things)
        denoted, excluded = _denoted(read, mentions, text)
        whole = denoted[0] - (excluded[0] if excluded else frozenset())
        turn = text.turn(mentions)
        said = [place for each in mentions for place in each[2] if place < turn]
        if text.has(text.language.complements):
            rest = [whole - marked for marked in _marked(read, things) if whole & marked]
            if rest or not said:
                return list(dict.fromkeys(filter(None, rest)))
        count = text.count(mentions)
        if count is None:
            several = not said or any(map(text.plural, said))
            between = text.words[min(said) : max(said)] if said else ()
            joined = any(word in text.language.joints or word == "," for word in between)
            if several or joined or text.has(text.language.universals):
                return [whole] if whole else []
            count = 1
        members = [thing for thing in things if thing in whole]
        if not 0 < count < len(members) or math.comb(len(members), count) > _MOST_CHOICES:
            return [whole] if len(whole) == count else []
        return [frozenset(each) for each in combinations(members, count)]

    def mentions(self, things: Things, text: TextValues) -> Sequence[Mention]:
        """Return the places where a text names labels of things that may be in the set."""
        return _mentions(self.among(things), text)

    @property
    def type(self) -> str:
        """The type name that an environment declares in `open_values`."""
        return "set"


def _pairs(labels: Labels) -> frozenset[Pair]:
    read = labels_of(labels, "a thing")
    return frozenset((each.name, each.value) for each in read if each.value is not None)


def _marks(labels: Labels) -> frozenset[str]:
    """Return the names of the indicator labels of a thing."""
    return frozenset(each.name for each in labels_of(labels, "a thing") if each.value is None)


def _marked(read: Mapping[Hashable, frozenset[Pair]], things: Things) -> list[frozenset[Hashable]]:
    """Return, for each indicator label (such as *last*), the things that have it."""
    marks = {thing: _marks(things[thing]) for thing in read}
    return [
        frozenset(thing for thing in read if mark in marks[thing])
        for mark in sorted(frozenset().union(*marks.values()))
    ]


def _mentions(things: Mapping[Hashable, frozenset[Pair]], text: TextValues) -> Sequence[Mention]:
    values: dict[str, set[str]] = {}
    numbers: dict[str, set[float]] = {}
    for labels in things.values():
        for name, value in labels:
            if isinstance(value, str):
                values.setdefault(name, set()).add(value)
            else:
                numbers.setdefault(name, set()).add(value)
    return (*text.find(values), *_numbers(numbers, text))


def _without(
    mentions: Sequence[Mention], others: Iterable[Hashable], things: Things
) -> Sequence[Mention]:
    """Leave out the mentions that name other arguments of an action.

    If a value is mentioned several times, only one mention is left out: the one nearest to the
    argument's other names or, if it has none, the last one.
    """
    kept = list(mentions)
    for other in others:
        pairs = _pairs(things[other]) if other in things else frozenset()
        named = [each for each in kept if each[1] == other or each[:2] in pairs]
        values = [each[:2] for each in named]
        sure = [each[2][0] for each in named if values.count(each[:2]) == 1]
        for value in dict.fromkeys(values):
            same = [each for each in named if each[:2] == value]
            apart = [sum(abs(place - each[2][0]) for place in sure) for each in same]
            kept.remove(min(zip(apart, same, strict=True), key=lambda e: (e[0], -e[1][2][0]))[1])
    return kept


def _numbers(numbers: Mapping[str, set[float]], text: TextValues) -> Iterator[Mention]:
    """Yield the mentions of numeric labels in a text.

    A number is a mention if the text names the label, or if only one label fits an ordinal. An
    ordinal belongs to the nearest label name after it (*the 1st and 4th from the right*). Any other
    number belongs to the nearest label name.
    """
    language = text.language
    words = [language.singular(language.fold(word)) for word in text.words]
    ends = {}
    for name in numbers:
        parts = [language.singular(part) for part in re.split(r"[\W_]+", language.fold(name))]
        if all(part in words for part in parts):
            ends[name] = [place for place, word in enumerate(words) if word == parts[-1]]
    for each in text.literals:
        if each.type not in ("ordinal", "number") or each.unit or isinstance(each.value, str):
            continue
        fits = sorted(name for name, known in numbers.items() if each.value in known)
        at, nth = each.places[0], each.type == "ordinal"
        near = [
            (nth and end < at, abs(end - at), name)
            for name in ends
            for end in ends[name]
            if nth or abs(end - at) <= _MOST_APART
        ]
        if near and (nth or min(near)[2] in fits):  # an ordinal that nothing has fits nothing
            yield (min(near)[2], each.value, each.places)
        elif nth and not near and len(fits) == 1:
            yield (fits[0], each.value, each.places)


def _denoted(
    things: Mapping[Hashable, frozenset[Pair]], mentions: Sequence[Mention], text: TextValues
) -> tuple[list[frozenset[Hashable]], list[frozenset[Hashable]]]:
    """Return the sets that a text may describe, and those that it may exclude.

    Both lists begin with the most specific set.
    """
    turn = text.turn(mentions)
    main = [each for each in mentions if each[2][0] < turn]
    rest = [each for each in mentions if each[2][0] > turn]
    cuts = [n for n, w in enumerate(text.words) if w in text.language.joints or w == ","]
    denoted = list(_descriptions(things, main, cuts))
    return denoted, list(_readings(things, rest, cuts))[:-1] if rest else []


def _readings(
    things: Mapping[Hashable, frozenset[Pair]], mentions: Sequence[Mention], cuts: Sequence[int]
) -> Iterator[frozenset[Hashable]]:
    """Yield the sets that mentions may describe, the most specific first.

    Values of one label are alternatives, and different labels must all match. Every subset of the
    labels is one reading. If no connective joins two values of a label (*the files in work to
    private*), each of them may also describe the set alone. The last reading, without
    labels, is the set of all things.
    """
    values: dict[str, list[set[Pair]]] = {}
    end: dict[str, int] = {}  # of the last mention of each label
    for name, value, places in sorted(mentions, key=lambda each: each[2]):
        joined = name in end and any(end[name] < cut < places[0] for cut in cuts)
        if not joined:
            values.setdefault(name, []).append(set())
        values[name][-1].add((name, value))
        end[name] = places[-1]
    names = list(dict.fromkeys(name for name, _, _ in mentions))[:_MOST_KINDS]
    options = {
        name: [set().union(*found), *(found if 1 < len(found) <= _MOST_VALUES else ())]
        for name, found in values.items()
    }
    for size in range(len(names), -1, -1):
        for chosen in combinations(names, size):
            for wanted in product(*[options[name] for name in chosen]):
                yield frozenset(
                    thing for thing, labels in things.items() if all(e & labels for e in wanted)
                )


def _descriptions(
    things: Mapping[Hashable, frozenset[Pair]], mentions: Sequence[Mention], cuts: Sequence[int]
) -> Iterator[frozenset[Hashable]]:
    """Yield the sets that a text may describe, as one phrase or several.

    Phrases with two or more labels each (*the red lamp and the blue fan*) describe separate
    things. Other phrases may share a label (*the lamps in the hall and the attic*).
    """
    phrases: list[list[Mention]] = [[] for _ in range(len(cuts) + 1)]
    for each in mentions:
        phrases[sum(cut < each[2][0] for cut in cuts)].append(each)
    described = [next(_readings(things, each, cuts)) for each in phrases if each]
    if len(described) > 1:
        yield frozenset().union(*described)
    full = sum(len({name for name, _, _ in each}) > 1 for each in phrases)
    yield from _readings(things, mentions if full < 2 else (), cuts)


def describe_set(
    things: Things, chosen: Iterable[Hashable]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return labels that describe a set and the similar things outside it.

    The labels of a set are those that its things share. A label with a few different values gets
    another name (`colour of some`). Further labels give the size (`one` or `several`, and `count`),
    and whether the set contains all things with the shared labels (`all` or `some`). If it does
    not, the labels of the remaining things are returned as well, unless these outnumber the set.

    >>> lamps = {1: {"kind": "lamp", "colour": "red"}, 2: {"kind": "lamp", "colour": "blue"},
    ...          3: {"kind": "lamp", "colour": "grey"}}
    >>> labels, left_out = describe_set(lamps, {2, 3})
    >>> list(labels), labels["colour of some"], left_out["colour"]
    (['colour of some', 'kind', 'several', 'some', 'count'], ('blue', 'grey'), ('red',))
    """
    members = frozenset(chosen)
    unknown = members - things.keys()
    if unknown or not members:
        raise WorldError(
            "A set must contain one or more things of the state; got "
            f"{sorted(map(str, members))}. Pass things that things(state) lists."
        )
    read = {thing: labels_of(labels, "a thing") for thing, labels in things.items()}
    agreed = frozenset.intersection(*(frozenset(read[thing]) for thing in members))
    alike = {t for t, labels in read.items() if agreed <= frozenset(labels)} - members
    labels: dict[str, Any] = _common(read, members)
    labels["one" if len(members) == 1 else "several"] = True
    labels["some" if alike else "all"] = True
    labels["count"] = len(members)
    return labels, _common(read, alike) if alike and len(alike) <= len(members) else {}


def _common(
    read: Mapping[Hashable, Sequence[Label]], members: Iterable[Hashable]
) -> dict[str, Any]:
    """Return the labels that all given things have, with the values that they share.

    If the things share no value of a label, all their values are returned under another name
    (`colour of some`), or none if there are too many.
    """
    listed = [read[thing] for thing in members]
    found: dict[str, Any] = {}
    for name in sorted({label.name for labels in listed for label in labels}):
        if all(any(label.name == name for label in labels) for labels in listed):
            values = [{e.value for e in labels if e.name == name} for labels in listed]
            shared, every = set.intersection(*values), set.union(*values)
            if every == {None}:
                found[name] = True
            elif shared:
                found[name] = tuple(sorted(shared, key=str))
            elif len(every) <= _MOST_VALUES:
                found[f"{name} of some"] = tuple(sorted(every, key=str))
    return found
