"""A dialogue agent, which acts, asks, answers or declines in each turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

from groundling.dialogue.clarification import Question, ask_which, read_reply
from groundling.dialogue.command_fit import CommandFit
from groundling.dialogue.command_response import Unknown, choose_response
from groundling.dialogue.options import Option
from groundling.dialogue.outcomes import Considered, consider
from groundling.dialogue.phrases import PHRASES, listed, phrase, quoted, with_phrases
from groundling.dialogue.prediction_sets import MOST_OFFERED, SURE, PredictionSets
from groundling.dialogue.questions import COMMAND, Answer
from groundling.errors import DemonstrationError, InstructionError, SettingError
from groundling.explain.explanation import Explanation
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.history import MemoryEnvironment, Remembered
from groundling.language.languages import Language
from groundling.language.sentences import is_punctuation, split_words
from groundling.limits import SAID_CHARACTERS
from groundling.plan import Plan
from groundling.ties import at_least
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, Environment, State

__all__ = ["Agent", "Kind", "Turn", "TurnExplanation"]

Kind = Literal["act", "ask", "answer", "decline"]
"""The kind of a dialogue turn."""


@dataclass(frozen=True)
class TurnExplanation:
    """The reason for a turn, with the options and the explanation of the plan."""

    kind: Kind
    reason: str
    options: tuple[tuple[str, float], ...] = ()
    plan: Explanation | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-ready data."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "options": [{"text": text, "probability": p} for text, p in self.options],
            "plan": None if self.plan is None else self.plan.to_dict(),
        }

    def __str__(self) -> str:
        lines = [self.reason, *(f"  {p:.2f}  {text}" for text, p in self.options)]
        if self.plan is not None:
            lines.append(str(self.plan))
        return "\n".join(lines)


@dataclass(frozen=True)
class Turn:
    """One dialogue turn: the user's utterance and the agent's response.

    Attributes
    ----------
    said
        The user's utterance.
    kind
        `act`: the plan was carried out; `ask`: the agent asked a clarification question and left
        the state unchanged; `answer`: it answered a question; `decline`: it did nothing.
    plan
        The plan that was carried out. For `ask` it is the best guess, for `decline` None.
    answer
        The answer to a question.
    confidence
        The calibrated probability of the plan; 1 if the user chose it.
    demonstration
        The utterance with the actions carried out, for `Follower.teach`; None unless `kind` is
        `act`.
    reason
        One sentence that explains the decision.
    replies
        True if the utterance was the reply to a clarification question.
    """

    said: str
    kind: Kind
    plan: Plan | None = None
    answer: Any = None
    confidence: float = 0.0
    demonstration: Demonstration | None = None
    reason: str = ""
    replies: bool = False
    _say: Callable[[], Question] = field(default=Question, repr=False, compare=False)

    # Generating text is slower than deciding, so it is done on first access.
    @cached_property
    def _said(self) -> Question:
        return self._say()

    @property
    def text(self) -> str:
        """The agent's response in its language: one sentence."""
        return self._said.text

    @property
    def options(self) -> tuple[Option, ...]:
        """The options of a clarification question, most probable first."""
        return self._said.options

    @property
    def by_value(self) -> bool:
        """Whether the question offers values, such as colours, instead of whole plans."""
        return self._said.by_value

    def explain(self) -> TurnExplanation:
        """Return the reason, the option probabilities and the explanation of the plan."""
        options = tuple((each.text, each.probability) for each in self.options)
        explained = None
        if self.kind == "act" and self.plan is not None and self.plan._source is not None:
            explained = self.plan.explain()
        return TurnExplanation(self.kind, self.reason, options, explained)

    def __str__(self) -> str:
        return self.text


class _Open:
    """A clarification question that awaits a reply, with its options."""

    def __init__(self, found: Considered, offered: Sequence[Option], said: str, turn: Turn) -> None:
        self.found = found
        self.offered = tuple(offered)
        self.said = said
        self.turn = turn

    def called(self, option: Option) -> str:
        """Return the name of an option in the question, or "" if it was not offered."""
        named = (each.text for each in self.turn.options if each.outcome == option.outcome)
        return next(named, "")

    @property
    def others(self) -> tuple[Option, ...]:
        offered = {each.outcome for each in self.offered}
        return tuple(each for each in self.found.options if each.outcome not in offered)


