"""A home for the tests: two areas on one floor, several lights, one of most other things."""

from groundling.home import Home

DATA = {
    "floors": [{"id": "ground", "name": "Ground Floor"}],
    "areas": [
        {"id": "den", "name": "Den", "floor": "ground"},
        {"id": "hall", "name": "Hall", "floor": "ground"},
    ],
    "entities": [
        {"id": "light.desk", "name": "Desk Lamp", "area": "den", "state": "off"},
        {"id": "light.floor", "name": "Floor Lamp", "area": "den", "state": "on",
         "attributes": {"brightness": 100}},
        {"id": "light.hall", "name": "Ceiling", "area": "hall", "state": "on"},
        {"id": "cover.left", "name": "Left Blind", "area": "den", "state": "open",
         "attributes": {"device_class": "blind", "current_position": 100}},
        {"id": "lock.door", "name": "Front Door", "area": "hall", "state": "locked"},
        {"id": "climate.den", "name": "Thermostat", "area": "den", "state": "heat",
         "attributes": {"temperature": 20, "current_temperature": 19.5}},
        {"id": "media_player.radio", "name": "Radio", "area": "den", "state": "playing",
         "attributes": {"volume_level": 0.5}},
        {"id": "vacuum.rob", "name": "Robbie", "state": "docked"},
        {"id": "scene.party", "name": "Party Mode"},
        {"id": "person.ada", "name": "Ada", "state": "home"},
    ],
    "timers": [{"name": "pizza", "start_minutes": 5}, {"area": "den", "start_hours": 1}],
}  # fmt: skip
HOME = Home.from_data(DATA)
