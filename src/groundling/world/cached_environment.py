"""Cached environments: each method is called once per state and action."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from itertools import islice
from typing import Any

from groundling.cache import Cache, CacheBudget, size_beyond, size_of
from groundling.errors import DemonstrationError, GraphError, GroundlingError, WorldError
from groundling.language.literals import Literal
from groundling.limits import EXTRA_LENGTH, WORLD_ACTIONS
from groundling.world.changes import Facts, label_changes, with_changes
from groundling.world.environment import (
    Action,
    Demonstration,
    Environment,
    State,
    class_name,
    innermost,
)
from groundling.world.graph import GroundingGraph, labels_of
from groundling.world.graph_table import GraphTable
from groundling.world.open_values import BoundEnvironment, TextValues, declared_types, fills
from groundling.world.products import Product
from groundling.world.relations import Scene
from groundling.world.reprs import among, equal, impossible, said, shorten
from groundling.world.trajectory import Trajectory

_STATE_BYTES = 900  # size of an empty cache entry for a state
_ENTRY_BYTES = 100  # size of each further result in an entry
_MEASURED = 64  # measure the size of one state in this many


class _Answers:
    """The results that the environment returned for one state."""

    __slots__ = ("actions", "dead_end", "ends", "facts", "graphs", "places", "scene", "seen",
                 "steps", "table")  # fmt: skip

    def __init__(self) -> None:
        self.actions: Sequence[Action] | None = None
        self.steps: dict[Action, State] = {}
        self.graphs: dict[Action, GroundingGraph] = {}
        self.ends: Sequence[Action] = ()  # the first and the last action
        self.seen: dict[Action, int] = {}  # hashes of their graphs
        self.dead_end: bool | None = None
        self.scene: Scene | None = None
        self.facts: Facts | None = None
        self.table: GraphTable | None = None  # graphs of all actions
        self.places: dict[Action, int] = {}  # indices in the table


class CachedEnvironment:
    """An environment whose results are cached by state and action.

    The methods are those of the environment, including optional ones. An exception raised by the
    environment becomes a `WorldError` that names the method, the state and the action. Duplicate
    actions are merged; `repeated` holds the first call that listed an action twice.

    Parameters
    ----------
    environment
        The environment. Another `CachedEnvironment` is unwrapped first.
    budget
        Memory limit of the cache, which several environments may share.
    keep_graphs
        Whether to cache the graphs and scenes of all states, or only those of the latest state.
        Use False if the caller itself caches the results that it computes from graphs.

    Attributes
    ----------
    generation
        Number of times that the cache was cleared. Drop derived data when it increases.
    """

    def __init__(
        self,
        environment: Environment | CachedEnvironment,
        budget: CacheBudget | None = None,
        *,
        keep_graphs: bool = True,
    ) -> None:
        if isinstance(environment, CachedEnvironment):
            environment = environment.environment
        self.environment: Environment = environment
        self.keep_graphs = keep_graphs
        self.on_step: Callable[[], object] | None = None  # called when the environment steps
        self.generation = 0
        self.repeated = ""
        budget = CacheBudget() if budget is None else budget
        self._answers: Cache[State, _Answers] = Cache(budget)
        # Consecutive calls mostly concern the same state, which is then not hashed again.
        self._latest: tuple[State, int, _Answers] | None = None
        # Without `keep_graphs`, only the latest state's are kept, because search needs some twice.
        self._latest_graphs: tuple[_Answers | None, dict[Action, GroundingGraph]] = (None, {})
        self._latest_scene: tuple[_Answers | None, Scene] = (None, Scene({}))
        self._step_bytes = 0  # mean size of a next state, without parts of the previous one

    def __getstate__(self) -> dict[str, Any]:
        # The callback only works in this process.
        fresh: dict[str, Any] = {"on_step": None, "_latest": None, "_latest_graphs": (None, {})}
        return {**self.__dict__, **fresh, "_latest_scene": (None, Scene({}))}

    def bound(self, text: TextValues) -> CachedEnvironment:
        """Return a copy of the environment whose open values are filled from a text."""
        bound = BoundEnvironment(self.environment, text)
        return CachedEnvironment(bound, self._answers.budget, keep_graphs=self.keep_graphs)

    @property
    def open_values(self) -> tuple[str, ...]:
        """The types of open values that the environment declares; empty by default."""
        return declared_types(self.environment)

    @property
    def roles(self) -> frozenset[str]:
        """Node names that the environment declares as roles."""
        return frozenset(getattr(innermost(self.environment), "roles", ()))

    @property
    def is_bound(self) -> bool:
        """Whether open values in actions are filled from a text."""
        return isinstance(self.environment, BoundEnvironment)

    @property
    def unbound(self) -> Environment:
        """The original environment, whose actions have open values."""
        inner = self.environment
        return inner.environment if isinstance(inner, BoundEnvironment) else inner

    def describes(self, state: State, actions: Sequence[Action]) -> bool:
        """Return whether a plan is a single action whose set the text describes exactly."""
        inner = self.environment
        if not isinstance(inner, BoundEnvironment) or len(actions) != 1:
            return False
        return inner.describes(state, actions[0])

    def described_by(self, state: State, action: Action) -> list[str]:
        """Return the values in the text that describe an action's set of things."""
        inner = self.environment
        return inner.described_by(state, action) if isinstance(inner, BoundEnvironment) else []

    def uses(self, decisions: Iterable[tuple[State, Action]], literal: Literal) -> bool:
        """Return whether a plan uses a literal of the text.

        Returns True if actions have no open values.
        """
        inner = self.environment
        return not isinstance(inner, BoundEnvironment) or any(
            inner.uses(state, action, literal) for state, action in decisions
        )

    def texts(self, decisions: Iterable[tuple[State, Action]]) -> set[str]:
        """Return the free texts that fill the actions of a plan."""
        inner = self.environment
        if not isinstance(inner, BoundEnvironment):
            return set()
        return {text for pair in decisions for text in inner.texts(*pair)}

    def explain_values(self, state: State, action: Action) -> list[str]:
        """Explain which words of the text fill the open values of an action."""
        inner = self.environment
        return inner.explain(state, action) if isinstance(inner, BoundEnvironment) else []

    def denies(self, state: State) -> bool:
        """Return whether the text excludes all things of a state (*none of the lamps*)."""
        inner = self.environment
        return isinstance(inner, BoundEnvironment) and inner.denies(state)

    @property
    def is_blank(self) -> bool:
        """Whether the cache has no entry for any state."""
        return not len(self._answers)

    # ---- calls --------------------------------------------------------------------------

    def _ask(self, method: str, *arguments: Any, listed: bool = False) -> Any:
        """Call a method of the environment; with `listed`, return a sequence.

        Errors become a `WorldError` that names the call. Sequences have a maximum length.
        """
        try:
            answer = getattr(self.environment, method)(*arguments)
            if not listed:
                return answer
            if isinstance(answer, Product):
                return answer
            if not isinstance(answer, (str, bytes)) and isinstance(answer, Iterable):
                if not isinstance(answer, Sized) or len(answer) > WORLD_ACTIONS.most:
                    called = self._call(method, arguments)
                    answer = WORLD_ACTIONS.bounded(answer, WorldError, called)
                return tuple(answer)
        except GraphError as error:
            raise GraphError(f"{self._call(method, arguments)}: {error}") from error
        except GroundlingError:
            raise
        except Exception as error:
            if isinstance(self.environment, type):
                what = self.environment.__name__
                raise WorldError(
                    f"An environment must be an instance; got the class {what}. Pass {what}(…)."
                ) from error
            raise WorldError(
                f"{self._call(method, arguments)} raised {said(error)}. Fix this method, then run "
                "`check_environment` to find any other problems."
            ) from error
        raise WorldError(
            f"{self._call(method, arguments)} must return a tuple; got {shorten(answer)}."
        )

    def _call(self, method: str, arguments: Iterable[Any]) -> str:
        shown = ", ".join(shorten(each) for each in arguments)
        return f"{class_name(self.environment)}.{method}({shown})"

    def _hashable(self, value: Any, method: str, *arguments: Any) -> Any:
        try:
            hash(value)
        except Exception as error:
            where = f" from {self._call(method, arguments)}" if method else ""
            raise WorldError(
                "States, actions and outcomes must be hashable values, such as tuples or frozen "
                f"dataclasses; got {shorten(value)}, a {type(value).__name__}{where}."
            ) from error
        return value

    def _of(self, state: State) -> _Answers:
        """Return the cache entry of a state, and create it if it is missing."""
        latest, aged = self._latest, self._answers.budget.drops
        if latest is not None and latest[0] is state and latest[1] == aged:
            return latest[2]
        known = self._known(state)
        if known is None:
            known = _Answers()
            self._answers.put(state, known, _STATE_BYTES + size_of(state))
        self._latest = state, self._answers.budget.drops, known
        return known

    def _known(self, state: State) -> _Answers | None:
        try:
            return self._answers.get(state)
        except Exception as error:
            self._hashable(state, "")
            raise self._incomparable(state, error) from error

    def _incomparable(self, value: object, error: Exception) -> WorldError:
        return WorldError(
            "States and actions must be comparable values, such as tuples or frozen dataclasses; "
            f"comparing {shorten(value)} with another value raised {said(error)}."
        )

    def _get(self, answers: dict[Action, Any], state: State, action: Action) -> Any:
        try:
            return answers.get(action)
        except Exception as error:
            raise self._incomparable((state, action), error) from error

    def _truth(self, method: str, state: State) -> bool:
        answer = self._ask(method, state)
        if isinstance(answer, bool):
            return answer
        try:
            if getattr(answer, "shape", ()) == ():
                return bool(answer)
        except Exception:
            pass
        raise WorldError(
            f"{self._call(method, (state,))} must return True or False; got {shorten(answer)} "
            f"(type {type(answer).__name__})."
        )

    # ---- required methods ---------------------------------------------------------------

    def actions(self, state: State) -> Sequence[Action]:
        """Return the actions possible in a state; none if it is terminal."""
        known = self._of(state)
        if known.actions is None:
            known.actions = self._offered(state)
            known.ends = _ends(known.actions)
            sampled = len(known.actions) * size_of(known.actions[0]) if known.actions else 0
            self._answers.grow(100 + sampled)
        return known.actions

    def some_actions(self, state: State) -> Iterable[Action]:
        """Return all actions; for a large `Product`, a subset with every factor value."""
        actions = self.actions(state)
        return actions.some() if isinstance(actions, Product) else actions

    def _offered(self, state: State) -> Sequence[Action]:
        if self.is_terminal(state):
            return ()
        offered = self._ask("actions", state, listed=True)
        if isinstance(offered, Product):
            return offered
        try:
            known = tuple(dict.fromkeys(offered))
        except Exception:
            for each in offered:
                self._hashable(each, "actions", state)
            raise
        if len(known) < len(offered):
            self.repeated = self.repeated or self._call("actions", (state,))
        return known

    def step(self, state: State, action: Action) -> State:
        """Return the state after an action."""
        known = self._of(state)
        after: State = self._get(known.steps, state, action)
        if after is None:
            after = self._ask("step", state, action)
            if len(known.steps) % _MEASURED == 0:
                self._hashable(after, "step", state, action)  # takes long for large states
                self._step_bytes = size_beyond(after, state)
            known.steps[action] = after
            self._answers.grow(_ENTRY_BYTES + self._step_bytes)
            if self.on_step is not None:
                self.on_step()
        return after

    def ground(self, state: State, action: Action) -> GroundingGraph:
        """Return the grounding graph of an action in a state."""
        known = self._of(state)
        graphs = known.graphs
        if not self.keep_graphs:
            if self._latest_graphs[0] is not known:
                self._latest_graphs = known, {}
            graphs = self._latest_graphs[1]
        graph: GroundingGraph | None = self._get(graphs, state, action)
        if graph is None and known.table is not None:
            if not known.places:
                known.places = {each: place for place, each in enumerate(self.actions(state))}
                self._answers.grow(_ENTRY_BYTES * len(known.places))
            if action in known.places:
                return known.table[known.places[action]]
        if graph is None:
            graph = graphs[action] = self._grounded(state, action, self.step(state, action))
            if self.keep_graphs:
                self._answers.grow(_ENTRY_BYTES + graph.nbytes)
            if len(known.seen) < 2:
                self.actions(state)
                if action in known.ends:
                    known.seen[action] = hash(graph)
        return graph

    @property
    def grounds_alone(self) -> bool:
        """True if the graphs of all actions of a state should be computed together.

        This needs an environment without `facts` and `label_plan`. Without `ground_many`, it is
        only done while following, where it is faster.
        """
        own = ("facts", "label_plan")
        together = not self.has_things and callable(getattr(self.environment, "ground_many", None))
        is_asked = self._answers.budget.drops > 0
        return (together or is_asked) and not any(hasattr(self.environment, e) for e in own)

    def ground_all(self, state: State) -> GraphTable | list[GroundingGraph]:
        """Return the graphs of all actions of a state, cached for the latest state."""
        if callable(getattr(self.environment, "ground_many", None)):
            return self.ground_many(state)
        actions = self.actions(state)
        if self.on_step is None and not self.keep_graphs:
            try:
                return self._ground_at_once(state, actions)
            except Exception:  # grounding one by one raises an error that names the action
                pass
        return [self.ground(state, each) for each in actions]

    def _ground_at_once(self, state: State, actions: Sequence[Action]) -> list[GroundingGraph]:
        known, step, ground = self._of(state), self.environment.step, self.environment.ground
        steps = {each: step(state, each) for each in actions if each not in known.steps}
        known.steps |= steps
        afters = known.steps
        graphs = [ground(state, each, afters[each]) for each in actions]
        if roles := self.roles:
            graphs = [each.changed(roles=roles) for each in graphs]
        if not {GroundingGraph}.issuperset(map(type, graphs)):
            raise TypeError
        for after in islice(steps.values(), 1):
            hash(after)
            self._step_bytes = size_beyond(after, state)
        self._answers.grow(len(steps) * (_ENTRY_BYTES + self._step_bytes))
        known.seen |= {each: hash(graphs[n]) for n, each in zip((0, -1), _ends(actions))}  # noqa: B905
        self._latest_graphs = known, dict(zip(actions, graphs, strict=True))
        return graphs

    def ground_many(self, state: State) -> GraphTable:
        """Return the graphs of all actions of a state as a single table."""
        known = self._of(state)
        if known.table is None:
            actions = self.actions(state)
            table = self._ask("ground_many", state, actions)
            if not isinstance(table, GraphTable) or len(table) != len(actions):
                raise WorldError(
                    f"{class_name(self.environment)}.ground_many must return a GraphTable with one "
                    f"graph for each action ({len(actions)}); got {shorten(table)} in state "
                    f"{shorten(state)}."
                )
            known.table = table.changed(self.roles) if self.roles else table
            for place, action in zip((0, -1), _ends(actions), strict=False):
                known.seen[action] = hash(known.table[place])
            self._answers.grow(known.table.nbytes)
        return known.table

    def knows(self, state: State) -> bool:
        """Return whether the actions of a state are cached."""
        known = self._known(state)
        return known is not None and known.actions is not None

    def look_at(self, state: State) -> None:
        """Cache the actions of a state; if they are in the cache, check them for changes."""
        if not self.notice(state):
            self.actions(state)

    def _grounded(self, state: State, action: Action, after: State) -> GroundingGraph:
        graph = self._ask("ground", state, action, after)
        if not isinstance(graph, GroundingGraph):
            raise WorldError(
                f"{class_name(self.environment)}.ground must return a GroundingGraph; got "
                f"{shorten(graph)} for the action {shorten(action)} in state {shorten(state)}."
            )
        if self.roles:
            graph = graph.changed(roles=self.roles)
        if self.has_facts:
            graph = with_changes(graph, self.facts(state), self.facts(after))
        return graph

    @property
    def has_facts(self) -> bool:
        """Whether the environment defines `facts`."""
        return hasattr(self.environment, "facts")

    def facts(self, state: State) -> Facts:
        """Return the facts that hold in a state."""
        known = self._of(state)
        if known.facts is None:
            known.facts = frozenset(labels_of(self._ask("facts", state), "the state"))
            self._answers.grow(200 + 100 * len(known.facts))
        return known.facts

    @property
    def has_things(self) -> bool:
        """Whether the environment lists the things of a state."""
        return callable(getattr(self.environment, "things", None))

    def scene(self, state: State) -> Scene:
        """Return the things of a state, with derived ranks and relations."""
        known = self._of(state)
        if known.scene is None and self._latest_scene[0] is known:
            return self._latest_scene[1]
        if known.scene is None:
            things = self._ask("things", state)
            if not isinstance(things, Mapping):
                raise WorldError(
                    f"{self._call('things', (state,))} must return labels for each thing; got "
                    f"{shorten(things)}."
                )
            scene = Scene(things)
            self._latest_scene = known, scene
            if not self.keep_graphs:
                return scene
            known.scene = scene
            self._answers.grow(1000 + 2000 * len(things))
        return known.scene

    # ---- environments that change -------------------------------------------------------

    def forget(self) -> None:
        """Clear the cache; call this method when the environment has changed."""
        self.generation += 1
        self._answers.clear()
        self._latest, self._latest_graphs = None, (None, {})
        self._latest_scene = (None, Scene({}))

    def drop_graphs(self) -> None:
        """Drop all cached graphs; from now on, cache only those of the latest state."""
        self.keep_graphs, self.on_step = False, None
        for answers in self._answers.values():
            answers.graphs, answers.scene = {}, None

    def notice(self, start: State) -> bool:
        """Check whether the environment has changed and, if so, clear the cache.

        Returns True if the environment has changed. Only the actions of one state, and the results
        of its first and its last action, are compared. This is cheap and finds most changes, but
        not all.
        """
        known = self._known(start)
        if known is None or known.actions is None:
            return False
        now = self._offered(start)
        changed = not equal(known.actions, now)
        for action in () if changed else _ends(now):
            before, seen = known.steps.get(action), known.seen.get(action)
            if before is None and seen is None:
                continue
            after = self._ask("step", start, action)
            changed = changed or (before is not None and not equal(before, after))
            if seen is not None and not changed:
                changed = seen != hash(self._grounded(start, action, after))
        if changed:
            self.forget()
        return changed

    # ---- optional methods ---------------------------------------------------------------

    def is_terminal(self, state: State) -> bool:
        """Return whether a state is terminal: no action may follow it."""
        return hasattr(self.environment, "is_terminal") and self._truth("is_terminal", state)

    @property
    def has_goal(self) -> bool:
        """Whether the environment defines `is_goal`."""
        return hasattr(self.environment, "is_goal")

    def is_goal(self, state: State) -> bool:
        """Return whether a plan may end in a state; always True without a goal test."""
        return not self.has_goal or self._truth("is_goal", state)

    @property
    def has_dead_ends(self) -> bool:
        """Whether the environment has a goal test and a dead-end test."""
        return self.has_goal and hasattr(self.environment, "is_dead_end")

    def is_dead_end(self, state: State) -> bool:
        """Return whether a state is a known dead end, from which no goal can be reached."""
        if not self.has_dead_ends:
            return False
        known = self._of(state)
        if known.dead_end is None:
            known.dead_end = self._truth("is_dead_end", state)
        return known.dead_end

    def outcome(self, state: State) -> Hashable:
        """Return the part of a final state that counts as the result."""
        if hasattr(self.environment, "outcome"):
            result: Hashable = self._hashable(self._ask("outcome", state), "outcome", state)
            return result
        return state

    @property
    def has_outcome(self) -> bool:
        """Whether the environment defines `outcome`."""
        return hasattr(self.environment, "outcome")

    @property
    def labels_follow_text(self) -> bool:
        """Whether graphs contain only labels that the text mentions."""
        return bool(getattr(self.environment, "labels_follow_text", False))

    @property
    def presumed_slots(self) -> tuple[str, ...]:
        """Slots that followers always use, as declared by the environment."""
        return tuple(getattr(self.environment, "presumed_slots", ()))

    @property
    def follower_settings(self) -> Mapping[str, Any]:
        """Follower settings that the environment declares; empty by default."""
        found: Any = getattr(self.environment, "follower_settings", None)
        return {} if found is None else found

    def extra_length(self, start: State) -> int:
        """Return by how many actions plans from a state may exceed the maximum length."""
        if not hasattr(self.environment, "extra_length"):
            return 0
        answer = self._ask("extra_length", start)
        try:
            extra = operator.index(answer)
        except TypeError:
            extra = -1
        if not 0 <= extra <= EXTRA_LENGTH.most:
            raise WorldError(
                f"{self._call('extra_length', (start,))} must return a whole number between 0 and "
                f"{EXTRA_LENGTH.most:,}; got {shorten(answer)}. {EXTRA_LENGTH.advice}"
            )
        return extra

    def label_plan(self, start: State, actions: Sequence[Action], states: Sequence[State]) -> Any:
        """Return the labels of a whole plan; empty if the environment defines none."""
        own: Any = {}
        if hasattr(self.environment, "label_plan"):
            own = self._ask("label_plan", start, tuple(actions), tuple(states))
        if not self.has_facts:
            return own
        changes = label_changes([self.facts(state) for state in states])
        return (*labels_of(own, "the plan"), *labels_of(changes))

    def canonical_plan(self, start: State, actions: Iterable[Action]) -> tuple[Action, ...]:
        """Return the canonical form of a plan; the plan itself by default."""
        plan = tuple(actions)
        if hasattr(self.environment, "canonical_plan"):
            return tuple(self._ask("canonical_plan", start, plan, listed=True))
        return plan

    def mirror(self, demonstration: Demonstration) -> Iterable[Demonstration]:
        """Return equally valid variants of a demonstration; empty by default."""
        if hasattr(self.environment, "mirror"):
            return tuple(self._ask("mirror", demonstration, listed=True))
        return ()

    def describe(self, state: State) -> str:
        """Return a one-line description of a state."""
        if hasattr(self.environment, "describe"):
            return str(self._ask("describe", state))
        return str(state)

    def carry_out(
        self, start: State, actions: Iterable[Action], where: str = "The plan"
    ) -> tuple[State, ...]:
        """Return the states of a plan; raise `DemonstrationError` if it is impossible."""
        states, plan = [start], tuple(actions)
        for number, action in enumerate(plan, 1):
            possible = self.actions(states[-1])
            if not among(action, possible) and not (
                self.open_values and not self.is_bound and fills(action, possible)
            ):
                told = impossible(number, plan, states[-1], possible)
                raise DemonstrationError(f"{where}: {told}")
            states.append(self.step(states[-1], action))
        return tuple(states)

    def trace(self, start: State, actions: Iterable[Action], where: str = "The plan") -> Trajectory:
        """Carry out and ground a plan; raise `DemonstrationError` if it is impossible."""
        done = tuple(actions)
        states = self.carry_out(start, done, where)
        graphs = tuple(map(self.ground, states, done))
        return Trajectory(states, done, graphs)


