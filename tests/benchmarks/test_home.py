"""The benchmark of homes: rows, seeds, and what is said of sentences left out."""

import json
import os
from pathlib import Path

import pytest

from benchmarks import home

FOLDER = os.environ.get("GROUNDLING_CORPORA")


@pytest.mark.skipif(not FOLDER or not (Path(FOLDER) / "home").is_dir(), reason="needs corpora/home")
def test_home_benchmark_writes_what_it_measured(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(home, "measure", lambda *given: {"exact": 0.5, "fit": 1.0,
                                                         "milliseconds": 2.0})  # fmt: skip
    home.main(["--rows", "flat, spans", "--seeds", "0", "1", "--json", str(tmp_path / "f.json")])
    made = json.loads((tmp_path / "f.json").read_text())
    assert made["rows"]["flat, spans"]["exact by seed"] == [0.5, 0.5]
    assert made["left out"]["question"] > 200
    assert "297 question" in capsys.readouterr().out
