"""Reader and writer of the XML files of the SAIL corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element  # for types only; defusedxml does the parsing
from xml.sax.saxutils import escape, quoteattr

from groundling.corpora.markup import read_xml
from groundling.errors import CorpusError
from groundling.tasks.mazes.actions import STAY
from groundling.tasks.mazes.generator import Route
from groundling.tasks.mazes.maze import Maze, Position
from groundling.tasks.mazes.plans import Pose, poses_of

_TRIPLE = re.compile(r"\s*\(\s*(-?\d{1,6})\s*,\s*(-?\d{1,6})\s*,\s*(-?\d{1,6})\s*\)\s*(,|$)")
_PAIR = re.compile(r"\s*\(?\s*(-?\d{1,6})\s*,\s*(-?\d{1,6})\s*\)?\s*")


class MazeExample(NamedTuple):
    """A record of a corpus file; `problem` describes an error in the record, if any."""

    name: str
    maze: str
    text: str
    path: tuple[Pose, ...]
    destination: Position | None = None
    problem: str = ""


def read_maze(file: Path) -> Maze:
    """Return the maze in a map file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "map-two.xml"
    ...     nodes = '<node x="0" y="0" item="sofa"/><node x="0" y="1" item=""/>'
    ...     edges = '<edge node1="0,0" node2="0,1" wall="fish" floor="wood"/>'
    ...     text = f"<map name='Two'><nodes>{nodes}</nodes><edges>{edges}</edges></map>"
    ...     _ = file.write_text(text)
    ...     read_maze(file)
    Maze('Two', 2 places, 1 halls)
    """
    root = _root(file, "map")
    places = []
    for number, node in enumerate(root.iterfind("nodes/node"), 1):
        where = f"{file}: <node> number {number}"
        position = (_integer(node, "x", where), _integer(node, "y", where))
        places.append((position, node.get("item", "").strip()))
    halls = []
    for number, edge in enumerate(root.iterfind("edges/edge"), 1):
        where = f"{file}: <edge> number {number}"
        ends = []
        for key in ("node1", "node2"):
            found = _PAIR.fullmatch(_attribute(edge, key, where))
            if not found:
                raise CorpusError(
                    f'{where}: {key} must be two integers such as "3,5"; got "{edge.get(key)}".'
                )
            ends.append((int(found[1]), int(found[2])))
        floor, wall = (_attribute(edge, key, where) for key in ("floor", "wall"))
        halls.append((ends[0], ends[1], floor, wall))
    try:
        return Maze(_attribute(root, "name", f"{file}: <map>"), places, halls)
    except CorpusError as error:
        hint = "Places and halls are numbered in the order of <node> and <edge>."
        raise CorpusError(f"{file}: {error} {hint}") from None


def read_examples(file: Path) -> list[MazeExample]:
    """Return the records of `SingleSentence.xml` or `Paragraph.xml`.

    An error inside a record is stored in its `problem`. An unreadable file raises `CorpusError`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "SingleSentence.xml"
    ...     path = "<path>[(3, 5, -1), (3, 5, 180)]</path>"
    ...     text = "<instruction>face the wall</instruction>"
    ...     record = f'<example id="7-1" map="Two">{text}{path}</example>'
    ...     _ = file.write_text(f"<examples>{record}</examples>")
    ...     read_examples(file)[0].path
    (Pose(position=(3, 5), orientation=None), Pose(position=(3, 5), orientation=180))
    """
    examples = []
    for number, element in enumerate(_root(file, "examples").iterfind("example"), 1):
        name = element.get("id", "").strip()
        problems = [] if name else ["It has no id."]
        maze = element.get("map", "").strip()
        if not maze:
            problems.append("It has no map.")
        try:
            path = tuple(_poses(element.findtext("path") or ""))
        except ValueError as error:
            path = ()
            problems.append(str(error))
        destination = None
        if (end := element.get("end")) is not None:
            found = _PAIR.fullmatch(end)
            if found:
                destination = (int(found[1]), int(found[2]))
            else:
                problems.append(f'Its end must be a pair such as "(3, 5)"; got "{end[:40]}".')
        text = " ".join((element.findtext("instruction") or "").split())
        record = MazeExample(
            name or f"number {number}", maze, text, path, destination, " ".join(problems)
        )
        examples.append(record)
    return examples


def _root(file: Path, tag: str) -> Element:
    """Return the root element of a file; raise an error unless it has the given tag."""
    root = read_xml(file)
    if root.tag != tag:
        raise CorpusError(f"{file} must start with <{tag}>; got <{root.tag[:40]}>.")
    return root


def _attribute(element: Element, key: str, where: str) -> str:
    value = element.get(key, "").strip()
    if not value:
        raise CorpusError(f'{where} must have the attribute {key}. Add {key}="…" to the element.')
    return value


def _integer(element: Element, key: str, where: str) -> int:
    value = _attribute(element, key, where)
    if not re.fullmatch(r"-?\d{1,6}", value):
        raise CorpusError(
            f'{where}: {key} must be an integer; got "{value}". Correct the attribute.'
        )
    return int(value)


def _poses(text: str) -> Iterator[Pose]:
    """Yield the poses of a route such as `[(3, 5, -1), (3, 5, 180)]`."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        raise ValueError(
            "The route in <path> must be a list of (x, y, orientation) triples in square brackets; "
            f"got {inner[:30]!r}."
        )
    inner, place = inner[1:-1], 0
    if not inner.strip():
        raise ValueError(
            "The route in <path> must have at least one (x, y, orientation) triple; got none."
        )
    while place < len(inner):
        found = _TRIPLE.match(inner, place)
        if not found:
            raise ValueError(
                "The route in <path> must consist of (x, y, orientation) triples; got "
                f"{inner[place : place + 30]!r}."
            )
        x, y, orientation = (int(found[group]) for group in (1, 2, 3))
        yield Pose((x, y), None if orientation == -1 else orientation)
        place = found.end()


