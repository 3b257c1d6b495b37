"""Training: seeded, independent of order and threads, and resumed to the same bytes."""

import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Ensemble,
    Features,
    Follower,
    Learning,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import ConvergenceWarning, ModelFileError
from groundling.learning.checkpoints import Checkpoint
from tests.worlds import Line, in_training, line_demonstrations

WAYS = {
    "plans": (PlanModel(), Learning(iterations=40, tolerance=0.0)),
    "plans-beamed": (PlanModel(alternatives=3), Learning(iterations=12, rounds=3, tolerance=0.0)),
    "decisions-best": (DecisionModel(), Learning(iterations=15, rounds=4, tolerance=0.0)),
    "decisions-all": (DecisionModel(aligned="all"), Learning(iterations=30, tolerance=0)),
    "transducer": (TransducerModel(), Learning(iterations=20, tolerance=0.0)),
    "ensemble": (
        Ensemble([Member(Overlay.flat(), Features(words=("word",)))]),
        Learning(iterations=20, tolerance=0.0),
    ),
    "sparse": (PlanModel(), Learning(l1=0.05, iterations=40, tolerance=0.0)),
}

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


def follower(way, **settings):
    search = Search(max_length=3)
    if way == "plans-beamed":
        search = Search(max_length=6, budget=40, beam=2)
    model, learning = WAYS[way]
    return Follower(
        model=model, overlay=Overlay(unit="word"), features=Features(words=("word",)),
        learning=learning, search=search, parser="chain", **settings,
    )  # fmt: skip


def shown(way="plans"):
    return line_demonstrations(Line(20) if way == "plans-beamed" else Line(4))


@pytest.mark.parametrize("way", WAYS)
def test_training_same_seed_same_bytes(way):
    one, other = (follower(way, seed=3).fit(shown(way)) for _ in range(2))
    assert one.theta_.tobytes() == other.theta_.tobytes()
    assert one.learnt_.loss == other.learnt_.loss


def test_training_seeds_matter_where_the_start_is_random():
    one, other = (follower("decisions-best", seed=seed).fit(shown()) for seed in (1, 2))
    assert one.theta_.tobytes() != other.theta_.tobytes()


@pytest.mark.parametrize("way", ["plans", "decisions-all", "transducer"])
def test_training_does_not_depend_on_the_order_of_demonstrations(way):
    def weights(demonstrations):
        made = follower(way)
        made.set_params(learning=Learning(iterations=1000, tolerance=1e-15))
        made.fit(demonstrations)
        return dict(zip(made.feature_names_, made.theta_.tolist(), strict=True))

    one, other = weights(shown()), weights(shown()[::-1])
    assert one.keys() == other.keys()
    assert all(one[name] == pytest.approx(other[name], abs=1e-5) for name in one)


@pytest.mark.parametrize("way", ["plans", "transducer", "decisions-best"])
def test_training_one_thread_and_two_agree(way):
    rounds = {} if way == "transducer" else {"learning__rounds": 2}
    one, two = (
        follower(way, threads=threads).set_params(learning__iterations=8, **rounds).fit(shown())
        for threads in (1, 2)
    )
    np.testing.assert_allclose(one.theta_, two.theta_, atol=1e-9)


class KilledError(Exception):
    """Stands for a training that was ended from outside."""


def killed_after(steps):
    count = 0

    def progress(_):
        nonlocal count
        count += 1
        if count == steps:
            raise KilledError

    return in_training(progress)


