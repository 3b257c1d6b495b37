"""What the page asks its server."""

import json
import time
from functools import partial

import pytest

from groundling import Agent
from groundling.studio.app import make_studio
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.rate_limit import RateLimit
from tests.studio.conftest import LocalClient

MAIN = "/api/projects/main"
SCENE = "Kitchen 1"


@pytest.fixture
def client(tmp_path):
    projects = OpenProjects(tmp_path / "project", {"kind": "lesson"})
    with LocalClient(make_studio(projects, limit=RateLimit(seconds=120))) as made:
        yield made


def teach(client, text, *actions, project=MAIN, wait=True):
    body = {"scene": SCENE, "text": text, "actions": list(actions)}
    answer = client.post(f"{project}/teach", json=body)
    assert answer.status_code == 201, answer.text
    if wait:
        settle(client, project)
    return answer.json()["demonstration"]


def settle(client, project=MAIN):
    for _ in range(1200):
        about = client.get(project).json()
        if about["learnt"] == about["revision"] or about["problem"]:
            return about
        time.sleep(0.05)
    raise AssertionError("it never learnt")


def follow(client, text, project=MAIN):
    return client.post(f"{project}/say", json={"scene": SCENE, "text": text}).json()


def test_app_knows_nothing_at_first_and_then_what_it_was_taught(client):
    assert follow(client, "zum Tisch") == {"trained": False}
    teach(client, "zum Tisch", "go to the table")
    plan = follow(client, "zum Tisch")
    assert [each["label"] for each in plan["actions"]] == ["go to the table"]
    assert len(plan["frames"]) == 2
    assert plan["frames"][1]["svg"].startswith("<svg")
    assert 0 < plan["confidence"] <= 1


def test_app_answers_are_those_of_the_library(client):
    teach(client, "zum Tisch", "go to the table")
    teach(client, "nimm die Tasse", "take the blue cup")
    project = client.app.app.state.projects.get("main")
    scene = project.setting.scenes[0]
    kinds = []
    for text in ("zum Tisch", "nimm die rote Tasse", "irgendwas"):
        told = follow(client, text)
        agent = Agent(
            project.follower, scene.environment, scene.start,
            may_say=partial(project.was_said, scene),
        )  # fmt: skip
        turn = agent.say(text)
        plan = project.follower.follow(text, scene.environment, scene.start)
        assert (told["kind"], told["text"]) == (turn.kind, turn.text if turn.kind != "act" else "")
        assert told["confidence"] == turn.confidence
        assert [each["text"] for each in told["options"]] == [each.text for each in turn.options]
        acted = turn.plan.actions if turn.kind == "act" else ()
        assert [each["json"] for each in told["actions"]] == list(acted)
        kinds.append(turn.kind)
        why = client.post(f"{MAIN}/explain", json={"scene": SCENE, "text": text}).json()
        assert why["score"] == plan.explain().score
    assert kinds[0] == "act"
    assert kinds[-1] == "decline"


def say(client, text, **more):
    told = client.post(f"{MAIN}/say", json={"scene": SCENE, "text": text, **more})
    assert told.status_code == 200, told.text
    return told.json()


@pytest.fixture
def ambiguous(client):
    """A robot for which “los” may mean two things."""
    teach(client, "los olu", "go to the table")
    teach(client, "los iki", "go to the shelf")
    return client


def test_app_asks_and_takes_a_click_or_a_fragment_for_a_reply(ambiguous):
    asked = say(ambiguous, "los", language="german")
    assert (asked["kind"], asked["before"], len(asked["options"])) == ("ask", ["los"], 2)
    # Nothing tells the language but the page; values of the world are no words of the user.
    assert asked["text"] == "Meinst du „los olu“ oder „los iki“?"
    assert asked["actions"] == []
    labels = [[each["label"] for each in one["actions"]] for one in asked["options"]]
    for place, wanted in enumerate(labels):
        told = say(ambiguous, "click", before=asked["before"], choice=place)
        assert (told["kind"], [each["label"] for each in told["actions"]]) == ("act", wanted)
        assert told["teaches"] == "los"
    told = say(ambiguous, "das zweite", before=asked["before"], language="german")
    assert [each["label"] for each in told["actions"]] == labels[1]
    told = say(ambiguous, "egal", before=asked["before"], language="german")
    assert (told["kind"], told["text"]) == ("decline", "Gut, dann nicht.")
    assert say(ambiguous, "los", language="english")["text"].startswith("Do you mean ")