_DOUBT = 0.3  # probability of a command from which a text without a question mark is no question
_LEAST_ANSWER = 0.1  # minimum confidence to answer a question
_LONGEST_WORD = 40  # characters of a word that is repeated to the user
_MOST_OTHERS = 30  # options that a reply may name although they were not offered


class Agent:
    """A dialogue agent that acts if confident, asks if unsure, and otherwise declines.

    Without calibration, the agent acts if one outcome has a probability of at least 80 %. After
    `Follower.calibrate(demonstrations, coverage=0.95)`, it acts if the prediction set has exactly
    one outcome, which is more probable than all others together (see `decide`).

    Parameters
    ----------
    follower
        A fitted follower.
    environment, start
        The environment to act in and its initial state. Use a `MemoryEnvironment` to remember
        earlier turns.
    language
        Language of the agent's responses (`english` or `german`), by default that of the
        demonstrations. Replies are also understood in the language of the demonstrations.
    may_say
        Callable `may_say(text, plan)`, called with a generated text and the plan that the text
        describes. If it returns False, the agent lists the plan's actions by name instead.

    Examples
    --------
    >>> from groundling import Demonstration, Follower, GroundingGraph
    >>> class Lamps:
    ...     def __init__(self, *rooms): self.rooms = rooms
    ...     def actions(self, lit): return [("off" if r in lit else "on", r) for r in self.rooms]
    ...     def step(self, lit, action): return lit ^ {action[1]}
    ...     def ground(self, lit, action, after):
    ...         nodes = {"event": {action[0]: True}, "lamp": {"device": "lamp", "room": action[1]}}
    ...         return GroundingGraph(nodes, [("event", "lamp", "of")])
    >>> home, none = Lamps("kitchen", "hall"), frozenset()
    >>> shown = [Demonstration(f"switch {way} the {room} lamp", home, state, [(way, room)])
    ...          for room in home.rooms
    ...          for way, state in (("on", none), ("off", frozenset(home.rooms)))]
    >>> agent = Agent(Follower().fit(shown, check=False), home, none)
    >>> turn = agent.say("switch on the lamp")
    >>> turn.kind, turn.text, agent.state
    ('ask', 'Which lamp: the hall one or the kitchen one?', frozenset())
    >>> turn = agent.say("the kitchen one")
    >>> turn.kind, turn.plan.actions, sorted(agent.state)
    ('act', (('on', 'kitchen'),), ['kitchen'])
    >>> turn.demonstration.instructions
    'switch on the lamp, the kitchen one'
    """

    def __init__(
        self,
        follower: Follower,
        environment: Environment,
        start: State,
        *,
        language: str = "",
        may_say: Callable[[str, Plan], bool] = lambda text, plan: True,
    ) -> None:
        follower._fitted()
        if language and language not in PHRASES:
            raise SettingError(
                f"`language` must be one of {', '.join(PHRASES)}; got {language!r:.40}."
            )
        self.follower = follower
        self._chosen = language
        self._may_say = may_say
        self._speech: tuple[object, Language] | None = None
        self.environment = environment
        self.turns: list[Turn] = []
        self._before: list[tuple[State, _Open | None]] = []
        self._open: _Open | None = None
        self._read: Text = ""
        self._now = start
        if isinstance(environment, MemoryEnvironment):
            self._now = environment.begin(start)

    @property
    def state(self) -> State:
        """The state of the environment after the latest turn."""
        return self._now.state if isinstance(self._now, Remembered) else self._now

    @property
    def asking(self) -> bool:
        """Whether a clarification question awaits a reply."""
        return self._open is not None

    @property
    def language(self) -> Language:
        """The follower's `Language`, with phrases for the agent's responses."""
        reader = self.follower._fitted().fitted.encoder.reader
        if self._speech is None or self._speech[0] is not reader:
            found = with_phrases(reader.language, reader.counts, self._chosen)
            self._speech = (reader, found)
        return self._speech[1]

    def say(self, text: str, read: Text | None = None) -> Turn:
        """Process a command, a question or a reply, and return the turn.

        Pass `read`, such as a parsed text, to give the follower another form of `text`. If the
        text cannot be read, an error is raised and the agent does not change.
        """
        if not isinstance(text, str) or not any(map(str.isalnum, text)):
            raise InstructionError(f"The text must contain at least one word; got {text!r:.80}.")
        SAID_CHARACTERS.check(len(text), InstructionError, "A text")
        self._read = text if read is None else read
        before = (self._now, self._open)
        turn = self._reply(self._open, text) if self._open is not None else None
        if turn is not None:
            turn = replace(turn, replies=True)
        else:
            turn = self._without_question(text) or self._answer(text) or self._hear(text)
            if turn.kind == "decline":  # a question stays open until something else is understood
                self._open = before[1]
        self._before.append(before)
        self.turns.append(turn)
        return turn

    def choose(self, place: int) -> Turn:
        """Choose an option of the open question by its index; return the turn.

        The index is the option's position in `Turn.options` of the turn that asked.
        """
        asked = self._open
        if asked is None:
            raise InstructionError(
                "`choose` requires an open question; there is none. Call `say` first."
            )
        if not 0 <= place < len(asked.offered):
            raise InstructionError(
                f"`place` must be the index of an option, from 0 to {len(asked.offered) - 1}; got "
                f"{place!r:.20}."
            )
        before, option = (self._now, asked), asked.offered[place]
        said = asked.called(option) or self._describe(option.plan)
        turn = replace(self._choose(asked, (option,), said), replies=True)
        self._before.append(before)
        self.turns.append(turn)
        return turn

    def take_back(self) -> None:
        """Undo the last turn; do nothing if there is none."""
        if self.turns:
            self.turns.pop()
            self._now, self._open = self._before.pop()

    def teach(self, *, known: Iterable[Demonstration] = ()) -> Self:
        """Teach the follower the plans that the user chose in reply to questions.

        If the follower was loaded from a file, pass its training demonstrations as `known`.
        """
        names = {each.name for each in self.follower.demonstrations_}
        shown = [turn.demonstration for turn in self.turns if turn.demonstration is not None]
        new = [each for each in shown if each.name.startswith("told ") and each.name not in names]
        if new:
            self.follower.teach(new, known=known)
        return self

    # ---- utterances -----------------------------------------------------------------------

    def _hear(self, text: str) -> Turn:
        """Act on a command, ask about it, or decline it; return the turn."""
        [found] = consider(self.follower, [(self._read, self.environment, self._now)])
        self._open = None
        if found is None:
            return self._declined(text, "no plan", "No plan was found from this state.")
        fit = self._fit(found)
        return self._several(text, found, fit) or self._respond(text, found, fit)

    def _several(self, text: str, found: Considered, fit: CommandFit) -> Turn | None:
        """Follow a text of several commands, or ask about it; None if it is one command."""
        follower = self.follower
        plan = follower._commands().answer(found.request, found.plan, follower._fitted().search)
        if plan is None or plan is found.plan:
            return None
        if not plan.actions:
            return self._declined(text, "decline", "The text contains no command.")
        if not fit.fits_verbs(plan):
            return self._declined(text, "no plan", "No plan here does what the verbs mean.")
        if fit.names_all_of(plan) and all(
            at_least(part.confidence, SURE) for part in (plan, *plan.parts)
        ):
            return self._acted(text, plan, plan.confidence, "Each command is clear.", (text, ""))
        option = Option(found.request.world.outcome(plan.end), plan.confidence, plan)
        return self._asked(text, found, (option,), "The confidence in some commands is low.")

    def _answer(self, text: str) -> Turn | None:
        """Answer a question; None if the text is a command or no questions were learnt."""
        answerer = self.follower._get_answerer()
        if answerer is None or not answerer.is_question(text):
            return None
        world = self.environment
        if isinstance(world, MemoryEnvironment):
            world = world.environment
        found = answerer.answer(text, world, self.state)
        if self._strange(found):
            new = self._unknown(found).new
            if not new:  # known from commands only
                return None
            told = self._told_unknown(text, new)
            return self._declined(text, "", "Some words are unknown.", told)
        if answerer.asked(text).get(COMMAND, 0.0) > _DOUBT and not answerer.begins_question(text):
            return self._declined(text, "decline", "The text may be a question or a command.")
        fits = "; ".join(f"{unit} {fit:.2f}" for unit, fit in found.reasons) or "nothing"
        fits, said = f"Fit of each word: {fits}", _spoken_answer(found, self.language)
        described = bool(found.reasons) or not found.value or not isinstance(found.value, frozenset)
        known = found.value is not None and described and found.confidence >= _LEAST_ANSWER
        if not (known and answerer.can_answer(text)):
            return self._declined(text, "no answer", f"No answer is likely. {fits}.")
        return Turn(
            text,
            "answer",
            answer=found.value,
            confidence=found.confidence,
            reason=f"{fits}.",
            _say=lambda: Question(said),
        )

    def _strange(self, found: Answer | Plan) -> tuple[str, ...]:
        """Return the words of the text that the plan or answer does not explain."""
        language = self.language
        plain = {*language.stop_words, *language.function_words, *language.universals}
        words = dict.fromkeys(found.unexplained)
        return tuple(word for word in words if language.fold(word) not in plain)

    def _unknown(self, found: Answer | Plan) -> Unknown:
        """Return the unexplained words, divided into new and known words."""
        encoder = self.follower._fitted().fitted.encoder
        words = [self.language.fold(word) for word in self._strange(found)]
        new = [word for word in words if word not in encoder.reader.counts]
        if new:
            names = self._name_words()
            new = [word for word in new if word not in names]
        return Unknown(tuple(new), tuple(word for word in words if word not in new))

    def _name_words(self) -> set[str]:
        """Return the words of all known values."""
        values = self.follower._fitted().fitted.encoder.values.values()
        names = {name for each in values for name in each}
        return {word for name in names for word in self.language.fold(name).split()}

    def _told_unknown(self, text: str, new: Sequence[str]) -> str:
        """Return a sentence that lists unknown words as they were said, at most three."""
        language = self.language
        said = {language.fold(word): word for word in self._words(text)[::-1]}
        words = [said.get(word, word)[:_LONGEST_WORD] for word in new[:MOST_OFFERED]]
        return phrase(
            language,
            "unknown" if len(words) == 1 else "unknown words",
            words=listed(language, quoted(language, words), "and"),
        )

    def _fit(self, found: Considered) -> CommandFit:
        counts = self.follower._fitted().fitted.encoder.reader.counts
        known = self.follower._get_action_words(self.language)
        return CommandFit(found, self.language, known, counts)

    def _respond(self, text: str, found: Considered, fit: CommandFit) -> Turn:
        """Act on a command, ask about it, or decline it (see `choose_response`)."""
        unknown = self._unknown(found.plan)
        sets = PredictionSets.of(self.follower.learnt_)
        response = choose_response(found, fit, unknown, sets)
        new = unknown.new or fit.particles(found.plan)
        told = self._told_unknown(text, new) if response.phrase == "unknown" else ""
        if response.kind == "decline":
            return self._declined(text, response.phrase, response.reason, told)
        if response.kind == "ask":
            return self._asked(
                text, found, response.options, response.reason, complete=response.complete,
                before=told and f"{told} ",
            )  # fmt: skip
        plan = self._joined(response.options)
        if plan is None:
            return self._declined(text, "no plan", "The plans cannot be carried out in a row.")
        confidence = plan.confidence if response.confidence is None else response.confidence
        return self._acted(text, plan, confidence, response.reason, (text, ""))

    def _joined(self, options: Sequence[Option]) -> Plan | None:
        """Join the plans of options into one; None if they cannot be carried out in a row."""
        if len(options) == 1:
            return options[0].plan
        actions = [action for each in options for action in each.plan.actions]
        try:
            way = CachedEnvironment(self.environment).trace(self._now, actions)
        except DemonstrationError:
            return None
        parts = tuple(each.plan for each in options)
        return Plan(way.actions, way.states, 0.0, 1.0, parts=parts)

    def _asked(
        self,
        text: str,
        found: Considered,
        options: Sequence[Option],
        why: str,
        *,
        complete: bool = True,
        before: str = "",
    ) -> Turn:
        language = self.language
        unexplained = [language.fold(word) for word in self._strange(found.plan)]
        speaker = self.follower._get_speaker()

        def ask() -> Question:
            asked = ask_which(
                found.request, options, language, self._describe, complete=complete,
                spoken=self._spoken, unexplained={*unexplained, *self._name_words()},
                **({} if speaker is None else {"led": speaker.led}),
            )  # fmt: skip
            return asked._replace(text=before + asked.text)

        confidence = min(options[0].probability, found.plan.confidence)
        turn = Turn(text, "ask", found.plan, confidence=confidence, reason=why, _say=ask)
        self._open = _Open(found, options, text, turn)
        return turn

    def _declined(self, text: str, name: str, why: str, told: str = "") -> Turn:
        said = Question(told or phrase(self.language, name))
        return Turn(text, "decline", reason=why, _say=lambda: said)

    def _acted(
        self, text: str, plan: Plan, confidence: float, why: str, shown: tuple[str, str]
    ) -> Turn:
        """Carry out a plan and return the turn.

        `shown` is the text and the name of the turn's demonstration, for `Follower.teach`.
        """
        start = self._now
        end, world = plan.end, self.environment
        if isinstance(world, MemoryEnvironment):
            assert isinstance(end, Remembered)
            end = world.listen(end, text)
        elif hasattr(world, "restart"):
            end = world.restart(end)
        demonstration = Demonstration(shown[0], world, start, plan.actions, name=shown[1])
        self._now, self._open = end, None
        return Turn(
            text,
            "act",
            plan,
            confidence=confidence,
            demonstration=demonstration,
            reason=why,
            _say=lambda: Question(self._describe(plan)),
        )

    # ---- replies --------------------------------------------------------------------------

    def _words(self, text: str) -> list[str]:
        return split_words(text, self.language)

    def _plain_words(self, text: str) -> list[str]:
        return [self.language.fold(word) for word in self._words(text) if not is_punctuation(word)]

    def _reply(self, asked: _Open, text: str) -> Turn | None:
        """Read a text as the reply to a question; None if it is not a reply."""
        found, world = asked.found, asked.found.request.world
        words = self._plain_words(text)
        answerer = self.follower._get_answerer()
        if answerer is not None and answerer.begins_question(text):
            return self._answer(text)
        exact = [
            each
            for each in asked.offered
            if self._plain_words(each.text or self._describe(each.plan)) == words
        ]
        if len(exact) == 1:  # repeats the name of an option exactly
            return self._choose(asked, tuple(exact), text)
        fit = self._fit(found)
        others = asked.others[:_MOST_OTHERS]
        named = fit.fitting([each for each in others if fit.names_all_of(each.plan)])
        reply = read_reply(
            self._words(text),
            asked.offered,
            named or others,
            world,
            self.language,
            self._plain_words(asked.said),
        )
        if reply.meaning == "cancel":
            self._open = None
            return self._declined(text, "cancelled", "The user cancelled the request.")
        if reply.meaning == "none":
            self._open = None
            return self._declined(text, "again", "The user rejected all options.")
        if reply.meaning == "narrow":
            why = f"The reply fits {len(reply.options)} options."
            return self._asked(asked.said, found, reply.options[:MOST_OFFERED], why)
        if reply.meaning == "new":
            return None
        if all(fit.changes_nothing(e) and fit.is_fulfilled(e.plan) for e in reply.options):
            return self._declined(text, "already", "The command is fulfilled already.")
        return self._choose(asked, reply.options, text)

    def _choose(self, asked: _Open, options: tuple[Option, ...], text: str) -> Turn:
        plan, said = self._joined(options), asked.said
        if plan is None:
            return self._declined(text, "no plan", "The plans cannot be carried out in a row.")
        plan = replace(plan, confidence=1.0, understood=True)
        # A value completes the first text; the name of a plan explains that text.
        if options[0] not in asked.offered or asked.turn.by_value or len(options) > 1:
            named = [asked.called(each) or text for each in options]
            said = f"{said}, {listed(self.language, named, 'and')}"
        name = f"told {len(self.turns) + 1}: {said}"
        return self._acted(text, plan, 1.0, "The user chose this option.", (said, name))

    def _without_question(self, text: str) -> Turn | None:
        """Decline a reply if no question is open; None if the text is not a reply."""
        language, words = self.language, self._plain_words(text)
        counts = self.follower._fitted().fitted.encoder.reader.counts
        plain = {*language.stop_words, *language.function_words}
        new = [word for word in words if word not in counts and word not in plain]
        replies = {word for texts in language.replies.values() for t in texts for word in t.split()}
        said = [
            word for word in words
            if word in replies or language.ordinal(word) or language.numeral(word)
        ]  # fmt: skip
        bare = all(word in said or word in plain for word in words)
        bare &= not any(word in counts for word in words if word not in plain)
        # “No, the red one” rejects something, although the rest may read as a command.
        denies = words[0] in new and words[0] in {
            word for name in ("no", "not", "none") for word in language.replies.get(name, ())
        }
        if not said or not (bare or denies):
            return None
        return self._declined(text, "no question", "This is a reply, but no question is open.")

    # ---- words ----------------------------------------------------------------------------

    def _describe(self, plan: Plan) -> str:
        """Describe a plan in words that the follower understands, or by its action names."""
        if plan.parts:
            return listed(self.language, [self._describe(part) for part in plan.parts], "and")
        speaker = self.follower._get_speaker()
        if speaker is not None:
            said = speaker.describe(plan, self.environment)
            if at_least(said.probability, SURE) and self._may_say(said.text, plan):
                return said.text
        return _named(self.environment, plan)

    def _spoken(self, kind: str) -> float:
        """Return the share of a label's known values that occur in training texts."""
        encoder = self.follower._fitted().fitted.encoder
        language, counts = self.language, encoder.reader.counts
        stems = {language.singular(word) for word in counts}
        values = sorted(encoder.values.get(kind, ()))[:50]
        said = [
            all(word in counts or language.singular(word) in stems for word in name.split())
            for name in map(language.fold, values)
        ]
        return math.fsum(said) / len(said) if said else 0.0


def _spoken_answer(found: Answer, language: Language) -> str:
    """Return an answer as a sentence, or "" if there is none."""
    if found.value is None:
        return ""
    if isinstance(found.value, bool):
        return phrase(language, "yes" if found.value else "no")
    if isinstance(found.value, frozenset):
        if not found.names:
            return phrase(language, "nothing")
        said = listed(language, sorted(found.names), "and")
    else:
        said = f"{found.value:g}" if isinstance(found.value, float) else str(found.value)
    return f"{said[:1].upper()}{said[1:]}."


def _named(environment: Any, plan: Plan) -> str:
    """Return the action names of a plan, separated by commas."""
    name = getattr(environment, "name_action", None)
    found = []
    for action in plan.actions:
        if name is not None:
            found.append(str(name(action)))
        elif isinstance(action, tuple):
            found.append(" ".join(filter(None, map(_written, action))))
        else:
            found.append(str(action))
    return ", ".join(found)


def _written(part: Any) -> str:
    """Return a field of an action as text.

    The members of a set are listed, and whole numbers have no `.0`.
    """
    if isinstance(part, frozenset):
        return ", ".join(sorted(map(_written, part)))
    return f"{part:g}" if isinstance(part, float) else str(part)
