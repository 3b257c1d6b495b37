"""Sentences about homes with their intents and slots, as demonstrations in a home.

The corpus is that of the Home Assistant Intents project (CC BY 4.0): `tests/LANGUAGE` holds
sentences with intent and slots and the home they are about, `sentences/LANGUAGE` holds templates.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain, islice, permutations, product
from pathlib import Path
from typing import Any

from groundling.corpora.places import VARIABLE, find_corpora
from groundling.errors import CorpusError, GroundlingError
from groundling.home.environment import NOTHING, VERBS, Command, HomeEnvironment, HomeState
from groundling.home.home import Area, Entity, Floor, Home
from groundling.home.plain_yaml import load_yaml
from groundling.limits import TEMPLATE_CHARACTERS
from groundling.world.environment import Demonstration, shorten

__all__ = [
    "FREE_TEXT",
    "QUESTIONS",
    "HomeCorpus",
    "Sentence",
    "corpus_folder",
    "demonstrate",
    "find_command",
    "named_errors",
    "parse_template",
    "read_corpus",
    "split",
]

QUESTIONS = frozenset({
    "HassGetState", "HassClimateGetTemperature", "HassTimerStatus", "HassGetCurrentDate",
    "HassGetCurrentTime", "HassGetWeather", "HassRespond",
})  # fmt: skip
"""Intents that ask for something."""
FREE_TEXT = frozenset({
    "HassBroadcast", "HassMediaSearchAndPlay", "HassShoppingListAddItem",
    "HassShoppingListCompleteItem", "HassListAddItem", "HassListCompleteItem",
})  # fmt: skip
"""Intents whose value is any text."""
_TIMERS = {
    "HassCancelTimer": "cancel", "HassPauseTimer": "pause", "HassUnpauseTimer": "resume",
    "HassIncreaseTimer": "add time", "HassDecreaseTimer": "take time",
}  # fmt: skip
# The verb of an intent, and the domain where no slot says it.
_PLAIN = {
    "HassMediaNext": ("next", "media_player"),
    "HassMediaPrevious": ("previous", "media_player"),
    "HassMediaPause": ("pause", "media_player"),
    "HassMediaUnpause": ("resume", "media_player"),
    "HassVacuumStart": ("start", "vacuum"),
    "HassVacuumReturnToBase": ("return", "vacuum"),
}
_VALUED = {
    "HassSetPosition": (("position", "set position"),),
    "HassLightSet": (("brightness", "set brightness"), ("color", "set color")),
    "HassClimateSetTemperature": (("temperature", "set temperature"),),
    "HassSetVolume": (("volume_level", "set volume"),),
}
_VALUED_DOMAINS = {
    "HassSetPosition": "cover", "HassLightSet": "light", "HassSetVolume": "media_player",
    "HassClimateSetTemperature": "climate",
}  # fmt: skip
_ON = {"cover": "open", "valve": "open", "lock": "lock"}
_OFF = {"cover": "close", "valve": "close", "lock": "unlock"}
_MOST_NAMES = 20  # that one name of the fixtures may stand for
_DEPTH = 40  # of groups inside groups


@dataclass(frozen=True)
class Sentence:
    """A sentence with its intent, slots and the area of the speaker.

    `group` names the sentences that say the same. `domain` restricts what a name may be of.
    """

    text: str
    intent: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    here: str = ""
    domain: str = ""
    group: str = ""


@dataclass(frozen=True)
class HomeCorpus:
    """The sentences of a language that can be demonstrated in its home, and what was left out.

    `left_out` counts sentences by reason, such as `question` or `free text`.
    """

    language: str
    home: Home
    demonstrations: tuple[Demonstration, ...]
    left_out: Mapping[str, int]


def corpus_folder(corpora: str | Path | None = None) -> Path:
    """Return the folder `home` of the corpora: as given, or as the environment says."""
    place = find_corpora(corpora, "home")
    if place.folder is None:
        raise CorpusError(
            f"The corpus of homes must be in a folder that {VARIABLE} names; got {place.why}."
        )
    return place.folder / "home"


def read_corpus(
    corpora: str | Path | None = None, language: str = "en", *, furnish: bool = True
) -> HomeCorpus:
    """Read the sentences of a language as demonstrations in the home of its fixtures.

    Sentences about a kind of thing that the home lacks in that place (*open the kitchen blinds*)
    get one there, unless `furnish` is False; then they are left out.
    """
    folder = corpus_folder(corpora)
    if not (folder / "tests" / language).is_dir():
        known = sorted(each.name for each in (folder / "tests").glob("*") if each.is_dir())
        raise CorpusError(f"`language` must be one of {', '.join(known)}; got {language!r}.")
    with named_errors(f"The corpus in {folder / 'tests' / language}"):
        home, sentences = _read(folder, language)
        if furnish:
            home = _furnished(home, sentences)
    environment = HomeEnvironment(home)
    found, left_out = [], Counter[str]()
    for sentence in _grouped(sentences):
        with named_errors(f"The sentence {shorten(sentence.text)} of {sentence.group}"):
            made = demonstrate(environment, sentence)
        if isinstance(made, Demonstration):
            found.append(made)
        else:
            left_out[made] += 1
    return HomeCorpus(language, home, tuple(found), dict(sorted(left_out.items())))


def split(
    demonstrations: Sequence[Demonstration], share: float = 0.2, seed: int = 0
) -> tuple[list[Demonstration], list[Demonstration]]:
    """Return (training, held-out) demonstrations; sentences of one group stay together.

    Groups are held out in a random order while less than a `share` of all sentences is.
    """
    groups: dict[str, list[Demonstration]] = {}
    for each in demonstrations:
        groups.setdefault(each.group, []).append(each)
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    chosen: set[str] = set()
    count, most = 0, share * len(demonstrations)
    for name in names:
        if count + len(groups[name]) <= most:
            chosen.add(name)
            count += len(groups[name])
    held_out = [each for each in demonstrations if each.group in chosen]
    return [each for each in demonstrations if each.group not in chosen], held_out


def demonstrate(environment: HomeEnvironment, sentence: Sentence) -> Demonstration | str:
    """Return a sentence as a demonstration, or why it cannot be demonstrated."""
    here = _by_name(environment.home.areas, sentence.here)
    state = environment.initial_state(here.id if here else "")
    command = find_command(environment, state, sentence)
    if isinstance(command, str):
        return command
    if command not in environment.actions(state):
        return "value not offered" if command.value is not None else "nothing there to act on"
    return Demonstration(
        sentence.text, environment, state, (command,), name=sentence.text, group=sentence.group
    )


def find_command(
    environment: HomeEnvironment, state: HomeState, sentence: Sentence
) -> Command | str:
    """Return the command that intent and slots of a sentence stand for, or why there is none."""
    intent = sentence.intent
    if intent in QUESTIONS:
        return "question"
    if intent in FREE_TEXT:
        return "free text"
    if intent == "HassNevermind":
        return Command(NOTHING)
    if intent == "HassStartTimer":
        return "open value"
    if intent in _TIMERS or intent == "HassCancelAllTimers":
        return _timer_command(environment.home, state, sentence)
    return _device_command(environment, sentence) if intent in _DEVICES else "other intent"


_DEVICES = {"HassTurnOn", "HassTurnOff", *_PLAIN, *_VALUED}


def _device_command(environment: HomeEnvironment, sentence: Sentence) -> Command | str:
    slots, home = sentence.slots, environment.home
    domain = str(_one(slots.get("domain")) or sentence.domain or "")
    name = _one(slots.get("name"))
    what, where = "", ""
    if name is not None and str(name).lower() != "all":
        named = [
            each
            for each in home.entities
            if _is_called(each, str(name)) and each.domain in ({domain} if domain else VERBS)
        ]
        area = _by_name(home.areas, _one(slots.get("area")))
        there = [each for each in named if area is None or each.area == area.id]
        if len(there or named) != 1:
            return "several things fit" if named else "no such name"
        entity = (there or named)[0]
        what, domain = entity.id, entity.domain
    else:
        domain = domain or _PLAIN.get(sentence.intent, ("", ""))[1]
        domain = domain or _VALUED_DOMAINS.get(sentence.intent, "")
        if not domain:
            return "no kind of thing"
        device_class = _one(slots.get("device_class"))
        what = f"{domain}:{device_class}" if device_class else domain
        found = _where(home, sentence)
        if found is None:
            return "no such place"
        where = found
    value = None
    if sentence.intent in _VALUED:
        valued = [each for each in _VALUED[sentence.intent] if each[0] in slots]
        if not valued:
            return "no value"
        slot, verb = valued[0]
        value = _number(_one(slots[slot]))
    elif sentence.intent in _PLAIN:
        verb = _PLAIN[sentence.intent][0]
    elif sentence.intent == "HassTurnOn":
        verb = _ON.get(domain, "turn on")
    else:
        verb = _OFF.get(domain, "turn off")
    return Command(verb, what, where, value)


def _where(home: Home, sentence: Sentence) -> str | None:
    """Return where a group is, as a command has it; None if there is no such place."""
    slots = sentence.slots
    if "area" in slots:
        area = _by_name(home.areas, _one(slots["area"]))
        return None if area is None else f"area:{area.id}"
    if "floor" in slots:
        floor = _by_name(home.floors, _one(slots["floor"]))
        return None if floor is None else f"floor:{floor.id}"
    if sentence.here and slots.get("domain") and sentence.intent in ("HassTurnOn", "HassTurnOff"):
        area = _by_name(home.areas, sentence.here)
        return None if area is None else f"area:{area.id}"
    return ""


def _timer_command(home: Home, state: HomeState, sentence: Sentence) -> Command | str:
    slots = sentence.slots
    area = _by_name(home.areas, _one(slots.get("area")))
    if sentence.intent == "HassCancelAllTimers":
        return Command("cancel", "timer", f"area:{area.id}" if area else "")
    start = sum(
        int(str(_one(slots.get(f"start_{unit}", 0)))) * size
        for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1))
    )
    name = str(_one(slots.get("name")) or "").strip().lower()
    fitting = [
        place
        for place, timer in enumerate(state.timers)
        if (not name or timer.name.lower() == name)
        and (area is None or timer.area == area.id)
        and (not start or timer.start == start)
    ]
    if len(fitting) != 1:
        return "several things fit" if fitting else "no such name"
    verb = _TIMERS[sentence.intent]
    if not verb.endswith("time"):
        return Command(verb, f"timer:{fitting[0]}")
    if set(slots) & {"hours", "seconds"} or "minutes" not in slots:
        return "open value"
    return Command(verb, f"timer:{fitting[0]}", "", _number(_one(slots["minutes"])))


def _one(value: Any) -> Any:
    """Return a slot's value; where several spellings are given, the last, which is trimmed."""
    return value[-1] if isinstance(value, (list, tuple)) and value else value


