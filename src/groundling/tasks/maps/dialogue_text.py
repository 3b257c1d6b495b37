"""Dialogues as the follower reads them: utterances, or units with labels of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from groundling.language import Instruction, Parser, SentenceLabel
from groundling.language.parser import load_parser
from groundling.tasks.maps.corpus import FOLLOWER, GIVER, Dialogue, Utterance
from groundling.tasks.maps.landscape import Landscape
from groundling.tasks.maps.map_presets import MapPreset
from groundling.tasks.maps.mentions import TextUnits, read_units
from groundling.tasks.maps.names import NameMatcher

_list = str.split  # word lists read better as text

# Contexts in which a mention may count more or less.
_CONTEXTS = ("follower", "question", "negation", "motion", "ending")
_BEFORE = frozenset(
    _list(
        "to at of from past round around over under above below between left right towards until "
        "near beside through by reach a the this that"
    )
)


def read_dialogue(
    chosen: MapPreset, dialogue: Dialogue, landscape: Landscape, matcher: NameMatcher | None = None
) -> tuple[Instruction, ...]:
    """Return a dialogue as a preset wants it; a `matcher` saves making one for each dialogue."""
    if chosen.units == "sentences":
        return read_sentences(dialogue, load_parser(chosen.parser))
    matcher = matcher or NameMatcher(landscape, fuzzy=chosen.fuzzy)
    return read_mentions(dialogue, landscape, speakers=chosen.speakers, matcher=matcher)


def read_sentences(dialogue: Dialogue, parser: Parser) -> tuple[Instruction, ...]:
    """Return the giver's utterances, parsed: what the paper's model reads."""
    parsed = parser.parse_many([each.text for each in dialogue.giver])
    return tuple(instruction for each in parsed for instruction in each)


def read_mentions(
    dialogue: Dialogue,
    landscape: Landscape,
    *,
    speakers: Collection[str] = (GIVER, FOLLOWER),
    matcher: NameMatcher | None = None,
) -> tuple[Instruction, ...]:
    """Return the text units of a dialogue, each one word with the unit's labels.

    >>> from groundling.tasks.maps.corpus import Utterance
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape((Landmark("start", 0, 0), Landmark("old mill", 90, 0)))
    >>> talk = Dialogue("talk", 0, (Utterance("g", "go over to the old mill"),))
    >>> [unit] = read_mentions(talk, landscape)
    >>> unit.tokens, [label for label in unit.labels if label.name == "match"]
    (('old mill',), [SentenceLabel(name='match', amount=1.0, kind='landmark', value='old mill')])
    """
    units = read_units(dialogue.utterances, landscape, speakers=speakers, matcher=matcher)
    return unit_instructions(units, dialogue.utterances)


def unit_instructions(units: TextUnits, utterances: Sequence[Utterance]) -> tuple[Instruction, ...]:
    """Return units as instructions of one word that carries their labels.

    The word is what was said of the landmark, the text the whole utterance.

    What a unit says of a landmark has the kind `landmark` and the landmark's key as its
    value, so that it meets the same landmark in a grounding graph.
    """
    found = []
    for number, unit in enumerate(units):
        labels = [
            SentenceLabel(name, float(amount))
            for name, amount in unit.labels.items()
            if not name.startswith("before=")
        ]
        around = [
            name
            for name in unit.labels
            if name in _CONTEXTS
            or (name.startswith("before=") and name.removeprefix("before=") in _BEFORE)
        ]
        for key in units.landscape.keys:
            about = units.labels(number, key)
            labels += [
                SentenceLabel(name, float(amount), "landmark", key)
                for name, amount in about.items()
            ]
            if "match" in about:
                labels += [
                    SentenceLabel(f"{name}, match", float(about["match"]), "landmark", key)
                    for name in around
                ]
        spoken = str(unit.instruction)
        said = utterances[unit.utterance].text
        found.append(Instruction((spoken,), (-1,), ("root",), text=said, labels=tuple(labels)))
    return tuple(found)
