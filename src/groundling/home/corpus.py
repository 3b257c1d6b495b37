"""Corpus of sentences about homes, converted to demonstrations.

The corpus is Home Assistant Intents (CC BY 4.0). The folder `tests/LANGUAGE` contains sentences
with intents and slots, and the home to which they refer. The folder `sentences/LANGUAGE` contains
templates of sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from itertools import chain, islice, permutations, product
from pathlib import Path
from typing import Any

from groundling.corpora.places import VARIABLE, find_corpora
from groundling.errors import CorpusError, GroundlingError
from groundling.home.catalogue import STATES, VERBS
from groundling.home.environment import (
    SHOPPING_LIST,
    Command,
    HomeWorld,
    Situation,
    Target,
    TextWorld,
)
from groundling.home.home import Area, Entity, Floor, Home
from groundling.home.locales import home_language
from groundling.home.plain_yaml import load_yaml
from groundling.limits import TEMPLATE_CHARACTERS
from groundling.world.environment import Demonstration, shorten

_TIMERS = {
    "HassCancelTimer": "cancel timer", "HassPauseTimer": "pause timer",
    "HassUnpauseTimer": "resume timer", "HassIncreaseTimer": "add time",
    "HassDecreaseTimer": "take time", "HassTimerStatus": "time left",
    "HassCancelAllTimers": "cancel timer",
}  # fmt: skip
_BARE = {
    "HassNevermind": "never mind", "HassRespond": "respond", "HassGetCurrentDate": "date",
    "HassGetCurrentTime": "time",
}  # fmt: skip
# The verb of each intent, and the default domain if no slot gives one.
_PLAIN = {
    "HassMediaNext": ("next", "media_player"),
    "HassMediaPrevious": ("previous", "media_player"),
    "HassMediaPause": ("pause", "media_player"),
    "HassMediaUnpause": ("resume", "media_player"),
    "HassVacuumStart": ("start", "vacuum"),
    "HassVacuumReturnToBase": ("return", "vacuum"),
    "HassMediaSearchAndPlay": ("play", "media_player"),
    "HassClimateGetTemperature": ("temperature", "temperature"),
    "HassGetWeather": ("weather", "weather"),
    "HassListAddItem": ("add item", "todo"),
    "HassListCompleteItem": ("complete item", "todo"),
}
_VALUED = {
    "HassSetPosition": (("position", "set position"),),
    "HassLightSet": (("brightness", "set brightness"), ("color", "set colour")),
    "HassClimateSetTemperature": (("temperature", "set temperature"),),
    "HassSetVolume": (("volume_level", "set volume"),),
}
_VALUED_DOMAINS = {
    "HassSetPosition": "cover", "HassLightSet": "light", "HassSetVolume": "media_player",
    "HassClimateSetTemperature": "climate",
}  # fmt: skip
_TEXTS = {
    "HassBroadcast": "message", "HassMediaSearchAndPlay": "search_query", "HassListAddItem": "item",
    "HassListCompleteItem": "item", "HassShoppingListAddItem": "item",
    "HassShoppingListCompleteItem": "item",
}  # fmt: skip
_SHOPPING = {
    "HassShoppingListAddItem": "add item", "HassShoppingListCompleteItem": "complete item",
}  # fmt: skip
_ON = {"cover": "open", "valve": "open", "lock": "lock"}
_OFF = {"cover": "close", "valve": "close", "lock": "unlock"}
_MOST_NAMES = 20  # limit on expansions of one name template
_DEPTH = 40  # limit on nested groups in a template
_YES = frozenset(["yes", "ja", "oui", "sí", "si", "sì", "tak", "نعم", "أجل", "네", "예", "да"])
_NO = frozenset(["no", "nein", "non", "nee", "nie", "لا", "كلا", "아니요", "아니오", "нет"])


@dataclass(frozen=True)
class Sentence:
    """A sentence of the corpus, with its intent, slots and the area of the speaker.

    `group` identifies sentences with the same meaning. `domain` restricts the entities that a
    name may refer to. `response` is the expected answer, or the kind of question (such as `any`).
    """

    text: str
    intent: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    here: str = ""
    domain: str = ""
    group: str = ""
    response: str = ""


@dataclass(frozen=True)
class HomeExample:
    """A sentence with its meaning in a home.

    `strange` contains the made-up words of the sentence, which are not learnt.
    """

    text: str
    world: HomeWorld
    situation: Situation
    command: Command
    group: str = ""
    strange: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """Kind of entity to which the sentence refers; empty if it names an entity."""
        return self.command.target.kind if self.command.target.by == "kind" else ""

    def demonstrations(self, world: HomeWorld | None = None) -> Iterator[Demonstration]:
        """Yield the command as a demonstration.

        A command with a free-text value yields a second demonstration, which shows this value.

        `world` is the home with a learnt vocabulary. Defaults to the home of the example, which has
        no vocabulary.
        """
        said = (world or self.world).read(self.text, self.command.target.kind)
        if isinstance(self.command.source, str):
            yield self._shown(said, self.command)
        else:
            open_ = self.command._replace(value=None, source="")
            yield self._shown(said, open_)
            yield self._shown(said.spans(open_), self.command)

    def _shown(self, said: TextWorld, command: Command) -> Demonstration:
        return Demonstration(
            said.instruction, said, self.situation, (command,), name=self.text, group=self.group
        )


@dataclass(frozen=True)
class HomeCorpus:
    """Sentences of a language and the home to which they refer.

    `left_out` maps reasons for skipping sentences to numbers of sentences.
    """

    language: str
    home: Home
    examples: tuple[HomeExample, ...]
    left_out: Mapping[str, int]


def corpus_folder(corpora: str | Path | None = None) -> Path:
    """Return the folder of the home corpus, inside `corpora` or the default folder."""
    place = find_corpora(corpora, "home")
    if place.folder is None:
        raise CorpusError(
            f"The home corpus was not found ({place.why}). Set {VARIABLE} to the folder of the "
            "corpora."
        )
    return place.folder / "home"


def read_corpus(corpora: str | Path | None = None, language: str = "en") -> HomeCorpus:
    """Read the sentences of a language as examples in the test home of the corpus.

    If a sentence refers to something that the home lacks (*open the kitchen blinds* in a home
    without kitchen blinds), an entity is added to the home.
    """
    folder = corpus_folder(corpora)
    if not (folder / "tests" / language).is_dir():
        known = sorted(each.name for each in (folder / "tests").glob("*") if each.is_dir())
        raise CorpusError(f"`language` must be one of {', '.join(known)}; got {language!r}.")
    with named_errors(f"The corpus in {folder / 'tests' / language}"):
        home, sentences = _read(folder, language)
        home = _furnished(home, sentences)
    world = HomeWorld(home, home_language(language))
    found, left_out = [], Counter[str]()
    for sentence in _grouped(sentences):
        with named_errors(f"The sentence {shorten(sentence.text)} of {sentence.group}"):
            made = label(world, sentence)
        if isinstance(made, HomeExample):
            found.append(made)
        else:
            left_out[made] += 1
    return HomeCorpus(language, home, tuple(found), dict(sorted(left_out.items())))


def split(
    examples: Sequence[HomeExample], share: float = 0.2, seed: int = 0
) -> tuple[list[HomeExample], list[HomeExample]]:
    """Return training and held-out examples; sentences of one group stay together.

    Groups are held out in random order, up to a `share` of all sentences. The order depends only on
    the names of the groups and the seed, so that an additional group hardly changes the split.
    """
    groups: dict[str, list[HomeExample]] = {}
    for each in examples:
        groups.setdefault(each.group, []).append(each)
    names = sorted(groups, key=lambda name: sha256(f"{seed} {name}".encode()).digest())
    chosen: set[str] = set()
    count, most = 0, share * len(examples)
    for name in names:
        if count + len(groups[name]) <= most:
            chosen.add(name)
            count += len(groups[name])
    held_out = [each for each in examples if each.group in chosen]
    return [each for each in examples if each.group not in chosen], held_out


# ---- the meaning of a sentence -------------------------------------------------------------


@dataclass(frozen=True)
class _Meaning:
    """Meaning of a corpus sentence: a verb, with its entities, place and value."""

    verb: str
    name: str = ""
    domain: str = ""
    device_class: str = ""
    where: str = ""
    value: Any = None
    timer: Target | None = None

    @property
    def kind(self) -> str:
        return f"{self.domain}:{self.device_class}" if self.device_class else self.domain


def label(world: HomeWorld, sentence: Sentence) -> HomeExample | str:
    """Return a sentence with its meaning in a home, or the reason why it has none."""
    here = _by_name(world.home.areas, sentence.here)
    situation = Situation(here.id if here else "")
    meaning = _meaning(world.home, sentence)
    if isinstance(meaning, str):
        return meaning
    said = world.read(sentence.text)
    fitting = [each for each in said.actions(situation) if _fits(world.home, meaning, each)]
    if not fitting:
        return "not offered"
    command: Command | None = min(fitting, key=lambda each: _preference(each, meaning))
    wanted = _TEXTS.get(sentence.intent, "")
    if wanted and command is not None:
        text = str(_one(sentence.slots.get(wanted)) or "").strip()
        command = with_text(said, command, text, situation)
    if command is None:
        return "text not found"
    return HomeExample(sentence.text, world, situation, command, sentence.group)


def with_text(said: TextWorld, command: Command, text: str, situation: Situation) -> Command | None:
    """Return the command with `text` as its value; None if the sentence lacks `text`."""
    spans = said.spans(command).actions(situation)
    return next((each for each in spans if str(each.value).lower() == text.lower()), None)


def _fits(home: Home, meaning: _Meaning, command: Command) -> bool:
    target = command.target
    if not command.says(meaning.verb) or command.value != meaning.value:
        return False
    if meaning.timer is not None:
        wanted = meaning.timer
        return (target.ids, target.choice) == (wanted.ids, wanted.choice)
    if meaning.name:
        return len(target.ids) == 1 and target.by in ("name", "part") and any(
            _is_called(home.entity_of[id_], meaning.name)
            and (not meaning.domain or home.entity_of[id_].domain == meaning.domain)
            and meaning.device_class in ("", home.entity_of[id_].device_class)
            for id_ in target.ids
        )  # fmt: skip
    if not meaning.domain:
        return not target.ids
    return target.by in ("kind", "shopping list") and not target.minus and (
        (target.kind, target.where) == (meaning.kind, meaning.where)
        or target.ids == (SHOPPING_LIST,) == (meaning.kind,)
    )  # fmt: skip


def usual_domain(intent: str) -> str:
    """Return the default domain of an intent, or an empty string.

    >>> usual_domain("HassSetVolume")
    'media_player'
    """
    if intent == "HassClimateGetTemperature":
        return "climate"
    return _VALUED_DOMAINS.get(intent) or _PLAIN.get(intent, ("", ""))[1]


def _preference(command: Command, meaning: _Meaning) -> tuple[bool, bool, bool]:
    """Return a sort key that puts commands with full names and named places first."""
    target = command.target
    return (target.by == "part", target.choice, not target.place)


def _meaning(home: Home, sentence: Sentence) -> _Meaning | str:
    intent, slots = sentence.intent, sentence.slots
    if intent in _BARE:
        return _Meaning(_BARE[intent])
    if intent == "HassStartTimer":
        return _timer_start(slots)
    if intent in _TIMERS:
        return _timer(home, sentence)
    if intent in _SHOPPING:
        return _Meaning(_SHOPPING[intent], domain=SHOPPING_LIST)
    if intent == "HassBroadcast":
        return _Meaning("broadcast")
    where = _where(home, sentence)
    if where is None:
        return "no such place"
    domain = str(_one(slots.get("domain")) or sentence.domain or "")
    device_class = str(_one(slots.get("device_class")) or "")
    name = str(_one(slots.get("name")) or "")
    name = "" if name.lower() == "all" else name
    if intent == "HassGetState":
        return _question(sentence, _Meaning("", name, domain, device_class, where))
    if intent in _PLAIN:
        verb, usual = _PLAIN[intent]
        domain = domain or ("" if name else usual)
        if verb == "temperature" and not name:
            domain = usual
        return _Meaning(verb, name, domain, device_class, where)
    if intent in _VALUED:
        valued = [each for each in _VALUED[intent] if each[0] in slots]
        if not valued:
            return "no value"
        slot, verb = valued[0]
        domain = domain or ("" if name else _VALUED_DOMAINS[intent])
        value = _one(slots[slot])
        value = str(value) if slot == "color" else float(value)
        return _Meaning(verb, name, domain, device_class, where, value)
    if intent not in ("HassTurnOn", "HassTurnOff"):
        return "other intent"
    if name:
        called = [each for each in home.entities if _is_called(each, name)]
        called = [e for e in called if e.domain in ({domain} if domain else VERBS)]
        if not called:
            return "no such name"
        domain = called[0].domain
    if not domain:
        return "no kind of thing"
    usual, verbs = ("turn on", _ON) if intent == "HassTurnOn" else ("turn off", _OFF)
    return _Meaning(verbs.get(domain, usual), name, domain, device_class, where)


def _question(sentence: Sentence, meaning: _Meaning) -> _Meaning | str:
    state = _one(sentence.slots.get("state"))
    if meaning.name:
        return replace(meaning, verb="whether" if state else "what", value=state)
    if state is None:
        return "no state"
    told = sentence.response.strip()
    first, _, rest = told.partition(",")
    first = first.strip(" .").lower()
    if told in ("any", "all", "which", "how_many"):
        verb = told.replace("_", " ")
    elif first in _YES:
        verb = "any" if rest else "all"
    elif first in _NO:
        verb = "all" if rest else "any"
    else:
        verb = "how many" if told[:1].isdigit() else "which"
    return replace(meaning, verb=verb, value=str(state))


def _where(home: Home, sentence: Sentence) -> str | None:
    """Return the place to which a sentence refers, in the notation of `Target.where`.

    Returns "" if the sentence refers to no place, and None if the home lacks the place.
    """
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


_UNITS = (("hours", 3600), ("minutes", 60), ("seconds", 1))


def _seconds(slots: Mapping[str, Any], prefix: str = "") -> float:
    return float(sum(float(_one(slots.get(f"{prefix}{unit}", 0))) * n for unit, n in _UNITS))


def _timer_start(slots: Mapping[str, Any]) -> _Meaning:
    verb = "delay" if "conversation_command" in slots else "start timer"
    return _Meaning(verb, value=_seconds(slots))


def _timer(home: Home, sentence: Sentence) -> _Meaning | str:
    slots, verb = sentence.slots, _TIMERS[sentence.intent]
    area = _by_name(home.areas, _one(slots.get("area")))
    start = _seconds(slots, "start_")
    name = str(_one(slots.get("name")) or "").strip().lower()
    fitting = tuple(
        f"timer:{place}"
        for place, timer in enumerate(home.timers)
        if (not name or timer.name.lower() == name)
        and (area is None or timer.area == area.id)
        and (not start or timer.start == start)
    )
    if not fitting:
        return "no such name"
    every = sentence.intent in ("HassCancelAllTimers", "HassTimerStatus")
    target = Target(fitting, "timer", choice=len(fitting) > 1 and not every)
    value = _seconds(slots) if verb.endswith("time") else None
    return _Meaning(verb, value=value, timer=target)


def _one(value: Any) -> Any:
    """Return the value of a slot, or the last value if several are listed."""
    return value[-1] if isinstance(value, (list, tuple)) and value else value


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
                    _response(row.get("response")),
                )  # fmt: skip
                sentences += [replace(base, text=str(text)) for text in row["sentences"]]
    home = Home.from_data(fixtures, f"{tests / '_fixtures.yaml'}")
    first = home.areas[0].name if home.areas else ""
    with_light = [each.area for each in home.entities if each.domain == "light" and each.area]
    here = home.area_of[with_light[0]].name if with_light else first
    return home, [_at_home(home, each, here) for each in sentences]


def _at_home(home: Home, sentence: Sentence, usual: str) -> Sentence:
    """Return the sentence, with the area `usual` in place of one that the home lacks."""
    if not sentence.here or _by_name(home.areas, sentence.here):
        return sentence
    slots = dict(sentence.slots)
    if str(_one(slots.get("area"))) == sentence.here:
        slots["area"] = usual
    return replace(sentence, here=usual, slots=slots)


def _response(value: Any) -> str:
    """Return the expected answer, or the first if several are listed."""
    return str(_one(value) if not isinstance(value, list) else value[0] if value else "")


def _with_aliases(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a home with templates of names expanded.

    For example, `Hall[way]` becomes two names.
    """
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
            while row["id"] in ids:  # some fixtures contain an id twice
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
    """Return a limited number of expansions of a template, in hassil's order."""
    kinds = hassil("expression")
    if isinstance(part, kinds.TextChunk):
        return [str(part.original_text)]
    if depth > _DEPTH or not isinstance(part, kinds.Group):
        raise TemplateError(
            "The template of a name must not contain rules or lists. Write the name in full."
        )
    items = [_some_texts(each, depth + 1) for each in part.items[: 10 * _MOST_NAMES]]
    if isinstance(part, kinds.Alternative):
        return list(islice(chain.from_iterable(items), _MOST_NAMES))
    orders = permutations(items) if isinstance(part, kinds.Permutation) else [items]
    joined = ("".join(each) for order in orders for each in product(*order))
    return list(islice(joined, _MOST_NAMES))


