"""The corpus of sentences about homes: commands from intents, and the split."""

import os
from pathlib import Path

import pytest

from groundling import Demonstration
from groundling.errors import CorpusError
from groundling.home import Command, Home, HomeEnvironment
from groundling.home.corpus import Sentence, demonstrate, read_corpus, split

FOLDER = os.environ.get("GROUNDLING_CORPORA")
needs_corpus = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "home").is_dir(), reason="needs corpora/home"
)
HOME = Home.from_data({
    "areas": [{"id": "den", "name": "Den"}, {"id": "hall", "name": "Hall"}],
    "entities": [
        {"id": "light.a", "name": "Lamp", "area": "den"},
        {"id": "light.b", "name": "Spot", "area": "hall"},
        {"id": "lock.a", "name": "Spot", "area": "hall"},
    ],
    "timers": [{"name": "pizza", "start_minutes": 5}, {"area": "den", "start_hours": 1}],
})  # fmt: skip
WORLD = HomeEnvironment(HOME)


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        (Sentence("", "HassTurnOn", {"name": "lamp"}), Command("turn on", "light.a")),
        (Sentence("", "HassTurnOff", {"name": "Spot", "domain": "lock"}),
         Command("unlock", "lock.a")),
        (Sentence("", "HassTurnOn", {"area": "Den", "domain": "light"}),
         Command("turn on", "light", "area:den")),
        (Sentence("", "HassTurnOn", {"domain": "light"}), Command("turn on", "light")),
        (Sentence("", "HassTurnOn", {"domain": "light"}, here="Hall"),
         Command("turn on", "light", "area:hall")),
        (Sentence("", "HassLightSet", {"brightness": 50, "name": "Lamp"}),
         Command("set brightness", "light.a", "", 50)),
        (Sentence("", "HassNevermind"), Command("nothing")),
        (Sentence("", "HassPauseTimer", {"name": ["pizza ", "pizza"]}),
         Command("pause", "timer:0")),
        (Sentence("", "HassIncreaseTimer", {"minutes": 5, "start_hours": 1}),
         Command("add time", "timer:1", "", 5)),
        (Sentence("", "HassTurnOn", {"name": "Spot"}), "several things fit"),
        (Sentence("", "HassTurnOn", {"name": "Moon"}), "no such name"),
        (Sentence("", "HassPauseTimer"), "several things fit"),
        (Sentence("", "HassTurnOn", {"domain": "fan"}), "nothing there to act on"),
        (Sentence("", "HassLightSet", {"brightness": 51, "name": "Lamp"}), "value not offered"),
        (Sentence("", "HassGetState", {"name": "Lamp"}), "question"),
        (Sentence("", "HassBroadcast", {"message": "hi"}), "free text"),
    ],
)  # fmt: skip
def test_corpus_commands_follow_from_intents(sentence, wanted):
    made = demonstrate(WORLD, sentence)
    assert (made.actions[0] if isinstance(made, Demonstration) else made) == wanted


@needs_corpus
def test_corpus_counts_every_sentence_once():
    corpus = read_corpus(language="en")
    assert len(corpus.demonstrations) > 600
    assert corpus.left_out["question"] > 200
    texts = [(str(each.instructions).lower(), each.start.here) for each in corpus.demonstrations]
    assert len(texts) == len(set(texts))


@needs_corpus
@pytest.mark.parametrize("language", ["ar", "de", "es", "fr", "it", "ko", "nl", "pl"])
def test_corpus_reads_every_language(language):
    assert len(read_corpus(language=language).demonstrations) > 100


@needs_corpus
def test_corpus_split_keeps_groups_and_texts_together():
    training, held_out = split(read_corpus(language="en").demonstrations, seed=3)
    assert 0.15 < len(held_out) / (len(training) + len(held_out)) <= 0.2
    assert not {each.group for each in training} & {each.group for each in held_out}
    texts = [{str(each.instructions).lower() for each in half} for half in (training, held_out)]
    assert not texts[0] & texts[1]
    assert split(training + held_out, seed=3) != split(training + held_out, seed=4)


@needs_corpus
def test_corpus_unknown_language():
    with pytest.raises(CorpusError, match="must be one of ar, de, en"):
        read_corpus(language="xx")