def test_app_questions_have_only_words_that_were_said(tmp_path):
    project = Project(tmp_path, {"kind": "gallery", "name": "kitchen"})
    try:
        project.learn_now()
        scene = project.setting.scenes[0]
        holding = scene.start
        for action in ("go to the shelf", "take the red bowl"):
            holding = scene.environment.step(holding, action)
        turn = project.say(scene, holding, "put it on the sink and take a cup")
        assert turn.kind == "act"
        assert turn.text == ", ".join(turn.plan.actions)
        turn = project.say(scene, holding, "take the cup to the sink")
        assert turn.kind == "ask"
        for each in turn.options:
            named = ", ".join(each.plan.actions)
            assert project.was_said(scene, each.text, each.plan) or each.text == named
            assert f"“{each.text}”" in turn.text
        table = project.follow(scene, scene.start, "go to the table")
        assert project.was_said(scene, "Go to the TABLE!", table)
        assert not project.was_said(scene, "go to the sink", table)
        assert not project.was_said(scene, "walk to the sink blue cup", table)
    finally:
        project.close()


def test_app_never_calls_an_option_by_the_words_for_another_thing(client):
    teach(client, "flitz zum Tisch", "go to the table")
    teach(client, "schnapp die blaue Tasse", "take the blue cup")
    project = client.app.app.state.projects.get("main")
    scene = project.setting.scene("Kitchen 4")
    assert "take the blue cup" not in scene.environment.actions(scene.start)
    [red] = (each for each in scene.environment.actions(scene.start) if each.startswith("take"))
    texts = ("schnapp die Tasse", "flitz", "schnapp", "schnapp die blaue Tasse", "die blaue Tasse")
    for text in texts:
        turn = project.say(scene, scene.start, text, language="german")
        for each in turn.options:
            if red in each.plan.actions:
                assert "blaue" not in each.text


def test_app_says_which_word_it_does_not_know(client):
    teach(client, "geh zum Tisch", "go to the table")
    teach(client, "geh zum Regal", "go to the shelf")
    told = say(client, "brate Toaster")
    assert told["kind"] == "decline"
    assert told["text"] == "Die Wörter „brate“ und „Toaster“ kenne ich nicht."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"text": ""}, "The text must contain at least one word."),
        ({"text": "geh " * 10_000}, "must have at most"),
        ({"text": "los", "before": ["x"] * 9}, "before"),
        ({"text": "los", "choice": -1}, "choice"),
        ({"text": "los", "before": ["los"], "choice": 9}, "from 0 to 1; got 9"),
        ({"text": "los", "scene": "Moon"}, "There is no scene 'Moon'."),
    ],
)
def test_app_refuses_bad_turns_in_one_sentence(ambiguous, body, said):
    before = ambiguous.get(MAIN).json()
    told = ambiguous.post(f"{MAIN}/say", json={"scene": SCENE, **body})
    assert told.status_code == 422
    assert said in told.json()["detail"]
    assert ambiguous.get(MAIN).json() == before


def test_app_reply_to_no_question_changes_nothing(ambiguous):
    told = say(ambiguous, "the second one", language="english")
    assert told["kind"] == "decline"
    # A question that is not open any more (the robot has learnt): heard as a new text.
    told = say(ambiguous, "los", before=["geh zum Mond"])
    assert told["kind"] == "ask"
    assert told["before"] == ["los"]


def test_app_walks_and_says_what_can_be_done(client):
    body = {"scene": SCENE, "actions": ["take the blue cup"]}
    seen = client.post(f"{MAIN}/walk", json=body).json()
    assert [each["label"] for each in seen["possible"]][-1] == "put down the blue cup"
    body["actions"] = ["take the red cup"]
    refused = client.post(f"{MAIN}/walk", json=body)
    assert refused.status_code == 422
    assert "is impossible in state" in refused.json()["detail"]


