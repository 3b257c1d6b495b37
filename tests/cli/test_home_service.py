"""The HTTP service of a home: independent replies, and errors as of the other service."""

import pytest
from starlette.testclient import TestClient

from groundling.cli.home_service import make_home_service
from groundling.home.agent import HomeAgent
from tests.home.homes import HOME


@pytest.fixture(scope="module")
def client():
    app = make_home_service(HomeAgent(HOME))
    with TestClient(app, base_url="http://127.0.0.1") as found:
        yield found


def test_service_replies_as_the_agent(client):
    reply = client.post("/v1/reply", json={"text": "turn on the desk lamp"}).json()
    assert (reply["kind"], reply["changes"]) == ("act", {"light.desk": {"state": "on"}})
    assert client.get("/v1/home").json()["things"]["light.desk"]["state"] == "off"
    asked = client.post("/v1/reply", json={"text": "turn on the lamp"}).json()
    assert (asked["kind"], asked["changes"]) == ("ask", {})
    alone = HomeAgent(HOME).reply("the desk one").changes
    assert client.post("/v1/reply", json={"text": "the desk one"}).json()["changes"] == alone


def test_service_uses_the_states_and_area_of_a_request(client):
    request = {
        "text": "turn off the lights",
        "area": "hall",
        "states": {"light.hall": {"state": "on"}},
    }
    assert client.post("/v1/reply", json=request).json()["changes"] == {
        "light.hall": {"state": "off"}
    }


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"text": 5},
        {"text": "turn on the lamp", "area": "attic"},
        {"text": "turn on the lamp", "states": {"light.moon": {"state": "on"}}},
        {"text": "on " * 5000},
        {"text": "on", "home": "/etc/passwd"},
    ],
)
def test_service_says_what_is_wrong_with_a_request(client, request_):
    found = client.post("/v1/reply", json=request_)
    assert found.status_code == 422
    assert found.json()


def test_service_needs_its_token():
    app = make_home_service(HomeAgent(HOME), token="secret-secret-secret")
    with TestClient(app, base_url="http://127.0.0.1") as found:
        assert found.post("/v1/reply", json={"text": "hello"}).status_code == 401
