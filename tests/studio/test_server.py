"""Starting the servers from the command line."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.errors import SettingError
from groundling.studio.project import Project
from groundling.studio.server import Address, project_folder, read_target
from tests.studio.conftest import WORLD


def test_running_only_this_machine_needs_no_token():
    with pytest.raises(SettingError, match="at least 8 characters"):
        Address("127.0.0.1", None, "short")
    local, open_one = Address("127.0.0.1", None), Address("0.0.0.0", None)
    try:
        assert local.token is None
        assert len(open_one.token) >= 20
        assert open_one.token in open_one.url
    finally:
        local.close()
        open_one.close()


def test_running_a_port_in_use_is_told():
    one = Address("127.0.0.1", None)
    one.socket.listen()
    try:
        with pytest.raises(SettingError, match="another one with --port"):
            Address("127.0.0.1", one.port)
    finally:
        one.close()


def test_running_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    assert read_target("model")["model"] == str(tmp_path / "model")
    assert read_target("w.py:Yard") == {"kind": "world", "world": f"{tmp_path}/w.py:Yard"}
    assert read_target("model", "w.py:Yard")["world"] == f"{tmp_path}/w.py:Yard"
    with pytest.raises(SettingError, match="both specify a world"):
        read_target("w.py:Yard", "w.py:Yard")
    one, two = (project_folder(read_target(each)) for each in ("w.py:Yard", "model"))
    assert one != two
    assert one.name.startswith("Yard-")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["studio", "nowhere"], "the name of a gallery world; got 'nowhere'"),
        (["studio", "none.py:World"], "There is no file"),
        (["serve", "nowhere"], "MODEL must be the folder of a model or project; got nowhere."),
    ],
)
def test_running_errors_are_one_sentence(arguments, said, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert said in done.output
    assert "Traceback" not in done.output


def test_running_says_what_to_install(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "uvicorn" else real(name, *a)
    )
    done = CliRunner().invoke(app, ["studio"])
    assert done.exit_code == 1
    assert "pip install 'groundling[studio]'" in done.output


def test_running_studio_keeps_what_was_taught_when_it_is_killed(tmp_path):
    command = [
        sys.executable, "-m", "groundling.cli.main", "studio",
        "groundling.studio.kitchen:Kitchen", "--project", str(tmp_path), "--no-browser",
        "--port", "0",
    ]  # fmt: skip
    first, address = _start(command)
    body = {"scene": "Kitchen", "text": "to the table", "actions": ["go to the table"]}
    answer = httpx.post(f"{address}api/projects/main/teach", json=body, timeout=60)
    assert answer.status_code == 201
    first.kill()  # -9, while it learns
    first.wait()
    first.stdout.close()
    second, address = _start(command)
    try:
        about = httpx.get(f"{address}api/projects/main", timeout=60).json()
        assert about["known"] == 1
        assert about["undo"] == "teaching “to the table”"
        for _ in range(1200):
            about = httpx.get(f"{address}api/projects/main", timeout=60).json()
            if about["learnt"] == about["revision"]:
                break
            time.sleep(0.1)
        assert about["trained"]
    finally:
        second.terminate()
        second.wait(timeout=60)
        second.stdout.close()


def test_running_a_stored_world_is_opened_only_if_it_is_named_or_confirmed(tmp_path, monkeypatch):
    mark, file = tmp_path / "it ran", tmp_path / "my_lamp.py"
    file.write_text(f"open({str(mark)!r}, 'w').close()\n{WORLD}", encoding="utf-8")
    folder = tmp_path / "project"
    Project(folder, {"kind": "world", "world": f"{file}:Lamp"}).close()
    mark.unlink()
    del sys.modules["my_lamp"]

    def stop(app, address, ready):
        address.close()
        app.app.state.projects.close()

    monkeypatch.setattr("groundling.studio.server.run", stop)
    command = ["studio", "--project", str(folder), "--no-browser", "--port", "0"]

    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert f"groundling studio {file}:Lamp --project {folder}" in done.output
    assert not mark.exists()

    monkeypatch.setattr("groundling.cli.studio._is_terminal", lambda: True)
    done = CliRunner().invoke(app, command, input="\n")
    assert "Do you trust it?" in done.output
    assert done.exit_code == 1
    assert not mark.exists()
    done = CliRunner().invoke(app, command, input="y\n")
    assert done.exit_code == 0, done.output
    assert mark.exists()


def _start(command):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise AssertionError(said)
