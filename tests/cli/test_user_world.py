"""A world of one's own in every command that a task has."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling import Follower
from groundling.cli.main import app
from groundling.data import Demonstrations

runner = CliRunner()
WORLD, SHOWN = "kitchen.py:Kitchen", "demonstrations.jsonl"


def run(*arguments, code=0):
    result = runner.invoke(app, [str(each) for each in arguments])
    assert "Traceback" not in result.output
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("new", "kitchen")
        said = run("train", WORLD, SHOWN, "--out", "model", "--parser", "chain")
        (folder / "said.txt").write_text(said, encoding="utf-8")
        yield folder
    for name, each in list(sys.modules.items()):
        if str(getattr(each, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def inside(kitchen, monkeypatch):
    monkeypatch.chdir(kitchen)


def test_own_world_is_trained_and_says_what_was_chosen(kitchen):
    said = (kitchen / "said.txt").read_text(encoding="utf-8")
    assert "from 10 demonstrations" in said
    assert "- Search.max_length = 2: the longest demonstration has 2 actions." in said
    assert "Try: groundling follow model --world kitchen.py:Kitchen" in said
    again = run("train", WORLD, SHOWN, "--out", "model", code=1)
    assert "already contains a model" in again


def test_own_world_is_followed_line_by_line():
    said = run("follow", "model", "go to the cellar", "turn on the light", "--world", WORLD)
    assert "('go', 'cellar')" in said
    assert "('switch on', 'cellar')" in said
    start = '{"State": {"room": "cellar"}}'
    said = run("follow", "model", "go to the hall", "--world", WORLD, "--start", start)
    assert "in the cellar" in said


def test_own_world_must_be_named_because_models_run_no_code():
    said = run("follow", "model", "go to the cellar", code=1)
    assert "Add it, for example --world kitchen.py:Kitchen." in " ".join(said.split())


def test_own_world_is_explained_and_weighed():
    assert "cellar" in run("explain", "model", "go to the cellar", "--world", WORLD)
    assert "word=" in run("weights", "model", "--word", "light")


def test_own_world_weighs_words_that_are_matched_with_values():
    assert "word=cellar ∧ room=cellar" in run("weights", "model", "--word", "cellar")
    assert "no weight for 'celler'" in run("weights", "model", "--word", "celler", code=1)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("l2=3", "--setting must contain a known setting; got 'l2'. Did you mean 'learning.l2'?"),
        (
            "learning.l3=3",
            "must contain a known setting; got 'learning.l3'. Did you mean 'learning.l",
        ),
        ("learning.l2=abc", "Learning.l2 must be a number; got 'abc'."),
        ("learning.l2=1,2", "--setting learning.l2 must have one value; got 2."),
        ("search.beam=0", "Search.beam must be >= 1"),
        ("zzz=3", "learning.tolerance, search.beam, search.budget, search.decode"),
    ],
)
def test_own_world_settings_are_checked_before_anything_is_read(setting, told):
    said = run("train", WORLD, "no-such-file.jsonl", "--out", "new", "-s", setting, code=1)
    assert told in " ".join(said.split())
    assert not Path("new").exists()


def test_own_world_choices_are_changed_on_the_command_line(kitchen):
    said = (kitchen / "said.txt").read_text(encoding="utf-8")
    assert "set_params" not in said
    assert "To change it: --setting features.slots=…" in said


def test_own_world_says_that_a_start_is_no_state():
    said = run(
        "follow", "model", "go to the cellar", "--world", WORLD, "--start", '"cellar"', code=1
    )
    said = " ".join(said.split())
    assert (
        "--start must be a state of Kitchen; got 'cellar': Kitchen.actions('cellar') raise" in said
    )
    assert """For example: --start '{"State": {"room": "kitchen", "lit": """ in said
    assert "check_environment" not in said


def test_own_world_mistakes_are_listed_whole_on_request(kitchen):
    sung = {"text": "sing a song", "start": {"State": {"room": "kitchen"}}}
    lines = [json.dumps({**sung, "actions": [["go", room]]}) for room in ("hall", "cellar")] * 12
    head = Path(SHOWN).read_text(encoding="utf-8").splitlines()[0]
    Path("songs.jsonl").write_text("\n".join([head, *lines]), encoding="utf-8")
    few = run("diagnose", WORLD, "songs.jsonl", "--model", "model")
    every = run("diagnose", WORLD, "songs.jsonl", "--model", "model", "--all")
    assert "more with --all" in few
    assert "more with" not in every
    assert every.count("sing a song") == 24


