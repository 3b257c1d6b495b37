"""Worlds of objects and macro-actions: say what there is and what can be done with it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from groundling.follower import Follower
from groundling.gym.demonstrations import checked_macro, demonstrate
from groundling.gym.episode import ActionChoice, Episode, MacroAction
from groundling.gym.object_presets import make_follower
from groundling.gym.part_reader import PartReader
from groundling.gym.verbs import Verb, check_verbs
from groundling.world.environment import Demonstration
from groundling.world.graph import Labels

__all__ = ["ActionChoice", "Episode", "MacroAction", "ObjectWorld", "Verb", "sides"]


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
    - `slots`: the labels whose values are matched with words by their spelling (by default
      those of *kind*, *colour* and *side* that there are), and `spelled`: whether texts do;
    - `rewards`: whether the environment rewards exactly what was asked. Then its reward decides
      about success; otherwise whatever was carried out counts as done;
    - `events(before, move, after)`: what a move may have brought about, so that trajectories can
      be cut into macro-actions;
    - `draw(episode, state, way)`: the SVG of an episode after some choices;
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
    rewards: ClassVar[bool] = False
    surprises: ClassVar[int] = 25
    keys: ClassVar[Mapping[str, Any]] = {}
    arrows: ClassVar[Mapping[str, str]] = {}
    usual_slots: ClassVar[tuple[str, ...]] = ("kind", "colour", "side")
    slots: ClassVar[tuple[str, ...]] = usual_slots

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "verbs" in vars(cls):
            check_verbs(cls.__name__, cls.verbs)

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

    def look(
        self, scene: Any, parts: Sequence[str], choices: Sequence[ActionChoice]
    ) -> Sequence[Any]:
        """Return moves to make before acting, where what was said is not in view."""
        return ()

    def events(self, before: Any, move: Any, after: Any) -> Iterable[tuple[float, str, Any]]:
        """Return what a move may have brought about: (how telling, verb, its arguments)."""
        return ()

    def macro(self, verb: str, things: Iterable[Iterable[Any]]) -> MacroAction:
        """Return a macro-action of a verb and, for each role, objects that would do."""
        name, listed, _ = checked_macro(self, verb, things, "The macro-action")
        return MacroAction(name, tuple(tuple(sorted(each)) for each in listed), name)

    def begin(self, env: Any) -> Any:
        """Return the scene of an environment that was just reset."""
        return self.observe(env)

    @property
    def has_effects(self) -> bool:
        """Whether macro-actions change what can be said."""
        return type(self).effect is not ObjectWorld.effect

    # ---- what is made of it -------------------------------------------------------------

    def read(self, text: str) -> tuple[str, ...]:
        """Cut an instruction into parts that name one argument each.

        It is cut at the ends of sentences, at connectives, at words that introduce roles, and
        at commas between clauses; *Before you …, …* is turned around. That suits English
        commands. Where people talk otherwise, have a `read` of your own: it returns the parts,
        in an order in which they can be done (or with `reorders`).
        """
        return self._reader().read(text)

    def episode(self, scene: Any, parts: Sequence[str] = (), start: Any = None) -> Episode:
        """Return the environment of one scene, in which instructions are followed.

        `parts` is what will be said there, as `read` cuts it, and `start` the scene in which it
        was said, if that is another.
        """
        return Episode(self, scene, scene if start is None else start, tuple(parts))

    def follower(self, **changes: Any) -> Follower:
        """Return a follower with settings that suit worlds like this, yet to be fitted."""
        return make_follower(self.slots, **changes)

    def agent(self, follower: Follower, threshold: float | None = None) -> Any:
        """Return the agent that carries out what a follower of this world understands."""
        from groundling.gym.agent import Agent  # it knows this module, too

        return Agent(follower, self, threshold)

    def demonstrate(
        self, text: str, scene: Any, actions: Sequence[Any], name: str = ""
    ) -> Demonstration:
        """Return a demonstration of actions in a scene.

        Each action is a pair of a verb and, for each of its roles, a list of the names that
        would do: `("put", [["cup 1", "cup 2"], ["shelf"]])`. Actions are in the order of the
        text. Where `reorders` is set, a third entry `True` says that an action is done before
        all that was said before it. Of several objects that would do, the first is what was
        done, and the others are listed as just as right.
        """
        own = type(self).read is not ObjectWorld.read
        turned = isinstance(text, str) and not own and self._reader().turns(text)
        return demonstrate(self, text, scene, actions, name, turned)

    def _reader(self) -> PartReader:
        return PartReader(self.verbs, self.connectives, self.unordered)


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
