"""A home as an environment: the possible meanings of a text, and their graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from groundling.home.catalogue import QUESTIONS, VERBS, Verb, kind_name, states_of
from groundling.home.home import Entity, Home, HomeError
from groundling.home.knowledge import Knowledge
from groundling.home.locales import (
    DELAYS,
    DEMONSTRATIVES,
    DETERMINERS,
    IMPERATIVES,
    OTHERS,
    PRONOUNS,
    QUANTIFIERS,
    SINGULARS,
    is_singular,
)
from groundling.home.utterance import PARTICLES, UNKNOWN, HomeNames, Mention, Utterance
from groundling.language.languages import Language
from groundling.language.literals import Literal
from groundling.world.graph import GroundingGraph

EVERYTHING = ("light", "switch", "fan", "media_player", "climate")  # domains of *everything*
_MOST_NAMED = 30  # entities that one text may name
_HARMLESS = ("decline", "split", "never mind")  # possible for a text that begins like a question
_OFTEN = 0.2  # minimum share of a word's texts that are about a kind, for the word to name it
_MOSTLY = 0.5  # minimum share of a word's texts about some kinds, for it to mean one of them
_LONGEST_SPAN = 8  # words of a free text
SHOPPING_LIST = "todo.shopping_list"
UNCLEAR = "unclear"  # value of `place` for one of several possible places


class Target(NamedTuple):
    """Entities to which a text may refer, and how the text describes them.

    `by` is `name`, `part` (of a name), `kind`, `everything`, `it`, `timer` or empty. `kind` is a
    domain, or a domain with a device class (`cover:curtain`). `where` is `area:ID`, `floor:ID`, or
    empty for everywhere; `place` is how the text expresses it. With `choice`, the text means one of
    the entities without saying which. `minus` says what is excepted (*except the hall*): a `name`,
    a `place`, a `kind`, or `all` of them.
    """

    ids: tuple[str, ...] = ()
    by: str = ""
    kind: str = ""
    place: str = ""
    where: str = ""
    choice: bool = False
    minus: str = ""


class Command(NamedTuple):
    """A command or question: a verb, its target, and a value or the state asked about.

    `source` is what the value comes from: a type of value such as `duration` or, for a free-text
    value, its range of words (start inclusive, end exclusive).

    >>> print(Command("turn on", Target(("light.desk",), "name")))
    turn on light.desk
    """

    verb: str
    target: Target = Target()
    value: Hashable = None
    source: tuple[int, int] | str = ""

    def __str__(self) -> str:
        what = " and ".join(self.target.ids[:3])
        value = "" if self.value is None else f" {self.value}"
        which = "one of " if self.target.choice else ""
        return f"{self.verb} {which}{what}{value}".strip()

    @property
    def is_question(self) -> bool:
        """Whether this is a question, which changes no state."""
        return self.verb in QUESTIONS

    def says(self, verb: str) -> bool:
        """Return whether the command has a given verb.

        The verb *whether* also counts as *any* and *all*.
        """
        return self.verb == verb or (self.verb == "whether" and verb in ("any", "all"))


@dataclass(frozen=True)
class Situation:
    """Context of a text.

    `here` is the speaker's area, and `before` are the entities that the previous text was about.
    `done` is the command of this text once it has been carried out.
    """

    here: str = ""
    before: tuple[str, ...] = ()
    done: tuple[Hashable, ...] = ()


class HomeWorld:
    """A home, indexed by names, kinds and places of its entities.

    Examples
    --------
    >>> from groundling.language import ENGLISH
    >>> home = Home.from_data({
    ...     "areas": [{"id": "hall", "name": "Hall"}],
    ...     "entities": [{"id": "lock.door", "name": "Front Door", "area": "hall"}],
    ... })
    >>> world = HomeWorld(home, ENGLISH)
    >>> text = world.read("is the front door locked")
    >>> [str(each) for each in text.actions(Situation())][:3]
    ['what lock.door', 'whether lock.door locked', 'whether lock.door unlocked']
    """

    def __init__(self, home: Home, language: Language, knowledge: Knowledge = Knowledge()) -> None:
        self.home, self.language, self.knowledge = home, language, knowledge
        self.names = HomeNames(home, language)

    def read(self, text: str, kind: str = "") -> TextWorld:
        """Return the environment of a text.

        `kind` is a kind that the text does not name, but that its commands may be about.
        """
        return TextWorld(self, Utterance.of(text, self.names, self.knowledge), kind)

    @cached_property
    def groups(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """Ids of the entities of each kind in each place, by (kind, where)."""
        found: dict[tuple[str, str], list[str]] = {}
        for entity in self.home.entities:
            for kind in kinds_of(entity):
                for where in self.places_of(entity):
                    found.setdefault((kind, where), []).append(entity.id)
        self._add_temperatures(found)
        return {key: tuple(ids) for key, ids in found.items()}

    def _add_temperatures(self, found: dict[tuple[str, str], list[str]]) -> None:
        """Add the kind `temperature`: for each place, its thermostats or else its sensors."""
        places = dict.fromkeys(where for _, where in found)
        for where in places:
            ids = found.get(("climate", where)) or found.get(("sensor:temperature", where))
            if ids:
                found["temperature", where] = ids

    @cached_property
    def traits(self) -> Mapping[str, tuple[str, str]]:
        """Domain and device class of each entity."""
        return {each.id: (each.domain, each.device_class) for each in self.home.entities}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of entities in the home."""
        return tuple(dict.fromkeys(kind for kind, _ in self.groups))

    def places_of(self, entity: Entity) -> tuple[str, ...]:
        """Return the places of an entity, in the notation of `Target.where`."""
        floor = self.home.floor_id(entity)
        area = (f"area:{entity.area}",) if entity.area else ()
        return ("", *area, *((f"floor:{floor}",) if floor else ()))

    def is_in(self, id_: str, where: str) -> bool:
        """Return whether an entity is in a place."""
        return where in self.places_of(self.home.entity_of[id_])


