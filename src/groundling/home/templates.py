"""Sampler of sentences from the templates of the corpus, in varied homes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groundling.errors import CorpusError
from groundling.home.corpus import (
    HomeExample,
    Sentence,
    TemplateError,
    corpus_folder,
    hassil,
    label,
    named_errors,
    parse_template,
    read_corpus,
    usual_domain,
)
from groundling.home.environment import HomeWorld
from groundling.home.generated import generated_home, rearranged_home
from groundling.home.home import Area, Entity, Floor, Home
from groundling.home.locales import SINGULARS, home_language
from groundling.home.plain_yaml import load_yaml
from groundling.limits import TEMPLATE_PARTS

_DEPTH = 40  # limit on nested rules
_TRIES = 30  # limit on attempts per requested sentence
_LEAST_BLOCKS = 8  # number of turns of an intent while other intents have one turn
_NEAR = 50  # ranges up to this size use all numbers; larger ranges use only multiples of ten
_SHORTENED = 0.25  # share of names of several words that are shortened
_FIRST_WORDS = 0.4  # share of shortened names that lose their last words
_TELLING = 3  # minimum length of a distinctive word
_STARTS = {"start_hours": 3600, "start_minutes": 60, "start_seconds": 1}
_FARTHEST = 100_000  # largest number in a range
_TEXTS = (
    "milk", "apples", "olive oil", "paper towels", "dog food", "wash the car", "call grandma",
    "dinner is ready", "the movie starts in ten minutes", "Bohemian Rhapsody", "The Dark Knight",
    "Pink Floyd", "Stranger Things", "Abbey Road", "Morning Jazz", "eggs and bacon", "batteries",
    "take out the trash", "Hotel California", "The Daily", "Interstellar", "light bulbs",
)  # fmt: skip
# Kinds of questions, by the names of answers in the languages of the corpus.
_ANSWERS = {
    "irgendeins": "any", "alle": "all", "welches": "which", "wer": "which", "wie_viele": "how_many",
    "which_person": "which",
}  # fmt: skip


@dataclass(frozen=True)
class Block:
    """A group of templates of one intent, with the same slots and conditions."""

    name: str
    intent: str
    sentences: tuple[str, ...]
    slots: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, Any] = field(default_factory=dict)
    domains: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    here: bool = False
    response: str = ""


def some_homes(language: str, count: int = 12, seed: int = 0) -> list[Home]:
    """Return random homes: generated for English, otherwise rearranged corpus homes."""
    if language == "en":
        return [generated_home(seed * 1000 + number) for number in range(count)]
    home = read_corpus(language=language).home
    return [rearranged_home(home, seed * 1000 + number) for number in range(count)]


def expand_templates(
    corpora: str | Path | None = None,
    language: str = "en",
    *,
    homes: Sequence[Home] | None = None,
    count: int = 2000,
    seed: int = 0,
) -> list[HomeExample]:
    """Return up to `count` examples sampled from the templates of the corpus.

    Blocks of templates take turns, so that none dominates. If an intent has few blocks, each of
    them takes several turns. The same seed gives the same examples.
    """
    dice = random.Random(f"templates {language} {seed}")
    blocks, rules, lists = _read(corpus_folder(corpora) / "sentences" / language)
    given = some_homes(language, seed=seed) if homes is None else homes
    worlds = [HomeWorld(each, home_language(language)) for each in given]
    made: dict[tuple[str, int, str], HomeExample] = {}
    used = Counter[int]()
    commands: dict[int, list[str]] = {id(each): [] for each in worlds}
    sizes = Counter(each.intent for each in blocks)
    often = [each for each in blocks for _ in range(-(-_LEAST_BLOCKS // sizes[each.intent]))]
    for turn in range(_TRIES * max(1, count // max(1, len(often)) + 1)):
        for block in often:
            if len(made) >= count:
                return list(made.values())
            world = worlds[dice.randrange(len(worlds))]
            sampler = Sampler(
                dice, world.home, block, {**rules, **block.rules}, lists, used, commands[id(world)]
            )
            with named_errors(f"The {block.name}"):
                sentence = sampler.sentence()
                found = label(world, sentence) if sentence else None
            if isinstance(found, HomeExample):
                if found.command.target.ids and not found.command.is_question:
                    commands[id(world)].append(found.text)
                made.setdefault((found.text.lower(), id(world), found.situation.here), found)
        if turn >= _TRIES and not made:
            break
    return list(made.values())


class Sampler:
    """Sampler of one sentence from a block of templates, for a home.

    `used` counts how often each alternative was chosen. Rarely used alternatives are preferred, so
    that a few sentences cover most words of the templates. `commands` are sentences that can follow
    a delay.
    """

    def __init__(
        self,
        dice: random.Random,
        home: Home,
        block: Block,
        rules: Mapping[str, str],
        lists: Mapping[str, Any],
        used: Counter[int] | None = None,
        commands: Sequence[str] = (),
    ) -> None:
        self._commands = commands
        self._used = Counter[int]() if used is None else used
        self.dice, self.home, self.block, self.rules = dice, home, block, rules
        self.lists = {**lists, **block.lists}
        self.slots: dict[str, Any] = dict(block.slots)
        self.things: dict[str, str] = {}
        self.language = home.language
        self._kinds = hassil("expression")
        self._parts = 0

    def sentence(self) -> Sentence | None:
        """Return a sentence with its slots, or None if nothing in the home fits."""
        try:
            text = self._sampled()
        except (NothingError, TemplateError):
            return None
        here = ""
        if self.block.here and self.home.areas:
            area = self._area_here()
            here = area.name
            if self.block.intent not in ("HassTurnOn", "HassTurnOff") or "domain" in self.slots:
                self.slots.setdefault("area", area.name)
        if not text or not self._is_true():
            return None
        domain = self.block.domains[0] if len(self.block.domains) == 1 else ""
        block = self.block
        return Sentence(text, block.intent, self.slots, here, domain, block.name, block.response)

    def _is_true(self) -> bool:
        """Return whether the named entities are where the sentence says they are."""
        if "name" not in self.things:
            return True
        entity = self.home.entity_of[self.things["name"]]
        places = {"area": entity.area, "floor": self.home.floor_id(entity)}
        said = [(kind, self.things[kind]) for kind in places if kind in self.things]
        return all(not places[kind] or places[kind] == id_ for kind, id_ in said)

    def _area_here(self) -> Area:
        areas, _ = self._fitting_places()
        return self.dice.choice(areas)

    def _fitting_places(self) -> tuple[Sequence[Area], Sequence[Floor]]:
        """Return the areas and floors that have entities of the block's kind."""
        home, slots = self.home, self.slots
        domain = slots.get("domain") or usual_domain(self.block.intent)
        device_class = slots.get("device_class")
        ids = {
            each.area
            for each in home.entities
            if domain in (None, "", each.domain) and device_class in (None, each.device_class)
        }
        if "Timer" in self.block.intent:
            ids = {each.area for each in home.timers}
        areas = [each for each in home.areas if each.id in ids] or home.areas
        floors = [e for e in home.floors if e.id in {area.floor for area in areas}] or home.floors
        return areas, floors

    def _sampled(self) -> str:
        parts = [parse_template(each) for each in self.block.sentences]
        return " ".join(self._text(self._rarest(parts), 0).split())

    def _rarest(self, parts: Sequence[Any]) -> Any:
        """Return one of several alternatives; rarely used alternatives are more likely."""
        rarity = [(1 + self._used[id(each)]) ** -2.0 for each in parts]
        (chosen,) = self.dice.choices(parts, rarity)
        self._used[id(chosen)] += 1
        return chosen

    def _text(self, part: Any, depth: int) -> str:
        kinds = self._kinds
        self._parts += 1
        TEMPLATE_PARTS.check(self._parts, CorpusError, self.block.name)
        if depth > _DEPTH:
            raise NothingError
        if isinstance(part, kinds.TextChunk):
            return str(part.original_text)
        if isinstance(part, kinds.Alternative):
            return self._text(self._rarest(part.items), depth + 1)
        if isinstance(part, kinds.Permutation):
            items = list(part.items)
            self.dice.shuffle(items)
            return " ".join(self._text(each, depth + 1) for each in items)
        if isinstance(part, kinds.Group):
            return "".join(self._text(each, depth + 1) for each in part.items)
        if isinstance(part, kinds.RuleReference):
            rule = self.rules.get(part.rule_name)
            if rule is None:
                raise NothingError
            return self._text(parse_template(rule), depth + 1)
        return self._value(part, depth)

    def _value(self, part: Any, depth: int) -> str:
        """Choose a value for a list in a template, store it in its slot, and return it."""
        name, slot = part.list_name, part.slot_name
        if name in ("name", "area", "floor"):
            thing = self._thing(name)
            self.slots[slot] = thing.name
            self.things[name] = thing.id
            said = self.dice.choice((thing.name, *thing.aliases)).lower()
            return self._shortened(said) if name == "name" else said
        if name == "timer_name" and self.block.intent != "HassStartTimer":
            names = [each.name for each in self.home.timers if each.name]
            if not names:
                raise NothingError
            self.slots[slot] = self.dice.choice(names)
            return str(self.slots[slot])
        known = self.lists.get(name)
        if not known:
            raise NothingError
        if "wildcard" in known:
            texts = self._commands if slot == "conversation_command" else _TEXTS
            if not texts:
                raise NothingError
            self.slots[slot] = self.dice.choice(texts)
            return str(self.slots[slot])
        if "range" in known:
            low, high = int(known["range"]["from"]), int(known["range"]["to"])
            if not -_FARTHEST <= low <= high <= _FARTHEST:
                raise ValueError(
                    f"A range must be ascending and within ±{_FARTHEST:,}; got {low} to {high}."
                )
            near = high - low < _NEAR
            tens = [n for n in range(low, high + 1) if near or n % 10 == 0 or n in (1, 5)]
            if slot in _STARTS:  # a running timer is referred to by its duration
                unit = _STARTS[slot]
                known_starts = [t.start // unit for t in self.home.timers if not t.start % unit]
                tens = [n for n in known_starts if max(1, low) <= n <= high]
            if not tens:
                raise NothingError
            number = self.dice.choice(tens)
            self.slots[slot] = number
            return str(number)
        value = self.dice.choice(known["values"])
        said, meant = (value["in"], value["out"]) if isinstance(value, Mapping) else (value, value)
        self.slots[slot] = meant
        return self._text(parse_template(str(said)), depth + 1)

    def _shortened(self, name: str) -> str:
        """Return a name, in which some words may be left out at random (*the kettle*)."""
        nouns = SINGULARS["english"] if self.language == "en" else None
        words = name.split()
        if not nouns or len(words) < 2 or self.dice.random() >= _SHORTENED:
            return name
        count = self.dice.randrange(1, len(words))
        kept = words[:count] if self.dice.random() < _FIRST_WORDS else words[-count:]
        telling = [each for each in kept if each.isalpha() and each.rstrip("s") not in nouns]
        return " ".join(kept) if any(len(each) >= _TELLING for each in telling) else name

    def _thing(self, kind: str) -> Entity | Area | Floor:
        things: Sequence[Entity | Area | Floor]
        if kind == "name":
            block = self.block
            things = [
                each
                for each in self.home.entities
                if (not block.domains or each.domain in block.domains)
                and (not block.classes or each.device_class in block.classes)
                and each.domain not in block.excluded
            ]
        else:
            areas, floors = self._fitting_places()
            things = areas if kind == "area" else floors
        if not things:
            raise NothingError
        return self.dice.choice(things)


class NothingError(Exception):
    """Error for a template that nothing in the home fits."""


def _read(folder: Path) -> tuple[list[Block], dict[str, str], dict[str, Any]]:
    if not folder.is_dir():
        raise CorpusError(
            f"The corpus must have a folder of templates; {folder} does not exist. Download the "
            "corpus again."
        )
    rules: dict[str, str] = {}
    lists: dict[str, Any] = {}
    blocks: list[Block] = []
    for path in sorted(folder.rglob("*.yaml")):
        data = load_yaml(path, CorpusError, aliases=True)
        with named_errors(str(path)):
            if path.name == "_common.yaml":
                rules |= {str(k): str(v) for k, v in (data.get("expansion_rules") or {}).items()}
                lists |= data.get("lists") or {}
                continue
            own = {path.parent.name: data} if path.parent != folder else data.get("intents") or {}
            shared = {str(k): str(v) for k, v in (data.get("expansion_rules") or {}).items()}
            for intent, body in own.items():
                blocks += [
                    replace(block, rules={**shared, **block.rules})
                    for block in _blocks(path, intent, body)
                ]
    return blocks, rules, lists


def _blocks(path: Path, intent: str, body: Mapping[str, Any]) -> Iterator[Block]:
    for number, row in enumerate(body.get("data") or []):
        requires, excludes = (row.get(f"{kind}_context") or {} for kind in ("requires", "excludes"))
        slots = dict(row.get("slots") or {})
        if "inferred_domain" in row:
            slots["domain"] = row["inferred_domain"]
        domains = _several(requires.get("domain")) or _several(row.get("name_domains"))
        yield Block(
            name=f"template {path.stem}:{number}",
            intent=intent,
            sentences=tuple(map(str, row["sentences"])),
            slots=slots,
            rules={str(k): str(v) for k, v in (row.get("expansion_rules") or {}).items()},
            lists=row.get("lists") or {},
            domains=domains,
            classes=_several(requires.get("device_class")),
            response=_answer(str(row.get("response") or "")),
            excluded=_several(excludes.get("domain")),
            here="area" in requires or path.stem == "domain_only",
        )


def _answer(response: str) -> str:
    """Return the kind of a corpus response: `any`, `all` or the response itself."""
    response = _ANSWERS.get(response, response)
    for kind in ("any", "all"):
        if response.startswith(f"{kind}_"):
            return kind
    return response


def _several(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
