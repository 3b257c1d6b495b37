"""Reader of Home Assistant exports: entities, areas, floors and devices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundling.data.lines import parse_json
from groundling.errors import DemonstrationError
from groundling.files import read_plain
from groundling.home.home import Home, HomeError
from groundling.limits import YAML_BYTES

_REGISTRIES = {"entities": "entity", "areas": "area", "floors": "floor", "devices": "device"}
_COPY = "Copy the file from the `.storage` folder of Home Assistant again."


def read_export(folder: Path) -> Home:
    """Return the home that Home Assistant's registry files describe.

    The folder is a Home Assistant configuration, its `.storage` folder, or a folder with copies of
    `core.entity_registry` and `core.area_registry`. The registries of floors and devices, and
    `core.restore_state` with the last states, are optional. Disabled and hidden entities are
    skipped.
    """
    place = folder / ".storage" if (folder / ".storage").is_dir() else folder
    read = {kind: _registry(place, name, kind) for kind, name in _REGISTRIES.items()}
    if read["entities"] is None:
        raise HomeError(
            f"{folder} must be a YAML file, or a folder with Home Assistant's "
            "`core.entity_registry` and `core.area_registry`; got neither. Copy these files from "
            "the `.storage` folder of Home Assistant."
        )
    states = _states(place)
    devices = {str(each.get("id")): each for each in read["devices"] or []}
    areas = [
        {
            "id": str(_first(row, "id", "area_id")), "name": row.get("name"),
            "aliases": _texts(row.get("aliases")), "floor": row.get("floor_id"),
        }
        for row in read["areas"] or []
    ]  # fmt: skip
    floors = [
        {
            "id": str(_first(row, "floor_id", "id")), "name": row.get("name"),
            "aliases": _texts(row.get("aliases")),
        }
        for row in read["floors"] or []
    ]  # fmt: skip
    entities = [
        _entity(row, devices, states)
        for row in read["entities"] or []
        if not row.get("disabled_by") and not row.get("hidden_by")
    ]
    data = {"floors": floors, "areas": areas, "entities": entities}
    return Home.from_data(data, str(folder))


def _entity(
    row: Mapping[str, Any], devices: Mapping[str, Mapping[str, Any]], states: Mapping[str, Any]
) -> dict[str, Any]:
    id_ = str(row.get("entity_id"))
    device = devices.get(str(row.get("device_id")), {})
    called = device.get("name_by_user") or device.get("name")
    name = row.get("name") or row.get("original_name")
    if row.get("has_entity_name") and not row.get("name") and called:
        name = f"{called} {name}" if name else called
    state = states.get(id_, {})
    given = state.get("attributes")
    attributes = {
        key: value
        for key, value in (given.items() if isinstance(given, Mapping) else ())
        if isinstance(value, (str, int, float, bool))
        or (isinstance(value, list) and all(isinstance(e, (str, int, float)) for e in value))
    }
    device_class = row.get("device_class") or row.get("original_device_class")
    if device_class:
        attributes["device_class"] = device_class
    return {
        "id": id_,
        "name": name or called or id_.partition(".")[2].replace("_", " "),
        "aliases": _texts(row.get("aliases")),
        "area": row.get("area_id") or device.get("area_id"),
        "state": state.get("state"),
        "attributes": attributes,
    }


def _registry(place: Path, name: str, kind: str) -> list[dict[str, Any]] | None:
    path = place / f"core.{name}_registry"
    if not path.is_file():
        return None
    data = _json(path)
    rows = data.get("data", {}).get(kind) if isinstance(data.get("data"), Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(each, Mapping) for each in rows):
        raise HomeError(f"{path} must have a list of objects in `data.{kind}`. {_COPY}")
    return rows


def _states(place: Path) -> dict[str, Any]:
    path = place / "core.restore_state"
    if not path.is_file():
        return {}
    rows = _json(path).get("data")
    listed = rows if isinstance(rows, list) else []
    states = [each.get("state") for each in listed if isinstance(each, Mapping)]
    return {str(each.get("entity_id")): each for each in states if isinstance(each, Mapping)}


def _json(path: Path) -> Mapping[str, Any]:
    try:
        text = read_plain(path, YAML_BYTES, HomeError).decode("utf-8-sig")
        data = parse_json(text.strip(), _COPY)
    except (UnicodeDecodeError, DemonstrationError) as error:
        raise HomeError(f"{path} must contain valid JSON. {str(error)[:200]}") from error
    if not isinstance(data, Mapping):
        raise HomeError(f"{path} must contain a JSON object. {_COPY}")
    return data


def _first(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name)), "")


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value if each] if isinstance(value, list) else []
