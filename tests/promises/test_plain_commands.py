"""The command line never says that something should not happen."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from groundling.cli import stage
from groundling.cli.common import whole
from groundling.cli.typed_settings import read_settings
from groundling.errors import InstructionError, SettingError
from groundling.tasks.presets import with_changes
from groundling.tasks.task_registry import get_task

SCRIPT = "from groundling.cli.main import app; app()"


def command(*arguments, **options):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, check=False, timeout=300,
        **options,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"should not happen" not in done.stderr, done.stderr
    return done


def test_plain_commands_closed_input_is_told(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InstructionError, match="requires an instruction; got none"):
        stage.instructions(None, None)


class Undecodable:
    closed = False

    def isatty(self):
        return False

    def read(self, size):
        return b"\xff\xfe go".decode("utf-8")


def test_plain_commands_input_that_is_no_text_is_told(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Undecodable())
    with pytest.raises(InstructionError, match="must be UTF-8 text"):
        stage.instructions(None, None)


def test_plain_commands_input_without_end_is_refused(monkeypatch):
    monkeypatch.setenv("GROUNDLING_LIMIT_IMPORT_BYTES", "1000")
    for given in (Path("/dev/zero"), None):
        with open("/dev/zero", encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            with pytest.raises(InstructionError, match="must have at most 1,000 bytes"):
                stage.instructions(None, given)


def test_plain_commands_bytes_that_are_no_text_can_be_written():
    [said] = stage.instructions([b"go \xff left".decode("utf-8", "surrogateescape")], None)
    assert said == "go \ufffd left" == whole("go \ud800 left")
    json.dumps(said, ensure_ascii=False).encode("utf-8")


def test_plain_commands_values_of_other_kinds_are_told():
    chosen = get_task("puzzles").presets.select("best", "full")
    [changes] = read_settings(["learning.l2=abc"])
    with pytest.raises(SettingError, match=r"(?i)learning\.l2"):
        with_changes(chosen, changes)


def test_plain_commands_output_may_be_ascii(tmp_path):
    import os

    done = command(
        "corpora", "check", str(tmp_path / "“nowhere”"),
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert done.returncode == 1
    assert b"folder of the corpora must exist" in done.stderr
    done = command(
        "corpora", "list", "--json",
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0",
             "GROUNDLING_CORPORA": "", "XDG_DATA_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout.decode("ascii"))["corpora"]


@pytest.mark.parametrize("name", ["new lamp", "demo", "train puzzles", "reproduce"])
@pytest.mark.parametrize("empty", ["", " "])
def test_plain_commands_refuse_an_empty_folder(tmp_path, name, empty):
    done = command(*name.split(), "--out", empty, cwd=tmp_path)
    assert done.returncode == 2
    assert b"the folder must have a name" in done.stderr
    assert not list(tmp_path.iterdir())


def test_plain_commands_explain_where_there_is_only_ascii(followers, tmp_path):
    (tmp_path / "line.py").write_text("from tests.worlds import Line as Row\n")
    followers["plans"].save(tmp_path / "model")
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = command(
        "explain", str(tmp_path / "model"), "go left", "--world", "line.py:Row", "--start", "2",
        cwd=tmp_path, env={**os.environ, **ascii_only, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"left" in done.stdout
    assert done.stdout.isascii()