@pytest.mark.parametrize("way", WAYS)
def test_training_killed_at_any_point_resumes_to_the_same_bytes(way, tmp_path):
    told = []
    whole = follower(way).fit(
        shown(way),
        checkpoint=tmp_path / "whole",
        checkpoint_every=5,
        progress=in_training(told.append),
    )
    total = len(told)
    assert total > 10
    for steps in (1, total // 3, total // 2, total - 1):
        folder = tmp_path / f"killed-{steps}"
        with pytest.raises(KilledError):
            follower(way).fit(
                shown(way), checkpoint=folder, checkpoint_every=5, progress=killed_after(steps)
            )
        with suppress(KilledError):  # killed again a little later, if there is so much left
            follower(way).fit(
                shown(way), checkpoint=folder, checkpoint_every=5, progress=killed_after(7)
            )
        resumed = follower(way).fit(shown(way), checkpoint=folder, checkpoint_every=5)
        assert resumed.theta_.tobytes() == whole.theta_.tobytes()
        assert resumed.learnt_.loss == whole.learnt_.loss


@pytest.mark.parametrize("way", ["plans", "decisions-best"])
def test_training_goes_on_from_any_checkpoint(way, tmp_path):
    whole = follower(way).fit(shown(way), checkpoint=tmp_path, checkpoint_every=5)
    files = sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in files[len(files) // 2 :]:
        path.unlink()
    resumed = follower(way).fit(shown(way), checkpoint=tmp_path, checkpoint_every=5)
    assert resumed.theta_.tobytes() == whole.theta_.tobytes()


def test_training_resumes_without_training_again(tmp_path):
    first = follower("plans").fit(shown(), checkpoint=tmp_path)
    told = []
    again = follower("plans").fit(shown(), checkpoint=tmp_path, progress=in_training(told.append))
    assert told == []
    assert again.theta_.tobytes() == first.theta_.tobytes()


def join_first(word, node):
    """Join words and labels that begin alike."""
    return [("alike", 1.0)] if word.name[5:6] == node.name[:1] else []


def test_training_resumes_in_another_process_with_functions_of_ones_own(tmp_path):
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from tests.learning.test_rounds import join_first
from tests.worlds import in_training, line_demonstrations
from groundling import Features, Follower
told = []
Follower(features=Features(joins=("conjunction", join_first)), parser="chain").fit(
    line_demonstrations(), checkpoint={str(tmp_path)!r}, progress=in_training(told.append))
print(len(told))
"""
    counts = [
        int(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True,
                env=dict(os.environ), timeout=120,
            ).stdout
        )
        for _ in range(2)
    ]  # fmt: skip
    assert counts[0] > 0
    assert counts[1] == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda f, d: (f.set_params(learning=Learning(l2=3.0)), d),
        lambda f, d: (f.set_params(seed=9), d),
        lambda f, d: (f, d[1:]),
        lambda f, d: (f, [d[0].weighted(2.0), *d[1:]]),
    ],
    ids=["settings", "seed", "demonstrations", "weights"],
)
def test_training_refuses_checkpoints_of_another_training(change, tmp_path):
    follower("plans").fit(shown(), checkpoint=tmp_path)
    made, data = change(follower("plans"), shown())
    with pytest.raises(ModelFileError, match="another training run"):
        made.fit(data, checkpoint=tmp_path)


def test_training_refuses_checkpoints_of_another_width(tmp_path):
    folder = Checkpoint(tmp_path, fingerprint="same")
    folder.save("0.0.0", 1.5, np.zeros(4), True)
    assert folder.load("0.0.0", 4)[0] == 1.5
    with pytest.raises(ModelFileError, match="another training run"):
        folder.load("0.0.0", 5)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 40, None], ids=["empty", "foreign", "cut"])
def test_training_refuses_broken_checkpoints(damage, tmp_path):
    follower("plans").fit(shown(), checkpoint=tmp_path)
    path = sorted(tmp_path.iterdir())[0]
    path.write_bytes(path.read_bytes()[:-3] if damage is None else damage)
    with pytest.raises(ModelFileError, match=r"is damaged .* Delete the file"):
        follower("plans").fit(shown(), checkpoint=tmp_path)


def test_training_leaves_no_half_written_checkpoints(tmp_path):
    with pytest.raises(KilledError):
        follower("plans").fit(
            shown(), checkpoint=tmp_path, checkpoint_every=5, progress=killed_after(12)
        )
    assert len(list(tmp_path.iterdir())) == 2
    assert all(path.suffix == ".safetensors" for path in tmp_path.iterdir())


@pytest.mark.filterwarnings("error")
def test_training_warns_when_it_did_not_converge():
    made = follower("plans").set_params(learning=Learning(iterations=2))
    with pytest.warns(ConvergenceWarning, match=r"Raise this limit"):
        made.fit(shown(), check=False)


def test_training_progress_names_stage_and_step():
    told = []
    made = follower("decisions-best").set_params(model__begin="alignment")
    made.fit(shown(), progress=in_training(told.append))
    assert told[0].stage == "training"
    assert told[0].step == 1
    assert any("round 2" in each.stage for each in told)
    assert all(each.step <= each.steps for each in told)


@pytest.mark.parametrize("way", WAYS)
def test_training_stops_where_progress_says_so(way):
    told = []

    def stop(progress):
        told.append(progress)
        return len(told) == 4

    made = follower(way).fit(shown(way), progress=in_training(stop))
    # Members of an ensemble train one after another, and each is asked.
    assert len(told) == 4 or way == "ensemble"
    assert made.follow("go left", Line(4), 2).actions
    whole = follower(way).fit(shown(way))
    assert made.learnt_.loss != whole.learnt_.loss


@pytest.mark.filterwarnings("error")
def test_training_that_was_stopped_does_not_complain():
    made = follower("plans").fit(shown(), progress=lambda progress: progress.step == 2, check=False)
    assert made.theta_.any()


def test_training_that_was_stopped_can_be_resumed_with_its_checkpoints(tmp_path):
    told = []

    def stop(progress):
        told.append(progress)
        return len(told) == 12

    whole = follower("plans").fit(shown(), checkpoint=tmp_path / "whole", checkpoint_every=5)
    follower("plans").fit(
        shown(), checkpoint=tmp_path / "part", checkpoint_every=5, progress=in_training(stop)
    )
    resumed = follower("plans").fit(shown(), checkpoint=tmp_path / "part", checkpoint_every=5)
    assert resumed.theta_.tobytes() == whole.theta_.tobytes()
