"""GymWorld: a simulator that can be copied, restored or replayed, as a pure environment."""

from __future__ import annotations

import copy
import hashlib
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundling.errors import LearningWarning, SettingError, WorldError, did_you_mean
from groundling.world.graph import GroundingGraph

if TYPE_CHECKING:
    from groundling.follower import Follower
    from groundling.gym.move_agent import MoveAgent

__all__ = ["Cost", "GymWorld", "Seen", "Situation", "digest"]

_WAYS = ("auto", "state", "deepcopy", "replay")
# Attributes that say nothing about where the simulation stands.
_SKIPPED = ("render", "window", "screen", "clock", "viewer", "spec", "metadata", "space", "font")
_DEEPEST = 8
_TRIED = 3  # actions that are done again, to see whether states are restored
_SLOW = 5.0  # milliseconds of a simulated step, above which there is advice
_MEASURED = 50  # simulated steps after which a slow simulator is reported


class Situation(NamedTuple):
    """A state of a simulator, known by its key; the world keeps what belongs to it."""

    key: Hashable

    def __str__(self) -> str:
        return str(self.key)[:12]


class Seen(NamedTuple):
    """What the simulator showed when it came into a state."""

    observation: Any
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = {}


@dataclass
class Cost:
    """Measured cost of simulation, with advice where it is high.

    >>> print(Cost("replay", asked=10, simulated=4, moves=12, seconds=0.006))
    10 steps asked, 4 simulated (60% remembered) by replay: 12 moves, 1.50 ms a simulated step
    >>> print(Cost("replay", asked=100, simulated=80, moves=900, seconds=2.4).advice)
    A simulated step takes 30 ms, and learning asks for thousands. Give get_state and set_state:
    replay makes 11.2 moves for each step. If one move is slow by itself, plan in a symbolic twin:
    an Environment of your own that follows the same rules.
    """

    way: str
    asked: int = 0
    simulated: int = 0
    moves: int = 0
    seconds: float = 0.0

    @property
    def milliseconds(self) -> float:
        """Time of one simulated step."""
        return 1000 * self.seconds / self.simulated if self.simulated else 0.0

    @property
    def advice(self) -> str:
        """What would make a slow simulator faster; nothing if it is fast."""
        if self.milliseconds < _SLOW:
            return ""
        said = (
            f"A simulated step takes {self.milliseconds:.0f} ms, and learning asks for thousands. "
        )
        if self.way == "replay":
            said += (
                f"Give get_state and set_state: replay makes {self.moves / self.simulated:.1f} "
                "moves for each step. "
            )
        elif self.way == "deepcopy":
            said += (
                "Give get_state and set_state with the few values that change: deepcopy copies "
                "all of the environment. "
            )
        return said + (
            "If one move is slow by itself, plan in a symbolic twin: an Environment of your own "
            "that follows the same rules."
        )

    def __str__(self) -> str:
        share = 1 - self.simulated / self.asked if self.asked else 0.0
        return (
            f"{self.asked:,} steps asked, {self.simulated:,} simulated ({share:.0%} remembered) by "
            f"{self.way}: {self.moves:,} moves, {self.milliseconds:.2f} ms a simulated step"
        )


@dataclass
class _Kept:
    """A snapshot, and what was seen there."""

    key: Hashable
    snapshot: Any
    seen: Seen
    after: dict[Any, Situation] = field(default_factory=dict)
    moves: dict[Any, tuple[Any, ...]] = field(default_factory=dict)


