"""Import and export of projects as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from groundling.data.format import FORMAT, VERSION, RecordReader
from groundling.data.lines import parse_json, parse_line
from groundling.data.scene_world import SceneWorld
from groundling.data.worlds import Worlds
from groundling.errors import DemonstrationError, GroundlingError
from groundling.limits import IMPORT_RECORDS
from groundling.studio.project import Project
from groundling.studio.scenes import HARMLESS, Setting, check_source
from groundling.studio.store import Record

APART = "kept apart"
TOLD = 50  # maximum number of invalid lines to report


class Brought(NamedTuple):
    """Header of an exported file: the world's title and source, and the pupil's name."""

    title: str
    source: dict[str, Any]
    pupil: str


def read_brought(data: bytes) -> Brought | None:
    """Return the header of an exported file; None if the file has no header.

    Raises `DemonstrationError` if the file names a source that may run code.

    >>> head = {"format": FORMAT, "version": VERSION, "title": "Kitchen", "pupil": "Mia"}
    >>> read_brought(json.dumps({**head, "source": {"kind": "lesson"}}).encode())
    Brought(title='Kitchen', source={'kind': 'lesson'}, pupil='Mia')
    >>> read_brought(b'{"text": "go"}') is None
    True
    """
    first = next((line for line in data.split(b"\n", 20)[:20] if line.strip()), b"")
    try:
        head = parse_json(first.decode("utf-8-sig").strip(), "")
    except (UnicodeDecodeError, DemonstrationError):
        return None
    if not isinstance(head, dict) or head.get("format") != FORMAT or "source" not in head:
        return None
    parse_line(first)  # raises an error for an unsupported version
    source = check_source(head["source"])
    if source["kind"] not in HARMLESS:
        raise DemonstrationError(
            "The world in the file must be from the gallery or the editor. Choose another file."
        )
    return Brought(str(head.get("title", ""))[:80], source, str(head.get("pupil", ""))[:40])


def portable_source(setting: Setting) -> dict[str, Any] | None:
    """Return a source that opens the world on any machine; None if it would run code."""
    world = setting.scenes[0].environment
    if isinstance(world, SceneWorld) and setting.source["kind"] != "gallery":
        return {"kind": "scene", "scene": {**world.to_dict(), "examples": []}}
    return dict(setting.source) if setting.source["kind"] in HARMLESS else None


def export_lines(project: Project) -> Iterator[str]:
    """Yield the lines of a file with the world, the pupil and all demonstrations.

    `groundling studio` opens such a file, and `groundling train` reads its demonstrations.
    """
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    source = portable_source(project.setting)
    if source is not None:
        head |= {"title": project.setting.title, "source": source}
        if pupil := project.store.get("pupil"):
            head["pupil"] = pupil
    yield json.dumps(head) + "\n"
    # If all scenes share one environment, the initial states identify them.
    several = len({id(each.environment) for each in project.setting.scenes}) > 1
    for each in project.store.records():
        record: dict[str, Any] = {
            "text": each.text,
            **({"world": each.scene} if several else {}),
            "start": each.start,
            "actions": list(each.actions),
        }
        if each.weight != 1.0:
            record["weight"] = each.weight
        if each.apart:
            record["note"] = APART
        yield json.dumps(record) + "\n"


def import_lines(project: Project, data: bytes) -> tuple[list[Record], dict[int, str]]:
    """Return a record for each valid line, and a problem for each invalid line.

    A record belongs to the first scene if it has no world, or if its world is the title of the
    setting. Raises `DemonstrationError` if there are no valid lines or too many lines.
    """
    scenes = project.setting.scenes
    worlds = {project.setting.title: scenes[0].environment}
    worlds.update({each.name: each.environment for each in scenes})
    reader = RecordReader(Worlds(worlds))
    found: list[Record] = []
    refused: dict[int, str] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        IMPORT_RECORDS.check(len(found) + len(refused) + 1, DemonstrationError, "An import")
        try:
            record = parse_line(line)
            if record is not None:  # None stands for the header
                found.append(_read(project, reader, record, number))
        except GroundlingError as error:
            refused[number] = " ".join(str(error).split())[:500]
    if not found:
        for number, problem in refused.items():
            raise DemonstrationError(_unfitting(project, read_brought(data), number, problem))
        raise DemonstrationError(
            "The file must contain at least one demonstration; got none. Choose a JSON Lines file "
            "from Export."
        )
    return found, refused


def _unfitting(project: Project, brought: Brought | None, line: int, problem: str) -> str:
    """Return a message that explains why no line of a file could be imported."""
    own = project.setting.title
    if brought is not None and brought.title not in ("", own):
        return (
            f"This file belongs to the world “{brought.title}”, and this project is the world "
            f"“{own}”. Nothing was imported. The file contains its own world: open it with “Open a "
            "file” on the Worlds page."
        )
    return (
        f"Line {line}: {problem} Nothing was imported, because no example in this file fits the "
        f"world “{own}”. If the examples are from another world, open that world first, and import "
        "the file there."
    )


def _read(project: Project, reader: RecordReader, record: dict[str, Any], number: int) -> Record:
    first = project.setting.scenes[0].name
    scene = record.setdefault("world", first) or first
    try:
        shown = reader.read(record, "the file", number)
    except GroundlingError:
        raise
    except Exception as error:  # one invalid line must not stop the import
        raise DemonstrationError(
            f"The record cannot be read: {type(error).__name__}: {error}. Correct or remove "
            "the line."
        ) from error
    text = shown.instructions
    name = first if scene == project.setting.title else str(scene)
    return project.check(
        Record(
            name,
            text if isinstance(text, str) else "\n".join(map(str, text)),
            project.write_state(name, shown.start),
            tuple(project.write_actions(name, shown.actions)),
            weight=shown.weight,
            apart=record.get("note") == APART,
            origin="imported",
        )
    )