class TemplateError(CorpusError):
    """Error for a template that cannot be read."""


@lru_cache(maxsize=8192)
def parse_template(template: str) -> Any:
    """Return the parsed expression of a hassil template."""
    TEMPLATE_CHARACTERS.check(len(template), TemplateError, "A template")
    try:
        return hassil("parse_expression").parse_sentence(template).expression
    except GroundlingError:
        raise
    except Exception as error:  # hassil reports invalid templates by assertions, among others
        raise TemplateError(
            f"A template must have valid hassil syntax; got {shorten(template)}. Correct it."
        ) from error


@contextmanager
def named_errors(where: str) -> Iterator[None]:
    """Turn errors caused by malformed data into a `CorpusError` that names `where`."""
    try:
        yield
    except GroundlingError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
            RecursionError) as error:  # fmt: skip
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise CorpusError(
            f"{where} must be in the format of Home Assistant Intents; reading it raised {told}. "
            "Download the file again."
        ) from error


def hassil(module: str) -> Any:
    """Return a module of hassil; raise an error if hassil is not installed."""
    try:
        return import_module(f"hassil.{module}")
    except ModuleNotFoundError as error:
        raise GroundlingError(
            "Reading templates requires hassil, which is not installed. Run "
            "`pip install 'groundling[home]'`."
        ) from error


