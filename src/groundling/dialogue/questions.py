"""Question answering: a question describes things, from which the answer follows.

A question is split into units: single words, and names with the words before them. A thing is
described by the question if it matches every unit. A word matches a thing through the labels of the
thing. The name of another thing matches through the relations between the two things, which are
expressed by the words before the name.

The probability that a thing is described is the product of its matches over all units (a noisy
*and*); *not* negates the units after it. The answer is the set of described things, its size,
whether it is non-empty, or the value of a label. The model is trained on questions with answers.
Words that spell a label match the label without training.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, log_softmax

from groundling.checks.diagnosis import Diagnosis
from groundling.checks.mistakes import Mistake
from groundling.dialogue.phrases import with_phrases
from groundling.errors import DemonstrationError, ModelFileError, WorldError
from groundling.features.labels import kind_of
from groundling.features.spans import PART, SpanIndex
from groundling.language.languages import Language
from groundling.language.sentences import is_punctuation, split_words
from groundling.learning.optimise import minimise
from groundling.world.environment import Demonstration, class_name
from groundling.world.graph import Labels, labels_of

Reals = NDArray[np.float64]
Things = Mapping[Hashable, Labels]

COMMAND, EXISTS, COUNT, SET, VALUE = "command", "exists", "count", "set", "value of "
_L2 = 1.0
_ITERATIONS = 200
_LEAST = 1e-9  # minimum difference of probabilities from 0 and 1
_LARGE = 0.5  # numeric values of at least this size count as labels
_PRIOR = {
    "bias": 4.0,
    "spelt": 3.0,
    "spelt elsewhere": -6.0,
    "relation spelt": 3.0,
    "relation spelt elsewhere": -3.0,
}
_OPENING = 4.0  # initial score of an answer type that the first words of a question ask for
_ASKED_LABEL = 2.0  # initial weight of a word that spells a label, for questions about its value
_FAINT = 0.1  # probability below which a thing is never the answer
_EMPTY = 0.2  # share of empty answers below which a question is assumed to have an answer
_WORD = re.compile(r"[^\W\d_]+|\d+")


def things_in(environment: Any, state: Hashable) -> Things:
    """Return the things in a state with their labels, as listed by the environment."""
    if not callable(getattr(environment, "things", None)):
        raise WorldError(
            f"{class_name(environment)} must have a method `things(state)` to answer questions. "
            "Add one that returns a mapping from things to labels."
        )
    found = environment.things(state)
    if not isinstance(found, Mapping):
        raise WorldError(
            f"{class_name(environment)}.things must return a mapping from things to labels; got "
            f"{type(found).__name__}."
        )
    return found


def split_questions(
    demonstrations: Iterable[Demonstration],
) -> tuple[list[Demonstration], list[Demonstration]]:
    """Split demonstrations into commands, which have no answer, and questions."""
    commands: list[Demonstration] = []
    questions: list[Demonstration] = []
    for each in demonstrations:
        (commands if each.answer is None else questions).append(each)
    return commands, questions


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Parameters
    ----------
    value
        A frozenset of things, a string, a number, or True or False.
    things
        The things that the question describes.
    confidence
        The probability that exactly these things are described.
    names
        The names of the described things.
    reasons
        How well each unit of the text matches each described thing.
    unexplained
        Words that occur neither in training questions nor in labels or names of this state.
    """

    value: Any
    things: tuple[Hashable, ...]
    confidence: float
    names: tuple[str, ...] = ()
    reasons: tuple[tuple[str, float], ...] = ()
    unexplained: tuple[str, ...] = ()


class _Evidence(NamedTuple):
    """A label or a relation of a thing: its feature name, its kind and its words."""

    name: str
    kind: str
    words: frozenset[str]
    whole: str


