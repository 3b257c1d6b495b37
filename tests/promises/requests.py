"""Requests that somebody has changed, sent to an application without a network between."""

import asyncio
import json
from urllib.parse import unquote

from groundling.data.format import FORMAT, VERSION
from tests.promises.mutation import NASTY, SNIPPETS, changed_bytes, changed_values

START = {"KitchenState": {"at": "sink", "holds": "", "lying": {"$set": [["red cup", "table"]]}}}
SCENE = "Kitchen 1"
_WAY = {"scene": SCENE, "start": START, "actions": ["go to the table"]}
RECORD = {"text": "zum Tisch", "world": SCENE, "start": START, "actions": ["go to the table"]}
PROJECT = "/api/projects/main"
WORLD = {
    "title": "Yard", "places": [{"name": "shed", "at": [0, 0], "size": [1, 2]}, {"name": "gate"}],
    "things": [{"name": "rake", "at": "shed", "can": ["take", "switch"], "colour": "red"}],
    "movers": [{"name": "robot", "at": "shed"}], "verbs": ["go", "take", "put"], "scenes": 2,
    "examples": [{"text": "get the rake", "scene": 1, "actions": ["take the rake"]}],
}  # fmt: skip

STUDIO = (
    ("GET", PROJECT, None), ("GET", f"{PROJECT}/events", None), ("POST", f"{PROJECT}/walk", _WAY),
    ("POST", f"{PROJECT}/say", {"scene": SCENE, "text": "zum Tisch", "start": START}),
    ("POST", f"{PROJECT}/explain", {"scene": SCENE, "text": "zum Tisch", "model": 1}),
    ("POST", f"{PROJECT}/reasons", {"scene": SCENE, "text": "zum Tisch", "start": START}),
    ("GET", f"{PROJECT}/use", None), ("POST", f"{PROJECT}/continue", _WAY),
    ("POST", f"{PROJECT}/teach", {**_WAY, "text": "zum Tisch", "origin": "shown"}),
    ("POST", f"{PROJECT}/undo", None),
    ("GET", f"{PROJECT}/demonstrations?search=tisch&offset=0&limit=10", None),
    ("GET", f"{PROJECT}/demonstrations/1", None), ("DELETE", f"{PROJECT}/demonstrations/1", None),
    ("PATCH", f"{PROJECT}/demonstrations/1",
     {"text": "los", "weight": 2, "apart": False, "actions": ["go to the table"], "start": START}),
    ("POST", f"{PROJECT}/import", [RECORD, {**RECORD, "weight": 3, "note": "kept apart"}]),
    ("GET", f"{PROJECT}/export", None), ("GET", f"{PROJECT}/words?model=1", None),
    ("GET", f"{PROJECT}/weights?word=zum&model=1", None), ("POST", "/api/parse", {"text": "Go."}),
    ("GET", "/", None), ("GET", "/static/main.js", None), ("GET", "/v1/health", None),
    ("GET", "/openapi.json", None), ("GET", "/api/worlds", None), ("GET", "/api/class", None),
    ("POST", "/api/worlds", {"gallery": "warehouse"}), ("POST", "/api/worlds", {"scene": WORLD}),
    ("POST", "/api/worlds/check", {"scene": WORLD}),
    ("POST", "/api/worlds/open", [
        {"format": FORMAT, "version": VERSION, "source": {"kind": "scene", "scene": WORLD}},
        {"text": "get the rake", "actions": ["take the rake"], "start": {"SceneState": {
            "movers": [["shed", ""]], "things": [["shed", "off"]]}}}]),
    ("POST", "/api/class/join", {"name": "Ada"}),
)  # fmt: skip
SERVICE = (
    ("POST", "/v1/follow", {"text": "zum Tisch", "state": START, "length": 1}),
    ("POST", "/v1/explain", {"text": "zum Tisch", "state": START}),
    ("POST", "/v1/teach", {"demonstrations": [
        {"text": "los", "state": START, "actions": ["go to the table"], "weight": 1.0}]}),
    ("POST", "/v1/say", {"text": "zum Tisch", "state": START}),
    ("POST", "/v1/say", {"text": "the first one", "session": "0" * 32}),
    ("GET", "/v1/teach/1", None),
    ("GET", "/v1/model", None), ("GET", "/v1/health", None), ("GET", "/metrics", None),
    ("GET", "/docs", None), ("GET", "/openapi.json", None),
)  # fmt: skip
HOME = {
    "areas": [{"id": "kitchen", "name": "Kitchen"}, {"id": "hall", "name": "Hall"}],
    "entities": [
        {"id": "light.desk", "name": "Desk lamp", "area": "kitchen", "state": "on"},
        {"id": "cover.x", "name": "Blinds", "attributes": {"current_position": 20}},
        {"id": "climate.t", "name": "Thermostat", "attributes": {"temperature": 20}},
        {"id": "media_player.tv", "name": "TV", "area": "hall"},
    ],
    "timers": [{"name": "pizza", "start_minutes": 5}],
    "phrases": [{"phrase": "movie time", "does": ["turn off the desk lamp", "open the blinds"]}],
}  # fmt: skip
STATES = {
    "light.desk": {"state": "off", "attributes": {"brightness": 100}},
    "cover.x": {"state": "open", "attributes": {"current_position": 5}},
    "climate.t": {"state": "heat", "attributes": {"temperature": 21.5, "current_temperature": 20}},
    "media_player.tv": {"state": "playing", "attributes": {"volume_level": 0.4}},
}
HOME_SERVICE = (
    *(("POST", "/v1/reply", {"text": text, "area": "kitchen", "states": STATES}) for text in (
        "turn on the desk lamp", "open the blinds halfway", "make it warmer", "turn it up",
        "what is the temperature", "which lights are on", "how long is left on the pizza timer",
        "movie time and turn on the tv in 5 minutes",
    )),
    ("GET", "/v1/home", None), ("GET", "/v1/health", None), ("GET", "/docs", None),
    ("GET", "/openapi.json", None),
)  # fmt: skip
LINES = ("/import", "/worlds/open")  # whose bodies are JSON Lines
ODD = (
    {"$bytes": "é"}, {"$float": "nan"}, {"$set": [[1], 1.0, True]}, 10**400, -(2**63) - 1, "\ud800",
    {"$set": [{"$set": []}]}, {"KitchenState": []}, {"KitchenState": {"at": {"$bytes": "AA=="}}},
)  # fmt: skip
NUMBERS = ("9223372036854775808", "-1", "0", "1" * 400, "٣", "1e3", "%00", "NaN", "+1", " 1", "1.0")
HEADERS = (
    (b"host", b"127.0.0.1"), (b"host", b"[::1]:99"), (b"origin", b"http://["), (b"origin", b"null"),
    (b"content-length", b"-5"), (b"content-type", b"application/json; charset=\xff"),
    (b"content-type", b"multipart/form-data; boundary="), (b"content-type", b""),
    (b"cookie", b"groundling=\xff; a==;;="), (b"authorization", b"Bearer \xff"),
    (b"sec-fetch-site", b"cross-site"), (b"accept-encoding", b"\x00"), (b"range", b"bytes=9-1"),
    (b"if-modified-since", b"never"), (b"expect", b"100-continue"), (b"transfer-encoding", b"x"),
)  # fmt: skip


