"""Requests and project files that somebody has changed: no HTTP 500, and only our errors."""

import asyncio
import json
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from groundling import Demonstration
from groundling.cli.home_service import make_home_service
from groundling.errors import GroundlingError
from groundling.follower import Follower
from groundling.home.agent import HomeAgent
from groundling.home.home import Home
from groundling.studio.app import make_studio
from groundling.studio.exchange import import_lines
from groundling.studio.kitchen import Kitchen
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.rate_limit import RateLimit
from groundling.studio.scenes import open_setting
from groundling.studio.served import Served, ServedProject
from groundling.studio.service import make_service
from groundling.studio.store import FILE, Record
from tests.promises.mutation import chances, changed_bytes, changed_values
from tests.promises.requests import (
    HOME,
    HOME_SERVICE,
    ODD,
    PROJECT,
    RECORD,
    SCENE,
    SERVICE,
    STUDIO,
    ask,
    changed,
    check,
)  # fmt: skip
from tests.promises.soaking import SECONDS, folder_in_memory, note

REQUESTS, FILES, EXAMPLES = (20_000, 2_000, 250) if SECONDS else (250, 25, 5)
SHOWN = (("zum Tisch", "go to the table"), ("Tasse", "take the blue cup"))
HEADERS = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]


@pytest.fixture
def tmp_path():
    """A folder in memory: a project writes to its disk at every change."""
    with folder_in_memory() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A project with all that one may hold."""
    folder = tmp_path_factory.mktemp("original") / "project"
    project = Project(folder, {"kind": "lesson"})
    start = project.write_state(SCENE, Kitchen.start)
    project.store.add([Record(SCENE, text, start, (action,)) for text, action in SHOWN], "showing")
    project.learn_now()
    project.store.change(1, "editing", weight=2.0)
    project.store.answered(SCENE, "zum Tisch", start, ["go to the table"], 0.5, True, 1)
    project.learn_now()
    project.store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    project.close()
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    kitchen = Kitchen()
    Follower().fit(
        [Demonstration(text, kitchen, kitchen.start, (action,)) for text, action in SHOWN]
    ).save(folder)
    return folder


def studio(folder):
    projects = OpenProjects(folder, {"kind": "lesson"})
    return make_studio(projects, limit=RateLimit(waiting=1000, seconds=60), code="ABCDEF")


def service(model, **options):
    world = "groundling.studio.kitchen:Kitchen"
    served = Served(open_setting({"kind": "model", "model": str(model), "world": world}))
    return make_service(served, teach=True, limit=RateLimit(waiting=1000, seconds=60), **options)


def project_service(folder):
    """Return a service whose teaching is queued in a project."""
    served = ServedProject(Project(folder, {"kind": "lesson"}))
    return make_service(served, teach=True, limit=RateLimit(waiting=1000, seconds=60)), served


def home_service():
    limit = RateLimit(waiting=1000, seconds=60)
    return make_home_service(HomeAgent(Home.from_data(HOME)), limit=limit)


async def fuzz(app, kinds, count, seed):
    """Send changed requests; return how many got which status."""
    seen, slowest = {}, 0.0
    for _, chance in zip(range(count), (each for _, each in chances(seed)), strict=False):
        sent = changed(kinds, chance)
        began = time.process_time()
        told = await ask(app, *sent)
        slowest = max(slowest, time.process_time() - began)
        check(told, sent)
        seen[told["status"]] = seen.get(told["status"], 0) + 1
    assert slowest < 20, slowest
    return seen


def test_no_raw_errors_of_changed_requests_to_the_studio(original, tmp_path):
    folder = shutil.copytree(original, tmp_path / "project")
    app = studio(folder)
    try:
        seen = asyncio.run(fuzz(app, STUDIO, REQUESTS, "studio"))
    finally:
        app.app.state.projects.close()
    note(requests_to_the_studio=seen)
    assert seen[200] > REQUESTS / 20


def test_no_raw_errors_of_changed_requests_to_the_service(model):
    seen = asyncio.run(fuzz(service(model), SERVICE, REQUESTS, "service"))
    note(requests_to_the_service=seen)
    assert seen[200] > REQUESTS / 20


def test_no_raw_errors_of_changed_requests_to_a_project_that_is_served(original, tmp_path):
    app, served = project_service(shutil.copytree(original, tmp_path / "project"))
    try:
        seen = asyncio.run(fuzz(app, SERVICE, max(REQUESTS // 10, 120), "project"))
    finally:
        served.close()
    note(requests_to_a_served_project=seen)
    assert seen[200] > 5
    assert seen[202]


def test_no_raw_errors_of_changed_requests_to_a_home():
    seen = asyncio.run(fuzz(home_service(), HOME_SERVICE, REQUESTS, "home"))
    note(requests_to_a_home=seen)
    assert seen[200] > REQUESTS / 20


def test_no_raw_errors_of_equal_hashes_nor_a_long_wait(original, model, tmp_path):
    same = {"$set": [k * (2**61 - 1) for k in range(10_000)]}
    state = {"KitchenState": {"at": "sink", "holds": "", "lying": same}}
    project = Project(shutil.copytree(original, tmp_path / "project"), {"kind": "lesson"})
    began = time.process_time()
    for start in (same, state):
        with pytest.raises(GroundlingError, match="same hash"):
            import_lines(project, json.dumps({**RECORD, "start": start}).encode())
        body = json.dumps({"text": "zum Tisch", "state": start}).encode()
        told = asyncio.run(ask(service(model), "POST", b"/v1/follow", HEADERS, body[:250_000]))
        check(told, "equal hashes")
        assert told["status"] in (400, 413, 422)
    assert time.process_time() - began < 5
    project.close()


def test_no_raw_errors_of_changed_imports(original, tmp_path):
    project = Project(shutil.copytree(original, tmp_path / "project"), {"kind": "lesson"})
    good = [RECORD, {**RECORD, "weight": 3}, {**RECORD, "note": "kept apart"}]
    seen = {"records": 0, "lines refused": 0, "imports refused": 0}
    for number, chance in chances("imports"):
        if number == REQUESTS:
            break
        listed = changed_values(good, chance) if number % 2 else good
        data = b"\n".join(json.dumps(each).encode() for each in listed)
        try:
            found, refused = import_lines(project, changed_bytes(data, chance))
        except GroundlingError as error:
            check_sentence(error, data)
            seen["imports refused"] += 1
            continue
        seen["records"] += len(found)
        seen["lines refused"] += len(refused)
        if number % (REQUESTS // 50) == 0:
            project.take_in(found)
    project.learn_now()
    note(imports={"changed": REQUESTS, **seen, "set aside": len(project.aside)})
    assert min(seen.values()) > 0
    for problem in project.aside.values():  # what only learning finds out
        check_sentence(problem, problem)
    assert project.problem is None
    assert project.learnt_revision == project.store.revision
    project.close()


@pytest.mark.parametrize("odd", range(len(ODD)))
def test_no_raw_errors_of_odd_values_anywhere(original, model, tmp_path, odd):
    async def probe(app, kinds):
        for method, path, body in kinds:
            for key in body or () if isinstance(body, dict) else ():
                data = json.dumps({**body, key: ODD[odd]}).encode()
                check(await ask(app, method, path.encode(), HEADERS, data), (path, data))
                data = json.dumps({**body, key: [ODD[odd]]}).encode()
                check(await ask(app, method, path.encode(), HEADERS, data), (path, data))

    app = studio(shutil.copytree(original, tmp_path / "project"))
    try:
        asyncio.run(probe(app, STUDIO))
    finally:
        app.app.state.projects.close()
    asyncio.run(probe(service(model), SERVICE))


@pytest.mark.parametrize("which", ["studio", "service", "home"])
def test_no_raw_errors_schemathesis_finds(original, model, tmp_path, which):
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    lines = st.lists(st.one_of(st.binary(max_size=200), _records(st)), max_size=8)

    if which == "studio":
        app = studio(shutil.copytree(original, tmp_path / "project"))
        inner = app.app  # schemathesis asks a FastAPI for its schema
    elif which == "home":
        app = home_service()
        inner = app.app
    else:
        app = service(model)
        inner = app.app.app
    schema = schemathesis.openapi.from_asgi("/openapi.json", inner)
    seen = []
    for result in schema.get_all_operations():
        operation = result.ok()
        # JSON Lines are none of its formats: the rest of the request is its own.
        imports = operation.path.endswith(("/import", "/worlds/open"))
        if imports:
            operation.body = type(operation.body)([])

        @given(case=operation.as_strategy(), sent=lines if imports else st.none())
        @settings(
            max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate],
        )  # fmt: skip
        def probe(case, sent):
            given = case.as_transport_kwargs()
            path = case.formatted_path.replace("{name}", "main")
            query = "&".join(f"{key}={value}" for key, value in (given.get("params") or {}).items())
            data = given.get("data") or b""
            if "json" in given:
                data = json.dumps(given["json"]).encode()
            data = data.encode() if isinstance(data, str) else data
            data = data if sent is None else b"\n".join(sent)
            raw = (path + (f"?{query}" if query else "")).encode("utf-8", "replace")
            told = asyncio.run(ask(app, case.method, raw, HEADERS, data))
            check(told, (case.method, raw, data))
            seen.append(told["status"])

        probe()
    if which == "studio":
        app.app.state.projects.close()
    note(**{f"schemathesis_{which}": len(seen)})
    assert len(seen) > EXAMPLES * (1 if which == "home" else 2)


def _records(st):
    """Return a strategy for lines that are nearly records of the kitchen."""
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    values = st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    )
    good = {name: st.just(value) for name, value in RECORD.items()}
    fields = {name: good[name] | values for name in good}
    written = st.fixed_dictionaries({}, optional={**fields, "weight": values, "note": values,
                                                  "turn": values, "group": values})  # fmt: skip
    return written.map(lambda record: json.dumps(record).encode("utf-8", "surrogatepass"))


# ---- project files --------------------------------------------------------------------------

COLUMNS = {
    "meta": ("value",),
    "demonstrations": ("scene", "text", "start", "actions", "weight", "apart", "origin", "at",
                       "right_before"),
    "history": ("what", "changes", "undone"),
    "answers": ("text", "start", "actions", "confidence", "revision"),
    "models": ("at", "revision", "known", "accuracy", "seconds", "fingerprint", "digest"),
}  # fmt: skip
SQL_NASTY = (
    None, "", "[", "{}", "[]", "[[null,null]]", "nowhere", b"\xff\x00", 2**62, -1, 9e999, 1e308,
    "9" * 500,
    '{"kind":"world","world":"os:system"}', '{"kind":3}', "null", "1e999", "[" * 3000, '"\\ud800"',
    '{"$bytes":"\u00e9"}', "-5", "2.5", "true", '[{"a":1}]', "x" * 100_000,
)  # fmt: skip


def change_file(folder, chance):
    """Change the file of a project: its bytes, a value, or the JSON in a value."""
    path = folder / FILE
    kind = chance.randrange(4)
    if kind == 0:
        path.write_bytes(changed_bytes(path.read_bytes(), chance))
        return "bytes"
    with sqlite3.connect(path) as file:
        table = chance.choice(list(COLUMNS))
        column = chance.choice(COLUMNS[table])
        rows = file.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        row, value = chance.choice(rows)
        new = chance.choice(SQL_NASTY)
        if kind == 1 and isinstance(value, str) and value[:1] in "{[":
            new = json.dumps(changed_values(json.loads(value), chance))
        elif kind == 2 and isinstance(value, str):
            new = changed_bytes(value.encode(), chance).decode("utf-8", "replace")
        try:
            file.execute(f"UPDATE {table} SET {column}=? WHERE rowid=?", (new, row))
        except (sqlite3.IntegrityError, OverflowError, UnicodeEncodeError):
            file.execute(f"UPDATE {table} SET {column}='[' WHERE rowid=?", (row,))
        what = f"{table}.{column} = {new!r:.60}"
    file.close()
    return what


def check_sentence(error, what):
    assert "\n" not in str(error), what
    assert len(str(error)) < 2000, what


async def use(app):
    """Do all that a page does."""
    told = []
    for method, path, body in STUDIO:
        if path.startswith(PROJECT) and "import" not in path:
            data = b"" if body is None else json.dumps(body).encode()
            answer = await ask(app, method, path.encode(), HEADERS, data)
            check(answer, path)
            told.append(answer["status"])
    return told


def test_no_raw_errors_of_changed_project_files(original, tmp_path):
    seen, slowest = {"refused": 0, "opened": 0}, 0.0
    for number, chance in chances("project files"):
        if number == FILES:
            break
        folder = shutil.copytree(original, tmp_path / str(number))
        what = change_file(folder, chance)
        began = time.process_time()
        try:
            projects = OpenProjects(folder, None if chance.random() < 0.5 else {"kind": "lesson"})
        except GroundlingError as error:
            check_sentence(error, what)
            seen["refused"] += 1
        else:
            seen["opened"] += 1
            try:
                asyncio.run(use(make_studio(projects, limit=RateLimit(waiting=1000, seconds=60))))
                if number % 5 == 0:
                    projects.get("main").learn_now()
            except GroundlingError as error:
                check_sentence(error, what)
            except Exception as error:
                raise AssertionError(f"{number}: {what}") from error
            finally:
                projects.close()
        slowest = max(slowest, time.process_time() - began)
        shutil.rmtree(folder)
    note(project_files={**seen, "seconds_at_most": round(slowest, 2)})
    assert min(seen.values()) > 0


def test_no_raw_errors_a_lesson_that_fails_once_can_be_opened_later(original, tmp_path):
    shutil.copytree(original, tmp_path / "project" / "lessons" / "0a1b2c3d4e5f")
    file = tmp_path / "project" / "lessons" / "0a1b2c3d4e5f" / FILE
    kept = file.read_bytes()
    projects = OpenProjects(tmp_path / "project", {"kind": "lesson"})
    file.write_bytes(b"x" * 5000)
    with pytest.raises(GroundlingError, match="damaged"):
        projects.get("0a1b2c3d4e5f")
    file.write_bytes(kept)
    assert projects.get("0a1b2c3d4e5f").store.counts() == (2, 0)
    projects.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM demonstrations; END",
        "DROP TABLE answers; CREATE VIEW answers AS SELECT 1",
        "DROP TABLE models; CREATE TABLE models (id, at AS (1), revision)",
        "CREATE TABLE others (a)",
        "CREATE VIRTUAL TABLE others USING fts5(a)",
        "DROP TABLE models",
        "ALTER TABLE models DROP COLUMN digest",
    ],
)
def test_no_raw_errors_tables_that_no_project_has_are_refused(original, tmp_path, statement):
    folder = shutil.copytree(original, tmp_path / "project")
    file = sqlite3.connect(folder / FILE)
    file.executescript(statement)
    file.close()
    with pytest.raises(GroundlingError, match="damaged"):
        Project(folder)


def test_no_raw_errors_databases_of_others_are_left_alone(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE mine (a)")
    file.close()
    before = other.read_bytes()
    (folder / FILE).symlink_to(other)
    with pytest.raises(GroundlingError, match="regular file"):
        Project(folder, {"kind": "lesson"})
    (folder / FILE).unlink()
    shutil.copy(other, folder / FILE)
    with pytest.raises(GroundlingError, match="an unexpected"):
        Project(folder, {"kind": "lesson"})
    assert other.read_bytes() == before == (folder / FILE).read_bytes()
