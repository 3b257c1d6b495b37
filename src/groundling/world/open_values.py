"""Open values: placeholders in actions that are filled with values from the text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from groundling.errors import WorldError
from groundling.language.languages import LANGUAGES
from groundling.language.literals import LITERAL_TYPES, Literal
from groundling.world.environment import Action, Environment, State, Wrapper
from groundling.world.graph import GroundingGraph, Label
from groundling.world.sets import Mention, OpenSet, TextValues, Things

__all__ = [
    "AS_SAID",
    "BoundEnvironment",
    "OpenValue",
    "TextValues",
    "alike_but_for_sets",
    "declared_types",
    "example_of",
    "fill",
    "fills",
    "holes",
]

AS_SAID = "as said"
"""Label of an action whose set is exactly the one that the text describes."""
TO, BY, STEP = "to what is said", "by what is said", "by a step"
MORE, LESS = "more than now", "less than now"
"""Labels that distinguish absolute values from relative ones."""
AFTER, BEFORE = "said after ", "said before "
"""Beginnings of labels for the words around a value."""
_LONGEST_TEXT = 6  # maximum words of a free-text value
_TYPE_OF_UNIT = {"percent": "percentage", "second": "duration"}
_AMOUNTS = ("number", "percentage", "duration")
_NUMERIC = (*_AMOUNTS, "ordinal")


@dataclass(frozen=True)
class OpenValue:
    """A placeholder in an action that is filled with a value from a text.

    An environment whose actions have open values declares their types, such as `open_values =
    ("number",)`. Its `step` and `ground` receive actions with the values filled in.

    Parameters
    ----------
    type
        Type of the value: `"number"`, `"percentage"`, `"duration"` (in seconds), `"time"`
        (`"HH:MM"`), `"ordinal"`, `"colour"` (its English name) or `"text"` (words of the text).
    low, high
        Range of numbers, inclusive.
    unit
        Base unit of numbers, as named in `Language.units` (`"degree"`). If the text has no number
        with this unit, numbers without a unit are used.
    default
        The value if the text contains none. Without a default, the action is then impossible.
    now, step
        The current value, and how much *warmer* or *a bit louder* changes it. With `now`, the
        text may give a relative amount (*two degrees warmer*). With `step`, it may leave the
        amount out. Graphs then have labels for relative values (`more than now`, `less than now`)
        and absolute ones (`to what is said`), so that the words for them can be learnt.

    Examples
    --------
    >>> from groundling.language import ENGLISH
    >>> from groundling.language.literals import read_literals
    >>> degrees = OpenValue("number", low=5, high=35, unit="degree")
    >>> text = "set the hall to 21.5 degrees in 2 hours".split()
    >>> degrees.values(text, read_literals(text, ENGLISH))
    (21.5,)
    >>> degrees = OpenValue("number", low=5, high=35, unit="degree", now=20, step=1)
    >>> text = "make it two degrees warmer".split()
    >>> degrees.values(text, read_literals(text, ENGLISH))
    (22.0, 18.0, 21.0, 19.0)
    """

    type: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    default: Hashable = None
    now: float | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        if self.type not in LITERAL_TYPES:
            raise WorldError(
                f"`OpenValue.type` must be one of {', '.join(LITERAL_TYPES)}; got {self.type!r}."
            )
        ranged = self.low is not None or self.high is not None
        if (ranged or self.unit) and self.type not in _NUMERIC:
            raise WorldError(
                f"`low`, `high` and `unit` must be left out for type {self.type!r}; they "
                f"apply only to {', '.join(_NUMERIC)}. Remove them."
            )
        if self.unit and self.type != "number":
            raise WorldError(
                f"`unit` must be left out for type {self.type!r}, which implies a unit. Remove "
                "`unit`."
            )
        if self.unit in _TYPE_OF_UNIT:
            type_ = _TYPE_OF_UNIT[self.unit]
            raise WorldError(
                f"`unit` must not be {self.unit!r}. Use the type {type_!r} without a unit."
            )
        bases = {each.units[self.unit][0] for each in LANGUAGES.values() if self.unit in each.units}
        if bases and self.unit not in bases:
            raise WorldError(f"`unit` must be the base unit {min(bases)!r}; got {self.unit!r}.")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise WorldError(f"`low` must be <= `high`; got {self.low} and {self.high}.")
        if self.default is not None and not self.accepts(self.default):
            raise WorldError(
                f"`default` must be of type {self.type!r}, and between `low` and `high` if "
                f"they are set; got {self.default!r}."
            )
        if self.now is not None and self.type not in _AMOUNTS:
            raise WorldError(
                f"`now` must be left out for type {self.type!r}; it applies only to "
                f"{', '.join(_AMOUNTS)}. Remove `now`."
            )
        if self.step is not None and self.step <= 0:
            raise WorldError(f"`step` must be > 0; got {self.step}.")
        if self.step is not None and self.now is None:
            raise WorldError("`now` must be set if `step` is set. Set `now`, or leave `step` out.")

    def values(self, words: Sequence[str], literals: Iterable[Literal]) -> tuple[Hashable, ...]:
        """Return the values that a text may give: first absolute, then relative values."""
        return tuple(self.readings(words, literals)) or self._defaults()

    def readings(
        self, words: Sequence[str], literals: Iterable[Literal]
    ) -> dict[Hashable, tuple[str, ...]]:
        """Return the values that a text may give, labelled as absolute or relative."""
        if self.type == "text":
            return dict.fromkeys(_spans(words), ())
        wanted, listed = (self.type, self._unit), list(literals)
        said = [each.value for each in listed if (each.type, each.unit) == wanted]
        if not any(map(self._admits, said)) and self.type in _NUMERIC:
            said += [each.value for each in listed if each.type == "number" and not each.unit]
        found: dict[Hashable, tuple[str, ...]] = {}
        changes = [] if self.now is None else [each for each in said if not isinstance(each, str)]
        for each in filter(self._admits, said):
            found.setdefault(each, () if self.now is None else (TO,))
        spelt = {*found}
        for by, label in (*((each, BY) for each in changes), (self.step, STEP)):
            for value, way in ((_sum(self.now, by), MORE), (_sum(self.now, by, -1), LESS)):
                if value is not None and by and self._admits(value):
                    if label == BY and value in spelt:  # "20" may mean 20, or 20 less than 40
                        found[value] += (way, label)
                    found.setdefault(value, (way, label))
        return found

    @property
    def example(self) -> Hashable:
        """An example of a valid value.

        >>> OpenValue("number", low=5, high=35).example, OpenValue("time").example
        (5, '12:00')
        """
        if self.default is not None:
            return self.default
        if self.type in _NUMERIC:
            return next((each for each in (self.low, self.high) if each is not None), 1.0)
        return {"time": "12:00", "colour": "red", "text": "something"}[self.type]

    def accepts(self, value: object) -> bool:
        """Return whether a value has the right type and is in the range.

        >>> brightness = OpenValue("percentage", low=0, high=100)
        >>> brightness.accepts(20), brightness.accepts(120)
        (True, False)
        """
        if self.type in _NUMERIC:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and self._admits(value)  # type: ignore[arg-type]
        return isinstance(value, str)

    @property
    def _unit(self) -> str:
        return {"percentage": "percent", "duration": "second"}.get(self.type, self.unit)

    def _admits(self, value: float | str) -> bool:
        if isinstance(value, str):
            return True
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def _defaults(self) -> tuple[Hashable, ...]:
        return () if self.default is None else (self.default,)


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _sum(now: float | None, by: float | None, sign: int = 1) -> float | None:
    return None if now is None or by is None else round(float(now + sign * by), 9)


def _spans(words: Sequence[str]) -> Iterator[str]:
    """Yield the spans of a text that may be a free-text value, longest first."""
    for size in range(min(len(words), _LONGEST_TEXT), 0, -1):
        for start in range(len(words) - size + 1):
            yield " ".join(words[start : start + size])


def declared_types(environment: Any) -> tuple[str, ...]:
    """Return the types of open values that an environment declares; empty by default."""
    return tuple(getattr(environment, "open_values", ()))


def holes(action: Any) -> list[OpenValue | OpenSet]:
    """Return the open values of an action: the action itself or some of its fields."""
    return [each for each in _parts(action) if isinstance(each, (OpenValue, OpenSet))]


def fill(action: Any, hole: OpenValue | OpenSet, value: Hashable) -> Any:
    """Return an action with one of its open values filled in.

    >>> hole = OpenValue("number")
    >>> fill(("set", "hall", hole), hole, 21.5)
    ('set', 'hall', 21.5)
    """
    if action is hole:
        return value
    if isinstance(action, tuple):
        filled = [value if each is hole else each for each in action]
        return action._make(filled) if hasattr(action, "_make") else tuple(filled)
    changed = {e.name: value for e in fields(action) if getattr(action, e.name) is hole}
    return replace(action, **changed)


def fills(action: Any, offered: Iterable[Any]) -> bool:
    """Return whether an action equals a listed one with valid values filled in.

    >>> offered = [("set", OpenValue("number", low=5, high=35))]
    >>> fills(("set", 21), offered), fills(("set", 90), offered), fills(("mix", 21), offered)
    (True, False, False)
    """
    parts = _parts(action)
    return any(
        type(action) is type(each)
        and len(parts) == len(_parts(each))
        and bool(holes(each))
        and all(
            part.accepts(value) if isinstance(part, (OpenValue, OpenSet)) else value == part
            for value, part in zip(parts, _parts(each), strict=True)
        )
        for each in offered
    )


def _parts(action: Any) -> tuple[Any, ...]:
    if isinstance(action, tuple):
        return action
    if isinstance(action, (OpenValue, OpenSet)):
        return (action,)
    if is_dataclass(action) and not isinstance(action, type):
        return tuple(getattr(action, each.name) for each in fields(action))
    return (action,)


def _is_text(part: Any) -> bool:
    return isinstance(part, OpenValue) and part.type == "text"


_Mask = tuple[bool, ...]
_Fixed = tuple[type, _Mask, tuple[Any, ...]]
"""The type of an action, which of its fields are open, and the values of the others."""


def _fixed(action: Any, parts: Sequence[Any], is_open: _Mask) -> _Fixed:
    fixed = tuple(part for part, hole in zip(parts, is_open, strict=True) if not hole)
    return type(action), is_open, fixed


def is_about_text(name: str) -> bool:
    """Return whether a label of this name relates an action to its text, and describes no thing.

    >>> is_about_text("as said"), is_about_text("said after to"), is_about_text("colour")
    (True, True, False)
    """
    return name in (AS_SAID, TO, BY, STEP, MORE, LESS) or name.startswith((AFTER, BEFORE))


def alike_but_for_sets(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether two plans are equal except for the sets in their actions.

    >>> alike_but_for_sets([("on", frozenset("a"))], [("on", frozenset("b"))])
    True
    """

    def rest(actions: Sequence[Any]) -> list[list[Any]]:
        return [[e for e in _parts(each) if not isinstance(e, frozenset)] for each in actions]

    return rest(one) == rest(other)