class GymWorld:
    """A Gymnasium environment as an `Environment`: hashable states, steps without side effects.

    Parameters
    ----------
    env
        The environment. It is used as a simulator: do not step it yourself meanwhile.
    ground
        A function (seen before, action, seen after) that returns the grounding graph; what was
        seen are `Seen` values.
    actions
        A function from what is seen (its `info`, say) to the possible actions, or a sequence of
        actions. By default all numbers of a discrete action space.
    moves
        A function (seen, action) that returns the simulator's own actions which carry an action
        out, steps that no text mentions included: the planner for doors on the way. An empty
        list means that the action is impossible here. Without it actions are the simulator's own.
    way
        How states are restored: `state` by your `get_state(env)` and `set_state(env, state)`,
        `deepcopy`, or `replay` of the actions since the reset by seed. `auto` takes the first
        that works.
    key
        A function (env, observation) that returns what tells states apart, as a hashable value.
        Leave out what does not matter (a step counter), and fewer states are simulated. By
        default a digest of the observation and the unwrapped environment's attributes.
    rewards
        Whether the environment rewards what was asked, so that an agent can tell whether it
        was understood. Most do not know what was said.

    Attributes
    ----------
    way_ : str
        How states are restored.
    why_ : str
        Why not by a cheaper way, in a sentence.
    cost : Cost
        What it cost so far; `print(world.cost)`.

    Examples
    --------
    >>> import gymnasium
    >>> def ground(before, action, after):
    ...     return GroundingGraph({"event": {("left", "down", "right", "up")[action]: True}})
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> world = GymWorld(lake, ground, key=lambda env, observation: int(observation))
    >>> start = world.reset(seed=0)
    >>> world.seen(world.step(start, 2)).observation, world.step(start, 0) == start
    (1, True)
    >>> print(world.ground(start, 2, world.step(start, 2)))
    event*: right
    """

    def __init__(
        self,
        env: Any,
        ground: Callable[[Seen, Any, Seen], GroundingGraph],
        *,
        actions: Callable[[Seen], Sequence[Any]] | Sequence[Any] | None = None,
        moves: Callable[[Seen, Any], Sequence[Any]] | None = None,
        way: str = "auto",
        get_state: Callable[[Any], Any] | None = None,
        set_state: Callable[[Any, Any], None] | None = None,
        key: Callable[[Any, Any], Hashable] | None = None,
        rewards: bool = False,
    ) -> None:
        if way not in _WAYS:
            raise SettingError(f"GymWorld.way cannot be {way!r}.{did_you_mean(way, _WAYS)}")
        if (get_state is None) != (set_state is None) or (way == "state" and get_state is None):
            raise SettingError("GymWorld needs both get_state and set_state, or neither.")
        space = getattr(env, "action_space", None)
        if actions is None and not hasattr(space, "n"):
            raise SettingError(
                f"The action space is {space}, which cannot be listed. Give GymWorld actions=…"
            )
        self.env = env
        self.rewards = rewards
        self._ground = ground
        self._listed = actions
        self._moves = moves
        self._get, self._set = get_state, set_state
        self._key = key or _default_key
        self._kept: dict[Situation, _Kept] = {}
        self._tried = False
        self.why_ = ""
        self.way_ = self._choose(way)
        self.cost = Cost(self.way_)

    def reset(self, seed: int = 0, **options: Any) -> Situation:
        """Begin an episode; return the state it begins in."""
        observation, info = self.env.reset(seed=seed, **options)
        state = self._keep(self.env, Seen(observation, info=info), (seed, options, ()))
        if not self._tried and self.way_ != "replay":  # which looks each time it replays
            self._tried = True
            self._try_out(state)
        return state

    def _try_out(self, state: Situation) -> None:
        """Do some actions twice from one state, to see whether it is restored at all."""
        kept = self._known(state)
        cost = replace(self.cost)
        for action in list(self.actions(state))[:_TRIED]:
            moves = self.moves(state, action)
            once = self._simulate(kept, moves)
            again = [self._simulate(kept, moves) for _ in range(2)]
            if any(each != once for each in again):
                raise WorldError(
                    f"Doing {action!r} again from the same state did not lead to the same state. "
                    + (
                        "Let set_state restore all that get_state returned, which must be all "
                        "that matters, randomness included."
                        if self.way_ == "state"
                        else "The simulator uses randomness that is not its own: draw from "
                        "self.np_random. Or leave what differs out of GymWorld's key."
                    )
                )
        self.cost = cost  # what users ask for is counted

    # ---- acting -------------------------------------------------------------------------

    def agent(self, follower: Follower, threshold: float | None = None) -> MoveAgent:
        """Return the agent that does in a running environment what a follower plans here."""
        from groundling.gym.move_agent import MoveAgent  # it knows this module, too

        return MoveAgent(follower, self, threshold)

    def enter(
        self, env: Any, observation: Any = None, info: Mapping[str, Any] | None = None
    ) -> Situation:
        """Return the state that a running environment is in.

        Without an observation it must just have been reset by a seed, with which the simulation
        begins, too. With one, `get_state` or `deepcopy` is applied to it.
        """
        if env.unwrapped is self.env.unwrapped:
            raise WorldError(
                "This environment is the one that the GymWorld simulates in. Make another one to "
                "act in."
            )
        if observation is not None:
            if self.way_ == "replay":
                raise WorldError(
                    "A GymWorld that replays begins where a seed leads. Call env.reset(seed=…) "
                    "and act without an observation, or give get_state and set_state."
                )
            return self._keep(env, Seen(observation, info=info or {}), (), running=True)
        seed = getattr(env.unwrapped, "np_random_seed", None)
        if seed is None:
            raise WorldError(
                f"{type(env.unwrapped).__name__} does not tell by which seed it was reset "
                "(np_random_seed). Call super().reset(seed=seed) in its reset, or act with "
                "observation=… or start=…"
            )
        start = self.reset(seed=max(0, int(seed)))
        key = self._key_of(env, self.seen(start).observation, running=True)
        if seed < 0 or key != self._known(start).key:
            raise WorldError(
                f"The environment does not stand where the seed {seed} leads. Call "
                "env.reset(seed=…) just before acting, or tell the agent what was observed last."
            )
        return start

    def arrive(
        self, env: Any, state: Situation, moves: Sequence[Any], answer: tuple[Any, ...]
    ) -> Situation:
        """Return the state of a running environment after moves, by what it answered last."""
        observation, reward, terminated, truncated, info = answer
        seen = Seen(observation, float(reward), bool(terminated), bool(truncated), info)
        course: tuple[Any, ...] = ()
        if self.way_ == "replay":
            seed, options, done = self._known(state).snapshot
            course = (seed, options, (*done, *moves))
        return self._keep(env, seen, course, running=True)

    def seen(self, state: Situation) -> Seen:
        """Return what was seen in a state."""
        return self._known(state).seen

    # ---- the environment ----------------------------------------------------------------

    def actions(self, state: Situation) -> Sequence[Any]:
        """Return the actions possible in a state."""
        if self._moves is None:
            return self._actions(self.seen(state))
        return tuple(each for each in self._actions(self.seen(state)) if self.moves(state, each))

    def _actions(self, seen: Seen) -> Sequence[Any]:
        if callable(self._listed):
            return tuple(self._listed(seen))
        if self._listed is not None:
            return tuple(self._listed)
        space = self.env.action_space
        first = int(getattr(space, "start", 0))
        return tuple(range(first, first + int(space.n)))

    def moves(self, state: Situation, action: Any) -> tuple[Any, ...]:
        """Return the simulator's own actions that carry out an action; none if it is impossible."""
        if self._moves is None:
            return (action,)
        kept = self._known(state)
        if action not in kept.moves:
            kept.moves[action] = tuple(self._moves(kept.seen, action))
        return kept.moves[action]

    def step(self, state: Situation, action: Any) -> Situation:
        """Return the state after an action; each is simulated once."""
        kept = self._known(state)
        self.cost.asked += 1
        if action not in kept.after:
            began = time.perf_counter()
            kept.after[action] = self._simulate(kept, self.moves(state, action))
            self.cost.simulated += 1
            self.cost.seconds += time.perf_counter() - began
            if self.cost.simulated == _MEASURED and self.cost.advice:
                warnings.warn(self.cost.advice, LearningWarning, stacklevel=2)
        return kept.after[action]

    def ground(self, state: Situation, action: Any, after: Situation) -> GroundingGraph:
        """Return the grounding graph of an action, by the function that was given."""
        return self._ground(self.seen(state), action, self.seen(after))

    def is_terminal(self, state: Situation) -> bool:
        """Tell whether the simulator ended the episode here."""
        seen = self.seen(state)
        return seen.terminated or seen.truncated

    # ---- snapshots ----------------------------------------------------------------------

    def _known(self, state: Situation) -> _Kept:
        if state not in self._kept:
            raise WorldError(
                f"The state {state} is not of this GymWorld. Begin with its reset(seed=…)."
            )
        return self._kept[state]

    def _key_of(self, env: Any, observation: Any, *, running: bool = False) -> Hashable:
        try:
            key = self._key(env, observation)
            hash(key)
        except (AttributeError, KeyError) as error:
            raise self._unlike(env, "key", error) if running else error from None
        except TypeError as error:
            raise WorldError(
                f"GymWorld's key must be hashable ({error}). Return numbers, texts or tuples."
            ) from error
        return key

    def _unlike(self, env: Any, what: str, error: Exception) -> WorldError:
        """Return the error for a running environment that is unlike the simulated one."""
        return WorldError(
            f"GymWorld's {what} raised {type(error).__name__}: {error} in the environment to act "
            f"in, a {type(env.unwrapped).__name__}; it simulates a "
            f"{type(self.env.unwrapped).__name__}. Act in an environment of the same kind. If the "
            "simulator is a twin of another kind, let key use nothing but the observation, and "
            "act with start=…"
        )

    def _keep(
        self, env: Any, seen: Seen, course: tuple[Any, ...], *, running: bool = False
    ) -> Situation:
        key = self._key_of(env, seen.observation, running=running)
        state = Situation((key, seen.terminated or seen.truncated))
        if state not in self._kept:
            if self.way_ == "state" and self._get is not None:
                try:
                    snapshot = self._get(env)
                except (AttributeError, KeyError) as error:
                    raise self._unlike(env, "get_state", error) if running else error from None
            elif self.way_ == "deepcopy":
                snapshot = copy.deepcopy(env)
            else:
                snapshot = course
            self._kept[state] = _Kept(key, snapshot, seen)
        return state

    def _simulate(self, kept: _Kept, moves: Sequence[Any]) -> Situation:
        if not moves:
            raise WorldError("GymWorld's moves must not be empty for an action that is done.")
        env: Any = self.env
        course: tuple[Any, ...] = ()
        if self.way_ == "state" and self._set is not None:
            self._set(env, kept.snapshot)
        elif self.way_ == "deepcopy":
            env = copy.deepcopy(kept.snapshot)
        else:
            seed, options, done = kept.snapshot
            observation, _ = env.reset(seed=seed, **options)
            for each in done:
                observation = env.step(each)[0]
            self.cost.moves += len(done)
            course = (seed, options, (*done, *moves))
            if self._key(env, observation) != kept.key:
                raise WorldError(
                    f"Replaying {len(done)} actions from seed {seed} did not lead to the same "
                    "state: the simulator is not deterministic. Seed it in reset, or leave what "
                    "differs out of GymWorld's key."
                )
        total = 0.0
        for move in moves:
            observation, reward, terminated, truncated, info = env.step(move)
            self.cost.moves += 1
            total += float(reward)
            if terminated or truncated:
                break
        return self._keep(
            env, Seen(observation, total, bool(terminated), bool(truncated), info), course
        )

    def _choose(self, way: str) -> str:
        if way == "state" or (way == "auto" and self._get is not None):
            return "state"
        if way == "replay":
            return "replay"
        self.why_ = self._copying_fails()
        if not self.why_:
            return "deepcopy"
        if way == "deepcopy":
            raise WorldError(f"{self.why_} Give get_state and set_state, or use way='replay'.")
        self.why_ += " So actions are replayed; get_state and set_state would be faster."
        return "replay"

    def _copying_fails(self) -> str:
        """Return why the environment cannot be copied, or nothing."""
        name = type(self.env.unwrapped).__name__
        seen = Seen(*_begun(self.env))
        for _ in range(_TRIED):
            actions = [
                move
                for action in self._actions(seen)
                for move in ((action,) if self._moves is None else self._moves(seen, action)[:1])
            ]
            if not actions:
                break
            seen = Seen(*self.env.step(actions[0]))
            if seen.terminated or seen.truncated:
                seen = Seen(*_begun(self.env))
        own = self._key(self.env, seen.observation)
        trouble = "the copy is not in the state of the original"
        try:
            if self._key(copy.deepcopy(self.env), seen.observation) == own:
                return ""
        except Exception as error:  # whatever the environment's own code does when copied
            trouble = f"{type(error).__name__}: {error}"
        if any(each.__name__ == "EzPickle" for each in type(self.env.unwrapped).__mro__):
            trouble = (
                "it is an EzPickle, which makes a new environment from the arguments of the old one"
            )
        return f"A deepcopy of {name} forgets its state: {trouble}."


