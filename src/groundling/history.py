"""Environments with a memory: labels that relate actions to earlier steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from groundling.cache import Cache, CacheBudget
from groundling.data.canonical import Json
from groundling.data.codec import Codec
from groundling.data.own import starts_of, tells_start
from groundling.errors import DemonstrationError, SettingError, WorldError
from groundling.features.labels import kind_of
from groundling.features.lexicon import matches_name
from groundling.features.reader import Text
from groundling.language.instruction import Instruction
from groundling.language.sentences import runs_of, split_words
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import (
    Action,
    Demonstration,
    Environment,
    State,
    Wrapper,
    class_name,
    shorten,
)
from groundling.world.graph import GroundingGraph, Label, labels_of
from groundling.world.relations import Scene
from groundling.world.reprs import among

_OF_STATES = ("is_terminal", "is_goal", "is_dead_end", "extra_length", "describe", "facts")
_THING = "thing"  # kind of the labels that identify things of a scene
_MOST_STEPS = 100
_REMEMBERED_BYTES = 20_000_000
_STEP_BYTES = 2000  # approximate bytes of a remembered step
_MOST_LABELS = 10_000  # entries in the cache of labels with memory labels

Pair = tuple[str, str]
Places = Callable[[], Sequence[Mapping[str, int]]]
"""Function that returns, for each action of a turn, the word aligned with each node."""
Labels = tuple[Label, ...]


@dataclass(frozen=True)
class Stay:
    """The action of doing nothing; `STAY` is its only instance."""

    def __str__(self) -> str:
        return "stay"


STAY = Stay()
"""Doing nothing, in a `MemoryEnvironment(…, stay=True)`."""


class Step(NamedTuple):
    """An action, the state before it, and the number of its turn."""

    action: Action
    before: State
    turn: int


class Memory(NamedTuple):
    """The earlier steps, the turn number, and the things that the last text named.

    `said` holds (kind, value) pairs such as `("colour", "red")`, and `words` the words of the last
    text.
    """

    steps: tuple[Step, ...] = ()
    turn: int = 1
    said: tuple[Pair, ...] = ()
    words: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        # States are looked up often: the last step distinguishes nearly all of them.
        steps = self.steps
        return hash((len(steps), self.turn, steps[-1].action if steps else None))

    @property
    def action(self) -> Action | None:
        """The action of the last step, or None before the first step."""
        return self.steps[-1].action if self.steps else None


class Remembered(NamedTuple):
    """A state of an environment, with a memory of earlier steps."""

    state: State
    memory: Memory = Memory()


class _Facts(NamedTuple):
    """Facts about an action: its sort, its numbers and the affected things, by node."""

    sort: frozenset[str]
    numbers: frozenset[Label]
    things: tuple[tuple[str, frozenset[Pair]], ...]


class _NodeReminders(NamedTuple):
    """The memory labels of a node; the root also has those of the whole action."""

    labels: Labels
    anywhere: tuple[str, ...]
    sort: tuple[str, ...]
    numbers: tuple[str, ...]


@dataclass
class _Recollection:
    """The memory labels of a state.

    They are listed by action, sort of action, numbers, next state and label value.
    """

    actions: dict[Action, list[str]]
    sorts: dict[frozenset[str], list[str]]
    numbers: dict[frozenset[Label], list[str]]
    states: dict[State, list[str]]
    values: dict[Pair, list[str]]
    kinds: frozenset[str] = frozenset()  # kinds of things that the last action was about
    scene: Scene | None = None  # the things that the environment lists
    # Keyed by the identity of a node's labels and, for a thing, its name.
    nodes: dict[tuple[int, str], _NodeReminders] = field(default_factory=dict)


class MemoryEnvironment(Wrapper):
    """An environment whose graphs also relate actions to earlier steps.

    The graph of an action is the environment's own, with extra indicators. At the root:

    - `again`: the action equals the last one; `alike`: it is another action of the same sort (the
      indicators at one root are among those at the other);
    - `same number`: the numbers at the root, if any, equal those of the last action;
    - `back`: the action leads back to the state before the last action;
    - the same labels for earlier steps: `again step 2` by number, `again 2 ago` by distance.

    At every node, for each kind of value it has (such as `colour`):

    - `last colour`: the last action was about the same value; `other colour`: about another;
    - `colour step 2`, `colour 2 ago`: the same for earlier steps;
    - `colour of last remove`, `colour of first remove`: the value in the last action of that
      sort, or in the first one if that differs;
    - `first said colour`, `later said colour`: values of the last action, in the order in which
      its text named them;
    - `mentioned`: a word of the last text names the value.

    In this way, words such as *it*, *he*, *again*, *step 2* and *the one you removed first* can be
    learnt like others. By default, an action is about the values at its root and at adjacent
    nodes. An environment can override this with a method `about(state, action, next_state)` that
    returns (kind, value) pairs.

    If the environment has `things(state)`, things are also remembered by name (`last thing`, `other
    thing`, `thing step 2`), together with their relations (*the one left of it*). A thing must then
    have the same name in all states.

    Parameters
    ----------
    environment
        The environment. Its optional methods still apply, except `mirror` and `label_plan`.
    stay
        Whether to add an action that does nothing: `STAY`, alone in its turn.
    steps
        Number of steps to remember; 1 keeps only the last one.
    referents
        Whether to remember the order in which the last text named things.

    Examples
    --------
    >>> class Lamps:
    ...     def actions(self, lit): return ("red", "blue")
    ...     def step(self, lit, lamp): return lit ^ {lamp}
    ...     def ground(self, lit, lamp, after):
    ...         return GroundingGraph({"event": {"light": lamp in after}, "lamp": {"colour": lamp}},
    ...                               [("event", "lamp", "of")])
    >>> world = MemoryEnvironment(Lamps(), steps=1)
    >>> once = world.step(world.begin(frozenset()), "red")
    >>> print(world.ground(once, "red", world.step(once, "red")))
    event*: again, back
    lamp: colour=red, last colour
    event -> lamp: of
    """

    def __init__(
        self,
        environment: Environment[Any, Any],
        *,
        stay: bool = False,
        steps: int = 20,
        referents: bool = True,
    ) -> None:
        super().__init__(environment)
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
            raise SettingError(
                f"`MemoryEnvironment.steps` must be a whole number from 1 to {_MOST_STEPS}; got "
                f"{steps!r}."
            )
        self.stay, self.steps, self.referents = stay, steps, referents
        budget = CacheBudget(_REMEMBERED_BYTES)
        self._facts: Cache[tuple[State, Action], _Facts] = Cache(budget)
        self._recalled: Cache[Remembered, _Recollection] = Cache(budget)
        self._latest: tuple[Remembered | None, _Recollection | None] = (None, None)
        for name in _OF_STATES:
            if hasattr(environment, name):
                setattr(self, name, self._of_state(getattr(environment, name)))
        own = ("state_to_json", "action_to_json")
        if any(hasattr(environment, name) for name in own):
            self.state_to_json, self.state_from_json = self._to_json, self._from_json
            self.action_to_json, self.action_from_json = self._action_json, self._json_action
        if tells_start(environment):
            self.starts = self._starts
        self._has_things = callable(getattr(environment, "things", None))
        if self._has_things:
            self.things = self._things

    @staticmethod
    def _of_state(method: Callable[[Any], Any]) -> Callable[[Remembered], Any]:
        return lambda remembered: method(_known(remembered).state)

    def _starts(self) -> dict[str, Remembered]:
        named = starts_of(self.environment, class_name(self))
        return {name: self.begin(start) for name, start in named}

    def _things(self, remembered: Remembered) -> dict[str, Labels]:
        """Return the things of a state, labelled by how they were acted on before."""
        memory = _known(remembered).memory
        recalled = self._recollect(remembered)
        assert recalled.scene is not None
        return {
            name: _with(labels, self._reminders(name, labels, recalled, memory).anywhere)
            for name, labels in recalled.scene.labels.items()
        }

    # ---- JSON, if the environment defines its own -----------------------------------------

    def _action_json(self, action: Action) -> Json:
        return _STAYED if action == STAY else Codec(self.environment).action_to_json(action)

    def _json_action(self, data: Json) -> Action:
        found: Action = Codec(self.environment).action_from_json(data) if data != _STAYED else STAY
        return found

    def _to_json(self, remembered: Remembered) -> Json:
        codec, (state, memory) = Codec(self.environment), remembered
        steps = [
            [self._action_json(each.action), codec.state_to_json(each.before), each.turn]
            for each in memory.steps
        ]
        return {
            "state": codec.state_to_json(state), "steps": steps, "turn": memory.turn,
            "said": list(map(list, memory.said)), "words": sorted(memory.words),
        }  # fmt: skip

    def _from_json(self, data: Json) -> Remembered:
        codec = Codec(self.environment)
        steps = tuple(
            Step(self._json_action(action), codec.state_from_json(before), turn)
            for action, before, turn in data.get("steps", ())
        )
        said = tuple((kind, value) for kind, value in data.get("said", ()))
        memory = Memory(steps, data.get("turn", 1), said, frozenset(data.get("words", ())))
        return Remembered(codec.state_from_json(data["state"]), memory)

    # ---- turns --------------------------------------------------------------------------

    def begin(self, start: State) -> Remembered:
        """Return a state of this environment for a start, without any earlier steps."""
        return start if isinstance(start, Remembered) else Remembered(start)

    def listen(
        self, remembered: Remembered, text: Text, places: Places | None = None
    ) -> Remembered:
        """Return the state for the next turn, which remembers the text of this turn.

        `places` returns, for each action, the word aligned with each node (`Plan.word_places`). It
        is called only if spelling does not determine the order in which the text mentions things of
        one kind.
        """
        state, memory = _known(remembered)
        words = _words(text)
        said = memory.said
        if self.referents and memory.steps and memory.steps[-1].turn == memory.turn:
            said = self._said(state, memory, words, places) or said
        if hasattr(self.environment, "restart"):
            state = self.environment.restart(state)
        return Remembered(state, Memory(memory.steps, memory.turn + 1, said, frozenset(words)))

    def _said(
        self, state: State, memory: Memory, words: Sequence[str], places: Places | None
    ) -> tuple[Pair, ...]:
        """Return the values that this turn was about, in the order of the text.

        Without alignments, values that no word names come first, because pronouns probably refer
        to them.
        """
        steps = [each for each in _done(state, memory) if each[0].turn == memory.turn]
        things = [
            (number, node, thing)
            for number, (step, after) in enumerate(steps)
            for node, thing in self._facts_of(step, after).things
        ]
        order = [_first_place(thing, tuple(words)) for _, _, thing in things]
        if places is not None and _is_unclear(order, [thing for _, _, thing in things]):
            known = places()
            order = [
                known[number].get(node, place) if number < len(known) else place
                for (number, node, _), place in zip(things, order, strict=True)
            ]
        ranked = sorted(range(len(things)), key=order.__getitem__)
        return tuple(dict.fromkeys(pair for each in ranked for pair in sorted(things[each][2])))

    # ---- as an environment --------------------------------------------------------------

    def outcome(self, remembered: Remembered) -> Any:
        """Return the result of a final state, without the memory."""
        state = _known(remembered).state
        return self.environment.outcome(state) if hasattr(self.environment, "outcome") else state

    def actions(self, remembered: Remembered) -> Sequence[Action]:
        """Return the actions possible in a state."""
        state, memory = _known(remembered)
        if not self.stay:
            return self.environment.actions(state)
        now = [each.action for each in memory.steps if each.turn == memory.turn]
        if not now:
            return (*self.environment.actions(state), STAY)
        return () if now[-1] == STAY else self.environment.actions(state)

    def step(self, remembered: Remembered, action: Action) -> Remembered:
        """Return the state after an action; its memory includes the action."""
        state, memory = _known(remembered)
        after = state if action == STAY else self.environment.step(state, action)
        steps = (*memory.steps, Step(action, state, memory.turn))[-self.steps :]
        return Remembered(after, Memory(steps, memory.turn, memory.said, memory.words))

    def ground(self, remembered: Remembered, action: Action, after: Remembered) -> GroundingGraph:
        """Return the grounding graph of an action, with its relations to earlier steps."""
        state, memory = _known(remembered)
        if action == STAY:
            return _STAYING
        graph = self.environment.ground(state, action, after.state)
        if not memory.steps and not memory.words:
            return graph
        recalled = self._recollect(remembered)
        changed: dict[str, Labels] = {}
        for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
            known = self._reminders(name, labels, recalled, memory)
            found = known.anywhere
            if name == graph.root:
                again = recalled.actions.get(action, ())
                alike = () if "again" in again else known.sort
                back = recalled.states.get(after.state, ())
                found = (*found, *again, *alike, *known.numbers, *back)
            if found:
                changed[name] = _with(labels, found)
        return graph.changed(changed) if changed else graph

    def _reminders(
        self, name: str, labels: Labels, recalled: _Recollection, memory: Memory
    ) -> _NodeReminders:
        """Return the memory labels of a node; things of a scene are also matched by name."""
        key = (id(labels), recalled.scene.thing(name, labels) or "" if recalled.scene else "")
        known = recalled.nodes.get(key)
        if known is None or known.labels is not labels:
            known = recalled.nodes[key] = _reminders(labels, recalled, memory.words, key[1])
        return known

    def _scene(self, state: State) -> Scene | None:
        environment: Any = self.environment
        return Scene(environment.things(state)) if self._has_things else None

    def _recollect(self, remembered: Remembered) -> _Recollection:
        """Return the memory labels of a state, from the cache if possible."""
        state, found = self._latest
        if state is not remembered or found is None:
            found = self._recalled.get(remembered)
            if found is None:
                found = self._recall(*remembered)
                self._recalled.put(remembered, found, _STEP_BYTES * len(remembered.memory.steps))
            self._latest = (remembered, found)
        return found

    def _facts_of(self, step: Step, after: State) -> _Facts:
        """Return the facts about a step, from its graph."""
        key = (step.before, step.action)
        found = self._facts.get(key)
        if found is None:
            graph = self.environment.ground(step.before, step.action, after)
            root = graph.labels(graph.root)
            things = [(graph.root, _values(root))]
            if hasattr(self.environment, "about"):
                told = self.environment.about(step.before, step.action, after)
                things = [("", frozenset((str(kind), str(value)) for kind, value in told))]
            else:
                scene = self._scene(step.before)
                for source, target, _ in graph.edges:
                    if source == graph.root and target != graph.root:
                        labels = graph.labels(target)
                        thing = scene.thing(target, labels) if scene else None
                        own = {(_THING, thing)} if thing else set()
                        things.append((target, _values(labels) | own))
            kept = tuple((node, thing) for node, thing in things if thing)
            found = _Facts(_sort(root), _numbers(root), kept)
            self._facts.put(key, found, _STEP_BYTES)
        return found

    def _recall(self, state: State, memory: Memory) -> _Recollection:
        """Compute the memory labels for all actions in a state."""
        found = _Recollection({}, {}, {}, {}, {}, scene=self._scene(state))
        steps = list(_done(state, memory))
        of_sort: dict[tuple[str, str, str], list[Pair]] = {}
        for ago, (step, after) in zip(range(len(steps), 0, -1), steps, strict=True):
            facts = self._facts_of(step, after)
            ends = _ends(step.turn, ago) if self.steps > 1 else [""]
            pasts: list[tuple[dict[Any, list[str]], Any, str]] = [
                (found.actions, step.action, "again"), (found.states, step.before, "back"),
                (found.sorts, facts.sort, "alike"),
            ]  # fmt: skip
            if facts.numbers:
                pasts.append((found.numbers, facts.numbers, "same number"))
            for known, key, name in pasts:
                known.setdefault(key, []).extend(name + end for end in ends)
            for node, thing in facts.things:
                for pair in sorted(thing):  # sets differ in order between processes
                    kind = pair[0]
                    names = found.values.setdefault(pair, [])
                    if ago == 1:
                        names.append(f"last {kind}")
                    names += [f"{kind}{end}" for end in ends if end]
                    for sort in facts.sort:
                        of_sort.setdefault((sort, node, kind), []).append(pair)
            if ago == 1:
                found.kinds = frozenset(kind for _, thing in facts.things for kind, _ in thing)
        if self.steps > 1:
            for (sort, _, kind), pairs in of_sort.items():
                found.values[pairs[-1]].append(f"{kind} of last {sort}")
                if pairs[0] != pairs[-1]:
                    found.values[pairs[0]].append(f"{kind} of first {sort}")
        seen: set[str] = set()
        for pair in memory.said:
            which = "later" if pair[0] in seen else "first"
            seen.add(pair[0])
            found.values.setdefault(pair, []).append(f"{which} said {pair[0]}")
        return found

    # ---- demonstrations -----------------------------------------------------------------

    def converse(
        self,
        start: State,
        turns: Iterable[tuple[Text, Sequence[Action]]],
        *,
        name: str = "",
        also: Sequence[Iterable[Sequence[Action]]] = (),
    ) -> list[Demonstration]:
        """Return a conversation as demonstrations, each starting where the last one ended.

        Parameters
        ----------
        start
            The state in which the conversation begins.
        turns
            Pairs of text and actions, in order. With `stay`, the list of actions may be empty.
        name
            Name of the conversation; its demonstrations form one group.
        also
            For each turn, other action sequences that are equally correct; () for none.
        """
        remembered, found = self.begin(start), []
        listed = list(turns)
        others = [tuple(map(tuple, each)) for each in also] or [()] * len(listed)
        if len(others) != len(listed):
            raise DemonstrationError(
                f"`also` must have as many entries as there are turns ({len(listed)}); got "
                f"{len(others)}. Use () for a turn without alternatives."
            )
        for number, (turn, other) in enumerate(zip(listed, others, strict=True), 1):
            if not isinstance(turn, (tuple, list)) or len(turn) != 2:
                raise DemonstrationError(
                    f"Turn {number} must be a pair (text, list of actions); got {shorten(turn)}."
                )
            text, actions = turn
            called = f"{name}-{number}" if name else ""
            shown = Demonstration(
                text, self, remembered, actions, name=called, group=name, also=other
            )
            told = f"Turn {number}, {text!r}"
            if not shown.actions:
                if not self.stay:
                    raise DemonstrationError(
                        f"{told} must have at least one action; got none. To allow doing nothing, "
                        "use MemoryEnvironment(world, stay=True)."
                    )
                shown = replace(shown, actions=(STAY,))
            found.append(shown)
            if (done := tuple(shown.actions)) and among(done, tuple(self.actions(remembered))):
                raise DemonstrationError(
                    f"{told} must have a list of actions; got the action {shorten(done)}. "
                    "Put it into a list."
                )
            remembered = _known(CachedEnvironment(self).carry_out(remembered, done, told)[-1])
            remembered = self.listen(remembered, text)
        if not found:
            raise DemonstrationError(
                f"The conversation {name!r} must have at least one turn; got none. Pass (text, "
                "actions) pairs."
            )
        return found


_STAYING = GroundingGraph({"event": {"stay": True}})
_STAYED: Json = {"Stay": {}}


def _known(remembered: State) -> Remembered:
    """Return the given state if it has a memory; raise an error otherwise."""
    if not isinstance(remembered, Remembered):
        raise WorldError(
            f"A state of a MemoryEnvironment must have a memory; got {shorten(remembered)}. "
            "Use world.begin(state), or world.converse(start, turns)."
        )
    return remembered


def _done(state: State, memory: Memory) -> Iterator[tuple[Step, State]]:
    """Yield the steps other than `STAY`, each with the state after it."""
    after = [*(each.before for each in memory.steps[1:]), state]
    for step, reached in zip(memory.steps, after, strict=False):
        if step.action != STAY:
            yield step, reached


def _ends(turn: int, ago: int) -> list[str]:
    """Return the suffixes of the labels that refer to a step.

    >>> _ends(2, 1), _ends(1, 3)
    (['', ' step 2'], [' step 1', ' 3 ago'])
    """
    return ["", f" step {turn}"] if ago == 1 else [f" step {turn}", f" {ago} ago"]


def _is_unclear(order: Sequence[int], things: Sequence[frozenset[Pair]]) -> bool:
    """Return whether a text refers to several things of a kind, not all by name."""
    places: dict[str, dict[str, int]] = {}
    for place, thing in zip(order, things, strict=True):
        for kind, value in thing:
            places.setdefault(kind, {})[value] = place
    return any(len(each) > 1 and min(each.values()) < 0 for each in places.values())


def _words(text: Text) -> list[str]:
    parts = [text] if isinstance(text, (str, Instruction)) else text
    said = [split_words(part) if isinstance(part, str) else part.tokens for part in parts]
    return [word.lower() for part in said for word in (*part, *runs_of(part))]


def _reminders(
    labels: Labels, recalled: _Recollection, words: frozenset[str], thing: str
) -> _NodeReminders:
    """Return the memory labels for the values, the kind and the numbers of a node."""
    found: list[str] = []
    pairs = [(kind_of(each), each.value) for each in labels if isinstance(each.value, str)]
    if any(_mentioned(value, words) for _, value in pairs):
        found.append("mentioned")
    for pair in [*pairs, (_THING, thing)] if thing else pairs:
        known = recalled.values.get(pair, ())
        found += known
        if pair[0] in recalled.kinds and f"last {pair[0]}" not in known:
            found.append(f"other {pair[0]}")
    sort = _sort(labels)
    alike = [
        name
        for other, names in recalled.sorts.items()
        if sort <= other or other <= sort
        for name in names
    ]
    numbers = recalled.numbers.get(_numbers(labels), ())
    return _NodeReminders(labels, tuple(found), tuple(alike), tuple(numbers))


# Graphs share their labels, so these functions are cached.


_WITH: dict[tuple[int, tuple[str, ...]], tuple[Labels, Labels]] = {}


def _with(labels: Labels, found: tuple[str, ...]) -> Labels:
    """Return labels with added indicators.

    Results are cached by the identity of the labels, because many nodes share them.
    """
    key = (id(labels), found)
    known = _WITH.get(key)
    if known is None or known[0] is not labels:
        if len(_WITH) >= _MOST_LABELS:
            _WITH.clear()
        known = _WITH[key] = (labels, labels_of((*labels, *map(Label, found))))
    return known[1]


@lru_cache(maxsize=10_000)
def _values(labels: Labels) -> frozenset[Pair]:
    return frozenset(
        (kind_of(label), label.value) for label in labels if isinstance(label.value, str)
    )


@lru_cache(maxsize=10_000)
def _sort(labels: Labels) -> frozenset[str]:
    """Return the sort of an action: the indicators at its root, or else the strings."""
    indicators = frozenset(label.name for label in labels if label.value is None)
    return indicators or frozenset(value for _, value in _values(labels))


@lru_cache(maxsize=10_000)
def _numbers(labels: Labels) -> frozenset[Label]:
    return frozenset(label for label in labels if isinstance(label.value, float))


@lru_cache(maxsize=10_000)
def _mentioned(value: str, words: frozenset[str]) -> bool:
    return any(matches_name(word, value) for word in words)


@lru_cache(maxsize=10_000)
def _first_place(thing: frozenset[Pair], words: tuple[str, ...]) -> int:
    """Return the index of the first word that names a thing; -1 if none does."""
    values = [value for _, value in thing]
    for place, word in enumerate(words):
        if any(matches_name(word, value) for value in values):
            return place
    return -1
