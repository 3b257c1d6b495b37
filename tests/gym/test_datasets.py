"""Minari datasets keep missions, seeds, moves, observations and infos."""

import pytest

from groundling.errors import CorpusError

pytest.importorskip("minigrid")
pytest.importorskip("minari")
pytest.importorskip("h5py")

from dataclasses import replace

import numpy as np

from examples.push_table import PushTableWorld
from groundling.gym.babyai_levels import babyai
from groundling.gym.datasets import from_minari, to_minari
from groundling.gym.recorder import record
from groundling.gym.segmentation import cut


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))


def test_datasets_go_out_and_come_back():
    level = babyai("GoToLocal")
    made = [
        replace(each, infos=tuple({"step": n, "note": "x"} for n in range(len(each.moves))))
        for each in record(level, range(3))
    ]
    to_minari(made, "babyai/go-to-local/teacher-v0", level)
    back = from_minari("babyai/go-to-local/teacher-v0")
    assert [each.infos[-1]["step"] for each in back] == [len(e.moves) - 1 for e in made]
    assert [replace(each, infos=()) for each in back] == [replace(e, infos=()) for e in made]
    for one, other in zip(made, back, strict=True):
        for seen, again in zip(one.observations, other.observations, strict=True):
            assert seen["mission"] == again["mission"]
            assert seen["direction"] == again["direction"]
            np.testing.assert_array_equal(seen["image"], again["image"])
    assert cut(level, back[0]).actions == cut(level, made[0]).actions


def test_datasets_of_continuous_moves_come_back():
    world = PushTableWorld()
    made = record(world, range(2))
    to_minari(made, "pushtable/teacher-v0", world)
    back = from_minari("pushtable/teacher-v0")
    assert [each.text for each in back] == [each.text for each in made]
    np.testing.assert_allclose(back[0].moves, made[0].moves, atol=1e-6)


def test_datasets_without_missions_are_refused(monkeypatch):
    level = babyai("GoToLocal")
    with pytest.raises(CorpusError, match="at least one trajectory"):
        to_minari([], "babyai/none-v0", level)
    [trajectory] = record(level, [0])
    with pytest.raises(CorpusError, match="one more observation"):
        to_minari([replace(trajectory, observations=())], "babyai/none-v0", level)
