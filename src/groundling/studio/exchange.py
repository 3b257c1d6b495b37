"""Demonstrations of a project as JSON Lines, in and out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from groundling.data.format import FORMAT, VERSION, RecordReader
from groundling.data.lines import parse_line
from groundling.data.worlds import Worlds
from groundling.errors import DemonstrationError, GroundlingError
from groundling.studio.project import Project
from groundling.studio.store import Record

__all__ = ["export_lines", "import_lines"]

APART = "kept apart"
MOST = 20_000


def export_lines(project: Project) -> Iterator[str]:
    """Yield all demonstrations, one a line, in the format that `groundling train` reads."""
    yield json.dumps({"format": FORMAT, "version": VERSION}) + "\n"
    for each in project.store.records():
        record: dict[str, Any] = {
            "text": each.text,
            "world": each.scene,
            "start": each.start,
            "actions": list(each.actions),
        }
        if each.weight != 1.0:
            record["weight"] = each.weight
        if each.apart:
            record["note"] = APART
        yield json.dumps(record, ensure_ascii=False) + "\n"


def import_lines(project: Project, data: bytes) -> list[Record]:
    """Read demonstrations; the first bad line is an error, and nothing is taken over then.

    A record without a world, or of the world's own name, goes to the first scene.
    """
    scenes = project.setting.scenes
    worlds = {project.setting.title: scenes[0].environment}
    worlds.update({each.name: each.environment for each in scenes})
    reader = RecordReader(Worlds(worlds))
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = parse_line(line)
            if record is None:  # the header
                continue
            scene = str(record.get("world") or scenes[0].name)
            record["world"] = scene
            scene = scenes[0].name if scene == project.setting.title else scene
            shown = reader.read(record, "the file", number)
            text = shown.instructions
            if not isinstance(text, str):
                text = "\n".join(str(each) for each in text)
            read = Record(
                scene, text, project.write_state(scene, shown.start),
                tuple(project.write_actions(scene, shown.actions)),
                weight=shown.weight, apart=record.get("note") == APART, origin="imported",
            )  # fmt: skip
            project.check(read)
        except GroundlingError as error:
            raise DemonstrationError(f"Line {number}: {error} Nothing was imported.") from error
        found.append(read)
        if len(found) > MOST:
            raise DemonstrationError(f"At most {MOST:,} demonstrations are imported at once.")
    if not found:
        raise DemonstrationError("There are no demonstrations in the file.")
    return found
