"""Workers of a cluster die at random for as long as one likes: θ is the same to the last bit."""

import os
import random
import signal
import threading
import time

import pytest

from groundling.errors import WorkerError
from groundling.scale.cluster import connected
from tests.promises.soaking import long_test, note, rounds
from tests.scale.making import fit, shown

pytest.importorskip("distributed", reason="needs groundling[cluster]")


@long_test
@pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")
def test_dask_workers_may_die_at_any_moment(tmp_path):
    given = shown(60)
    wanted = {kind: fit(kind, given).fitted.theta.tobytes() for kind in ("plans", "decisions")}
    chance, deaths, trainings, resumed = random.Random(5), 0, 0, 0
    with connected("local:2") as client:
        cluster = client.cluster
        over = threading.Event()

        def kill():
            nonlocal deaths
            while not over.wait(chance.uniform(5, 20)):
                # One that dies while it starts is not started again by Dask.
                known = cluster.scheduler.workers
                nannies = list(cluster.workers.values())
                living = [each.pid for each in nannies if each.worker_address in known]
                if living:
                    os.kill(chance.choice(living), signal.SIGKILL)
                    deaths += 1

        killer = threading.Thread(target=kill)
        killer.start()
        began = time.monotonic()
        try:
            for number in rounds(0.9, least=1):
                kind = ("plans", "decisions")[number % 2]
                options = {"cluster": client, "checkpoint": tmp_path / str(number)}
                for _ in range(20):
                    try:
                        learnt = fit(kind, given, **options)
                    except WorkerError:  # by chance, the same part was hit four times
                        resumed += 1
                    else:
                        break
                assert learnt.fitted.theta.tobytes() == wanted[kind]
                trainings += 1
        finally:
            over.set()
            killer.join()
    assert deaths
    note(
        **{
            "cluster: workers killed": deaths,
            "cluster: trainings to the same bytes": trainings,
            "cluster: trainings resumed after an error": resumed,
            "cluster: minutes": round((time.monotonic() - began) / 60, 1),
        }
    )
