"""Sentences from templates: seeded, bounded, true of their homes."""

import os
from pathlib import Path

import pytest

from groundling.home.generated import AREAS, NAMES, generated_home
from groundling.home.templates import expand_templates

FOLDER = os.environ.get("GROUNDLING_CORPORA")
needs_corpus = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "home").is_dir(), reason="needs corpora/home"
)


@needs_corpus
def test_templates_are_seeded_and_bounded():
    one, other, third = (expand_templates(count=60, seed=seed) for seed in (1, 1, 2))
    assert len(one) == 60
    assert [each.instructions for each in one] == [each.instructions for each in other]
    assert [each.instructions for each in one] != [each.instructions for each in third]
    assert len({each.group for each in one}) > 30


@needs_corpus
def test_templates_say_places_that_are_true():
    for each in expand_templates(count=300, seed=3):
        world, command = each.environment, each.actions[0]
        assert command in world.actions(each.start)
        if command.what in world.home.entity_of and command.verb != "nothing":
            area = world.home.entity_of[command.what].area
            others = [
                area_.name.lower()
                for area_ in world.home.areas
                if area and area_.id != area and f"in the {area_.name.lower()}" in each.name
            ]
            assert not others, each.name


@needs_corpus
@pytest.mark.parametrize("language", ["de", "ko", "nl"])
def test_templates_of_other_languages(language):
    assert len(expand_templates(language=language, count=40)) == 40


def test_generated_homes_share_no_names_between_known_and_new():
    homes = [[generated_home(seed, names) for seed in range(20)] for names in ("known", "new")]
    areas = [{area.name for home in each for area in home.areas} for each in homes]
    assert not areas[0] & areas[1]
    assert areas[0] | areas[1] <= set(AREAS)
    names = [{e.name for home in each for e in home.entities} for each in homes]
    assert not names[0] & names[1]
    assert all(len(set(each)) == len(each) for each in NAMES.values())
