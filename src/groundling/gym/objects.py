"""Worlds of objects and macro-actions: say what there is and what can be done with it."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from groundling.errors import DemonstrationError
from groundling.follower import Follower
from groundling.gym.episode import Choice, Episode, MacroAction, Verb
from groundling.gym.presets import make_follower
from groundling.world.environment import Demonstration
from groundling.world.graph import Labels

if TYPE_CHECKING:
    from groundling.gym.acting import Agent

__all__ = ["Choice", "Episode", "MacroAction", "ObjectWorld", "Verb", "sides"]

_MOST_ALSO = 64  # equally right plans that a demonstration lists


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

    @property
    def has_effects(self) -> bool:
        """Whether macro-actions change what can be said."""
        return type(self).effect is not ObjectWorld.effect

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

    def agent(self, follower: Follower) -> Agent:
        """Return the agent that carries out what a follower of this world understands."""
        from groundling.gym.acting import Agent  # it knows this module, too

        return Agent(follower, self)

    def demonstrate(
        self,
        text: str,
        scene: Any,
        actions: Sequence[tuple[str, Sequence[Iterable[Any]], bool]],
        name: str = "",
    ) -> Demonstration:
        """Return a demonstration of actions (verb, objects that would do for each role, earlier).

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
        return Demonstration(parts, episode, (), plans[0], name=name, also=tuple(plans[1:]))


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
