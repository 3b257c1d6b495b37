"""Whole routes of several sentences: reading, training and evaluation.

`groundling evaluate mazes --preset routes` evaluates all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from groundling.answers import score_plans
from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.follower import Follower
from groundling.inference.plan_space import ActionNames
from groundling.language.instruction import Instruction
from groundling.language.parser import load_parser
from groundling.tasks.benchmark import Outcome
from groundling.tasks.mazes.actions import STAY, MazeAction, MazeState, canonical
from groundling.tasks.mazes.corpus import Sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import Position
from groundling.tasks.mazes.maze_presets import MazePreset, prepare_sentences, units
from groundling.tasks.mazes.plans import Pose, actions_of, plans_within, poses_of
from groundling.tasks.presets import Preset, Presets
from groundling.ties import at_least, rank
from groundling.world.composition import compose
from groundling.world.environment import Demonstration, State
from groundling.world.trajectory import Trajectory

Reals = NDArray[np.float64]
Integers = NDArray[np.int32]
Answer = Sequence[tuple[Sequence[Trajectory], Reals]]
_TOGETHER = 16  # number of routes per batch


@dataclass(frozen=True)
class Paragraph:
    """A whole route: its sentences and the demonstrated path.

    `texts` are the parsed sentences. `destination` is the intended destination, which is not
    always the end of the path.

    Examples
    --------
    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, move
    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> world = MazeEnvironment(maze)
    >>> texts = ((Instruction.chain("walk on"),),)
    >>> Paragraph("1", world, world.start((0, 0), 90), texts=texts, actions=(move(1),)).end
    (1, 0)
    """

    name: str
    environment: MazeEnvironment
    start: MazeState
    texts: tuple[tuple[Instruction, ...], ...]
    actions: tuple[MazeAction, ...]
    destination: Position | None = None

    def way(self) -> list[Pose]:
        """Return the poses of the demonstrated path, one after each step and turn."""
        return poses_of(self.environment.maze, Pose(*self.start[:2]), self.actions)

    @property
    def end(self) -> Position:
        """Final position of the demonstrated path."""
        return self.way()[-1].position


@dataclass(frozen=True)
class Arcs:
    """Plans of one sentence, as scored arcs from initial to final states.

    `source` and `target` have the indices of each arc's initial state in `before` and of its final
    state in `after`.

    Examples
    --------
    >>> one, two = MazeState((0, 0), 0), MazeState((0, 0), 90)
    >>> arcs = Arcs(
    ...     before=(one,), after=(one, two),
    ...     source=np.array([0, 0]), target=np.array([0, 1]), scores=np.zeros(2),
    ... )
    >>> arcs.evidence()
    array([0.69314718])
    """

    before: tuple[MazeState, ...]
    after: tuple[MazeState, ...]
    source: Integers
    target: Integers
    scores: Reals

    def evidence(self) -> Reals:
        """Return the evidence of the sentence for each initial state: log Σ exp(score)."""
        return _log_sums(self.scores, self.source, len(self.before))

    def weights(self, power: float) -> Reals:
        """Return each arc's weight: log p(plan | sentence, state) + power · evidence."""
        return np.asarray(self.scores + (power - 1.0) * self.evidence()[self.source])


def _log_sums(values: Reals, place: Integers, count: int) -> Reals:
    """Return log Σ exp(value) over all values that belong to each of `count` places."""
    top = np.full(count, -np.inf)
    np.maximum.at(top, place, values)
    shift = np.where(np.isfinite(top), top, 0.0)
    sums = np.bincount(place, weights=np.exp(values - shift[place]), minlength=count)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums) + shift)


def act_at_once(follower: Follower, routes: Sequence[Paragraph]) -> list[MazeState]:
    """Return the final state of each route if the agent acts after every sentence."""
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
    """Yield, for each route, the scored arcs of its sentences.

    Without a `beam`, all states that plans reach are kept, so the result is exact. With a `beam`,
    only that number of the most probable states is kept after each sentence, without regard to
    later sentences.
    """
    if beam is not None and beam < 1:
        raise SettingError(f"`beam` must be at least 1, or None for all states; got {beam}.")
    for first in range(0, len(routes), _TOGETHER):
        yield from _read(follower, routes[first : first + _TOGETHER], beam)


