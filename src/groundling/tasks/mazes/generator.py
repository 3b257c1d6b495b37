"""Generator of mazes, and of routes with instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from groundling.errors import SettingError
from groundling.tasks.mazes.actions import STAY, MazeAction, canonical
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.grammar import FAMILIES, FLOORS, ITEMS, WALLS, Clause, Phrasebook, join
from groundling.tasks.mazes.maze import DIRECTIONS, Maze, Position
from groundling.tasks.mazes.plans import Pose, poses_of
from groundling.world.environment import Demonstration


@dataclass(frozen=True)
class Route:
    """A route through a maze: its sentences, each with the actions that it asks for."""

    name: str
    maze: Maze
    start: Pose
    sentences: tuple[str, ...]
    actions: tuple[tuple[MazeAction, ...], ...]

    @property
    def plan(self) -> tuple[MazeAction, ...]:
        """Canonical plan of the whole route."""
        return canonical(action for actions in self.actions for action in actions)

    def poses(self) -> list[Pose]:
        """Return the pose before the first sentence and after each sentence."""
        poses = [self.start]
        for actions in self.actions:
            poses.append(poses_of(self.maze, poses[-1], actions)[-1])
        return poses

    def demonstration(self, environment: MazeEnvironment) -> Demonstration:
        """Return the whole route as one demonstration with all its sentences."""
        start = environment.start(*self.start)
        return Demonstration(self.sentences, environment, start, self.plan, name=self.name)

    def single_sentences(self, environment: MazeEnvironment) -> list[Demonstration]:
        """Return one demonstration for each sentence of the route."""
        parts = zip(self.sentences, self.actions, self.poses(), strict=False)
        return [
            Demonstration(
                (text,),
                environment,
                environment.start(*pose),
                actions,
                name=f"{self.name}-{number}",
            )
            for number, (text, actions, pose) in enumerate(parts, 1)
        ]


def generate_mazes(
    seed: int, count: int, *, size: int = 7, halls: int = 11, items: int = 12
) -> list[Maze]:
    """Generate mazes of straight crossing halls, each with a floor and items.

    Parameters
    ----------
    seed, count
        Random seed, and the number of mazes.
    size
        Width and height of the grid of places.
    halls
        Number of halls; fewer if there is no room.
    items
        Number of places that have an item.

    Examples
    --------
    >>> generate_mazes(seed=1, count=2)
    [Maze('Maze1', 32 places, 37 halls), Maze('Maze2', 34 places, 41 halls)]
    """
    given = (("size", size, 3), ("halls", halls, 2), ("items", items, 0), ("count", count, 0))
    for name, value, least in given:
        if value < least:
            raise SettingError(f"`{name}` must be >= {least}; got {value}.")
    return [
        _maze(Random(f"{seed} maze {number}"), f"Maze{number}", size, halls, items)
        for number in range(1, count + 1)
    ]


def _maze(random: Random, name: str, size: int, halls: int, items: int) -> Maze:
    edges: dict[tuple[Position, Position], str] = {}
    places = [(random.randrange(size), random.randrange(size))]
    laid = 0
    for _ in range(halls * 20):
        if laid == halls:
            break
        # a new hall passes through an existing place, so that all halls are connected
        x, y = random.choice(places)
        length = random.randint(2, max(2, size - 2))
        across = random.random() < 0.5
        along = x if across else y
        first = random.randint(max(0, along - length), min(along, size - 1 - length))
        line = [(i, y) if across else (x, i) for i in range(first, first + length + 1)]
        touched = {edge: floor for edge, floor in edges.items() if set(edge) & set(line)}
        # halls never continue each other, so that every straight line has one floor
        if any((one[1] == two[1]) == across for one, two in touched):
            continue
        free = sorted(set(FLOORS) - set(touched.values())) or sorted(FLOORS)
        edges.update(dict.fromkeys(pairwise(line), random.choice(free)))
        places += [place for place in line if place not in places]
        laid += 1
    # pictures depend on the region: bands from the north-west to the south-east
    walls = random.sample(sorted(WALLS), len(WALLS))
    found = [
        (one, two, floor, walls[(one[0] + one[1]) * len(walls) // (2 * size)])
        for (one, two), floor in edges.items()
    ]
    stocked = random.sample(sorted(places), min(items, len(places)))
    names = sorted(ITEMS)
    random.shuffle(names)
    furniture = {place: names[i % len(names)] for i, place in enumerate(stocked)}
    return Maze(name, {place: furniture.get(place, "") for place in sorted(places)}, found)


def generate_routes(
    mazes: Sequence[Maze],
    count: int,
    seed: int,
    *,
    sentences: tuple[int, int] = (1, 3),
    unknown_starts: float = 0.15,
) -> list[Route]:
    """Generate routes with instructions, evenly distributed over mazes.

    Parameters
    ----------
    mazes, count, seed
        The mazes, the number of routes, and the random seed.
    sentences
        Minimum and maximum number of sentences per route.
    unknown_starts
        Share of routes whose initial orientation is unknown.

    Examples
    --------
    >>> for route in generate_routes(generate_mazes(seed=1, count=1), count=3, seed=5):
    ...     print(". ".join(route.sentences), "->", *route.plan)
    look toward the barstool. move until you get to the stool -> face(270) move(2)
    turn into the flower hall. go until you reach the wall. you are now at a dead end
        -> rotate(180) move(2)
    move to the stool -> rotate(90) move(1)
    """
    fewest, most = sentences
    if count and not mazes:
        raise SettingError(
            "`mazes` must contain at least one maze; got none. Create mazes with generate_mazes."
        )
    if not 1 <= fewest <= most:
        raise SettingError(
            f"`sentences` must be two numbers >= 1 in ascending order; got {sentences}."
        )
    if not 0 <= unknown_starts <= 1:
        raise SettingError(f"`unknown_starts` must be from 0 to 1; got {unknown_starts}.")
    routes: list[Route] = []
    for number in range(count):
        maze = mazes[number % len(mazes)]
        # each route has its own seed, so that a larger count does not change the first routes
        random = Random(f"{seed} route {number} {maze.name}")
        wanted = random.randint(fewest, most)
        unknown = random.random() < unknown_starts
        routes.append(_route(random, f"{maze.name}-{number + 1}", maze, wanted, unknown))
    return routes


def _route(random: Random, name: str, maze: Maze, wanted: int, unknown: bool) -> Route:
    book = Phrasebook(maze, random)
    for _ in range(1000):  # retry from another start if a route gets stuck
        position = random.choice(maze.positions)
        orientation = None if unknown else random.choice(sorted(DIRECTIONS))
        pose = start = Pose(position, orientation)
        sentences: list[str] = []
        actions: list[tuple[MazeAction, ...]] = []
        while len(sentences) < wanted:
            clauses = _sentence(random, book, maze, pose, actions)
            if not clauses:
                break
            sentences.append(join(clauses, random))
            plan = canonical(action for clause in clauses for action in clause.actions)
            actions.append(plan)
            pose = poses_of(maze, pose, plan)[-1]
        if len(sentences) == wanted:
            return Route(name, maze, start, tuple(sentences), tuple(actions))
    raise SettingError(
        f"{maze!r} is too small for a route with {wanted} sentence{'s' * (wanted != 1)}. Use a "
        "larger maze."
    )


def _sentence(
    random: Random,
    book: Phrasebook,
    maze: Maze,
    pose: Pose,
    before: Sequence[tuple[MazeAction, ...]],
) -> list[Clause]:
    done = [action for actions in before for action in actions]
    first = _clause(random, book, pose, done)
    if first is None:
        return []
    if first.actions == (STAY,) or random.random() < 0.6:
        return [first]
    after = poses_of(maze, pose, first.actions)[-1]
    second = _clause(random, book, after, [*done, *first.actions])
    if second is None or second.actions == (STAY,):
        return [first]
    return [first, second]


def _clause(
    random: Random, book: Phrasebook, pose: Pose, done: Sequence[MazeAction]
) -> Clause | None:
    """Return a random clause: first choose its family, then a clause of that family."""
    families: dict[str, list[Clause]] = {}
    for clause in book.clauses(pose):
        if not _follows(done, clause.actions[0]):
            continue
        families.setdefault(clause.family, []).append(clause)
    if not families:
        return None
    weights = [FAMILIES[family] for family in families]
    family = random.choices(list(families), weights)[0]
    return random.choice(families[family])


def _follows(done: Sequence[MazeAction], action: MazeAction) -> bool:
    """Return whether an action can come next: no turn after a turn, no about-turn."""
    if action.kind == "stay":
        return not done or done[-1].kind != "stay"
    last = next((each.kind for each in reversed(done) if each.kind != "stay"), "none")
    if action.kind == "rotate":
        return last == "none" or (last == "move" and action.amount != 180)
    return True


def generate_demonstrations(
    mazes: Sequence[Maze],
    count: int,
    seed: int,
    *,
    sentences: tuple[int, int] = (1, 3),
    unknown_starts: float = 0.15,
    environment: Callable[[Maze], MazeEnvironment] = MazeEnvironment,
) -> list[Demonstration]:
    """Generate demonstrations of routes; see `generate_routes`.

    To test on an unseen maze, generate one more maze than you train on, and hold it out.

    Examples
    --------
    >>> *training, unseen = generate_mazes(seed=1, count=4)
    >>> shown = generate_demonstrations(training, 300, seed=2)
    >>> held_out = generate_demonstrations([unseen], 50, seed=3)
    >>> shown[0].environment.maze.name, held_out[0].environment.maze.name
    ('Maze1', 'Maze4')
    """
    routes = generate_routes(mazes, count, seed, sentences=sentences, unknown_starts=unknown_starts)
    environments = {id(maze): environment(maze) for maze in mazes}
    return [route.demonstration(environments[id(route.maze)]) for route in routes]
