"""World of `groundling demo`: generated mazes and example instructions."""

from __future__ import annotations

from typing import Any

from groundling.features.feature_settings import Features
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.overlay.settings import Overlay
from groundling.plan import Plan
from groundling.tasks.benchmark import DemoRequest, DemoWorld, Scene
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import generate_mazes, generate_routes
from groundling.tasks.mazes.maze_drawing import draw_maze
from groundling.world.environment import Demonstration


def demo_follower(parser: str = "default") -> Follower:
    """Return the untrained follower of the demo, which reads texts clause by clause.

    >>> demo_follower().overlay.unit, demo_follower("chain").overlay.unit
    ('clause', 'word')
    """
    return Follower(
        # A chain of words has no clauses.
        overlay=Overlay(unit="word" if parser.startswith("chain") else "clause", adjacency="soft"),
        features=Features(
            words=("word",),
            stop_words=(".", ",", "!"),
            slots=("floor", "wall", "item"),
            numbers=("equal",),
            joins=("conjunction", "slot"),
            # Match names instead of memorising them, so that the model generalises to new names.
            exclude=r"(item|floor|wall)=",
        ),
        learning=Learning(l2=0.3, iterations=50, tolerance=1e-4),
        search=Search(max_length=4, decode="outcome", threshold=0.5),
        parser=parser,
    )


def demo_world(demonstrations: int = 300, held_out: int = 100) -> DemoWorld:
    """Generate the demo world; two thirds of its demonstrations are single sentences.

    >>> world = demo_world(demonstrations=9, held_out=2)
    >>> len(world.training), len(world.sentences), len(world.routes)
    (9, 2, 2)
    >>> {each.environment.maze.name for each in world.training} & {world.unseen.maze.name}
    set()
    """
    *known, unseen = map(MazeEnvironment, generate_mazes(seed=1, count=4))
    environments = {each.maze.name: each for each in known}
    routes = [
        (route, environments[route.maze.name])
        for route in generate_routes([each.maze for each in known], demonstrations, seed=2)
    ]
    singles = [each for route, world in routes for each in route.single_sentences(world)]
    short = [route.demonstration(world) for route, world in routes if len(route.plan) <= 5]
    third = demonstrations // 3
    training = (*singles[: demonstrations - third], *short[:third])

    def shown(sentences: int) -> tuple[Demonstration, ...]:
        made = generate_routes([unseen.maze], held_out, seed=7, sentences=(sentences, sentences))
        return tuple(route.demonstration(unseen) for route in made)

    def draw(plan: Plan) -> str:
        way: Any = plan.states
        return draw_maze(unseen, way[-1], way, legend=True)

    # Sentences written by hand with words of the grammar; none was demonstrated.
    plain = DemoRequest(
        "plain",
        "Go down the yellow hall to the sofa. Turn right and walk to the easel.",
        unseen.start((6, 2), 180),
        "every action is mentioned",
    )
    implicit = DemoRequest(
        "implicit-turn",
        "Follow the blue hall to the end. Turn left and go to the barstool.",
        unseen.start((3, 3), 0),
        "the blue hall is not ahead: the first turn is not mentioned",
    )
    foreign = DemoRequest(
        "foreign",
        "Bring me a cup of tea.",
        unseen.start((6, 2), 180),
        "nothing similar was demonstrated",
    )
    begins: dict[str, Demonstration] = {}
    for each in training:
        begins.setdefault(each.environment.maze.name, each)  # type: ignore[attr-defined]
    return DemoWorld(
        title="Mazes",
        part="maze",
        unseen=unseen,
        training=training,
        sentences=shown(1),
        routes=shown(2),
        requests=(plain, implicit, foreign),
        scenes=(
            Scene("New maze, by the barstool", unseen, plain.start),
            Scene("New maze, in the west", unseen, implicit.start),
            *(
                Scene(f"Known maze {name.removeprefix('Maze')}", each.environment, each.start)
                for name, each in begins.items()
            ),
        ),
        follower=demo_follower,
        draw=draw,
        words=("‹item›", "‹floor›", "turn", "left", "right", "around", "end", "walk"),
        examples=(plain.text, implicit.text, "Turn around.", foreign.text),
    )
