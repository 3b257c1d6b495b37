"""The demonstration world: generated mazes to learn in, one to be tested in, things to say."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import Route, generate_mazes, generate_routes
from groundling.world.environment import Demonstration

__all__ = ["DemoWorld", "Request", "demo_world"]


@dataclass(frozen=True)
class Request:
    """Something to say in the unseen maze, and what is interesting about it."""

    name: str
    text: str
    start: MazeState
    remark: str


@dataclass(frozen=True)
class DemoWorld:
    """What the demo learns from, is tested on, and is asked.

    `sentences` are held-out single sentences and `routes` held-out routes of two sentences,
    all of them in the maze that training never sees.
    """

    unseen: MazeEnvironment
    training: tuple[Demonstration, ...]
    sentences: tuple[Demonstration, ...]
    routes: tuple[Demonstration, ...]
    requests: tuple[Request, ...]


def demo_world(demonstrations: int = 300, held_out: int = 100) -> DemoWorld:
    """Generate the demonstration world; two thirds of training are single sentences.

    >>> world = demo_world(demonstrations=9, held_out=2)
    >>> len(world.training), len(world.sentences), len(world.routes)
    (9, 2, 2)
    >>> {each.environment.maze.name for each in world.training} & {world.unseen.maze.name}
    set()
    """
    *training, unseen = map(MazeEnvironment, generate_mazes(seed=1, count=4))
    environments = {each.maze.name: each for each in training}
    routes = generate_routes(
        [each.maze for each in training], demonstrations, seed=2, sentences=(1, 3)
    )
    singles = [
        sentence
        for route in routes
        for sentence in route.single_sentences(environments[route.maze.name])
    ]
    short = [_whole(route, environments[route.maze.name]) for route in routes if _is_short(route)]
    count = demonstrations - demonstrations // 3
    shown = singles[:count] + short[: demonstrations // 3]
    return DemoWorld(
        unseen=unseen,
        training=tuple(shown),
        sentences=_held_out(unseen, held_out, 1),
        routes=_held_out(unseen, held_out, 2),
        requests=_requests(unseen),
    )


def _is_short(route: Route) -> bool:
    return len(route.plan) <= 5


def _whole(route: Route, environment: MazeEnvironment) -> Demonstration:
    return route.demonstration(environment)


def _held_out(
    environment: MazeEnvironment, count: int, sentences: int
) -> tuple[Demonstration, ...]:
    routes = generate_routes([environment.maze], count, seed=7, sentences=(sentences, sentences))
    return tuple(route.demonstration(environment) for route in routes)


def _requests(unseen: MazeEnvironment) -> tuple[Request, ...]:
    """Write requests by hand: the words are those of the grammar, the sentences are new."""
    return (
        Request(
            "plain",
            "Go down the yellow hall to the sofa. Turn right and walk to the easel.",
            unseen.start((6, 2), 180),
            "everything that is to be done is said",
        ),
        Request(
            "implicit-turn",
            "Follow the blue hall to the end. Turn left and go to the barstool.",
            unseen.start((3, 3), 0),
            "the blue hall is not ahead: it takes a turn that nobody mentions",
        ),
        Request(
            "foreign",
            "Bring me a cup of tea.",
            unseen.start((6, 2), 180),
            "nothing like this was ever demonstrated",
        ),
    )
