"""Whole routes: act on each sentence before reading the next, or read the whole text first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundling.errors import SettingError
from groundling.follower import Follower
from groundling.inference.plan_space import ActionNames
from groundling.language.instruction import Instruction
from groundling.tasks.mazes.actions import MazeAction, MazeState, canonical
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import Position
from groundling.tasks.mazes.plans import Pose, actions_of, poses_of
from groundling.ties import at_least, rank
from groundling.world.environment import Demonstration, State
from groundling.world.trajectory import Trajectory

Reals = NDArray[np.float64]
Integers = NDArray[np.int32]
Answer = Sequence[tuple[Sequence[Trajectory], Reals]]
_TOGETHER = 16  # routes read side by side


@dataclass(frozen=True)
class Paragraph:
    """A whole route as it was told and walked.

    `texts` are its sentences, each as the parser read it; `destination` is where the
    speaker meant to lead, which is not always where the demonstrated way ends.

    Examples
    --------
    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, move
    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> world = MazeEnvironment(maze)
    >>> told = ((Instruction.chain("walk on"),),)
    >>> Paragraph("1", world, world.start((0, 0), 90), told, (move(1),)).end
    (1, 0)
    """

    name: str
    environment: MazeEnvironment
    start: MazeState
    texts: tuple[tuple[Instruction, ...], ...]
    actions: tuple[MazeAction, ...]
    destination: Position | None = None

    def way(self) -> list[Pose]:
        """Return every pose of the demonstrated way, one for each single step and turn."""
        return poses_of(self.environment.maze, Pose(*self.start[:2]), self.actions)

    @property
    def end(self) -> Position:
        """The position where the demonstrated way ends."""
        return self.way()[-1].position


@dataclass(frozen=True)
class Arcs:
    """One sentence in a route: its plans as scored arcs from the states before to those after.

    Examples
    --------
    >>> one, two = MazeState((0, 0), 0), MazeState((0, 0), 90)
    >>> arcs = Arcs((one,), (one, two), np.array([0, 0]), np.array([0, 1]), np.zeros(2))
    >>> arcs.evidence()
    array([0.69314718])
    """

    before: tuple[MazeState, ...]
    after: tuple[MazeState, ...]
    source: Integers
    target: Integers
    scores: Reals

    def evidence(self) -> Reals:
        """Return for each state before how well the sentence fits there: log Σ exp(score)."""
        return _log_sums(self.scores, self.source, len(self.before))

    def weights(self, power: float) -> Reals:
        """Return log p(plan | sentence, state) + power · evidence(state) for each arc."""
        return np.asarray(self.scores + (power - 1.0) * self.evidence()[self.source])


def _log_sums(values: Reals, place: Integers, count: int) -> Reals:
    """Return log Σ exp(value) by place."""
    top = np.full(count, -np.inf)
    np.maximum.at(top, place, values)
    shift = np.where(np.isfinite(top), top, 0.0)
    sums = np.bincount(place, weights=np.exp(values - shift[place]), minlength=count)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums) + shift)


def act_at_once(follower: Follower, routes: Sequence[Paragraph]) -> list[MazeState]:
    """Act on each sentence before the next is read; return where each route then ends."""
    states = [each.start for each in routes]
    for number in range(max((len(each.texts) for each in routes), default=0)):
        going = [place for place, each in enumerate(routes) if number < len(each.texts)]
        plans = follower.follow_many(
            (routes[place].texts[number], routes[place].environment, states[place])
            for place in going
        )
        for place, plan in zip(going, plans, strict=True):
            assert isinstance(plan.end, MazeState)
            states[place] = routes[place].environment.restart(plan.end)
    return states


def read_routes(
    follower: Follower, routes: Sequence[Paragraph], *, beam: int | None = None
) -> Iterator[list[Arcs]]:
    """Read whole routes: for each, the scored arcs of each of its sentences.

    Every state that some plans lead to is kept: the reading is exact. With a `beam`, at
    most so many states are kept after each sentence, the most probable by the plain model.
    """
    if beam is not None and beam < 1:
        raise SettingError(f"The beam of routes is at least 1, or None for all, not {beam}.")
    for first in range(0, len(routes), _TOGETHER):
        yield from _read(follower, routes[first : first + _TOGETHER], beam)


def _read(follower: Follower, routes: Sequence[Paragraph], beam: int | None) -> list[list[Arcs]]:
    found: list[list[Arcs]] = [[] for _ in routes]
    mass: list[dict[MazeState, float]] = [{each.start: 0.0} for each in routes]
    for number in range(max(len(each.texts) for each in routes)):
        going = [place for place, each in enumerate(routes) if number < len(each.texts)]
        answers = follower.score_plans(
            (routes[place].texts[number], routes[place].environment, tuple(mass[place]))
            for place in going
        )
        for place, answer in zip(going, answers, strict=True):
            arcs = _arcs(routes[place].environment, tuple(mass[place]), answer)
            found[place].append(arcs)
            if beam is None:
                mass[place] = dict.fromkeys(arcs.after, 0.0)
                continue
            logs = np.array(list(mass[place].values()))[arcs.source] + arcs.weights(1.0)
            sums = _log_sums(logs, arcs.target, len(arcs.after))
            names = [ActionNames()(each) for each in arcs.after]
            kept = rank(sums, names.__getitem__, beam)[:beam]
            mass[place] = {arcs.after[each]: float(sums[each]) for each in kept}
    return found


def _arcs(world: MazeEnvironment, before: tuple[MazeState, ...], answer: Answer) -> Arcs:
    after: dict[MazeState, int] = {}
    number: dict[State, int] = {}  # of a state in which plans end
    source, target, scores = [], [], []
    for place, (plans, values) in enumerate(answer):
        source.append(np.full(len(plans), place, np.int32))
        for plan in plans:
            end = plan.states[-1]
            if end not in number:
                assert isinstance(end, MazeState)
                number[end] = after.setdefault(world.restart(end), len(after))
            target.append(number[end])
        scores.append(values)
    return Arcs(
        before,
        tuple(after),
        np.concatenate(source),
        np.array(target, np.int32),
        np.concatenate(scores),
    )


def forecast(route: Sequence[Arcs], power: float = 0.0) -> dict[Position, float]:
    """Return the probability of each final position, summed over all ways through a route.

    The most probable comes first. Each way has the probability
    ∏ p(plan | sentence, state) · Z(sentence, state)^power: with a power above zero, a
    sentence speaks against states in which it makes no sense.

    >>> here, there = MazeState((0, 0), 0), MazeState((1, 0), 0)
    >>> first = Arcs((here,), (here, there), np.array([0, 0]), np.array([0, 1]), np.zeros(2))
    >>> scores = np.array([0.0, np.log(3)])  # the second sentence makes more sense over there
    >>> second = Arcs((here, there), (here, there), np.array([0, 1]), np.array([0, 1]), scores)
    >>> round(forecast([first, second])[1, 0], 2)
    0.5
    >>> round(forecast([first, second], power=1.0)[1, 0], 2)
    0.75
    """
    mass = {route[0].before[0]: 0.0}
    for arcs in route:
        here = np.array([mass.get(state, -np.inf) for state in arcs.before])
        logs = here[arcs.source] + arcs.weights(power)
        sums = _log_sums(logs, arcs.target, len(arcs.after))
        mass = dict(zip(arcs.after, sums.tolist(), strict=True))
    values = np.array(list(mass.values()))
    chances = np.exp(values - np.logaddexp.reduce(values))
    ends: dict[Position, float] = {}
    for state, chance in zip(mass, chances.tolist(), strict=True):
        ends[state.position] = ends.get(state.position, 0.0) + chance
    listed = list(ends.items())
    order = rank(np.array([chance for _, chance in listed]), lambda place: listed[place][0])
    return dict(listed[place] for place in order)


def best_way(
    route: Sequence[Arcs], places: Sequence[MazeState], power: float = 0.0
) -> list[int] | None:
    """Cut a way, given by its places, at the ends of sentences as is most probable (Viterbi).

    Returns the number of the place before the first sentence (0) and after each; nothing
    if no plans of the sentences follow the way to its end.

    >>> here, there = MazeState((0, 0), 0), MazeState((1, 0), 0)
    >>> walk = Arcs((here, there), (there,), np.array([0, 1]), np.array([0, 0]), np.zeros(2))
    >>> best_way([walk], [here, there])
    [0, 1]
    """
    numbers: dict[MazeState, list[int]] = {}
    for number, place in enumerate(places):
        numbers.setdefault(place, []).append(number)
    best = np.full(len(places), -np.inf)
    best[0] = 0.0
    came: list[Integers] = []
    for arcs in route:
        reached, source = np.full(len(places), -np.inf), np.zeros(len(places), np.int32)
        for one, two, weight in zip(
            arcs.source.tolist(), arcs.target.tolist(), arcs.weights(power).tolist(), strict=True
        ):
            for first in numbers.get(arcs.before[one], ()):
                for last in numbers.get(arcs.after[two], ()):
                    total = best[first] + weight
                    if last < first or not at_least(total, reached[last]):
                        continue
                    if not at_least(reached[last], total):
                        reached[last], source[last] = total, first
                    else:  # a tie: the earlier place
                        source[last] = min(source[last], first)
        best = reached
        came.append(source)
    if best[-1] == -np.inf:
        return None
    way = [len(places) - 1]
    for source in reversed(came):
        way.append(int(source[way[-1]]))
    return way[::-1]


def segment(follower: Follower | None, routes: Sequence[Paragraph]) -> list[Demonstration]:
    """Cut demonstrated routes into sentences with their part of the way.

    The cuts are those that the follower finds most probable; without a follower, or where
    its plans do not fit the way, each sentence gets an equal share of the way.
    """
    found = []
    for route in routes:
        world, way = route.environment, route.way()
        cuts = None if follower is None else _cuts(follower, route, way)
        if cuts is None:
            shares = np.linspace(0, len(way) - 1, len(route.texts) + 1)
            cuts = [int(share + 0.5) for share in shares]
        found += [
            Demonstration(
                text,
                world,
                world.start(*way[first]),
                canonical(actions_of(world.maze, way[first : last + 1])),
                name=f"{route.name}-{number}",
                group=route.name,
            )
            for number, (text, first, last) in enumerate(
                zip(route.texts, cuts, cuts[1:], strict=False), 1
            )
        ]
    return found


def _cuts(follower: Follower, route: Paragraph, way: Sequence[Pose]) -> list[int] | None:
    world = route.environment
    places = [world.start(*pose) for pose in way]
    before = tuple(dict.fromkeys(places))
    answers = follower.score_plans((text, world, before) for text in route.texts)
    return best_way([_arcs(world, before, answer) for answer in answers], places)
