"""The task of homes: its rows, its judgements, and the rule matcher beside it."""

import os
from pathlib import Path

import pytest

from groundling.errors import SettingError
from groundling.home import HomeWorld, Situation, Target
from groundling.home import task as home_task
from groundling.home.agent import HomeReply
from groundling.home.corpus import HomeExample, read_corpus, split
from groundling.home.environment import Command
from groundling.home.home_trainer import SEED, Training
from groundling.home.locales import home_language
from groundling.home.model import load_model
from groundling.home.task import HomeTask, is_exact, misspell
from groundling.tasks.studies import STUDIES, study_folds
from tests.home.homes import HOME

FOLDER = os.environ.get("GROUNDLING_CORPORA")
needs_corpus = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "home").is_dir(), reason="needs corpora/home"
)
WORLD = HomeWorld(HOME, home_language("en"))
ON = Command("turn on", Target(("light.desk",), "name"))


def test_task_has_the_rows_of_all_languages():
    rows = HomeTask.presets.variants_of("auto")
    tests = ("held out", "new homes", "one typo", "questions", "ambiguous")
    others = ("de", "fr", "es", "nl", "pl", "it", "ar", "ko")
    assert {f"en, {each}" for each in tests} | {f"{code}, held out" for code in others} <= set(rows)


def test_task_misspells_one_long_word():
    example = HomeExample("turn on the desk lamp", WORLD, Situation(), ON)
    made = {misspell(example, seed).text for seed in range(20)}
    assert len(made) > 5
    assert example.text not in made
    assert all(abs(len(each) - len(example.text)) <= 1 for each in made)
    assert misspell(HomeExample("on it", WORLD, Situation(), ON), 1).text == "on it"
    play = Command("play", ON.target, "Hollywood", (1, 2))
    typo = misspell(HomeExample("put Hollywood on", WORLD, Situation(), play), 3)
    assert typo.command.value == typo.text.split()[1] != "Hollywood"


def test_task_judges_what_was_done_asked_and_answered():
    which = ON._replace(target=ON.target._replace(choice=True))
    asked = Command("whether", ON.target, "on", "state")
    assert is_exact(HomeReply("act", "", commands=(ON,)), ON)
    assert not is_exact(HomeReply("act", "", commands=(ON._replace(verb="turn off"),)), ON)
    assert is_exact(HomeReply("ask", ""), which)
    assert not is_exact(HomeReply("act", "", commands=(which,)), which)
    assert is_exact(HomeReply("answer", "", commands=(asked,)), asked)
    assert not is_exact(HomeReply("act", "", commands=(ON,)), asked)
    assert is_exact(HomeReply("decline", ""), Command("decline"))


def test_task_has_no_sample():
    with pytest.raises(SettingError, match="no generated sample"):
        HomeTask().load(None)


@needs_corpus
def test_task_compares_with_the_rule_matcher_on_the_same_sentences(monkeypatch):
    pytest.importorskip("home_assistant_intents", reason="needs groundling[home]")
    whole = read_corpus(Path(FOLDER))

    def few(*given):
        return Training(whole, (), split(whole.examples, seed=SEED)[1][:12])

    monkeypatch.setattr(home_task, "fit", lambda examples, language: load_model("en"))
    monkeypatch.setattr(home_task.Training, "of", few)
    task = HomeTask()
    corpus = task.load(Path(FOLDER))
    names = ("en, held out", "en, questions", "en, one typo", "en, held out, hassil")
    chosen = {each: task.presets.select("auto", each) for each in names}
    found = task.evaluate(corpus, chosen, task.folds(corpus, "auto", "en, held out", False)[0])
    rows = [task.make_row("auto", each, [found[each]]) for each in names if found[each]["scores"]]
    keys = {"exact", "asked", "changed_nothing", "milliseconds"}
    assert all(keys <= set(row.metrics) for row in rows)
    assert rows[0].metrics["exact"] > 0.5


@needs_corpus
def test_task_trains_once_for_a_study_of_dialogue(monkeypatch):
    trained = []

    def fit(examples, language):
        trained.append(language)
        return load_model(language)

    corpus = read_corpus(FOLDER, "en")
    few = Training(corpus, (), tuple(corpus.examples[:30]))
    monkeypatch.setattr(home_task, "fit", fit)
    monkeypatch.setattr(home_task, "_STUDY_HOMES", 2)
    monkeypatch.setattr(home_task, "_STUDY_SENTENCES", 120)
    monkeypatch.setattr(home_task.Corpora, "training", lambda self, language: few)
    task = HomeTask()
    source = task.load(Path(FOLDER))
    chosen = task.presets.select("auto", "full")
    [fold] = study_folds(task, source, "auto", "full", quick=False)
    found = STUDIES["dialogue"].measure(task, source, chosen, fold)
    assert trained == ["en"]
    assert {"80 %", "90 %", "80 %, own home", "90 %, own home", "not calibrated"} <= set(found)
    assert found["90 %"]["coverage"] >= 0.9
    assert found["90 %"]["count"] >= 120
