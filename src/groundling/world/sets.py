"""Sets of things: what a description with quantifiers, coordination and exceptions denotes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from groundling.errors import WorldError
from groundling.language.literals import Literal
from groundling.world.graph import Label, Labels, labels_of

_MOST_VALUES = 3  # of one label that the description of a set lists
_MOST_KINDS = 5  # of labels that one description combines
_MOST_SINGLE = 12  # things of a description that are offered one by one
_MOST_SETS = 300
_MOST_CHOICES = 40  # sets of so many of more things that are offered

Mention = tuple[str, str, tuple[int, ...]]
"""A label and a value of it that a text names, with the places of the words."""
Things = Mapping[Hashable, Labels]
Finder = Callable[[Mapping[str, Iterable[str]]], Sequence[Mention]]


def _find_nothing(values: Mapping[str, Iterable[str]]) -> Sequence[Mention]:
    return ()


@dataclass(frozen=True)
class TextValues:
    """What holes are filled from: the words of a text, its literals, and its names.

    `find` returns the mentions of names that exist; `exceptions`, `joints`, `universals` and
    `complements` are the words of the language for *except*, *and*, *every* and *the other*;
    `plural` tells whether a word is in the plural.
    """

    words: Sequence[str]
    literals: Sequence[Literal] = ()
    find: Finder = _find_nothing
    exceptions: Sequence[str] = ()
    joints: Sequence[str] = ()
    universals: Sequence[str] = ()
    complements: Sequence[str] = ()
    plural: Callable[[str], bool] = str.isdigit

    @property
    def count(self) -> int | None:
        """How many things the text asks for, if a number says so and not which of them."""
        found = [e.value for e in self.literals if e.type == "number" and not e.unit]
        whole = [int(each) for each in found if isinstance(each, float) and each.is_integer()]
        return whole[0] if len(whole) == 1 and 0 < whole[0] < 100 else None

    def has(self, words: Sequence[str]) -> bool:
        """Tell whether the text has one of some words."""
        return any(word.lower() in words for word in self.words)


@dataclass(frozen=True)
class OpenSet:
    """A hole in an action that is filled with the set of things that a text describes.

    The environment declares `open_values = ("set",)` and lists what there is by
    `things(state)`: labels for each thing. A text such as *all lamps but the red one* gives the
    sets that its words may describe; no list of subsets is needed. `step` and `ground` get a
    frozenset of things; `describe_set` makes labels of it.

    Parameters
    ----------
    having
        Labels that things must have, such as `{"kind": "lamp"}`.

    Examples
    --------
    >>> lamps = {1: {"kind": "lamp", "colour": "red"}, 2: {"kind": "lamp", "colour": "blue"}}
    >>> mentions = [("kind", "lamp", (1,)), ("colour", "red", (4,))]
    >>> text = "all lamps but the red one".split()
    >>> said = TextValues(text, find=lambda values: mentions, exceptions=("but",))
    >>> [sorted(each) for each in OpenSet().sets(lamps, said)]
    [[1, 2], [2], [1]]
    """

    having: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.having.items())))

    def among(self, things: Things) -> dict[Hashable, frozenset[tuple[str, str]]]:
        """Return the things that may be in the set, with their strings."""
        read = {thing: _pairs(labels) for thing, labels in things.items()}
        needed = frozenset(self.having.items())
        return {thing: labels for thing, labels in read.items() if needed <= labels}

    def accepts(self, value: object) -> bool:
        """Tell whether a value is a set with something in it."""
        return isinstance(value, frozenset) and bool(value)

    def sets(self, things: Things, text: TextValues) -> list[frozenset[Hashable]]:
        """Return the sets that a text may describe, in a fixed order."""
        read = self.among(things)
        denoted, excluded = _denoted(read, text)
        found: dict[frozenset[Hashable], None] = dict.fromkeys(denoted)
        for each in denoted:
            for other in excluded:
                found[each - other] = None
        found |= dict.fromkeys(self.described(things, text))
        if text.has(text.complements):  # what one is asked for is the rest of something
            marked = [
                frozenset(t for t in read if mark in _marks(things[t]))
                for mark in sorted({m for t in read for m in _marks(things[t])})
            ]
            for each in denoted:
                for other in (*denoted, *marked):
                    found[each - other] = None
        for each in denoted:
            if len(each) <= _MOST_SINGLE:
                found |= dict.fromkeys(frozenset({thing}) for thing in things if thing in each)
        found.pop(frozenset(), None)
        return list(found)[:_MOST_SETS]

    def described(self, things: Things, text: TextValues) -> list[frozenset[Hashable]]:
        """Return the sets that fit a description exactly: one, if it leaves nothing open.

        A number or a singular that fits more things than it says leaves open which of them.

        >>> lamps = {n: {"kind": "lamp"} for n in "abc"}
        >>> mentions = [("kind", "lamp", (1,))]
        >>> for text in ("the lamp", "the lamps", "two lamps"):
        ...     said = TextValues(text.split(), find=lambda values: mentions,
        ...                       plural=lambda word: word.endswith("s"),
        ...                       literals=[Literal("number", 2.0, "", (0,))] * ("two" in text))
        ...     print(text, ["".join(sorted(each)) for each in OpenSet().described(lamps, said)])
        the lamp ['a', 'b', 'c']
        the lamps ['abc']
        two lamps ['ab', 'ac', 'bc']
        """
        read = self.among(things)
        denoted, excluded = _denoted(read, text)
        whole = denoted[0] - (excluded[0] if excluded else frozenset())
        said = [place for each in _mentions(read, text) for place in each[2]]
        count = text.count
        if count is None:
            several = not said or any(text.plural(text.words[place]) for place in said)
            between = text.words[min(said) : max(said)] if said else ()
            joined = any(word in text.joints or word == "," for word in between)
            if several or joined or text.has(text.universals):
                return [whole] if whole else []
            count = 1
        members = [thing for thing in things if thing in whole]
        if not 0 < count < len(members) or math.comb(len(members), count) > _MOST_CHOICES:
            return [whole] if len(whole) == count else []
        return [frozenset(each) for each in combinations(members, count)]

    @property
    def type(self) -> str:
        """The name under which an environment declares it."""
        return "set"


def _pairs(labels: Labels) -> frozenset[tuple[str, str]]:
    read = labels_of(labels, "a thing")
    return frozenset((each.name, each.value) for each in read if isinstance(each.value, str))


def _marks(labels: Labels) -> frozenset[str]:
    """Return the labels of a thing that have no value."""
    return frozenset(each.name for each in labels_of(labels, "a thing") if each.value is None)


def _mentions(
    things: Mapping[Hashable, frozenset[tuple[str, str]]], text: TextValues
) -> Sequence[Mention]:
    values: dict[str, set[str]] = {}
    for labels in things.values():
        for name, value in labels:
            values.setdefault(name, set()).add(value)
    return text.find(values)


def _denoted(
    things: Mapping[Hashable, frozenset[tuple[str, str]]], text: TextValues
) -> tuple[list[frozenset[Hashable]], list[frozenset[Hashable]]]:
    """Return what a text may describe, and what it may leave out, the fullest reading first."""
    mentions, words = _mentions(things, text), text.words
    turn = next((n for n, word in enumerate(words) if word in text.exceptions), len(words))
    main = [each for each in mentions if each[2][0] < turn]
    rest = [each for each in mentions if each[2][0] > turn]
    denoted = list(_descriptions(things, main, words, text.joints))
    return denoted, list(_readings(things, rest))[:-1] if rest else []


def _readings(
    things: Mapping[Hashable, frozenset[tuple[str, str]]], mentions: Sequence[Mention]
) -> Iterator[frozenset[Hashable]]:
    """Yield what mentions describe: values of one label are alternatives, labels add up.

    Every choice of labels is a reading, the fullest first; the last is everything.
    """
    values: dict[str, set[tuple[str, str]]] = {}
    for name, value, _ in mentions:
        values.setdefault(name, set()).add((name, value))
    names = list(values)[:_MOST_KINDS]
    for size in range(len(names), -1, -1):
        for chosen in combinations(names, size):
            yield frozenset(
                thing
                for thing, labels in things.items()
                if all(values[name] & labels for name in chosen)
            )


def _descriptions(
    things: Mapping[Hashable, frozenset[tuple[str, str]]],
    mentions: Sequence[Mention],
    words: Sequence[str],
    joints: Sequence[str],
) -> Iterator[frozenset[Hashable]]:
    """Yield what a text may describe: one phrase, or several that are joined by *and*.

    Phrases that each say two labels or more (*the red lamp and the blue fan*) describe things of
    their own; others may share what only one of them says (*the lamps in the hall and the attic*).
    """
    cuts = [n for n, word in enumerate(words) if word in joints or word == ","]
    phrases: list[list[Mention]] = [[] for _ in range(len(cuts) + 1)]
    for each in mentions:
        phrases[sum(cut < each[2][0] for cut in cuts)].append(each)
    described = [next(_readings(things, each)) for each in phrases if each]
    if len(described) > 1:
        yield frozenset().union(*described)
    full = sum(len({name for name, _, _ in each}) > 1 for each in phrases)
    yield from _readings(things, mentions if full < 2 else ())


def describe_set(
    things: Things, chosen: Iterable[Hashable]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return labels for a set of things, and for those like them that are left out.

    A set has the labels in which its things agree. Where they differ in a few values, these are
    labels of another name (`colour of some`). It says whether it is one thing or several, how
    many, and whether these are all that agree in the same labels; if not, the labels of the others
    are returned as well, unless they are more.

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
            "A set must hold one or more of the things of the state; got "
            f"{sorted(map(str, members))}."
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
    """Return the labels that all of some things have, with their values if these are few."""
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
