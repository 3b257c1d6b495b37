"""The studio's server: the page and what it asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from groundling.errors import GroundlingError, InstructionError, NotFittedError
from groundling.language.parser import load_parser
from groundling.studio import views
from groundling.studio.exchange import export_lines, import_lines
from groundling.studio.forms import Change, Demonstrated, Question, Said, Way, Wish
from groundling.studio.gate import Gate
from groundling.studio.guard import OWN_HOSTS, Guard
from groundling.studio.problems import install_problems
from groundling.studio.project import Project
from groundling.studio.rooms import Rooms
from groundling.studio.store import Record
from groundling.world.cached_environment import CachedEnvironment

__all__ = ["make_studio"]

STATIC = Path(__file__).parent / "static"
IMPORT, PATIENCE = 20_000_000, 180.0  # bytes, seconds


def make_studio(rooms: Rooms, *, token: str | None = None, gate: Gate | None = None) -> ASGIApp:
    """Return the studio as an application.

    >>> from tempfile import TemporaryDirectory
    >>> from starlette.testclient import TestClient
    >>> with TemporaryDirectory() as folder:
    ...     rooms = Rooms(Path(folder), {"kind": "lesson"})
    ...     with TestClient(make_studio(rooms)) as client:
    ...         print(client.get("/api/projects/main").json()["title"])
    Kitchen
    """
    # People would rather wait than be refused: the very first answer may compile kernels.
    work = gate or Gate(seconds=PATIENCE)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        main = rooms.get("main")
        main.wake()
        yield
        work.close()
        rooms.close()

    # The page that FastAPI would serve for its interface loads scripts from other hosts.
    app = FastAPI(title="Groundling Studio", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.rooms = rooms
    install_problems(app)
    _add_pages(app, work)
    _add_projects(app, rooms, work)
    _add_teaching(app, rooms, work)
    _add_insides(app, rooms, work)
    hosts = OWN_HOSTS
    return Guard(
        app, token=token, larger={"/import": IMPORT}, hosts=hosts, open_paths=("/v1/health",)
    )


def _add_pages(app: FastAPI, gate: Gate) -> None:
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> FileResponse:
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    @app.get("/v1/health")
    async def health() -> dict[str, Any]:
        """Tell that the studio works; needs no token, and waits for nobody who learns."""
        return {"status": "ok", "waiting": gate.busy}


def _add_projects(app: FastAPI, rooms: Rooms, gate: Gate) -> None:
    @app.post("/api/lessons", status_code=201)
    async def begin_lesson() -> dict[str, str]:
        """Begin a lesson with a follower that knows nothing."""
        return {"project": await gate.run(rooms.begin_lesson)}

    @app.get("/api/projects/{name}")
    async def project(name: str) -> dict[str, Any]:
        """Return all that a page needs at first."""
        return await gate.run(lambda: _overview(rooms.get(name)))

    @app.get("/api/projects/{name}/events")
    async def events(name: str) -> StreamingResponse:
        """Tell what happens: progress, what was learnt, what others changed."""
        found = await gate.run(rooms.get, name)
        found.events.check_room()
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            found.events.listen(), media_type="text/event-stream", headers=headers
        )

    @app.post("/api/projects/{name}/walk")
    async def walk(name: str, way: Way) -> dict[str, Any]:
        """Return what actions lead to, and what can be done next."""
        return await gate.run(_walk, rooms, name, way)

    @app.post("/api/projects/{name}/follow")
    async def follow(name: str, wish: Wish) -> dict[str, Any]:
        """Follow what was said, and keep the answer."""
        return await gate.run(_follow, rooms, name, wish)

    @app.post("/api/projects/{name}/explain")
    async def explain(name: str, question: Question) -> dict[str, Any]:
        """Follow what was said and say why."""
        return await gate.run(_explain, rooms, name, question)

    @app.post("/api/projects/{name}/ground")
    async def ground(name: str, way: Way) -> dict[str, Any]:
        """Return the grounding graph of the last of some actions."""
        return await gate.run(_ground, rooms, name, way)

    @app.post("/api/parse")
    async def parse(said: Said) -> dict[str, Any]:
        """Return the dependency trees of a text, as the shipped parser sees it."""
        return await gate.run(_parse, said.text)

    @app.post("/api/projects/{name}/continue")
    async def go_on(name: str, way: Way) -> dict[str, Any]:
        """Return the state after actions as the start of the next instruction."""
        return await gate.run(_go_on, rooms, name, way)


def _overview(project: Project) -> dict[str, Any]:
    setting, store = project.setting, project.store
    known, apart = store.counts()
    follower, learnt, _ = project.learnt
    return {
        "title": setting.title,
        "kind": setting.source["kind"],
        "scenes": [
            {"name": each.name, "text": _describe(project, each.name)} for each in setting.scenes
        ],
        "examples": list(setting.examples),
        "threshold": (follower or setting.make()).threshold,
        "trained": follower is not None,
        "revision": store.revision,
        "learnt": learnt,
        "progress": project.progress if project.is_behind else None,
        "problem": project.problem,
        "known": known,
        "apart": apart,
        "undo": store.last_change(),
        "curve": _curve(store.models()),
        "first_tries": store.first_tries(),
        "models": project.kept_models(),
    }


def _describe(project: Project, name: str) -> str:
    scene = project.setting.scene(name)
    try:
        return CachedEnvironment(scene.environment).describe(scene.start)
    except GroundlingError as error:
        return str(error)


def _curve(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("revision", "known", "accuracy", "seconds", "at")
    return [{name: each[name] for name in names} for each in models]


def _walk(rooms: Rooms, name: str, way: Way) -> dict[str, Any]:
    project = rooms.get(name)
    scene = project.setting.scene(way.scene)
    start = project.read_state(scene, way.start)
    return views.walk(project, scene, start, project.read_actions(scene.name, way.actions))


def _ground(rooms: Rooms, name: str, way: Way) -> dict[str, Any]:
    project = rooms.get(name)
    scene = project.setting.scene(way.scene)
    start = project.read_state(scene, way.start)
    actions = project.read_actions(scene.name, way.actions)
    if not actions:
        raise InstructionError("Nothing was done. Click an action.")
    return views.graph_view(CachedEnvironment(scene.environment).trace(start, actions).graphs[-1])


def _parse(text: str) -> dict[str, Any]:
    said = views.check_text(text)
    return {"trees": views.trees_view(load_parser("default").parse(said))}


def _go_on(rooms: Rooms, name: str, way: Way) -> dict[str, Any]:
    project = rooms.get(name)
    scene = project.setting.scene(way.scene)
    start = project.read_state(scene, way.start)
    actions = project.read_actions(scene.name, way.actions)
    end = CachedEnvironment(scene.environment).trace(start, actions).states[-1]
    # An environment may tell where a plan ends from where the next begins.
    restart = getattr(scene.environment, "restart", None)
    end = restart(end) if callable(restart) else end
    return views.walk(project, scene, end, ())


def _follow(rooms: Rooms, name: str, wish: Wish) -> dict[str, Any]:
    project = rooms.get(name)
    scene = project.setting.scene(wish.scene)
    text = views.check_text(wish.text)
    start = project.read_state(scene, wish.start)
    if project.follower is None:
        return {"trained": False}  # nothing went wrong: there is something to be shown
    plan = project.follow(scene, start, text)
    view = views.plan_view(project, scene, plan)
    project.store.answered(
        scene.name, text, project.write_state(scene.name, start),
        [each["json"] for each in view["actions"]], plan.confidence, plan.understood,
        project.learnt_revision,
    )  # fmt: skip
    return view


def _explain(rooms: Rooms, name: str, question: Question) -> dict[str, Any]:
    project = rooms.get(name)
    scene = project.setting.scene(question.scene)
    text = views.check_text(question.text)
    start = project.read_state(scene, question.start)
    if question.model is None:
        if project.follower is None:
            return {"trained": False}
        plan = project.follow(scene, start, text)
        with project.answering:
            return views.explanation_view(project, scene, plan.explain())
    follower = project.model(question.model)
    with project.answering:
        plan = follower.follow(project.setting.read(scene, text), scene.environment, start)
        return {
            **views.explanation_view(project, scene, plan.explain()),
            "frames": views.frames(project, scene, plan.states),
        }


def _add_teaching(app: FastAPI, rooms: Rooms, gate: Gate) -> None:
    @app.post("/api/projects/{name}/teach", status_code=201)
    async def teach(name: str, shown: Demonstrated) -> dict[str, Any]:
        """Keep a demonstration and begin to learn from it."""
        return await gate.run(_teach, rooms, name, shown)

    @app.post("/api/projects/{name}/undo")
    async def undo(name: str) -> dict[str, Any]:
        """Take the last change of demonstrations back."""
        return await gate.run(_undo, rooms, name)

    @app.get("/api/projects/{name}/demonstrations")
    async def demonstrations(
        name: str,
        search: Annotated[str, Query(max_length=200)] = "",
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> dict[str, Any]:
        """Return demonstrations that contain what is searched for, newest first."""
        return await gate.run(_listed, rooms, name, search, offset, limit)

    @app.patch("/api/projects/{name}/demonstrations/{number}")
    async def change(name: str, number: int, change: Change) -> dict[str, Any]:
        """Change a demonstration."""
        return await gate.run(_change, rooms, name, number, change)

    @app.delete("/api/projects/{name}/demonstrations/{number}")
    async def delete(name: str, number: int) -> dict[str, Any]:
        """Delete a demonstration."""
        return await gate.run(_delete, rooms, name, number)

    @app.post("/api/projects/{name}/import")
    async def take_in(
        name: str, data: Annotated[bytes, Body(media_type="application/x-ndjson")]
    ) -> dict[str, Any]:
        """Add demonstrations from JSON Lines: all of them, or none."""
        return await gate.run(_import, rooms, name, data)

    @app.get("/api/projects/{name}/export")
    async def give_out(name: str) -> Response:
        """Return all demonstrations as JSON Lines."""
        project = await gate.run(rooms.get, name)
        text = await gate.run(lambda: "".join(export_lines(project)))
        headers = {"content-disposition": 'attachment; filename="demonstrations.jsonl"'}
        return Response(text, media_type="application/x-ndjson", headers=headers)


def _teach(rooms: Rooms, name: str, shown: Demonstrated) -> dict[str, Any]:
    project = rooms.get(name)
    scene = project.setting.scene(shown.scene)
    text = views.check_text(shown.text)
    start = project.write_state(scene.name, project.read_state(scene, shown.start))
    if not shown.actions:
        raise InstructionError("Nothing was shown. Click at least one action.")
    record = Record(scene.name, text, start, tuple(shown.actions), origin=shown.origin)
    project.check(record)
    right = project.would_do(record)
    record = Record(
        scene.name, text, start, tuple(shown.actions), origin=shown.origin, right_before=right
    )
    what = f"teaching “{text[:60]}”"
    [added] = project.store.add([record], what)
    project.changed(what)
    return {"demonstration": views.record_view(project, added), "revision": project.store.revision}


def _undo(rooms: Rooms, name: str) -> dict[str, Any]:
    project = rooms.get(name)
    change = project.store.undo()
    if change is None:
        raise InstructionError("There is nothing to undo.")
    project.changed(f"undone: {change.what}")
    return {"undone": change.what, "revision": project.store.revision}


def _listed(rooms: Rooms, name: str, search: str, offset: int, limit: int) -> dict[str, Any]:
    project = rooms.get(name)
    total, found = project.store.page(search, offset, limit)
    return {
        "total": total,
        "demonstrations": [views.record_view(project, each) for each in found],
    }


def _change(rooms: Rooms, name: str, number: int, change: Change) -> dict[str, Any]:
    project = rooms.get(name)
    before = project.store.record(number)
    fields = change.fields()
    if "text" in fields:
        fields["text"] = views.check_text(fields["text"])
    project.check(Record(**{**vars(before), **fields}))
    what = f"editing “{before.text[:60]}”"
    after = project.store.change(number, what, **fields)
    project.changed(what)
    return views.record_view(project, after)


def _delete(rooms: Rooms, name: str, number: int) -> dict[str, Any]:
    project = rooms.get(name)
    what = f"deleting “{project.store.record(number).text[:60]}”"
    project.store.remove([number], what)
    project.changed(what)
    return {"revision": project.store.revision}


def _import(rooms: Rooms, name: str, data: bytes) -> dict[str, Any]:
    project = rooms.get(name)
    records = import_lines(project, data)
    what = f"importing {len(records)} demonstrations"
    project.store.add(records, what)
    project.changed(what)
    return {"imported": len(records), "revision": project.store.revision}


def _add_insides(app: FastAPI, rooms: Rooms, gate: Gate) -> None:
    model = Query(None, ge=0, le=2**53)

    @app.get("/api/projects/{name}/words")
    async def words(name: str, model: int | None = model) -> dict[str, Any]:
        """Return the words that were learnt, with their strongest meaning each."""
        return await gate.run(_words, rooms, name, model)

    @app.get("/api/projects/{name}/weights")
    async def weights(
        name: str, word: Annotated[str, Query(max_length=100)], model: int | None = model
    ) -> dict[str, Any]:
        """Return the strongest weights of a word."""
        return await gate.run(_weights, rooms, name, word, model)


def _model(rooms: Rooms, name: str, revision: int | None) -> Any:
    project = rooms.get(name)
    found = project.follower if revision is None else project.model(revision)
    if found is None:
        raise NotFittedError("Nothing was learnt yet.")
    return found


def _words(rooms: Rooms, name: str, revision: int | None) -> dict[str, Any]:
    if revision is None and rooms.get(name).follower is None:
        return {"words": [], "weights": 0, "lexicon": []}
    follower = _model(rooms, name, revision)
    return {
        "words": views.words_of(follower)[:2000],
        "weights": len(follower.theta_),
        "lexicon": follower.lexicon_.table().splitlines()[:2000],
    }


def _weights(rooms: Rooms, name: str, word: str, revision: int | None) -> dict[str, Any]:
    follower = _model(rooms, name, revision)
    return {"word": word, "weights": views.weights_of(follower, word.strip().lower())}
