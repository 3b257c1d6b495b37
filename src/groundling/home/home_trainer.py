"""Training of the model of homes: from labelled sentences to a follower."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundling.follower import Follower
from groundling.home.corpus import HomeCorpus, HomeExample, read_corpus, split
from groundling.home.environment import HomeWorld
from groundling.home.knowledge import Knowledge
from groundling.home.model import HomeModel
from groundling.home.paraphrases import expand_paraphrases, join_examples
from groundling.home.templates import expand_templates
from groundling.world.environment import Demonstration

SEED = 1  # of the split into training and held-out sentences
CORPUS, TEMPLATES, PARAPHRASES, JOINED = 1200, 1900, 2900, 200  # examples of each kind, at most
FEWER = 800  # templates of a language without paraphrases
WEIGHTS = 60_000  # that are kept, of 16 bytes each


def training_examples(
    corpora: str | Path | None = None,
    language: str = "en",
    examples: Sequence[HomeExample] | None = None,
    seed: int = 0,
) -> list[HomeExample]:
    """Return what a model is trained on: sentences of the corpus, templates and paraphrases.

    `examples` are those of the corpus to learn from, by default all.
    """
    given = list(read_corpus(corpora, language).examples if examples is None else examples)
    if len(given) > CORPUS:
        given = random.Random(seed).sample(given, CORPUS)
    own = expand_paraphrases(language, count=PARAPHRASES, seed=seed)
    made = expand_templates(corpora, language, count=TEMPLATES if own else FEWER, seed=seed)
    return [*given, *made, *own, *join_examples([*made, *own], JOINED, seed)]


@dataclass(frozen=True)
class Training:
    """The sentences of a language that a model is trained on, and those that are held out."""

    corpus: HomeCorpus
    examples: tuple[HomeExample, ...]
    held_out: tuple[HomeExample, ...]

    @classmethod
    def of(cls, corpora: str | Path | None = None, language: str = "en") -> Training:
        """Hold out a fifth of the groups of paraphrases; no sentence of it is trained on."""
        corpus = read_corpus(corpora, language)
        training, held_out = split(corpus.examples, seed=SEED)
        said = {each.text.lower() for each in held_out}
        made = training_examples(corpora, language, training)
        kept = tuple(each for each in made if each.text.lower() not in said)
        return cls(corpus, kept, tuple(held_out))


def learn_words(examples: Iterable[HomeExample]) -> Knowledge:
    """Return which words there are, and which kinds they go with; words of names are no such."""
    return Knowledge.learn((_plain_words(each), each.kind) for each in examples)


def _plain_words(example: HomeExample) -> list[str]:
    said = example.world.read(example.text).utterance
    named = {place for each in said.mentions if each.kind == "name" for place in each.places}
    return [
        word for word, place in said.masks() if place not in named and word not in example.strange
    ]


def demonstrate(examples: Sequence[HomeExample], knowledge: Knowledge) -> list[Demonstration]:
    """Return the demonstrations of examples, with words that are known."""
    worlds: dict[int, HomeWorld] = {}
    for each in examples:
        if id(each.world) not in worlds:
            worlds[id(each.world)] = HomeWorld(each.world.home, each.world.language, knowledge)
    made = (shown for each in examples for shown in each.demonstrations(worlds[id(each.world)]))
    return [each for each in made if each.actions[0] in each.environment.actions(each.start)]


def fit(examples: Sequence[HomeExample], language: str = "en") -> HomeModel:
    """Return a model that is trained on examples with `Follower()`."""
    knowledge = learn_words(examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        follower = Follower(parser="chain").fit(demonstrate(examples, knowledge), check=False)
    return HomeModel(language, follower.with_search(max_weights=WEIGHTS), knowledge)
