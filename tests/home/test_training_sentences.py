"""Sentences that are made: from templates of the corpus, and from paraphrases of our own."""

import os
from collections import Counter
from pathlib import Path

import pytest

from groundling.errors import CorpusError
from groundling.home.generated import generated_home, rearranged_home
from groundling.home.paraphrases import expand_paraphrases, join_examples
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


def test_templates_need_a_folder(tmp_path):
    pytest.importorskip("hassil", reason="needs groundling[home]")
    (tmp_path / "home").mkdir()
    with pytest.raises(CorpusError, match="must have templates"):
        expand_templates(tmp_path, homes=[generated_home(1)])