def test_app_goes_on_from_where_a_plan_ended(client):
    body = {"scene": SCENE, "actions": ["go to the table"]}
    seen = client.post(f"{MAIN}/continue", json=body).json()
    assert "at the table" in seen["frames"][0]["text"]


def test_app_undo_edit_delete_and_first_tries(client):
    one = teach(client, "zum Tisch", "go to the table")
    two = teach(client, "zum Tisch", "go to the table")
    assert (one["right_before"], two["right_before"]) == (False, True)
    patched = client.patch(f"{MAIN}/demonstrations/{two['id']}", json={"weight": 3.0}).json()
    assert patched["weight"] == 3.0
    client.delete(f"{MAIN}/demonstrations/{one['id']}")
    assert client.get(MAIN).json()["undo"] == "deleting “zum Tisch”"
    assert client.post(f"{MAIN}/undo").json()["undone"] == "deleting “zum Tisch”"
    found = client.get(f"{MAIN}/demonstrations", params={"search": "TISCH"}).json()
    assert [each["weight"] for each in found["demonstrations"]] == [3.0, 1.0]
    bad = client.patch(f"{MAIN}/demonstrations/{two['id']}", json={"actions": ["fly"]})
    assert bad.status_code == 422
    assert client.patch(f"{MAIN}/demonstrations/999", json={"weight": 1}).status_code == 422
    for _ in range(3):
        client.post(f"{MAIN}/undo")
    assert client.post(f"{MAIN}/undo").json()["detail"] == "There is no change to undo."
    assert settle(client)["trained"] is False


def test_app_curve_moves_on_demonstrations_kept_apart(client):
    kept = teach(client, "nimm die Tasse", "take the blue cup")
    client.patch(f"{MAIN}/demonstrations/{kept['id']}", json={"apart": True})
    teach(client, "zum Tisch", "go to the table")
    teach(client, "nimm die Tasse", "take the blue cup")
    shares = [each["accuracy"] for each in settle(client)["curve"]]
    assert shares[-1] == 1.0
    assert 0.0 in shares


def test_app_exports_and_imports_the_same(client):
    teach(client, "zum “Tisch”", "go to the table")
    lines = client.get(f"{MAIN}/export").content
    assert json.loads(lines.splitlines()[1])["text"] == "zum “Tisch”"
    done = client.post(
        f"{MAIN}/import", content=lines, headers={"content-type": "application/x-ndjson"}
    )
    assert (done.json()["imported"], done.json()["known"]) == (0, 1)  # duplicates are merged
    other = lines.splitlines()[1].replace(b"zum", b"zu dem")
    broken = lines + other + b'\n{"text": "x", "start": 3, "actions": ["fly"]}\n'
    told = client.post(
        f"{MAIN}/import", content=broken, headers={"content-type": "application/x-ndjson"}
    ).json()
    assert (told["imported"], [each["line"] for each in told["refused"]]) == (1, [4])
    assert client.get(MAIN).json()["known"] == 2  # the others are taken


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"text": "  "}, "The text must contain at least one word"),
        ({"text": "Geh. " * 100}, "at most 30 sentences; got 100"),
        ({"text": "x" * 5000}, "at most 4,000 characters; got 5,000"),
        ({"text": "geh", "scene": "Kitchn 1"}, "Did you mean 'Kitchen 1'"),
        ({"text": "geh", "start": {"Robot": {}}}, "must define the class 'Robot'"),
        ({"text": "geh", "start": "nowhere"}, "raised"),
        ({"text": "geh", "more": 1}, "Extra inputs"),
        ({"text": 3}, "valid string"),
    ],
)
def test_app_bad_input_is_one_sentence(client, body, said):
    teach(client, "zum Tisch", "go to the table")
    answer = client.post(f"{MAIN}/say", json={"scene": SCENE, **body})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert said in answer.json()["detail"]
    assert "\n" not in answer.json()["detail"]


