"""Reader of the SAIL corpus, with a report on irregular records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from groundling.errors import CorpusError, DemonstrationError, did_you_mean
from groundling.tasks.mazes.actions import STAY, MazeAction, MazeState, canonical, rotate
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import Maze, Position
from groundling.tasks.mazes.maze_files import MazeExample, read_examples, read_maze
from groundling.tasks.mazes.plans import Pose, actions_of, merge_moves, poses_of, shortest_plans
from groundling.world.environment import Demonstration

SEARCH_LIMIT = 50  # maximum number of actions of the plan that replaces a broken path


class CorpusFinding(NamedTuple):
    """An irregular record, what is wrong with it, and how it was handled."""

    kind: str
    file: str
    record: str
    detail: str
    handled: str


@dataclass
class CorpusReport:
    """Report on the irregular records of a corpus.

    Examples
    --------
    >>> report = CorpusReport()
    >>> report.add(
    ...     "empty text", file="Paragraph.xml", record="12",
    ...     detail="it has no words", handled="left out",
    ... )
    >>> print(report)
    empty text: 1 (left out)
    >>> [finding.record for finding in report.of("empty text")]
    ['12']
    """

    findings: list[CorpusFinding] = field(default_factory=list)

    def add(self, kind: str, file: str, record: str, detail: str, handled: str) -> None:
        """Report an irregularity in a record."""
        self.findings.append(CorpusFinding(kind, file, record, detail, handled))

    def of(self, kind: str) -> list[CorpusFinding]:
        """Return the irregular records of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def __str__(self) -> str:
        counts = Counter((finding.kind, finding.handled) for finding in self.findings)
        lines = [f"{kind}: {count} ({handled})" for (kind, handled), count in counts.items()]
        return "\n".join(lines) or "no irregular records"


@dataclass
class MazeCorpus:
    """Data of one maze: its environment, sentences and paragraphs.

    Attributes
    ----------
    environment
        The environment of the maze.
    sentences
        Single sentences, named by their ids (`"2-3"`: sentence 3 of paragraph 2).
    paragraphs
        Whole routes, sentence by sentence.
    dropped
        Sentences of paragraphs that are missing from the single sentences although the path has no
        gap there. They demonstrate `stay`.
    destinations
        The intended destination of each paragraph; the path does not always end there.
    """

    environment: MazeEnvironment
    sentences: list[Demonstration] = field(default_factory=list)
    paragraphs: list[Demonstration] = field(default_factory=list)
    dropped: list[Demonstration] = field(default_factory=list)
    destinations: dict[str, Position] = field(default_factory=dict)


@dataclass
class Sail:
    """The SAIL corpus: the data of each maze, and the report on irregular records."""

    mazes: dict[str, MazeCorpus]
    report: CorpusReport


