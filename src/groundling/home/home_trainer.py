"""Training of home models on labelled sentences."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from groundling.follower import Follower
from groundling.home.corpus import HomeCorpus, HomeExample, read_corpus, split
from groundling.home.environment import HomeWorld
from groundling.home.knowledge import Knowledge
from groundling.home.model import HomeModel
from groundling.home.paraphrases import delay_examples, expand_paraphrases, join_examples
from groundling.home.templates import expand_templates
from groundling.world.environment import Demonstration

SEED = 1  # for the split into training and held-out sentences
CORPUS, TEMPLATES, PARAPHRASES, JOINED = 1200, 1900, 4800, 600  # maximum examples of each kind
OTHERS = 1200, 3200, 100  # maximum for languages without paraphrases: corpus, templates, joined
WEIGHTS = 35_000  # maximum number of weights to keep, of 16 bytes each


def training_examples(
    corpora: str | Path | None = None,
    language: str = "en",
    examples: Sequence[HomeExample] | None = None,
    seed: int = 0,
) -> list[HomeExample]:
    """Return training examples: sentences of the corpus and of templates.

    `examples` are the corpus examples to use; by default, all.
    """
    given = list(read_corpus(corpora, language).examples if examples is None else examples)
    own = expand_paraphrases(language, count=PARAPHRASES, seed=seed)
    most, count, joined = (CORPUS, TEMPLATES, JOINED) if own else OTHERS
    if len(given) > most:
        given = random.Random(seed).sample(given, most)
    made = expand_templates(corpora, language, count=count, seed=seed)
    several = join_examples([*made, *own], joined, seed)
    return [*given, *made, *own, *several, *delay_examples([*made, *own], joined // 4, seed)]


@dataclass(frozen=True)
class Training:
    """Training and held-out sentences of a language."""

    corpus: HomeCorpus
    examples: tuple[HomeExample, ...]
    held_out: tuple[HomeExample, ...]

    @classmethod
    def of(cls, corpora: str | Path | None = None, language: str = "en") -> Training:
        """Return training and held-out sentences; up to a fifth of the corpus is held out.

        Paraphrases stay together, and training texts that equal a held-out text are removed.
        """
        corpus = read_corpus(corpora, language)
        training, held_out = split(corpus.examples, seed=SEED)
        said = {each.text.lower() for each in held_out}
        made = training_examples(corpora, language, training)
        kept = tuple(each for each in made if each.text.lower() not in said)
        return cls(corpus, kept, tuple(held_out))


def learn_words(examples: Iterable[HomeExample]) -> Knowledge:
    """Return the vocabulary of examples, without words that occur only in names."""
    examples = list(examples)
    said = [(each, _plain_words(each)) for each in examples]
    open_ = [words for each, words in said if isinstance(each.command.source, tuple)]
    frames = (word for words in open_ for word in words)
    learnt = Knowledge.learn(((words, each.kind) for each, words in said), frames)
    return replace(learnt, verbs=frozenset(each.command.verb for each in examples))


def _plain_words(example: HomeExample) -> list[str]:
    """Return the words of a text, without names, free-text values and made-up words."""
    said, command = example.world.read(example.text).utterance, example.command
    is_kind = command.target.by in ("kind", "everything")
    named = {
        place
        for each in said.mentions
        if each.kind == "name" and (each.full or not is_kind)
        for place in each.places
    }
    if isinstance(command.source, tuple):
        named.update(range(*command.source))
    return [
        word for word, place in said.masks() if place not in named and word not in example.strange
    ]


def demonstrate(examples: Sequence[HomeExample], knowledge: Knowledge) -> list[Demonstration]:
    """Convert examples to demonstrations, except examples with impossible commands."""
    worlds: dict[int, HomeWorld] = {}
    for each in examples:
        if id(each.world) not in worlds:
            worlds[id(each.world)] = HomeWorld(each.world.home, each.world.language, knowledge)
    made = (shown for each in examples for shown in each.demonstrations(worlds[id(each.world)]))
    return [each for each in made if each.actions[0] in each.environment.actions(each.start)]


def fit(examples: Sequence[HomeExample], language: str = "en") -> HomeModel:
    """Return a home model trained on examples, with automatic settings."""
    knowledge = learn_words(examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        follower = Follower(parser="chain").fit(demonstrate(examples, knowledge), check=False)
    return HomeModel(language, follower.with_search(max_weights=WEIGHTS), knowledge)
