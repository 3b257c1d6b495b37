"""The service: the library's answers behind HTTP, and nothing else."""

import json
import threading
import time

import pytest

from groundling import Demonstration, Follower, Learning
from groundling.data import Demonstrations
from groundling.errors import SettingError
from groundling.studio.problems import BusyError
from groundling.studio.project import Project
from groundling.studio.rate_limit import RateLimit
from groundling.studio.scenes import open_setting
from groundling.studio.served import Served, ServedProject
from groundling.studio.service import make_service
from groundling.studio.store import Record
from groundling.studio.teacher import understood
from tests.studio.conftest import LocalClient

SHOWN = (
    ("zum Tisch", ("go to the table",)),
    ("zum Regal", ("go to the shelf",)),
    ("nimm die Tasse", ("take the blue cup",)),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from groundling.studio.kitchen import Kitchen

    kitchen = Kitchen()
    shown = [Demonstration(text, kitchen, kitchen.start, actions) for text, actions in SHOWN]
    folder = tmp_path_factory.mktemp("model")
    Follower().fit(shown).save(folder)
    return folder


@pytest.fixture
def served(model):
    world = "groundling.studio.kitchen:Kitchen"
    return Served(open_setting({"kind": "model", "model": str(model), "world": world}))


@pytest.fixture
def client(served):
    with LocalClient(make_service(served)) as made:
        yield made


def test_service_answers_are_those_of_the_library_bit_for_bit(client, served, model):
    follower = Follower.load(model)
    state = served.scene.start
    for text in ("zum Tisch", "nimm die rote Tasse und geh zum Regal", "irgendwas"):
        told = client.post("/v1/follow", json={"text": text}).json()
        plan = follower.follow(text, served.environment, state)
        assert told["actions"] == list(plan.actions)
        assert told["confidence"] == plan.confidence
        assert told["log_probability"] == plan.log_probability
        assert told["understood"] == understood(follower, plan)
        assert [(each["actions"], each["probability"]) for each in told["alternatives"]] == [
            (list(each.actions), each.probability) for each in plan.alternatives
        ]
        assert told["states"] == [served.codec.state_to_json(each) for each in plan.states]
        why = client.post("/v1/explain", json={"text": text}).json()
        library = {**plan.explain().to_dict(), "understood": understood(follower, plan)}
        assert why == json.loads(json.dumps(library))


def test_service_takes_the_states_that_it_gives(client):
    told = client.post("/v1/follow", json={"text": "nimm die Tasse"}).json()
    again = client.post("/v1/follow", json={"text": "zum Tisch", "state": told["states"][-1]})
    assert again.json()["states"][0] == told["states"][-1]
    one = client.post("/v1/follow", json={"text": "zum Tisch", "length": 1}).json()
    assert len(one["actions"]) == 1


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"text": "..."}, 422, "The text must contain at least one word"),
        ({"text": "a", "state": {"Robot": {}}}, 422, "must define the class"),
        ({"text": "a", "state": [1, 2]}, 422, "raised"),
        ({"text": "a", "length": 0}, 422, "length: "),
        ({}, 422, "text: "),
        ([], 422, ""),
        ({"text": "x" * 300_000}, 413, "must have at most"),
    ],
)
def test_service_errors_are_problem_documents(client, body, status, said):
    answer = client.post("/v1/follow", json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert said in told["detail"]
    assert set(told) == {"type", "title", "status", "detail"}


def test_service_unknown_paths_are_problem_documents(client):
    for path, status in (("/v2/follow", 404), ("/v1/follow", 405)):
        answer = client.get(path)
        assert answer.status_code == status
        assert answer.json()["status"] == status


def test_service_teaching_is_off_unless_asked_for(client, served):
    body = {"demonstrations": [{"text": "zum Becken", "actions": ["go to the table"]}]}
    answer = client.post("/v1/teach", json=body)
    assert answer.status_code == 403
    assert "--teach" in answer.json()["detail"]


def test_service_teaching_a_model_without_its_demonstrations_is_told(served):
    with LocalClient(make_service(served, teach=True)) as client:
        body = {"demonstrations": [{"text": "tisch", "actions": ["go to the table"]}]}
        answer = client.post("/v1/teach", json=body)
        assert answer.status_code == 422
        assert "does not store its training demonstrations" in answer.json()["detail"]


def test_service_teaching_changes_answers(served, model, tmp_path):
    shown = [
        Demonstration(text, served.environment, served.scene.start, actions)
        for text, actions in SHOWN
    ]
    file = tmp_path / "shown.jsonl"
    Demonstrations(shown).write(file)
    source = {"kind": "model", "model": str(model), "world": "groundling.studio.kitchen:Kitchen"}
    with pytest.raises(SettingError, match="can be used only with a world"):
        open_setting({"kind": "model", "model": str(model), "demonstrations": [str(file)]})
    served = Served(open_setting({**source, "demonstrations": [str(file)]}))
    with LocalClient(make_service(served, teach=True, limit=RateLimit(seconds=120))) as client:
        body = {"demonstrations": [{"text": "los", "actions": ["go to the shelf"], "weight": 3}]}
        assert client.post("/v1/teach", json=body).json()["taught"] == 1
        told = client.post("/v1/follow", json={"text": "los"}).json()
        assert told["actions"] == ["go to the shelf"]
        assert client.get("/v1/model").json()["taught"] == 1
        body["demonstrations"][0]["actions"] = ["fly"]
        refused = client.post("/v1/teach", json=body)
        assert "Demonstration 1: action 1, 'fly', is impossible" in refused.json()["detail"]


def test_service_teaching_longer_plans_than_the_model_knew(served, tmp_path):
    world = "groundling.studio.kitchen:Kitchen"
    shown = [
        Demonstration(text, served.environment, served.scene.start, actions)
        for text, actions in SHOWN
    ]
    file, model = tmp_path / "shown.jsonl", tmp_path / "model"
    Demonstrations(shown).write(file)
    Follower(parser="chain").fit(shown).save(model)
    source = {"kind": "model", "model": str(model), "world": world, "demonstrations": [str(file)]}
    served = Served(open_setting(source))
    assert served.follower.chosen().search.max_length == 1
    twice = ("go to the table", "go to the shelf")
    with LocalClient(make_service(served, teach=True, limit=RateLimit(seconds=120))) as client:
        for text in ("erst Tisch dann Regal", "Tisch dann Regal"):
            body = {"demonstrations": [{"text": text, "actions": list(twice)}]}
            assert client.post("/v1/teach", json=body).json()["taught"] == 1
            told = client.post("/v1/follow", json={"text": text}).json()
            assert told["actions"] == list(twice)


def test_service_health_needs_no_token_but_the_rest_does(served):
    with LocalClient(make_service(served, token="a-long-token")) as client:
        assert client.get("/v1/health").json() == {
            "status": "ok", "waiting": 0, "learning": False,
        }  # fmt: skip
        assert client.get("/v1/model").status_code == 401
        assert client.get("/metrics").status_code == 401
        headers = {"authorization": "Bearer a-long-token"}
        assert client.get("/v1/model", headers=headers).json()["environment"] == "Kitchen"


def test_service_refuses_when_too_many_wait(served):
    limit, go = RateLimit(workers=1, waiting=0), threading.Event()
    with LocalClient(make_service(served, limit=limit)) as client:
        blocked = threading.Thread(target=lambda: client.portal.call(limit.run, go.wait))
        blocked.start()
        while not limit.busy:
            pass
        answer = client.post("/v1/follow", json={"text": "zum Tisch"})
        assert answer.status_code == 429
        assert answer.headers["retry-after"] == "2"
        assert client.get("/v1/health").json()["waiting"] == 1
        go.set()
        blocked.join()
        assert client.post("/v1/follow", json={"text": "zum Tisch"}).status_code == 200


def test_service_counts_what_it_does(client):
    client.post("/v1/follow", json={"text": "zum Tisch"})
    client.post("/v1/follow", json={"text": ""})
    told = client.get("/metrics").text
    assert 'groundling_requests_total{path="/v1/follow",status="200"} 1.0' in told
    assert 'groundling_requests_total{path="/v1/follow",status="422"} 1.0' in told
    assert "groundling_follow_seconds_count 1.0" in told


def test_service_page_of_the_interface_is_its_own(client):
    page = client.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    told = client.get("/openapi.json").json()
    assert set(told["paths"]) == {
        "/v1/follow", "/v1/explain", "/v1/say", "/v1/teach", "/v1/teach/{revision}", "/v1/health",
        "/v1/model",
    }  # fmt: skip


def test_service_schemathesis_finds_no_500(served):
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings

    app = make_service(served, teach=True)
    inner = app.app.app  # schemathesis asks a FastAPI for its schema
    schema = schemathesis.openapi.from_asgi("/openapi.json", inner)
    seen = []
    with LocalClient(app) as client:
        for result in schema.get_all_operations():
            operation = result.ok()

            @given(case=operation.as_strategy())
            @settings(
                max_examples=40, deadline=None, derandomize=True, database=None,
                suppress_health_check=list(HealthCheck), phases=[Phase.generate],
            )  # fmt: skip
            def probe(case):
                body = case.body
                sent = {} if type(body).__name__ == "NotSet" else {"json": body}
                answer = client.request(case.method, case.formatted_path, **sent)
                seen.append(answer.status_code)
                assert answer.status_code < 500, (case.formatted_path, body, answer.text)

            probe()
    assert len(seen) > 100


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b'{"text": "\\ud800"}', b'{"text": "a", "state": NaN}',
     b'{"text": "a", "state": 1e999}', b"[" * 100_000, b'{"text": "\x00"}', b"\xff\xfe",
     b'{"text": "a", "state": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_service_broken_bodies_are_refused(client, body):
    answer = client.post("/v1/follow", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_service_says_400_to_a_body_that_is_no_json(client):
    for path in ("/v1/follow", "/v1/explain"):
        answer = client.post(path, content=b"{nope", headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["title"]) == (400, "Bad request")
        assert answer.json()["detail"].startswith("The body must be JSON: ")


def test_service_says_403_where_teaching_is_off_whatever_was_sent(client):
    for body in ({"demonstrations": []}, {}, []):
        answer = client.post("/v1/teach", json=body)
        assert (answer.status_code, "--teach" in answer.json()["detail"]) == (403, True)


def test_service_understands_only_what_it_is_sure_of(tmp_path):
    """A model without a threshold of its own must not call a tie understood."""
    from groundling.studio.kitchen import Kitchen

    kitchen = Kitchen()
    shown = [
        Demonstration("los", kitchen, kitchen.start, (action,))
        for action in ("go to the table", "go to the shelf", "take the blue cup")
    ]  # the last of them corrects the others only where demonstrations are remembered
    model, file = tmp_path / "model", tmp_path / "shown.jsonl"
    Follower(parser="chain", learning=Learning(l2=0.1)).fit(shown, check=False).save(model)
    Demonstrations(shown).write(file)
    assert Follower.load(model).threshold == 0
    world = "groundling.studio.kitchen:Kitchen"
    source = {"kind": "model", "model": str(model), "world": world, "demonstrations": [str(file)]}
    served = Served(open_setting(source))
    with LocalClient(make_service(served, teach=True, limit=RateLimit(seconds=120))) as client:
        told = client.post("/v1/follow", json={"text": "los"}).json()
        assert told["confidence"] < 0.5
        assert told["understood"] is False
        body = {"demonstrations": [{"text": "Tisch", "actions": ["go to the table"]}]}
        assert client.post("/v1/teach", json=body).status_code == 200
        told = client.post("/v1/follow", json={"text": "los"}).json()
        assert told["understood"] is (told["confidence"] >= 0.5)


def test_service_talks_in_sessions(client, served, monkeypatch):
    first = client.post("/v1/say", json={"text": "zum Tisch"}).json()
    assert (first["kind"], first["actions"]) == ("act", ["go to the table"])
    assert first["text"]
    session = first["session"]
    again = client.post("/v1/say", json={"text": "zum Regal", "session": session}).json()
    assert (again["session"], again["actions"]) == (session, ["go to the shelf"])
    other = client.post("/v1/say", json={"text": "zum Tisch", "state": again["state"]}).json()
    assert other["session"] != session
    asked = client.post("/v1/say", json={"text": "nimm"}).json()
    assert asked["kind"] in ("ask", "decline")
    assert asked["actions"] == []
    assert asked["state"] == served.codec.state_to_json(served.scene.start)


def test_service_asks_and_hears_the_reply(client, served):
    asked = client.post("/v1/say", json={"text": "zum"}).json()
    assert asked["kind"] == "ask"
    assert all(each["text"] and each["actions"] for each in asked["options"])
    chosen = asked["options"][0]
    told = client.post("/v1/say", json={"text": "1", "session": asked["session"]}).json()
    assert (told["kind"], told["actions"]) == ("act", chosen["actions"])


def test_service_refuses_bad_turns_and_keeps_the_session(client, served, monkeypatch):
    session = client.post("/v1/say", json={"text": "zum Tisch"}).json()["session"]
    for body, status, told in (
        ({"text": "", "session": session}, 422, "must contain at least one word"),
        ({"text": "geh " * 5000, "session": session}, 422, "must have at most"),
        ({"text": "zum Regal", "session": "nowhere"}, 404, "does not exist or has expired"),
        ({"text": "zum Regal", "session": session, "state": 3}, 422, "`state` must be omitted"),
        ({"text": "zum Regal", "session": "x" * 99}, 422, "session"),
    ):
        answer = client.post("/v1/say", json=body)
        assert (answer.status_code, told in answer.json()["detail"]) == (status, True), (
            answer.json()
        )
    assert len(served.sessions.get(session).turns) == 1
    monkeypatch.setenv("GROUNDLING_LIMIT_SESSION_TURNS", "1")
    full = client.post("/v1/say", json={"text": "zum Regal", "session": session})
    assert (full.status_code, "limit of 1 turns" in full.json()["detail"]) == (409, True)
    monkeypatch.setenv("GROUNDLING_LIMIT_SESSIONS", "1")
    busy = client.post("/v1/say", json={"text": "zum Regal"})
    assert (busy.status_code, "limit of 1 sessions" in busy.json()["detail"]) == (429, True)


def test_service_of_a_project_keeps_what_it_is_taught(tmp_path):
    """Teaching over HTTP is queued, lasts, and is seen in the studio."""
    folder = tmp_path / "project"
    project = Project(folder, {"kind": "lesson"})
    scene = project.setting.scenes[0]
    start = project.write_state(scene.name, scene.start)
    project.store.add([Record(scene.name, "zum Tisch", start, ("go to the table",))], "taught")
    with LocalClient(make_service(ServedProject(project), teach=True)) as client:
        shown = {"text": "zum Regal", "actions": ["go to the shelf"]}
        answer = client.post("/v1/teach", json={"demonstrations": [shown]})
        assert (answer.status_code, answer.json()["taught"]) == (202, 1)
        assert answer.headers["location"] == answer.json()["status"]
        for _ in range(600):
            told = client.get(answer.headers["location"]).json()
            if told["learnt"]:
                break
            time.sleep(0.05)
        assert told == {"revision": 2, "learnt": True, "problem": None}
        plan = client.post("/v1/follow", json={"text": "zum Regal"}).json()
        assert (plan["actions"], plan["understood"]) == (["go to the shelf"], True)
        again = client.post("/v1/teach", json={"demonstrations": [shown]}).json()
        assert again["taught"] == 0  # it is known already
    served = ServedProject(Project(folder))
    assert served.follow("zum Regal", scene.start).actions == ("go to the shelf",)
    served.close()


def test_service_says_409_while_it_learns(client, served):
    served._writing.acquire()
    try:
        with pytest.raises(BusyError) as told:
            served.teach([])
        assert told.value.status == 409
    finally:
        served._writing.release()
    assert client.get("/v1/teach/3").status_code == 404