def example_of(hole: OpenValue | OpenSet, environment: Any, state: State) -> Hashable:
    """Return an example value for an open value in a state."""
    if isinstance(hole, OpenValue):
        return hole.example
    return frozenset(list(hole.among(things_of(environment, state)))[:1])


def things_of(environment: Any, state: State) -> Things:
    """Return the things of a state; raise `WorldError` if `things` is not defined."""
    if not hasattr(environment, "things"):
        raise WorldError(
            f"{type(environment).__name__} must have a method `things(state)`, because its actions "
            "have an OpenSet. Add one that returns labels for each thing."
        )
    found: Things = environment.things(state)
    return found


class BoundEnvironment(Wrapper):
    """An environment whose open values are filled from one text.

    Arguments of an action that the text names get labels for the words around them (`said after
    to`), so that the model learns which argument is meant, and where free texts begin and end.

    >>> from groundling.language import ENGLISH
    >>> from groundling.language.literals import read_literals
    >>> class Heating:
    ...     open_values = ("number",)
    ...     def actions(self, state): return (("set", OpenValue("number", low=5, high=35)), "off")
    >>> text = "set it to 21".split()
    >>> said = TextValues(text, read_literals(text, ENGLISH))
    >>> BoundEnvironment(Heating(), said).actions("cold")
    (('set', 21.0), 'off')
    """

    def __init__(self, environment: Environment, text: TextValues) -> None:
        super().__init__(environment)
        self.text = text
        self._folded = tuple(map(text.language.fold, text.words))
        self._padded = ("", *self._folded, "")
        # All have an entry for the latest state only.
        self._open_sets: dict[State, list[tuple[OpenSet, Sequence[Mention]]]] = {}
        self._described: dict[tuple[Any, ...], set[frozenset[Hashable]]] = {}  # by named arguments
        self._with_text: dict[State, tuple[set[_Mask], dict[_Fixed, tuple[int, ...]]]] = {}
        self._meant: dict[State, dict[Action, tuple[Label, ...]]] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "environment":
            raise AttributeError(name)
        return getattr(self.environment, name)

    def actions(self, state: State) -> tuple[Action, ...]:
        """Return the possible actions, filled with the values of the text."""
        values: dict[OpenValue | OpenSet, Sequence[Hashable]] = {}
        found: list[Action] = []
        for action in self.environment.actions(state):
            filled = [action]
            for hole in holes(action):
                if hole not in values:
                    values[hole] = self._values(hole, state)
                filled = [fill(each, hole, value) for each in filled for value in values[hole]]
            found += filled
        return tuple(found)

    def meant(self, state: State, action: Action) -> tuple[Label, ...]:
        """Return labels that mark the value of an action as absolute or relative."""
        if state not in self._meant:
            known: dict[Action, tuple[Label, ...]] = {}
            for each in self.environment.actions(state):
                for hole in holes(each):
                    if isinstance(hole, OpenValue) and hole.now is not None:
                        read = hole.readings(self.text.words, self.text.literals)
                        for value, labels in read.items():
                            known[fill(each, hole, value)] = tuple(map(Label, labels))
            self._meant = {state: known}
        return self._meant[state].get(action, ())

    def _values(self, hole: OpenValue | OpenSet, state: State) -> Sequence[Hashable]:
        if isinstance(hole, OpenValue):
            return hole.values(self.text.words, self.text.literals)
        return hole.sets(things_of(self.environment, state), self.text)

    def uses(self, state: State, action: Action, literal: Literal) -> bool:
        """Return whether an action uses a literal as a value, an amount or a set size.

        Returns True for literals whose type the environment does not declare. Numbers and ordinals
        may also describe a set of things.
        """
        types, parts = declared_types(self.environment), _parts(action)
        counts = "set" in types and literal.type in ("number", "ordinal") and not literal.unit
        if not (literal.type in types or counts) or Label(BY) in self.meant(state, action):
            return True
        if counts and self._describes_set(state, action, literal):
            return True
        if "text" in types:
            said = {self.text.words[place] for place in literal.places}
            if any(isinstance(part, str) and said <= {*part.split()} for part in parts):
                return True
        sizes = [len(part) for part in parts if isinstance(part, frozenset)]
        return literal.value in (*parts, *sizes)

    def _describes_set(self, state: State, action: Action, literal: Literal) -> bool:
        """Return whether a number is a label of a thing, an exception, or in an action's graph."""
        mentions = OpenSet().mentions(things_of(self.environment, state), self.text)
        places = {place for each in mentions for place in each[2]}
        known = bool(places & {*literal.places}) or literal.places[0] > self.text.turn(mentions)
        if known and self.describes(state, action):
            return True
        graph = self.environment.ground(state, action, self.environment.step(state, action))
        return any(each.value == literal.value for labels in graph.node_labels for each in labels)

    def explain(self, state: State, action: Action) -> list[str]:
        """Explain how the words of the text fill the open values of an action."""
        said, how = [], [label.name for label in self.meant(state, action)]
        words, parts, texts = self.text.words, _parts(action), self.texts(state, action)
        change = "more" if MORE in how else "less"
        for literal in self.text.literals:
            text = " ".join(words[place] for place in literal.places)
            if literal.value in parts and (TO in how or not how):
                said.append(f"“{text}” is the value {_written(literal.value)}")
            elif BY in how:
                value = next(part for part in parts if isinstance(part, float))
                said.append(f"{_written(value)} is “{text}” {change} than the current value")
        if STEP in how:
            value = next(part for part in parts if isinstance(part, float))
            said.append(f"{_written(value)} is one step {change} than the current value")
        said += [f"“{part}” is free text" for part in parts if part in texts]
        for part in parts:
            if isinstance(part, frozenset):
                among = len(things_of(self.environment, state))
                fits = "as the text says" if self.describes(state, action) else "a guess"
                said.append(f"the set has {len(part)} of {among} thing{'s' * (among != 1)}, {fits}")
        return said

    def ground(self, state: State, action: Action, next_state: State) -> GroundingGraph:
        """Return the grounding graph of an action, with labels that relate it to the text.

        A set that matches the description exactly gets the label `as said`. A value that may be
        relative gets labels such as `more than now`. Arguments that the text names get labels for
        the words around them. Free text loses its value, since it is copied and names nothing.
        """
        graph: GroundingGraph = self.environment.ground(state, action, next_state)
        new = (Label(AS_SAID),) if self.describes(state, action) else ()
        if new := (*new, *self.meant(state, action)):
            place = graph.node_names.index(graph.root)
            graph = graph.changed({graph.root: (*graph.node_labels[place], *new)})
        texts = self.texts(state, action)
        around = self._around({part for part in _parts(action) if isinstance(part, str)})
        changed = {
            name: tuple(
                each
                for label in labels
                for each in (
                    Label(label.name) if label.value in texts else label,
                    *around.get(label.value, ()),
                )
            )
            for name, labels in zip(graph.node_names, graph.node_labels, strict=True)
            if any(label.value in around for label in labels)
        }
        return graph.changed(changed) if changed else graph

    def describes(self, state: State, action: Action) -> bool:
        """Return whether an action has a set that the text describes exactly."""
        sets = [each for each in _parts(action) if isinstance(each, frozenset)]
        if not sets or "set" not in declared_types(self.environment):
            return False
        things = things_of(self.environment, state)
        if state not in self._open_sets:
            offered = (hole for each in self.environment.actions(state) for hole in holes(each))
            found = {hole for hole in offered if isinstance(hole, OpenSet)}
            self._open_sets = {state: [(e, e.mentions(things, self.text)) for e in found]}
            self._described = {}
        listed = self._open_sets[state]
        values = {value for _, mentions in listed for _, value, _ in mentions}
        others = (each for each in _parts(action) if not isinstance(each, frozenset))
        named = tuple(each for each in others if each in values or each in things)
        if named not in self._described:
            self._described[named] = {
                each
                for hole, mentions in listed
                for each in hole.described(things, self.text, named, mentions)
            }
        return any(each in self._described[named] for each in sets)

    def texts(self, state: State, action: Action) -> set[str]:
        """Return the free texts that fill an action."""
        if "text" not in declared_types(self.environment):
            return set()
        if state not in self._with_text:
            known: dict[_Fixed, tuple[int, ...]] = {}
            for offered in self.environment.actions(state):
                parts = _parts(offered)
                free = tuple(n for n, each in enumerate(parts) if _is_text(each))
                if free:
                    is_open = tuple(isinstance(each, (OpenValue, OpenSet)) for each in parts)
                    known[_fixed(offered, parts, is_open)] = free
            self._with_text = {state: ({mask for _, mask, _ in known}, known)}
        masks, known = self._with_text[state]
        parts = _parts(action)
        keys = [_fixed(action, parts, mask) for mask in masks if len(mask) == len(parts)]
        filled = (parts[n] for key in keys for n in known.get(key, ()))
        return {each for each in filled if isinstance(each, str)}

    def described_by(self, state: State, action: Action) -> list[str]:
        """Return the values that describe an action's set, including those of exceptions."""
        if not self.describes(state, action):
            return []
        mentions = OpenSet().mentions(things_of(self.environment, state), self.text)
        return [value for _, value, _ in mentions if isinstance(value, str)]

    def denies(self, state: State) -> bool:
        """Return whether the text describes an empty set (*none of the lamps*)."""
        if not self.text.has(self.text.language.negations):
            return False
        return "set" in declared_types(self.environment) and self.text.denies(
            OpenSet().mentions(things_of(self.environment, state), self.text)
        )

    def _around(self, names: Iterable[str]) -> dict[Any, tuple[Label, ...]]:
        """Return labels for the words before and after each name that is in the text."""
        fold, words = self.text.language.fold, self._folded
        found: dict[Any, tuple[Label, ...]] = {}
        for name in names:
            part = tuple(fold(name).split(" "))
            for start in range(len(words) - len(part) + 1):
                if words[start : start + len(part)] == part:
                    after, before = self._padded[start], self._padded[start + len(part) + 1]
                    found[name] = (Label(f"{AFTER}{after}"), Label(f"{BEFORE}{before}"))
                    break
        return found
