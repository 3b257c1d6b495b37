"""Smart-home agent for commands and questions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from groundling.dialogue.options import Option
from groundling.dialogue.prediction_sets import decide
from groundling.home.catalogue import VERBS
from groundling.home.effects import States, changes, initial_states, is_in_state, limits
from groundling.home.environment import (
    SHOPPING_LIST,
    Command,
    HomeWorld,
    Situation,
    Target,
    TextWorld,
    check_area,
)
from groundling.home.home import Entity, Home, HomeError, Timer
from groundling.home.locales import DELAYS
from groundling.home.model import HomeModel, load_model
from groundling.home.speech import Speech, load_speech
from groundling.home.utterance import Mention
from groundling.limits import SAID_CHARACTERS
from groundling.plan import Plan

_ACT = 0.3  # minimum confidence to carry out a command without asking
_ANSWER = 0.15  # minimum confidence to offer a command as an option of a question
_CHOICE = 0.1  # minimum confidence to answer a question, or to ask which thing is meant
# minimum confidence of each of two commands, tried because a command leaves names unused
_PARTS = 0.5
_LISTED = 0.03  # minimum confidence of a list of names if two commands seem likelier
_MOST_PARTS = 6  # limit on divisions of a text, one inside another
_MOST_TRIED = 10_000  # limit on the characters of a text and of all parts that are tried
_MOST_PHRASES = 6  # limit on household phrases per text, including nested ones
_MOST_OPTIONS = 8
_FREE_TEXTS = ("add item", "complete item", "play", "broadcast")  # verbs with words as values
_MOST_NUMBER = 999_999_999  # larger numbers are not read


@dataclass(frozen=True)
class HomeReply:
    """Reply of a home agent.

    `kind` is `act`, `ask`, `answer` or `decline`. `changes` maps each entity that changes to its
    new state and attributes. `options` are the answers that a clarification question offers.
    `commands` are the commands that the agent recognised in the text.
    """

    kind: str
    text: str
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    confidence: float = 0.0
    milliseconds: float = 0.0
    commands: tuple[Command, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the reply as a JSON object."""
        return {
            "kind": self.kind,
            "text": self.text,
            "changes": self.changes,
            "options": list(self.options),
            "confidence": round(self.confidence, 4),
            "milliseconds": round(self.milliseconds, 2),
        }


@dataclass
class _Exchange:
    """States, timers and context while one text is processed."""

    states: States
    situation: Situation
    timers: list[Timer]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    pending: Command | None = None
    waiting: tuple[Command, ...] = ()  # to be carried out with the pending command
    # phrases carried out so far; copies share this list
    phrases: list[str] = field(default_factory=list)
    # lengths of the texts tried so far; copies share this list
    tried: list[int] = field(default_factory=list)


def _copied(turn: _Exchange) -> _Exchange:
    return replace(
        turn, states=dict(turn.states), timers=list(turn.timers), changes=dict(turn.changes)
    )


def _ranked(plan: Plan) -> list[tuple[Command, float]]:
    """Return the distinct commands that a text may mean, with their probabilities."""
    first: Any = plan.actions[0]
    found = {_meaning(first): (first, plan.confidence)}
    others: dict[Any, tuple[Command, float]] = {}
    for each in plan.alternatives:
        if each.actions:
            action: Any = each.actions[0]
            known = others.get(_meaning(action), (action, 0.0))
            others[_meaning(action)] = (known[0], known[1] + each.probability)
    ranked = sorted(others.items(), key=lambda each: -each[1][1])
    return [*found.values(), *(pair for key, pair in ranked if key not in found)]


def _meaning(command: Command) -> tuple[Any, ...]:
    target = command.target
    return command.verb, frozenset(target.ids), command.value, target.choice


