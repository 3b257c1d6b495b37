"""The protocol of whole routes: training rows, rival starts, and the two ways of reading.

`python -m groundling.tasks.mazes.route_protocol CORPUS OUT.json` evaluates all rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from groundling import __version__
from groundling.errors import SettingError, did_you_mean
from groundling.evaluation.report import Report, Row, bootstrap
from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.corpus import Sail, load_sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import DIRECTIONS, Position
from groundling.tasks.mazes.plans import plans_within
from groundling.tasks.mazes.presets import Preset, preset
from groundling.tasks.mazes.protocol import prepare_sentences
from groundling.tasks.mazes.routes import (
    Paragraph,
    act_at_once,
    forecast,
    read_routes,
    segment,
)
from groundling.world.environment import Demonstration

__all__ = [
    "TRAINING", "RouteData", "RouteFold", "Training", "add_rivals", "choose_power",
    "evaluate_routes", "prepare_routes", "route_fold", "table_row", "train_routes",
]  # fmt: skip

NEAR = 4  # how far away rival starts are drawn from, in places
ROUGH = 15  # iterations of training in all rounds but the last
POWERS = (0.0, 0.2, 0.5, 0.7, 1.0, 1.3)


@dataclass(frozen=True)
class RouteData:
    """What there is to learn from in one map."""

    sentences: list[Demonstration]
    dropped: list[Demonstration]
    paragraphs: list[Paragraph]


def prepare_routes(chosen: Preset, sail: Sail) -> dict[str, RouteData]:
    """Return sentences, dropped sentences and whole routes of each map as a preset wants them."""
    singles = prepare_sentences(chosen, sail)
    dropped = prepare_sentences(
        chosen,
        Sail(
            {name: replace(each, sentences=each.dropped) for name, each in sail.mazes.items()},
            sail.report,
        ),
    )
    parser = load_parser(chosen.parser)
    found = {}
    for name, corpus in sail.mazes.items():
        # One environment for all: what it looks like is asked for once.
        world = MazeEnvironment(corpus.environment.maze, **chosen.environment)
        paragraphs = []
        texts = parser.parse_many(
            [str(text) for each in corpus.paragraphs for text in each.instructions]
        )
        waiting = iter(texts)
        for each in corpus.paragraphs:
            assert isinstance(each.start, MazeState)
            paragraphs.append(
                Paragraph(
                    each.name,
                    world,
                    each.start,
                    tuple(_split(chosen, next(waiting)) for _ in each.instructions),
                    each.actions,  # type: ignore[arg-type]
                    corpus.destinations.get(each.name),
                )
            )
        found[name] = RouteData(
            [replace(each, environment=world) for each in singles[name]],
            [replace(each, environment=world) for each in dropped[name]],
            paragraphs,
        )
    return found


def _split(chosen: Preset, parsed: Sequence[Instruction]) -> tuple[Instruction, ...]:
    if not chosen.split_commands:
        return tuple(parsed)
    return tuple(part for sentence in parsed for part in split_commands(sentence))


@dataclass(frozen=True)
class Training:
    """What a follower of routes learns from.

    Parameters
    ----------
    sentences
        Single sentences with what each asks for.
    dropped
        From the paragraphs: the sentences that the single ones leave out, as `stay`.
    rounds
        Paragraphs without the single sentences: how often to cut the demonstrated way at
        the ends of sentences as the follower of the round before finds best, and to learn
        from the parts (the first cuts are equal shares).
    turned, elsewhere
        Rival starts of each sentence: how many other orientations in the same place, and
        how many states in other places nearby.
    misread
        How many rival starts from misreading the sentence before.
    """

    sentences: bool = True
    dropped: bool = False
    rounds: int = 0
    turned: int = 0
    elsewhere: int = 0
    misread: int = 0


TRAINING = {
    "single sentences": Training(),
    "single sentences and paragraphs": Training(dropped=True),
    "single sentences and paragraphs, rival starts": Training(dropped=True, misread=6),
    "paragraphs alone, rival starts": Training(sentences=False, rounds=4, misread=6),
}


def add_rivals(
    demonstrations: Sequence[Demonstration],
    *,
    turned: int = 0,
    elsewhere: int = 0,
    misread: int = 0,
    seed: int = 0,
) -> list[Demonstration]:
    """Give each demonstration with a known start rival starts in the same maze.

    They are drawn from the other orientations in the same place (`turned`), from states in
    places nearby (`elsewhere`), and from the states in which the agent would be had it
    taken the sentence before for something else (`misread`).

    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, STAY
    >>> halls = [((0, 0), (1, 0), "wood", "fish")]
    >>> world = MazeEnvironment(Maze("Two", {(0, 0): "", (1, 0): ""}, halls))
    >>> shown = Demonstration("wait", world, world.start((0, 0), 90), (STAY,))
    >>> [made] = add_rivals([shown], turned=1, elsewhere=2)
    >>> len(made.rivals), sum(rival.position == (0, 0) for rival in made.rivals)
    (3, 1)
    """
    before = _starts_before(demonstrations)
    found = []
    for place, each in enumerate(demonstrations):
        start, world = _place(each)
        if start.orientation is None:
            found.append(each)
            continue
        random = np.random.default_rng([seed, place])
        x, y = start.position
        here = [world.start((x, y), d) for d in DIRECTIONS]
        near = [
            world.start(position, direction)
            for position in world.maze.positions
            if 0 < abs(position[0] - x) + abs(position[1] - y) <= NEAR
            for direction in DIRECTIONS
        ]
        previous = before.get((each.group, start))
        mistaken = [] if previous is None else _ends(world, previous)
        rivals: list[MazeState] = []
        for pool, count in ((here, turned), (near, elsewhere), (mistaken, misread)):
            left = [state for state in pool if state != start and state not in rivals]
            order = random.permutation(len(left)).tolist()
            rivals += [left[number] for number in order[:count]]
        found.append(replace(each, rivals=tuple(rivals)))
    return found


def _place(demonstration: Demonstration) -> tuple[MazeState, MazeEnvironment]:
    start, world = demonstration.start, demonstration.environment
    assert isinstance(start, MazeState)
    assert isinstance(world, MazeEnvironment)
    return start, world


def _starts_before(
    demonstrations: Sequence[Demonstration],
) -> dict[tuple[str, MazeState], MazeState]:
    """Return for each group and state where the sentence started that ends in that state."""
    found: dict[tuple[str, MazeState], MazeState] = {}
    for each in demonstrations:
        start, world = _place(each)
        end = start
        for action in each.actions:
            end = world.step(end, action)  # type: ignore[arg-type]
        if world.restart(end) != start:
            found.setdefault((each.group, world.restart(end)), start)
    return found


def _ends(world: MazeEnvironment, start: MazeState) -> list[MazeState]:
    """Return the states in which plans from a start end, if they face anywhere."""
    length = 3 + world.extra_length(start)
    ends = dict.fromkeys(world.restart(end) for _, end in plans_within(world, start, length))
    return [end for end in ends if end.orientation is not None]


def train_routes(
    chosen: Preset,
    data: Sequence[RouteData],
    training: Training,
    *,
    seed: int = 0,
    threads: int = 1,
) -> Follower:
    """Train a follower of routes on some maps."""

    def fit(shown: Sequence[Demonstration], last: bool = True) -> Follower:
        wanted = chosen
        if last:
            shown = add_rivals(
                shown,
                turned=training.turned,
                elsewhere=training.elsewhere,
                misread=training.misread,
                seed=seed,
            )
        else:
            iterations = min(ROUGH, chosen.learning.iterations)
            wanted = replace(chosen, learning=replace(chosen.learning, iterations=iterations))
        return wanted.follower(seed=seed, threads=threads).fit(shown)

    if training.rounds:
        routes = [route for each in data for route in each.paragraphs]
        follower = None
        for number in range(1, training.rounds + 1):
            follower = fit(segment(follower, routes), number == training.rounds)
        assert follower is not None
        return follower
    shown = [each for found in data for each in found.sentences]
    if training.dropped:
        shown += [each for found in data for each in found.dropped]
    return fit(shown)


@dataclass(frozen=True)
class RouteFold:
    """One map left out: where its routes were said to end, in each way of reading.

    `power` is the weight of evidence, chosen inside the training maps; `tried` holds the
    share of right ends there for each weight.
    """

    maze: str
    routes: Sequence[Paragraph]
    at_once: Sequence[Position]
    plain: Sequence[Position]
    evident: Sequence[Position]
    power: float
    tried: dict[float, float]
    sentences: float


def choose_power(
    chosen: Preset,
    data: dict[str, RouteData],
    training: Training,
    *,
    beam: int | None = 20,
    seed: int = 0,
    threads: int = 1,
) -> tuple[float, dict[float, float]]:
    """Choose the weight of evidence inside the training maps.

    Each of them is left out in turn and its routes are read by a follower trained on the
    others. Returns the chosen weight and the share of right ends for each. A few hundred
    routes cannot tell neighbouring weights apart, so each is judged with its neighbours.
    """
    right = dict.fromkeys(POWERS, 0)
    count = 0
    for left_out, held_out in data.items():
        others = [each for name, each in data.items() if name != left_out]
        follower = train_routes(chosen, others, training, seed=seed, threads=threads)
        count += len(held_out.paragraphs)
        read = read_routes(follower, held_out.paragraphs, beam=beam)
        for route, arcs in zip(held_out.paragraphs, read, strict=True):
            for power in POWERS:
                right[power] += next(iter(forecast(arcs, power))) == route.end
    tried = {power: found / count for power, found in right.items()}
    return _smoothest(tried), tried


def _smoothest(tried: dict[float, float]) -> float:
    """Return the weight with the best mean of its own share and its neighbours'."""
    shares = list(tried.values())
    padded = [shares[0], *shares, shares[-1]]
    means = [sum(padded[place : place + 3]) for place in range(len(shares))]
    return list(tried)[means.index(max(means))]