def test_own_world_settings_change_what_was_chosen():
    said = run(
        "train", WORLD, SHOWN, "--out", "changed", "--parser", "chain",
        "--setting", "learning.l2=3", "-s", "features.slots=room",
    )  # fmt: skip
    assert "Search.max_length = 2" in said
    assert "To change it: --setting search.max_length=…" in said
    assert "- learning.l2=3: set by you." in said
    follower = Follower.load("changed")
    assert follower.learning.l2 == 3
    assert follower.features.slots == ("room",)
    arguments = ("train", WORLD, SHOWN, "--out", "none", "--setting")
    said = " ".join(run(*arguments, "learning.l3=3", code=1).split())
    assert "must contain a known setting; got 'learning.l3'" in said
    assert "must have one value" in run(*arguments, "learning.l2=3,4", code=1)
    assert "--setting must not be combined" in run(
        *arguments, "learning.l2=3", "--memory", "1GB", code=1
    )


def test_own_world_is_diagnosed():
    apart = run("diagnose", WORLD, SHOWN, "--model", "model", "--folds", "2")
    assert "demonstrations are followed as demonstrated" in apart
    said = run("diagnose", WORLD, SHOWN, "--model", "model")
    assert "10 of 10 demonstrations are followed as demonstrated." in said
    record = {
        "text": "go to the attic", "world": {"Kitchen": {"rooms": ["attic", "barn", "cellar"]}},
        "start": {"State": {"room": "barn"}}, "actions": [["go", "cellar"]],
    }  # fmt: skip
    Path("other.jsonl").write_text(json.dumps(record), encoding="utf-8")
    said = run("diagnose", WORLD, "other.jsonl", "--model", "model")
    assert "0 of 1 demonstration is followed as demonstrated." in said
    assert "Mistakes by reason:" in said


def test_own_world_actions_are_json_as_in_files():
    result = runner.invoke(app, ["follow", "model", "go to the cellar", "--world", WORLD, "--json"])
    found = json.loads(result.stdout)
    assert found["actions"] == [["go", "cellar"]]
    assert found["plans"][0]["actions"] == [["go", "cellar"]]


def test_own_world_is_followed_in_the_world_of_the_first_demonstration():
    record = {
        "text": "go", "world": {"Kitchen": {"rooms": ["attic", "barn"]}},
        "start": {"State": {"room": "barn"}}, "actions": [["go", "attic"]],
    }  # fmt: skip
    with open("there.jsonl", "w", encoding="utf-8") as file:
        file.write(json.dumps(record))
    there = ("--world", WORLD, "--demonstrations", "there.jsonl")
    said = run("follow", "model", "go to the attic", *there)
    assert "in the barn" in said
    assert "('go', 'attic')" in said
    start = '{"State": {"room": "attic"}}'
    assert "('go', 'barn')" in run("follow", "model", "go to the barn", *there, "--start", start)


def test_own_world_explanation_says_where_its_figure_is():
    said = run("explain", "model", "go to the cellar", "--world", WORLD, "--figure", "why.png")
    assert "The figure is in why.png." in said


def test_own_world_is_evaluated_by_its_parts():
    said = run("evaluate", WORLD, SHOWN, "--folds", "2", "--jobs", "1", "--parser", "chain",
               "--json", "own.json")  # fmt: skip
    assert "2 folds, groups held out together" in said
    with open("own.json", encoding="utf-8") as file:
        found = json.load(file)
    [row] = found["rows"]
    assert (found["task"], found["preset"], row["note"]) == (WORLD, "auto", "10 demonstrations")
    wrong = len(found.get("mistakes", ()))
    assert row["metrics"] == {"right": pytest.approx(1 - wrong / 10)}


