"""Sentences that are made: from templates of the corpus, and from paraphrases of our own."""

import os
from collections import Counter
from pathlib import Path

import pytest

from groundling.errors import CorpusError
from groundling.home.generated import generated_home, rearranged_home
from groundling.home.home_trainer import learn_words
from groundling.home.knowledge import Knowledge
from groundling.home.paraphrases import delay_examples, expand_paraphrases, join_examples
from groundling.home.templates import expand_templates

FOLDER = os.environ.get("GROUNDLING_CORPORA")
needs_corpus = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "home").is_dir(), reason="needs corpora/home"
)


def test_paraphrases_say_every_verb_in_homes_that_have_it():
    made = expand_paraphrases(count=1200)
    verbs = Counter(each.command.verb for each in made)
    assert len(made) == 1200
    assert len(verbs) > 45
    assert [e.text for e in made] == [e.text for e in expand_paraphrases(count=1200)]
    for each in made[::40]:
        shown = [(shown.actions[0], shown.environment) for shown in each.demonstrations()]
        assert all(command in said.actions(each.situation) for command, said in shown)


def test_paraphrases_ask_where_one_of_several_is_meant():
    choices = [each for each in expand_paraphrases(count=1200) if each.command.target.choice]
    assert choices
    assert all(len(each.command.target.ids) > 1 for each in choices)


def test_paraphrases_joined_say_where_the_second_begins():
    joined = join_examples(expand_paraphrases(count=200), 20)
    assert joined
    for each in joined:
        place = each.command.value
        said = each.world.read(each.text).utterance
        assert said.part(0, place)
        assert said.part(place, len(said.words))


def test_generated_homes_with_new_names_share_none_with_known_ones():
    known = {each.name for seed in range(5) for each in generated_home(seed).entities}
    new = {each.name for seed in range(5) for each in generated_home(seed, "new").entities}
    assert not known & new
    home = generated_home(1)
    assert {e.name for e in rearranged_home(home, 1).entities} < {e.name for e in home.entities}


@needs_corpus
def test_templates_make_questions_and_commands():
    made = expand_templates(count=300)
    assert len(made) == 300
    assert {each.command.is_question for each in made} == {True, False}


@needs_corpus
def test_templates_delay_commands_only():
    made = expand_templates(count=600)
    delayed = [each for each in made if each.command.verb == "delay"]
    said = {each.text.lower() for each in made}
    assert delayed
    assert all(any(other != each.text and other in each.text.lower() for other in said)
               for each in delayed)  # fmt: skip


def test_templates_need_a_folder(tmp_path):
    pytest.importorskip("hassil", reason="needs groundling[home]")
    (tmp_path / "home").mkdir()
    with pytest.raises(CorpusError, match="must have a folder of templates"):
        expand_templates(tmp_path, homes=[generated_home(1)])


def test_paraphrases_delayed_are_timers_for_a_command():
    made = delay_examples(expand_paraphrases(count=200), 20)
    assert made
    assert all(each.command.verb == "delay" and each.command.value >= 120 for each in made)


def test_paraphrases_decline_what_is_somewhere_else_only():
    made = [e for e in expand_paraphrases(count=1500) if e.command.verb == "decline"]
    fans = [
        e for e in made if "fan in" in e.text and e.world.read(e.text).utterance.of_kind("area")
    ]
    for each in fans:
        (area,) = each.world.read(each.text).utterance.of_kind("area")[0].ids
        assert not each.world.groups.get(("fan", f"area:{area}"))
    assert fans


def test_vocabulary_has_nouns_of_names_but_not_free_texts():
    known = learn_words(expand_paraphrases(count=2000))
    assert known.words.get("fan")
    assert "fan" in known.domains_of("fan")
    assert "nirvana" not in known.words
    assert known.frames < set(known.words)
    assert Knowledge.from_json(known.to_json()) == known
