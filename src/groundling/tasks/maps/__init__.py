"""Maps (HCRC map task): follow a speaker's directions from landmark to landmark."""

from groundling.tasks.maps.corpus import (
    Dialogue,
    DialogueLine,
    MapCorpus,
    MapSheet,
    load_corpus,
    write_corpus,
)
from groundling.tasks.maps.environment import Go, MapEnvironment, MapState
from groundling.tasks.maps.generator import generate_corpus, generate_dialogue, generate_map
from groundling.tasks.maps.landscape import Landmark, Landscape, MapStep, visited_landmarks
from groundling.tasks.maps.map_drawing import draw_map
from groundling.tasks.maps.map_presets import PRESETS, MapPreset
from groundling.tasks.maps.mentions import NameMatcher, TextUnit, TextUnits, read_units
from groundling.tasks.maps.path_score import PathScore, score_by_map, score_path

__all__ = [
    "PRESETS",
    "Dialogue",
    "DialogueLine",
    "Go",
    "Landmark",
    "Landscape",
    "MapCorpus",
    "MapEnvironment",
    "MapPreset",
    "MapSheet",
    "MapState",
    "MapStep",
    "NameMatcher",
    "PathScore",
    "TextUnit",
    "TextUnits",
    "draw_map",
    "generate_corpus",
    "generate_dialogue",
    "generate_map",
    "load_corpus",
    "read_units",
    "score_by_map",
    "score_path",
    "visited_landmarks",
    "write_corpus",
]
