"""Sets of things: what a description with quantifiers, coordination and exceptions denotes."""

from __future__ import annotations

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

Mention = tuple[str, str, tuple[int, ...]]
"""A label and a value of it that a text names, with the places of the words."""
Things = Mapping[Hashable, Labels]
Finder = Callable[[Mapping[str, Iterable[str]]], Sequence[Mention]]


def _find_nothing(values: Mapping[str, Iterable[str]]) -> Sequence[Mention]:
    return ()


@dataclass(frozen=True)
class TextValues:
    """What holes are filled from: the words of a text, its literals, and its names.

    `find` returns the mentions of names that exist; `exceptions` and `joints` are the words of the
    language for *except* and *and*.
    """

    words: Sequence[str]
    literals: Sequence[Literal] = ()
    find: Finder = _find_nothing
    exceptions: Sequence[str] = ()
    joints: Sequence[str] = ()


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
        values: dict[str, set[str]] = {}
        for labels in read.values():
            for name, value in labels:
                values.setdefault(name, set()).add(value)
        mentions, words = text.find(values), text.words
        turn = next((n for n, word in enumerate(words) if word in text.exceptions), len(words))
        main = [each for each in mentions if each[2][0] < turn]
        rest = [each for each in mentions if each[2][0] > turn]
        found: dict[frozenset[Hashable], None] = {}
        denoted = list(_descriptions(read, main, words, text.joints))
        excluded = list(_readings(read, rest))[:-1] if rest else []
        for each in denoted:
            found[each] = None
        for each in denoted:
            for other in excluded:
                found[each - other] = None
        for each in denoted:
            if len(each) <= _MOST_SINGLE:
                found |= dict.fromkeys(frozenset({thing}) for thing in things if thing in each)
        found.pop(frozenset(), None)
        return list(found)[:_MOST_SETS]

    @property
    def type(self) -> str:
        """The name under which an environment declares it."""
        return "set"


def _pairs(labels: Labels) -> frozenset[tuple[str, str]]:
    read = labels_of(labels, "a thing")
    return frozenset((each.name, each.value) for each in read if isinstance(each.value, str))


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