def test_own_world_evaluation_says_which_demonstrations_went_wrong(kitchen):
    records = Path(SHOWN).read_text(encoding="utf-8").splitlines()
    sung = {"text": "hum a tune", "start": {"State": {"room": "kitchen"}},
            "actions": [["go", "cellar"]], "name": "odd", "group": "odd"}  # fmt: skip
    Path("sung.jsonl").write_text("\n".join([*records, *[json.dumps(sung)] * 12]) + "\n", "utf-8")
    said = run("evaluate", WORLD, "sung.jsonl", "--model", "model", "--json", "wrong.json")
    assert "12 wrong:" in said
    assert said.count("- “hum a tune” (odd): expected [['go', 'cellar']]; got [[") == 10
    assert "- and 2 more, all of them in --json" in said
    with open("wrong.json", encoding="utf-8") as file:
        wrong = json.load(file)["mistakes"]
    assert len(wrong) == 12
    assert (wrong[0]["name"], wrong[0]["wanted"]) == ("odd", [["go", "cellar"]])
    assert wrong[0]["got"] != wrong[0]["wanted"]
    said = run("evaluate", WORLD, "sung.jsonl", "--folds", "2", "--parser", "chain")
    assert "“hum a tune” (odd): expected [['go', 'cellar']]" in said


def test_own_world_starts_where_a_name_says(kitchen):
    content = Path("kitchen.py").read_text(encoding="utf-8")
    starts = '{"evening": State("cellar"), "night": State("hall")}'
    content += f"\n\nclass Manor(Kitchen):\n    starts = {starts}\n"
    Path("manor.py").write_text(content, encoding="utf-8")
    asked = ("follow", "model", "go to the hall", "--world", "manor.py:Manor", "--start")
    assert "in the cellar" in run(*asked, "evening")
    assert "in the hall" in run(*asked, '{"State": {"room": "hall"}}')
    said = " ".join(run(*asked, "evenin", code=1).split())
    assert "Pass the initial state as JSON or by name. Did you mean 'evening'?" in said
    said = " ".join(run(*asked, "noon", code=1).split())
    assert "Known: 'evening', 'night'." in said
    assert "Initial state:" in run("check", "manor.py:Manor", "--start", "night")


def test_own_world_warns_once_of_another_world_than_the_one_learnt_in(kitchen):
    content = Path("kitchen.py").read_text(encoding="utf-8")
    assert '"place": {"room": room}' in content
    content = content.replace('"place": {"room": room}', '"place": {"called": room}')
    Path("bare.py").write_text(content, encoding="utf-8")
    told = "Warning: No possible action here has the label 'room', which some action had"
    asked = ("model", "go to the hall", "go to the cellar", "--world")
    for command in ("follow", "explain"):
        assert run(command, *asked, "bare.py:Kitchen").count(told) == 1
        assert told not in run(command, *asked, WORLD)
    judge = ("--model", "model")
    assert run("evaluate", "bare.py:Kitchen", SHOWN, *judge).count(told) == 1
    assert told not in run("evaluate", WORLD, SHOWN, *judge)
    assert told.removeprefix("Warning: ") in run("diagnose", "bare.py:Kitchen", SHOWN, *judge)


def test_own_world_judges_a_trained_model_on_other_demonstrations():
    said = run("evaluate", WORLD, SHOWN, "--model", "model", "--json", "judged.json")
    assert "model on 10 demonstrations" in said
    with open("judged.json", encoding="utf-8") as file:
        found = json.load(file)
    assert found["rows"][0]["metrics"] == {"right": 1.0}
    assert "mistakes" not in found
    said = run("evaluate", WORLD, SHOWN, "--model", "model", "--folds", "2", code=1)
    assert "--model must not be combined with --folds" in " ".join(said.split())
    said = run("evaluate", "mazes", "--model", "model", "--sample", code=1)
    assert "was trained in a user's own world" in " ".join(said.split())


@pytest.mark.parametrize(
    ("command", "option", "told"),
    [
        ("train", ("--preset", "bset"), "has no preset 'bset'"),
        ("train", ("--leave-out", "L"), "There is no demonstration 'L'"),
        ("evaluate", ("--row", "fool"), "has no row 'fool'"),
        ("evaluate", ("--sample",), "your own world has no corpus"),
        ("evaluate", ("--corpora", "."), "your own world has no corpus"),
    ],
)
def test_own_world_is_told_of_options_as_any_task(command, option, told):
    out = ("--out", "none") if command == "train" else ()
    assert told in " ".join(run(command, WORLD, SHOWN, *option, *out, code=1).split())


def test_own_world_is_evaluated_by_other_processes():
    said = run("evaluate", WORLD, SHOWN, "--folds", "2", "--parser", "chain", "--jobs", "2")
    assert "fold 2" in said


