"""Maps (HCRC map task): follow a speaker's directions from landmark to landmark."""

from groundling.tasks.maps.corpus import DialogueLine, MapCorpus, MapSheet, load_corpus
from groundling.tasks.maps.environment import Go, MapEnvironment
from groundling.tasks.maps.generator import generate_corpus
from groundling.tasks.maps.landscape import Landmark

__all__ = [
    "DialogueLine",
    "Go",
    "Landmark",
    "MapCorpus",
    "MapEnvironment",
    "MapSheet",
    "generate_corpus",
    "load_corpus",
]