class HomeAgent:
    """Agent that replies to commands and questions about a home.

    The agent remembers the conversation, so that a text may refer to earlier ones.

    Parameters
    ----------
    home
        The home; `read_home` reads one from a file.
    model
        A home model. Defaults to the shipped model of the home's language.

    Examples
    --------
    >>> home = Home.from_data({
    ...     "areas": [{"id": "hall", "name": "Hall"}],
    ...     "entities": [
    ...         {"id": "light.desk", "name": "Desk Lamp", "area": "hall", "state": "off"},
    ...         {"id": "lock.door", "name": "Front Door", "state": "locked"},
    ...     ],
    ... })
    >>> agent = HomeAgent(home)
    >>> agent.reply("turn on the desk lamp").changes
    {'light.desk': {'state': 'on'}}
    >>> print(agent.reply("is the front door locked?").text)
    Yes: Front Door is locked.
    """

    def __init__(self, home: Home, model: HomeModel | None = None) -> None:
        self.model = model or load_model(home.language or "en")
        self.speech: Speech = load_speech(self.model.language)
        self.home: Home
        self.world: HomeWorld
        self.states: States
        self.timers: list[Timer]
        self.before: tuple[str, ...]
        self.pending: Command | None
        self.waiting: tuple[Command, ...]
        self.move(home)

    def move(self, home: Home) -> None:
        """Replace the home, and forget the conversation."""
        self._first_timers = home.timers
        self._settle(home)
        self.forget()

    def _settle(self, home: Home) -> None:
        self.home, self.world = home, self.model.world(home.with_phrases())

    def reply(
        self,
        text: str,
        *,
        area: str | None = "",
        states: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> HomeReply:
        """Return the reply to a text, and remember its effects for the next text.

        `area` is the id of the speaker's area. `states` are the current states of entities, where
        they differ from the remembered states. `now` is the current time, for questions about the
        time and the date.
        """
        began = time.perf_counter()
        if not isinstance(text, str):
            raise HomeError(f"`text` must be a string; got {type(text).__name__}.")
        SAID_CHARACTERS.check(len(text), HomeError, "A text")
        here = check_area(self.home, area)
        if states:
            self.states |= {
                id_: new for id_, new in initial_states(self.home, states).items() if id_ in states
            }
        turn = _Exchange(
            dict(self.states),  # the state of an entity is replaced, never changed in place
            Situation(here, self.before), list(self.timers),
        )  # fmt: skip
        found = self._answer_pending(text, turn) or self._reply(text, turn, now or datetime.now())
        self.states, self.timers = turn.states, turn.timers
        self._keep_timers([each for each in turn.timers if each.is_active or each.left])
        self.before, self.pending = turn.situation.before, turn.pending
        self.waiting = turn.waiting
        return replace(found, milliseconds=1000 * (time.perf_counter() - began))

    def forget(self) -> None:
        """Reset states and timers to those of the home, and forget the conversation."""
        self._keep_timers(self._first_timers)
        self.states = initial_states(self.home)
        self.before, self.pending, self.waiting = (), None, ()

    def _keep_timers(self, timers: Sequence[Timer]) -> None:
        """Replace the timers to which texts can refer."""
        self.timers = list(timers)
        if tuple(timers) != self.home.timers:
            self._settle(replace(self.home, timers=tuple(timers)))

    def describe(self) -> dict[str, Any]:
        """Return the areas, the entities with their states, and the taught phrases."""
        return {
            "areas": {each.id: each.name for each in self.home.areas},
            "things": {
                each.id: {"name": each.name, "area": each.area, **self.states[each.id]}
                for each in self.home.entities
            },
            "phrases": {each.phrase: list(each.does) for each in self.home.phrases},
        }

    def explain(self, text: str, *, area: str | None = "") -> str:
        """Return the plan for a text and an explanation of it, as lines of text."""
        SAID_CHARACTERS.check(len(text), HomeError, "A text")
        said = self.world.read(text)
        situation = Situation(check_area(self.home, area), self.before)
        plan = self.model.follower.follow(said.instruction, said, situation)
        return f"{plan}\n{plan.explain()}"

    # ---- understanding -----------------------------------------------------------------

    def _reply(self, text: str, turn: _Exchange, now: datetime, depth: int = 0) -> HomeReply:
        turn.tried.append(len(text))
        if depth and sum(turn.tried) > _MOST_TRIED:
            return self._decline()
        said = self.world.read(text)
        if said.utterance.is_unknown:
            return self._decline()
        if said.utterance.has_unread_number:
            return self._out_of_range((0.0, _MOST_NUMBER), "", 1.0)
        if said.utterance.without_reason and depth < _MOST_PARTS:
            inner = self._tried(said.utterance.without_reason, turn, now, depth)
            if inner is not None:
                return inner
        known: dict[int, tuple[list[HomeReply], _Exchange]] = {}
        for place in said.utterance.orders:
            several = self._several(said, place, turn, now, depth, known, _PARTS)
            if several is not None:
                return several
        plan = self.model.follower.follow(said.instruction, said, turn.situation)
        ranked = _ranked(plan)
        command, confidence = ranked[0]
        if command.verb == "split" and not said.utterance.orders:
            for each, share in ranked:
                # a list of names, not a second command
                if share >= _LISTED and said.is_listed(each):
                    command, confidence = each, share + confidence
                    break
        if command.verb == "split":
            several = self._several(said, int(str(command.value)), turn, now, depth, known)
            if several is not None:
                return several
            inner = self._last_part(said, int(str(command.value)), turn, now, depth)
            if inner is not None:
                return inner
            rest = [each for each in ranked if each[0].verb != "split"]
            if not rest:
                return self._decline(confidence)
            command, confidence = rest[0]
        elif command.verb == "decline" or (command.target.ids and command.verb not in _FREE_TEXTS):
            for place in said.breaks(command):
                several = self._several(said, place, turn, now, depth, known, _PARTS)
                if several is not None:
                    return several
        if command.verb == "decline":  # a question back or an answer does no harm
            harmless = [
                each
                for each in ranked
                if each[1] >= _CHOICE and (each[0].target.choice or said.is_answer(each[0]))
            ]
            command, confidence = harmless[0] if harmless else (command, confidence)
        if said.utterance.is_negated and not command.is_question and command.target.ids:
            return self._decline(confidence, command)
        sure = _CHOICE if command.is_question or command.target.choice else _ACT
        rivals = [each for each in ranked if each[0] != command and each[1] <= confidence]
        options = [Option(each, share, plan) for each, share in ((command, confidence), *rivals)]
        if command.verb == "decline" or decide(options, sure=sure).kind != "act":
            return self._unsure(command, confidence, ranked)
        command, confidence = self._possible(command, confidence, ranked, turn)
        command = said.ask_if_vague(self._completed(said, command, turn), turn.situation)
        if command.verb in _FREE_TEXTS and command.value is None:  # *add to the shopping list*
            rest = [e for e in ranked if e[0].verb not in _FREE_TEXTS and e[1] >= _CHOICE]
            if not rest or rest[0][0].verb == "decline":
                return self._decline(confidence, command)
            command, confidence = rest[0]
        if said.ignores_exception(command):
            return self._unsure(command, confidence, ranked)
        beyond = self._beyond(command, confidence, turn)
        if beyond is not None:
            return beyond
        if command.verb == "delay":
            delays = [each for each in ranked if each[0].verb == "delay" and each[1] >= _LISTED]
            tried = [self._delay(said, *each, turn, now, depth) for each in delays[:2]]
            return next((each for each in tried if each.kind == "act"), tried[0])
        if command.is_question:
            return self._answer(command, confidence, turn, now)
        return self._act(command, confidence, turn, now)

    def _tried(self, text: str, turn: _Exchange, now: datetime, depth: int) -> HomeReply | None:
        """Carry out part of a text and return the reply, if the part is clearly a command.

        Otherwise, returns None and changes nothing.
        """
        trial = _copied(turn)
        reply = self._reply(text, trial, now, depth + 1)
        if reply.kind != "act" or reply.confidence < _PARTS:
            return None
        turn.states, turn.timers, turn.changes = trial.states, trial.timers, trial.changes
        turn.situation, turn.pending = trial.situation, trial.pending
        return reply

    def _last_part(
        self, said: TextWorld, place: int, turn: _Exchange, now: datetime, depth: int
    ) -> HomeReply | None:
        """Carry out the text after a comma, if it is clearly a command; return the reply.

        Returns None if the text before the comma contains the full name of something in the home.
        """
        utterance = said.utterance
        names = [n for each in utterance.mentions if each.full for n in each.places]
        if (
            depth >= _MOST_PARTS
            or utterance.folded[place - 1] != ","
            or any(n < place for n in names)
        ):
            return None
        return self._tried(utterance.part(place, len(utterance.words)), turn, now, depth)

    def _several(
        self, said: TextWorld, place: int, turn: _Exchange, now: datetime, depth: int,
        known: dict[int, tuple[list[HomeReply], _Exchange]], least: float = 0.0,
    ) -> HomeReply | None:  # fmt: skip
        """Divide a text at a position, and return the joint reply to both parts.

        Returns None if a reply declines, or if its confidence is below `least`. `known` caches the
        replies by position.
        """
        if depth >= _MOST_PARTS:
            return None
        if place not in known:
            trial, utterance = _copied(turn), said.utterance
            parts = (utterance.part(0, place), utterance.part(place, len(utterance.words)))
            first = self._reply(parts[0], trial, now, depth + 1)
            replies = [first]
            if first.kind != "ask" or not said.has_pronoun(place):  # *it* is not known yet
                replies.append(self._reply(parts[1], trial, now, depth + 1))
            known[place] = replies, trial
        replies, trial = known[place]
        if any(each.kind == "decline" or each.confidence < least for each in replies):
            return None
        kinds = [each.kind for each in replies]
        kind = next(each for each in ("ask", "act", "answer") if each in kinds)
        turn.situation, turn.pending = trial.situation, trial.pending
        if kind == "ask":  # nothing is carried out before the question is answered
            done = [command for each in replies if each.kind == "act" for command in each.commands]
            if any(command.verb == "delay" for command in done):
                return None
            turn.waiting = (*trial.waiting, *done)
            replies = [each for each in replies if each.kind != "act"]
        else:
            turn.states, turn.timers, turn.changes = trial.states, trial.timers, trial.changes
        return HomeReply(
            kind,
            " ".join(each.text for each in replies),
            dict(turn.changes),
            tuple(option for each in replies for option in each.options),
            min(each.confidence for each in replies),
            commands=tuple(command for each in replies for command in each.commands),
        )

    def _completed(self, said: TextWorld, command: Command, turn: _Exchange) -> Command:
        """Return a command with its free-text value, such as a list item, filled in."""
        if command.verb not in _FREE_TEXTS:
            return command
        spans = said.spans(command)
        if not spans.actions(turn.situation):
            return command
        plan = self.model.follower.follow(spans.instruction, spans, turn.situation)
        found: Any = plan.actions[0]
        return found._replace(target=command.target) if said.is_text(found) else command

    def _answer_pending(self, text: str, turn: _Exchange) -> HomeReply | None:
        """Return the reply to an answer to the pending question; None for any other text."""
        command, self.pending = self.pending, None
        waiting, self.waiting = self.waiting, ()
        if command is None:
            return None
        said = self.world.read(text)
        if len(said.utterance.words) > _MOST_OPTIONS:
            return None
        every = set(self.speech["every"]) & set(said.utterance.folded)
        named = [each for each in said.utterance.mentions if not said.is_vague(each)]
        chosen = command.target.ids if every else self._chosen(command, named)
        if not chosen or self._is_other_command(said, command, turn):
            return None
        target = command.target._replace(ids=tuple(chosen), choice=False)
        todo = (*waiting, command._replace(target=target))
        told = [self._act(each, 1.0, turn, datetime.now()).text for each in todo]
        return HomeReply("act", " ".join(told), dict(turn.changes), (), 1.0, commands=todo)

    def _is_other_command(self, said: TextWorld, pending: Command, turn: _Exchange) -> bool:
        """Return whether a text is a command with another verb than the pending command."""
        if not any(said.utterance.is_order(n) for n in range(len(said.utterance.folded))):
            return False
        plan = self.model.follower.follow(said.instruction, said, turn.situation)
        found: Any = plan.actions[0]
        return not found.says(pending.verb)

    def _chosen(self, command: Command, mentions: Sequence[Mention]) -> list[str]:
        ids = command.target.ids
        named = {id_ for each in mentions if each.kind in ("name", "timer") for id_ in each.ids}
        places = [f"{e.kind}:{i}" for e in mentions if e.kind in ("area", "floor") for i in e.ids]
        found = [id_ for id_ in ids if id_ in named]
        if not found and places:
            found = [
                id_
                for id_ in ids
                if id_ in self.home.entity_of and any(self.world.is_in(id_, e) for e in places)
            ]
        return found if len(found) == 1 else []

    # ---- replies -----------------------------------------------------------------------

    def _decline(self, confidence: float = 0.0, *commands: Command) -> HomeReply:
        return HomeReply("decline", self.speech["unknown"], {}, (), confidence, commands=commands)

    def _out_of_range(
        self, found: tuple[float, float], unit: str, confidence: float, *commands: Command
    ) -> HomeReply:
        """Return a reply that declines a value and gives the range of possible values."""
        told = [self.speech.duration(e) if unit == "s" else f"{e:.10g}{unit}" for e in found]
        text = self.speech.say("out of range", value=" – ".join(told))
        return HomeReply("decline", text, {}, (), confidence, commands=commands)

    def _possible(
        self, command: Command, confidence: float, ranked: Sequence[tuple[Command, float]],
        turn: _Exchange,
    ) -> tuple[Command, float]:  # fmt: skip
        """Return a command or, if its value is out of range, a likely alternative.

        The alternative has a valid value and the same entities. If there is none, the command is
        returned.
        """
        if self._beyond(command, confidence, turn) is not None:
            for other, share in ranked:
                is_same = other.target.ids == command.target.ids and not other.is_question
                if is_same and share >= _CHOICE and not self._beyond(other, share, turn):
                    return other, share
        return command, confidence

    def _beyond(self, command: Command, confidence: float, turn: _Exchange) -> HomeReply | None:
        """Return a reply that declines an out-of-range value; None for a valid value."""
        value = command.value
        if not isinstance(value, float | int):
            return None
        things = [self.home.entity_of.get(each) for each in command.target.ids]
        for entity in things if command.source != "duration" else [None]:
            now = turn.states.get(entity.id) if entity else None
            found = limits(command.verb, float(value), entity, now)
            if found is not None:
                is_climate = entity is not None and entity.domain == "climate"
                unit = "°" if is_climate else " %" if entity else "s"
                return self._out_of_range(found, unit, confidence, command)
        return None

    def _unsure(
        self, command: Command, confidence: float, ranked: Sequence[tuple[Command, float]]
    ) -> HomeReply:
        """Return a question that offers the likely commands; a refusal if there are none."""
        likely = [
            each
            for each, share in ranked
            if share >= _ANSWER and each.target.ids and not each.is_question
        ]
        options = tuple(dict.fromkeys(self._described(each) for each in likely))
        if command.verb == "decline" or not options:
            return self._decline(confidence, command)
        text = self.speech.say("did you mean", options, joint="or")
        return HomeReply("ask", text, {}, options, confidence, commands=(command,))

    def _described(self, command: Command) -> str:
        value = self._value(command)
        return self.speech.done(command.verb, self._names(command.target), value).rstrip(".")

    def _act(
        self, command: Command, confidence: float, turn: _Exchange, now: datetime
    ) -> HomeReply:
        target, names = command.target, self._names(command.target)
        if target.choice:
            turn.pending = command
            options = tuple(names[:_MOST_OPTIONS])
            text = self.speech.say("which one", options, joint="or")
            return HomeReply("ask", text, {}, options, confidence, commands=(command,))
        if target.by == "timer":
            return self._act_on_timers(command, confidence, turn)
        said: list[str] = []
        taught = [each for each in target.ids if each in self.home.phrase_of]
        for id_ in taught:
            turn.phrases.append(id_)
            if len(turn.phrases) > _MOST_PHRASES:  # a phrase may refer to itself
                return self._decline(confidence, command)
            replies = [self._reply(text, turn, now, 1) for text in self.home.phrase_of[id_].does]
            if all(each.kind == "decline" for each in replies):
                return self._decline(confidence, command)
            said += [each.text for each in replies]
        for id_ in target.ids:
            if id_ not in taught:
                self._change(id_, command, turn)
        self._remember(target, turn)
        if not taught:
            said = [self.speech.done(command.verb, names, self._value(command))]
        return HomeReply(
            "act", " ".join(said), dict(turn.changes), (), confidence, commands=(command,)
        )

    def _remember(self, target: Target, turn: _Exchange) -> None:
        """Remember the target of a command, to which *it* can refer in the next text."""
        known = tuple(each for each in target.ids if each in self.home.entity_of)
        if known:
            turn.situation = replace(turn.situation, before=known)

    def _change(self, id_: str, command: Command, turn: _Exchange) -> None:
        entity = self.home.entity_of.get(id_) or Entity(id_, id_)
        now = turn.states.setdefault(id_, {"state": "0", "attributes": {}})
        new = changes(entity, now, command.verb, command.value)
        if not new:
            return
        turn.states[id_] = {
            "state": new.get("state", now["state"]),
            "attributes": {**now["attributes"], **new.get("attributes", {})},
        }
        kept = turn.changes.setdefault(id_, {})
        if "state" in new:
            kept["state"] = new["state"]
        if "attributes" in new:
            kept["attributes"] = {**kept.get("attributes", {}), **new["attributes"]}

    def _act_on_timers(self, command: Command, confidence: float, turn: _Exchange) -> HomeReply:
        value = float(str(command.value)) if command.value is not None else 0.0
        if command.verb == "start timer":
            turn.timers.append(Timer("", turn.situation.here, round(value), round(value)))
            self._report_timer(len(turn.timers) - 1, turn, "active")
        for id_ in command.target.ids:
            place = int(id_.partition(":")[2])
            timer = turn.timers[place]
            if command.verb in ("pause timer", "resume timer"):
                timer = replace(timer, is_active=command.verb == "resume timer")
            if command.verb in ("add time", "take time"):
                sign = 1 if command.verb == "add time" else -1
                timer = replace(timer, left=max(0, timer.left + sign * round(value)))
            if command.verb == "cancel timer":
                timer = replace(timer, left=0, is_active=False)
            turn.timers[place] = timer
            state = "active" if timer.is_active else "paused"
            self._report_timer(place, turn, "idle" if command.verb == "cancel timer" else state)
        text = self.speech.done(command.verb, (), self.speech.duration(value))
        return HomeReply("act", text, dict(turn.changes), (), confidence, commands=(command,))

    def _report_timer(self, place: int, turn: _Exchange, state: str) -> None:
        timer = turn.timers[place]
        slug = "_".join(timer.name.lower().split()) or str(place + 1)
        turn.changes[f"timer.{slug}"] = {
            "state": state,
            "attributes": {"duration": timer.start, "remaining": timer.left},
        }

    def _delay(
        self, said: TextWorld, command: Command, confidence: float, turn: _Exchange, now: datetime,
        depth: int,
    ) -> HomeReply:  # fmt: skip
        """Return the reply to a text whose command is to be carried out after a delay."""
        utterance = said.utterance
        delay = next(each for each in utterance.literals if each.value == command.value)
        known = DELAYS.get(utterance.language.name, ())
        around = {word for each in known for word in each.split()}
        first, last = min(delay.places), max(delay.places)
        beside = {*range(first - 2, first), *range(last + 1, last + 3)}
        words = [
            word
            for n, word in enumerate(utterance.words)
            if n not in delay.places and not (n in beside and utterance.folded[n] in around)
        ]
        trial = replace(turn, states=dict(turn.states), changes={}, timers=list(turn.timers))
        inner = self._reply(" ".join(words), trial, now, depth + 1)
        if inner.kind != "act":
            return inner if inner.kind == "ask" else self._decline(confidence, command)
        value = float(str(command.value))
        turn.timers.append(Timer("", turn.situation.here, round(value), round(value)))
        self._report_timer(len(turn.timers) - 1, turn, "active")
        text = self.speech.done("delay", [inner.text.rstrip(".")], self.speech.duration(value))
        return HomeReply(
            "act", text, dict(turn.changes), (), confidence, commands=(command, *inner.commands)
        )

    # ---- answers -----------------------------------------------------------------------

    def _answer(
        self, command: Command, confidence: float, turn: _Exchange, now: datetime
    ) -> HomeReply:
        text = self._told(command, turn, now)
        self._remember(command.target, turn)
        return HomeReply("answer", text, {}, (), confidence, commands=(command,))

    def _told(self, command: Command, turn: _Exchange, now: datetime) -> str:
        speech, verb = self.speech, command.verb
        if verb in ("time", "date"):
            return speech.say(verb, value=f"{now:%H:%M}" if verb == "time" else speech.date(now))
        if verb == "respond":
            return str(speech["greeting"])
        if verb == "time left":
            return self._time_left(command.target, turn)
        ids = [each for each in command.target.ids if each in self.home.entity_of]
        if verb == "weather":
            return self._weather(ids, turn)
        if verb == "temperature":
            return self._temperature(ids, turn)
        if verb in ("what", "whether"):
            return self._one_state(command, ids[0], turn)
        asked = str(command.value)
        fitting = [
            id_ for id_ in ids if is_in_state(self.home.entity_of[id_], turn.states[id_], asked)
        ]
        return self._many_states(verb, ids, fitting)

    def _one_state(self, command: Command, id_: str, turn: _Exchange) -> str:
        entity, now = self.home.entity_of[id_], turn.states[id_]
        items = now["attributes"].get("items") if entity.domain == "todo" else None
        state = self.speech.listed(list(map(str, items))) if items else self._state(entity, now)
        told = self.speech.say("is", [entity.name], state)
        if command.verb == "what":
            return told
        right = is_in_state(entity, now, str(command.value))
        return f"{self.speech['yes' if right else 'no']}: {told}"

    def _many_states(self, verb: str, ids: Sequence[str], fitting: Sequence[str]) -> str:
        speech = self.speech
        names = [self.home.entity_of[each].name for each in fitting]
        if verb == "how many":
            return speech.say("how many", value=str(len(fitting)))
        if verb == "which":
            return f"{speech.listed(names)}." if names else f"{speech['none']}."
        if verb == "any":
            return f"{speech['yes']}: {speech.listed(names)}." if names else f"{speech['no']}."
        others = [self.home.entity_of[each].name for each in ids if each not in set(fitting)]
        return speech.say("are not", others) if others else f"{speech['yes']}."

    def _state(self, entity: Entity, now: Mapping[str, Any]) -> str:
        unit = now["attributes"].get("unit_of_measurement")
        state = self.speech.state(str(now["state"]))
        return f"{state} {unit}" if unit else state

    def _temperature(self, ids: Sequence[str], turn: _Exchange) -> str:
        told = []
        for id_ in ids:
            attributes = turn.states[id_]["attributes"]
            current = attributes.get("current_temperature", turn.states[id_]["state"])
            unit = attributes.get("unit_of_measurement") or attributes.get("temperature_unit", "°")
            name = self.home.entity_of[id_].name
            told.append(self.speech.say("temperature", [name], f"{current} {unit}".strip()))
        return " ".join(told[:3])

    def _weather(self, ids: Sequence[str], turn: _Exchange) -> str:
        if not ids:
            return str(self.speech["unknown"])
        now = turn.states[ids[0]]
        unit = now["attributes"].get("temperature_unit", "°")
        degrees = now["attributes"].get("temperature")
        state = self.speech.state(str(now["state"]))
        value = state if degrees is None else f"{state}, {degrees} {unit}"
        return self.speech.say("is", [self.home.entity_of[ids[0]].name], value)

    def _time_left(self, target: Target, turn: _Exchange) -> str:
        timers = [turn.timers[int(each.partition(":")[2])] for each in target.ids]
        if not timers:
            return str(self.speech["no timer"])
        told = [
            f"{timer.name}: {self.speech.duration(timer.left)}".removeprefix(": ")
            for timer in timers
        ]
        return self.speech.say("left", told, self.speech.listed(told))

    def _names(self, target: Target) -> list[str]:
        """Return the names of a target's entities; equal names are followed by the area."""
        found = []
        count = Counter(self._called(each) for each in dict.fromkeys(target.ids))
        for id_ in target.ids:
            entity = self.home.entity_of.get(id_)
            if entity is None:
                found.append(self._other_name(id_))
                continue
            area = self.home.area_of.get(entity.area)
            repeats = count[entity.name] > 1
            found.append(f"{entity.name} ({area.name})" if repeats and area else entity.name)
        return found

    def _called(self, id_: str) -> str:
        return self.home.entity_of[id_].name if id_ in self.home.entity_of else id_

    def _other_name(self, id_: str) -> str:
        if id_ == SHOPPING_LIST:
            return str(self.speech["shopping list"])
        if id_.startswith("timer:"):
            timer = self.timers[int(id_.partition(":")[2])]
            return timer.name or self.speech.duration(timer.start)
        phrase = self.home.phrase_of.get(id_)
        return phrase.phrase if phrase else id_

    def _value(self, command: Command) -> str:
        """Return the value of a command, with its unit, as text."""
        value = command.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if command.source == "duration":
            return self.speech.duration(float(str(value)))
        if value is None:
            return ""
        verbs = (each for listed in VERBS.values() for each in listed)
        is_share = any(e.name == command.verb and e.value == "percentage" for e in verbs)
        unit = " %" if is_share else "°" if command.verb == "set temperature" else ""
        return f"{value}{unit}"