def test_own_world_settings_are_tuned(kitchen):
    tried = ("--setting", "learning.l2=0.1,1000", "--parser", "chain", "--jobs", "1")
    run("tune", WORLD, SHOWN, *tried, "--json", "tried.json")
    found = json.loads(Path("tried.json").read_text(encoding="utf-8"))
    assert found["best"] == {"parser": "chain", "learning.l2": 0.1}


def test_own_world_is_drawn_if_it_draws_itself(kitchen):
    asked = ("follow", "model", "go to the cellar", "--picture", "way.svg", "--world")
    assert "Kitchen must have a method draw(state)" in " ".join(run(*asked, WORLD, code=1).split())
    content = Path("kitchen.py").read_text(encoding="utf-8")
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>{state.room}</text></svg>'
    )
    content += f"\n    def draw(self, state):\n        return f'{svg}'\n"
    Path("drawn.py").write_text(content, encoding="utf-8")
    run(*asked, "drawn.py:Kitchen")
    assert "<text>cellar</text>" in Path("way.svg").read_text(encoding="utf-8")


def test_own_world_with_a_wrong_name_is_told_before_any_record_is_read():
    said = " ".join(run("train", "kitchen.py:Kitchin", SHOWN, "--out", "none", code=1).split())
    assert "kitchen.py does not define 'Kitchin'. Did you mean 'Kitchen'?" in said
    assert "jsonl" not in said
    said = " ".join(run("train", "kitchin.py:Kitchen", SHOWN, "--out", "none", code=1).split())
    assert "There is no file kitchin.py" in said


def test_own_world_is_tuned():
    said = run("tune", WORLD, SHOWN, "--seconds", "0", "--parser", "chain", "--out", "tuned")
    assert "← kept" in said
    assert "The best model is in tuned." in said


def test_own_world_leaves_bad_records_out_on_request(kitchen):
    lines = (kitchen / SHOWN).read_text(encoding="utf-8").splitlines()
    bad = json.dumps(
        {"text": "fly", "start": {"State": {"room": "hall"}}, "actions": [["fly", ""]]}
    )
    (kitchen / "bad.jsonl").write_text("\n".join([*lines, bad]) + "\n", encoding="utf-8")
    run("train", WORLD, "bad.jsonl", "--out", "other", "--parser", "chain", code=1)
    said = run("train", WORLD, "bad.jsonl", "--out", "other", "--parser", "chain", "--skip-bad")
    assert "1 invalid records were skipped" in said
    assert "bad.jsonl:12" in said


def test_own_world_needs_demonstrations():
    assert f"{WORLD} must have at least one file of demonstrations; got none." in " ".join(
        run("train", WORLD, "--out", "none", code=1).split()
    )


@pytest.mark.parametrize("arguments", [(SHOWN,), ("--skip-bad",)])
@pytest.mark.parametrize("command", ["train", "evaluate", "tune"])
def test_files_are_not_for_tasks(command, arguments):
    said = run(command, "mazes", *arguments, code=1)
    assert "can be used only with your own world" in " ".join(said.split())


def test_own_world_is_trained_in_shards_with_bounded_memory(kitchen):
    said = run("train", WORLD, SHOWN, "--out", "small", "--memory", "1GB", "--parser", "chain")
    assert "weights from 10 demonstrations" in said
    # Where training can go on from, L-BFGS begins again every so many steps.
    whole = Follower(parser="chain").fit(Demonstrations.read(SHOWN, WORLD), checkpoint="states")
    assert Follower.load("small").theta_.tolist() == whole.theta_.tolist()
    assert not (kitchen / "small" / "checkpoints").exists()
    lines = (kitchen / SHOWN).read_text(encoding="utf-8").splitlines()
    (kitchen / "bad.jsonl").write_text("\n".join([*lines, "{}"]), encoding="utf-8")
    some = ("bad.jsonl", "--memory", "1GB", "--parser", "chain")
    said = run("train", WORLD, *some, "--out", "some", "--skip-bad")
    assert "weights from 10 demonstrations" in said
    assert "bad.jsonl:12" in run("train", WORLD, *some, "--out", "none", code=1)
    assert "can be used only with demonstration files" in run(
        "train", WORLD, "--out", "none", "--memory", "1GB", code=1
    )
