"""Dialogues with the service: bounded in number and length, and none hears of another."""

import asyncio
import json

import pytest

from groundling import Demonstration, Follower
from groundling.errors import GroundlingError
from groundling.limits import SESSION_TURNS, SESSIONS
from groundling.studio.kitchen import Kitchen
from groundling.studio.rate_limit import RateLimit
from groundling.studio.scenes import open_setting
from groundling.studio.served import Served
from groundling.studio.service import make_service
from groundling.studio.sessions import Sessions
from tests.promises.requests import ask, check

SHOWN = (("zum Tisch", "go to the table"), ("zum Regal", "go to the shelf"))
HEADERS = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    kitchen = Kitchen()
    shown = [Demonstration(text, kitchen, kitchen.start, (each,)) for text, each in SHOWN]
    return Follower().fit(shown).save(tmp_path_factory.mktemp("model"))


@pytest.fixture
def served(model):
    world = "groundling.studio.kitchen:Kitchen"
    return Served(open_setting({"kind": "model", "model": str(model), "world": world}))


def talk(served, *bodies):
    """Send all requests at once; return status and content of each answer."""
    app = make_service(served, limit=RateLimit(waiting=1000, seconds=60))

    async def one(body):
        told = await ask(app, "POST", b"/v1/say", HEADERS, json.dumps(body).encode())
        check(told, body)
        return told["status"], json.loads(told["body"])

    async def everyone():
        return await asyncio.gather(*map(one, bodies))

    return asyncio.run(everyone())


def test_sessions_do_not_mix(served):
    begun = talk(served, *({"text": SHOWN[n % 2][0]} for n in range(8)))
    names = [told["session"] for _, told in begun]
    assert len(set(names)) == 8
    texts = [SHOWN[n % 3 == 0][0] for n in range(8)]
    turns = talk(
        served,
        *({"text": text, "session": name} for text, name in zip(texts, names, strict=True)),
    )
    for text, name, (status, told) in zip(texts, names, turns, strict=True):
        assert (status, told["session"]) == (200, name)
        assert told["state"]["KitchenState"]["at"] == dict(SHOWN)[text].split()[-1]
    served.sessions.end(names[0])
    assert talk(served, {"text": "zum Tisch", "session": names[0]})[0][0] == 404


@pytest.mark.parametrize("state", [3, [], {"KitchenState": {"at": "moon", "holds": "a", "lying": {
    "$set": []}}}, {"KitchenState": {}}])  # fmt: skip
def test_sessions_do_not_stay_when_the_first_turn_fails(served, state):
    [(status, _)] = talk(served, {"text": "zum Tisch", "state": state})
    assert status == 422
    assert len(served.sessions) == 0


def test_sessions_are_limited_in_number_and_length(served, monkeypatch):
    monkeypatch.setenv(SESSIONS.variable, "2")
    told = dict(talk(served, *[{"text": "zum Tisch"}] * 3))
    assert told.keys() == {200, 429}
    assert SESSIONS.variable in told[429]["detail"]
    monkeypatch.setenv(SESSION_TURNS.variable, "3")
    again = {"text": "zum Regal", "session": told[200]["session"]}
    assert [talk(served, again)[0][0] for _ in range(3)] == [200, 200, 409]


def test_sessions_expire_one_by_one(served):
    now = [0.0]
    served.sessions = sessions = Sessions(clock=lambda: now[0])
    names = [served.say("zum Tisch", None, None)[0] for _ in range(3)]
    now[0] = 29 * 60
    served.say("zum Regal", names[1], None)
    now[0] = 31 * 60
    assert served.say("zum Regal", names[1], None)[0] == names[1]
    for name in (names[0], names[2]):
        with pytest.raises(GroundlingError, match="expired"):
            sessions.get(name)
    assert len(sessions) == 1


def test_sessions_cannot_be_named_by_clients(served):
    for name in ("mine", "", "0" * 32, "../../etc", "\0"):
        assert talk(served, {"text": "zum Tisch", "session": name})[0][0] in (404, 422)
    assert talk(served, {"text": "zum Tisch", "session": "0" * 65})[0][0] == 422
    assert len(served.sessions) == 0
