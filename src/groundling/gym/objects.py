"""Worlds of objects, with macro-actions on the objects."""

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


class ObjectWorld(ABC):
    """Base class of worlds in which an action is a verb applied to objects.

    A subclass must set `verbs` and define:

    - `objects(scene, start)`: a mapping from the name of each object (hashable, sortable) to its
      labels; labels relative to the speaker (*on your left*) are computed in the scene `start`;
    - `observe(env)`: the scene of a Gymnasium environment, a hashable value;
    - `moves(scene, action)`: the environment's actions that carry out a macro-action; raises
      `GroundlingError` if the macro-action is impossible.

    A subclass may also define:

    - `relations(scene)`: triples (object, other object, name of the relation);
    - `allows(scene, verb, role, thing, before)`: whether an object can be an argument, after
      the arguments `before`;
    - `effect(scene, action)`: the scene after a macro-action, if later words depend on it;
    - `predict(scene, move)`: the expected scene after a move, and `differs(expected, real)`:
      whether the real scene is a surprise;
    - `achieved(scene, action)`: whether a macro-action had its effect;
    - `look(scene, parts, choices)`: moves to explore before acting, and
      `after(env, scene, move)`: the scene after a move, if scenes depend on memory;
    - `surprises`: the number of unexpected scenes that an agent accepts before it gives up;
    - `connectives`: words that start another part of an instruction, and `unordered`: connectives
      that do not fix the order of the parts;
    - `reorders`: whether a part can be carried out before the parts mentioned before it (*after
      you …*);
    - `slots`: the labels whose values are matched with words by spelling (by default *kind*,
      *colour* and *side*), and `spelled`: whether texts spell these values;
    - `rewards`: whether the environment gives a reward if and only if the instruction was carried
      out. If so, the reward determines success; otherwise everything that was carried out counts as
      done;
    - `events(before, move, after)`: the macro-actions that a move may complete; needed to segment
      recorded moves into macro-actions;
    - `draw(episode, state, way)`: an SVG drawing of an episode after some choices;
    - `keys`: the move that each key makes when a person acts, and `arrows`: the keys that the arrow
      keys stand for.

    Objects with equal labels and relations that allow the same verbs are merged, so that plans do
    not tie if they differ only in such objects. Arguments are chosen one at a time, so that the
    number of actions does not grow quadratically.

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
        """Return the labels of each object in a scene."""

    @abstractmethod
    def observe(self, env: Any) -> Any:
        """Return the current scene of an environment."""

    @abstractmethod
    def moves(self, scene: Any, action: MacroAction) -> Sequence[Any]:
        """Return the environment's actions that carry out a macro-action."""

    def relations(self, scene: Any) -> Iterable[tuple[Any, Any, str]]:
        """Return the relations in a scene as triples (object, other object, name)."""
        return ()

    def allows(
        self, scene: Any, verb: str, role: str, thing: Any, before: Sequence[tuple[Any, ...]]
    ) -> bool:
        """Return whether an object can be an argument of a verb; by default, any can."""
        return True

    def effect(self, scene: Any, action: MacroAction) -> Any:
        """Return the scene after a macro-action; by default, the same scene."""
        return scene

    def predict(self, scene: Any, move: Any) -> Any:
        """Return the expected scene after a move, or None if it is unknown."""
        return None

    def after(self, env: Any, scene: Any, move: Any) -> Any:
        """Return the scene after a move; by default, the observed scene."""
        return self.observe(env)

    def differs(self, expected: Any, real: Any) -> bool:
        """Return whether a scene differs from the expected one, so that the plan may fail."""
        return bool(expected != real)

    def achieved(self, scene: Any, action: MacroAction) -> bool:
        """Return whether a macro-action had its effect."""
        return True

    def look(
        self, scene: Any, parts: Sequence[str], choices: Sequence[ActionChoice]
    ) -> Sequence[Any]:
        """Return moves that explore the scene before the agent acts; none by default."""
        return ()

    def events(self, before: Any, move: Any, after: Any) -> Iterable[tuple[float, str, Any]]:
        """Return the macro-actions that a move may complete.

        Each is a triple of its strength as evidence, its verb and its arguments.
        """
        return ()

    def macro(self, verb: str, things: Iterable[Iterable[Any]]) -> MacroAction:
        """Return a macro-action with a verb and, for each role, the acceptable objects."""
        name, listed, _ = checked_macro(self, verb, things, "The macro-action")
        return MacroAction(name, tuple(tuple(sorted(each)) for each in listed), name)

    def begin(self, env: Any) -> Any:
        """Return the scene of an environment after its reset."""
        return self.observe(env)

    @property
    def has_effects(self) -> bool:
        """Whether the world defines `effect`, so that macro-actions change the scene."""
        return type(self).effect is not ObjectWorld.effect

    # ---- derived methods ---------------------------------------------------------------

    def read(self, text: str) -> tuple[str, ...]:
        """Return the parts of an instruction, each with one argument.

        English commands are split at the ends of sentences, at connectives, at words that introduce
        roles, and at commas between clauses. *Before you …, …* is reordered. For other languages,
        override this method to return the parts in the order of execution, or set `reorders`.
        """
        return self._reader().read(text)

    def episode(self, scene: Any, parts: Sequence[str] = (), start: Any = None) -> Episode:
        """Return the environment of a scene, in which a follower chooses objects.

        `parts` are the parts of the text (see `read`). `start` is the scene in which the text was
        said, if this differs from `scene`.
        """
        return Episode(self, scene, scene if start is None else start, tuple(parts))

    def follower(self, **changes: Any) -> Follower:
        """Return an untrained follower for this world.

        `changes` are settings that replace the defaults.
        """
        return make_follower(self.slots, **changes)

    def agent(self, follower: Follower, threshold: float | None = None) -> Any:
        """Return an agent that carries out instructions with a follower."""
        from groundling.gym.agent import Agent  # imported here to avoid a circular import

        return Agent(follower, self, threshold)

    def demonstrate(
        self, text: str, scene: Any, actions: Sequence[Any], name: str = ""
    ) -> Demonstration:
        """Return a demonstration of the actions that a text describes in a scene.

        An action is a verb and, for each of its roles, a list of acceptable names: `("put", [["cup
        1", "cup 2"], ["shelf"]])`. Actions are in the order of the text. If the world has
        `reorders`, a third entry `True` means that an action is carried out before the actions
        mentioned before it. The demonstration uses the first acceptable object; the others are
        equally correct.
        """
        own = type(self).read is not ObjectWorld.read
        turned = isinstance(text, str) and not own and self._reader().turns(text)
        return demonstrate(self, text, scene, actions, name, turned)

    def _reader(self) -> PartReader:
        return PartReader(self.verbs, self.connectives, self.unordered)


def sides(
    here: tuple[float, float], heading: tuple[float, float], there: tuple[float, float]
) -> list[str]:
    """Return the sides of an agent on which a point lies; the y axis points down.

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
