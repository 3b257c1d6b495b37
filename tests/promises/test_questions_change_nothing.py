"""A question changes nothing: neither the state of an agent, a session or a home, nor a model."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from groundling import Demonstration, Follower
from groundling.agent import Agent
from groundling.home.agent import HomeAgent
from groundling.home.corpus import read_corpus
from groundling.home.home import Home
from groundling.home.model import load_model
from groundling.studio.rate_limit import RateLimit
from groundling.studio.scenes import open_setting
from groundling.studio.served import Served
from groundling.studio.service import make_service
from tests.promises.requests import ask, check
from tests.promises.soaking import SECONDS
from tests.promises.test_bounded_dialogue_tables import HALL, NONE, Lamps

QUESTIONS = (
    "which lamp is on", "how many lamps are on", "is any lamp on", "is the hall lamp on",
    "which lamps are on in the attic", "how many lamps are there",
)  # fmt: skip
WORLD = """
from tests.promises.test_bounded_dialogue_tables import Lamps as Base, HALL

class Lamps(Base):
    start = HALL
"""


@pytest.fixture(scope="module")
def follower():
    world, every = Lamps(), frozenset(Lamps.rooms)
    shown = [
        Demonstration(f"switch {way} the {room} lamp", world, state, [(way, room)])
        for room in world.rooms
        for way, state in (("on", NONE), ("off", every))
    ]
    asked = [(QUESTIONS[0], {"hall"}), (QUESTIONS[1], 1), (QUESTIONS[2], True)]
    questions = [Demonstration(text, world, HALL, answer=answer) for text, answer in asked]
    return Follower(parser="chain").fit([*shown, *questions], check=False)


def test_questions_change_nothing_for_an_agent(follower):
    agent = Agent(follower, Lamps(), HALL)
    theta = follower.theta_.tobytes()
    for text in QUESTIONS:
        turn = agent.say(text)
        assert turn.kind != "act", text
        assert turn.demonstration is None
        assert agent.state == HALL
        follower.answer(text, Lamps(), HALL)
    assert agent.say(QUESTIONS[0]).kind == "answer"
    assert follower.theta_.tobytes() == theta


def test_questions_change_nothing_for_the_service(follower, tmp_path):
    model = follower.save(tmp_path / "model")
    (tmp_path / "lamps.py").write_text(WORLD)
    source = {"kind": "model", "model": str(model), "world": f"{tmp_path}/lamps.py:Lamps"}
    app = make_service(Served(open_setting(source)), limit=RateLimit(seconds=60))
    before = {each.name: each.read_bytes() for each in model.iterdir()}
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]

    async def talk():
        session = None
        for text in QUESTIONS:
            body = {"text": text, "session": session}
            told = await ask(app, "POST", b"/v1/say", headers, json.dumps(body).encode())
            check(told, text)
            said = json.loads(told["body"])
            session = said["session"]
            assert said["kind"] != "act"
            assert said["actions"] == []
            assert said["state"] == {"$set": ["hall"]}

    asyncio.run(talk())
    assert {each.name: each.read_bytes() for each in model.iterdir()} == before
    shutil.rmtree(model)


def test_questions_change_nothing_in_a_home():
    home = Home.from_data({
        "areas": [{"id": "kitchen", "name": "Kitchen"}],
        "entities": [
            {"id": "light.a", "name": "Kitchen light", "area": "kitchen", "state": "on"},
            {"id": "cover.b", "name": "Blinds", "state": "open"},
            {"id": "sensor.t", "name": "Outside temperature", "state": 21.5,
             "attributes": {"device_class": "temperature", "unit_of_measurement": "°C"}},
            {"id": "lock.d", "name": "Front door", "state": "locked"},
        ],
    })  # fmt: skip
    agent = HomeAgent(home, load_model("en"))
    before = {id_: dict(each) for id_, each in agent.states.items()}
    for text in (
        "is the kitchen light on", "are the blinds open", "what is the outside temperature",
        "is the front door locked", "which lights are on", "how many lights are on",
        "is any light on in the kitchen", "what time is it",
    ):  # fmt: skip
        reply = agent.reply(text)
        assert not reply.changes, (text, reply)
        assert {id_: dict(each) for id_, each in agent.states.items()} == before, text
        assert agent.timers == list(home.timers)


@pytest.mark.corpora
def test_questions_change_nothing_whichever_of_the_corpus_is_asked(corpora_home):
    corpus = read_corpus(corpora_home)
    asked = [each for each in corpus.examples if each.command.is_question]
    agent = HomeAgent(corpus.home, load_model("en"))
    before = {id_: dict(each) for id_, each in agent.states.items()}
    for example in asked[:: 1 if SECONDS else 6]:
        agent.forget()
        assert not agent.reply(example.text).changes, example.text
        assert {id_: dict(each) for id_, each in agent.states.items()} == before, example.text
    assert len(asked) > 100


@pytest.fixture
def corpora_home():
    folder = os.environ.get("GROUNDLING_CORPORA")
    if not folder or not (Path(folder) / "home").is_dir():
        pytest.skip("set GROUNDLING_CORPORA to a folder with home/")
    return folder