def load_sail(
    folder: str | Path,
    *,
    environment: Callable[[Maze], MazeEnvironment] = MazeEnvironment,
    skip_broken: bool = False,
) -> Sail:
    """Return the SAIL corpus in a folder (`maps/*.xml` and `data/*.xml`).

    Gold paths become canonical plans. In an environment with `canonical=False`, steps are only
    joined into moves, as in the paper's program. The report lists irregular records:

    - *unknown start*: the orientation is -1; the plan starts with `face`;
    - *impossible path*: there is no hall between two places; the gold plan is the shortest plan
      with the same end;
    - *way back*: the path walks back on itself; it is replaced by a shorter plan with the same end;
    - *other destination*: the path of a paragraph does not end at its attribute `end`;
    - *empty text*: the record has no words and is skipped.

    Unusable records (no path, an unknown place or map, a duplicate id) raise `CorpusError`. With
    `skip_broken`, they are skipped and reported as *broken record*.

    Parameters
    ----------
    folder
        The folder of the corpus.
    environment
        Function that creates the environment of a maze, such as
        `lambda maze: MazeEnvironment(maze, "paper")`.
    skip_broken
        Skip unusable records and list them in the report.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from groundling.tasks.mazes import generate_mazes, generate_routes
    >>> from groundling.tasks.mazes.maze_files import write_corpus
    >>> with TemporaryDirectory() as folder:
    ...     mazes = generate_mazes(seed=1, count=2)
    ...     write_corpus(Path(folder), generate_routes(mazes, count=10, seed=1))
    ...     sail = load_sail(folder)
    >>> [(name, len(each.paragraphs)) for name, each in sail.mazes.items()]
    [('Maze1', 5), ('Maze2', 5)]
    """
    folder = Path(folder)
    reader = _Reader(CorpusReport(), skip_broken)
    files = sorted((folder / "maps").glob("*.xml"))
    if not files:
        raise CorpusError(
            f"{folder} must contain maps/*.xml, data/SingleSentence.xml and data/Paragraph.xml; "
            "got no maps. Pass the folder of the corpus."
        )
    for file in files:
        maze = read_maze(file)
        if maze.name in reader.mazes:
            raise CorpusError(
                f"{file}: the names of maps must be unique; got {maze.name!r} twice. Rename or "
                "remove one map."
            )
        reader.mazes[maze.name] = MazeCorpus(environment(maze))
    singles: dict[str, list[MazeExample]] = {}
    for example, corpus, demonstration in reader.read(folder / "data" / "SingleSentence.xml"):
        corpus.sentences.append(replace(demonstration, instructions=(example.text,)))
        singles.setdefault(example.name.rsplit("-", 1)[0], []).append(example)
    for example, corpus, demonstration in reader.read(folder / "data" / "Paragraph.xml"):
        sentences = tuple(_sentences(example.text))
        corpus.paragraphs.append(replace(demonstration, instructions=sentences))
        corpus.dropped += [
            Demonstration(
                (text,), corpus.environment, corpus.environment.start(*pose), (STAY,), name=name
            )
            for name, text, pose in _dropped(example, sentences, singles.get(example.name, ()))
        ]
        if example.destination is not None:
            corpus.destinations[example.name] = example.destination
            if example.destination != example.path[-1].position:
                reader.report.add(
                    "other destination",
                    "Paragraph.xml",
                    example.name,
                    f"the path ends at {example.path[-1].position}, not at {example.destination}",
                    "the end of the path is the gold end",
                )
    return Sail(reader.mazes, reader.report)


class _Reader:
    """Converter of records to demonstrations, which reports irregular records."""

    def __init__(self, report: CorpusReport, skip_broken: bool) -> None:
        self.report = report
        self.skip_broken = skip_broken
        self.mazes: dict[str, MazeCorpus] = {}

    def read(self, file: Path) -> Iterable[tuple[MazeExample, MazeCorpus, Demonstration]]:
        seen: set[str] = set()
        for example in read_examples(file):
            problem = example.problem or self._problem(example, seen)
            if problem:
                if not self.skip_broken:
                    raise CorpusError(
                        f"{file}: <example id={example.name!r}> must be a valid record. {problem} "
                        "Correct the record, or skip it with skip_broken=True."
                    )
                self.report.add("broken record", file.name, example.name, problem, "left out")
                continue
            seen.add(example.name)
            if not re.search(r"\w", example.text):
                self.report.add(
                    "empty text", file.name, example.name, "it has no words", "left out"
                )
                continue
            corpus = self.mazes[example.maze]
            plan = self._plan(file, example, corpus.environment)
            start = corpus.environment.start(*example.path[0])
            name = example.name
            yield (
                example,
                corpus,
                Demonstration(example.text, corpus.environment, start, plan, name=name),
            )

    def _problem(self, example: MazeExample, seen: set[str]) -> str:
        if example.name in seen:
            return "Its id must be unique; another record has the same."
        if example.maze not in self.mazes:
            return f"There is no map {example.maze!r}.{did_you_mean(example.maze, self.mazes)}"
        maze = self.mazes[example.maze].environment.maze
        if off := [pose.position for pose in example.path if pose.position not in maze]:
            return f"Its path leaves the map {maze.name!r} at {off[0]}."
        if any(pose.orientation not in (0, 90, 180, 270, None) for pose in example.path):
            return "Its path has orientations other than 0, 90, 180, 270 and -1."
        return ""

    def _plan(
        self, file: Path, example: MazeExample, environment: MazeEnvironment
    ) -> tuple[MazeAction, ...]:
        path, maze, name = example.path, environment.maze, example.name
        if path[0].orientation is None:
            self.report.add(
                "unknown start", file.name, name, "orientation -1", "the plan begins with face"
            )
        try:
            steps = actions_of(maze, path)
            plan = canonical(steps) if environment.canonical else merge_moves(steps)
        except ValueError as error:
            found = shortest_plans(
                MazeEnvironment(maze), environment.start(*path[0]), path[-1], SEARCH_LIMIT
            )
            handled = "the gold plan is the shortest with the same end"
            if not found:
                handled = "no plan reaches its end; the gold plan is stay"
            self.report.add("impossible path", file.name, name, str(error), handled)
            return found[0] if found else (STAY,)
        walked = {pose.position for pose in poses_of(maze, path[0], plan)}
        if walked != {pose.position for pose in path}:
            detail = "it walks back on itself"
            self.report.add("way back", file.name, name, detail, "cut short, with the same end")
        return plan


