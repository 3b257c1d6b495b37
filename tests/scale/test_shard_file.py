"""The files of shards: what is opened evaluates as what was written, without any work."""

import weakref

import numpy as np
import pytest

from groundling.learning.trainer import Trainer
from groundling.models.base import TrainingData
from groundling.overlay import layout, scorer
from groundling.scale.executor import LocalExecutor
from groundling.scale.shard_file import open_shard, write_shard
from groundling.scale.sharded_rounds import fit_shards
from groundling.scale.shards import split
from groundling.scale.worker import ShardWorker
from tests.scale.making import KINDS, shown, trainer_of

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


def objective_of(trainer: Trainer):
    member = trainer.model.all_members(trainer.overlay, trainer.features)[0]
    encoder = trainer.encoder(member, trainer.features.first_lexicon())
    examples = trainer.prepare(encoder, shown(8))
    random = np.random.default_rng(0)
    data = TrainingData(encoder, member.features.space(), examples, trainer.search, random)
    return trainer.model.objective(data).prepare()


def refuse(encoding):
    raise AssertionError("laid out again")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "learnt lexicon"])
def test_opening_a_shard_lays_nothing_out_and_evaluates_the_same(kind, tmp_path, monkeypatch):
    trainer = trainer_of(kind)
    objective = objective_of(trainer)
    write_shard(tmp_path / "shard", objective, 2.5)
    theta = np.random.default_rng(1).normal(size=objective.width)
    loss, gradient = objective.loss(theta)
    monkeypatch.setattr(scorer, "arrange", refuse)
    opened = open_shard(tmp_path / "shard", objective.data.space, objective.scorer.skip)
    again, found = trainer.model.member_model.loss(opened.scorer, opened.parts, theta)
    assert opened.weight == 2.5
    assert again == loss
    assert found.tobytes() == gradient.tobytes()
    wanted = objective.scorer.arrangement
    assert type(opened.scorer.arrangement.layout) is type(wanted.layout)


def test_opening_shards_whose_features_were_numbered_anew_equals_laying_them_out(tmp_path):
    seen = []

    class Looking(ShardWorker):
        def _evaluate(self, shard, job, theta):
            found = super()._evaluate(shard, job, theta)
            if not seen or seen[-1][0] < shard.number:
                opened = self._opened(shard, job).scorer
                laid = scorer.Scorer(opened.encoding, skip=opened.skip)
                for ours, theirs in zip(
                    opened.arrangement.pairs, laid.arrangement.pairs, strict=True
                ):
                    np.testing.assert_array_equal(ours, theirs)
                    assert ours.dtype == theirs.dtype
                seen.append((shard.number, len(opened.tables.row_feature)))
            return found

    shards = split(shown(14), tmp_path, size=4)
    fit_shards(trainer_of(), LocalExecutor(shards, Looking(tmp_path / "room", 10**9)))
    assert [number for number, _ in seen] == [0, 1, 2, 3]
    assert min(features for _, features in seen) > 0


def test_opening_holds_no_shard_after_an_evaluation(tmp_path):
    """Not even until garbage is collected."""
    held = []

    class Watched(ShardWorker):
        def _opened(self, shard, job):
            assert not any(each() for each in held)
            opened = super()._opened(shard, job)
            held.append(weakref.ref(opened.scorer))
            return opened

    shards = split(shown(14), tmp_path, size=4)
    fit_shards(trainer_of(), LocalExecutor(shards, Watched(tmp_path / "room", 10**9)))
    assert len(held) > len(shards)


def test_arrangement_is_what_a_scorer_makes_by_itself():
    encoding = objective_of(trainer_of()).scorer.encoding
    given = layout.arrange(encoding)
    theta = np.random.default_rng(2).normal(size=len(encoding.space))
    one, other = scorer.Scorer(encoding, arrangement=given), scorer.Scorer(encoding)
    assert one.arrangement is given
    assert one.loss(theta)[0] == other.loss(theta)[0]