def write_corpus(
    folder: Path, routes: Sequence[Route], *, mazes: Iterable[Maze] = (), remarks: bool = False
) -> None:
    """Write routes as the files of the corpus: maps, paragraphs and single sentences.

    `mazes` are written even if they have no routes. As in the original corpus, a sentence that
    demonstrates `stay` is left out of the single sentences unless it starts a paragraph.
    `remarks=True` includes such sentences.

    >>> from tempfile import TemporaryDirectory
    >>> from groundling.tasks.mazes import generate_mazes, generate_routes
    >>> with TemporaryDirectory() as folder:
    ...     mazes = generate_mazes(seed=1, count=2)
    ...     write_corpus(Path(folder), generate_routes(mazes, count=10, seed=1))
    ...     sorted(file.name for file in Path(folder).rglob("*.xml"))
    ['Paragraph.xml', 'SingleSentence.xml', 'map-maze1.xml', 'map-maze2.xml']
    """
    known = {maze.name: maze for maze in (*mazes, *(route.maze for route in routes))}
    for kind in ("maps", "data"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for maze in known.values():
        plain = re.sub(r"[^a-z0-9]+", "-", maze.name.lower()).strip("-") or "maze"
        while plain in taken:
            plain += "-too"
        taken.add(plain)
        _write(folder / "maps" / f"map-{plain}.xml", "map", maze.name, _map(maze))
    paragraphs, singles = [], []
    for route in routes:
        text = ". ".join(route.sentences) + "."
        path = poses_of(route.maze, route.start, route.plan)
        ends = f"start={quoteattr(str(path[0].position))} end={quoteattr(str(path[-1].position))} "
        paragraphs += _example(ends, route.name, route.maze.name, text, path)
        parts = zip(route.sentences, route.actions, route.poses(), strict=False)
        for number, (sentence, actions, pose) in enumerate(parts, 1):
            if remarks or actions != (STAY,) or number == 1:
                path = poses_of(route.maze, pose, actions)
                singles += _example("", f"{route.name}-{number}", route.maze.name, sentence, path)
    _write(folder / "data" / "Paragraph.xml", "examples", "", paragraphs)
    _write(folder / "data" / "SingleSentence.xml", "examples", "", singles)


def _write(file: Path, tag: str, name: str, lines: Sequence[str]) -> None:
    opening = f"<{tag} name={quoteattr(name)}>" if name else f"<{tag}>"
    text = "\n".join(['<?xml version="1.0"?>', opening, *lines, f"</{tag}>", ""])
    file.write_text(text, encoding="utf-8")


def _map(maze: Maze) -> list[str]:
    lines = ["  <nodes>"]
    for x, y in maze.positions:
        lines.append(f'    <node x="{x}" y="{y}" item={quoteattr(maze.item((x, y)))}></node>')
    lines += ["  </nodes>", "  <edges>"]
    for one, other, hall in maze.halls():
        ends = f'node1="{one[0]},{one[1]}" node2="{other[0]},{other[1]}"'
        look = f"wall={quoteattr(hall.wall)} floor={quoteattr(hall.floor)}"
        lines.append(f"    <edge {ends} {look}></edge>")
    return [*lines, "  </edges>"]


def _example(ends: str, name: str, maze: str, text: str, path: Sequence[Pose]) -> list[str]:
    poses = ", ".join(
        f"({x}, {y}, {-1 if orientation is None else orientation})" for (x, y), orientation in path
    )
    return [
        f"  <example {ends}id={quoteattr(name)} map={quoteattr(maze)}>",
        f"    <instruction>\n      {escape(text)}\n    </instruction>",
        f"    <path>\n      [{poses}]\n    </path>",
        "  </example>",
    ]
