"""Import and export of a project's demonstrations as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from groundling.data.format import FORMAT, VERSION, RecordReader
from groundling.data.lines import parse_line
from groundling.data.worlds import Worlds
from groundling.errors import DemonstrationError, GroundlingError
from groundling.limits import IMPORT_RECORDS
from groundling.studio.project import Project
from groundling.studio.store import Record

__all__ = ["export_lines", "import_lines"]

APART = "kept apart"
TOLD = 50  # maximum number of invalid lines to report


def export_lines(project: Project) -> Iterator[str]:
    """Yield all demonstrations as JSON Lines that `groundling train` reads."""
    yield json.dumps({"format": FORMAT, "version": VERSION}) + "\n"
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
    """Return the records of all valid lines, and a problem for each invalid line.

    A record without a world, or with the title of the setting as its world, belongs to the first
    scene. Raises DemonstrationError if there are no valid lines or too many lines.
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
            if record is not None:  # None is the header
                found.append(_read(project, reader, record, number))
        except GroundlingError as error:
            refused[number] = " ".join(str(error).split())[:500]
    if not found:
        for number, problem in refused.items():
            raise DemonstrationError(
                f"Line {number}: {problem} Nothing was imported. Correct the line, and import "
                "the file again."
            )
        raise DemonstrationError(
            "The file must have at least one demonstration; got none. Choose a JSON Lines file "
            "from Export."
        )
    return found, refused


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
