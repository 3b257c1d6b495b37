"""Generator of maps with routes and dialogues, in the format of the HCRC corpus."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from random import Random

from groundling.errors import SettingError
from groundling.tasks.maps.corpus import (
    FOLLOWER,
    GIVER,
    Dialogue,
    DialogueLine,
    MapCorpus,
    MapSheet,
)
from groundling.tasks.maps.landscape import (
    Landmark,
    Landscape,
    MapStep,
    Point,
    trace_route,
    visited_landmarks,
)

_WIDTH, _HEIGHT, _MARGIN = 700.0, 980.0, 70.0
_APART = 125.0  # minimum distance of landmarks in pixels, so that a route fits between two of them
_STRIDE = 15.0  # distance of the points of a route, in pixels

_SAID = tomllib.loads((files("groundling.tasks.maps") / "phrases.toml").read_text("utf-8"))
_KINDS, _QUALITIES = (_SAID[name].split() for name in ("kinds", "qualities"))


def generate_corpus(
    *, maps: int = 16, dialogues: int = 8, seed: int = 0, utterances: int = 0
) -> MapCorpus:
    """Generate a corpus of maps, each with several dialogues.

    No two maps share a landmark name, so that the names on test maps are new.

    Parameters
    ----------
    maps, dialogues
        Number of maps, and number of dialogues per map.
    seed
        Random seed.
    utterances
        Minimum number of utterances per dialogue; small talk is added to reach it.

    Examples
    --------
    >>> corpus = generate_corpus(maps=4, dialogues=2, seed=3)
    >>> [len(part) for part in corpus.split()]
    [6, 2]
    """
    most = len(_QUALITIES) * len(_KINDS) // 16
    if not 1 <= maps <= most:
        raise SettingError(f"`maps` must be from 1 to {most}; got {maps}.")
    if dialogues < 1:
        raise SettingError(f"`dialogues` must be >= 1; got {dialogues}.")
    random = Random(seed)
    pool = [*_KINDS, *(f"{quality} {kind}" for quality in _QUALITIES for kind in _KINDS)]
    random.shuffle(pool)
    sheets = {}
    for number in range(maps):
        sheets[number] = generate_map(number, seed=random.getrandbits(48), names=pool[:16])
        del pool[:16]
    talks = [
        generate_dialogue(
            sheet, f"m{number}d{each}", seed=random.getrandbits(48), utterances=utterances
        )
        for number, sheet in sheets.items()
        for each in range(dialogues)
    ]
    return MapCorpus(sheets, tuple(talks))


def generate_map(number: int = 0, *, seed: int = 0, names: Sequence[str] | None = None) -> MapSheet:
    """Generate a map of 12 to 15 landmarks, with a route past most of them.

    Two of the landmarks have the same name. `names` must contain at least 14 names.

    >>> sheet = generate_map(seed=5)
    >>> 9 <= len(visited_landmarks(sheet.steps)) <= 12
    True
    """
    random = Random(seed)
    if names is None:
        names = [f"{random.choice(_QUALITIES)} {kind}" for kind in random.sample(_KINDS, 14)]
    if len(set(names)) < max(14, len(names)):
        raise SettingError(
            f"`names` must contain at least 14 distinct names; got {len(set(names))}."
        )
    while True:  # retry if no good route is found
        places = _scatter(random, random.randint(11, 14))
        landmarks = [
            Landmark(name, *place, outline=_outline(place, random))
            for name, place in zip(names, places, strict=False)
        ]
        twin = random.choice(landmarks[1:])
        first = landmarks[0]
        landmarks[0] = Landmark(twin.name, first.x, first.y, copy=2, outline=first.outline)
        for _ in range(20):
            sheet = _draw(number, landmarks, random)
            if sheet is not None:
                return sheet


def _scatter(random: Random, count: int) -> list[Point]:
    places: list[Point] = []
    for _ in range(2000):
        x = float(round(random.uniform(_MARGIN, _WIDTH - _MARGIN)))
        y = float(round(random.uniform(_MARGIN, _HEIGHT - _MARGIN)))
        if all(math.dist((x, y), place) >= _APART for place in places):
            places.append((x, y))
            if len(places) == count:
                break
    return places


def _outline(place: Point, random: Random) -> tuple[Point, ...]:
    size = random.randint(18, 36)
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return tuple((place[0] + east * size, place[1] + south * size) for east, south in signs)


def _draw(number: int, landmarks: list[Landmark], random: Random) -> MapSheet | None:
    """Return a map with a random route; None if the route crosses itself too often."""
    left = list(landmarks)
    here = left.pop(random.randrange(len(left)))
    order = [here]
    for _ in range(random.randint(8, min(10, len(landmarks) - 1))):
        left.sort(key=lambda each: math.dist(each.position, here.position))
        here = left.pop(0 if random.random() < 0.7 else random.randrange(min(3, len(left))))
        order.append(here)
    corners = [
        (each.x + random.choice((-50, 0, 50)), each.y + random.choice((-50, 50))) for each in order
    ]
    away = random.choice(((-60, -60), (60, -60), (-60, 60), (60, 60)))
    origin = (corners[0][0] + away[0], corners[0][1] + away[1])
    route = _smooth([origin, *corners])
    start = Landmark("start", *route[0])
    landscape = Landscape((start, *landmarks), name=f"map {number}")
    inside = all(15 <= x <= _WIDTH - 15 and 15 <= y <= _HEIGHT - 15 for x, y in route)
    visits = visited_landmarks(trace_route(landscape, route))
    simple = len(set(visits)) == len(visits) and visits[0] == "start"
    if not inside or not simple or not 9 <= len(visits) <= 12:
        return None
    return MapSheet(number, landscape, tuple(route), Landmark("finish", *route[-1]))


def _smooth(corners: list[Point]) -> list[Point]:
    """Return a smoothed route, as points at equal distances along it."""
    for _ in range(2):
        cut = [corners[0]]
        for (ax, ay), (bx, by) in pairwise(corners):
            cut += [(0.75 * ax + 0.25 * bx, 0.75 * ay + 0.25 * by)]
            cut += [(0.25 * ax + 0.75 * bx, 0.25 * ay + 0.75 * by)]
        corners = [*cut, corners[-1]]
    points = []
    for (ax, ay), (bx, by) in pairwise(corners):
        pieces = max(1, round(math.dist((ax, ay), (bx, by)) / _STRIDE))
        points += [
            (ax + (bx - ax) * piece / pieces, ay + (by - ay) * piece / pieces)
            for piece in range(pieces)
        ]
    return [(float(round(x)), float(round(y))) for x, y in (*points, corners[-1])]


def generate_dialogue(
    sheet: MapSheet, name: str = "dialogue", *, seed: int = 0, utterances: int = 0
) -> Dialogue:
    """Generate a dialogue about a route, with questions, repetitions and small talk.

    >>> dialogue = generate_dialogue(generate_map(seed=5), seed=1, utterances=300)
    >>> len(dialogue.utterances) >= 300
    True
    """
    speech = _Speech(sheet, Random(seed))
    groups = [speech.opening()]
    previous = MapStep("")
    for step in sheet.steps[1:]:
        groups.append(speech.round(step) if step.landmark == previous.landmark else speech.go(step))
        previous = step
    groups.append([(GIVER, "and that's you at the finish"), (FOLLOWER, "okay")])
    missing = utterances - sum(map(len, groups))
    while missing > 0:
        lines = speech.random.sample(_SAID["chatter"], 2)
        speech.random.choice(groups[:-1]).extend(lines)
        missing -= len(lines)
    said = tuple(DialogueLine(*line) for group in groups for line in group)
    return Dialogue(name, sheet.number, said)


class _Speech:
    """Generator of a giver's speech, in compass directions or page directions."""

    def __init__(self, sheet: MapSheet, random: Random) -> None:
        self.random = random
        self.landscape = sheet.landscape
        self.towards: dict[str, str] = _SAID["towards"][random.choice(sorted(_SAID["towards"]))]
        self.talkative = random.uniform(0.2, 0.6)
        self.here = sheet.landscape.start
        self.route = {step.landmark for step in sheet.steps}

    def often(self, share: float = 1.0) -> bool:
        return self.random.random() < share * self.talkative

    def opening(self) -> list[tuple[str, str]]:
        return [
            (GIVER, self.random.choice(("right have you found the start", "okay so we begin"))),
            (FOLLOWER, self.random.choice(("yeah", "i have", "right"))),
        ]

    def called(self, key: str) -> str:
        words = self.landscape[key].words
        if self.often(0.4):
            return words[-1]
        if self.often(0.3):
            return f"{words[-1][:2]}-- the {' '.join(words)}"
        return " ".join(words)

    def direction(self, key: str) -> str:
        here, there = self.landscape[self.here], self.landscape[key]
        east, south = there.x - here.x, there.y - here.y
        across = self.towards["East" if east > 0 else "West"]
        along = self.towards["South" if south > 0 else "North"]
        if min(abs(east), abs(south)) > 0.5 * max(abs(east), abs(south)):
            return f"{along} and {across}"
        return across if abs(east) > abs(south) else along

    def line(self, words: str) -> tuple[str, str]:
        return GIVER, " ".join(f"{self.random.choice(_SAID['openings'])} {words}".split())

    def go(self, step: MapStep) -> list[tuple[str, str]]:
        """Return utterances that instruct the follower to go to the next landmark."""
        lines: list[tuple[str, str]] = []
        if step.landmark == self.landscape.start:
            return self.round(step)
        name, random = self.called(step.landmark), self.random
        if self.often():
            article = "an" if name[0] in "aeiou" else "a"
            lines += [self.line(f"have you got {article} {name}")]
            lines += [(FOLLOWER, random.choice(("yes", "no", "i have that", "no not on mine")))]
        others = sorted(set(self.landscape.keys) - self.route)
        if others and self.often(0.5):
            other = random.choice(others)
            lines += [self.line(f"you don't want the {self.called(other)} at all")]
            lines += [(FOLLOWER, f"okay not the {self.called(other)}")]
        beside = random.choice(_SAID["beside"][step.side])
        way = f"{random.choice(_SAID['motions'])} {self.direction(step.landmark)}"
        until = random.choice(("until you're", "'til you get", "so that you come out"))
        if self.often(0.8):
            lines += [self.line(way), (FOLLOWER, random.choice(_SAID["answers"]))]
            lines += [self.line(f"{until} {beside} the {name}")]
        else:
            lines += [self.line(f"{way} {until} {beside} the {name}")]
        lines += [(FOLLOWER, random.choice(_SAID["answers"]))]
        if self.often():
            lines += [(FOLLOWER, f"{beside} the {self.called(step.landmark)}"), (GIVER, "yeah")]
        self.here = step.landmark
        return lines

    def round(self, step: MapStep) -> list[tuple[str, str]]:
        """Return utterances that instruct the follower to go round the current landmark."""
        beside = self.random.choice(_SAID["beside"][step.side])
        what = "it" if self.often() else f"the {self.called(step.landmark)}"
        return [
            self.line(f"{self.random.choice(('curve', 'bend', 'go'))} round {beside} {what}"),
            (FOLLOWER, self.random.choice(_SAID["answers"])),
        ]
