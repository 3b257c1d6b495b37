"""The `home` task: held-out sentences, new homes, typos and questions."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.home.agent import HomeAgent, HomeReply
from groundling.home.corpus import HomeCorpus, HomeExample, read_corpus
from groundling.home.environment import Command
from groundling.home.generated import generated_home
from groundling.home.home_trainer import SEED, Training, demonstrate, fit
from groundling.home.locales import LANGUAGES
from groundling.home.model import HomeModel
from groundling.home.paraphrases import expand_paraphrases
from groundling.home.rule_matcher import RuleMatcher
from groundling.home.templates import expand_templates
from groundling.tasks.benchmark import Case, Fold, Outcome, Source, StudyCases, Task
from groundling.tasks.presets import Preset, Presets

_NEW_HOMES = 20
_NEW_SENTENCES = 300
_AMBIGUOUS = 120
_STUDY_HOMES, _STUDY_SENTENCES = 4, 600
_SHORTEST = 4  # minimum length of a word to misspell
_RULES = "hassil"


@dataclass(frozen=True, kw_only=True)
class HomePreset(Preset):
    """Preset of a row: a language and a set of test sentences."""

    auto: bool = True
    parser: str = "chain"
    language: str = "en"
    test: str = "held out"

    def learns_like(self, other: Preset) -> bool:
        """Return whether two rows have the same language, so that they share a model."""
        return isinstance(other, HomePreset) and self.language == other.language


def _presets() -> Presets[HomePreset]:
    tests = ("held out", "new homes", "one typo", "questions", "ambiguous", f"held out, {_RULES}",
             f"new homes, {_RULES}")  # fmt: skip
    rows = {f"en, {test}": HomePreset(test=test) for test in tests}
    rows |= {f"{code}, held out": HomePreset(language=code) for code in LANGUAGES if code != "en"}
    return Presets("home", {"auto": rows}, "en, held out")


class HomeTask(Task["Corpora", HomePreset]):
    """Task of understanding sentences about homes.

    Sentences with the same meaning are all held out or all used for training.
    """

    name = "home"
    about = (
        "Sentences of Home Assistant Intents in homes: exact is the share of replies that act, ask "
        "or answer exactly as intended; asked, the share of clarification questions; "
        "changed_nothing, the share that changes no state."
    )
    metrics = ("asked", "changed_nothing", "milliseconds", "exact")
    presets = _presets()
    corpus = "home"
    part = "language"
    study_condition = (
        "calibrated on the held-out sentences of the corpus, or on 50 of the same home; tested in "
        f"{_STUDY_HOMES} new homes"
    )

    def load(self, source: Source, size: float | None = None) -> Corpora:
        """Return corpora that are read when first used; there is no generated sample."""
        if not isinstance(source, Path):
            raise SettingError(
                "The `home` task has no generated sample. Set GROUNDLING_CORPORA, or pass "
                "--corpora."
            )
        return Corpora(source)

    def prepare(self, corpus: Corpora, chosen: HomePreset) -> list[Case]:
        """Return the sentences of a language as cases."""
        examples = corpus[chosen.language].examples
        return [Case(shown, each.group) for each in examples for shown in each.demonstrations()]

    def parts(self, corpus: Corpora) -> list[str]:
        """Return the codes of the languages."""
        return list(LANGUAGES)

    def folds(self, corpus: Corpora, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the only fold, which holds out up to a fifth of the sentences."""
        return [Fold(self.presets.select(preset, variant).language, seconds=120.0)]

    def evaluate(
        self, corpus: Corpora, chosen: Mapping[str, HomePreset], fold: Fold
    ) -> dict[str, Outcome]:
        """Train the model of a language; return the outcomes on the test sentences."""
        training = corpus.training(fold.name)
        began = time.process_time()
        model = fit(training.examples, fold.name)
        seconds = time.process_time() - began
        tests = _Tests(training.corpus, training.held_out, corpus.source)
        found = {}
        for variant, each in chosen.items():
            listed = tests.examples(each.test.removesuffix(f", {_RULES}"))
            judge = _by_rules if each.test.endswith(_RULES) else partial(_by_agent, model)
            found[variant] = judge(listed)
            found[variant]["seconds"] = [seconds, *found[variant]["seconds"]]
        return found

    def study_cases(self, corpus: Corpora, chosen: HomePreset, fold: Fold) -> StudyCases:
        """Return a follower, held-out sentences for calibration, and tests in new homes."""
        training = corpus.training(fold.name)
        model = fit(training.examples, fold.name)
        homes = [generated_home(number, "new") for number in range(_STUDY_HOMES)]
        test = []
        for number, home in enumerate(homes):
            made = expand_templates(
                corpus.source, fold.name, homes=[home],
                count=_STUDY_SENTENCES // len(homes), seed=SEED,
            )  # fmt: skip
            test += [Case(each, f"home {number}") for each in demonstrate(made, model.knowledge)]
        inside = [Case(e, "held out") for e in demonstrate(training.held_out, model.knowledge)]
        return StudyCases(model.follower, [(model.follower, inside)], test, part="home")

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return a row: mean scores over all sentences, training time and test time."""
        scores = [score for outcome in outcomes for _, score in outcome["scores"]]
        metrics = {name: fmean(each[name] for each in scores) for name in scores[0]}
        interval = bootstrap([each["exact"] for each in scores], fmean)
        train, follow = outcomes[0]["seconds"]
        metrics["sentences per second"] = len(scores) / follow if follow else 0.0
        return Row(
            variant, metrics, interval, note=f"{len(scores)} sentences",
            seconds={"train": train, "follow": follow},
        )  # fmt: skip

    def condition(self, corpus: Corpora, preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        return "a fifth of the groups of paraphrases held out"


class Corpora(dict[str, HomeCorpus]):
    """Corpora by language, each read on first use."""

    def __init__(self, source: Path) -> None:
        super().__init__()
        self.source = source

    def __missing__(self, language: str) -> HomeCorpus:
        self[language] = read_corpus(self.source, language)
        return self[language]

    def training(self, language: str) -> Training:
        """Return the training and held-out sentences of a language."""
        return Training.of(self.source, language)


class _Tests:
    """Test sentences of a language, by the name of the test."""

    def __init__(self, corpus: HomeCorpus, held_out: Sequence[HomeExample], source: Path) -> None:
        self.language, self.held_out, self.source = corpus.language, held_out, source

    def examples(self, test: str) -> list[HomeExample]:
        if test == "held out":
            return list(self.held_out)
        if test == "questions":
            return [each for each in self.held_out if each.command.is_question]
        if test == "one typo":
            return [misspell(each, n) for n, each in enumerate(self.held_out)]
        homes = [generated_home(number, "new") for number in range(_NEW_HOMES)]
        if test == "new homes":
            return expand_templates(
                self.source, self.language, homes=homes, count=_NEW_SENTENCES, seed=SEED
            )
        made = expand_paraphrases(self.language, homes=homes, count=20 * _AMBIGUOUS, seed=SEED)
        own = [each for each in self.held_out if each.command.target.choice]
        return [*own, *(each for each in made if each.command.target.choice)][:_AMBIGUOUS]


def misspell(example: HomeExample, seed: int) -> HomeExample:
    """Return an example with a typo in one word.

    In a word of four letters or more, a letter is left out or doubled, or two letters are swapped.
    In a free-text value, such as a list item, the typo becomes part of the value.
    """
    dice = random.Random(f"typo {seed} {example.text}")
    words = example.text.split()
    long = [n for n, word in enumerate(words) if len(word) >= _SHORTEST and word.isalpha()]
    if not long:
        return example
    place = dice.choice(long)
    word, at = words[place], dice.randrange(1, len(words[place]) - 1)
    made = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :],
    )
    words[place] = dice.choice(made)
    command = example.command
    if isinstance(command.source, tuple):  # the typo is part of a free text
        value = str(command.value).split()
        value = [words[place] if each == word else each for each in value]
        command = command._replace(value=" ".join(value))
    return replace(example, text=" ".join(words), command=command)


def is_exact(reply: HomeReply, wanted: Command) -> bool:
    """Return whether a reply acts, asks, answers or declines exactly as intended."""
    if wanted.target.choice and not wanted.is_question:
        return reply.kind == "ask"
    if wanted.verb == "decline":
        return reply.kind == "decline"
    kind = "answer" if wanted.is_question else "act"
    return reply.kind == kind and _meaning(reply.commands[0]) == _meaning(wanted)


def _meaning(command: Command) -> tuple[Any, ...]:
    value = command.value.lower() if isinstance(command.value, str) else command.value
    return command.verb, frozenset(command.target.ids), value


def _by_agent(model: HomeModel, examples: Sequence[HomeExample]) -> Outcome:
    agents: dict[int, HomeAgent] = {}
    scores = []
    began = time.process_time()
    for each in examples:
        agent = agents.setdefault(id(each.world), HomeAgent(each.world.home, model))
        agent.forget()
        agent.before = each.situation.before
        reply = agent.reply(each.text, area=each.situation.here)
        scores.append((each.group, {
            "asked": float(reply.kind == "ask"),
            "changed_nothing": float(not reply.changes),
            "milliseconds": reply.milliseconds,
            "exact": float(is_exact(reply, each.command)),
        }))  # fmt: skip
    return {"scores": scores, "seconds": [time.process_time() - began]}


def _by_rules(examples: Sequence[HomeExample]) -> Outcome:
    language = "en"
    matchers: dict[int, RuleMatcher] = {}
    for each in examples:
        if id(each.world) not in matchers:
            matchers[id(each.world)] = RuleMatcher(each.world, language)
    scores = []
    began = time.process_time()
    for each in examples:
        start = time.perf_counter()
        found = matchers[id(each.world)].recognise(each)
        taken = 1000 * (time.perf_counter() - start)
        wanted = replace_choice(each.command)
        right = found is not None and _meaning(replace_choice(found)) == _meaning(wanted)
        scores.append((each.group, {
            "asked": 0.0,
            "changed_nothing": float(found is None or found.is_question),
            "milliseconds": taken,
            "exact": float(right),
        }))  # fmt: skip
    return {"scores": scores, "seconds": [time.process_time() - began]}


def replace_choice(command: Command) -> Command:
    """Turn a choice into a command for all its entities: the rule matcher never asks."""
    return command._replace(target=command.target._replace(choice=False))
