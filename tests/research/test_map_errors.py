"""Kinds of errors on maps."""

import pytest

from groundling.tasks.maps import generate_corpus
from research.map_errors import count_errors, main, missing_moves, wrong_moves
from tools.corpus_files import write_maps

GOLD = ["start", "barn", "mill", "cave", "inn"]


@pytest.mark.parametrize(
    ("predicted", "wrong"),
    [
        (GOLD, {}),
        (["start", "barn", "barn", "mill"], {}),
        (["start", "mill"], {"passes over landmarks": 1}),
        (["start", "barn", "start"], {"against the direction": 1}),
        (["start", "tower", "barn"], {"off the route": 1, "back to the route": 1}),
        (["start", "barn", "start", "barn"], {"against the direction": 1, "passes over": 1}),
    ],
)
def test_map_errors_name_the_kind_of_a_wrong_move(predicted, wrong):
    found = wrong_moves(predicted, GOLD)
    assert sorted(found.values()) == sorted(wrong.values())
    assert all(any(kind.startswith(each) for kind in found) for each in wrong)


def test_map_errors_count_every_missing_move():
    missing = missing_moves(["start", "mill", "cave"], GOLD)
    assert missing == {"landmark never reached": 2, "reached from elsewhere": 1}
    assert not missing_moves(GOLD, GOLD)


def test_map_errors_of_several_dialogues_add_up():
    wrong, missing = count_errors([("a", ["start", "mill"], GOLD), ("b", ["start", "mill"], GOLD)])
    assert wrong == {"passes over landmarks": 2}
    assert missing.total() == 8


def test_map_errors_command_prints_the_counts(tmp_path, capsys):
    write_maps(tmp_path, generate_corpus(maps=4, dialogues=1, seed=1))
    main([str(tmp_path), "--dialogues"])
    printed = capsys.readouterr().out
    assert "predicted moves" in printed
    assert "moves of the drawn routes" in printed
    assert "gold  " in printed
