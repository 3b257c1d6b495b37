"""Reader of the GeoQA corpus, and a generator of similar maps."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundling.corpora.markup import read_lines
from groundling.errors import CorpusError
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph

Evidence = Literal["gold", "raw"]
_LEAST = 0.5  # minimum score of evidence for a label
Labels = dict[str, object]


@dataclass(frozen=True)
class GeoMap:
    """A map: its places, labelled from each kind of evidence, and its questions."""

    name: str
    facts: Mapping[Evidence, Mapping[str, Labels]]
    questions: tuple[tuple[str, frozenset[str]], ...]

    def environment(self, evidence: Evidence) -> Places:
        """Return the environment of the map, with labels from one kind of evidence."""
        return Places(self.name, self.facts[evidence])

    def demonstrations(self, evidence: Evidence) -> list[Demonstration]:
        """Return the questions of the map as demonstrations with answers."""
        world = self.environment(evidence)
        return [
            Demonstration(text, world, (), answer=answer, name=f"{self.name} {number}")
            for number, (text, answer) in enumerate(self.questions, 1)
        ]


class Places:
    """The places of a map with their labels; an environment without actions."""

    def __init__(self, name: str, facts: Mapping[str, Labels]) -> None:
        self.name = name
        self.facts = facts

    def things(self, state: object) -> Mapping[str, Labels]:
        """Return the labels of all places.

        A label whose value is another place is a relation.
        """
        return self.facts

    def actions(self, state: object) -> tuple[str, ...]:
        """Return no actions, because a map only answers questions."""
        return ()

    def step(self, state: object, action: object) -> object:
        """Return the state unchanged, because there are no actions."""
        return state

    def ground(self, state: object, action: object, after: object) -> GroundingGraph:
        """Return an empty graph, because there are no actions."""
        return GroundingGraph({"map": "map"})


# ---- files ----------------------------------------------------------------------------------


def load_maps(folder: Path) -> list[GeoMap]:
    """Return the maps in the subfolders of a folder."""
    try:
        folders = sorted(each for each in folder.iterdir() if each.is_dir())
    except OSError as error:
        raise CorpusError(f"{folder} cannot be read: {error.strerror}. Check the path.") from error
    found = [_load_map(each) for each in folders]
    if len(found) < 2:
        raise CorpusError(
            f"{folder} must contain at least two maps; got {len(found)}. Pass the folder with one "
            "subfolder for each map."
        )
    return found


def _load_map(folder: Path) -> GeoMap:
    gold: dict[str, Labels] = {}
    raw: dict[str, Labels] = {}
    for line in read_lines(folder / "world.txt"):
        if line.startswith("*"):
            name, _, rest = line[1:].partition(";")
            for item in filter(None, map(str.strip, rest.split(";")[0].split(","))):
                one, related, two = (part.strip() for part in item.partition("#"))
                for place in (one, two) if related else (one,):
                    gold.setdefault(place, {})
                _add(gold[one], name.removesuffix("-rel"), two if related else "")
    for file, subjects in (("cat_features.txt", 1), ("rel_features.txt", 2)):
        for line in read_lines(folder / file):
            parts = line.split(",")
            value = _number(parts[-1])
            name = ",".join(parts[subjects + 1 : -1])
            if len(parts) < subjects + 3 or abs(value) < _LEAST or name in ("bias", parts[0]):
                continue
            for place in parts[:subjects]:
                raw.setdefault(place, {})
            if subjects == 1 or parts[0] != parts[1]:
                _add(raw[parts[0]], name, parts[1] if subjects == 2 else "")
    questions = []
    asked = folder / "training.txt"
    for number, line in enumerate(read_lines(asked), 1):
        text, found, rest = line.partition(";")
        if found and not line.startswith("#"):
            answer = frozenset(filter(None, map(str.strip, rest.split(";")[0].split(","))))
            if unknown := answer - gold.keys() - raw.keys():
                raise CorpusError(
                    f"{asked}, line {number}: answers must be places on the map; got "
                    f"{min(unknown)!r:.80} for {text!r:.80}. Download the corpus again."
                )
            questions.append((text.strip(), answer))
    places = dict.fromkeys((*gold, *raw))
    facts: dict[Evidence, Mapping[str, Labels]] = {
        "gold": {place: gold.get(place, {}) for place in places},
        "raw": {place: raw.get(place, {}) for place in places},
    }
    return GeoMap(folder.name, facts, tuple(questions))


def _add(labels: Labels, name: str, other: str) -> None:
    """Add a label to a place or, if `other` is given, a relation to that place."""
    if not other:
        labels.setdefault(name, True)
    elif isinstance(known := labels.setdefault(name, []), list):
        known.append(other)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


# ---- generated maps -------------------------------------------------------------------------

_SYLLABLES = ("ba", "do", "fe", "gi", "ka", "lu", "mo", "ne", "pa", "ri", "so", "tu", "ve", "zo")
_KINDS = ("city", "lake", "island", "forest", "harbour")
_COMPASS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}


def generate_maps(count: int, seed: int = 0) -> list[GeoMap]:
    """Generate maps with places of several kinds, compass relations, and questions.

    >>> first, _ = generate_maps(2)
    >>> len(first.facts["gold"]), len(first.questions) >= 10
    (6, True)
    """
    return [_generate_map(random.Random(f"{seed} {n}"), f"map{n + 1}") for n in range(count)]


def _generate_map(dice: random.Random, name: str) -> GeoMap:
    names: dict[str, tuple[int, int]] = {}
    while len(names) < 6:
        word = "".join(dice.sample(_SYLLABLES, 3)).capitalize()
        names.setdefault(word, (dice.randrange(100), dice.randrange(100)))
    kinds = {place: dice.choice(_KINDS[:4]) for place in names}
    kinds |= dict(zip(names, _KINDS[:2], strict=False))
    gold: dict[str, Labels] = {place: {kinds[place]: True} for place in names}
    raw: dict[str, Labels] = {place: {f"{kinds[place]} of _": True} for place in names}
    for one, (x, y) in names.items():
        for way, (dx, dy) in _COMPASS.items():
            others = [
                other
                for other, (a, b) in names.items()
                if other != one and dx * (x - a) + dy * (y - b) > 0
            ]
            if others:
                gold[one][way] = others
                raw[one][f"arg1 lies {way} of arg2"] = [o for o in others if dice.random() < 0.95]
                raw[one][f"{way} centroid"] = others
    return GeoMap(name, {"gold": gold, "raw": raw}, tuple(_ask(dice, gold, kinds)))


def _ask(
    dice: random.Random, gold: Mapping[str, Labels], kinds: Mapping[str, str]
) -> Iterator[tuple[str, frozenset[str]]]:
    for kind in sorted({*kinds.values(), dice.choice(_KINDS)}):
        having = frozenset(place for place, each in kinds.items() if each == kind)
        plural = kind[:-1] + "ies" if kind.endswith("y") else f"{kind}s"
        yield dice.choice((f"which {plural} are there ?", f"what {plural} are there ?")), having
        place = dice.choice(list(kinds))
        yield f"is {place} a {kind} ?", having & {place}
    for _ in range(10):
        way, other = dice.choice(list(_COMPASS)), dice.choice(list(gold))
        kind = kinds[dice.choice(list(gold))]
        there = frozenset(p for p in gold if other in _listed(gold[p].get(way)))
        forms = (f"what {kind} is {way} of {other} ?", f"which {kind} is to the {way} of {other} ?")
        text = dice.choice(forms)
        found = frozenset(place for place in there if kinds[place] == kind)
        if found:
            yield text, found
        place = dice.choice(list(gold))
        if place != other:
            yield f"is {place} {way} of {other} ?", there & {place}


def _listed(value: object) -> list[str]:
    return value if isinstance(value, list) else []
