"""`groundling home`: replies in files and lines, phrases, and plain errors."""

import json

import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from tests.home.homes import DATA

yaml = pytest.importorskip("yaml", reason="needs groundling[home]")
KEYS = {"kind", "text", "changes", "options", "confidence", "milliseconds"}


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home.yaml"
    path.write_text(yaml.safe_dump(DATA), encoding="utf-8")
    return path


def run(*words, typed=None):
    return CliRunner().invoke(app, ["home", *map(str, words)], input=typed)


def test_home_replies_to_a_text(home):
    found = run("reply", home, "turn on the desk lamp")
    assert found.exit_code == 0
    assert found.output.splitlines() == ["Turned on Desk Lamp.", "  light.desk: on"]


def test_home_replies_to_lines_and_remembers(home):
    found = run("reply", home, typed="turn on the desk lamp\nturn it off\n")
    assert "light.desk: on" in found.output
    assert "light.desk: off" in found.output


def test_home_replies_to_a_file_by_the_contract(home, tmp_path):
    requests, replies = tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
    before = home.read_bytes()
    said = [
        {"home": str(home), "text": "turn off the floor lamp", "area": None, "states": {}},
        {"home": str(home), "text": "turn off the floor lamp", "area": "den",
         "states": {"light.floor": {"state": "off"}}},
        {"home": str(home), "text": "is the front door locked?"},
    ]  # fmt: skip
    requests.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    assert run("reply", "--file", requests, "--json", replies).exit_code == 0
    found = [json.loads(line) for line in replies.read_text().splitlines()]
    assert all(set(each) == KEYS for each in found)
    assert [each["kind"] for each in found] == ["act", "act", "answer"]
    assert [each["changes"] for each in found] == [{"light.floor": {"state": "off"}}, {}, {}]
    assert home.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: The request must be JSON"),
        ("[]", "must be a mapping with the strings `home` and `text`"),
        ('{"home": "nowhere.yaml", "text": "hi"}', "nowhere.yaml cannot be read"),
        ('{"home": HOME, "text": 3}', "for `text`"),
        ('{"home": HOME, "text": "hi", "area": "moon"}', "line 1: `area` must be the id"),
        ('{"home": HOME, "text": "hi", "area": 3}', "must be the id of an area or null"),
        ('{"home": HOME, "text": "hi", "states": []}', "`states` must be a mapping"),
        ('{"home": HOME, "text": "hi", "states": {"light.x": {}}}', "must contain only entities"),
    ],
)
def test_home_bad_requests_get_one_sentence(home, tmp_path, line, message):
    requests = tmp_path / "requests.jsonl"
    requests.write_text(line.replace("HOME", json.dumps(str(home))), encoding="utf-8")
    found = run("reply", "--file", requests)
    assert found.exit_code == 1
    assert message in found.output
    assert "should not happen" not in found.output


def test_home_one_bad_request_does_not_stop_the_rest(home, tmp_path):
    requests, replies = tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
    good = json.dumps({"home": str(home), "text": "turn off the floor lamp"})
    requests.write_text(f'{good}\n{{"home": "nowhere.yaml", "text": "hi"}}\n\n[\n{good}\n')
    found = run("reply", "--file", requests, "--json", replies)
    assert found.exit_code == 1
    assert "2 requests could not be read" in found.output
    assert f"{requests}, line 2: nowhere.yaml cannot be read" in found.output.replace("\n", " ")
    written = [json.loads(line) for line in replies.read_text().splitlines()]
    assert [each["kind"] for each in written] == ["act", "decline", "decline", "act"]
    assert f"{requests}, line 4: The request must be JSON" in written[2]["text"]
    assert all(set(each) == KEYS for each in written)
    assert "line 1: The file cannot be read" in run("reply", "--file", tmp_path / "none").output


def test_home_needs_a_home_or_a_file(home, tmp_path):
    assert "got neither" in run("reply").output
    assert "got both" in run("reply", home, "--file", tmp_path / "a").output


def test_home_is_taught_phrases_that_it_understands(home):
    found = run("teach", home, "movie time", "turn off the floor lamp", "close the left blind")
    assert found.exit_code == 0
    assert "home.phrases.yaml has 1 phrase." in found.output
    reply = run("reply", home, "movie time", "--json", "-")
    assert set(json.loads(reply.output)["changes"]) == {"light.floor", "cover.left"}
    refused = run("teach", home, "party", "tell me a joke")
    assert refused.exit_code == 1
    assert "must be a clear request" in refused.output
