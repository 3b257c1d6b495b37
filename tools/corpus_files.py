"""Write corpora: `python -m tools.corpus_files FOLDER` writes the generated samples of all tasks.

The files have the formats of the corpora SAIL, HCRC and Crossblock, so that other programs can read
the samples, and the tests can write corpora of their own.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from groundling.errors import CorpusError
from groundling.tasks.maps import DialogueLine, MapCorpus, MapSheet
from groundling.tasks.maps.corpus import LANDMARK_NAME
from groundling.tasks.maps.landscape import Point
from groundling.tasks.maps.task import MapTask
from groundling.tasks.mazes import STAY, Maze, Route
from groundling.tasks.mazes.plans import Pose, poses_of
from groundling.tasks.mazes.task import generate_sample
from groundling.tasks.puzzles import Puzzle, Strike
from groundling.tasks.puzzles.corpus import GAMES, HINTS, SOLUTIONS
from groundling.tasks.puzzles.task import PuzzleTask

__all__ = [
    "expand",
    "main",
    "write_map",
    "write_maps",
    "write_mazes",
    "write_puzzles",
    "write_transcript",
]

# ---- mazes ------------------------------------------------------------------------------------


def write_mazes(
    folder: Path, routes: Sequence[Route], *, mazes: Iterable[Maze] = (), remarks: bool = False
) -> None:
    """Write routes as the files of the corpus: maps, paragraphs and single sentences.

    `mazes` are written even if they have no routes. As in the original corpus, a sentence that
    demonstrates `stay` is left out of the single sentences unless it starts a paragraph.
    `remarks=True` includes such sentences.

    >>> from tempfile import TemporaryDirectory
    >>> from groundling.tasks.mazes import generate_mazes, generate_routes
    >>> with TemporaryDirectory() as folder:
    ...     write_mazes(Path(folder), generate_routes(generate_mazes(1, 2), 10, seed=1))
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
        _write_xml(folder / "maps" / f"map-{plain}.xml", "map", maze.name, _maze(maze))
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
    _write_xml(folder / "data" / "Paragraph.xml", "examples", "", paragraphs)
    _write_xml(folder / "data" / "SingleSentence.xml", "examples", "", singles)


def _write_xml(file: Path, tag: str, name: str, lines: Sequence[str]) -> None:
    opening = f"<{tag} name={quoteattr(name)}>" if name else f"<{tag}>"
    text = "\n".join(['<?xml version="1.0"?>', opening, *lines, f"</{tag}>", ""])
    file.write_text(text, encoding="utf-8")


def _maze(maze: Maze) -> list[str]:
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


# ---- maps -------------------------------------------------------------------------------------


def write_maps(folder: str | Path, corpus: MapCorpus) -> None:
    """Write a corpus to a folder, in the format of `load_corpus`.

    >>> import tempfile
    >>> from groundling.tasks.maps import generate_corpus, load_corpus
    >>> corpus = generate_corpus(maps=2, dialogues=1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_maps(folder, corpus)
    ...     load_corpus(folder) == corpus
    True
    """
    folder = Path(folder)
    for name in ("landmarks", "transcripts"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, sheet in corpus.maps.items():
        write_map(folder / "landmarks" / f"{number}g.xml", sheet)
    for dialogue in corpus.dialogues:
        write_transcript(folder / "transcripts" / f"{dialogue.name}.txt", dialogue.utterances)
    (folder / "correspondences.txt").write_text(
        "".join(f"{each.name},{each.map}\n" for each in corpus.dialogues), encoding="utf-8"
    )


def write_map(path: str | Path, sheet: MapSheet) -> None:
    """Write a map file, in the format of `read_map`."""
    path = Path(path)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<topography file={quoteattr(path.name)}>",
        f'  <path stops="{len(sheet.route)}">',
        *(f"    <stop {_place(point)} />" for point in sheet.route),
        "  </path>",
    ]
    finish = () if sheet.finish is None else (sheet.finish,)
    for landmark in (*sheet.landscape.landmarks, *finish):
        words = "_".join(landmark.words) + (f"_{landmark.copy}" if landmark.copy > 1 else "")
        found = LANDMARK_NAME.fullmatch(f"m{sheet.number}_{words}")
        if not found or (found["words"].replace("_", " "), int(found["copy"] or 1)) != (
            landmark.name,
            landmark.copy,
        ):
            raise CorpusError(
                f"{path} cannot store the landmark {landmark.key!r}. Use a name without "
                "underscores that does not end in a number from 2 to 9, for at most nine landmarks."
            )
        crossable = "true" if landmark.crossable else "false"
        lines += [
            f"  <landmark name={quoteattr(f'm{sheet.number}_{words}')}>",
            f'    <spot {_place(landmark.position)} canCross="{crossable}" '
            f'r="{landmark.radius:g}" />',
        ]
        if landmark.outline:
            corners = (f"      <vertix {_place(corner)} />" for corner in landmark.outline)
            lines += ["    <polygon>", *corners, "    </polygon>"]
        else:
            lines.append("    <polygon />")
        lines.append("  </landmark>")
    lines.append("</topography>")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _place(point: Point) -> str:
    # repr gives the shortest digits that read back as the same number
    x, y = (str(int(value)) if value == int(value) else repr(float(value)) for value in point)
    return f'x="{x}" y="{y}"'


