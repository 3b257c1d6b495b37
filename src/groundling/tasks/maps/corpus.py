"""The map corpus: maps, routes and dialogues in the HCRC layout.

::

    correspondences.txt      talk7,3             the map of each dialogue
    landmarks/3g.xml         the giver's map: the drawn route, landmarks, start and finish
    transcripts/talk7.txt    g⇥words, f⇥words    utterances of the giver and the follower
    images/map3g.gif         a scan of the map (optional)

A map file::

    <topography file="3g.xml">
      <path stops="2"> <stop x="100" y="300" /> <stop x="90" y="310" /> </path>
      <landmark name="m3_start">
        <spot x="100" y="300" canCross="false" r="20" /> <polygon />
      </landmark>
      <landmark name="m3_old_mill_2"> … </landmark>
    </topography>

Landmark names start with the number of the map; a second landmark with the same name ends in 2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from groundling.corpora.markup import read_lines, read_xml
from groundling.errors import CorpusError, did_you_mean
from groundling.tasks.maps.landscape import Landmark, Landscape, MapStep, Point, trace_route

_NAME = re.compile(r"(?:m(?P<number>\d+)_)?(?P<words>.+?)(?:_(?P<copy>[2-9]))?")
_FILE = re.compile(r"(\d+)g\.xml")


@dataclass(frozen=True)
class MapSheet:
    """The instruction giver's map: a landscape, the route drawn on it, and the finish.

    Parameters
    ----------
    number
        The number of the map.
    landscape
        The landmarks, without the finish.
    route
        The points of the drawn line, in pixels.
    finish
        The end of the route, if it is known.

    Examples
    --------
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape((Landmark("start", 50, 50), Landmark("cave", 50, 350)))
    >>> sheet = MapSheet(number=3, landscape=landscape, route=((60, 50), (90, 340)))
    >>> [tuple(step) for step in sheet.steps]
    [('start', 'East'), ('cave', 'East')]
    """

    number: int
    landscape: Landscape
    route: tuple[Point, ...]
    finish: Landmark | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "route", tuple(self.route))

    @cached_property
    def steps(self) -> tuple[MapStep, ...]:
        """Reference path: landmarks within 75 pixels of the route, and the sides passed."""
        return trace_route(self.landscape, self.route)


def map_number(path: Path) -> int:
    """Return the number of the map in the name of a map file.

    >>> map_number(Path("landmarks/12g.xml"))
    12
    """
    found = _FILE.fullmatch(path.name)
    if not found:
        raise CorpusError(
            f"The name of a map file must consist of a number and the letter g, such as "
            f"12g.xml; got {path}."
        )
    return int(found[1])


def read_map(path: str | Path) -> MapSheet:
    """Return the map in a file; its number is taken from the file name.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "7g.xml")
    >>> landscape = Landscape((Landmark("start", 50.0, 50.0), Landmark("cave", 50.0, 350.0)))
    >>> write_map(path, MapSheet(7, landscape, route=((60.0, 50.0), (90.0, 340.0))))
    >>> read_map(path).landscape.keys
    ('start', 'cave')
    >>> folder.cleanup()
    """
    path = Path(path)
    number = map_number(path)
    root = read_xml(path, dtd=True)
    line = root.find("path")
    stops = [] if line is None else line.findall("stop")
    if not stops:
        raise CorpusError(
            f"{path} must have a route: <stop> elements inside <path>. Maps of the follower have "
            "no route; use the maps of the giver."
        )
    route = tuple(
        (_number(stop, "x", path, f"stop {place}"), _number(stop, "y", path, f"stop {place}"))
        for place, stop in enumerate(stops, 1)
    )
    landmarks: dict[str, Landmark] = {}
    for place, element in enumerate(root.findall("landmark"), 1):
        landmark = _landmark(element, number, path, place)
        if landmark.key in landmarks:
            raise CorpusError(
                f"{path}: landmark names must be unique; landmark {place} repeats the name "
                f"{element.get('name')!r}. Number landmarks with equal names: old_mill, old_mill_2."
            )
        landmarks[landmark.key] = landmark
    finish = landmarks.pop("finish", None)
    if "start" not in landmarks:
        raise CorpusError(
            f"{path} must have a landmark named m{number}_start, where the route starts; got none "
            "with this name. Add this landmark."
        )
    landscape = Landscape(tuple(landmarks.values()), name=f"map {number}")
    sheet = MapSheet(number, landscape, route, finish)
    if not sheet.steps:
        raise CorpusError(
            f"{path}: the route must pass within 75 pixels of a landmark; got a route that is "
            "farther from all landmarks. Check that the route and the landmarks use the same "
            "coordinates."
        )
    return sheet


def _landmark(element: Any, number: int, path: Path, place: int) -> Landmark:
    name = element.get("name")
    where = f"landmark {place}" + (f" ({name!r})" if name else "")
    found = _NAME.fullmatch(name or "")
    if not found or not found["words"].replace("_", " ").strip():
        raise CorpusError(f"{path}: {where} must have a name, such as m{number}_old_mill.")
    if found["number"] and int(found["number"]) != number:
        raise CorpusError(
            f"{path}: {where} must belong to map {number}; got map {int(found['number'])}. Rename "
            "the file or the landmark."
        )
    spot = element.find("spot")
    if spot is None:
        raise CorpusError(
            f'{path}: {where} must have a position: <spot x="…" y="…" /> with its centre in pixels.'
        )
    corners = element.findall("polygon/vertix")
    return Landmark(
        name=found["words"].replace("_", " ").strip(),
        x=_number(spot, "x", path, where),
        y=_number(spot, "y", path, where),
        copy=int(found["copy"] or 1),
        outline=tuple(
            (_number(c, "x", path, where), _number(c, "y", path, where)) for c in corners
        ),
        crossable=spot.get("canCross") == "true",
        radius=_number(spot, "r", path, where) if spot.get("r") is not None else 20.0,
    )


def _number(element: Any, name: str, path: Path, where: str) -> float:
    written = element.get(name)
    try:
        value = float(written)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        found = "none" if written is None else repr(written)
        raise CorpusError(
            f"{path}: {where}: the {name} of its <{element.tag}> must be a number of pixels, such "
            f"as 120; got {found}."
        )
    return value


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
        found = _NAME.fullmatch(f"m{sheet.number}_{words}")
        if not found or (found["words"].replace("_", " "), int(found["copy"] or 1)) != (
            landmark.name,
            landmark.copy,
        ):
            raise CorpusError(
                f"{path} cannot store the landmark {landmark.key!r}. Use a name without "
                "underscores that does not end in a number from 2 to 9; at most nine landmarks may "
                "have the same name."
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


GIVER, FOLLOWER = "g", "f"

_DIALOGUE_NAME = re.compile(r"[\w-]+")


class DialogueLine(NamedTuple):
    """An utterance in a dialogue, with its speaker.

    >>> DialogueLine(GIVER, "go round the mill").words
    ('go', 'round', 'the', 'mill')
    """

    speaker: str
    text: str

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the utterance."""
        return tuple(self.text.split())


