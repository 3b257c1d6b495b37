"""Training on Dask workers: the same θ, whatever happens to them."""

import os
import random
import signal
import sys
import time
import types

import numpy as np
import pytest

from groundling import Demonstration
from groundling.data import Demonstrations
from groundling.errors import SettingError, WorkerError, WorldError
from groundling.scale import cluster as clusters
from groundling.scale.cluster import ClusterExecutor, assign, connected
from groundling.scale.job import ShardJob, versions_here
from groundling.scale.sharded_rounds import fit_shards
from groundling.scale.shards import split
from tests.promises.soaking import SECONDS as SOAK
from tests.scale.making import fit, shown, trainer_of
from tests.worlds import Line

KILLS = 10 if SOAK else 2  # each costs the start of a worker
distributed = pytest.importorskip("distributed", reason="needs groundling[cluster]")
pytestmark = [
    pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning"),
    # What killed workers leave behind in Dask is collected at any time, in any test.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def here():
    """A cluster of two workers on this machine, which tests may make larger or kill."""
    with connected("local:2") as client:
        yield client


def resize(client, count):
    client.cluster.scale(count)
    client.wait_for_workers(count, timeout=60)
    while len(client.scheduler_info(n_workers=-1)["workers"]) != count:
        pass


@pytest.mark.parametrize("kind", ["plans", "decisions", "readings", "ensemble", "learnt lexicon"])
def test_cluster_learns_the_same_to_the_last_bit_as_one_process(here, kind):
    wanted, found = fit(kind), fit(kind, cluster=here)
    for ours, theirs in zip(found.fitted.members, wanted.fitted.members, strict=True):
        assert ours.theta.tobytes() == theirs.theta.tobytes()
        assert ours.space.names() == theirs.space.names()
    assert found.loss == wanted.loss


def test_cluster_of_any_size_learns_the_same_and_leaves_nothing_behind(here, monkeypatch):
    wanted = trainer_of().fit(shown()).fitted.theta
    found = []
    for count in (1, 2, 3):
        resize(here, count)
        found.append(fit(cluster=here).fitted.theta)
    monkeypatch.setattr(clusters, "_FAN", 2)  # answers of three are added in a tree
    found.append(fit(cluster=here).fitted.theta)
    np.testing.assert_allclose(found[0], wanted, rtol=0, atol=1e-9)
    assert len({each.tobytes() for each in found}) == 1
    left = here.run(lambda dask_worker: os.listdir(dask_worker.local_directory))
    assert not [name for each in left.values() for name in each if "groundling" in name]
    resize(here, 2)


def test_cluster_learns_the_same_with_workers_killed_again_and_again(here):
    wanted = fit("decisions").fitted.theta
    chance, kills, steps = random.Random(4), [], []

    def living():
        # One that dies while it starts is not started again by Dask.
        known = here.cluster.scheduler.workers
        nannies = list(here.cluster.workers.values())
        return [each.pid for each in nannies if each.worker_address in known]

    def progress(step):
        steps.append(step)
        if len(steps) % 3 == 0 and len(kills) < KILLS:
            while not living():
                time.sleep(0.05)
            time.sleep(chance.uniform(0, 0.2))
            os.kill(chance.choice(living()), signal.SIGKILL)
            kills.append(len(steps))

    found = fit("decisions", cluster=here, progress=progress).fitted.theta
    assert len(kills) == KILLS
    assert found.tobytes() == wanted.tobytes()
    resize(here, 2)


def test_cluster_reads_files_itself_and_makes_each_world_once(here, tmp_path):
    line = Line(9, {1: "lamp", 3: "sofa"})
    given = [Demonstration(e.instructions, line, e.start, e.actions) for e in shown(12)]
    files = Demonstrations(given).write(tmp_path / "shown.jsonl", shard_size=3)
    read = Demonstrations.read(files, worlds={"Line": "tests.scale.test_cluster:make_line"})
    wanted = fit("plans", read)
    assert fit("plans", read, cluster=here).fitted.theta.tobytes() == wanted.fitted.theta.tobytes()


def make_line():
    return Line(9, {1: "lamp", 3: "sofa"})


def test_cluster_tells_how_long_workers_calculate(here, tmp_path):
    with ClusterExecutor(here, split(shown(), tmp_path, size=7), 10**9) as executor:
        fit_shards(trainer_of(), executor)
        assert len(executor.evaluations) > 5
        for each in executor.evaluations:
            assert 0 < each.working < each.seconds
            assert each.workers == 2


# ---- what goes wrong --------------------------------------------------------------------


def test_cluster_with_a_world_that_cannot_be_imported_there_says_so(here, tmp_path):
    line = Line(9)
    given = [Demonstration(e.instructions, line, e.start, e.actions) for e in shown(6)]
    [file] = Demonstrations(given).write(tmp_path / "shown.jsonl")
    read = Demonstrations.read(file, worlds={"Line": f"{tmp_path}/nowhere.py:Line"})
    with pytest.raises(WorldError, match=r"occurred on a worker: .*nowhere.py"):
        fit("plans", read, cluster=here)


def test_cluster_with_an_environment_that_cannot_be_imported_there_says_so(here, monkeypatch):
    module = types.ModuleType("only_here")
    module.OnlyHere = type("OnlyHere", (Line,), {"__module__": "only_here"})
    monkeypatch.setitem(sys.modules, "only_here", module)
    line = module.OnlyHere()
    given = [Demonstration("go left", line, 2, ("left",))]
    with pytest.raises(WorldError, match=r"A worker cannot import .*only_here.*Install it on all"):
        fit("plans", given, cluster=here)


def test_cluster_with_another_version_says_so(here, tmp_path, monkeypatch):
    here.run(set_version, "0.0.1")
    try:
        with pytest.raises(WorkerError, match=r"The worker tcp.* must have Groundling .* got 0"):
            fit(cluster=here)
    finally:
        here.run(set_version, versions_here()["Groundling"])
    # A worker that comes later is checked too.
    job = ShardJob("x.0", trainer_of(), 0, None, versions=versions_here() | {"NumPy": "0.9"})
    with pytest.raises(WorkerError, match=r"must have NumPy 0.9.* like this process"):
        here.submit(clusters._shard_worker, job, 10**9, pure=False).result()


class Answering:
    """A client whose workers answer what it is told, when they are asked for their versions."""

    status = "running"

    def __init__(self, answer):
        self.answer = answer

    def run(self, *_, on_error="raise"):
        return {"tcp://gone:1": self.answer}


def test_cluster_asks_no_more_of_a_worker_that_dies_when_it_is_asked_for_its_version(tmp_path):
    shards = split(shown(2), tmp_path)
    gone = ClusterExecutor(Answering(ConnectionResetError("reset by peer")), shards, 10**9)
    gone._check_versions()
    without = ClusterExecutor(Answering(ImportError("No module groundling")), shards, 10**9)
    with pytest.raises(WorkerError, match=r"tcp://gone:1 cannot import Groundling \(No module"):
        without._check_versions()
    broken = ClusterExecutor(Answering(ZeroDivisionError()), shards, 10**9)
    with pytest.raises(ZeroDivisionError):
        broken._check_versions()


def set_version(version):
    import groundling.scale.job

    groundling.scale.job.__version__ = version


class DeadlyLine(Line):
    """A line that ends the process that looks at it while there is a certain file."""

    def __init__(self, file):
        super().__init__(6, {1: "lamp"})
        self.file = file

    def actions(self, state):
        if os.path.exists(self.file):
            os._exit(1)
        return super().actions(state)


def test_cluster_whose_workers_die_again_and_again_says_so_and_resumes(here, tmp_path, monkeypatch):
    line, states = DeadlyLine(str(tmp_path / "deadly")), tmp_path / "states"
    given = [Demonstration(e.instructions, line, e.start, e.actions) for e in shown(12)]
    wanted = fit("plans", given).fitted.theta

    def progress(step):
        if step.stage == "training" and step.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit("plans", given, cluster=here, checkpoint=states, every=2, progress=progress)
    monkeypatch.setattr(clusters, "_DEATHS", 1)
    monkeypatch.setattr(here.cluster.scheduler, "allowed_failures", 0)
    (tmp_path / "deadly").touch()
    with pytest.raises(WorkerError, match=r"ran out of memory.*Checkpoints are in .*states"):
        fit("plans", given, cluster=here, checkpoint=states, every=2)
    (tmp_path / "deadly").unlink()
    assert len(list(states.iterdir())) == 2
    found = fit("plans", given, cluster=here, checkpoint=states, every=2).fitted.theta
    assert found.tobytes() == wanted.tobytes()


def test_cluster_without_a_scheduler_or_workers_says_so(monkeypatch):
    monkeypatch.setattr(clusters, "_CONNECT", 0.5)
    with (
        pytest.raises(WorkerError, match=r"No scheduler answered at tcp://127.0.0.1:1 \(OSError"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass
    monkeypatch.setattr(clusters, "_PATIENCE", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        pytest.raises(
            WorkerError, match=r"The cluster has no workers. Start at least one. Nothing was saved"
        ),
    ):
        fit(cluster=cluster)


def test_cluster_that_hears_twice_of_a_death_is_closed_all_the_same():
    with connected("local:1") as client:
        scheduler = client.cluster.scheduler
        (told,) = [each for each in scheduler.plugins.values() if hasattr(each, "bcomm")]

        async def tell():
            told.bcomm.send(["remove", "tcp://127.0.0.1:1"])

        client.cluster.sync(tell)
    assert client.cluster.status.name == "closed"


def test_cluster_without_dask_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SettingError, match=r"pip install 'groundling\[cluster\]'"):
        fit(cluster="local:2")


def test_cluster_shares_shards_by_threads():
    shares = assign(10, {}, {"one": 1, "two": 4})
    assert {name: len(each) for name, each in shares.items()} == {"one": 2, "two": 8}
    assert assign(1, {}, {"one": 1, "two": 1}) == {"one": [0]}
    owners = {number: name for name, each in shares.items() for number in each}
    assert assign(10, owners, {"one": 1, "two": 4}) == shares
    others = assign(7, owners, {"three": 2, "one": 2})
    assert sorted(number for each in others.values() for number in each) == [*range(7)]


def test_cluster_here_listens_to_this_machine_only(here):
    psutil = pytest.importorskip("psutil")
    own = psutil.Process()
    heard = {
        each.laddr.ip
        for process in (own, *own.children(recursive=True))
        for each in process.net_connections(kind="inet")
        if each.status == psutil.CONN_LISTEN
    }
    assert heard == {"127.0.0.1"}