def write_transcript(path: str | Path, utterances: Collection[DialogueLine]) -> None:
    """Write a transcript file, in the format of `read_transcript`.

    >>> import tempfile
    >>> from groundling.tasks.maps.corpus import read_transcript
    >>> said = (DialogueLine("g", "go south"), DialogueLine("f", "okay"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_transcript(Path(folder, "talk.txt"), said)
    ...     read_transcript(Path(folder, "talk.txt")) == said
    True
    """
    path = Path(path)
    heading = f"Found 2 args.\nObservation: {path.stem}; Result size: {len(utterances)}; atts: 2\n"
    lines = "".join(f"{each.speaker}\t{' '.join(each.words)} \t\n" for each in utterances)
    path.write_text(f"{heading}who\t$m\t\n{lines}", encoding="utf-8")


# ---- puzzles ----------------------------------------------------------------------------------


def write_puzzles(puzzles: Iterable[Puzzle], folder: str | Path) -> None:
    """Write puzzles to a corpus folder, in the format of `read_corpus`."""
    chosen: Sequence[Puzzle] = sorted(puzzles, key=lambda each: each.number)
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    games, plans, texts = [], [], []
    for puzzle in chosen:
        games.append("\n".join((str(puzzle.number), f":{puzzle.k}", *puzzle.board.rows())))
        plans.append("\n".join((str(puzzle.number), *map(_write_strike, expand(puzzle.plan)))))
        if puzzle.text:
            words = puzzle.text.split()
            if any("_" in word for word in words):
                raise CorpusError(
                    f"The hints of puzzle {puzzle.number} must not contain underscores, "
                    "which mark pairs of words in the file. Replace them."
                )
            mixed = [words[0]]
            for left, right in pairwise(words):
                mixed += [f"{left}_{right}", right]
            texts.append(f"# {puzzle.number}\n@ {puzzle.number}\n{' '.join(mixed)}")
    for name, blocks in ((GAMES, games), (SOLUTIONS, plans), (HINTS, texts)):
        (where / name).write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _write_strike(action: Strike) -> str:
    letter, line = action.orientation[0], action.lines[0]
    part = "" if action.first is None else f":{action.first}:{action.last}"
    return f"{letter}:{line}{part}"


def expand(plan: Iterable[Strike]) -> tuple[Strike, ...]:
    """Return the plan with each multi-strike split into single lines.

    >>> from groundling.tasks.puzzles import Strike
    >>> [str(each) for each in expand([Strike("row", (0, 2)), Strike("column", (1,))])]
    ['row 1', 'row 3', 'column 2']
    """
    strikes: list[Strike] = []
    for action in plan:
        if action.is_full:
            strikes += [Strike(action.orientation, (line,)) for line in action.lines]
        else:
            strikes.append(action)
    return tuple(strikes)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the samples into the folders of the corpora."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="an empty folder")
    folder: Path = parser.parse_args(arguments).folder
    write_mazes(folder / "sail", generate_sample())
    write_maps(folder / "hcrc", MapTask().load(None))
    write_puzzles(PuzzleTask().load(None), folder / "crossblock" / "data")


if __name__ == "__main__":
    main()
