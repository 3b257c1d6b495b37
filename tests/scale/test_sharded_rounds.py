"""Training in shards learns what training at once does."""

import warnings

import numpy as np
import pytest

from groundling import DecisionModel, Demonstration, PlanModel, TransducerModel
from groundling.data import Demonstrations
from groundling.errors import ConvergenceWarning, DemonstrationError, SettingError, WorkerError
from groundling.models.base import Objective
from groundling.scale.executor import LocalExecutor
from groundling.scale.sharded_fit import fit_at_scale
from groundling.scale.sharded_rounds import fit_shards
from groundling.scale.shards import split
from groundling.scale.worker import ShardWorker
from tests.scale.making import KINDS, fit, shown, trainer_of
from tests.worlds import Line

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_training_in_shards_learns_the_same(kind):
    wanted = trainer_of(kind).fit(shown())
    found = fit(kind)
    assert abs(found.loss - wanted.loss) < 1e-9
    for ours, theirs in zip(found.fitted.members, wanted.fitted.members, strict=True):
        assert ours.space.names() == theirs.space.names()
        assert len(ours.theta) > 20
        np.testing.assert_allclose(ours.theta, theirs.theta, rtol=0, atol=1e-9)
        assert ours.lengths == theirs.lengths
        assert ours.encoder.values == theirs.encoder.values
        for name in ("counts", "labeller", "lexicon"):
            assert getattr(ours.encoder.reader, name) == getattr(theirs.encoder.reader, name)


@pytest.mark.parametrize(
    ("kind", "model"),
    [("decisions", DecisionModel(alternatives=1)), ("plans", PlanModel(alternatives=3))],
)
def test_training_in_one_shard_is_the_same_to_the_last_bit_even_if_drawn(kind, model):
    trainer = trainer_of(kind, model=model)
    wanted = trainer.fit(shown())
    found = fit_at_scale(trainer, shown(), memory="4GB", size=100)
    assert found.fitted.theta.tobytes() == wanted.fitted.theta.tobytes()


def test_training_in_shards_of_any_size_and_threads_is_the_same():
    wanted = fit(size=5).fitted.theta
    np.testing.assert_allclose(fit(size=11).fitted.theta, wanted, rtol=0, atol=1e-9)
    trainer = trainer_of("plans", threads=2)
    assert (
        fit_at_scale(trainer, shown(), memory="4GB", size=5).fitted.theta.tobytes()
        == wanted.tobytes()
    )


def test_training_from_files_and_streams_is_the_same(tmp_path):
    line = Line(9, {1: "lamp", 3: "sofa"})
    given = [Demonstration(e.instructions, line, e.start, e.actions) for e in shown(12)]
    files = Demonstrations(given).write(tmp_path / "shown.jsonl", shard_size=5)
    wanted = fit("plans", given, size=5).fitted.theta
    read = Demonstrations.read(files, worlds=line)
    assert fit("plans", read).fitted.theta.tobytes() == wanted.tobytes()
    assert fit("plans", iter(given), size=5).fitted.theta.tobytes() == wanted.tobytes()


def test_training_in_shards_needs_little_of_them_at_a_time(tmp_path):
    """Shards are mapped for every evaluation, and one whose file is lost is made anew."""
    trainer = trainer_of("decisions")
    shards = split(shown(14), tmp_path, size=4)
    room = ShardWorker(tmp_path / "room", 4 * 10**9)
    wanted = fit_shards(trainer, LocalExecutor(shards, room)).fitted.theta

    class Forgetful(ShardWorker):
        lost = 0

        def evaluate(self, *arguments):
            found = super().evaluate(*arguments)
            Forgetful.lost += 1
            if Forgetful.lost % 30 == 0:
                self._encoders.clear()
                for path in sorted(self.folder.iterdir())[::2]:
                    path.unlink()
            return found

    small = Forgetful(tmp_path / "small", 1000)
    found = fit_shards(trainer, LocalExecutor(shards, small)).fitted.theta
    assert Forgetful.lost > 10
    assert found.tobytes() == wanted.tobytes()


def test_training_in_shards_resumes_from_checkpoints(tmp_path):
    class StopError(Exception):
        pass

    def stop(step):
        if step.stage == "training" and step.step == 7:
            raise StopError

    wanted = fit().fitted.theta
    with pytest.raises(StopError):
        fit(checkpoint=tmp_path / "stopped", every=2, progress=stop)
    assert len(list((tmp_path / "stopped").iterdir())) == 3
    again = fit(checkpoint=tmp_path / "stopped", every=2).fitted.theta
    assert again.tobytes() == wanted.tobytes()


def test_training_in_shards_tells_how_far_it_is():
    told = []
    fit(progress=lambda step: told.append((step.stage, step.step, step.steps)))
    assert told[:5] == [("reading", number, 5) for number in range(1, 6)]
    assert told[5:10] == [("encoding", number, 5) for number in range(1, 6)]
    assert told[10][:2] == ("training", 1)


def test_training_misses_no_demonstration_in_silence(tmp_path):
    class Losing(LocalExecutor):
        def total(self, job, theta):
            self.shards.parts[1].source.pop()  # as if a file had become shorter
            for path in self.worker.folder.iterdir():
                path.unlink()
            return super().total(job, theta)

    shards = split(shown(14), tmp_path, size=7)
    with pytest.raises(WorkerError, match=r"a total weight of 20; got 18.5"):
        fit_shards(trainer_of(), Losing(shards, ShardWorker(tmp_path / "s", 10**9)))


def test_training_in_shards_says_which_demonstration_is_wrong():
    given = [*shown(10), Demonstration("go up", Line(), 2, ("up",), name="Annette")]
    with pytest.raises(
        DemonstrationError, match=r"The demonstrations 8 to 11 cannot be prepared.*Annette"
    ):
        fit("plans", given)
    with pytest.raises(DemonstrationError, match="needs at least one demonstration"):
        fit("plans", [])
    trainer = trainer_of("readings", model=TransducerModel(allow_multiple=False))
    given = [each for each in shown(20) if len(each.actions) == 1][:6]
    given.append(Demonstration("hop", Line(), 2, ("left", "left"), name="Boris"))
    with pytest.raises(DemonstrationError, match=r"Boris.*must have an alignment"):
        fit_at_scale(trainer, given, memory="4GB", size=4)


def test_training_in_shards_refuses_models_whose_loss_needs_more_than_arrays(tmp_path):
    class OwnObjective(Objective):
        def __init__(self, inner):
            self.__dict__.update(inner.__dict__)
            self.inner = inner

        def encode(self):
            self.inner.encode()
            self.scorer = self.inner.scorer

        def loss(self, theta):
            return self.scorer.loss(theta)

    class OwnModel(PlanModel):
        def objective(self, data):
            return OwnObjective(super().objective(data))

    with pytest.raises(SettingError, match=r"OwnModel must define loss to be trained in shards"):
        fit_at_scale(trainer_of("plans", model=OwnModel()), shown(), memory="4GB", size=9)


def test_training_in_shards_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit()
    assert not list(tmp_path.iterdir())
