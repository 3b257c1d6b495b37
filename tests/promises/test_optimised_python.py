"""`python -O` drops assertions; nothing that is promised rests on one."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.promises.making import demonstrations, make_follower

SCRIPT = """
import sys, tempfile, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from groundling import Follower, GroundingGraph, GroundlingError
from groundling.corpora.markup import parse_xml
from groundling.data import Demonstrations
from groundling.data.codec import Codec
from groundling.language.languages import Language
from groundling.world.cached_environment import CachedEnvironment
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
        lambda: GroundingGraph({str(number): "go" for number in range(20_000)}),
        lambda: Codec(requests()[0][1]).state_from_json(
            {"$set": [n * (2**61 - 1) for n in range(999)]}
        ),
        lambda: parse_xml(b"<a>" * 200, "deep.xml"),
        lambda: Language("elvish", plurals=3),
        lambda: CachedEnvironment(requests()[0][1]).carry_out(1, ["fly"]),
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


def test_optimised_python_no_check_of_what_is_given_is_an_assertion():
    """Assertions say what a type is; those of kernels are for debugging them."""
    source = Path(__file__).parents[2] / "src"
    found = []
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert) and path.parent.name != "overlay":
                text = ast.unparse(node.test)
                if not ("isinstance(" in text or text.endswith(" is not None")):
                    found.append(f"{path.relative_to(source)}:{node.lineno}: {text}")
    assert not found