def _ends(actions: Sequence[Action]) -> Sequence[Action]:
    """Return the first and the last action, which `notice` checks for changes."""
    return (actions[0], actions[-1]) if len(actions) > 1 else actions


class EnvironmentCache:
    """A store of cached environments, keyed by the identity of the original ones.

    The caches share one memory budget. Environments with an empty cache are dropped after the
    budget was exceeded, and the oldest ones if there are more than `most`. Call `forget` for an
    environment that has changed.

    >>> class Lamp:
    ...     lit = ("on",)
    ...     def actions(self, state): return self.lit
    >>> lamp, worlds = Lamp(), EnvironmentCache()
    >>> worlds.of(lamp) is worlds.of(lamp), worlds.of(lamp).actions("dark")
    (True, ('on',))
    >>> lamp.lit = ("on", "bright")
    >>> worlds.forget(lamp)
    >>> worlds.of(lamp).actions("dark")
    ('on', 'bright')
    """

    def __init__(
        self, budget: CacheBudget | None = None, most: int = 1000, *, keep_graphs: bool = True
    ) -> None:
        self.keep_graphs = keep_graphs
        self.budget = CacheBudget() if budget is None else budget
        self.most = most
        self.on_step: Callable[[], object] | None = None  # called when an environment steps
        self._worlds: dict[int, CachedEnvironment] = {}
        self._shrunk = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "on_step": None}

    def of(self, environment: Environment | CachedEnvironment) -> CachedEnvironment:
        """Return the cached version of an environment, one for each object."""
        asked = (
            environment.environment if isinstance(environment, CachedEnvironment) else environment
        )
        known = self._worlds.get(id(asked))
        # Ids are reused, and copies of this cache have other ids, so compare the objects too.
        if known is None or known.environment is not asked:
            if isinstance(environment, CachedEnvironment):
                known = environment
            else:
                known = CachedEnvironment(environment, self.budget, keep_graphs=self.keep_graphs)
                known.on_step = self.on_step
            self._let_go()
            self._worlds[id(asked)] = known
        return known

    def _let_go(self) -> None:
        """Make room for one more environment: drop empty caches first, then the oldest."""
        if self._shrunk != self.budget.shrunk:
            self._shrunk = self.budget.shrunk
            self._worlds = {key: each for key, each in list(self._worlds.items())
                            if not each.is_blank}  # fmt: skip
        while len(self._worlds) >= self.most:
            self._worlds.pop(next(iter(self._worlds)), None)

    def drop_graphs(self) -> None:
        """Drop all cached graphs; from now on, cache only those of the latest states."""
        self.keep_graphs, self.on_step = False, None
        for known in self._worlds.values():
            known.drop_graphs()

    def forget_all(self) -> None:
        """Clear the caches of all environments, which may have changed."""
        for known in self._worlds.values():
            known.forget()

    def forget(self, environment: Environment) -> None:
        """Clear the cache of an environment that has changed."""
        known = self._worlds.get(id(environment))
        if known is not None and known.environment is environment:
            known.forget()
