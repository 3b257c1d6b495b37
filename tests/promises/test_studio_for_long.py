"""The studio killed while people teach and edit, and the service asked for long."""

import asyncio
import json
import os
import random
import subprocess
import sys
import textwrap
import time

import pytest

from groundling import Demonstration
from groundling.follower import Follower
from groundling.studio.kitchen import PLACES, THINGS, Kitchen
from groundling.studio.project import Project, fingerprint_of
from groundling.studio.rate_limit import RateLimit
from groundling.studio.scenes import open_setting
from groundling.studio.served import Served
from groundling.studio.service import make_service
from tests.promises.requests import ask, check
from tests.promises.soaking import SECONDS, note, rounds

TEACHER = """
import json, pathlib, random, sys
from groundling.studio.project import Project
from groundling.studio.exchange import import_lines
from groundling.studio.store import Record
from groundling.studio.kitchen import Kitchen
project = Project(pathlib.Path({folder!r}), {{"kind": "lesson"}})
project.wake()  # it learns meanwhile
start = project.write_state("Kitchen 1", Kitchen.start)
chance = random.Random({seed})
def tell(*what):
    print(json.dumps(what), flush=True)
tell("open")
while True:
    known = project.store.counts()[0]
    kinds = ["teach", "edit", "edit", "remove", "undo", "import"]
    kind = chance.choice(kinds) if known > 3 else "teach"
    place = chance.choice(["table", "shelf"])
    if kind == "teach":
        added = project.teach(Record("Kitchen 1", "zum " + place, start, ("go to the " + place,)))
        tell("teach", added.id, list(added.actions), added.weight)
    elif kind == "edit":
        each = chance.choice(project.store.records())
        fields = {{"actions": ("go to the " + place,), "weight": float(chance.randrange(1, 9))}}
        tell("edit", each.id, ["go to the " + place], project.edit(each.id, fields).weight)
    elif kind == "import":
        line = json.dumps({{"text": "zum " + place, "world": "Kitchen 1", "start": start,
                            "actions": ["go to the " + place], "weight": 2}})
        last = max(e.id for e in project.store.records())
        project.take_in(import_lines(project, ("\\n".join([line] * 3)).encode())[0])
        new = [e for e in project.store.records() if e.id > last]
        tell("import", [[e.id, list(e.actions), e.weight] for e in new])
    elif kind == "remove":
        each = chance.choice(project.store.records())
        project.remove(each.id)
        tell("remove", each.id)
    else:
        project.undo()
        tell("undo", [[e.id, list(e.actions), e.weight] for e in project.store.records()])
"""


def replay(lines):
    """Return the demonstrations that were acknowledged, and how many changes there were."""
    known = {}
    for kind, *rest in lines:
        if kind in ("teach", "edit"):
            known[rest[0]] = (rest[1], rest[2])
        elif kind == "import":
            known |= {number: (actions, weight) for number, actions, weight in rest[0]}
        elif kind == "remove":
            del known[rest[0]]
        elif kind == "undo":
            known = {number: (actions, weight) for number, actions, weight in rest[0]}
    return known


def test_studio_killed_while_people_teach_and_edit(tmp_path):
    chance, folder = random.Random(1), tmp_path / "project"
    kills = acknowledged = 0
    lines = []
    for number in rounds(0.3, least=2, most=200):
        code = textwrap.dedent(TEACHER.format(folder=str(folder), seed=number))
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert json.loads(process.stdout.readline()) == ["open"]
        time.sleep(chance.uniform(0.05, 1.5))
        process.kill()
        process.wait()
        new = [json.loads(each) for each in process.stdout.read().splitlines() if each[-1:] == "]"]
        process.stdout.close()
        kills, acknowledged = kills + 1, acknowledged + len(new)
        lines += new
        project = Project(folder, {"kind": "lesson"})
        found = {each.id: (list(each.actions), each.weight) for each in project.store.records()}
        told = replay(lines)
        # The last change may have been made without having been told of, as a whole or not at all.
        others = {each for each in {*found, *told} if found.get(each) != told.get(each)}
        imported = len(others) == 3 and (not others & {*told} or not others & {*found})
        assert len(others) <= 1 or imported, (told, found)
        project.learn_now()
        assert project.fingerprint == fingerprint_of(project.store.records())
        lines = [["undo", [[each.id, list(each.actions), each.weight]
                           for each in project.store.records()]]]  # fmt: skip
        project.close()
    note(studio_kills=kills, changes_before_kills=acknowledged)
    assert acknowledged


def resident():
    """Return the megabytes that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="only Linux tells")
def test_studio_service_memory_stays_flat(tmp_path):
    kitchen, words = Kitchen(), ("zum", "nimm", "bring", "und", "dann", "rote", "Tasse", "Tisch")
    shown = [Demonstration("zum Tisch", kitchen, kitchen.start, ("go to the table",))]
    Follower().fit(shown).save(tmp_path)
    world = "groundling.studio.kitchen:Kitchen"
    served = Served(open_setting({"kind": "model", "model": str(tmp_path), "world": world}))
    app = make_service(served, limit=RateLimit(seconds=60))
    chance, most = random.Random(2), 100_000 if SECONDS else 400
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]

    async def questions():
        sizes = []
        for number in range(most):
            lying = [[thing, chance.choice(PLACES)] for thing in THINGS]
            state = {"at": chance.choice(PLACES), "holds": "", "lying": {"$set": lying}}
            text = " ".join(chance.choice(words) for _ in range(chance.randrange(1, 7)))
            body = {"text": f"{text} {number}", "state": {"KitchenState": state}}
            path = b"/v1/explain" if number % 20 == 0 else b"/v1/follow"
            sent = ("POST", path, headers, json.dumps(body).encode())
            told = await ask(app, *sent)
            check(told, sent)
            assert told["status"] == 200
            if number % (most // 20) == 0:
                sizes.append(resident())
        return [*sizes, resident()]

    sizes = asyncio.run(questions())
    note(service_requests=most, service_megabytes=[round(each) for each in sizes])
    half, end = sizes[len(sizes) // 2], sizes[-1]
    assert end < half * 1.1 + 20, sizes