class _World:
    """The names, labels and relations of the things in a state."""

    def __init__(
        self, things: Things, language: Language, known: Mapping[str, bool] | None = None
    ) -> None:
        self.language = language
        read = {thing: labels_of(labels, f"thing {thing}") for thing, labels in things.items()}
        self.things = list(read)
        self.names = {
            thing: next((str(e.value) for e in labels if e.name == "name" and e.value), str(thing))
            for thing, labels in read.items()
        }
        called = {name: thing for thing, name in self.names.items()}
        called |= {str(thing): thing for thing in read}
        self.values: dict[Hashable, dict[str, set[str | float]]] = {}
        self.labels: dict[Hashable, list[_Evidence]] = {}
        self.relations: dict[tuple[Hashable, Hashable], list[_Evidence]] = {}
        for thing, labels in read.items():
            self.labels[thing], self.values[thing] = [], {}
            for label in labels:
                value = label.value
                if isinstance(value, str) and value in called and called[value] != thing:
                    evidence = self._evidence(label.name, label.name, label.name)
                    self.relations.setdefault((thing, called[value]), []).append(evidence)
                elif isinstance(value, str):
                    name = f"{label.name}={value}"
                    self.labels[thing].append(self._evidence(name, kind_of(label), value))
                elif value is None or abs(value) >= _LARGE:
                    self.labels[thing].append(self._evidence(label.name, label.name, label.name))
                if value is not None:
                    self.values[thing].setdefault(label.name, set()).add(value)
        self.spans = SpanIndex({"": set(self.names.values())}, language)
        self.called = {name: thing for thing, name in self.names.items()}
        self.spelling = _spelling((e for f in self.labels.values() for e in f), known)
        self.relation_words = _spelling(e for f in self.relations.values() for e in f).keys()

    def _evidence(self, name: str, kind: str, text: str) -> _Evidence:
        fold, singular = self.language.fold, self.language.singular
        words = [singular(fold(word)) for word in _WORD.findall(text)]
        return _Evidence(name, kind, frozenset(words), "".join(words))


def _spelling(
    evidence: Iterable[_Evidence], known: Mapping[str, bool] | None = None
) -> dict[str, bool]:
    """Return, for each word of labels and relations, whether it spells a whole label."""
    found = dict(known or {})
    for each in evidence:
        for word in each.words:
            found.setdefault(word, False)
        found[each.whole] = True
    return found


class DescriptionUnit(NamedTuple):
    """A unit of a question: a word, or the name of a thing and the words before it."""

    text: str
    thing: Hashable | None = None
    context: tuple[str, ...] = ()
    negated: bool = False
    first: bool = False


def _first_word(words: Sequence[str], named: Iterable[int]) -> str:
    return "‹name›" if 0 in named else next(iter(words), "")


def _units(text: str, world: _World) -> tuple[list[DescriptionUnit], str]:
    """Return the units of a text, and its first word.

    The first word is a hint at the type of the answer.
    """
    language = world.language
    words = [language.fold(word) for word in split_words(text, language)]
    spans = [each for each in world.spans.find(words, words) if each.way != PART]
    starts = {each.places[0]: each for each in spans}
    inside = {place for each in spans for place in each.places}
    negations = with_phrases(language, {}).replies.get("not", ())
    plain = {*language.stop_words, *language.function_words}
    units: list[DescriptionUnit] = []
    context: list[str] = []
    negated, names = False, 0
    for place, word in enumerate(words):
        if place in starts:
            thing, said = world.called[starts[place].value], _joined(context, world.relation_words)
            units.append(
                DescriptionUnit(starts[place].value, thing, tuple(said), negated, not names)
            )
            context, names = [], names + 1
        elif place not in inside and not is_punctuation(word):
            if word in negations:
                negated = True
                continue
            if word not in plain or world.spelling.get(word):
                units.append(DescriptionUnit(word, negated=negated))
            context.append(word)
    if context and names:  # words after the last name belong to it: what state is Miami in
        last = max(place for place, each in enumerate(units) if each.thing is not None)
        after = tuple(f"{word} after" for word in _joined(context, world.relation_words))
        units[last] = units[last]._replace(context=units[last].context + after)
    return units, _first_word(words, inside)


