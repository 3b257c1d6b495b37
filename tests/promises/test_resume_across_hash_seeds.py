"""Trainings whose states are frozen sets resume in another process, whatever its hash seed."""

import os
import subprocess
import sys

from tests.promises.soaking import note, rounds

SCRIPT = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from groundling import Demonstration, GroundingGraph
from tests.promises.making import make_follower

class Shelf:
    things = ("mug", "bowl", "plate", "fork", "spoon")
    def actions(self, held):
        return [("put" if thing in held else "take", thing) for thing in self.things]
    def step(self, held, action):
        return held ^ {action[1]}
    def ground(self, held, action, after):
        verb, thing = action
        return GroundingGraph({"event": {verb: True}, "thing": {"item": thing}},
                              [("event", "thing", "object")])

shelf = Shelf()
shown = [
    Demonstration("take the mug", shelf, frozenset(), [("take", "mug")]),
    Demonstration("take the bowl", shelf, frozenset({"mug", "fork", "plate"}), [("take", "bowl")]),
    Demonstration("put the mug back", shelf, frozenset({"mug", "spoon"}), [("put", "mug")]),
    Demonstration("take the plate", shelf, frozenset({"fork", "spoon"}), [("take", "plate")]),
]
steps = 0
def progress(report):
    global steps
    trained = report.loss == report.loss  # there is none before training
    steps += trained
    if trained and steps == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
follower = make_follower()
follower.fit(shown, checkpoint=sys.argv[1], checkpoint_every=1, progress=progress)
sys.stdout.write(follower.theta_.tobytes().hex())
"""


def train(folder, stop, seed):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), str(stop)],
        capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )  # fmt: skip


def test_resume_across_hash_seeds_after_being_killed(tmp_path):
    whole = train(tmp_path / "whole", 0, 1)
    assert whole.returncode == 0, whole.stderr
    kills = 0
    for number in rounds(0.1, least=1, most=20):
        assert train(tmp_path / f"{number}", 3 + number, 2 * number).returncode == -9
        done = train(tmp_path / f"{number}", 0, 2 * number + 1)
        assert done.returncode == 0, done.stderr
        assert done.stdout == whole.stdout
        kills += 1
    note(**{"trainings over frozen sets killed and resumed": kills})
