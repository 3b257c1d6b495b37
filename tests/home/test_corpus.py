"""The corpus of sentences about homes: commands from intents, and the split."""

import os
from pathlib import Path

import pytest

from groundling.errors import CorpusError
from groundling.home import HomeWorld
from groundling.home.corpus import HomeExample, Sentence, label, read_corpus, split
from groundling.home.locales import home_language
from tests.home.homes import HOME

FOLDER = os.environ.get("GROUNDLING_CORPORA")
needs_corpus = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "home").is_dir(), reason="needs corpora/home"
)
WORLD = HomeWorld(HOME, home_language("en"))


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        (Sentence("turn on the desk lamp", "HassTurnOn", {"name": "Desk Lamp"}),
         "turn on light.desk"),
        (Sentence("unlock the front door", "HassTurnOff", {"name": "Front Door"}),
         "unlock lock.door"),
        (Sentence("den lights on", "HassTurnOn", {"area": "Den", "domain": "light"}),
         "turn on light.desk and light.floor"),
        (Sentence("turn on the den light", "HassTurnOn", {"area": "Den", "domain": "light"}),
         "turn on one of light.desk and light.floor"),
        (Sentence("lights on", "HassTurnOn", {"domain": "light"}, here="Hall"),
         "turn on light.hall"),
        (Sentence("desk lamp to 50%", "HassLightSet", {"brightness": 50, "name": "Desk Lamp"}),
         "set brightness light.desk 50.0"),
        (Sentence("never mind", "HassNevermind"), "never mind"),
        (Sentence("pause the pizza timer", "HassPauseTimer", {"name": ["pizza ", "pizza"]}),
         "pause timer timer:0"),
        (Sentence("pause the timer", "HassPauseTimer"), "pause timer one of timer:0 and timer:1"),
        (Sentence("add 5 minutes to my one hour timer", "HassIncreaseTimer",
                  {"minutes": 5, "start_hours": 1}), "add time timer:1 300.0"),
        (Sentence("is the front door locked", "HassGetState",
                  {"name": "Front Door", "state": "locked"}), "whether lock.door locked"),
        (Sentence("which lights are on in the den", "HassGetState",
                  {"domain": "light", "area": "Den", "state": "on"}, response="Floor Lamp"),
         "which light.desk and light.floor on"),
        (Sentence("are any den lights on", "HassGetState",
                  {"domain": "light", "area": "Den", "state": "on"}, response="Yes, Floor Lamp"),
         "any light.desk and light.floor on"),
        (Sentence("are all den lights on", "HassGetState",
                  {"domain": "light", "area": "Den", "state": "on"}, response="No, Desk Lamp"),
         "all light.desk and light.floor on"),
        (Sentence("announce that tea is ready", "HassBroadcast", {"message": "tea is ready"}),
         "broadcast  tea is ready"),
        (Sentence("put milk on my shopping list", "HassShoppingListAddItem", {"item": "milk"}),
         "add item todo.shopping_list milk"),
        (Sentence("turn on the moon", "HassTurnOn", {"name": "Moon"}), "no such name"),
        (Sentence("turn on the fans", "HassTurnOn", {"domain": "fan"}), "not offered"),
        (Sentence("turn on the cellar", "HassTurnOn", {"area": "Cellar"}), "no such place"),
    ],
)  # fmt: skip
def test_corpus_commands_follow_from_intents(sentence, wanted):
    made = label(WORLD, sentence)
    assert (str(made.command) if isinstance(made, HomeExample) else made) == wanted


def test_corpus_free_texts_are_learnt_in_two_steps():
    sentence = Sentence("put milk on my shopping list", "HassShoppingListAddItem", {"item": "milk"})
    made = label(WORLD, sentence)
    first, second = made.demonstrations()
    assert [each.actions[0].value for each in (first, second)] == [None, "milk"]


def test_corpus_holds_out_whole_groups():
    examples = [
        HomeExample(f"text {number}", WORLD, None, None, group=f"group {number // 5}")
        for number in range(100)
    ]
    training, held_out = split(examples, 0.2)
    assert len(held_out) == 20
    assert not {each.group for each in training} & {each.group for each in held_out}


@needs_corpus
def test_corpus_english_sentences_are_nearly_all_understood():
    corpus = read_corpus()
    assert len(corpus.examples) > 1050
    assert sum(corpus.left_out.values()) < 10
    assert sum(each.command.is_question for each in corpus.examples) > 280


@needs_corpus
def test_corpus_unknown_languages_are_refused():
    with pytest.raises(CorpusError, match="`language` must be one of ar, de"):
        read_corpus(language="tlh")