def _begun(env: Any) -> tuple[Any, ...]:
    """Reset an environment; return what is seen there, in the order of `Seen`."""
    observation, info = env.reset(seed=0)
    return observation, 0.0, False, False, info


def _default_key(env: Any, observation: Any) -> str:
    return digest(observation, vars(env.unwrapped))


def digest(*values: Any) -> str:
    """Return a digest of what values hold: numbers, texts, arrays, and objects made of them.

    >>> digest({"b": 1, "a": [2.0]}) == digest({"a": [2.0], "b": 1})
    True
    >>> digest(1) == digest(2)
    False
    """
    state = hashlib.blake2b(digest_size=16)
    for value in values:
        _feed(state.update, value, 0, set())
    return state.hexdigest()


def _feed(update: Callable[[bytes], Any], value: Any, depth: int, above: set[int]) -> None:
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        update(f"{type(value).__name__}:{value!r};".encode())
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype != object:
            update(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    elif isinstance(value, np.random.Generator):
        _feed(update, value.bit_generator.state, depth + 1, above)
    elif callable(value) or depth > _DEEPEST or id(value) in above:
        return
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            if not any(each in str(key).lower() for each in _SKIPPED):
                update(f"{key}=".encode())
                _feed(update, value[key], depth + 1, above | {id(value)})
    elif isinstance(value, (list, tuple)):
        update(f"[{len(value)}".encode())
        for each in value:
            _feed(update, each, depth + 1, above | {id(value)})
    elif isinstance(value, (set, frozenset)):
        update("|".join(sorted(map(repr, value))).encode())
    elif hasattr(value, "__dict__"):
        update(type(value).__name__.encode())
        _feed(update, vars(value), depth + 1, above | {id(value)})
