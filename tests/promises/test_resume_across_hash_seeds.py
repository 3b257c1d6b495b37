"""Trainings whose states are frozen sets resume in another process, whatever its hash seed."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from tests.promises.soaking import long_test, note, rounds

KITCHEN = Path(__file__).parents[2] / "examples" / "kitchen.py"

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


COOK = """
import random, runpy, sys
from groundling import Features, Follower, Learning, Overlay, Search
kitchen = runpy.run_path(sys.argv[1])
dice = random.Random(0)
things, places = ("red cup", "blue cup", "red bowl"), ("table", "sink", "shelf")
shown = [kitchen["demonstrate"](dice, *kitchen["furnish"](dice, places, things)) for _ in range(60)]
follower = Follower(
    overlay=Overlay(unit="clause"),
    features=Features(words=("word",), slots=("place", "thing", "colour")),
    learning=Learning(l2=0.02),
    search=Search(max_length=4, threshold=0.5),
)
follower.fit(shown, checkpoint=sys.argv[2], checkpoint_every=2)
sys.stdout.write(follower.theta_.tobytes().hex())
"""


def cook(folder, seed):
    return subprocess.Popen(
        [sys.executable, "-c", COOK, str(KITCHEN), str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )  # fmt: skip


@long_test
def test_resume_across_hash_seeds_of_the_kitchen_killed_at_any_moment(tmp_path):
    began = time.monotonic()
    whole, said = cook(tmp_path / "whole", 0).communicate()
    assert whole, said
    takes, chance, kills = time.monotonic() - began, random.Random(4), 0
    for number in rounds(0.1, least=1, most=20):
        folder = tmp_path / f"{number}"
        killed = cook(folder, 2 * number + 1)
        time.sleep(chance.uniform(0.2, 1.0) * takes)
        killed.kill()
        kills += killed.communicate()[0] != whole
        done, said = cook(folder, 2 * number + 2).communicate()
        assert done == whole, said
    assert kills
    note(**{"kitchens killed at random moments and resumed": kills})
