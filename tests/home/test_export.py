"""Homes as Home Assistant stores them: the registries of entities, areas, floors and devices."""

import json

import pytest

from groundling.home import HomeError, read_home


def write(folder, name, kind, rows):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"core.{name}_registry").write_text(
        json.dumps({"version": 1, "data": {kind: rows}}), encoding="utf-8"
    )


@pytest.fixture
def config(tmp_path):
    storage = tmp_path / ".storage"
    write(storage, "area", "areas", [
        {"id": "den", "name": "Den", "aliases": ["Study"], "floor_id": "up"},
    ])  # fmt: skip
    write(storage, "floor", "floors", [{"floor_id": "up", "name": "Upstairs", "aliases": []}])
    write(storage, "device", "devices", [
        {"id": "d1", "name": "Hue", "name_by_user": None, "area_id": "den"},
    ])  # fmt: skip
    write(storage, "entity", "entities", [
        {"entity_id": "light.desk", "name": "Desk Lamp", "original_name": "x", "area_id": None,
         "device_id": "d1", "aliases": ["Reading light"]},
        {"entity_id": "cover.a", "name": None, "original_name": "Blind", "has_entity_name": True,
         "device_id": "d1", "original_device_class": "blind"},
        {"entity_id": "light.gone", "name": "Gone", "disabled_by": "user"},
        {"entity_id": "sensor.plain_one", "name": None, "original_name": None},
    ])  # fmt: skip
    state = {"entity_id": "light.desk", "state": "on", "attributes": {"brightness": 7, "x": {}}}
    (storage / "core.restore_state").write_text(json.dumps({"data": [{"state": state}]}))
    return tmp_path


def test_export_is_read_with_names_areas_and_last_states(config):
    home = read_home(config)
    desk, blind, plain = home.entities
    assert (desk.name, desk.aliases, desk.area) == ("Desk Lamp", ("Reading light",), "den")
    assert (desk.state, desk.attributes) == ("on", (("brightness", 7),))
    assert (blind.name, blind.device_class) == ("Hue Blind", "blind")
    assert plain.name == "plain one"
    assert home.floor_id(desk) == "up"
    assert read_home(config / ".storage") == home


def test_export_what_is_none_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(HomeError, match=r"folder with Home Assistant.s `core\.entity_registry`"):
        read_home(tmp_path)
    (tmp_path / "core.entity_registry").write_text("{")
    with pytest.raises(HomeError, match="must contain valid JSON"):
        read_home(tmp_path)
    (tmp_path / "core.entity_registry").write_text("[]")
    with pytest.raises(HomeError, match="must contain a JSON object"):
        read_home(tmp_path)
    (tmp_path / "core.entity_registry").write_text('{"data": {"entities": 3}}')
    with pytest.raises(HomeError, match=r"must have a list of objects in `data\.entities`"):
        read_home(tmp_path)
