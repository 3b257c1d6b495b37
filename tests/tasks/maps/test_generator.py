"""Generated maps and dialogues."""

import pytest

from groundling.errors import SettingError
from groundling.tasks.maps.generator import generate_corpus, generate_dialogue, generate_map
from groundling.tasks.maps.landscape import visited_landmarks


def test_generator_same_seed_same_corpus() -> None:
    first, again = (generate_corpus(maps=3, dialogues=2, seed=7) for _ in range(2))
    assert first == again
    assert first != generate_corpus(maps=3, dialogues=2, seed=8)


def test_generator_maps_look_like_the_real_ones() -> None:
    corpus = generate_corpus(maps=16, dialogues=1, seed=2)
    for sheet in corpus.maps.values():
        visits = visited_landmarks(sheet.steps)
        assert 9 <= len(visits) <= 12
        assert len(set(visits)) == len(visits)
        assert visits[0] == "start"
        assert 12 <= len(sheet.landscape) <= 15
        names = [each.name for each in sheet.landscape.landmarks]
        assert len(names) - len(set(names)) == 1  # one name is on the map twice
        assert sheet.finish is not None
        assert sheet.finish.position == sheet.route[-1]


def test_generator_names_of_one_map_are_on_no_other() -> None:
    corpus = generate_corpus(maps=16, dialogues=1, seed=4)
    names = [
        name
        for sheet in corpus.maps.values()
        for name in {each.name for each in sheet.landscape.landmarks} - {"start"}
    ]
    assert len(names) == len(set(names))


def test_generator_giver_speaks_of_the_route_in_order() -> None:
    sheet = generate_map(seed=3)
    said = " | ".join(each.text for each in generate_dialogue(sheet, seed=3).giver)
    place = 0
    for key in visited_landmarks(sheet.steps)[1:]:
        place = said.find(sheet.landscape[key].words[-1], place)
        assert place >= 0, key


def test_generator_fills_up_with_chatter() -> None:
    sheet = generate_map(seed=3)
    assert 5000 <= len(generate_dialogue(sheet, utterances=5000).utterances) <= 5002


@pytest.mark.parametrize("setting", [{"maps": 0}, {"maps": 1000}, {"dialogues": 0}])
def test_generator_refuses_impossible_counts(setting: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=next(iter(setting))):
        generate_corpus(**setting)


def test_generator_refuses_too_few_names() -> None:
    with pytest.raises(SettingError, match="14"):
        generate_map(names=["hut"] * 14)
