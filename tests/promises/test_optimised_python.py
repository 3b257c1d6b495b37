"""`python -O` drops assertions; nothing that is promised rests on one."""

import subprocess
import sys

import pytest

from tests.promises.making import demonstrations, make_follower

SCRIPT = """
import sys, tempfile, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from groundling import Follower, GroundlingError
from groundling.data import Demonstrations
from tests.promises.making import demonstrations, make_follower, requests
follower = make_follower("plans").fit(demonstrations())
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    again = Follower.load(follower.save(folder / "model"))
    for text, world, start in requests():
        if again.follow(text, world, start).actions != follower.follow(text, world, start).actions:
            sys.exit("a model that was loaded answers otherwise")
    resumed = make_follower("plans").fit(
        demonstrations(), checkpoint=folder / "states", checkpoint_every=2
    )
    if resumed.theta_.tobytes() != follower.theta_.tobytes():
        sys.exit("checkpoints change what is learnt")
    (folder / "bad.jsonl").write_text('{"text": "go", "start": 1, "actions": [], "weight": 1e999}')
    manifest = folder / "model" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"sha256"', '"sha257"'))
    for bad in (
        lambda: list(Demonstrations.read(folder / "bad.jsonl", worlds=requests()[0][1])),
        lambda: Follower.load(folder / "model"),
        lambda: make_follower("plans").fit([]),
        lambda: follower.follow("", *requests()[0][1:]),
        lambda: make_follower("plans", seed="x"),
    ):
        try:
            bad()
        except GroundlingError:
            continue
        sys.exit("what is bad is taken")
print(follower.theta_.tobytes().hex())
"""


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_optimised_python_learns_the_same_and_refuses_the_same(option):
    done = subprocess.run(
        [sys.executable, option, "-c", SCRIPT], capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = make_follower("plans").fit(demonstrations())
    assert done.stdout.strip() == wanted.theta_.tobytes().hex()
