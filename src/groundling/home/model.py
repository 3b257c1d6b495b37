"""Home models: a follower and its vocabulary, for one language."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from groundling.errors import GroundlingError
from groundling.files import read_plain, write_atomically
from groundling.follower import Follower
from groundling.home.device_classes import with_device_classes
from groundling.home.environment import HomeWorld
from groundling.home.home import Home
from groundling.home.knowledge import Knowledge
from groundling.home.locales import home_language
from groundling.limits import LEXICON_BYTES

NOTICE = (
    "This model was trained on sentences and templates of Home Assistant Intents\n"
    "(https://github.com/home-assistant/intents, commit aa550032a), Copyright the Home Assistant\n"
    "Intents contributors, licensed under CC BY 4.0\n"
    "(https://creativecommons.org/licenses/by/4.0/), and on sentences of Groundling.\n"
    "It holds weights of words, and some of the sentences with their names replaced by marks.\n"
)
"""Attribution notice that is shipped with every model."""
_WORDS = "words.json"


@dataclass(frozen=True)
class HomeModel:
    """Model for homes in one language: a follower and its vocabulary."""

    language: str
    follower: Follower
    knowledge: Knowledge

    def world(self, home: Home) -> HomeWorld:
        """Return a home, indexed for the language of this model."""
        language = home_language(self.language)
        return HomeWorld(with_device_classes(home, language), language, self.knowledge)

    def save(self, folder: str | Path) -> Path:
        """Write the model to a folder, with its attribution notice."""
        place = self.follower.save(folder)
        write_atomically(place / _WORDS, self.knowledge.to_json() + "\n")
        write_atomically(place / "NOTICE", NOTICE)
        return place

    @classmethod
    def load(cls, folder: str | Path, language: str) -> HomeModel:
        """Load a model from a folder."""
        place = Path(folder)
        if not (place / _WORDS).is_file():
            raise GroundlingError(
                f"A home model must be a folder with `{_WORDS}`; got {str(place)!r}. Train one "
                "with `groundling home train`."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            follower = Follower.load(place)
        known = Knowledge.from_json(read_plain(place / _WORDS, LEXICON_BYTES, GroundlingError))
        return cls(language, follower, known)


def shipped_languages() -> tuple[str, ...]:
    """Return the codes of the languages whose models come with the package."""
    place = files("groundling.home") / "models"
    if not place.is_dir():
        return ()
    return tuple(sorted(each.name for each in place.iterdir() if each.is_dir()))


@lru_cache(maxsize=4)
def load_model(language: str) -> HomeModel:
    """Return the shipped model of a language, by its code."""
    known = shipped_languages()
    if language not in known:
        raise GroundlingError(
            f"`language` must be one of {', '.join(known) or 'none'}; got {language!r}. Train a "
            "model with `groundling home train --language`."
        )
    return HomeModel.load(Path(str(files("groundling.home") / "models" / language)), language)
