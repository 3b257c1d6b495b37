"""Worlds of objects and macro-actions: say what there is and what can be done with it."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, NamedTuple

from groundling.errors import DemonstrationError, WorldError
from groundling.features.lexicon import matches_name
from groundling.follower import Follower
from groundling.gym.presets import make_follower
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph, Label, Labels, labels_of

__all__ = ["Choice", "Episode", "MacroAction", "ObjectWorld", "Verb", "sides"]

_MOST_ALSO = 64  # equally right plans that a demonstration lists


class Verb(NamedTuple):
    """What can be done: its name, and a role for each object that it takes.

    The first role is the object itself; further ones are named by the words that introduce
    them (`put` … `next to` …), at which instructions are cut.
    """

    name: str
    roles: tuple[str, ...] = ("object",)


class Choice(NamedTuple):
    """One argument of a macro-action: which verb, which role, and what would do for it.

    `things` are objects that look alike; whichever is handiest is taken. `earlier` says that
    this is to be done before everything that was said before it.
    """

    verb: str
    role: str
    things: tuple[Hashable, ...]
    shown: str
    earlier: bool = False

    def __str__(self) -> str:
        said = self.verb if self.role == "object" else self.role
        return f"{'first ' if self.earlier else ''}{said} the {self.shown}"


class MacroAction(NamedTuple):
    """A verb with all its arguments; each is a tuple of objects that would do."""

    verb: str
    things: tuple[tuple[Hashable, ...], ...]
    shown: str

    def __str__(self) -> str:
        return self.shown


class ObjectWorld(ABC):
    """What there is in a scene, what can be done, and how it is carried out in an environment.

    Every world sets `verbs` and has:

    - `objects(scene, start)`: the labels of each object by its (hashable, sortable) name; what
      people say relative to where they stood (*on your left*) is taken from `start`;
    - `observe(env)`: the scene of a Gymnasium environment, a hashable value;
    - `moves(scene, action)`: the environment's actions that carry out a macro-action. It raises
      `GroundlingError` where it knows no way.

    Some may also have:

    - `relations(scene)`: triples (object, other object, name of the relation);
    - `allows(scene, verb, role, thing, before)`: whether an object can be an argument, after
      the arguments `before`;
    - `effect(scene, action)`: the scene after a macro-action, where later words depend on it;
    - `predict(scene, move)`: the scene that a move should lead to, to notice surprises, and
      `differs(expected, real)`: whether it is one;
    - `achieved(scene, action)`: whether a macro-action that was carried out had its effect;
    - `look(scene, parts, choices)`: moves to make before acting, where not all is in view, and
      `after(env, scene, move)`: the scene after a move, where memory is needed;
    - `surprises`: after how many of them it gives up;
    - `connectives`: words that begin another part of an instruction, and `unordered`: those
      that leave open which part is done first;
    - `reorders`: whether something can be said after what is to be done later (*after you …*);
    - `slots`: the labels whose values are matched with words by their spelling, and `spelled`:
      whether texts do spell them;
    - `rewards`: whether the environment rewards what was asked, so that it can be told apart
      from what was not;
    - `events(before, move, after)`: what a move may have brought about, so that trajectories can
      be cut into macro-actions;
    - `keys`: the move of each key, for people, and `arrows`: keys that arrow keys stand for.

    Objects with equal labels, relations and uses are merged, so that there are no ties.
    Arguments are chosen one after another, so that verbs with several do not branch
    quadratically.

    Examples
    --------
    >>> class Shelf(ObjectWorld):
    ...     verbs = (Verb("take"), Verb("put", ("object", "beside")))
    ...     def objects(self, scene, start):
    ...         return {name: {"colour": name.split()[0]} for name in scene}
    ...     def observe(self, env): return env
    ...     def moves(self, scene, action): return [action.verb]
    >>> episode = Shelf().episode(("red 1", "red 2", "blue 3"))
    >>> [str(choice) for choice in episode.actions(())]
    ['take the blue', 'take the red', 'put the blue', 'put the red']
    >>> [str(choice) for choice in episode.actions((episode.actions(())[2],))]
    ['beside the red']
    >>> Shelf().read("Take the red one, then put it beside the blue one.")
    ('take the red one', 'then put it', 'beside the blue one')
    """

    verbs: ClassVar[tuple[Verb, ...]]
    connectives: ClassVar[tuple[str, ...]] = ("and", "then", "after", "before")
    unordered: ClassVar[tuple[str, ...]] = ("and",)
    reorders: ClassVar[bool] = False
    spelled: ClassVar[bool] = True
    rewards: ClassVar[bool] = True
    surprises: ClassVar[int] = 25
    keys: ClassVar[Mapping[str, Any]] = {}
    arrows: ClassVar[Mapping[str, str]] = {}
    slots: ClassVar[tuple[str, ...]] = ("kind", "colour", "side")

    @abstractmethod
    def objects(self, scene: Any, start: Any) -> Mapping[Any, Labels]:
        """Return the labels of each object."""

    @abstractmethod
    def observe(self, env: Any) -> Any:
        """Return the scene of an environment."""

    @abstractmethod
    def moves(self, scene: Any, action: MacroAction) -> Sequence[Any]:
        """Return the environment's actions that carry out a macro-action."""

    def relations(self, scene: Any) -> Iterable[tuple[Any, Any, str]]:
        """Return how objects relate to each other."""
        return ()

    def allows(
        self, scene: Any, verb: str, role: str, thing: Any, before: Sequence[tuple[Any, ...]]
    ) -> bool:
        """Tell whether an object can be an argument of a verb."""
        return True

    def effect(self, scene: Any, action: MacroAction) -> Any:
        """Return the scene after a macro-action."""
        return scene

    def predict(self, scene: Any, move: Any) -> Any:
        """Return the scene that a move should lead to, or nothing if that is not known."""
        return None

    def after(self, env: Any, scene: Any, move: Any) -> Any:
        """Return the scene after a move was made in a scene."""
        return self.observe(env)

    def differs(self, expected: Any, real: Any) -> bool:
        """Tell whether a scene is not what was expected."""
        return bool(expected != real)

    def achieved(self, scene: Any, action: MacroAction) -> bool:
        """Tell whether a macro-action has brought about what it should."""
        return True

    def look(self, scene: Any, parts: Sequence[str], choices: Sequence[Choice]) -> Sequence[Any]:
        """Return moves to make before acting, where what was said is not in view."""
        return ()

    def events(self, before: Any, move: Any, after: Any) -> Iterable[tuple[float, str, Any]]:
        """Return what a move may have brought about: (how telling, verb, its arguments)."""
        return ()

    def macro(self, verb: str, things: Iterable[Iterable[Any]]) -> MacroAction:
        """Return a macro-action of a verb and, for each role, objects that would do."""
        listed = tuple(tuple(sorted(each)) for each in things)
        return MacroAction(verb, listed, verb)

    def begin(self, env: Any) -> Any:
        """Return the scene of an environment that was just reset."""
        return self.observe(env)

    # ---- what is made of it -------------------------------------------------------------

    def read(self, text: str) -> tuple[str, ...]:
        """Cut an instruction into parts that name one argument each, at connectives and roles."""
        words = [*self.connectives, *(role for verb in self.verbs for role in verb.roles[1:])]
        begin = "|".join(re.escape(each) for each in sorted(set(words), key=len, reverse=True))
        plain = re.sub(r"[,;.!?:]+", " ", text.lower())
        pieces = re.split(rf"\s+(?=(?:{begin})\b)", " ".join(plain.split()))
        parts: list[str] = []
        for piece in pieces:
            if parts and re.fullmatch(begin, parts[-1]):  # "and then go": one beginning
                parts[-1] += f" {piece}"
            elif piece:
                parts.append(piece)
        return tuple(parts)

    def episode(self, scene: Any, parts: Sequence[str] = (), start: Any = None) -> Episode:
        """Return the environment of one scene, in which instructions are followed.

        `parts` is what will be said there, as `read` cuts it, and `start` the scene in which it
        was said, if that is another.
        """
        return Episode(self, scene, scene if start is None else start, tuple(parts))

    def follower(self, **changes: Any) -> Follower:
        """Return a follower with settings that suit worlds like this, yet to be fitted."""
        return make_follower(self.slots, **changes)

    def demonstrate(
        self,
        text: str,
        scene: Any,
        actions: Sequence[tuple[str, Sequence[Iterable[Any]], bool]],
        name: str = "",
    ) -> Demonstration:
        """Return a demonstration: each action is (verb, objects that would do for each role, earlier).

        Actions are in the order of the text. Of several objects that would do, the first is
        what was done, and the others are listed as just as right.
        """
        parts = self.read(text)
        episode = self.episode(scene, parts)
        options: list[list[Choice]] = []
        for verb, arguments, earlier in actions:
            roles = next(each.roles for each in self.verbs if each.name == verb)
            for number, (role, wanted) in enumerate(zip(roles, arguments, strict=True)):
                wanted = set(wanted)
                found = [
                    Choice(verb, role, things, shown, earlier and number == 0)
                    for things, shown in episode.groups(())
                    if wanted & set(things)
                ]
                if not found:
                    raise DemonstrationError(
                        f"The demonstration {name or text!r} uses {sorted(map(str, wanted))[:4]} "
                        f"to {verb}, but the scene has no such objects."
                    )
                options.append(found)
        plans = []
        for plan in product(*options):
            if episode.is_possible(plan):
                plans.append(plan)
            if len(plans) > _MOST_ALSO:
                break
        if not plans:
            raise DemonstrationError(
                f"The demonstration {name or text!r} is impossible: {' ,'.join(map(str, options))}."
            )
        return Demonstration(
            parts, episode, (), plans[0], name=name, also=tuple(plans[1:])
        )