def test_app_refuses_what_json_cannot_hold(client):
    for text in ('{"scene": "\\ud800", "text": "a"}', '{"scene": "a", "text": "a", "start": NaN}'):
        answer = client.post(
            f"{MAIN}/walk", content=text, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (400, 422)


def test_app_projects_do_not_mix(client):
    made = client.post("/api/worlds", json={"gallery": "empty-kitchen"}).json()
    lesson = f"/api/projects/{made['project']}"
    teach(client, "zum Tisch", "go to the table")
    teach(client, "zum Tisch", "go to the shelf", project=lesson)
    assert follow(client, "zum Tisch")["actions"][0]["json"] == "go to the table"
    assert follow(client, "zum Tisch", lesson)["actions"][0]["json"] == "go to the shelf"


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fmain", "nobody", "main%00"])
def test_app_no_name_of_a_client_is_a_path(client, name):
    assert client.get(f"/api/projects/{name}").status_code in (404, 409)
    assert client.get(f"/static/{name}/{name}/store.py").status_code == 404


def test_app_project_survives_being_closed(tmp_path):
    folder = tmp_path / "project"
    with LocalClient(make_studio(OpenProjects(folder, {"kind": "lesson"}))) as client:
        teach(client, "zum Tisch", "go to the table")
        before = follow(client, "zum Tisch")
        teach(client, "zum Regal", "go to the shelf", wait=False)  # closed while it learns
    moved = folder.rename(tmp_path / "elsewhere")
    with LocalClient(make_studio(OpenProjects(moved, None))) as client:
        about = settle(client)
        assert about["known"] == 2
        assert about["undo"] == "teaching “zum Regal”"
        after = follow(client, "zum Tisch")
        assert before["actions"] == after["actions"]


def test_app_learns_longer_plans_in_a_world_of_ones_own(tmp_path):
    """Settings are chosen again, also after the project was opened again."""
    folder = tmp_path / "project"
    world = {"kind": "world", "world": "groundling.studio.kitchen:Kitchen"}

    def told(client, text):
        scene = client.get(MAIN).json()["scenes"][0]["name"]
        plan = client.post(f"{MAIN}/say", json={"scene": scene, "text": text}).json()
        return [each["label"] for each in plan["actions"]]

    def show(client, text, *actions):
        scene = client.get(MAIN).json()["scenes"][0]["name"]
        body = {"scene": scene, "text": text, "actions": list(actions)}
        assert client.post(f"{MAIN}/teach", json=body).status_code == 201
        settle(client)

    both = ["go to the table", "take the red cup"]
    with LocalClient(make_studio(OpenProjects(folder, world))) as client:
        show(client, "go to the table", "go to the table")
        show(client, "go to the shelf", "go to the shelf")
        show(client, "go to the table and take the red cup", *both)
        assert told(client, "go to the table and take the red cup") == both
    with LocalClient(make_studio(OpenProjects(folder, world))) as client:
        three = [*both, "go to the shelf"]
        text = "go to the table and take the red cup and go to the shelf"
        show(client, text, *three)
        show(client, "go to the table and take the red cup and go to the sink", *both,
             "go to the sink")  # fmt: skip
        assert told(client, text) == three


def test_app_inside_shows_words_and_two_models(client):
    assert client.get(f"{MAIN}/words").json()["words"] == []
    assert client.get(f"{MAIN}/weights", params={"word": "zum"}).status_code == 409
    teach(client, "zum Tisch", "go to the table")
    teach(client, "zum Regal", "go to the shelf")
    words = {each["word"]: each["meaning"] for each in client.get(f"{MAIN}/words").json()["words"]}
    assert words["regal"] == "place=shelf"
    found = client.get(f"{MAIN}/weights", params={"word": "Regal"}).json()["weights"]
    assert found[0]["meaning"] == "place=shelf"
    models = client.get(MAIN).json()["models"]
    plans = []
    for model in models:
        body = {"scene": SCENE, "text": "zum Regal", "model": model}
        plans.append(client.post(f"{MAIN}/explain", json=body).json()["actions"])
    assert plans == [["go to the table"], ["go to the shelf"]]
    body = {"scene": SCENE, "text": "zum Regal", "model": 77}
    assert client.post(f"{MAIN}/explain", json=body).status_code == 409


def test_app_says_why_in_parts_of_sentences(client):
    teach(client, "zum Tisch", "go to the table")
    teach(client, "zum Regal", "go to the shelf")
    body = {"scene": SCENE, "text": "zum Regal"}
    told = client.post(f"{MAIN}/reasons", json=body).json()
    assert told["remembered"] == "zum regal"
    [step] = told["steps"]
    assert step["label"] == "go to the shelf"
    assert step["words"][0]["word"] == "Regal"
    assert step["without"] == ["go to the table"] or step["without"] is None


def test_app_says_which_example_it_repeats_and_whose_it_is(tmp_path):
    projects = OpenProjects(tmp_path, {"kind": "gallery", "name": "warehouse"})
    with LocalClient(make_studio(projects)) as client:
        settle(client)
        body = {"scene": "Warehouse 4", "text": "open the gate"}
        told = client.post(f"{MAIN}/reasons", json=body).json()
        assert told["remembered"] == "open the gate"
        assert told["built_in"]
        body["text"] = "dock dock hurry"
        client.post(f"{MAIN}/teach", json=body | {"actions": ["go to the dock"]})
        settle(client)
        told = client.post(f"{MAIN}/reasons", json=body).json()
        assert told["remembered"] == "dock dock hurry"
        assert not told["built_in"]
        [step] = told["steps"]
        words = [each["word"] for each in step["words"]]
        assert "dock" in words
        assert len(words) == len(set(words))  # a repeated word is one reason


def test_app_counts_what_it_can_do(client):
    assert client.get(MAIN).json()["standing"] == {"recent": 0, "of": 0, "held": 0, "held_of": 0}
    for number, (text, action) in enumerate(
        (("zum Tisch", "go to the table"), ("nimm sie", "take the blue cup")), 1
    ):
        teach(client, text, action)
        standing = client.get(MAIN).json()["standing"]
        assert (standing["recent"], standing["of"]) == (number, number)


def test_app_worlds_of_the_editor_and_the_gallery(client):
    yard = {"title": "Yard", "places": [{"name": "shed"}, {"name": "gate"}],
            "movers": [{"name": "robot", "at": "shed"}], "scenes": 2}  # fmt: skip
    seen = client.post("/api/worlds/check", json={"scene": yard}).json()
    assert seen["actions"] == ["go to the gate"]
    assert seen["svg"].startswith("<svg")
    wrong = client.post("/api/worlds/check", json={"scene": {**yard, "places": []}})
    assert wrong.status_code == 422
    assert "1 to 60" in wrong.json()["detail"]
    made = client.post("/api/worlds", json={"scene": yard}).json()["project"]
    about = client.get(f"/api/projects/{made}").json()
    assert [each["name"] for each in about["scenes"]] == ["Yard 1", "Yard 2"]
    assert client.post("/api/worlds", json={}).status_code == 422
    assert client.post("/api/worlds", json={"gallery": "attic"}).status_code == 422
    listed = client.get("/api/worlds").json()
    own = {"project": made, "title": "Yard", "pupil": "", "known": 0}
    assert own in listed["projects"]
    assert "home" in [each["name"] for each in listed["gallery"]]


def test_app_learning_that_fails_is_told_and_nothing_is_lost(client, monkeypatch):
    project = client.app.app.state.projects.get("main")

    def fails():
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(vars(project.setting), "base", fails)
    teach(client, "zum Tisch", "go to the table")
    about = client.get(MAIN).json()
    assert "No space left on device" in about["problem"]
    assert about["known"] == 1


def test_app_health_needs_no_token_and_no_turn(tmp_path):
    limit = RateLimit()
    limit.busy = limit.bound  # whoever needs a turn is refused
    projects = OpenProjects(tmp_path / "project", {"kind": "lesson"})
    with LocalClient(make_studio(projects, limit=limit)) as client:
        assert client.get("/v1/health").json() == {
            "status": "ok", "waiting": limit.bound, "learning": False,
        }  # fmt: skip
        assert client.get(MAIN).status_code == 429
    projects = OpenProjects(tmp_path / "another", {"kind": "lesson"})
    with LocalClient(make_studio(projects, token="secret")) as client:
        assert client.get("/v1/health").status_code == 200
        assert client.get(MAIN).status_code == 401
