"""Device classes of covers, inferred from their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groundling.home.home import Entity, Home
from groundling.language.languages import Language

_COVERS: Mapping[str, Mapping[str, str]] = {
    "english": {
        "awning": "awning", "blind": "blind", "curtain": "curtain drape drapery", "door": "door",
        "garage": "garage garage_door", "gate": "gate", "shade": "shade", "shutter": "shutter",
        "window": "window skylight",
    },
    "german": {
        "awning": "markise markisen", "blind": "rollo rollos jalousie jalousien",
        "curtain": "vorhang vorhänge gardine gardinen",
        "garage": "garage garagentor", "gate": "tor tore",
        "shutter": "rollladen rolladen rollläden", "window": "fenster",
    },
    "french": {
        "awning": "auvent banne", "blind": "store", "curtain": "rideau rideaux", "gate": "portail",
        "garage": "garage", "shutter": "volet", "window": "fenêtre",
    },
    "spanish": {
        "awning": "toldo", "blind": "persiana estor", "curtain": "cortina", "garage": "garaje",
        "gate": "portón verja", "window": "ventana",
    },
    "dutch": {
        "awning": "zonnescherm zonneschermen", "blind": "jaloezie jaloezieën",
        "curtain": "gordijn gordijnen", "gate": "poort hek", "garage": "garage garagedeur",
        "shutter": "rolluik rolluiken luik luiken", "window": "raam ramen",
    },
    "polish": {
        "awning": "markiza markizy", "blind": "żaluzja żaluzje", "curtain": "zasłona zasłony",
        "garage": "garaż garażowa", "gate": "brama bramy",
        "shutter": "roleta rolety", "window": "okno okna",
    },
    "italian": {
        "awning": "tenda_da_sole", "blind": "veneziana veneziane", "curtain": "tenda tende",
        "garage": "garage", "gate": "cancello", "shutter": "tapparella tapparelle persiana",
        "window": "finestra",
    },
    "arabic": {"curtain": "ستارة ستائر", "garage": "كراج", "gate": "بوابة", "window": "نافذة"},
    "korean": {"blind": "블라인드", "curtain": "커튼", "garage": "차고", "window": "창문"},
}  # fmt: skip


_ENDING = 4  # minimum letters of a noun that ends a compound, such as *Küchenrollo*


def with_device_classes(home: Home, language: Language) -> Home:
    """Return a home in which missing device classes of covers are inferred from names.

    Without device classes, *close the blinds* would also close a garage door.

    >>> from groundling.language import ENGLISH
    >>> home = Home.from_data({"entities": [{"id": "cover.a", "name": "Kitchen Window Blinds"},
    ...                                     {"id": "cover.b", "name": "Left Garage Door"}]})
    >>> [each.device_class for each in with_device_classes(home, ENGLISH).entities]
    ['blind', 'garage']
    """
    classes = {
        _written(noun.replace("_", " "), language): name
        for name, nouns in _COVERS.get(language.name, {}).items()
        for noun in nouns.split()
    }
    entities = tuple(_classed(each, classes, language) for each in home.entities)
    return replace(home, entities=entities) if entities != home.entities else home


def _classed(entity: Entity, classes: Mapping[str, str], language: Language) -> Entity:
    """Add the device class that the last known noun in a cover's name denotes."""
    if entity.domain != "cover" or entity.device_class:
        return entity
    words = entity.name.split()
    for end in range(len(words), 0, -1):
        for said in (" ".join(words[max(0, end - 2) : end]), words[end - 1]):
            noun = _written(said, language)
            endings = (each for each in classes if len(each) >= _ENDING and noun.endswith(each))
            known = noun if noun in classes else max(endings, key=len, default="")
            if known:
                found = ("device_class", classes[known])
                return replace(entity, attributes=(*entity.attributes, found))
    return entity


def _written(noun: str, language: Language) -> str:
    return " ".join(language.singular(language.fold(word)) for word in noun.split())
