"""Episodes: environments of single scenes, whose actions are choices of objects."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from groundling.errors import WorldError
from groundling.features.lexicon import matches_name
from groundling.gym.verbs import check_verbs
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of

if TYPE_CHECKING:
    from groundling.gym.objects import ObjectWorld

T = TypeVar("T")


def in_doing_order(said: Sequence[T], earlier: Callable[[T], bool]) -> list[T]:
    """Reorder actions from the order of the text to the order of execution.

    The first action for which `earlier` is true and all actions after it are carried out first.

    >>> in_doing_order(["open", "go", "take"], lambda verb: verb == "go")
    ['go', 'take', 'open']
    """
    turn = next((place for place, each in enumerate(said) if earlier(each)), 0)
    return [*said[turn:], *said[:turn]]


class ActionChoice(NamedTuple):
    """A choice of objects for one argument (role) of a macro-action.

    `things` are equally acceptable objects; the agent uses the nearest one.
    `earlier` marks an action to carry out before all actions that the text mentions before it.
    """

    verb: str
    role: str
    things: tuple[Hashable, ...]
    shown: str
    earlier: bool = False

    @property
    def canonical_name(self) -> str:
        """Name that breaks ties between choices with equal scores."""
        return f"{self.verb} {self.role} {self.shown} {self.things} {self.earlier:d}"

    def __str__(self) -> str:
        said = self.verb if self.role == "object" else self.role
        return f"{'first ' if self.earlier else ''}{said} the {self.shown}"


class MacroAction(NamedTuple):
    """A verb with all its arguments; each argument is a tuple of acceptable objects."""

    verb: str
    things: tuple[tuple[Hashable, ...], ...]
    shown: str

    def __str__(self) -> str:
        return self.shown


class Episode:
    """Environment of a single scene, whose states are tuples of choices.

    Create one with `ObjectWorld.episode`. A plan may end when all verbs have their arguments.
    Objects that the text does not distinguish are merged, so that *a ball* may be any ball. Two
    outcomes that differ only in labels that the text does not name are equal. Both rules assume
    that texts spell the values of labels; if this is not so, set the world's `spelled` to False.
    """

    def __init__(self, world: ObjectWorld, scene: Any, start: Any, parts: tuple[str, ...]) -> None:
        check_verbs(type(world).__name__, getattr(world, "verbs", ()))
        self._check_scene(world, scene)
        self.world = world
        self.parts = parts
        self.scene = scene
        self.start = start
        # drawing is optional: the method exists only if the world has one
        if hasattr(world, "draw"):
            self.draw = partial(world.draw, self)
        self._roles = {verb.name: verb.roles for verb in world.verbs}
        self._groups: dict[Any, list[tuple[tuple[Any, ...], str]]] = {}
        self._nodes: dict[tuple[Any, ...], dict[str, Labels]] = {}
        self._graphs: dict[tuple[Any, ActionChoice], GroundingGraph] = {}
        self._offers: dict[tuple[Any, ...], tuple[ActionChoice, ...]] = {}
        self._named: dict[str, set[Label]] = {}
        self._scenes: dict[tuple[ActionChoice, ...], Any] = {}
        self._still = not world.has_effects
        # Mark default slots, so that warnings are only about slots that the user sets.
        usual = world.slots is world.usual_slots
        self.presumed_slots = world.slots if usual else ()
        self.labels_follow_text = bool(parts) and world.spelled

    # ---- the environment ----------------------------------------------------------------

    def actions(self, state: tuple[ActionChoice, ...]) -> tuple[ActionChoice, ...]:
        """Return the choices that are possible next."""
        verb, before = self._pending(state)
        scene = self._scene(state)
        turned = not state or any(each.earlier for each in state)
        key = (scene, verb, before, turned)
        if key not in self._offers:
            self._offers[key] = self._offer(scene, verb, before, turned)
        return self._offers[key]

    def _offer(
        self, scene: Any, verb: str, before: tuple[tuple[Any, ...], ...], turned: bool
    ) -> tuple[ActionChoice, ...]:
        if verb:
            role = self._roles[verb][len(before)]
            return tuple(
                ActionChoice(verb, role, things, shown)
                for things, shown in self._merged(scene)
                if self._fits(scene, verb, role, things, before)
            )
        fresh = [
            ActionChoice(each.name, each.roles[0], things, shown)
            for each in self.world.verbs
            for things, shown in self._merged(scene)
            if self._fits(scene, each.name, each.roles[0], things, ())
            and self._can_complete(scene, each.name, (things,))
        ]
        if self.world.reorders and not turned:
            fresh += [each._replace(earlier=True) for each in fresh]
        return tuple(fresh)

    def step(
        self, state: tuple[ActionChoice, ...], action: ActionChoice
    ) -> tuple[ActionChoice, ...]:
        """Return the state with a choice appended."""
        return (*state, action)

    def ground(
        self, state: tuple[ActionChoice, ...], action: ActionChoice, after: tuple[ActionChoice, ...]
    ) -> GroundingGraph:
        """Return the grounding graph of a choice: its event, object and relations."""
        key = (self._scene(state), action)
        found = self._graphs.get(key)
        if found is None:
            found = self._graphs[key] = self._graph(*key)
        return found

    def _graph(self, scene: Any, action: ActionChoice) -> GroundingGraph:
        self._merged(scene)
        around = self._nodes[action.things]
        said = action.verb if action.role == "object" else action.role
        nodes: dict[str, Labels] = {"event": {said: True, "earlier": action.earlier}, **around}
        edges: list[tuple[str, str, Labels]] = [("event", "object", _edge(action.role))]
        edges += [("object", name, _edge(name)) for name in around if name != "object"]
        return GroundingGraph(nodes, edges, roles=nodes)

    def is_goal(self, state: tuple[ActionChoice, ...]) -> bool:
        """Return whether every verb has all its arguments."""
        return bool(state) and not self._pending(state)[0]

    def outcome(self, state: tuple[ActionChoice, ...]) -> Hashable:
        """Return a value that is equal for the states after plans with the same meaning.

        Plans have the same meaning if they differ only in labels that the text does not name.
        """
        if not (self.parts and self.world.spelled):
            return self.macro_actions(state)
        whole = " ".join(self.parts)
        said = self.parts if len(self.parts) == len(state) else (whole,) * len(state)
        return tuple(
            (choice.verb, choice.role, choice.earlier, self._meant(choice.things, part))
            for choice, part in zip(state, said, strict=True)
        )

    def _meant(self, things: tuple[Any, ...], part: str) -> tuple[Any, ...]:
        """Return those labels of the objects that a part of the text names.

        If the part names no label of any object, returns the objects instead.
        """
        labels = self.named(things, part)
        return labels if self._named[part] else things

    def named(self, things: tuple[Any, ...], part: str) -> tuple[Label, ...]:
        """Return the labels of a group of objects that a part of the text names."""
        if part not in self._named:
            self._named[part] = {
                label
                for each, _ in self.groups(())
                for label in self.labels(each)
                if isinstance(label.value, str)
                and any(matches_name(word, label.value) for word in part.split())
            }
        return tuple(each for each in self.labels(things) if each in self._named[part])

    def describe(self, state: tuple[ActionChoice, ...]) -> str:
        """Return a description of the objects in the scene and the choices so far."""
        there = ", ".join(shown for _, shown in self.groups(state))
        return f"{there}; so far: {', '.join(map(str, state)) or 'nothing'}"

    # ---- derived values ----------------------------------------------------------------

    def macro_actions(self, state: Sequence[Any]) -> tuple[MacroAction, ...]:
        """Return the completed macro-actions, in order of execution."""
        return tuple(action for action, _ in self.in_order(state))

    def in_order(self, state: Sequence[Any]) -> list[tuple[MacroAction, range]]:
        """Return completed macro-actions with ranges in `state`, in order of execution."""
        return in_doing_order(list(self._said(state)), lambda each: state[each[1][0]].earlier)

    def _said(self, state: Sequence[Any]) -> Iterator[tuple[MacroAction, range]]:
        """Yield completed macro-actions with ranges in `state`, in the order of the text."""
        place = 0
        while place < len(state):
            size = len(self._roles[state[place].verb])
            chosen = state[place : place + size]
            if len(chosen) == size:
                words = " ".join(str(each._replace(earlier=False)) for each in chosen)
                things = tuple(each.things for each in chosen)
                yield MacroAction(chosen[0].verb, things, words), range(place, place + size)
            place += size

    def groups(self, state: tuple[ActionChoice, ...]) -> list[tuple[tuple[Any, ...], str]]:
        """Return the groups of objects with equal labels, each with a description."""
        return self._merged(self._scene(state))

    def labels(self, things: tuple[Any, ...]) -> tuple[Label, ...]:
        """Return the labels that a group of objects shares."""
        return labels_of(self._nodes[things]["object"])

    def is_possible(self, plan: Sequence[ActionChoice]) -> bool:
        """Return whether the choices are possible in this order and form a complete plan."""
        done: tuple[ActionChoice, ...] = ()
        for choice in plan:
            if choice not in self.actions(done):
                return False
            done = (*done, choice)
        return self.is_goal(done)

    def _pending(self, state: Sequence[ActionChoice]) -> tuple[str, tuple[tuple[Any, ...], ...]]:
        """Return the verb that still lacks arguments, if any, and its arguments so far."""
        if not state:
            return "", ()
        roles = self._roles[state[-1].verb]
        count = roles.index(state[-1].role) + 1
        if count == len(roles):
            return "", ()
        return state[-1].verb, tuple(each.things for each in state[-count:])

    def _scene(self, state: tuple[ActionChoice, ...]) -> Any:
        if self._still:
            return None  # the scene never changes, and None is cheaper to hash
        known = self._scenes.get(state)
        if known is None:
            known = self.scene
            for action in self.macro_actions(state):
                known = self.world.effect(known, action)
            self._scenes[state] = known
        return known

    def _can_complete(self, scene: Any, verb: str, before: tuple[tuple[Any, ...], ...]) -> bool:
        """Return whether the remaining roles of a verb can be filled."""
        roles = self._roles[verb]
        return len(before) == len(roles) or any(
            self._fits(scene, verb, roles[len(before)], things, before)
            and self._can_complete(scene, verb, (*before, things))
            for things, _ in self._merged(scene)
        )

    def _fits(
        self, scene: Any, verb: str, role: str, things: tuple[Any, ...], before: Sequence[Any]
    ) -> bool:
        if before and len(things) == 1 and things in before:
            return False  # an object cannot be put next to itself
        scene = self.scene if scene is None else scene
        return any(self.world.allows(scene, verb, role, each, before) for each in things)

    def _as_told(self, labels: dict[Any, tuple[Label, ...]]) -> dict[Any, tuple[Label, ...]]:
        """Return the given labels without those that the text does not mention.

        If the text mentions none of them, all are returned.
        """
        if not (self.parts and self.world.spelled):
            return labels
        values = {each for own in labels.values() for each in own if isinstance(each.value, str)}
        words = {word for part in self.parts for word in part.split()}
        unsaid = {
            each for each in values if not any(matches_name(w, str(each.value)) for w in words)
        }
        if unsaid == values:
            return labels  # the text describes no object, so all objects stay distinct
        return {
            name: labels_of(_mapping(each for each in own if each not in unsaid))
            for name, own in labels.items()
        }

    def _merged(self, scene: Any) -> list[tuple[tuple[Any, ...], str]]:
        """Return groups of objects that cannot be distinguished, each with a description."""
        known = self._groups.get(scene)
        if known is not None:
            return known
        place, scene = scene, self.scene if scene is None else scene
        labels = self._as_told(self._labels(scene))
        around: dict[Any, dict[str, set[Label]]] = {name: {} for name in labels}
        for one, other, relation in self.world.relations(scene):
            around[one].setdefault(relation, set()).update(labels[other])
        alike: dict[Any, list[Any]] = {}
        for name in labels:
            uses = tuple(
                self.world.allows(scene, verb.name, role, name, ())
                for verb in self.world.verbs
                for role in verb.roles
            )
            related = frozenset((key, frozenset(value)) for key, value in around[name].items())
            alike.setdefault((labels[name], related, uses), []).append(name)
        found = []
        for (own, _, _), names in alike.items():
            nodes = self._nodes[tuple(names)] = {"object": own}
            for relation, near in sorted(around[names[0]].items()):
                nodes[relation] = _mapping(near)
            found.append((tuple(names), self._name(own)))
        self._groups[place] = sorted(found, key=lambda each: (each[1], each[0]))
        return self._groups[place]

    def _labels(self, scene: Any) -> dict[Any, tuple[Label, ...]]:
        """Check the objects of a scene, and return their labels, sorted by object name."""
        method = f"{type(self.world).__name__}.objects"
        given = self.world.objects(scene, self.start)
        if not isinstance(given, Mapping):
            raise WorldError(
                f"{method} must return a dictionary from the names of objects to their labels; "
                f"got a {type(given).__name__}."
            )
        if not given:
            raise WorldError(
                f"A scene must have at least one object; got none. Return objects from `{method}`."
            )
        try:
            names = sorted(given)
        except TypeError as error:
            raise WorldError(
                f"{method} must name objects by strings only or by numbers only, so that the names "
                f"can be sorted; got an error: {error}."
            ) from error
        for name in names:
            own = given[name]
            for label, value in own.items() if isinstance(own, Mapping) else ():
                if isinstance(value, (bytes, Mapping)):
                    raise WorldError(
                        f"{method}: the label {label!r} of the object {name!r} must be a string, "
                        f"a number, True or a list of strings; got {value!r}."
                    )
        return {name: labels_of(given[name], f"object {name!r}") for name in names}

    @staticmethod
    def _check_scene(world: ObjectWorld, scene: Any) -> None:
        method = f"{type(world).__name__}.observe"
        if scene is None:
            raise WorldError(
                f"A scene must not be None. Call env.reset(seed=…) before acting, and return the "
                f"scene from {method}."
            )
        try:
            hash(scene)
        except TypeError as error:
            raise WorldError(
                f"A scene must be hashable ({error}). Return tuples from {method}, not lists, "
                "dictionaries or arrays."
            ) from error

    def _name(self, labels: Iterable[Label]) -> str:
        values: dict[str, list[str]] = {}
        for each in labels:
            if isinstance(each.value, str):
                values.setdefault(each.name, []).append(each.value)
        plain = [" ".join(values[name]) for name in ("colour", "kind") if name in values]
        others = [
            ", ".join(values[name]) for name in sorted(values) if name not in ("colour", "kind")
        ]
        shown = " ".join(plain)
        if plain and others:
            return f"{shown} ({'; '.join(others)})"
        return shown or "; ".join(others) or "other thing"


@lru_cache(maxsize=256)
def _edge(name: str) -> tuple[Label, ...]:
    return labels_of(name)


def _mapping(labels: Iterable[Label]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in labels:
        if each.value is None:
            found[each.name] = True
        else:
            found.setdefault(each.name, []).append(each.value)
    return found
