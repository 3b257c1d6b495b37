"""Without the optional libraries, one sentence says what to install."""

import subprocess
import sys

import pytest

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"gymnasium", "minigrid", "minari", "h5py"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
from groundling.errors import GroundlingError
"""


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", HIDE + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("use", "missing"),
    [
        ("from groundling.gym import babyai; babyai('GoToLocal')", "minigrid"),
        ("from groundling.gym import InstructionFollowing", "gymnasium"),
        ("from groundling.gym import from_minari; from_minari('x-v0')", "minari"),
    ],
)
def test_optional_libraries_are_named_when_missing(use, missing):
    said = run(f"try:\n    {use}\nexcept GroundlingError as error:\n    print(error)")
    assert said == (
        f"{missing} must be installed to use this feature. Run `pip install 'groundling[gym]'`."
    )


def test_optional_libraries_are_not_imported_with_the_package():
    code = "import sys, groundling.gym\nfrom groundling.gym import ObjectWorld, GymWorld, Agent\n"
    assert run(code + "print('gymnasium' in sys.modules)") == "False"
