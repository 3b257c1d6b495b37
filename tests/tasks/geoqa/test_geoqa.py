"""GeoQA: maps are read from files or generated, and questions about an unseen one answered."""

import json

import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.errors import CorpusError
from groundling.tasks.geoqa.corpus import generate_maps, load_maps

FILES = {
    "world.txt": "*city;Oslo,Rome\n*state;Italy\n*in-rel;Rome#Italy\n",
    "cat_features.txt": "Oslo,T,city of _,1\nRome,T,city of _,1\nRome,T,size,0.1\n"
    "Rome,T,bias,1.0\n",
    "rel_features.txt": "Rome,Italy,T,arg1 in arg2,1\nRome,Rome,T,same,1\nRome,Oslo,T,far,nan\n",
    "training.txt": "is Rome a city ?;Rome;1;x\n# a remark;y\n\nwhich states are there ?;Italy\n"
    "is Oslo a state ?;;1\n",
}


def write(folder, **changed):
    for name in ("first", "second"):
        (folder / name).mkdir(parents=True)
        for file, text in {**FILES, **changed}.items():
            (folder / name / file).write_text(text, encoding="utf-8")
    return folder


def test_geoqa_is_read_from_files(tmp_path):
    first, _ = load_maps(write(tmp_path / "geoqa"))
    assert first.questions == (
        ("is Rome a city ?", {"Rome"}), ("which states are there ?", {"Italy"}),
        ("is Oslo a state ?", frozenset()),
    )  # fmt: skip
    assert first.facts["gold"]["Rome"] == {"city": True, "in": ["Italy"]}
    assert first.facts["raw"]["Rome"] == {"city of _": True, "arg1 in arg2": ["Italy"]}


def test_geoqa_refuses_broken_files(tmp_path):
    with pytest.raises(CorpusError, match="line 1: answers must be places on the map; got 'Mars'"):
        load_maps(write(tmp_path / "a", **{"training.txt": "where is it ?;Mars\n"}))
    with pytest.raises(CorpusError, match="nowhere cannot be read: No such file"):
        load_maps(tmp_path / "nowhere")
    (tmp_path / "b").mkdir()
    with pytest.raises(CorpusError, match="must contain at least two maps; got 0"):
        load_maps(tmp_path / "b")


def test_geoqa_sample_is_answered(tmp_path):
    assert generate_maps(2) == generate_maps(2)
    out = tmp_path / "geoqa.json"
    done = CliRunner().invoke(app, ["evaluate", "geoqa", "--sample", "-j", "1", "--json", str(out)])
    assert done.exit_code == 0, done.output
    rows = {row["name"]: row["metrics"] for row in json.loads(out.read_text())["rows"]}
    assert rows["gold relations"]["exact"] > 0.85
    assert rows["raw evidence"]["exact"] > 0.8
