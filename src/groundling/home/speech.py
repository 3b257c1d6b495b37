"""Spoken replies: short sentences in the language of the home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from groundling.errors import GroundlingError
from groundling.home.plain_yaml import load_yaml

_MOST_LISTED = 3  # maximum number of names in a reply; for others, only the number is given


class Speech:
    """Reply sentences of one language.

    >>> english = load_speech("en")
    >>> english.done("turn on", ["Desk Lamp", "Lantern"])
    'Turned on Desk Lamp and Lantern.'
    >>> english.duration(5400)
    '1 h 30 min'
    """

    def __init__(self, phrases: Mapping[str, Any]) -> None:
        self.phrases = phrases

    def __getitem__(self, name: str) -> Any:
        return self.phrases[name]

    def say(
        self, name: str, things: Sequence[str] = (), value: str = "", joint: str = "and"
    ) -> str:
        """Return the sentence for a key, with placeholders filled in."""
        return str(self[name]).format(things=self.listed(things, joint), value=value)

    def done(self, verb: str, things: Sequence[str], value: str = "") -> str:
        """Return a sentence that confirms a command."""
        sentence = str(self["done"].get(verb) or "{things}")
        return sentence.format(things=self.listed(things), value=value)

    def listed(self, things: Sequence[str], joint: str = "and") -> str:
        """Return names as a list in words; a long list ends with a count of the others."""
        shown = list(things[:_MOST_LISTED]) if joint == "and" else list(things)
        if len(things) > len(shown):
            shown.append(str(self["more"]).format(count=len(things) - len(shown)))
        if len(shown) < 2:
            return "".join(shown)
        return f"{', '.join(shown[:-1])} {self[joint]} {shown[-1]}"

    def duration(self, seconds: float) -> str:
        """Return a duration as text, in hours, minutes and seconds."""
        left, parts = round(seconds), []
        for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)):
            count, left = divmod(left, size)
            if count:
                parts.append(str(self["units"][unit]).format(n=count))
        return " ".join(parts) or str(self["units"]["seconds"]).format(n=0)

    def state(self, value: str) -> str:
        """Return the words for a state."""
        return str(self["states"].get(value, value.replace("_", " "))) or str(self["not reported"])

    def date(self, now: datetime) -> str:
        """Return the day of the week and the date in words."""
        return f"{self['days'][now.weekday()]}, {now:%Y-%m-%d}"


@cache
def load_speech(language: str) -> Speech:
    """Return the reply sentences of a language, by its code."""
    folder = files("groundling.home") / "phrases"
    path = folder / f"{language}.yaml"
    if not path.is_file():
        known = sorted(each.name.removesuffix(".yaml") for each in folder.iterdir())
        raise GroundlingError(f"`language` must be one of {', '.join(known)}; got {language!r}.")
    return Speech(load_yaml(str(path), GroundlingError))
