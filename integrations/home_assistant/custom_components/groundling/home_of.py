"""Conversion of Home Assistant's registries and states to a Groundling home."""

from __future__ import annotations

from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)
from homeassistant.helpers import (
    floor_registry as fr,
)

from groundling.home.home import Area, Entity, Floor, Home


def home_of(hass: HomeAssistant, language: str, exposed_only: bool) -> Home:
    """Return the home of an installation, without states, which are passed with each request."""
    entities, devices = er.async_get(hass), dr.async_get(hass)
    found = []
    for state in hass.states.async_all():
        if exposed_only and not async_should_expose(hass, "conversation", state.entity_id):
            continue
        entry = entities.async_get(state.entity_id)
        device = devices.async_get(entry.device_id) if entry and entry.device_id else None
        area = (entry.area_id if entry else None) or (device.area_id if device else None) or ""
        aliases = tuple(sorted(entry.aliases)) if entry else ()
        device_class = state.attributes.get("device_class")
        attributes = (("device_class", str(device_class)),) if device_class else ()
        found.append(Entity(state.entity_id, state.name, aliases, area, "", attributes))
    areas = tuple(
        Area(each.id, each.name, tuple(sorted(each.aliases)), each.floor_id or "")
        for each in ar.async_get(hass).async_list_areas()
    )
    floors = tuple(
        Floor(each.floor_id, each.name, tuple(sorted(each.aliases)))
        for each in fr.async_get(hass).async_list_floors()
    )
    return Home(floors, areas, tuple(found), (), language)


def states_of(hass: HomeAssistant, home: Home) -> dict[str, dict[str, Any]]:
    """Return the current states of the entities of a home."""
    states = {each.id: hass.states.get(each.id) for each in home.entities}
    return {
        id_: {"state": state.state, "attributes": dict(state.attributes)}
        for id_, state in states.items()
        if state is not None
    }
