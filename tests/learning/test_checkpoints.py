"""Checkpoints: a minimiser that is stopped is taken through what it was told before."""

import numpy as np
import pytest

from groundling.errors import ModelFileError
from groundling.learning import checkpoints
from groundling.learning.checkpoints import Checkpoint, Recorder
from groundling.learning.optimise import minimise


class Valley:
    """An objective that L-BFGS needs many steps for, and that knows how often it was asked."""

    def __init__(self, width=40):
        self.width, self.asked = width, 0

    def loss(self, theta):
        self.asked += 1
        value = np.sum(100 * (theta[1:] - theta[:-1] ** 2) ** 2 + (1 - theta[:-1]) ** 2)
        gradient = np.zeros(self.width)
        gradient[:-1] = -400 * theta[:-1] * (theta[1:] - theta[:-1] ** 2) - 2 * (1 - theta[:-1])
        gradient[1:] += 200 * (theta[1:] - theta[:-1] ** 2)
        return float(value), gradient


def run(folder, every, stop=None, l1=0.0):
    valley = Valley()
    recorder = Recorder(Checkpoint(folder, every, "mine"), "0", valley.loss)

    def progress(step, loss):
        recorder.iterated()
        return step == stop

    found = minimise(recorder.loss, np.zeros(40), l1=l1, iterations=60, progress=progress)
    return valley.asked, found[1].tobytes()


@pytest.mark.parametrize("l1", [0.0, 0.1])
@pytest.mark.parametrize("every", [1, 3, 7])
def test_checkpoints_take_a_minimiser_to_where_it_was_without_asking_again(tmp_path, every, l1):
    whole = Valley()
    wanted = minimise(whole.loss, np.zeros(40), l1=l1, iterations=60)[1].tobytes()
    asked = 0
    for stop in (10, 25, 26, 40):
        more, _ = run(tmp_path, every, stop, l1)
        asked += more
    more, found = run(tmp_path, every, l1=l1)
    assert found == wanted
    # Each stop loses what came after the last checkpoint, and nothing else.
    assert asked + more <= whole.asked + 4 * (every + 1) * 2
    assert run(tmp_path, every, l1=l1)[0] <= every * 2


def test_checkpoints_hold_few_gradients_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_SEGMENT", 40 * 8 * 4)
    asked, wanted = run(tmp_path, 1000)
    assert len(list(tmp_path.iterdir())) == asked // 5
    more, found = run(tmp_path, 1000)
    assert found == wanted
    assert more < 5


def test_checkpoints_of_another_shape_are_refused(tmp_path):
    run(tmp_path, 5, 20)
    with pytest.raises(ModelFileError, match="belongs to another training run"):
        Checkpoint(tmp_path, 5, "mine").load("0.0", 40)
    Checkpoint(tmp_path, 5, "mine").save("0.0", 1.0, np.zeros(40), False)
    with pytest.raises(ModelFileError, match="belongs to another training run"):
        run(tmp_path, 5)
