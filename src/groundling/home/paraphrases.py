"""Examples sampled from Groundling's own sentence templates, in random homes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from groundling.errors import CorpusError
from groundling.home.catalogue import QUESTIONS
from groundling.home.corpus import (
    HomeExample,
    TemplateError,
    named_errors,
    with_text,
)
from groundling.home.environment import EVERYTHING, Command, HomeWorld, Situation, Target
from groundling.home.generated import AREAS, NAMES
from groundling.home.home import Area, Floor, Home
from groundling.home.locales import DELAYS, PLACES, PRONOUNS, SINGULARS, home_language
from groundling.home.plain_yaml import load_yaml
from groundling.home.templates import Block, NothingError, Sampler, some_homes
from groundling.home.utterance import Utterance

_TRIES = 4  # attempts per requested sentence
_HOMES = 3  # homes that are tried for a sentence
_BY_NAME = ("name", "part")
_SEVERAL_NAMES = ("name", "name2", "name3")
_BASES = {
    "name2": "name", "name3": "name", "except_name": "name", "except_name2": "name",
    "area2": "area", "except_area": "area", "except_area2": "area",
}  # fmt: skip
_PREFIXED = 0.06  # share of sentences with filler words at the start
_HERE = 0.4  # share of sentences spoken in an area that they do not mention
_BEFORE = 0.15  # share of sentences that come after a sentence about another topic


def expand_paraphrases(
    language: str = "en", *, homes: Sequence[Home] | None = None, count: int = 1000, seed: int = 0
) -> list[HomeExample]:
    """Return up to `count` examples from the built-in templates of a language.

    The list is empty if there are no templates for the language.

    >>> expand_paraphrases("xx")
    []
    """
    path = files("groundling.home") / "sentences" / f"{language}.yaml"
    if not path.is_file():
        return []
    data = load_yaml(str(path), CorpusError)
    dice = random.Random(f"paraphrases {language} {seed}")
    given = some_homes(language, seed=seed) if homes is None else homes
    worlds = [HomeWorld(each, home_language(language)) for each in given]
    rows = [row for row in data["data"] for _ in range(int(row.get("weight", 1)))]
    dice.shuffle(rows)
    made: dict[tuple[str, int], HomeExample] = {}
    used = Counter[int]()
    for turn in range(_TRIES * count):
        if len(made) >= count:
            break
        row = rows[turn % len(rows)]
        with named_errors(f"The paraphrases of {row['verb']!r}"):
            for world in dice.sample(worlds, min(_HOMES, len(worlds))):
                found = _Paraphrase(dice, world, row, data, used).example()
                if found:
                    made.setdefault((found.text.lower(), id(world)), found)
                    break
    return list(made.values())


class _Paraphrase(Sampler):
    """A sentence sampled from a block of templates, with its meaning in a home."""

    def __init__(
        self,
        dice: random.Random,
        world: HomeWorld,
        row: Mapping[str, Any],
        data: Mapping[str, Any],
        used: Counter[int],
    ) -> None:
        domains = tuple(
            row.get("domains") or ([row["domain"]] if row.get("domain") else EVERYTHING)
        )
        block = Block(str(row["verb"]), "", tuple(row["sentences"]), domains=domains)
        super().__init__(dice, world.home, block, data["rules"], data["lists"], used)
        self.world, self.row, self.where = world, row, ""
        self.strange: set[str] = set()
        if row.get("domain"):
            self.slots["domain"] = row["domain"]
        if "class" in row:
            self.slots["device_class"] = row["class"]
        domain = str(row.get("domain") or "")
        self.kind = f"{domain}:{row['class']}" if "class" in row else domain

    def example(self) -> HomeExample | None:
        """Return the sentence with its meaning, or None if nothing in the home fits."""
        try:
            text = self._sampled()
        except (NothingError, TemplateError):
            return None
        if not text or not self._is_true() or self._is_double() or self._is_there():
            return None
        situation = self._situation(text)
        ids = self._ids(situation)
        if ids is None:
            return None
        value = self._meant_value()
        choice = bool(self.row.get("one")) and len(ids) > 1 and self.block.name not in QUESTIONS
        wanted = (ids, value, choice)
        text = self._prefixed(text)
        offered = [
            each
            for each in self.world.read(text).actions(situation)
            if each.says(self.block.name) and each.value == value
        ]
        fitting = [
            each
            for each in offered
            if (frozenset(each.target.ids), each.value, each.target.choice) == wanted
        ]
        if self._is_elsewhere(ids, situation):
            return None
        if not fitting and len(self._named()) == 1:  # a name that fits several entities
            fitting = [
                each
                for each in offered
                if each.target.choice and each.target.by in _BY_NAME and ids < set(each.target.ids)
            ]
        by = self.row.get("by") or ("name" if "name" in self.things else "kind")
        if not fitting or (by == "kind" and self._names_another(text)):
            return None
        meant = (by, self.kind, self.where)
        command = max(
            fitting,
            key=lambda e: [
                a == b
                for a, b in zip((e.target.by, e.target.kind, e.target.where), meant, strict=True)
            ],
        )
        group = f"paraphrase {self.block.name}"
        if "text" in self.slots:
            said = self.world.read(text)
            written = with_text(said, command, str(self.slots["text"]), situation)
            if written is None:
                return None
            command = written
        return HomeExample(text, self.world, situation, command, group, frozenset(self.strange))

    def _is_elsewhere(self, ids: frozenset[str], situation: Situation) -> bool:
        """Return whether the name in the text also fits an entity in the speaker's area."""
        if len(self._named()) != 1 or not situation.here:
            return False
        entity_of = self.home.entity_of
        (named,) = self._named()
        alike = [
            each.area == situation.here
            for each in self.home.entities
            if each.name == entity_of[named].name and each.id not in ids
        ]
        return any(alike) and entity_of[named].area != situation.here

    def _meant_value(self) -> Any:
        """Return the value in the sentence or, in a question, the state asked about."""
        if self.row.get("most") or self.row.get("least"):
            return 100.0 if self.row.get("most") else 1.0
        if "minutes" in self.slots:
            return 60.0 * float(self.slots["minutes"])
        return self.row.get("state", self.slots.get("value"))

    def _prefixed(self, text: str) -> str:
        """Return a text, sometimes with made-up words before it."""
        if self.block.name == "decline" or self.dice.random() >= _PREFIXED:
            return text
        words = [self._strange_word() for _ in range(self.dice.randint(1, 3))]
        self.strange.update(words)
        return f"{' '.join(words)}{self.dice.choice((' ', ', '))}{text}"

    def _named(self) -> list[str]:
        return [self.things[each] for each in _SEVERAL_NAMES if each in self.things]

    def _names_another(self, text: str) -> bool:
        """Return whether the text has the full name of an entity of the block's domains."""
        said = Utterance.of(text, self.world.names).of_kind("name")
        return any(
            self.home.entity_of[id_].domain in self.block.domains
            for each in said
            if each.full and each.places[0] < Utterance.of(text, self.world.names).exception
            for id_ in each.ids
        )

    def _is_there(self) -> bool:
        """Return whether a name that should be unknown occurs in the home."""
        language = self.world.language
        general = SINGULARS[language.name] | PLACES[language.name] if self.strange else ()
        return any(
            each in self.world.names and language.singular(each) not in general
            for each in self.strange
        )

    def _is_double(self) -> bool:
        things = list(self.things.values())
        return len(set(things)) < len(things)

    def _situation(self, text: str) -> Situation:
        here, before = "", tuple[str, ...]()
        if self.row.get("here") or (self.row.get("one") and self.dice.random() < 0.5):
            here = self._area_here().id
        elif self.home.areas and self.dice.random() < _HERE:
            here = self.dice.choice(self.home.areas).id
        follows = self.dice.random() < _BEFORE and PRONOUNS[self.world.language.name].isdisjoint(
            text.lower().split()
        )
        if self.row.get("by") in ("it", "other") or follows:
            things = [e.id for e in self.home.entities if e.domain in self.block.domains]
            before = (self.dice.choice(things),) if things else ()
        return Situation(here, before)

    def _ids(self, situation: Situation) -> frozenset[str] | None:
        """Return the ids of the entities that the sentence is about; None if none fits."""
        row, things, world = self.row, self.things, self.world
        by = row.get("by")
        if by in ("it", "other"):
            said = world.read("").offered_before(situation)
            return frozenset(said[by]) if said.get(by) else None
        if by == "timer":
            return frozenset({f"timer:{self.slots['timer']}"})
        if by == "timers":
            return frozenset(f"timer:{place}" for place in range(len(self.home.timers)))
        if row.get("absent"):
            place = next((f"{e}:{things[e]}" for e in ("area", "floor") if e in things), "")
            return None if world.groups.get((self.kind, place)) else frozenset()
        if self.block.name == "decline":
            return frozenset()
        if "name" in things:
            return frozenset(self._named())
        if not row.get("domain") and not by:
            return frozenset()
        places = [
            f"{kind.rstrip('2')}:{things[kind]}"
            for kind in ("area", "area2", "floor")
            if kind in things
        ]
        is_here = row.get("here") or (row.get("one") and situation.here)
        if not places:
            places = [f"area:{situation.here}"] if is_here else [""]
        self.where = "+".join(places)
        kinds = EVERYTHING if by == "everything" else (self.kind,)
        ids = {
            id_ for kind in kinds for where in places for id_ in world.groups.get((kind, where), ())
        }
        except_kind = row.get("except_kind")
        left_out = set(world.groups.get((except_kind, ""), ())) if except_kind else set()
        without = {kind: id_ for kind, id_ in things.items() if kind.startswith("except")}
        for kind, id_ in without.items():
            is_name = kind.startswith("except_name")
            found = {id_} if is_name else {e for e in ids if world.is_in(e, f"area:{id_}")}
            if not found & ids:
                return None
            left_out |= found
        if except_kind and not left_out & ids:
            return None
        return frozenset(ids - left_out) or None

    def _value(self, part: Any, depth: int) -> str:
        name = part.list_name
        if name.startswith("missing"):
            said = self._missing(name)
            self.strange.update(said.split())
            return said
        base = _BASES.get(name)
        if base is None:
            return super()._value(part, depth)
        thing = self._thing(base)
        self.things[name] = thing.id
        return thing.name.lower()

    def _fitting_places(self) -> tuple[Sequence[Area], Sequence[Floor]]:
        """Return the areas and floors that have entities of the block's kind.

        If the template is about an `absent` kind, returns areas without such entities and all
        floors.
        """
        if not self.row.get("absent"):
            return super()._fitting_places()
        areas = [
            e for e in self.home.areas if not self.world.groups.get((self.kind, f"area:{e.id}"))
        ]
        return areas or self.home.areas, self.home.floors

    def _missing(self, name: str) -> str:
        """Return a name that no entity or area of the home has."""
        if name in ("missing", "missing2"):
            nouns = [each.split()[-1] for d in self.block.domains for each in NAMES.get(d, ())]
            known = {each.name.lower() for each in self.home.entities}
            said = f"{self._strange_word()} {self.dice.choice(('', self.dice.choice(nouns)))}"
            pool = [each for d in self.block.domains for each in NAMES.get(d, ())]
            unknown = [each for each in pool if each.lower() not in known]
            return self.dice.choice((said, said, *unknown[:1])).strip().lower()
        known = {each.name.lower() for each in self.home.areas}
        unknown = [each.lower() for each in AREAS if each.lower() not in known]
        return self.dice.choice((self._strange_word(), self.dice.choice(unknown)))

    def _strange_word(self) -> str:
        """Return a random made-up word that serves as an unknown name."""
        parts = ("ba", "zo", "ri", "ken", "tul", "mar", "vi", "dor", "pla", "shu", "ger", "nix")
        return "".join(self.dice.choice(parts) for _ in range(self.dice.choice((2, 3))))