@dataclass(frozen=True)
class Dialogue:
    """Dialogue in which a giver describes a route that the follower cannot see.

    >>> lines = DialogueLine(GIVER, "go south"), DialogueLine(FOLLOWER, "okay")
    >>> talk = Dialogue("talk", map=3, utterances=lines)
    >>> talk.giver
    (DialogueLine(speaker='g', text='go south'),)
    """

    name: str
    map: int
    utterances: tuple[DialogueLine, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "utterances", tuple(self.utterances))

    @property
    def giver(self) -> tuple[DialogueLine, ...]:
        """Utterances of the giver."""
        return tuple(each for each in self.utterances if each.speaker == GIVER)


@dataclass(frozen=True)
class MapCorpus:
    """Maps by number, with the dialogues about them.

    Parameters
    ----------
    maps
        The maps of the instruction giver, by number.
    dialogues
        The dialogues, in the order of the correspondences.
    folder
        The folder of the corpus, for the scanned images; None if it was generated.
    """

    maps: Mapping[int, MapSheet]
    dialogues: tuple[Dialogue, ...]
    folder: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dialogues", tuple(self.dialogues))
        for dialogue in self.dialogues:
            self.sheet(dialogue)

    def sheet(self, dialogue: Dialogue) -> MapSheet:
        """Return the map that a dialogue is about."""
        if dialogue.map not in self.maps:
            raise CorpusError(
                f"The dialogue {dialogue.name!r} must refer to a map of the corpus; got "
                f"{dialogue.map}.{did_you_mean(dialogue.map, self.maps)}"
            )
        return self.maps[dialogue.map]

    def steps(self, dialogue: Dialogue) -> tuple[MapStep, ...]:
        """Return the reference path of the map that a dialogue is about."""
        return self.sheet(dialogue).steps

    def image(self, number: int) -> Path | None:
        """Return the path of a giver's scanned map, or None if there is no scan."""
        if self.folder is None:
            return None
        path = self.folder / "images" / f"map{number}g.gif"
        return path if path.is_file() else None

    def split(
        self, test_maps: Collection[int] | None = None
    ) -> tuple[tuple[Dialogue, ...], tuple[Dialogue, ...]]:
        """Return training and test dialogues, which share no map.

        By default, the last quarter of the maps is held out for testing: maps 12 to 15 of the HCRC
        corpus, as in Vogel and Jurafsky.
        """
        if test_maps is None:
            numbers = sorted(self.maps)
            test_maps = numbers[len(numbers) - len(numbers) // 4 :]
        unknown = [number for number in test_maps if number not in self.maps]
        if unknown:
            raise CorpusError(
                f"`test_maps` must contain only maps of the corpus; got {unknown[0]}."
                f"{did_you_mean(unknown[0], self.maps)}"
            )
        return (
            tuple(each for each in self.dialogues if each.map not in test_maps),
            tuple(each for each in self.dialogues if each.map in test_maps),
        )


def load_corpus(folder: str | Path) -> MapCorpus:
    """Return the map corpus in a folder."""
    folder = Path(folder)
    about = read_correspondences(folder / "correspondences.txt")
    files = {map_number(path): path for path in sorted((folder / "landmarks").glob("*g.xml"))}
    if not files:
        raise CorpusError(
            f"{folder / 'landmarks'} must contain maps; got none. Pass the folder with "
            "correspondences.txt, landmarks and transcripts."
        )
    for line, (name, number) in enumerate(about.items(), 1):
        if number not in files:
            known = ", ".join(map(str, sorted(files)))
            raise CorpusError(
                f"{folder / 'correspondences.txt'}, entry {line}: the dialogue {name!r} refers to "
                f"map {number}, but there is no landmarks/{number}g.xml. Known maps: {known}."
            )
    return MapCorpus(
        maps={number: read_map(files[number]) for number in sorted(files)},
        dialogues=tuple(
            Dialogue(name, number, read_transcript(folder / "transcripts" / f"{name}.txt"))
            for name, number in about.items()
        ),
        folder=folder,
    )


def write_corpus(folder: str | Path, corpus: MapCorpus) -> None:
    """Write a corpus to a folder, in the format of `load_corpus`.

    >>> import tempfile
    >>> from groundling.tasks.maps.generator import generate_corpus
    >>> corpus = generate_corpus(maps=2, dialogues=1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_corpus(folder, corpus)
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


def read_correspondences(path: str | Path) -> dict[str, int]:
    """Return the map number of each dialogue, from lines such as `talk7,3`."""
    path = Path(path)
    about: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        name, comma, written = (part.strip() for part in line.partition(","))
        # a name becomes part of a path, which must stay inside the folder
        if not comma or not _DIALOGUE_NAME.fullmatch(name) or not written.isdecimal():
            raise CorpusError(
                f"{path}, line {number}, must consist of a dialogue, a comma and a map, "
                "such as talk7,3; "
                f"got {line.strip()[:60]!r}."
            )
        if name in about:
            raise CorpusError(
                f"{path}, line {number}: each dialogue must be listed once; got {name!r} twice. "
                "Remove one line."
            )
        about[name] = int(written)
    if not about:
        raise CorpusError(
            f"{path} must list at least one dialogue; got none. Add one per line as DIALOGUE,MAP, "
            "such as talk7,3."
        )
    return about


def read_transcript(path: str | Path) -> tuple[DialogueLine, ...]:
    """Return the utterances in a transcript.

    Each line has `g` (giver) or `f` (follower), a tab, and the words. Lines before the heading
    `who⇥…`, if there is one, and utterances without words are skipped.
    """
    path = Path(path)
    lines = read_lines(path)
    heading = next((i for i, line in enumerate(lines[:20]) if line.startswith("who\t")), -1)
    utterances: list[DialogueLine] = []
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        if not line.strip():
            continue
        speaker, tab, words = line.partition("\t")
        if not tab or speaker.strip() not in (GIVER, FOLLOWER):
            raise CorpusError(
                f"{path}, line {number}, must be g (giver) or f (follower), a tab and words; "
                f"got {line.strip()[:60]!r}."
            )
        if words.strip():
            utterances.append(DialogueLine(speaker.strip(), " ".join(words.split())))
    if not any(each.speaker == GIVER for each in utterances):
        raise CorpusError(
            f"{path} must contain at least one utterance of the giver; got none. Start the lines "
            "of the giver with g and a tab."
        )
    return tuple(utterances)


def write_transcript(path: str | Path, utterances: Collection[DialogueLine]) -> None:
    """Write a transcript file, in the format of `read_transcript`.

    >>> import tempfile
    >>> said = (DialogueLine(GIVER, "go south"), DialogueLine(FOLLOWER, "okay"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_transcript(Path(folder, "talk.txt"), said)
    ...     read_transcript(Path(folder, "talk.txt")) == said
    True
    """
    path = Path(path)
    heading = f"Found 2 args.\nObservation: {path.stem}; Result size: {len(utterances)}; atts: 2\n"
    lines = "".join(f"{each.speaker}\t{' '.join(each.words)} \t\n" for each in utterances)
    path.write_text(f"{heading}who\t$m\t\n{lines}", encoding="utf-8")