def _sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, which is split at full stops."""
    parts = (" ".join(part.split()) for part in text.split("."))
    return [part for part in parts if re.search(r"\w", part)]


def _dropped(
    paragraph: MazeExample, sentences: Sequence[str], singles: Sequence[MazeExample]
) -> list[tuple[str, str, Pose]]:
    """Return the sentences of a paragraph that are missing from the single sentences.

    Returns an empty list if the single sentences leave a gap in the path.
    """
    if not singles or singles[0].path[0] != paragraph.path[0]:
        return []
    if singles[-1].path[-1].position != paragraph.path[-1].position:
        return []
    if any(one.path[-1] != two.path[0] for one, two in pairwise(singles)):
        return []
    found, waiting, pose = [], list(singles[::-1]), paragraph.path[0]
    for number, sentence in enumerate(sentences, 1):
        if waiting and _plain(waiting[-1].text) == _plain(sentence):
            pose = waiting.pop().path[-1]
        else:
            found.append((f"{paragraph.name}-{number}", sentence, pose))
    return [] if waiting else found


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def start_as_published(demonstration: Demonstration) -> Demonstration:
    """Return a demonstration with the initial state that the authors' program uses.

    That program replaces an unknown orientation with 0 (north). If the gold plan first faces north,
    it replaces the orientation with 90 instead, so that there is a turn to make. This leaks the
    answer; use the function only to reproduce published scores.

    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, face, move
    >>> hall = Maze("Two", {(0, 0): "", (0, 1): ""}, [((0, 0), (0, 1), "wood", "fish")])
    >>> world = MazeEnvironment(hall)
    >>> shown = Demonstration("walk", world, world.start((0, 1)), (face(0), move(1)))
    >>> published = start_as_published(shown)
    >>> published.start.orientation, published.actions
    (90, (rotate(270), move(1)))
    """
    start, actions = demonstration.start, demonstration.actions
    if not isinstance(start, MazeState):
        raise DemonstrationError(
            f"{demonstration} must start in a state of a maze; got {start!r}. Create one with "
            "MazeEnvironment.start."
        )
    if start.orientation is not None:
        return demonstration
    first = actions[0] if actions else STAY
    if not isinstance(first, MazeAction) or first.kind != "face":
        return replace(demonstration, start=start._replace(orientation=0))
    orientation = 90 if first.amount == 0 else 0
    turn = rotate((first.amount - orientation) % 360)
    return replace(
        demonstration,
        start=start._replace(orientation=orientation),
        actions=(turn, *actions[1:]),
        also=(),
    )
