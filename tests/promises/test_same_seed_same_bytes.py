"""Same seed, same model: to the byte, in other processes, with other hash seeds, and threads."""

import hashlib
import os
import subprocess
import sys

import numpy as np

from tests.modelfiles import FILES, file_of
from tests.promises.making import KINDS, demonstrations, make_follower

SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from tests.promises.making import KINDS, demonstrations, make_follower
for kind in KINDS:
    make_follower(kind).fit(demonstrations()).save(Path(sys.argv[1]) / kind)
"""


def sums(folder):
    found = {}
    for name in FILES:
        path = file_of(folder, name)
        found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def test_same_seed_same_bytes_in_another_process_with_another_hash_seed(followers, tmp_path):
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], check=True, timeout=600,
        env={**os.environ, "PYTHONHASHSEED": "12345"},
    )  # fmt: skip
    for kind in KINDS:
        here = followers[kind].save(tmp_path / f"{kind} here")
        assert sums(here) == sums(tmp_path / kind), kind


def test_same_seed_same_weights_with_several_threads(followers):
    for kind in KINDS:
        other = make_follower(kind, threads=3).fit(demonstrations())
        assert np.abs(other.theta_ - followers[kind].theta_).max() < 1e-9


def test_same_seed_another_seed_is_another_follower(followers):
    # Only where something is random at all.
    other = make_follower("viterbi", seed=8).fit(demonstrations())
    assert other.theta_.tobytes() != followers["viterbi"].theta_.tobytes()
