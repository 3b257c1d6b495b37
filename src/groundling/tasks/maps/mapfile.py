"""The map file: a drawn route and its landmarks as XML, in the format of the HCRC maps.

::

    <topography file="3g.xml">
      <path stops="2"> <stop x="100" y="300" /> <stop x="90" y="310" /> </path>
      <landmark name="m3_start">
        <spot x="100" y="300" canCross="false" r="20" /> <polygon />
      </landmark>
      <landmark name="m3_old_mill_2"> … </landmark>
    </topography>

Names carry the map's number before and, for the second landmark of a name, a 2 behind.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from groundling.corpora.markup import read_xml
from groundling.errors import CorpusError
from groundling.tasks.maps.landscape import Landmark, Landscape, MapStep, Point, trace_route

_NAME = re.compile(r"(?:m(?P<number>\d+)_)?(?P<words>.+?)(?:_(?P<copy>[2-9]))?")
_FILE = re.compile(r"(\d+)g\.xml")


@dataclass(frozen=True)
class MapSheet:
    """The giver's map: a landscape, the route drawn across it, and the finish.

    Parameters
    ----------
    number
        The number of the map.
    landscape
        The landmarks without the finish, which only the giver's route leads to.
    route
        The points of the drawn line, in pixels.
    finish
        The cross where the route ends, where known.

    Examples
    --------
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape((Landmark("start", 50, 50), Landmark("cave", 50, 350)))
    >>> sheet = MapSheet(3, landscape, route=((60, 50), (90, 340)))
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
        """The landmarks and sides within 75 pixels of the route: the reference path."""
        return trace_route(self.landscape, self.route)


def map_number(path: Path) -> int:
    """Return the number in a map file's name.

    >>> map_number(Path("landmarks/12g.xml"))
    12
    """
    found = _FILE.fullmatch(path.name)
    if not found:
        raise CorpusError(
            f"{path} is not named like a map; call it by its number and a g, such as 12g.xml."
        )
    return int(found[1])


def read_map(path: str | Path) -> MapSheet:
    """Read a map file; its number is taken from the file's name.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "7g.xml")
    >>> landscape = Landscape((Landmark("start", 50.0, 50.0), Landmark("cave", 50.0, 350.0)))
    >>> write_map(path, MapSheet(7, landscape, ((60.0, 50.0), (90.0, 340.0))))
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
            f"{path} has no route: no <stop> inside <path>. "
            "A map needs the giver's route; the follower's maps have none."
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
                f"{path}: landmark {place} is a second {element.get('name')!r}. "
                "Number landmarks of the same name: old_mill, old_mill_2."
            )
        landmarks[landmark.key] = landmark
    finish = landmarks.pop("finish", None)
    if "start" not in landmarks:
        raise CorpusError(
            f"{path} has no start among its {len(landmarks)} landmarks. "
            f"Add a landmark named m{number}_start where the route begins."
        )
    landscape = Landscape(tuple(landmarks.values()), name=f"map {number}")
    sheet = MapSheet(number, landscape, route, finish)
    if not sheet.steps:
        raise CorpusError(
            f"{path}: the route passes none of the {len(landscape)} landmarks within 75 pixels. "
            "Check that route and landmarks are in the same pixels."
        )
    return sheet


def _landmark(element: Any, number: int, path: Path, place: int) -> Landmark:
    name = element.get("name")
    where = f"landmark {place}" + (f" ({name!r})" if name else "")
    found = _NAME.fullmatch(name or "")
    if not found or not found["words"].replace("_", " ").strip():
        raise CorpusError(f"{path}: {where} has no name. Give it one, such as m{number}_old_mill.")
    if found["number"] and int(found["number"]) != number:
        raise CorpusError(
            f"{path}: {where} belongs to map {int(found['number'])}, but the file is map {number}. "
            "Rename the file or the landmark."
        )
    spot = element.find("spot")
    if spot is None:
        raise CorpusError(
            f'{path}: {where} has no position. Add <spot x="…" y="…" /> with its centre in pixels.'
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
        found = "is missing" if written is None else f"is {written!r}"
        raise CorpusError(
            f"{path}: {where}: the {name} of its <{element.tag}> {found}. "
            "Write a number of pixels, such as 120."
        )
    return value


def write_map(path: str | Path, sheet: MapSheet) -> None:
    """Write a map file that `read_map` reads back as an equal map (see there)."""
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
                f"{path}: the landmark {landmark.key!r} would not be read back as it is. Use names "
                "of plain words, without a number at the end, and at most nine of one name."
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