def changed(kinds, chance):
    """Return a request with something changed: its path, headers or body."""
    method, path, body = chance.choice(kinds)
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    for _ in range(chance.choice((0, 0, 1))):
        body = chance.choice((body, chance.choice(ODD), chance.choice(NASTY)))
    if body is not None and chance.random() < 0.8:
        body = changed_values(body, chance) if isinstance(body, (dict, list)) else body
        if isinstance(body, dict) and body and chance.random() < 0.3:
            body[chance.choice(list(body))] = chance.choice(ODD)
    data = _written(path, body)
    if data and chance.random() < 0.3:
        data = changed_bytes(data, chance)
    if path.endswith(LINES):
        headers[1] = (b"content-type", b"application/x-ndjson")
    raw = path.encode()
    if chance.random() < 0.3:
        raw = raw.replace(b"/1", b"/" + chance.choice(NUMBERS).encode())
        raw = raw.replace(b"model=1", b"model=" + chance.choice(NUMBERS).encode())
    if chance.random() < 0.15:
        raw = b"/" + changed_bytes(raw, chance)
    if chance.random() < 0.15:
        raw += b"?" if b"?" not in raw else b"&"
        name = chance.choice((b"model", b"word", b"search", b"offset", b"limit", b"token", b"x"))
        raw += name + b"=" + changed_bytes(chance.choice((b"1", b"zum", b"%41", b"-0")), chance)
    if chance.random() < 0.3:
        name, value = chance.choice(HEADERS)
        headers = [each for each in headers if each[0] != name] + [(name, value)]
    if chance.random() < 0.1:
        headers.append((b"x-odd", chance.choice(SNIPPETS)))
    if chance.random() < 0.1:
        place = chance.randrange(len(headers))
        name, value = headers[place]
        headers[place] = (name, changed_bytes(value, chance))
    if chance.random() < 0.1:
        method = chance.choice(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"))
    return method, raw, headers, data


def _written(path, body):
    if body is None:
        return b""
    if path.endswith(LINES) and isinstance(body, list):
        return b"\n".join(json.dumps(each).encode() for each in body)
    return json.dumps(body).encode()


async def ask(app, method, raw, headers, data):
    """Send a request and return the status, the headers and the body of the answer."""
    path, _, query = raw.partition(b"?")
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": method, "scheme": "http", "path": unquote(path.decode("latin-1")),
        "raw_path": path, "query_string": query, "root_path": "", "headers": headers,
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 9), "state": {},
    }  # fmt: skip
    waiting = [{"type": "http.request", "body": data, "more_body": False}]
    told = {"status": 0, "headers": {}, "body": b""}

    async def receive():
        if waiting:
            return waiting.pop()
        await asyncio.sleep(0.001)
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            told["status"] = message["status"]
            told["headers"] = {name.decode(): value.decode() for name, value in message["headers"]}
        told["body"] += message.get("body", b"")

    await app(scope, receive, send)
    return told


def check(told, sent):
    """Complain of an answer that tells of an error that is not ours."""
    where = (sent, told)
    assert 200 <= told["status"] < 500 or told["status"] in (503, 507), where
    assert b"should not happen" not in told["body"], where
    ranged = told["status"] in (400, 416) and b"range" in repr(sent).encode()  # of files
    if told["status"] >= 400 and not ranged:
        assert told["headers"]["content-type"] == "application/problem+json", where
        detail = json.loads(told["body"])["detail"]
        assert "\n" not in detail, where
        assert 0 < len(detail) < 2000, where
    elif told["headers"].get("content-type") == "application/json" and told["body"]:
        json.loads(told["body"])
