"""`GymWorld`: a Gymnasium simulator as an environment without side effects."""

from __future__ import annotations

import copy
import hashlib
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundling.errors import LearningWarning, SettingError, WorldError
from groundling.world.graph import GroundingGraph

if TYPE_CHECKING:
    from groundling.follower import Follower
    from groundling.gym.move_agent import MoveAgent

_WAYS = ("auto", "state", "deepcopy", "replay")
# Attributes that are not part of the simulation state.
_SKIPPED = ("render", "window", "screen", "clock", "viewer", "spec", "metadata", "space", "font")
_DEEPEST = 8
_TRIED = 3  # number of actions repeated to check that states are restored
_SLOW = 5.0  # advice is given above this number of milliseconds per simulated step
_MEASURED = 50  # number of simulated steps before a slow simulator is reported


class Situation(NamedTuple):
    """A state of a simulator, identified by a key; the `GymWorld` stores its snapshot."""

    key: Hashable

    def __str__(self) -> str:
        return str(self.key)[:12]


class Seen(NamedTuple):
    """Output of the simulator on entering a state, such as observation and reward."""

    observation: Any
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = {}


@dataclass
class Cost:
    """Measured cost of simulation, with advice if the cost is high.

    >>> print(Cost("replay", asked=10, simulated=4, moves=12, seconds=0.006))
    10 steps requested, 4 simulated (60% cached) by replay: 12 moves, 1.50 ms a simulated step
    >>> print(Cost("replay", asked=100, simulated=80, moves=900, seconds=2.4).advice)
    A simulated step takes 30 ms; training needs thousands of them. Pass get_state and set_state:
    replay makes 11.2 moves per step. If a single move is slow, plan in a symbolic model:
    your own Environment with the same rules.
    """

    way: str
    asked: int = 0
    simulated: int = 0
    moves: int = 0
    seconds: float = 0.0

    @property
    def milliseconds(self) -> float:
        """Mean time of a simulated step, in milliseconds."""
        return 1000 * self.seconds / self.simulated if self.simulated else 0.0

    @property
    def advice(self) -> str:
        """Advice on how to make a slow simulator faster; empty if it is fast."""
        if self.milliseconds < _SLOW:
            return ""
        said = (
            f"A simulated step takes {self.milliseconds:.0f} ms; training needs thousands of them. "
        )
        if self.way == "replay":
            said += (
                f"Pass get_state and set_state: replay makes {self.moves / self.simulated:.1f} "
                "moves per step. "
            )
        elif self.way == "deepcopy":
            said += (
                "Pass get_state and set_state with the few values that change: deepcopy copies "
                "the whole environment. "
            )
        return said + (
            "If a single move is slow, plan in a symbolic model: your own Environment with the "
            "same rules."
        )

    def __str__(self) -> str:
        share = 1 - self.simulated / self.asked if self.asked else 0.0
        return (
            f"{self.asked:,} steps requested, {self.simulated:,} simulated ({share:.0%} cached) by "
            f"{self.way}: {self.moves:,} moves, {self.milliseconds:.2f} ms a simulated step"
        )


@dataclass
class _Kept:
    """Snapshot of a state, with the simulator's output on entering it."""

    key: Hashable
    snapshot: Any
    seen: Seen
    after: dict[Any, Situation] = field(default_factory=dict)
    moves: dict[Any, tuple[Any, ...]] = field(default_factory=dict)