class Episode:
    """The environment of one scene: states are the choices so far, actions the next choices.

    See `ObjectWorld` for how it is made. A plan may end when all verbs have their arguments.
    Plans whose objects differ only in what the text does not name have the same outcome: *a
    ball* may be any ball. Worlds whose texts do not spell the values of labels turn that off
    (`spelled`).
    """

    def __init__(self, world: ObjectWorld, scene: Any, start: Any, parts: tuple[str, ...]) -> None:
        self.world = world
        self.parts = parts
        self.scene = scene
        self.start = start
        self._roles = {verb.name: verb.roles for verb in world.verbs}
        self._groups: dict[Any, list[tuple[tuple[Any, ...], str, dict[str, Labels]]]] = {}
        self._nodes: dict[tuple[Any, ...], dict[str, Labels]] = {}
        self._graphs: dict[tuple[Any, Choice], GroundingGraph] = {}
        self._offers: dict[tuple[Any, ...], tuple[Choice, ...]] = {}
        self._named_in: dict[str, set[Label]] = {}
        self._spoken: dict[tuple[Any, str], tuple[Any, ...]] = {}
        self._scenes: dict[tuple[Choice, ...], Any] = {}
        self._still = type(world).effect is ObjectWorld.effect

    # ---- the environment ----------------------------------------------------------------

    def actions(self, state: tuple[Choice, ...]) -> tuple[Choice, ...]:
        """Return the choices that can come next."""
        verb, before = self._pending(state)
        scene = self._scene(state)
        turned = not state or any(each.earlier for each in state)
        key = (scene, verb, before, turned)
        if key not in self._offers:
            self._offers[key] = self._offer(scene, verb, before, turned)
        return self._offers[key]

    def _offer(
        self, scene: Any, verb: str, before: tuple[tuple[Any, ...], ...], turned: bool
    ) -> tuple[Choice, ...]:
        if verb:
            role = self._roles[verb][len(before)]
            return tuple(
                Choice(verb, role, things, shown)
                for things, shown, _ in self._merged(scene)
                if self._fits(scene, verb, role, things, before)
            )
        fresh = [
            Choice(each.name, each.roles[0], things, shown)
            for each in self.world.verbs
            for things, shown, _ in self._merged(scene)
            if self._fits(scene, each.name, each.roles[0], things, ())
            and self._can_complete(scene, each.name, (things,))
        ]
        if self.world.reorders and not turned:
            fresh += [each._replace(earlier=True) for each in fresh]
        return tuple(fresh)

    def step(self, state: tuple[Choice, ...], action: Choice) -> tuple[Choice, ...]:
        """Return the choices with one more."""
        return (*state, action)

    def ground(
        self, state: tuple[Choice, ...], action: Choice, after: tuple[Choice, ...]
    ) -> GroundingGraph:
        """Return the graph of a choice: the event, the object, and what relates to it."""
        key = (self._scene(state), action)
        found = self._graphs.get(key)
        if found is None:
            found = self._graphs[key] = self._graph(*key)
        return found

    def _graph(self, scene: Any, action: Choice) -> GroundingGraph:
        self._merged(scene)
        around = self._nodes[action.things]
        said = action.verb if action.role == "object" else action.role
        event: dict[str, bool] = {said: True, "earlier": action.earlier}
        nodes = {"event": event, **around}
        edges = [("event", "object", action.role)]
        edges += [("object", name, name) for name in around if name != "object"]
        return GroundingGraph(nodes, edges)

    def is_goal(self, state: tuple[Choice, ...]) -> bool:
        """Tell whether every verb has all its arguments."""
        return bool(state) and not self._pending(state)[0]

    def outcome(self, state: tuple[Choice, ...]) -> Hashable:
        """Return what will be done, as far as the text tells objects apart."""
        if not (self.parts and self.world.spelled):
            return self.macro_actions(state)
        whole = " ".join(self.parts)
        said = self.parts if len(self.parts) == len(state) else (whole,) * len(state)
        return tuple(
            (choice.verb, choice.role, choice.earlier, self._meant(choice.things, part))
            for choice, part in zip(state, said, strict=True)
        )

    def _meant(self, things: tuple[Any, ...], part: str) -> tuple[Any, ...]:
        """Return those labels of objects that a part of the text names.

        What names nothing at all is no description: objects are then told apart.
        """
        key = (things, part)
        if key not in self._spoken:
            if part not in self._named_in:
                self._named_in[part] = self._named(part)
            named = self._named_in[part]
            labels = tuple(each for each in self.labels(things) if each in named)
            self._spoken[key] = labels if named else things
        return self._spoken[key]

    def _named(self, part: str) -> set[Label]:
        """Return the labels of any object that a part of the text names."""
        words = part.split()
        return {
            label
            for things, _ in self.groups(())
            for label in self.labels(things)
            if isinstance(label.value, str)
            and any(matches_name(word, label.value) for word in words)
        }

    def describe(self, state: tuple[Choice, ...]) -> str:
        """Return the objects of the scene and what is already planned."""
        there = ", ".join(shown for _, shown, _ in self._merged(self._scene(state)))
        return f"{there}; so far: {', '.join(map(str, state)) or 'nothing'}"

    # ---- what else is asked -------------------------------------------------------------

    def macro_actions(self, state: Sequence[Choice]) -> tuple[MacroAction, ...]:
        """Return the finished macro-actions in the order in which they are to be done."""
        said = [(action, state[first].earlier) for action, (first, _) in self.spans(state)]
        turn = next((place for place, (_, earlier) in enumerate(said) if earlier), 0)
        return tuple(action for action, _ in (*said[turn:], *said[:turn]))

    def spans(self, state: Sequence[Choice]) -> Iterator[tuple[MacroAction, tuple[int, int]]]:
        """Yield the finished macro-actions as they are said, each with where its choices are."""
        place = 0
        while place < len(state):
            size = len(self._roles[state[place].verb])
            chosen = state[place : place + size]
            if len(chosen) == size:
                words = " ".join(str(each._replace(earlier=False)) for each in chosen)
                things = tuple(each.things for each in chosen)
                yield MacroAction(chosen[0].verb, things, words), (place, place + size)
            place += size

    def groups(self, state: tuple[Choice, ...]) -> list[tuple[tuple[Any, ...], str]]:
        """Return the objects, look-alikes together, each with how it is called."""
        return [(things, shown) for things, shown, _ in self._merged(self._scene(state))]

    def labels(self, things: tuple[Any, ...]) -> tuple[Label, ...]:
        """Return the labels of objects that look alike."""
        return labels_of(self._nodes[things]["object"])

    def is_possible(self, plan: Sequence[Choice]) -> bool:
        """Tell whether choices can be made one after another, and be complete."""
        done: tuple[Choice, ...] = ()
        for choice in plan:
            if choice not in self.actions(done):
                return False
            done = (*done, choice)
        return self.is_goal(done)

    def _pending(self, state: Sequence[Choice]) -> tuple[str, tuple[tuple[Any, ...], ...]]:
        """Return the verb that still lacks arguments, with those it has."""
        if not state:
            return "", ()
        roles = self._roles[state[-1].verb]
        count = roles.index(state[-1].role) + 1
        if count == len(roles):
            return "", ()
        return state[-1].verb, tuple(each.things for each in state[-count:])

    def _scene(self, state: tuple[Choice, ...]) -> Any:
        if self._still:
            return None  # one scene for all, and nothing to hash
        known = self._scenes.get(state)
        if known is None:
            known = self.scene
            for action in self.macro_actions(state):
                known = self.world.effect(known, action)
            self._scenes[state] = known
        return known

    def _can_complete(self, scene: Any, verb: str, before: tuple[tuple[Any, ...], ...]) -> bool:
        """Tell whether there is something for the roles that are left."""
        roles = self._roles[verb]
        return len(before) == len(roles) or any(
            self._fits(scene, verb, roles[len(before)], things, before)
            and self._can_complete(scene, verb, (*before, things))
            for things, _, _ in self._merged(scene)
        )

    def _fits(
        self, scene: Any, verb: str, role: str, things: tuple[Any, ...], before: Sequence[Any]
    ) -> bool:
        if before and len(things) == 1 and things in before:
            return False  # nothing is put next to itself
        scene = self.scene if scene is None else scene
        return any(self.world.allows(scene, verb, role, each, before) for each in things)

    def _merged(self, scene: Any) -> list[tuple[tuple[Any, ...], str, dict[str, Labels]]]:
        """Return objects that nobody could tell apart as one."""
        known = self._groups.get(scene)
        if known is not None:
            return known
        place, scene = scene, self.scene if scene is None else scene
        labels = {
            name: labels_of(given, f"object {name!r}")
            for name, given in self.world.objects(scene, self.start).items()
        }
        if not labels:
            raise WorldError("The scene has no objects, so there is nothing to speak of.")
        around: dict[Any, dict[str, set[Label]]] = {name: {} for name in labels}
        for one, other, relation in self.world.relations(scene):
            around[one].setdefault(relation, set()).update(labels[other])
        alike: dict[Any, list[Any]] = {}
        for name in sorted(labels):
            uses = tuple(
                self.world.allows(scene, verb.name, role, name, ())
                for verb in self.world.verbs
                for role in verb.roles
            )
            related = frozenset((key, frozenset(value)) for key, value in around[name].items())
            alike.setdefault((labels[name], related, uses), []).append(name)
        found = []
        for (own, _, _), names in alike.items():
            nodes: dict[str, Labels] = {"object": own}
            nodes |= {
                relation: _mapping(near) for relation, near in sorted(around[names[0]].items())
            }
            things = tuple(names)
            self._nodes[things] = nodes
            found.append((things, self._name(own), nodes))
        self._groups[place] = sorted(found, key=lambda each: (each[1], each[0]))
        return self._groups[place]

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
        return f"{shown} ({'; '.join(others)})" if plain and others else shown or "; ".join(others)


def _mapping(labels: Iterable[Label]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in labels:
        if each.value is None:
            found[each.name] = True
        else:
            found.setdefault(each.name, []).append(each.value)
    return found


def sides(
    here: tuple[float, float], heading: tuple[float, float], there: tuple[float, float]
) -> list[str]:
    """Return on which sides of somebody something is; y points down, as on screens.

    >>> sides((0, 0), (1, 0), (2, 2)), sides((0, 0), (0, -1), (0, 5))
    (['front', 'right'], ['behind'])
    """
    dx, dy = there[0] - here[0], there[1] - here[1]
    ahead = dx * heading[0] + dy * heading[1]
    right = dy * heading[0] - dx * heading[1]
    found = []
    if not math.isclose(ahead, 0, abs_tol=1e-9):
        found.append("front" if ahead > 0 else "behind")
    if not math.isclose(right, 0, abs_tol=1e-9):
        found.append("right" if right > 0 else "left")
    return found