def _joined(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Join adjacent words that together spell a known word (*south west*)."""
    found: list[str] = []
    for word in words:
        if found and found[-1] + word in known:
            found[-1] += word
        else:
            found.append(word)
    return found


def _stems(words: Iterable[str], language: Language) -> set[str]:
    """Return words in the singular, without ` after`, which marks words after a name."""
    return {language.singular(word.removesuffix(" after")) for word in words}


class _Features:
    """An index of features of units and things; a closed index ignores new features."""

    def __init__(self, names: Iterable[str] = (), closed: bool = False) -> None:
        self.index = {name: place for place, name in enumerate(names)}
        self.closed = closed

    def place(self, name: str) -> int | None:
        if name in self.index or self.closed:
            return self.index.get(name)
        self.index[name] = len(self.index)
        return self.index[name]

    def of(
        self, unit: DescriptionUnit, thing: Hashable, world: _World, opening: str
    ) -> Iterable[tuple[int, float]]:
        found = _of_word(unit, thing, world) if unit.thing is None else None
        for name in found if found is not None else _of_name(unit, thing, world, opening):
            place = self.place(name)
            if place is not None:
                yield place, 1.0


def _of_word(unit: DescriptionUnit, thing: Hashable, world: _World) -> Iterable[str]:
    """Yield features of a word and a thing, such as the labels that the word spells."""
    language = world.language
    plain = unit.text in language.function_words
    word = unit.text if plain else language.singular(unit.text)
    yield "bias"
    yield f"word {unit.text}"
    spelt = [
        each
        for each in world.labels[thing]
        if word == each.whole or (not plain and word in each.words)
    ]
    for each in spelt:
        yield f"spelt {each.kind}"
    if spelt:
        yield "spelt"
        yield f"spelt by {word}"
    elif word in world.spelling:
        yield "spelt elsewhere"
        yield f"{word} spelt elsewhere"
    for each in world.labels[thing] if not plain else ():
        yield f"{word} & {each.name}"


def _of_name(unit: DescriptionUnit, thing: Hashable, world: _World, opening: str) -> Iterable[str]:
    """Yield features of a name and a thing, such as the relation between the two."""
    yield "name"
    same = "itself" if unit.thing == thing else "another"
    yield f"{same}, {opening}"
    yield f"{same}, {opening}, {'first' if unit.first else 'later'}"
    for word in unit.context:
        yield f"said {word}"
    if unit.thing == thing:
        return
    said = _stems(unit.context, world.language)
    for way, pair in (("to", (thing, unit.thing)), ("from", (unit.thing, thing))):
        found = world.relations.get(pair, ())
        plain = {*world.language.stop_words, "and"}
        spelt = any(each.whole in said or (each.words - plain) & said for each in found)
        if spelt:
            yield "relation spelt" if way == "to" else "relation spelt backwards"
        elif said & world.relation_words:
            yield f"relation spelt elsewhere{'' if way == 'to' else ' backwards'}"
        for each in found:
            yield f"{way} {each.name}"
            for word in unit.context:
                if word.removesuffix(" after") not in plain:
                    yield f"{way} {each.name} & {word}"
    if (thing, unit.thing) not in world.relations and (unit.thing, thing) not in world.relations:
        yield "unrelated"


class _Encoded(NamedTuple):
    """Pairs of units and things as rows of features.

    `owner` contains the index of the thing of each row.
    """

    rows: sparse.csr_array
    owner: NDArray[np.int64]
    signs: Reals
    bounds: NDArray[np.int64]  # index of the first thing of each question

    def log_fits(self, theta: Reals) -> tuple[Reals, Reals]:
        """Return the scores of the rows, and log p(described) for each thing."""
        scores = np.asarray(self.rows @ theta) * self.signs
        logs = -np.logaddexp(0.0, -scores)
        fits = np.bincount(self.owner, logs, minlength=int(self.bounds[-1]))
        return scores, np.asarray(fits, dtype=float)


def _encode(
    texts: Sequence[tuple[str, _World]], features: _Features
) -> tuple[_Encoded, list[list[DescriptionUnit]]]:
    places: list[int] = []
    values: list[float] = []
    ends, owner, signs, bounds = [0], [], [], [0]
    told = []
    thing_number = 0
    for text, world in texts:
        units, opening = _units(text, world)
        told.append(units)
        for thing in world.things:
            for unit in units:
                for place, value in features.of(unit, thing, world, opening):
                    places.append(place)
                    values.append(value)
                ends.append(len(places))
                owner.append(thing_number)
                signs.append(-1.0 if unit.negated else 1.0)
            thing_number += 1
        bounds.append(thing_number)
    shape = (len(owner), len(features.index))
    rows = sparse.csr_array((np.array(values), np.array(places, dtype=np.int64), ends), shape=shape)
    return (
        _Encoded(rows, np.array(owner, dtype=np.int64), np.array(signs), np.array(bounds)),
        told,
    )


@dataclass
class Answerer:
    """Model that answers questions about the things of a state.

    The environment must have a method `things(state)` that returns the labels of each thing. A
    string value that names another thing is a relation to that thing.

    Examples
    --------
    >>> from groundling.language import ENGLISH
    >>> class Map:
    ...     def __init__(self, **things): self.places = things
    ...     def things(self, state): return self.places
    >>> old = Map(Rome={"city": True, "north": "Bari"}, Bari={"city": True}, Etna={"hill": True})
    >>> shown = [Demonstration(text, old, 0, answer=answer) for text, answer in (
    ...     ("which cities are there?", {"Rome", "Bari"}), ("what is north of Bari?", {"Rome"}),
    ...     ("how many cities are there?", 2), ("is there a hill?", True),
    ...     ("is there a city north of Etna?", False))]
    >>> answerer = Answerer.learn(shown, ENGLISH)
    >>> new = Map(Oslo={"city": True, "north": ("Graz", "Bled")}, Graz={"city": True},
    ...           Bled={"lake": True, "north": "Graz"})
    >>> sorted(answerer.answer("what is north of Graz?", new, 0).value)
    ['Bled', 'Oslo']
    >>> answerer.answer("how many cities are there?", new, 0).value
    2
    >>> answerer.answer("is there a lake?", new, 0).value
    True
    """

    language: Language
    features: dict[str, float] = field(default_factory=dict)
    asking: dict[str, dict[str, float]] = field(default_factory=dict)
    empty: dict[str, tuple[int, int]] = field(default_factory=dict)
    known: dict[str, bool] = field(default_factory=dict)
    """`features`: weights of units. `asking`: weights of words for each answer type. `empty`: the
    numbers of questions and of empty answers, by first word. `known`: words of labels, and whether
    each spells a whole label."""

    @classmethod
    def learn(
        cls,
        questions: Sequence[Demonstration],
        language: Language,
        *,
        commands: Iterable[Any] = (),
        l2: float = _L2,
    ) -> Answerer:
        """Train on questions with answers; `commands` are texts that are not questions."""
        if not questions:
            raise DemonstrationError(
                "`questions` must contain at least one question; got none. Add demonstrations with "
                "an answer."
            )
        found = cls(language)
        worlds: dict[tuple[int, Hashable], _World] = {}
        texts = []
        for each in questions:
            key = (id(each.environment), each.start)
            if key not in worlds:
                worlds[key] = _World(things_in(each.environment, each.start), language)
            texts.append((_plain(each.instructions), worlds[key]))
        for world in worlds.values():
            for word, whole in world.spelling.items():
                found.known[word] = found.known.get(word, False) or whole
        for world in worlds.values():
            world.spelling = found.known
        wanted = [
            _Wanted.of(each, world) for each, (_, world) in zip(questions, texts, strict=True)
        ]
        features = _Features()
        encoded, _ = _encode(texts, features)
        features.closed = True
        prior = np.array([_prior(name) for name in features.index])
        weights = np.array([each.weight for each in questions])

        def loss(change: Reals) -> tuple[float, Reals]:
            scores, logs = encoded.log_fits(prior + change)
            total, slopes = 0.0, np.zeros(len(logs))
            for number, want in enumerate(wanted):
                stretch = slice(encoded.bounds[number], encoded.bounds[number + 1])
                value, slope = want.loss(logs[stretch])
                total += float(weights[number]) * value
                slopes[stretch] = weights[number] * slope
            back = slopes[encoded.owner] * expit(-scores) * encoded.signs
            return total, np.asarray(encoded.rows.T @ back)

        _, change, _ = minimise(loss, np.zeros(len(prior)), l2=l2, iterations=_ITERATIONS)
        found.features = dict(zip(features.index, (prior + change).tolist(), strict=True))
        found._learn_asking(texts, wanted, [_plain(each) for each in commands])
        for (text, world), want in zip(texts, wanted, strict=True):
            if isinstance(want.answer, frozenset):
                opening = _units(text, world)[1]
                count, empty = found.empty.get(opening, (0, 0))
                found.empty[opening] = (count + 1, empty + (not want.answer))
        return found

    # ---- answer types -----------------------------------------------------------------------

    def _asking_words(self, text: str) -> list[str]:
        """Return features that predict the answer type: words, bigrams and first words."""
        words = [self.language.fold(word) for word in split_words(text, self.language)]
        pairs = [f"{a} {b}" for a, b in pairwise(words)]
        return [*dict.fromkeys((*words, *pairs, *(f"^ {word}" for word in words[:2]), "bias"))]

    def _learn_asking(
        self,
        texts: Sequence[tuple[str, _World]],
        wanted: Sequence[_Wanted],
        commands: Sequence[str],
    ) -> None:
        """Train the classifier of answer types, a logistic regression."""
        cases = [(text, want.asked) for (text, _), want in zip(texts, wanted, strict=True)]
        cases += [(text, COMMAND) for text in commands]
        kinds = sorted({kind for _, kind in cases})
        words = {
            w: n for n, w in enumerate(sorted({w for t, _ in cases for w in self._asking_words(t)}))
        }
        owner = np.array([kinds.index(kind) for _, kind in cases])
        table = sparse.lil_array((len(cases), len(words)))
        for row, (text, _) in enumerate(cases):
            for word in self._asking_words(text):
                table[row, words[word]] = 1.0
        rows = table.tocsr()
        offsets = np.array([[self._spelt_label(text, kind) for kind in kinds] for text, _ in cases])
        shape = (len(words), len(kinds))

        def loss(flat: Reals) -> tuple[float, Reals]:
            logs = log_softmax(rows @ flat.reshape(shape) + offsets, axis=1)
            errors = np.exp(logs)
            errors[np.arange(len(owner)), owner] -= 1.0
            value = -float(logs[np.arange(len(owner)), owner].sum())
            return value, np.asarray(rows.T @ errors).ravel()

        _, flat, _ = minimise(loss, np.zeros(len(words) * len(kinds)), l2=0.3)
        theta = flat.reshape(shape)
        self.asking = {
            kind: {word: float(theta[place, n]) for word, place in words.items()}
            for n, kind in enumerate(kinds)
        }

    def _spelt_label(self, text: str, kind: str) -> float:
        """Return the initial score of an answer type; 0 unless the text spells its label."""
        if not kind.startswith(VALUE):
            return 0.0
        said = _stems(map(self.language.fold, split_words(text, self.language)), self.language)
        label = self.language.fold(kind.removeprefix(VALUE)).replace(" ", "")
        return _ASKED_LABEL * (self.language.singular(label) in said)

    def _opened(self, text: str) -> dict[str, tuple[str, ...]]:
        """Return the answer types that a text's first words indicate, with these words."""
        words = [self.language.fold(word) for word in split_words(text, self.language)]
        found = {}
        for kind in (EXISTS, COUNT, SET, VALUE.split()[0]):
            for said in self.language.phrases.get(f"asks {kind}", "").split("|"):
                first = tuple(said.split())
                if first and tuple(words[: len(first)]) == first:
                    found[kind] = first
        return found

    def can_answer(self, text: str) -> bool:
        """Return whether a question asks for a type of answer that can be given.

        A question cannot be answered if its first words ask for a type of answer that was not
        demonstrated. A yes-or-no question with an unknown universal word (*is everything open?*)
        cannot be answered either.
        """
        opened = self._opened(text)
        words = {self.language.fold(word) for word in split_words(text, self.language)}
        known = {*self.asking.get(EXISTS, ())}
        if EXISTS in opened and words & {*self.language.universals} - known:
            return False
        return not opened or any(self._type(kind) in opened for kind in self.asked(text))

    @staticmethod
    def _type(kind: str) -> str:
        return VALUE.split()[0] if kind.startswith(VALUE) else kind

    def asked(self, text: str, world: _World | None = None) -> dict[str, float]:
        """Return the probability of each answer type; `command` means no question."""
        kinds = dict.fromkeys(self.asking)
        labels = {} if world is None else {n for each in world.values.values() for n in each}
        kinds |= dict.fromkeys(
            f"{VALUE}{name}" for name in labels if self._spelt_label(text, f"{VALUE}{name}")
        )
        words = self._asking_words(text)
        # A label that no training question asks for uses the best weights of other labels.
        known = [kind for kind in self.asking if kind.startswith(VALUE)]
        opened = {*self._opened(text)}
        # *Which* may also ask for a value; demonstrations with it decide.
        if SET in opened and any(f"^ {words[0]}" in each for each in self.asking.values()):
            opened.add(VALUE.split()[0])
        scores = []
        for kind in kinds:
            table = [self.asking[kind]] if kind in self.asking else [self.asking[k] for k in known]
            means = [math.fsum(each.get(w, 0.0) for w in words) for each in table]
            prior = self._spelt_label(text, kind) + _OPENING * (self._type(kind) in opened)
            least = 0.0 if self._type(kind) in opened else -math.inf
            scores.append(max(means, default=least) + prior)
        chances = np.exp(log_softmax(np.array(scores)))
        return dict(zip(kinds, chances.tolist(), strict=True))

    def is_right(self, question: Demonstration) -> bool:
        """Return whether a question gets the demonstrated answer."""
        found = self.answer(_plain(question.instructions), question.environment, question.start)
        wanted = question.answer
        # In Python, True == 1, but True is not a count.
        same = isinstance(found.value, bool) == isinstance(wanted, bool)
        return bool(same and found.value == wanted)

    def is_question(self, text: str) -> bool:
        """Return whether a text is a question rather than a command.

        A text is a question if the probability that it is a command is at most 0.5, or if it ends
        with a question mark and its first word is typical of training questions. Without commands
        in training, every text is a question.
        """
        return self.asked(text).get(COMMAND, 0.0) <= 0.5 or self.begins_question(text)

    def begins_question(self, text: str) -> bool:
        """Return whether a text has a question mark and a first word typical of questions."""
        first = self.language.fold(next(iter(split_words(text, self.language)), ""))
        weight = self.asking.get(COMMAND, {}).get(f"^ {first}", 0.0)
        return weight < 0 and text.rstrip().endswith("?")

    # ---- answering --------------------------------------------------------------------------

    def described(self, text: str, environment: Any, state: Hashable) -> dict[Hashable, float]:
        """Return the probability that a text describes each thing in a state."""
        world = _World(things_in(environment, state), self.language, self.known)
        return dict(zip(world.things, self._chances(text, world)[0].tolist(), strict=True))

    def _chances(
        self, text: str, world: _World
    ) -> tuple[Reals, _Encoded, list[DescriptionUnit], Reals]:
        encoded, [units] = _encode([(text, world)], _Features(self.features, closed=True))
        theta = np.array(list(self.features.values()))
        scores, logs = encoded.log_fits(theta)
        return np.exp(logs), encoded, units, scores

    def answer(self, text: str, environment: Any, state: Hashable) -> Answer:
        """Answer a question about a state; the state does not change."""
        world = _World(things_in(environment, state), self.language, self.known)
        chances, _, units, scores = self._chances(text, world)
        asked = {k: p for k, p in self.asked(text, world).items() if k != COMMAND}
        kind = max(asked, key=lambda each: asked[each])
        chosen = [place for place, chance in enumerate(chances) if chance > 0.5]
        if not chosen and self._has_answer(kind, _units(text, world)[1]):
            best = int(np.argmax(chances)) if len(chances) else 0
            chosen = [best] if len(chances) and chances[best] > _FAINT else []
        things = tuple(world.things[place] for place in chosen)
        sure = math.exp(
            math.fsum(
                math.log(max(chance if place in chosen else 1 - chance, _LEAST))
                for place, chance in enumerate(chances.tolist())
            )
        )
        value = self._read(kind, things, world, chances)
        total = math.fsum(asked.values())
        share = asked[kind] / total if total else 0.0  # the total is 0 for a certain command
        count = len(units)
        reasons = tuple(
            (f"{world.names[world.things[place]]}: {unit.text}", float(expit(scores[row])))
            for place in chosen[:5]
            for row, unit in zip(range(place * count, (place + 1) * count), units, strict=True)
        )
        names = tuple(world.names[thing] for thing in things)
        opening = {word for words in self._opened(text).values() for word in words}
        if opening and opening.issuperset(unit.text for unit in units):
            value = None  # nothing is described
        unknown = tuple(
            unit.text
            for unit in units
            if unit.text not in opening and self._is_unknown(unit, world)
        )
        return Answer(value, things, sure * share, names, reasons, unknown)

    def _is_unknown(self, unit: DescriptionUnit, world: _World) -> bool:
        """Return whether a word occurs neither in training questions nor in the state."""
        singular = self.language.singular(unit.text)
        names = {name for values in world.values.values() for name in values}
        here = {*world.spelling, *world.relation_words, *names}
        return (
            unit.thing is None
            and f"word {unit.text}" not in self.features
            and not {unit.text, singular} & here
            and self.language.numeral(unit.text) is None
        )

    def _has_answer(self, kind: str, opening: str) -> bool:
        """Return whether questions of this type rarely have an empty answer.

        `opening` is the first word of the question.
        """
        if kind.startswith(VALUE):
            return True
        counts = [self.empty[opening]] if opening in self.empty else list(self.empty.values())
        count, empty = (sum(each) for each in zip(*counts, strict=True)) if counts else (0, 0)
        return kind == SET and empty < _EMPTY * count

    @staticmethod
    def _read(kind: str, things: Sequence[Hashable], world: _World, chances: Reals) -> Any:
        """Return an answer of the given type; None if no value of the label is likely."""
        if kind == EXISTS:  # as it was learnt: at least one thing is described
            return float(np.prod(1.0 - chances)) < 0.5
        if kind == COUNT:
            return len(things)
        if kind == SET:
            return frozenset(things)
        name, values = kind.removeprefix(VALUE), Counter[Any]()
        for thing, chance in zip(world.things, chances.tolist(), strict=True):
            for value in world.values[thing].get(name, ()):
                values[value] += chance
        best = min(values, key=lambda v: (-values[v], str(v)), default=None)
        return best if values[best] >= 0.5 * float(chances.sum()) else None

    # ---- files --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the trained model as JSON-ready data."""
        return {
            "features": self.features,
            "asking": self.asking,
            "empty": {word: list(pair) for word, pair in self.empty.items()},
            "known": self.known,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], language: Language) -> Answerer:
        """Restore an answerer from the output of `to_dict`."""
        try:
            if not data["asking"]:
                raise ValueError(
                    "`asking` must have word weights for at least one answer type, such as count; "
                    "got none."
                )
            return cls(
                language,
                {str(name): float(weight) for name, weight in data["features"].items()},
                {
                    str(kind): {str(word): float(w) for word, w in words.items()}
                    for kind, words in data["asking"].items()
                },
                {str(word): (int(a), int(b)) for word, (a, b) in data["empty"].items()},
                {str(word): bool(whole) for word, whole in data["known"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(
                f"The question model must map names to weights; reading it raised {error!r}. "
                "Train and save the model again."
            ) from error


def _plain(text: Any) -> str:
    return text if isinstance(text, str) else " ".join(map(str, text))


def _prior(name: str) -> float:
    return _PRIOR.get(name, 0.0)


# ---- demonstrated answers -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """A demonstrated answer, with its answer type and a loss function."""

    answer: Any
    asked: str
    loss: Callable[[Reals], tuple[float, Reals]]

    @classmethod
    def of(cls, shown: Demonstration, world: _World) -> _Wanted:
        answer = shown.answer
        if isinstance(answer, bool):
            return cls(answer, EXISTS, _any_loss(answer))
        if isinstance(answer, frozenset):
            unknown = [each for each in answer if each not in world.labels]
            if unknown:
                raise DemonstrationError(
                    f"The answer of {shown} must be things in its state; got {unknown[0]!r}. "
                    "Use things that things(state) lists."
                )
            return cls(answer, SET, _set_loss([thing in answer for thing in world.things]))
        having = _labels_with(answer, world, _plain(shown.instructions))
        if having:
            name, holders = having
            return cls(answer, f"{VALUE}{name}", _value_loss(holders))
        if isinstance(answer, (int, float)) and 0 <= answer <= len(world.things):
            return cls(answer, COUNT, _count_loss(int(answer)))
        raise DemonstrationError(
            f"The answer of {shown} must be a set of things, True or False, a count, or the "
            f"value of a thing's label; got {answer!r}."
        )


def _labels_with(answer: Any, world: _World, text: str) -> tuple[str, list[bool]] | None:
    """Return a label with a given value, and whether each thing has this value.

    Returns None if no label has the value.

    Of several labels, the label of the thing that shares most words with the question is returned.
    """
    if isinstance(answer, (int, float)):
        if float(answer) == int(answer) and answer <= len(world.things):
            return None
        answer = float(answer)
    words = _stems(map(world.language.fold, split_words(text, world.language)), world.language)
    said: dict[str, int] = {}
    names: Counter[str] = Counter()
    for thing, values in world.values.items():
        spelt = {word for each in world.labels[thing] for word in each.words}
        for name in (name for name, found in values.items() if answer in found):
            names[name] += 1
            said[name] = max(said.get(name, 0), len(spelt & words))
    if not names:
        return None
    name = min(names, key=lambda each: (-said[each], names[each], each))
    return name, [answer in world.values[thing].get(name, ()) for thing in world.things]


def _clipped(logs: Reals) -> tuple[Reals, Reals]:
    logs = np.minimum(logs, -_LEAST)
    return logs, np.exp(logs)


def _set_loss(inside: Sequence[bool]) -> Callable[[Reals], tuple[float, Reals]]:
    """Return a loss function for describing exactly the given things.

    Loss functions return the loss and its gradient with respect to log p.
    """
    wanted = np.array(inside, dtype=bool)

    def loss(logs: Reals) -> tuple[float, Reals]:
        logs, chances = _clipped(logs)
        out = np.log(-np.expm1(logs))
        slope = np.where(wanted, -1.0, chances / np.maximum(-np.expm1(logs), _LEAST))
        return -float(np.where(wanted, logs, out).sum()), slope

    return loss


def _any_loss(wanted: bool) -> Callable[[Reals], tuple[float, Reals]]:
    """Return a loss function for describing at least one thing; none if not `wanted`."""

    def loss(logs: Reals) -> tuple[float, Reals]:
        logs, chances = _clipped(logs)
        out = np.log(-np.expm1(logs))
        none = min(float(out.sum()), -_LEAST)
        slope = chances / np.maximum(-np.expm1(logs), _LEAST)  # gradient of −log p(none)
        if not wanted:
            return -none, slope
        some = -math.expm1(none)
        return -math.log(max(some, _LEAST)), -slope * math.exp(none) / max(some, _LEAST)

    return loss


def _count_loss(count: int) -> Callable[[Reals], tuple[float, Reals]]:
    """Return a loss function for describing exactly `count` things.

    The number of described things has a Poisson binomial distribution.
    """

    def loss(logs: Reals) -> tuple[float, Reals]:
        _, chances = _clipped(logs)
        size = len(chances)
        before = [np.array([1.0])]
        for chance in chances:
            before.append(np.convolve(before[-1], [1.0 - chance, chance]))
        after = [np.array([1.0])]
        for chance in chances[::-1]:
            after.append(np.convolve(after[-1], [1.0 - chance, chance]))
        total = max(float(before[-1][count]), _LEAST)
        slope = np.zeros(size)
        for place in range(size):
            others = np.convolve(before[place], after[size - 1 - place])
            with_it = others[count - 1] if count else 0.0
            without = others[count] if count < size else 0.0
            slope[place] = -(with_it - without) * chances[place] / total
        return -math.log(total), slope

    return loss


def _value_loss(holders: Sequence[bool]) -> Callable[[Reals], tuple[float, Reals]]:
    """Return a loss function for describing things that have the value, not others."""
    having = np.array(holders, dtype=bool)

    def loss(logs: Reals) -> tuple[float, Reals]:
        _, chances = _clipped(logs)
        right, every = float(chances[having].sum()), float(chances.sum())
        right, every = max(right, _LEAST), max(every, _LEAST)
        slope = chances / every - np.where(having, chances / right, 0.0)
        # Without this term, describing no thing at all would not be penalised.
        missing = max(1.0 - right, 0.0)
        return -math.log(right / every) + missing, slope - np.where(
            having & (right < 1), chances, 0
        )

    return loss


# ---- mistakes ------------------------------------------------------------------------------------


def diagnose_questions(questions: Sequence[Demonstration], answerer: Answerer | None) -> Diagnosis:
    """Return a diagnosis of demonstrated questions, with wrong answers as mistakes."""
    mistakes = []
    for each in questions:
        if answerer is not None and answerer.is_right(each):
            continue
        found = "missing because no questions were learnt"
        if answerer is not None:
            answer = answerer.answer(_plain(each.instructions), each.environment, each.start)
            found = _shown(answer.value)
        detail = f"The answer is {found}; the demonstrated answer is {_shown(each.answer)}."
        mistakes.append(Mistake(each, "wrong answer", detail, _CURE))
    return Diagnosis((), tuple(mistakes), len(questions) - len(mistakes), len(questions))


_CURE = "Demonstrate more questions with these words, or add labels to `things`."


def _shown(answer: Any) -> str:
    if isinstance(answer, frozenset):
        return ", ".join(sorted(map(str, answer))) or "nothing"
    return str(answer)