class GymWorld:
    """Gymnasium environment as an `Environment` with hashable states.

    Parameters
    ----------
    env
        The environment, used as the simulator. Do not step it yourself.
    ground
        A function (before, action, after) that returns the grounding graph. `before` and `after`
        are `Seen` values.
    actions
        The possible actions, as a sequence or as a function of a `Seen` value. Defaults to all
        numbers of a discrete action space.
    moves
        A function (seen, action) that returns the simulator's own actions for an action,
        including steps that no text mentions, such as opening doors on the way. An empty list
        means that the action is impossible in this state. By default, an action is one of the
        simulator's own.
    way
        Method to restore states: `state` with your `get_state(env)` and `set_state(env, state)`,
        `deepcopy`, or `replay` of the actions since the reset with a seed. `auto` uses the first
        that works.
    key
        A function (env, observation) that returns a hashable value which identifies the state.
        Leave out irrelevant values, such as a step counter, so that fewer states are simulated.
        Defaults to a digest of the observation and the unwrapped environment's attributes.
    rewards
        Whether the environment gives a reward if and only if the instruction was carried out, so
        that the reward shows whether the agent understood it. Most environments do not know the
        instruction.

    Attributes
    ----------
    way_ : str
        How states are restored.
    why_ : str
        Why a cheaper method is not used, as a sentence.
    cost : Cost
        Cost so far; try `print(world.cost)`.

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
            raise SettingError(f"`GymWorld.way` must be one of {', '.join(_WAYS)}; got {way!r}.")
        if (get_state is None) != (set_state is None) or (way == "state" and get_state is None):
            raise SettingError(
                "`get_state` and `set_state` must be passed to GymWorld together, and way='state' "
                "requires both. Pass the missing function."
            )
        space = getattr(env, "action_space", None)
        if actions is None and not hasattr(space, "n"):
            raise SettingError(
                f"The action space must be discrete; got {space}. Pass actions=… to GymWorld."
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
        """Start an episode; return its initial state."""
        observation, info = self.env.reset(seed=seed, **options)
        state = self._keep(self.env, Seen(observation, info=info), (seed, options, ()))
        if not self._tried and self.way_ != "replay":  # each replay is checked when it is made
            self._tried = True
            self._try_out(state)
        return state

    def _try_out(self, state: Situation) -> None:
        """Raise an error if an action, repeated from the same state, gives another result."""
        kept = self._known(state)
        cost = replace(self.cost)
        for action in list(self.actions(state))[:_TRIED]:
            moves = self.moves(state, action)
            once = self._simulate(kept, moves)
            again = [self._simulate(kept, moves) for _ in range(2)]
            if any(each != once for each in again):
                cure = (
                    "Let `set_state` restore everything that `get_state` returns, and `get_state` "
                    "return everything that matters, including random state."
                    if self.way_ == "state"
                    else "The simulator uses external randomness: draw from self.np_random "
                    "instead, or leave the values that differ out of GymWorld's `key`."
                )
                raise WorldError(
                    "The same action in the same state must always lead to the same next state; "
                    f"{action!r} did not. {cure}"
                )
        self.cost = cost  # count only the steps that users request

    # ---- acting -------------------------------------------------------------------------

    def agent(self, follower: Follower, threshold: float | None = None) -> MoveAgent:
        """Return an agent that carries out a follower's plans in a separate environment."""
        from groundling.gym.move_agent import MoveAgent  # imported here to avoid a circular import

        return MoveAgent(follower, self, threshold)

    def enter(
        self, env: Any, observation: Any = None, info: Mapping[str, Any] | None = None
    ) -> Situation:
        """Return the state that a running environment is in.

        Without an observation, the environment must just have been reset with a seed; the
        simulation uses the same seed. With an observation, the state is read by `get_state` or
        `deepcopy`.
        """
        if env.unwrapped is self.env.unwrapped:
            raise WorldError(
                "The environment to act in must not be the simulator of the GymWorld. Create "
                "a second environment."
            )
        if observation is not None:
            if self.way_ == "replay":
                raise WorldError(
                    "A GymWorld that replays actions cannot start from an observation, only from a "
                    "seed. Call env.reset(seed=…) and pass no observation, or pass get_state and "
                    "set_state to GymWorld."
                )
            return self._keep(env, Seen(observation, info=info or {}), (), running=True)
        seed = getattr(env.unwrapped, "np_random_seed", None)
        if seed is None:
            raise WorldError(
                f"{type(env.unwrapped).__name__} must provide the seed of its reset "
                "(np_random_seed). Call super().reset(seed=seed) in its reset, or act with "
                "observation=… or start=…"
            )
        start = self.reset(seed=max(0, int(seed)))
        key = self._key_of(env, self.seen(start).observation, running=True)
        if seed < 0 or key != self._known(start).key:
            raise WorldError(
                f"The environment must be in its initial state for seed {seed}. Call "
                "env.reset(seed=…) just before acting, or pass the agent the last observation."
            )
        return start

    def arrive(
        self, env: Any, state: Situation, moves: Sequence[Any], answer: tuple[Any, ...]
    ) -> Situation:
        """Return the state of a running environment after moves, given its last output."""
        observation, reward, terminated, truncated, info = answer
        seen = Seen(observation, float(reward), bool(terminated), bool(truncated), info)
        course: tuple[Any, ...] = ()
        if self.way_ == "replay":
            seed, options, done = self._known(state).snapshot
            course = (seed, options, (*done, *moves))
        return self._keep(env, seen, course, running=True)

    def seen(self, state: Situation) -> Seen:
        """Return the simulator's output on entering a state."""
        return self._known(state).seen

    # ---- the environment ----------------------------------------------------------------

    def actions(self, state: Situation) -> Sequence[Any]:
        """Return the possible actions in a state."""
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
        """Return the simulator's own actions for an action; empty if it is impossible."""
        if self._moves is None:
            return (action,)
        kept = self._known(state)
        if action not in kept.moves:
            kept.moves[action] = tuple(self._moves(kept.seen, action))
        return kept.moves[action]

    def step(self, state: Situation, action: Any) -> Situation:
        """Return the state after an action, simulating each action once per state."""
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
        """Return the grounding graph of an action."""
        return self._ground(self.seen(state), action, self.seen(after))

    def is_terminal(self, state: Situation) -> bool:
        """Return whether the episode ended in this state."""
        seen = self.seen(state)
        return seen.terminated or seen.truncated

    # ---- snapshots ----------------------------------------------------------------------

    def _known(self, state: Situation) -> _Kept:
        if state not in self._kept:
            raise WorldError(
                f"The state {state} must come from this GymWorld. Get the first state from its "
                "method reset(seed=…)."
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
                f"GymWorld's `key` must be hashable ({error}). Return numbers, strings or tuples."
            ) from error
        return key

    def _unlike(self, env: Any, what: str, error: Exception) -> WorldError:
        """Return an error that explains why an environment of another class does not fit."""
        return WorldError(
            f"GymWorld's `{what}` raised {type(error).__name__}: {error}. It was called with a "
            f"{type(env.unwrapped).__name__}, but GymWorld simulates a "
            f"{type(self.env.unwrapped).__name__}. Act in an environment of the same class, "
            "or let `key` use only the observation, and pass `start` to the agent."
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
            raise WorldError(
                "GymWorld's `moves` must return at least one move for a possible action; got none. "
                "Leave impossible actions out of `actions`."
            )
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
                    f"Replaying the same actions from seed {seed} led to another state, so the "
                    "simulator is not deterministic. Seed it in `reset`, or leave the values that "
                    "differ out of GymWorld's `key`."
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
            raise WorldError(f"{self.why_} Pass get_state and set_state, or use way='replay'.")
        self.why_ += " Actions are replayed instead; get_state and set_state would be faster."
        return "replay"

    def _copying_fails(self) -> str:
        """Return why deepcopy fails, as text, or an empty string if it works."""
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
        except Exception as error:  # copying user code may raise any exception
            trouble = f"{type(error).__name__}: {error}"
        if any(each.__name__ == "EzPickle" for each in type(self.env.unwrapped).__mro__):
            trouble = (
                "it is an EzPickle, which creates a new environment from its constructor arguments"
            )
        return f"A deepcopy of {name} loses its state: {trouble}."


def _begun(env: Any) -> tuple[Any, ...]:
    """Reset an environment; return its output as the fields of `Seen`."""
    observation, info = env.reset(seed=0)
    return observation, 0.0, False, False, info


def _default_key(env: Any, observation: Any) -> str:
    return digest(observation, vars(env.unwrapped))


def digest(*values: Any) -> str:
    """Return a digest of numbers, strings, arrays, and objects that contain them.

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
