"""Nothing that is read from a file is ever run."""

import ast
import io
import pickle
import zipfile
from pathlib import Path

import pytest

import groundling
from groundling import Features, Follower
from groundling.errors import SettingError
from tests.modelfiles import FILES, file_of, refused, resign
from tests.promises.making import demonstrations, make_follower

SOURCE = Path(groundling.__file__).parent


class Trap:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.fixture
def folder(followers, tmp_path):
    return followers["plans"].save(tmp_path / "model")


@pytest.mark.parametrize("name", FILES)
def test_no_code_from_files_pickles_are_refused(folder, name, tmp_path):
    mark = tmp_path / "it ran"
    plain = pickle.dumps(Trap(mark))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.pkl", plain)
    for data in (plain, packed.getvalue(), b"\x93NUMPY\x01\x00" + plain):
        file_of(folder, name).write_bytes(data)
        refused(folder)
    assert not mark.exists()


def test_no_code_from_files_pickles_with_fitting_sums_are_refused(folder, tmp_path):
    mark = tmp_path / "it ran"
    resign(folder, weights=pickle.dumps(Trap(mark)))
    refused(folder)
    assert not mark.exists()


def test_no_code_from_files_pickles_beside_a_model_are_not_looked_at(folder, tmp_path):
    for name in ("model.pkl", "weights.pt", "__init__.py", "tables.py"):
        (folder / name).write_bytes(pickle.dumps(Trap(tmp_path / "it ran")))
    Follower.load(folder)
    assert not (tmp_path / "it ran").exists()


def join_own(word, node):
    return [("own", 1.0)]


def test_no_code_from_files_names_of_functions_are_not_looked_up(tmp_path):
    features = Features(joins=("conjunction", join_own))
    folder = make_follower(features=features).fit(demonstrations()).save(tmp_path / "own")
    with pytest.raises(SettingError, match="Pass it to"):
        Follower.load(folder)

    def change(manifest, tables, arrays):
        tables["members"][0]["features"]["joins"] = ["conjunction", "os.system"]

    resign(folder, change)
    with pytest.raises(groundling.GroundlingError):
        Follower.load(folder)


FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "joblib.load",
    "torch.load", "marshal.loads", "yaml.load", "os.system", "os.popen",
    "shelve.open",
}  # fmt: skip


def test_no_code_from_files_nothing_in_the_source_could_run_it():
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not called & FORBIDDEN, path
        for node in ast.walk(tree):
            for word in node.keywords if isinstance(node, ast.Call) else ():
                assert word.arg != "allow_pickle" or ast.unparse(word.value) == "False", path