def kinds_of(entity: Entity) -> tuple[str, ...]:
    """Return the kinds of an entity: its domain, and its domain with its device class."""
    if not entity.device_class:
        return (entity.domain,)
    return (entity.domain, f"{entity.domain}:{entity.device_class}")


class TextWorld:
    """Environment of one text in a home; its actions are the possible commands.

    A command is a verb or a question, applied to entities that the text names, or to a kind of
    entity in places that it names, with the values that it mentions.
    """

    def __init__(
        self, world: HomeWorld, utterance: Utterance, kind: str = "", spans: Command | None = None
    ) -> None:
        self.world, self.utterance, self.home = world, utterance, world.home
        self._kind, self._spans_of = kind, spans
        self._offered: dict[Situation, tuple[Command, ...]] = {}
        self._fits: dict[Situation, bool] = {}
        self._traits: dict[int, tuple[Target, list[str], list[str]]] = {}
        self._things: dict[int, tuple[Target, dict[str, Any], dict[str, Any]]] = {}

    def spans(self, command: Command) -> TextWorld:
        """Return the environment whose actions are candidates for a free-text value."""
        return TextWorld(self.world, self.utterance, self._kind, command)

    @property
    def instruction(self) -> Any:
        """Input of the model: the text with names replaced by placeholders."""
        return self.utterance.instruction(None if self._spans_of is None else self._kept)

    @cached_property
    def _kept(self) -> list[Mention]:
        """Mentions that belong to the target of a free-text command."""
        target = self._spans_of.target if self._spans_of else Target()
        ids = {*target.ids, target.where.partition(":")[2]} - {""}
        return [each for each in self.utterance.mentions if ids & set(each.ids)]

    # ---- the environment ---------------------------------------------------------------

    def actions(self, state: Situation) -> tuple[Command, ...]:
        """Return the commands that the text may mean; none if one has been carried out."""
        if state.done:
            return ()
        if state not in self._offered:
            found = self._free_texts() if self._spans_of else self._commands(state)
            if self.utterance.is_question and not self._spans_of:
                found = (each for each in found if each.is_question or each.verb in _HARMLESS)
            elif self._says_duration and not self._spans_of:
                used = (*_HARMLESS, "play", "broadcast", "add item", "complete item")
                found = (e for e in found if e.is_question or e.source == "duration"
                         or e.target.by == "timer" or e.verb in used)  # fmt: skip
            self._offered[state] = tuple(dict.fromkeys(found))
        return self._offered[state]

    def step(self, state: Situation, action: Command) -> Situation:
        """Return the situation after a command has been carried out."""
        ids = () if action.target.choice and not action.is_question else action.target.ids
        kept = action.target.kind if action.target.choice else ""
        return replace(state, done=(action.verb, tuple(sorted(ids)), action.value, kept))

    @staticmethod
    def outcome(state: Situation) -> Hashable:
        """Return the verb, entities and value of the command that was carried out."""
        return state.done

    def ground(self, state: Situation, action: Command, after: Situation) -> GroundingGraph:
        """Return the grounding graph of a command: its event, target and value."""
        if action.source and not isinstance(action.source, str):
            return GroundingGraph({"event": self._around(action.verb, *action.source)}, ())
        mood = "question" if action.is_question else "command" if action.target.ids else "other"
        nodes: dict[str, dict[str, Any]] = {"event": {"verb": action.verb, "mood": mood}}
        edges = []
        thing, unused = self._described(action.target)
        if action.target.by:
            nodes["thing"] = thing
            edges.append(("event", "thing", "of"))
        if action.value is not None or action.source:
            nodes["value"] = self._value(action)
            edges.append(("event", "value", "to"))
        nodes["event"] |= unused
        if action.verb == "decline":
            nodes["event"]["something fits" if self._something_fits(state) else "nothing fits"] = (
                True
            )
        if not action.source:
            nodes["event"] |= {f"unused {each.type}": True for each in self.utterance.literals}
        return GroundingGraph(nodes, edges, roles=nodes)

    def _something_fits(self, state: Situation) -> bool:
        """Return whether some command uses every name, place, kind and value in the text."""
        if state not in self._fits:
            says_value = bool(self.utterance.literals)
            self._fits[state] = any(
                each.target.by in ("name", "part", "kind")
                and (each.source or not says_value or each.is_question)
                and not self._described(each.target)[1]
                for each in self.actions(state)
            )
        return self._fits[state]

    def _described(self, target: Target) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the labels of a target, and labels for the mentions outside the target."""
        known = self._things.get(id(target))
        if known is None or known[0] is not target:
            known = (target, self._thing(target), self._unused(target))
            self._things[id(target)] = known
        return known[1], known[2]

    def _thing(self, target: Target) -> dict[str, Any]:
        labels: dict[str, Any] = {"by": target.by, "place": target.place or "none"}
        domains, classes = self._domains(target)
        if len(domains) == 1:
            labels["domain"] = domains[0].replace("_", " ")
        if len(classes) == 1 and classes[0] and (target.by != "kind" or ":" in target.kind):
            labels["class"] = classes[0].replace("_", " ")
        number = "one" if len(target.ids) == 1 else "choice" if target.choice else "several"
        labels["number"] = number
        labels[f"{target.by} {number}"] = True
        if target.by == "part":
            labels["said"] = self._said_part(target)
        if target.minus:
            labels["minus"] = target.minus
        if target.by == "kind" and self._said_kinds:
            labels["kind is said" if target.kind in self._said_kinds else "another is said"] = True
        if target.by == "kind" and self._is_after_unknown(target.kind):
            labels["after unknown"] = True
        if target.by in ("it", "other") and self._said_domains:
            labels[f"{target.by} with a kind"] = True
        if target.by in ("name", "part") and len(target.ids) > 1 and not target.kind:
            labels["listed" if self._is_list(target) else "scattered"] = True
        return labels

    def _is_list(self, target: Target) -> bool:
        """Return whether only commas and function words separate the named entities."""
        mentions, language = self.utterance.mentions, self.world.language
        said = [e.places[0] for e in mentions if e.kind == "name" and {*e.ids} & {*target.ids}]
        the = DETERMINERS.get(language.name, ())
        plain = {*language.joints, *language.articles, *language.function_words, *the, ",", ";"}
        inside = {n for each in mentions for n in each.places}
        between = set(range(min(said), max(said))) - inside
        return all(self.utterance.folded[n] in plain - PARTICLES for n in between)

    def _said_part(self, target: Target) -> str:
        """Return how specific a partial name is: `words`, `word` or `kind`.

        `kind` means that all words of the name are used for kinds.
        """
        said = [each for each in self.utterance.of_kind("name") if target.ids[0] in each.ids]
        words = [self.utterance.folded[n] for n in max((e.places for e in said), key=len)]
        shares = self.world.knowledge.shares
        if all(word in shares for word in words):
            return "kind"
        return "word" if len(words) == 1 else "words"

    def is_vague(self, mention: Mention) -> bool:
        """Return whether a partial name contains only words for kinds or places (*light*)."""
        nouns = SINGULARS.get(self.world.language.name, frozenset())
        singular, folded = self.world.language.singular, self.utterance.folded
        words = {folded[n] for n in mention.places if n not in self._place_words}
        return not mention.full and all(e in nouns or singular(e) in nouns for e in words)

    def _is_plural(self, mention: Mention) -> bool:
        """Return whether a mention contains the plural of a noun for a kind."""
        nouns = SINGULARS.get(self.world.language.name, frozenset())
        words = {self.utterance.folded[n] for n in mention.places} - nouns
        return any(self.world.language.singular(word) in nouns for word in words)

    def breaks(self, command: Command) -> tuple[int, ...]:
        """Return the positions where a second command may start.

        There are such positions if `command` does not use every name in the text, if its names do
        not form a list, or if the verb of a command occurs later in the text.
        """
        thing, unused = self._described(command.target)
        said = self.utterance
        if "scattered" in thing or "unused name" in unused or "unused part" in unused:
            return tuple(dict.fromkeys((*said.joints, *said.spoken_joints)))
        return tuple(n for n in said.spoken_joints if said.is_order(n))

    def has_pronoun(self, start: int) -> bool:
        """Return whether a pronoun stands at or after a position."""
        known = PRONOUNS.get(self.world.language.name, frozenset())
        return not known.isdisjoint(self.utterance.folded[start:])

    def is_text(self, command: Command) -> bool:
        """Return whether a free-text value has words besides articles and the verb."""
        said, language = self.utterance, self.world.language
        plain = {*language.articles, *DETERMINERS.get(language.name, ())}
        words = said.folded[slice(*command.source)] if isinstance(command.source, tuple) else ()
        is_verb = command.source == (0, 1) and said.folded[0] in said.frames
        return not is_verb and not plain.issuperset(words)

    def ignores_exception(self, command: Command) -> bool:
        """Return whether the text has an exception that the command disregards."""
        said, target = self.utterance, command.target
        is_said = 0 < said.exception < len(said.folded) - 1
        return is_said and not command.is_question and len(target.ids) > 0 and not target.minus

    def is_answer(self, command: Command) -> bool:
        """Return whether a command is a question that leaves no part of the text unused."""
        is_known = UNKNOWN not in self.utterance.masked
        return command.is_question and is_known and not self._described(command.target)[1]

    def is_listed(self, command: Command) -> bool:
        """Return whether a command is for a list of entities with all names in the text."""
        thing, unused = self._described(command.target)
        known = IMPERATIVES.get(self.world.language.name)
        return bool(known) and "listed" in thing and not unused and not command.is_question

    @cached_property
    def _place_words(self) -> frozenset[int]:
        """Positions of words that name areas and floors."""
        places = (e for e in self.utterance.mentions if e.kind in ("area", "floor") and e.full)
        return frozenset(n for each in places for n in each.places)

    def ask_if_vague(self, command: Command, state: Situation) -> Command:
        """Replace a command for one entity by a choice if the text names only its kind.

        *Turn on the light* does not mean the Porch Light, even if no other name has the word
        *light*.
        """
        target = command.target
        if target.by != "part" or len(target.ids) != 1 or command.is_question:
            return command
        said = [each for each in self.utterance.of_kind("name") if target.ids[0] in each.ids]
        if not all(map(self.is_vague, said)):
            return command
        entity = self.home.entity_of[target.ids[0]]
        is_here = bool(state.here) and entity.area == state.here
        where = target.where or (f"area:{state.here}" if is_here else "")
        words = [self.utterance.folded[n] for each in said for n in each.places]
        knowledge, language = self.world.knowledge, self.world.language
        kinds = [k for k in kinds_of(entity) if any(knowledge.says(w, k, language) for w in words)]
        kind = kinds[-1] if kinds else entity.domain
        ids = self._inside(kind, where)
        if len(ids) < 2:
            return command
        return command._replace(target=Target(ids, "kind", kind, "", where, choice=True))

    def _domains(self, target: Target) -> tuple[list[str], list[str]]:
        """Return the domains and the device classes of a target."""
        known = self._traits.get(id(target))  # cached, because commands share targets
        if known is None or known[0] is not target:
            traits = self.world.traits
            found = dict.fromkeys(traits[each] for each in target.ids if each in traits)
            domains = list(dict.fromkeys(domain for domain, _ in found))
            classes = list(dict.fromkeys(device_class for _, device_class in found))
            known = (target, domains or [target.kind or target.by], classes)
            self._traits[id(target)] = known
        return known[1], known[2]

    def _value(self, action: Command) -> dict[str, Any]:
        if action.is_question:
            _, classes = self._domains(action.target)
            kind = action.target.kind or (classes[0] if len(classes) == 1 else "")
            if not kind or ":" not in kind:
                kind = self._domains(action.target)[0][0]
            return {"state": action.value, f"{kind.partition(':')[2] or kind} {action.value}": True}
        if action.verb == "split":
            place = int(str(action.value))
            words = {at: word for word, at in self.utterance.masks()}
            return {
                f"next {words.get(place, '‹›')}": True,
                f"previous {words.get(place - 2)}": True,
            }
        found = {"says": str(action.source), f"{action.verb} {action.source}": True}
        if action.source == "duration":
            delayed = any(
                self._is_delay(each) for each in self.utterance.literals
                if (each.type, each.value) == ("duration", action.value)
            )  # fmt: skip
            found["a delay" if delayed else "no delay"] = True
        return found

    def _is_delay(self, literal: Literal) -> bool:
        """Return whether a duration has the form of a delay (*in five minutes*)."""
        words, language = self.utterance.folded, self.world.language
        before, after = words[: min(literal.places)], words[max(literal.places) + 1 :]
        for each in DELAYS.get(language.name, ()):
            first, _, last = each.partition("{}")
            start = [language.fold(word) for word in first.split()]
            end = [language.fold(word) for word in last.split()[1:]]  # without the unit
            is_start = not start or list(before[-len(start) :]) == start
            if is_start and list(after[: len(end)]) == end and (start or end):
                return True
        return False

    def _around(self, verb: str, start: int, end: int) -> dict[str, Any]:
        """Return labels of a range of words: its neighbours, and its first and last words."""
        words = [("^", -2), *self.utterance.masks(self._kept), ("$", len(self.utterance.folded))]
        before = next(word for word, at in reversed(words) if at < start)
        after = next(word for word, at in words if at >= end)
        inside = [word for word, at in words if start <= at < end]
        found = {
            "verb": verb,
            f"after {before}": True,
            f"before {after}": True,
            f"begins {inside[0]}": True,
            f"ends {inside[-1]}": True,
        }
        if start in self._capitals:
            found["begins with a capital"] = True
        if any(not start <= place < end for place in self._capitals):
            found["leaves a capital"] = True
        return found

    @cached_property
    def _capitals(self) -> frozenset[int]:
        """Positions of capitalised words, without the first word and the target's name."""
        named = {place for each in self._kept for place in each.places}
        words = self.utterance.words
        return frozenset(n for n in range(1, len(words)) if words[n][0].isupper()) - named

    def _unused(self, target: Target) -> dict[str, Any]:
        """Return labels for what the text mentions and the target does not include."""
        utterance = self.utterance
        wheres = target.where.split("+") if target.where else []
        used = {each.partition(":")[2] for each in wheres} | set(target.ids)
        found: dict[str, Any] = {}
        for each in utterance.mentions:
            if not used & set(each.ids) and not target.minus:
                if each.full:
                    found[f"unused {each.kind}"] = True
                elif any(utterance.folded[n] not in utterance.known for n in each.places):
                    found["unused part"] = True
            elif not each.full and set(target.ids) - set(each.ids):
                found["more than part"] = True
        domains = {*self._domains(target)[0], target.kind.partition(":")[0]}
        if self._said_domains and (not target.ids or self._said_domains.isdisjoint(domains)):
            found["unused kind"] = True
        if target.by in ("kind", "everything") and self._says_absent_kind:
            found["absent kind"] = True
        return found

    @cached_property
    def _says_absent_kind(self) -> bool:
        """Whether the text has a word that mostly stands for kinds that the home lacks."""
        shares, kinds = self.world.knowledge.shares, set(self.world.kinds)
        for word in self._plain_words:
            told = shares.get(word, {})
            present = max((told[kind] for kind in kinds.intersection(told)), default=0.0)
            absent = sum(share for kind, share in told.items() if kind not in kinds)
            if absent >= _MOSTLY and present < _OFTEN:
                return True
        return False

    def _is_name(self, word: str, kind: str) -> bool:
        """Return whether a word is often used for a kind or is part of the kind's name."""
        share = self.world.knowledge.shares.get(word, {}).get(kind, 0.0)
        return share >= _OFTEN or self.world.language.singular(word) in kind_name(kind).split()

    def _is_after_unknown(self, kind: str) -> bool:
        """Return whether an unknown word comes before a word for a kind (*disco lights*)."""
        said, named = self.utterance, self._named_places
        values = {n for each in said.literals for n in each.places}
        return bool(said.known) and any(
            n and self._is_name(word, kind)
            and said.folded[n - 1] not in said.known
            and n - 1 not in named and n - 1 not in values and said.folded[n - 1].isalpha()
            for n, word in enumerate(said.folded)
            if n not in named
        )  # fmt: skip

    @cached_property
    def _named_places(self) -> frozenset[int]:
        """Positions of words in full names."""
        return frozenset(n for each in self.utterance.mentions if each.full for n in each.places)

    @cached_property
    def _plain_words(self) -> tuple[str, ...]:
        """Words outside full names."""
        words = enumerate(self.utterance.folded)
        return tuple(word for n, word in words if n not in self._named_places)

    @cached_property
    def _said_domains(self) -> frozenset[str]:
        """Domains that the text mentions, ignoring words inside names of entities."""
        known = self.world.knowledge
        return frozenset(d for each in self._plain_words for d in known.domains_of(each))

    @cached_property
    def _said_kinds(self) -> frozenset[str]:
        """Kinds in the home that some word outside full names denotes."""
        kinds, words = self.world.kinds, self._plain_words
        return frozenset(kind for kind in kinds if any(self._is_name(w, kind) for w in words))

    # ---- candidates --------------------------------------------------------------------

    def _commands(self, state: Situation) -> Iterator[Command]:
        for target in self._targets(state):
            yield from self._verbs(target)
        yield from self._timers(state)
        yield from self._lists()
        for verb in ("time", "date", "respond", "never mind", "decline", "broadcast"):
            yield Command(verb)
        if not self.world.groups.get(("weather", "")):
            yield Command("weather")
        for place in self.utterance.joints:
            yield Command("split", Target(), place)

    def _targets(self, state: Situation) -> Iterator[Target]:
        utterance, turn = self.utterance, self.utterance.exception
        main = [each for each in utterance.mentions if each.places[0] < turn]
        rest = [each for each in utterance.mentions if each.places[0] > turn]
        places = self._places(state, main)
        found = [
            *self._named(main, places),
            *self._kinds(places),
            *self._others(state, places),
        ]
        yield from found
        kinds = self._kinds_after(turn)
        if rest or kinds:
            yield from self._exceptions(found, rest, kinds)

    def _places(self, state: Situation, mentions: Sequence[Mention]) -> list[tuple[str, str]]:
        """Return pairs (where, place) for the places to which a text may refer."""
        words = self.utterance.folded
        this = DEMONSTRATIVES.get(self.world.language.name, frozenset())
        named = [
            each
            for each in mentions
            if each.kind in ("area", "floor") and each.full
            and not (state.here and each.places[0] and words[each.places[0] - 1] in this)
        ]  # fmt: skip
        unclear = ["+".join(f"{e.kind}:{i}" for i in e.ids) for e in named if len(e.ids) > 1]
        said = [f"{each.kind}:{each.ids[0]}" for each in named if len(each.ids) == 1]
        found = [(where, where.partition(":")[0]) for where in dict.fromkeys(said)]
        found += [(where, UNCLEAR) for where in unclear]
        if len(said) > 1:
            found.append(("+".join(dict.fromkeys(said)), "several"))
        if not named and state.here:
            found.append((f"area:{state.here}", "here"))
        return [*found, ("", "everywhere")]

    def _inside(self, kind: str, where: str) -> tuple[str, ...]:
        """Return the ids of the entities of a kind in one or several places."""
        places = where.split("+") if where else [""]
        listed = (self.world.groups.get((kind, place), ()) for place in places)
        return tuple(dict.fromkeys(id_ for ids in listed for id_ in ids))

    def _named(
        self, mentions: Sequence[Mention], places: Sequence[tuple[str, str]]
    ) -> Iterator[Target]:
        named = [each for each in mentions if each.kind == "name"]
        said = [place for place in places if place[1] in ("area", "floor")]
        for each in named:
            by = "name" if each.full else "part"
            ids = each.ids[:_MOST_NAMED]
            vague = self.is_vague(each)
            plural = vague and self._is_plural(each)
            for where, how in said:
                inside = tuple(id_ for id_ in ids if self.world.is_in(id_, where))
                yield from self._readings(inside, by, how, where, vague, plural)
            here = [where for where, how in places if how == "here"]
            inside = tuple(id_ for id_ in ids if here and self.world.is_in(id_, here[0]))
            if inside and len(inside) < len(ids):
                yield from self._readings(inside, by, "here", here[0], vague, plural)
            yield from self._readings(ids, by, "", "", vague, plural)
        full = [each for each in named if each.full]
        if len(full) > 1:
            every = tuple(dict.fromkeys(id_ for each in full for id_ in each.ids))
            yield Target(every[:_MOST_NAMED], "name")
        if len(named) > len(full):
            yield from self._partly_named(named)

    def _partly_named(self, named: Sequence[Mention]) -> Iterator[Target]:
        """Yield the target of several named entities (*the front and back doors*)."""
        told = [each for each in named if not self.is_vague(each)]
        entity_of = self.home.entity_of
        sure = {entity_of[each.ids[0]].domain for each in told if each.full or len(each.ids) == 1}
        ids: dict[str, None] = {}
        for each in told:
            fitting = [
                id_ for id_ in each.ids if len(each.ids) == 1 or entity_of[id_].domain in sure
            ]
            if len(fitting) != 1:
                return
            ids[fitting[0]] = None
        if len(ids) > 1:
            yield Target(tuple(ids)[:_MOST_NAMED], "part")

    def _readings(
        self, ids: tuple[str, ...], by: str, how: str, where: str, vague: bool, plural: bool
    ) -> Iterator[Target]:
        """Yield the targets that a name may denote, for each kind of entity.

        If a name fits several entities of a kind, there are two targets: all of them, and one of
        them without saying which.

        A name that is only a word for a kind (`vague`) never means all entities with this word in
        their names. A plural (*which lights*) never means a single entity.
        """

        def kind_of(entity: Entity) -> str:
            return kinds_of(entity)[-1] if by == "name" else entity.domain

        entities = sorted((self.home.entity_of[each] for each in ids), key=kind_of)
        for domain, same in groupby(entities, key=kind_of):
            group = tuple(each.id for each in same)
            if len(group) == 1:
                if not plural:
                    yield Target(group, by, "", how, where)
            else:
                if not vague:
                    yield Target(group, by, domain, how, where)
                yield Target(group, by, domain, how, where, choice=True)

    def _kinds(self, places: Sequence[tuple[str, str]]) -> Iterator[Target]:
        knowledge, words = self.world.knowledge, (*self.utterance.folded, *self.utterance.masked)
        offered = knowledge.kinds_for(words, self.world.kinds, self.world.language)
        if self._says_absent_kind:  # *the garage door* is none of the curtains
            offered = tuple(each for each in offered if each in self._said_kinds)
        extra = (self._kind,) if self._kind in self.world.kinds else ()
        told = self._told_parts
        for kind in dict.fromkeys((*offered, *extra)):
            near = [where for where, how in places if how == "here" and self._inside(kind, where)]
            for where, how in places:
                if near and how == "everywhere" and self._is_singular:
                    continue  # the lamp is the one in the speaker's area
                ids = self._inside(kind, where)
                if any(not each.isdisjoint(ids) for each in told):
                    continue  # a part of a name says which of the entities are meant
                if ids:
                    yield Target(ids, "kind", kind, how, where)
                if len(ids) > 1:
                    yield Target(ids, "kind", kind, how, where, choice=True)

    @cached_property
    def _told_parts(self) -> list[set[str]]:
        """Ids of entities named in part, by words that occur only in names."""
        known, words, places = self.utterance.known, self.utterance.folded, self._place_words
        return [
            set(each.ids)
            for each in self.utterance.of_kind("name")
            if known and not each.full and each.places[0] < self.utterance.exception
            and any(words[n] not in known and n not in places for n in each.places)
        ]  # fmt: skip

    def _others(self, state: Situation, places: Sequence[tuple[str, str]]) -> Iterator[Target]:
        for where, how in places:
            listed = (id_ for kind in EVERYTHING for id_ in self._inside(kind, where))
            ids = tuple(dict.fromkeys(listed))
            if ids:
                yield Target(ids, "everything", "", how, where)
        for by, ids in self.offered_before(state).items():
            if self._may_refer(by):
                yield Target(ids, by)

    def _may_refer(self, by: str) -> bool:
        """Return whether the text may refer to earlier entities.

        `by` is `it` or `other` (*the other one*).
        """
        name, words = self.world.language.name, self.utterance.folded
        if by == "other":
            return name not in OTHERS or not OTHERS[name].isdisjoint(words)
        nouns = SINGULARS.get(name, frozenset())
        says_kind = bool(self._said_domains) or not nouns.isdisjoint(words[1:])
        return name not in PRONOUNS or not says_kind or not PRONOUNS[name].isdisjoint(words)

    def offered_before(self, state: Situation) -> dict[str, tuple[str, ...]]:
        """Return the entities of the previous turn that *it* and *the other one* may mean."""
        found = {"it": state.before, "other": self._other_one(state.before)}
        return {by: ids for by, ids in found.items() if ids}

    def _other_one(self, before: tuple[str, ...]) -> tuple[str, ...]:
        """Return the entity that *the other one* means; empty if several are possible."""
        if len(before) != 1 or before[0] not in self.home.entity_of:
            return ()
        entity = self.home.entity_of[before[0]]
        kind, words = kinds_of(entity)[-1], set(entity.name.lower().split())
        for where in (f"area:{entity.area}", ""):
            others = [id_ for id_ in self._inside(kind, where) if id_ != entity.id]
            shared = [
                len(words & set(self.home.entity_of[id_].name.lower().split())) for id_ in others
            ]
            alike = [id_ for id_, n in zip(others, shared, strict=True) if n == max(shared)]
            if len(alike) == 1:
                return tuple(alike)
        return ()

    def _kinds_after(self, place: int) -> list[str]:
        """Return the kinds of entities to which the words after a position refer."""
        named = {n for e in self.utterance.mentions if e.full for n in e.places}
        words = [w for n, w in enumerate(self.utterance.folded) if n > place and n not in named]
        knowledge, language = self.world.knowledge, self.world.language
        return [k for k in self.world.kinds if any(knowledge.says(w, k, language) for w in words)]

    def _exceptions(
        self, found: Sequence[Target], rest: Sequence[Mention], kinds: Sequence[str]
    ) -> Iterator[Target]:
        """Yield targets without the entities, places or kinds named after *except*."""
        places = [
            f"{e.kind}:{i}" for e in rest if e.full and e.kind in ("area", "floor") for i in e.ids
        ]
        names = [each for each in rest if each.kind == "name"]
        whole = [each for each in names if each.full]
        groups = self.world.groups
        without = {
            "name": {id_ for each in whole or names for id_ in each.ids},
            "place": {id_ for (_, where), ids in groups.items() if where in places for id_ in ids},
            "kind": {id_ for kind in kinds if not whole for id_ in groups[kind, ""]},
        }
        if places and without["kind"]:
            without["place"] &= without.pop("kind")
        said = {name: ids for name, ids in without.items() if ids}
        if len(said) > 1:
            said["all"] = set().union(*said.values())
        for target in found:
            if target.by in ("kind", "everything") and not target.choice:
                for name, left_out in said.items():
                    ids = tuple(each for each in target.ids if each not in left_out)
                    if ids and len(ids) < len(target.ids):
                        yield target._replace(ids=ids, minus=name)

    def _verbs(self, target: Target) -> Iterator[Command]:
        """Yield the commands and questions that are possible for a target."""
        if target.kind == "temperature":
            if not target.choice and not self._says_amount:
                yield Command("temperature", target)
            return
        entities = [self.home.entity_of[each] for each in target.ids]
        if target.choice == self._means_one(target):
            yield from self._doings(target, entities)
        if len({each.domain for each in entities}) == 1:
            yield from self._questions(target, entities)

    def _means_one(self, target: Target) -> bool:
        """Return whether the text means only one of a target's entities."""
        if len(target.ids) < 2 or target.by not in ("kind", "part", "name") or target.minus:
            return False
        if target.place == UNCLEAR:
            return True
        if target.by == "kind":
            return self._is_singular
        if not target.kind:  # the text has several names
            return False
        words = [self.utterance.folded[n] for e in self.utterance.of_kind("name") for n in e.places]
        language = self.world.language
        nouns = SINGULARS.get(language.name, frozenset())
        plural = any(word not in nouns and language.singular(word) != word for word in words)
        return not plural and not self._has_quantifier

    @cached_property
    def _is_singular(self) -> bool:
        return is_singular(self.utterance.folded, self.world.language)

    @cached_property
    def _has_quantifier(self) -> bool:
        known = QUANTIFIERS.get(self.world.language.name, frozenset())
        return bool(known & set(self.utterance.folded))

    def _doings(self, target: Target, entities: Sequence[Entity]) -> Iterator[Command]:
        """Yield the commands that are possible for a target, without questions."""
        domains = tuple(dict.fromkeys(each.domain for each in entities))
        offered = [VERBS.get(domain, ()) for domain in domains]
        shared = set.intersection(*({verb.name for verb in verbs} for verbs in offered))
        shown = self.world.knowledge.verbs
        for verb in offered[0]:
            if verb.name in shared and (not shown or verb.name in shown):
                commands = self._valued(verb, target)
                said = ("", "most", "least") if self._says_amount else ()
                yield from (each for each in commands if each.source not in said)

    @cached_property
    def _says_duration(self) -> bool:
        """Whether the text has a duration other than *a second*.

        If so, every command must use the duration.
        """
        return any(e.type == "duration" and e.value != 1.0 for e in self.utterance.literals)

    @cached_property
    def _says_amount(self) -> bool:
        """Whether the text has a percentage, a temperature or a colour temperature.

        If so, every command must use the value.
        """
        named = {n for each in self.utterance.mentions if each.full for n in each.places}
        return any(
            each.unit in ("percent", "degree", "kelvin") and not named & set(each.places)
            for each in self.utterance.literals
        )

    def _valued(self, verb: Verb, target: Target) -> Iterator[Command]:
        if not verb.value or verb.by or verb.value == "text":
            yield Command(verb.name, target)
        if verb.value == "text":
            return
        for literal in self._values(verb):
            yield Command(verb.name, target, literal.value, literal.type)
        if verb.ends:
            yield Command(verb.name, target, 100.0, "most")
            yield Command(verb.name, target, 1.0, "least")

    def _values(self, verb: Verb) -> Iterator[Literal]:
        for each in self.utterance.literals if verb.value else ():
            plain = each.type == "number" and not each.unit
            if verb.value in (each.type, each.unit) or (plain and verb.value != "colour"):
                if verb.value == "percentage" and plain and not 0 <= float(each.value) <= 100:
                    continue
                yield each

    def _questions(self, target: Target, entities: Sequence[Entity]) -> Iterator[Command]:
        if target.choice or target.minus or self._says_amount:
            return
        domain = entities[0].domain
        if domain == "weather":
            yield Command("weather", target)
            return
        own = entities[0].state if len(entities) == 1 else ""
        states = states_of(domain, own)
        if len(entities) == 1:
            yield Command("what", target)
            for state in states:
                yield Command("whether", target, state, "state")
            if domain == "climate":
                yield Command("temperature", target)
        if target.by == "name" or (target.by == "part" and len(entities) == 1):
            return
        several = ("any", "all") if len(entities) > 1 else ()  # see `Command.says`
        for verb in (*several, "which", "how many"):
            for state in states:
                yield Command(verb, target, state, "state")

    def _timers(self, state: Situation) -> Iterator[Command]:
        durations = [each for each in self.utterance.literals if each.type == "duration"]
        for each in durations:
            yield Command("start timer", Target(by="timer"), each.value, "duration")
            yield Command("delay", Target(by=""), each.value, "duration")
        said = [each.value for each in durations]
        for target in self._timer_targets(durations, state.here):
            for verb in ("cancel timer", "pause timer", "resume timer", "time left"):
                yield Command(verb, target)
            for each in durations:
                if target.place == "started" and said.count(each.value) == 1:
                    (place,) = target.ids
                    if self.home.timers[int(place.partition(":")[2])].start == each.value:
                        continue  # the duration says which timer is meant
                for verb in ("add time", "take time"):
                    yield Command(verb, target, each.value, "duration")

    def _timer_targets(self, durations: Sequence[Literal], here: str) -> Iterator[Target]:
        timers = self.home.timers
        every = tuple(f"timer:{place}" for place in range(len(timers)))
        areas = {id_ for e in self.utterance.of_kind("area") if e.full for id_ in e.ids}
        named = {id_ for e in self.utterance.of_kind("timer") for id_ in e.ids}
        for place, timer in enumerate(timers):
            id_ = every[place]
            if id_ in named:
                yield Target((id_,), "timer", place="named")
            if timer.area in areas:
                yield Target((id_,), "timer", place="area", where=f"area:{timer.area}")
            if timer.start in [each.value for each in durations]:
                yield Target((id_,), "timer", place="started")
        for area in sorted(areas):
            inside = tuple(each for each, t in zip(every, timers, strict=True) if t.area == area)
            if len(inside) > 1:
                yield Target(inside, "timer", place="area", where=f"area:{area}")
        own = tuple(each for each, t in zip(every, timers, strict=True) if here and t.area == here)
        if own and not areas:
            yield Target(own, "timer", place="here", where=f"area:{here}")
        is_one = len(every) > 1 and self._is_singular
        if every and not is_one:
            yield Target(every, "timer", place="all")
        if len(every) > 1 and not self._has_quantifier:
            yield Target(every, "timer", place="", choice=True)

    def _lists(self) -> Iterator[Command]:
        if SHOPPING_LIST not in self.home.entity_of:
            for verb in ("add item", "complete item"):
                yield Command(verb, Target((SHOPPING_LIST,), "shopping list"))

    def _free_texts(self) -> Iterator[Command]:
        command = self._spans_of or Command("")
        marked = {place for each in self._kept for place in each.places if each.full}
        size = len(self.utterance.words)
        for start in range(size):
            for end in range(start + 1, min(size, start + _LONGEST_SPAN) + 1):
                if end - 1 in marked:
                    break
                text = " ".join(self.utterance.words[start:end])
                yield command._replace(value=text, source=(start, end))
        if command.verb == "start timer":
            yield command


def check_area(home: Home, area: str | None) -> str:
    """Return `area`, or "" for None; raise `HomeError` if the home has no such area."""
    if area and area not in home.area_of:
        raise HomeError(f"`area` must be the id of an area in the home; got {area!r}.")
    return area or ""