def _read(follower: Follower, routes: Sequence[Paragraph], beam: int | None) -> list[list[Arcs]]:
    found: list[list[Arcs]] = [[] for _ in routes]
    mass: list[dict[MazeState, float]] = [{each.start: 0.0} for each in routes]
    for number in range(max(len(each.texts) for each in routes)):
        going = [place for place, each in enumerate(routes) if number < len(each.texts)]
        answers = score_plans(
            follower.learnt_,
            (
                (routes[place].texts[number], routes[place].environment, tuple(mass[place]))
                for place in going
            ),
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
    number: dict[State, int] = {}  # index of each final state
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
    """Return the probability of each final position, most probable first.

    A path has the probability ∏ p(plan | sentence, state) · Z(sentence, state)^power. If `power` is
    above zero, each sentence is evidence against states that do not match it.

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
    """Return the most probable split of a path into sentences (Viterbi).

    `places` are the states along the path. Returns the index of the place before the first
    sentence (0) and after each sentence, or None if no plans for the sentences follow the path to
    its end.

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
                    else:  # of equal scores, the earlier place wins
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
    """Return one demonstration for each sentence of the demonstrated routes.

    The follower determines the most probable boundaries. Without a follower, or if its plans do
    not follow the path, each sentence gets an equal share of the path.
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
    answers = score_plans(follower.learnt_, ((text, world, before) for text in route.texts))
    return best_way([_arcs(world, before, answer) for answer in answers], places)


NEAR = 4  # maximum distance of negative starts from an unknown start, in places


def add_negative_starts(
    demonstrations: Sequence[Demonstration],
    *,
    misread: int = 0,
    elsewhere: int = 0,
    alone: float = 0.0,
    seed: int = 0,
) -> list[Demonstration]:
    """Return demonstrations with negative starts in the same maze.

    Negative starts are states in which the sentence should not be carried out. If the orientation
    is known, there are `misread` of them: states that the agent would reach by misunderstanding the
    previous sentence. A copy without negative starts gets the share `alone` of the weight. If the
    orientation is unknown, the negative starts are `elsewhere` nearby places, also without an
    orientation. Sentences that demonstrate `stay` get none, because most of them are also true
    elsewhere.

    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, face
    >>> halls = [((0, 0), (1, 0), "wood", "fish")]
    >>> world = MazeEnvironment(Maze("Two", {(0, 0): "", (1, 0): ""}, halls))
    >>> shown = Demonstration("look along the hall", world, world.start((0, 0)), (face(90),))
    >>> made = add_negative_starts([shown], elsewhere=2, alone=0.25)
    >>> [(each.weight, [state.position for state in each.negative_starts]) for each in made]
    [(0.25, []), (0.75, [(1, 0)])]
    """
    before = _starts_before(demonstrations)
    found = []
    for place, each in enumerate(demonstrations):
        start, world = _place(each)
        pool: list[MazeState] = []
        count = misread
        if each.actions == (STAY,):
            pass
        elif start.orientation is None:
            pool, count = _near(world, start), elsewhere
        elif (each.group, start) in before:
            pool = _ends(world, before[each.group, start])
        pool = [state for state in pool if state != start]
        order = np.random.default_rng([seed, place]).permutation(len(pool))
        starts = tuple(pool[number] for number in order[:count].tolist())
        if starts and alone:
            found.append(each.weighted(alone * each.weight))
        share = 1 - alone if starts else 1.0
        found.append(replace(each, negative_starts=starts, weight=share * each.weight))
    return found


def _place(demonstration: Demonstration) -> tuple[MazeState, MazeEnvironment]:
    start, world = demonstration.start, demonstration.environment
    assert isinstance(start, MazeState)
    assert isinstance(world, MazeEnvironment)
    return start, world


def _starts_before(
    demonstrations: Sequence[Demonstration],
) -> dict[tuple[str, MazeState], MazeState]:
    """Return the start of each sentence by the sentence's group and final state."""
    found: dict[tuple[str, MazeState], MazeState] = {}
    for each in demonstrations:
        start, world = _place(each)
        end = start
        for action in each.actions:
            end = world.step(end, action)
        if world.restart(end) != start:
            found.setdefault((each.group, world.restart(end)), start)
    return found


def _ends(world: MazeEnvironment, start: MazeState) -> list[MazeState]:
    """Return the final states of all plans from a start, without unknown orientations."""
    length = 3 + world.extra_length(start)
    ends = dict.fromkeys(world.restart(end) for _, end in plans_within(world, start, length))
    return [end for end in ends if end.orientation is not None]


def _near(world: MazeEnvironment, start: MazeState) -> list[MazeState]:
    """Return initial states without an orientation at the places near a start."""
    x, y = start.position
    return [
        world.start(position)
        for position in world.maze.positions
        if 0 < abs(position[0] - x) + abs(position[1] - y) <= NEAR
    ]


ROUGH = 15  # training iterations in all rounds but the last


@dataclass(frozen=True)
class RouteData:
    """Demonstrations of one map: single and dropped sentences, and whole routes."""

    sentences: list[Demonstration]
    dropped: list[Demonstration]
    paragraphs: list[Paragraph]


def prepare_routes(chosen: MazePreset, sail: Sail) -> dict[str, RouteData]:
    """Return the training data of each map for a preset."""
    without = {name: replace(each, sentences=each.dropped) for name, each in sail.mazes.items()}
    singles = prepare_sentences(chosen, sail)
    dropped = prepare_sentences(chosen, Sail(without, sail.report))
    parser = load_parser(chosen.parser)
    found = {}
    for name, corpus in sail.mazes.items():
        # Share one environment per map, so that its graphs are computed once.
        world = MazeEnvironment(corpus.environment.maze, **chosen.environment)
        texts = iter(
            parser.parse_many(
                [str(text) for each in corpus.paragraphs for text in each.instructions]
            )
        )
        found[name] = RouteData(
            [replace(each, environment=world) for each in singles[name]],
            [replace(each, environment=world) for each in dropped[name]],
            [
                Paragraph(
                    each.name,
                    world,
                    cast(MazeState, each.start),
                    tuple(units(chosen, next(texts)) for _ in each.instructions),
                    cast(tuple[MazeAction, ...], each.actions),
                    corpus.destinations.get(each.name),
                )
                for each in corpus.paragraphs
            ],
        )
    return found


@dataclass(frozen=True)
class RouteTraining:
    """Settings for training a follower of whole routes.

    Parameters
    ----------
    sentences
        Train on single sentences.
    dropped
        Also train on sentences that are missing from the single sentences, as `stay`.
    rounds
        Number of rounds of training on paragraphs only. Each round splits the paths into sentences
        with the follower of the previous round (the first round: into equal shares), and trains
        on the result.
    misread, elsewhere, alone
        Parameters of `add_negative_starts`.
    composed
        The weight of composed demonstrations (see `compose`), which have no negative starts.
    """

    sentences: bool = True
    dropped: bool = False
    rounds: int = 0
    misread: int = 0
    elsewhere: int = 0
    alone: float = 0.0
    composed: float = 0.0


COMPOSED = "single sentences and paragraphs, rival starts, composed"
TRAINING = {
    "single sentences": RouteTraining(),
    "single sentences and paragraphs": RouteTraining(dropped=True),
    "single sentences and paragraphs, rival starts": RouteTraining(
        dropped=True, misread=6, elsewhere=3, alone=0.5
    ),
    COMPOSED: RouteTraining(dropped=True, misread=6, elsewhere=3, alone=0.5, composed=0.5),
    "paragraphs alone, rival starts": RouteTraining(
        sentences=False, rounds=4, misread=6, elsewhere=3, alone=0.5
    ),
}


def train_routes(
    chosen: MazePreset, data: Sequence[RouteData], training: RouteTraining
) -> Follower:
    """Return a follower trained on the routes of some maps."""
    # Compose here, before negative starts duplicate demonstrations.
    chosen = replace(chosen, learning=replace(chosen.learning, composed=0.0))
    if not training.rounds:
        shown = [each for found in data for each in found.sentences]
        if training.dropped:
            shown += [each for found in data for each in found.dropped]
        return _fit(chosen, shown, training)
    rough = min(ROUGH, chosen.learning.iterations)
    first = replace(chosen, learning=replace(chosen.learning, iterations=rough))
    routes = [route for each in data for route in each.paragraphs]
    follower = None
    for _ in range(training.rounds - 1):
        follower = first.follower().fit(segment(follower, routes), check=False)
    return _fit(chosen, segment(follower, routes), training)


def _fit(chosen: MazePreset, shown: Sequence[Demonstration], training: RouteTraining) -> Follower:
    longer: list[Demonstration] = []
    if training.composed:
        longer = compose(
            shown, weight=training.composed, max_length=chosen.search.longest, parser=chosen.parser
        )
    with_rivals = add_negative_starts(
        shown, misread=training.misread, elsewhere=training.elsewhere, alone=training.alone
    )
    return chosen.follower().fit([*with_rivals, *longer], check=False)


ROUTES = "routes"
AT_ONCE = "at once"
READ_FIRST = "read first"
EVIDENCE = "read first, evidence"
READINGS = (AT_ONCE, READ_FIRST, EVIDENCE)


@dataclass(frozen=True, kw_only=True)
class RoutePreset(MazePreset):
    """Preset for whole routes: settings, training data, and how routes are read.

    There are three ways of reading. *At once*: the agent acts on each sentence before it reads the
    next. *Read first*: all states are kept until the text ends. *Read first, evidence*: in
    addition, later sentences are evidence against wrong earlier states.
    """

    training: RouteTraining = field(default_factory=RouteTraining)
    reading: str = AT_ONCE

    def learns_like(self, other: Preset) -> bool:
        """Return whether only `reading` differs, so that presets can share training."""
        return isinstance(other, RoutePreset) and replace(self, reading=other.reading) == other


def with_routes(presets: Presets[MazePreset]) -> Presets[MazePreset]:
    """Return the presets with another one, `routes`, for following whole routes.

    Most of its rows use the single model of the *tree* row of `best`. The *two members* rows use
    the ensemble of `best` instead.

    >>> from groundling.tasks.mazes.maze_presets import PRESETS
    >>> made = with_routes(PRESETS)
    >>> made.variants_of("routes")[:2]
    ('single sentences: at once', 'single sentences: read first')
    >>> [len(group) for group in made.group("routes", made.variants_of("routes"))]
    [3, 3, 3, 3, 3, 3]
    """
    tree, best = presets.select("best", "tree"), presets.select("best")
    first = RoutePreset(**{each.name: getattr(tree, each.name) for each in fields(tree)})
    models = {}
    for name, training in TRAINING.items():
        models[name] = training, tree.model
        if name == COMPOSED:
            models[f"{name}, two members"] = training, best.model
    rows = {
        f"{name}: {reading}": replace(first, training=training, model=model, reading=reading)
        for name, (training, model) in models.items()
        for reading in READINGS
    }
    return Presets(presets.task, {**presets.rows, ROUTES: rows})


POWERS = (0.0, 0.2, 0.5, 0.7, 1.0, 1.3)
_BEAM = 20  # number of states kept while choosing the weight of evidence


def route_row(name: str, chosen: RoutePreset, outcomes: Sequence[Outcome]) -> Row:
    """Return the row of results for all maps.

    For each route, `right` is 1 if the predicted end is that of the demonstrated path, and `meant`
    is 1 if it is the intended destination.

    >>> scores = [("A", {"right": 1.0, "meant": 1.0}), ("A", {"right": 0.0, "meant": 1.0})]
    >>> done = {"maze": "A", "scores": scores, "power": 0.5, "sentences": 0.7}
    >>> found = route_row("single sentences: at once", RoutePreset(), [done])
    >>> found.metrics["micro"], found.metrics["micro, attribute end"]
    (0.5, 1.0)
    """
    every = [score for each in outcomes for _, score in each["scores"]]
    rights = [score["right"] for score in every]
    per_map = {
        each["maze"]: _share([score["right"] for _, score in each["scores"]]) for each in outcomes
    }
    metrics = {
        "macro": _share(list(per_map.values())),
        "micro": _share(rights),
        **per_map,
        "micro, attribute end": _share([score["meant"] for score in every]),
        "single sentences, macro": _share([each["sentences"] for each in outcomes]),
    }
    powers = ", ".join(f"{each['maze']} {each['power']:g}" for each in outcomes)
    note = f"weight of evidence: {powers}" if chosen.reading == EVIDENCE else ""
    return Row(name, metrics, bootstrap(rights, _share), note=note)


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def choose_power(chosen: MazePreset, data: dict[str, RouteData], training: RouteTraining) -> float:
    """Choose the weight of the evidence by cross-validation over the training maps.

    Each map is held out in turn, and a follower trained on the other maps reads its routes. A few
    hundred routes cannot distinguish similar weights, so the accuracy of each weight is averaged
    with those of the neighbouring weights.
    """
    right = dict.fromkeys(POWERS, 0)
    for left_out, held_out in data.items():
        others = [each for name, each in data.items() if name != left_out]
        follower = train_routes(chosen, others, training)
        read = read_routes(follower, held_out.paragraphs, beam=_BEAM)
        for route, arcs in zip(held_out.paragraphs, read, strict=True):
            for power in POWERS:
                right[power] += next(iter(forecast(arcs, power))) == route.end
    count = sum(len(each.paragraphs) for each in data.values())
    return _smoothest({power: found / count for power, found in right.items()})


def _smoothest(tried: dict[float, float]) -> float:
    """Return the weight with the best accuracy, averaged over neighbouring weights."""
    shares = list(tried.values())
    padded = [shares[0], *shares, shares[-1]]
    means = [sum(padded[place : place + 3]) for place in range(len(shares))]
    return list(tried)[means.index(max(means))]


def leave_out_routes(
    chosen: MazePreset, data: dict[str, RouteData], left_out: str, training: RouteTraining
) -> dict[str, Outcome]:
    """Train on all maps but one; return the outcome on its routes for each reading."""
    if len(data) < 3:
        raise SettingError(
            f"The evaluation of routes must have at least three maps; got {len(data)}. One "
            "map is held out, and another is used to choose the weight of evidence. Add "
            "maps."
        )
    inside = {name: each for name, each in data.items() if name != left_out}
    power = choose_power(chosen, inside, training)
    follower = train_routes(chosen, list(inside.values()), training)
    routes = data[left_out].paragraphs
    read = list(read_routes(follower, routes))
    ends = {
        AT_ONCE: [state.position for state in act_at_once(follower, routes)],
        READ_FIRST: [next(iter(forecast(arcs))) for arcs in read],
        EVIDENCE: [next(iter(forecast(arcs, power))) for arcs in read],
    }
    sentences = follower.score(data[left_out].sentences)
    found: dict[str, Outcome] = {}
    for reading, reached in ends.items():
        scores = [
            (left_out, {
                "right": float(end == route.end),
                "meant": float(end == (route.destination or route.end)),
            })
            for end, route in zip(reached, routes, strict=True)
        ]  # fmt: skip
        found[reading] = {
            "maze": left_out, "scores": scores, "power": power, "sentences": sentences
        }  # fmt: skip
    return found