def _add(fixtures: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add the areas and entities of a file to the fixtures, without duplicates."""
    for kind in ("floors", "areas", "entities"):
        names = {row["name"].lower() for row in fixtures.get(kind) or []}
        fixtures[kind] = [
            *(fixtures.get(kind) or []),
            *(row for row in more.get(kind) or [] if row["name"].lower() not in names),
        ]


def _furnished(home: Home, sentences: Iterable[Sentence]) -> Home:
    """Return the home with entities added for kinds that it lacks.

    An entity is added for each kind that a sentence mentions in a place without this kind.
    """
    missing: dict[str, Entity] = {}
    world = HomeWorld(home, home_language(""))
    for sentence in sentences:
        meaning = _meaning(home, sentence)
        if isinstance(meaning, str) or meaning.name or not meaning.domain:
            continue
        domain = "climate" if meaning.domain == "temperature" else meaning.domain
        if "." in domain or world.groups.get((meaning.kind, meaning.where)):
            continue
        kind, _, id_ = meaning.where.partition(":")
        areas = [a for a in home.areas if id_ in ((a.id,) if kind == "area" else (a.floor,))]
        if kind and not areas:
            continue
        device_class = meaning.device_class
        name = f"Zorblax {len(missing) + 1}"  # a made-up name that occurs in no sentence
        new = f"{domain}.{areas[0].id if kind else 'home'}_{device_class or domain}"
        attributes = (("device_class", device_class),) if device_class else ()
        state = STATES.get(domain, ("1",))[0]
        area = areas[0].id if kind else ""
        missing.setdefault(new, Entity(new, name, (), area, state, attributes))
    known = home.entity_of
    return replace(
        home, entities=(*home.entities, *(e for e in missing.values() if e.id not in known))
    )


def _grouped(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return distinct sentences; those with equal meanings or texts share a group."""
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
        for key in ((each.intent, slots, each.here, each.response), each.text.lower()):
            first, second = find(owners.setdefault(key, each.group)), find(each.group)
            leader[max(first, second)] = min(first, second)
        distinct.setdefault((each.text.lower(), each.here), each)
    return [replace(each, group=find(each.group)) for each in distinct.values()]