def route_fold(
    chosen: Preset,
    data: dict[str, RouteData],
    left_out: str,
    training: Training,
    *,
    beam: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> RouteFold:
    """Train on all maps but one and follow the routes of that one, in each way of reading."""
    inside = {name: each for name, each in data.items() if name != left_out}
    power, tried = choose_power(chosen, inside, training, seed=seed, threads=threads)
    follower = train_routes(chosen, list(inside.values()), training, seed=seed, threads=threads)
    routes = data[left_out].paragraphs
    plain, evident = [], []
    for arcs in read_routes(follower, routes, beam=beam):
        plain.append(next(iter(forecast(arcs))))
        evident.append(next(iter(forecast(arcs, power))))
    return RouteFold(
        left_out,
        routes,
        [state.position for state in act_at_once(follower, routes)],
        plain,
        evident,
        power,
        tried,
        follower.score(data[left_out].sentences),
    )


def evaluate_routes(
    sail: Sail,
    name: str = "best",
    rows: Sequence[str] = tuple(TRAINING),
    *,
    beam: int | None = None,
    seed: int = 0,
    threads: int = 1,
    tell: Callable[[str], None] = lambda line: None,
) -> Report:
    """Evaluate whole routes, leaving one map out at a time.

    Every row is there three times: *at once* (each sentence is acted on before the next is
    read), *read first* (all states are kept until the end), and *read first, evidence*
    (later sentences also speak against wrong earlier states).
    """
    began = time.time()
    for row in rows:
        if row not in TRAINING:
            raise SettingError(f"Routes have no row {row!r}.{did_you_mean(row, TRAINING)}")
    if len(sail.mazes) < 3:
        raise SettingError(
            f"Routes are evaluated on three maps or more, not on {len(sail.mazes)}: one is left "
            "out, and one of the others to choose the weight of evidence."
        )
    chosen = preset(name)
    data = prepare_routes(chosen, sail)
    made: list[Row] = []
    for row in rows:
        folds = []
        for left_out in data:
            done = route_fold(
                chosen, data, left_out, TRAINING[row], beam=beam, seed=seed, threads=threads
            )
            tell(
                f"{row}: {left_out} at once {_share(done, done.at_once):.3f}, read first "
                f"{_share(done, done.plain):.3f}, with evidence^{done.power:g} "
                f"{_share(done, done.evident):.3f}; single sentences {done.sentences:.3f}; "
                f"inside the training maps { {p: round(s, 3) for p, s in done.tried.items()} }"
            )
            folds.append(done)
        powers = ", ".join(f"{each.maze} {each.power:g}" for each in folds)
        made += [
            table_row(f"{row}: at once", folds, [each.at_once for each in folds]),
            table_row(f"{row}: read first", folds, [each.plain for each in folds]),
            table_row(
                f"{row}: read first, evidence",
                folds,
                [each.evident for each in folds],
                f"weight of evidence: {powers}",
            ),
        ]
    condition = "whole routes, final position, one map left out"
    return Report("mazes", name, condition, made, time.time() - began, __version__)


def _share(fold: RouteFold, ends: Sequence[Position]) -> float:
    rights = [end == route.end for end, route in zip(ends, fold.routes, strict=True)]
    return sum(rights) / len(rights)


def table_row(
    name: str,
    folds: Sequence[RouteFold],
    ends: Sequence[Sequence[Position]],
    note: str = "",
) -> Row:
    """Put what was answered together into a row of the table."""
    per_map = {each.maze: _share(each, found) for each, found in zip(folds, ends, strict=True)}
    pairs = [
        (route, end)
        for each, found in zip(folds, ends, strict=True)
        for route, end in zip(each.routes, found, strict=True)
    ]
    rights = [end == route.end for route, end in pairs]
    meant = [end == (route.destination or route.end) for route, end in pairs]
    metrics = {
        "macro": sum(per_map.values()) / len(per_map),
        "micro": sum(rights) / len(rights),
        **per_map,
        "micro, attribute end": sum(meant) / len(meant),
        "single sentences, macro": sum(each.sentences for each in folds) / len(folds),
    }
    interval = bootstrap(rights, lambda drawn: sum(drawn) / len(drawn), draws=1000)
    return Row(name, metrics, interval, note=note)


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate whole routes from the command line; the file is written after each row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", help="the folder of the corpus")
    parser.add_argument("out", help="a JSON file for the results")
    parser.add_argument("--rows", nargs="+", default=list(TRAINING), help="what to learn from")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--beam", type=int, help="states to keep; all if not given")
    settings = parser.parse_args(arguments)
    sail = load_sail(settings.corpus)
    rows: list[Row] = []
    seconds = 0.0
    for row in settings.rows:
        report = evaluate_routes(sail, settings.preset, [row], beam=settings.beam, tell=print)
        rows += report.rows
        seconds += report.seconds
        replace(report, rows=rows, seconds=seconds).save(settings.out)
    print(replace(report, rows=rows, seconds=seconds).markdown())


if __name__ == "__main__":
    main()