def join_examples(examples: Sequence[HomeExample], count: int, seed: int = 0) -> list[HomeExample]:
    """Return examples that join two commands for the same home in one text."""
    dice = random.Random(f"joined {seed}")
    homes: dict[int, list[HomeExample]] = {}
    for each in filter(_is_plain, examples):
        homes.setdefault(id(each.world), []).append(each)
    groups = [each for each in homes.values() if len(each) > 1]
    return [each for each in _pairs(dice, groups, count) if each] if groups else []


def delay_examples(examples: Sequence[HomeExample], count: int, seed: int = 0) -> list[HomeExample]:
    """Return examples of commands to carry out after a delay."""
    dice = random.Random(f"delayed {seed}")
    plain = list(filter(_is_plain, examples))
    made = (_delayed(dice, dice.choice(plain)) for _ in range(count if plain else 0))
    return [each for each in made if each]


def _is_plain(example: HomeExample) -> bool:
    """Return whether a command can be delayed or joined to another command."""
    command = example.command
    is_command = bool(command.target.ids) and not command.is_question
    return is_command and not example.situation.before and command.source != "duration"


def _delayed(dice: random.Random, example: HomeExample) -> HomeExample | None:
    world = example.world
    minutes = dice.choice((2, 5, 10, 15, 20, 30, 45))
    written = dice.choice(DELAYS.get(world.language.name, ("",))).format(minutes)
    text = dice.choice((f"{example.text} {written}", f"{written} {example.text}"))
    wanted = Command("delay", Target(by=""), 60.0 * minutes, "duration")
    is_offered = wanted in world.read(text).actions(example.situation)
    return replace(example, text=text, command=wanted, group="delayed") if is_offered else None


def _pairs(
    dice: random.Random, groups: Sequence[Sequence[HomeExample]], count: int
) -> Iterator[HomeExample | None]:
    for _ in range(count):
        first, second = dice.sample(list(dice.choice(groups)), 2)
        world = first.world
        words = [each for each in world.language.joints if each.isalpha()] or [","]
        joint = dice.choice((", ", *(f" {word} " for word in words), f", {words[0]} "))
        place = len(Utterance.of(first.text + joint, world.names).words)
        text = f"{first.text}{joint}{second.text}"
        wanted = Command("split", value=place)
        strange = first.strange | second.strange
        is_offered = wanted in world.read(text).actions(first.situation)
        made = replace(first, text=text, command=wanted, group="joined", strange=strange)
        yield made if is_offered else None
