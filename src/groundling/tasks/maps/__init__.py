"""Map reading: follow a speaker across a landscape of named landmarks (HCRC map task)."""

from groundling.tasks.maps.causes import cause_of
from groundling.tasks.maps.corpus import Corpus, Dialogue, Utterance, load_corpus, write_corpus
from groundling.tasks.maps.environment import Go, MapEnvironment, MapState
from groundling.tasks.maps.generator import generate_corpus, generate_dialogue, generate_map
from groundling.tasks.maps.landscape import Landmark, Landscape, Step, visited_landmarks
from groundling.tasks.maps.mapfile import MapSheet
from groundling.tasks.maps.mentions import TextUnit, TextUnits, read_units
from groundling.tasks.maps.metrics import PathScore, bootstrap, score_by_map, score_path
from groundling.tasks.maps.names import NameMatcher
from groundling.tasks.maps.picture import Cause, draw_map
from groundling.tasks.maps.presets import PRESETS, Preset

__all__ = [
    "PRESETS",
    "Cause",
    "Corpus",
    "Dialogue",
    "Go",
    "Landmark",
    "Landscape",
    "MapEnvironment",
    "MapSheet",
    "MapState",
    "NameMatcher",
    "PathScore",
    "Preset",
    "Step",
    "TextUnit",
    "TextUnits",
    "Utterance",
    "bootstrap",
    "cause_of",
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
