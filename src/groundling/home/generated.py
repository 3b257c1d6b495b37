"""Random homes, which give the sentences of the corpus other names and places."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Literal

from groundling.home.home import Area, Entity, Floor, Home, Timer

AREAS = (
    "Kitchen", "Attic", "Living Room", "Cellar", "Bedroom", "Nursery", "Bathroom", "Sun Room",
    "Office", "Library", "Hallway", "Utility Room", "Dining Room", "Playroom", "Garage", "Gym",
    "Guest Room", "Music Room", "Garden", "Balcony", "Entrance", "Workshop", "Laundry Room", "Den",
    "Master Bedroom", "Kids Room", "Patio", "Pantry", "Study", "Wine Cellar",
)  # fmt: skip
FLOORS = (
    "Ground Floor", "Top Floor", "First Floor", "Lower Level", "Second Floor", "Upstairs",
    "Basement", "Downstairs",
)  # fmt: skip
NAMES = {
    "light": (
        "Desk Lamp", "Lantern", "Ceiling Light", "Chandelier", "Reading Lamp", "Spotlights",
        "Floor Lamp", "Night Light", "Bedside Lamp", "Vanity Lights", "Counter Strip",
        "Aquarium Light", "Porch Light", "Corner Glow", "Mirror Light", "Stair Lights",
        "Shelf Lamp", "Pendant", "Lava Lamp", "Path Lights", "Dining Table", "Nina's Lamp",
        "Wall Left", "Wall Right", "Bed Left Side", "Sofa Light", "Bed Right Side", "Mood Light",
    ),
    "switch": (
        "Coffee Maker", "Kettle", "Heater", "Fish Tank Pump", "Christmas Tree", "Printer",
        "Power Strip", "Boiler", "Sprinkler", "Bug Zapper", "Washing Machine", "Tumble Dryer",
        "Game Console", "Garden Pump",
    ),
    "fan": ("Ceiling Fan", "Tower Fan", "Exhaust Fan", "Desk Fan", "Box Fan", "Ventilator"),
    "cover": (
        "Left Curtain", "Bay Drapes", "Roller Blind", "Skylight Shade", "Garage Door",
        "Side Gate", "Big Window", "Roof Window", "Terrace Awning", "Main Shutter",
        "Double Garage Door", "North Blind", "South Blind", "Right Curtain", "Corner Blind",
        "Upper Shutter", "Storm Shutter",
    ),
    "lock": ("Front Door", "Cellar Door", "Back Door", "Shed Lock", "Gate Lock", "Patio Door"),
    "media_player": ("TV", "Record Player", "Soundbar", "Projector", "Radio", "Big Speaker"),
    "climate": ("Thermostat", "Heat Pump", "Air Conditioner", "Radiator"),
    "vacuum": ("Rover", "Dusty", "Robo Maid", "Sir Sucks"),
    "valve": ("Main Valve", "Water Valve", "Garden Valve", "Gas Valve"),
    "scene": ("Party Mode", "Movie Night", "Romantic Dinner", "Rainy Day", "Bedtime", "Focus"),
    "script": ("Stealth Mode", "Good Morning", "Leave Home", "Wake Up Call"),
    "person": ("Maria", "Oliver", "Priya", "Tom", "Aunt May", "Kenji"),
    "weather": ("Boston", "Oslo", "Forecast", "Lisbon"),
    "todo": ("Groceries", "Weekend", "Hardware Store", "Packing"),
    "input_boolean": ("Vacation Mode", "Guest Mode"),
    "humidifier": ("Mist Maker", "Humidifier"),
    "lawn_mower": ("Mowgli", "Grass Hopper"),
}  # fmt: skip
_CLASSES = {
    "curtain": ("curtain", "drapes"), "blind": ("blind",), "shade": ("shade",), "gate": ("gate",),
    "garage": ("garage door",), "window": ("window",), "awning": ("awning",),
    "shutter": ("shutter",),
}  # fmt: skip
_STATES = {
    "cover": ("open", "closed"), "valve": ("open", "closed"), "lock": ("locked", "unlocked"),
    "media_player": ("idle", "playing"), "climate": ("heat", "off"), "vacuum": ("docked", "idle"),
    "scene": ("",), "script": ("",), "person": ("home", "not_home", "Work"), "weather": ("sunny",),
    "todo": ("0",), "lawn_mower": ("docked", "mowing"),
}  # fmt: skip


# Names of sensors by device class; `{}` stands for an area or a device.
SENSORS = {
    "binary_sensor": (
        ("battery", "{} Remote", "{} Tag"), ("battery_charging", "{} Tablet", "{} Scooter"),
        ("carbon_monoxide", "{} CO Alarm", "{} CO Detector"), ("cold", "{} Pipe", "{} Tank"),
        ("connectivity", "{} Router", "{} Hub"), ("door", "{} Closet Door", "{} Cabinet"),
        ("garage_door", "{} Roller Door", "{} Carport"), ("gas", "{} Gas Alarm", "{} Gas Meter"),
        ("heat", "{} Stove", "{} Server"), ("light", "{} Photocell", "{} Daylight"),
        ("lock", "{} Hatch", "{} Safe"), ("moisture", "{} Leak Detector", "{} Flood Sensor"),
        ("motion", "{} Motion", "{} PIR"), ("occupancy", "{} Occupancy", "{} Desk Seat"),
        ("opening", "{} Skylight", "{} Letterbox"), ("plug", "{} Car", "{} Laptop"),
        ("power", "{} Freezer", "{} Ups"), ("presence", "{} Watch", "{} Beacon"),
        ("problem", "{} Filter", "{} Pump"), ("running", "{} Dryer", "{} Dishwasher"),
        ("safety", "{} Pool", "{} Ladder"), ("smoke", "{} Smoke Alarm", "{} Smoke Detector"),
        ("sound", "{} Microphone", "{} Baby Monitor"), ("tamper", "{} Case", "{} Mailbox"),
        ("update", "{} Firmware", "{} Bridge"), ("vibration", "{} Washing Drum", "{} Shelf"),
        ("window", "{} Window", "{} Pane"),
    ),
    "sensor": (
        ("temperature", "{} Temperature", "{} Thermometer"), ("humidity", "{} Humidity", "{} Damp"),
        ("battery", "{} Remote Battery", "{} Phone"), ("power", "{} Power", "{} Outlet"),
        ("illuminance", "{} Illuminance", "{} Lux"), ("energy", "{} Energy", "{} Solar"),
        ("carbon_dioxide", "{} CO2", "{} Air"), ("pm25", "{} Particles", "{} Dust"),
        ("wind_speed", "{} Anemometer", "{} Vane"), ("precipitation", "{} Rain", "{} Gauge"),
        ("pressure", "{} Boiler Pressure", "{} Barometer"), ("duration", "{} Cycle", "{} Program"),
        ("water", "{} Water Meter", "{} Usage"), ("weight", "{} Scale", "{} Bed"),
        ("voltage", "{} Voltage", "{} Grid"), ("distance", "{} Odometer", "{} Range"),
        ("speed", "{} Treadmill", "{} Bike"), ("gas", "{} Gas Usage", "{} Boiler Gas"),
        ("aqi", "{} Air Quality", "{} Smog"), ("monetary", "{} Price", "{} Tariff"),
    ),
}  # fmt: skip
_TWICE = 0.12  # share of lights, fans and covers that have the name of another entity
_PLACED = ("light", "switch", "fan", "cover", "climate", "media_player", "lock", "vacuum")
_PLACES = 0.8  # share of entities of these domains that get an area although they had none
_SENSOR_COUNT = 12  # number of sensors of each kind in a home


def generated_home(seed: int, names: Literal["known", "new"] = "known") -> Home:
    """Return a random English home.

    `names` is the list from which names are chosen, `known` or `new`. No name is in both lists.

    >>> home = generated_home(1)
    >>> len(home.areas) >= 4, home == generated_home(1), home == generated_home(2)
    (True, True, False)
    """
    dice = random.Random(f"home {seed} {names}")
    half = 0 if names == "known" else 1
    floors = [
        Floor(_slug(name), name) for name in dice.sample(FLOORS[half::2], dice.choice((1, 2, 3)))
    ]
    areas = [
        Area(_slug(name), name, floor=dice.choice(floors).id)
        for name in dice.sample(AREAS[half::2], dice.randint(4, 8))
    ]
    entities: dict[str, Entity] = {}
    for domain, called in NAMES.items():
        known = called[half::2]
        for name in dice.sample(known, dice.randint(1, min(5, len(known)))):
            area = dice.choice(areas)
            device_class = _class_of(name) if domain == "cover" else ""
            if domain in ("light", "cover", "fan", "switch") and dice.random() < 0.3:
                name = f"{area.name} {name}"
            state = dice.choice(_STATES.get(domain, ("on", "off")))
            unplaced = ("scene", "script", "valve", "person", "weather", "todo", "lawn_mower")
            placed = "" if domain in unplaced else area.id
            made = Entity(
                f"{domain}.{_slug(name)}", name, (), placed, state,
                (("device_class", device_class),) if device_class else (),
            )  # fmt: skip
            entities.setdefault(made.id, made)
            if domain in ("light", "fan", "cover") and dice.random() < _TWICE:
                other = dice.choice(areas)
                double = replace(made, id=f"{made.id}_2", area=other.id)
                entities.setdefault(double.id, double)
    for each in _sensors(dice, areas, half):
        entities.setdefault(each.id, each)
    timers = (
        Timer(dice.choice((("pizza", "laundry"), ("tea", "bread"))[half]), "", 1800, 900),
        Timer("", areas[0].id, 300, 100),
        Timer(start=3600),
    )
    return Home(tuple(floors), tuple(areas), tuple(entities.values()), timers, "en")


def _sensors(dice: random.Random, areas: list[Area], half: int) -> list[Entity]:
    found = []
    for domain, known in SENSORS.items():
        for device_class, *names in dice.sample(known, _SENSOR_COUNT):
            area = dice.choice(areas)
            name = names[half].format(area.name).strip()
            state = dice.choice(("on", "off")) if domain == "binary_sensor" else "20"
            found.append(
                Entity(
                    f"{domain}.{_slug(name)}",
                    name,
                    (),
                    area.id,
                    state,
                    (("device_class", device_class),),
                )
            )
    return found


def rearranged_home(home: Home, seed: int) -> Home:
    """Return a home with about two thirds of another home's entities, in other areas.

    No kind of entity is lost.

    >>> home = generated_home(1)
    >>> other = rearranged_home(home, 2)
    >>> {each.name for each in other.entities} < {each.name for each in home.entities}
    True
    """
    dice = random.Random(f"rearranged {seed}")
    areas = dice.sample(home.areas, max(1, len(home.areas) * 3 // 4))
    kept = dice.sample(home.entities, max(1, len(home.entities) * 2 // 3))
    kinds = {(each.domain, each.device_class) for each in kept}
    for each in dice.sample(home.entities, len(home.entities)):
        if (each.domain, each.device_class) not in kinds:
            kinds.add((each.domain, each.device_class))
            kept.append(each)
    entities = tuple(
        replace(each, area=dice.choice(areas).id if areas and _is_placed(dice, each) else "")
        for each in sorted(kept, key=lambda each: each.id)
    )
    known = {each.id for each in areas}
    timers = tuple(replace(t, area=t.area if t.area in known else "") for t in home.timers)
    return Home(home.floors, tuple(areas), entities, timers, home.language)


def _is_placed(dice: random.Random, entity: Entity) -> bool:
    """Return whether to assign an entity of a rearranged home to an area."""
    return bool(entity.area) or (entity.domain in _PLACED and dice.random() < _PLACES)


def _class_of(name: str) -> str:
    lower = name.lower()
    return next((kind for kind, said in _CLASSES.items() if any(s in lower for s in said)), "")


def _slug(name: str) -> str:
    return "_".join(name.lower().split())