def _number(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_called(thing: Floor | Area | Entity, name: str) -> bool:
    wanted = name.strip().lower()
    return any(each.lower() == wanted for each in (thing.name, *thing.aliases))


def _by_name(things: Iterable[Any], name: Any) -> Any:
    if not name:
        return None
    return next((each for each in things if _is_called(each, str(name)) or each.id == name), None)


# ---- reading ------------------------------------------------------------------------------


def _read(folder: Path, language: str) -> tuple[Home, list[Sentence]]:
    tests = folder / "tests" / language
    fixtures = _with_aliases(load_yaml(tests / "_fixtures.yaml", CorpusError, aliases=True))
    combinations = load_yaml(folder / "intents.yaml", CorpusError)
    sentences: list[Sentence] = []
    for path in sorted(tests.rglob("*.yaml")):
        if path.name.startswith("_"):
            continue
        data = load_yaml(path, CorpusError, aliases=True)
        with named_errors(str(path)):
            if path.parent == tests:
                rows = [(row.get("intent") or {}, row) for row in data["tests"]]
                here = ""
            else:  # one intent and one combination of slots per file
                _add(fixtures, _with_aliases(data))
                rows = [({**row, "name": path.parent.name}, row) for row in data["tests"]]
                known = combinations[path.parent.name].get("slot_combinations", {})
                here = "?" if known.get(path.stem, {}).get("context_area") else ""
            for number, (intent, row) in enumerate(rows):
                context = intent.get("context") or {}
                slots = dict(intent.get("slots") or {})
                domain = _one(context.get("domain")) or ""
                base = Sentence(
                    "", str(intent.get("name")), slots, str(_one(context.get("area")) or here),
                    str(domain), f"{path.relative_to(tests).with_suffix('')}:{number}",
                )  # fmt: skip
                sentences += [replace(base, text=str(text)) for text in row["sentences"]]
    home = Home.from_data(fixtures, f"{tests / '_fixtures.yaml'}")
    first = home.areas[0].name if home.areas else ""
    with_light = [each.area for each in home.entities if each.domain == "light" and each.area]
    here = home.area_of[with_light[0]].name if with_light else first
    return home, [replace(each, here=here) if each.here == "?" else each for each in sentences]


def _with_aliases(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return fixtures without templates in names: `Hall[way]` is Hall, with an alias."""
    made, ids = dict(data), set[str]()
    areas = {each.get("id"): each.get("id") for each in data.get("areas") or []}
    areas |= {str(each["name"]).lower(): each.get("id") for each in data.get("areas") or []}
    floors = [dict(each) for each in data.get("floors") or []]
    known = {each.get("id") for each in floors}
    unknown = {each.get("floor") for each in data.get("areas") or []} - known - {None}
    data = {**data, "floors": floors + [{"id": each, "name": each} for each in sorted(unknown)]}
    made["timers"] = [
        {**row, "area": areas.get(row.get("area"), "")} for row in data.get("timers") or []
    ]
    for kind in ("floors", "areas", "entities"):
        rows = []
        for row in data.get(kind) or []:
            first, *others = _spellings(str(row["name"]))
            row = {**row, "name": first, "aliases": others}
            domain = row.pop("domain", "")
            slug = "_".join(first.lower().split())
            row.setdefault("id", f"{domain}.{slug}" if domain else slug)
            while row["id"] in ids:  # some fixtures have an id twice
                row["id"] += "_2"
            ids.add(row["id"])
            rows.append(row)
        made[kind] = rows
    return made


def _spellings(template: str) -> list[str]:
    if not set(template) & set("[(|"):
        return [template]
    try:
        found = _some_texts(parse_template(template), 0)
    except TemplateError:
        return [template]
    return list(dict.fromkeys(" ".join(each.split()) for each in found)) or [template]


def _some_texts(part: Any, depth: int) -> list[str]:
    """Return the first texts of a template, in the order of hassil, which would make them all."""
    kinds = hassil("expression")
    if isinstance(part, kinds.TextChunk):
        return [str(part.original_text)]
    if depth > _DEPTH or not isinstance(part, kinds.Group):
        raise TemplateError("A name must be a template without rules and lists.")
    items = [_some_texts(each, depth + 1) for each in part.items[: 10 * _MOST_NAMES]]
    if isinstance(part, kinds.Alternative):
        return list(islice(chain.from_iterable(items), _MOST_NAMES))
    orders = permutations(items) if isinstance(part, kinds.Permutation) else [items]
    joined = ("".join(each) for order in orders for each in product(*order))
    return list(islice(joined, _MOST_NAMES))


class TemplateError(CorpusError):
    """A template that cannot be read."""


def parse_template(template: str) -> Any:
    """Return the expression that a template of hassil stands for."""
    TEMPLATE_CHARACTERS.check(len(template), TemplateError, "A template")
    try:
        return hassil("parse_expression").parse_sentence(template).expression
    except GroundlingError:
        raise
    except Exception as error:  # hassil says by assertions, among others, what it cannot read
        raise TemplateError(
            f"A template must be one that hassil reads; got {shorten(template)}."
        ) from error


@contextmanager
def named_errors(where: str) -> Iterator[None]:
    """Turn the errors of data that are not as the corpus has them into one that says where."""
    try:
        yield
    except GroundlingError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
            RecursionError) as error:  # fmt: skip
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise CorpusError(
            f"{where} must be as Home Assistant Intents has it; got {told}. Get the file again."
        ) from error


def hassil(module: str) -> Any:
    """Return a module of hassil, which reads templates, or say what to install."""
    try:
        return import_module(f"hassil.{module}")
    except ModuleNotFoundError as error:
        raise GroundlingError(
            "Reading templates needs hassil, which is not installed. Run "
            "`pip install 'groundling[home]'`."
        ) from error


def _add(fixtures: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add the areas and entities of one file to those of all, unless they are there."""
    for kind in ("floors", "areas", "entities"):
        names = {row["name"].lower() for row in fixtures.get(kind) or []}
        fixtures[kind] = [
            *(fixtures.get(kind) or []),
            *(row for row in more.get(kind) or [] if row["name"].lower() not in names),
        ]


def _furnished(home: Home, sentences: Iterable[Sentence]) -> Home:
    """Return a home that has what sentences about kinds of things speak of."""
    missing: dict[str, Entity] = {}
    environment = HomeEnvironment(home)
    for sentence in sentences:
        command = find_command(environment, environment.initial_state(), sentence)
        if isinstance(command, str) or "." in command.what or not command.what:
            continue
        domain, _, device_class = command.what.partition(":")
        if domain not in VERBS or environment.targets(command):
            continue
        kind, _, id_ = command.where.partition(":")
        areas = [a for a in home.areas if id_ in ((a.id,) if kind == "area" else (a.floor,))]
        if kind and not areas:
            continue
        called = (device_class or domain).replace("_", " ")
        name = f"{areas[0].name} {called}" if kind else called.capitalize()
        new = f"{domain}.{areas[0].id if kind else 'home'}_{device_class or domain}"
        attributes = (("device_class", device_class),) if device_class else ()
        state = next(iter(VERBS[domain].values()))
        area = areas[0].id if kind else ""
        missing.setdefault(new, Entity(new, name, (), area, state, attributes))
    known = home.entity_of
    return replace(
        home, entities=(*home.entities, *(e for e in missing.values() if e.id not in known))
    )


def _grouped(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences, each once, in groups of all that have the same meaning or a text."""
    leader: dict[str, str] = {}

    def find(group: str) -> str:
        while leader.setdefault(group, group) != group:
            group = leader[group]
        return group

    owners: dict[Any, str] = {}
    distinct: dict[tuple[str, str], Sentence] = {}
    for each in sentences:
        if each.text.lower() in {"", "none"}:
            continue
        slots = tuple(sorted((k, str(v).lower()) for k, v in each.slots.items()))
        for key in ((each.intent, slots, each.here), each.text.lower()):
            first, second = find(owners.setdefault(key, each.group)), find(each.group)
            leader[max(first, second)] = min(first, second)
        distinct.setdefault((each.text.lower(), each.here), each)
    return [replace(each, group=find(each.group)) for each in distinct.values()]
