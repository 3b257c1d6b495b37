"""Web application of the studio: the page and its API endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Body, HTTPException, Query
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from groundling.data.scene_world import SceneWorld
from groundling.errors import GroundlingError, NotFittedError, ProjectError
from groundling.follower import Follower
from groundling.limits import IMPORT_BYTES
from groundling.studio import views
from groundling.studio.exchange import TOLD, export_lines, import_lines
from groundling.studio.forms import (
    ChangeForm,
    Demonstrated,
    JoinForm,
    QuestionForm,
    Revision,
    UtteranceForm,
    Way,
    Wish,
    WorldForm,
)
from groundling.studio.gallery import GALLERY
from groundling.studio.open_projects import PUPIL, OpenProjects
from groundling.studio.pictures import picture
from groundling.studio.project import Project
from groundling.studio.rate_limit import RateLimit
from groundling.studio.reasons import reasons
from groundling.studio.scenes import StudioExample, typed
from groundling.studio.store import Record
from groundling.studio.teacher import threshold_of
from groundling.studio.texts import check_text
from groundling.studio.web import Web
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State

PATIENCE = 180.0  # seconds


def make_studio(
    projects: OpenProjects,
    *,
    token: str | None = None,
    limit: RateLimit | None = None,
    code: str | None = None,
    join_address: str | None = None,
) -> ASGIApp:
    """Return the ASGI application of the studio.

    With a `code`, pupils can join a class at `join_address`, which ends with the code (see
    `Security`).

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from starlette.testclient import TestClient
    >>> with TemporaryDirectory() as folder:
    ...     projects = OpenProjects(Path(folder), {"kind": "lesson"})
    ...     with TestClient(make_studio(projects), base_url="http://127.0.0.1") as client:
    ...         print(client.get("/api/projects/main").json()["title"])
    Kitchen
    """
    web = Web(
        "Groundling Studio",
        "index.html",
        # A long timeout, because the first response may have to compile kernels.
        limit or RateLimit(seconds=PATIENCE),
        learning=lambda: projects.learning,
        start=lambda: projects.get("main").wake(),
        stop=projects.close,
    )
    web.app.state.projects = projects

    def begin(wanted: WorldForm) -> dict[str, str]:
        """Create a project from a world of the gallery or the editor; return its name."""
        return {"project": projects.begin(wanted.source())}

    def open_file(
        data: Annotated[bytes, Body(media_type="application/x-ndjson")],
    ) -> dict[str, str]:
        """Create a project with the world, pupil and demonstrations of an exported file."""
        return {"project": projects.open_file(data)}

    def listed() -> dict[str, Any]:
        """Return the stored projects, and the worlds of the gallery."""
        return {
            "projects": [each._asdict() for each in projects.summaries()],
            "gallery": [
                {"name": each.name, "title": each.title, "about": each.about}
                for each in GALLERY.values()
            ],
        }

    def of_class() -> dict[str, Any]:
        """Return the address for joining the class, and the progress of all pupils."""
        return {
            "address": join_address,
            "pupils": [
                {"project": each, "name": pupil, **_robot(projects.get(each))}
                for each, pupil in list(projects.pupils.items())  # other threads may add pupils
            ],
        }

    def join(wanted: JoinForm) -> dict[str, str]:
        """Create a project for a pupil who joins the class, and return its name."""
        if code is None:
            raise HTTPException(403, "No class is running. Start one: groundling studio --class")
        return {"project": projects.join(wanted.name)}

    web.add("GET", "/api/class", of_class)
    web.add("POST", "/api/class/join", join, status=201)
    web.add("GET", "/api/worlds", listed)
    web.add("POST", "/api/worlds", begin, status=201)
    web.add("POST", "/api/worlds/check", _check_scene)
    web.add("POST", "/api/worlds/open", open_file, status=201)
    add = partial(web.add, find=projects.get)
    add("GET", "/api/projects/{name}", _overview)
    add("GET", "/api/projects/{name}/events", _events)
    add("POST", "/api/projects/{name}/walk", _walk)
    add("POST", "/api/projects/{name}/say", _say)
    add("POST", "/api/projects/{name}/explain", _explain)
    add("POST", "/api/projects/{name}/reasons", _reasons)
    add("GET", "/api/projects/{name}/use", _use)
    add("POST", "/api/projects/{name}/continue", _go_on)
    add("POST", "/api/projects/{name}/teach", _teach, status=201)
    add("POST", "/api/projects/{name}/undo", _undo)
    add("GET", "/api/projects/{name}/demonstrations", _listed)
    add("GET", "/api/projects/{name}/demonstrations/{number}", _shown)
    add("PATCH", "/api/projects/{name}/demonstrations/{number}", _change)
    add("DELETE", "/api/projects/{name}/demonstrations/{number}", _delete)
    add("POST", "/api/projects/{name}/import", _import)
    add("GET", "/api/projects/{name}/export", _export)
    add("GET", "/api/projects/{name}/words", _words)
    add("GET", "/api/projects/{name}/weights", _weights)
    return web.guarded(
        token, larger={"/import": IMPORT_BYTES, "/api/worlds/open": IMPORT_BYTES}, code=code
    )


# ---- worlds and plans -----------------------------------------------------------------------


def _overview(project: Project) -> dict[str, Any]:
    """Return the data that the page shows when it is loaded."""
    setting, store = project.setting, project.store
    known, apart = store.counts()
    follower, learnt, _ = project.learnt
    names = ("revision", "known", "accuracy", "seconds", "at")
    return {
        "title": setting.title,
        "pupil": store.get(PUPIL),
        "kind": setting.source["kind"],
        "scenes": [
            {"name": each.name, "text": _describe(project, each.name)} for each in setting.scenes
        ],
        "examples": [_example(project, each) for each in setting.examples],
        "threshold": threshold_of(follower),
        "standing": project.standing(),
        "trained": follower is not None,
        "writes": project.writes,
        "revision": store.revision,
        "learnt": learnt,
        "progress": project.progress if project.is_behind else None,
        "problem": project.problem,
        "known": known,
        "apart": apart,
        "aside": len(project.aside),
        "undo": store.last_change(),
        "curve": [{name: each[name] for name in names} for each in store.models()],
        "first_tries": store.first_tries(),
        "models": project.kept_models(),
    }


def _example(project: Project, example: StudioExample) -> dict[str, Any]:
    start = example.start
    if start is not None:
        start = project.write_state(example.scene, start)
    return {"text": example.text, "scene": example.scene, "start": start}


def _robot(project: Project) -> dict[str, Any]:
    """Return a pupil's progress and last demonstration, with a picture."""
    scene = project.setting.scenes[0]
    latest = project.store.page("", 0, 1)[1]
    states: Sequence[State] = [scene.start]
    if latest:
        with suppress(GroundlingError):  # the world has changed
            each = project.demonstration(latest[0])
            scene = project.setting.scene(latest[0].scene)
            states = CachedEnvironment(scene.environment).trace(each.start, each.actions).states
    return {
        "known": project.store.counts()[0],
        **{name: project.standing()[name] for name in ("recent", "of")},
        "last": latest[0].text if latest else None,
        "svg": picture(scene.environment, states).svg,
    }


def _check_scene(wanted: WorldForm) -> dict[str, Any]:
    """Return a picture of a world from the editor, and its possible actions.

    Raises an error if the world is invalid.
    """
    world = SceneWorld(wanted.scene or {})
    start = world.initial_state()
    return {**picture(world, [start]).to_dict(), "actions": list(world.actions(start))}


def _describe(project: Project, name: str) -> str:
    scene = project.setting.scene(name)
    try:
        return CachedEnvironment(scene.environment).describe(scene.start)
    except GroundlingError as error:
        return str(error)


def _events(project: Project) -> StreamingResponse:
    """Return a stream of events, such as training progress and new models."""
    project.events.check_room()
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(
        project.events.listen(), media_type="text/event-stream", headers=headers
    )


def _way(project: Project, way: Way) -> tuple[Any, State, tuple[Any, ...]]:
    scene = project.setting.scene(way.scene)
    start = project.read_state(scene, way.start)
    return scene, start, project.read_actions(scene.name, way.actions)


def _walk(project: Project, way: Way) -> dict[str, Any]:
    """Return the states after the given actions, and the possible next actions."""
    return views.walk(project, *_way(project, way))


def _go_on(project: Project, way: Way) -> dict[str, Any]:
    """Return the state after the given actions, where the next instruction starts."""
    scene, start, actions = _way(project, way)
    end = CachedEnvironment(scene.environment).trace(start, actions).states[-1]
    # `restart` converts the final state of a plan to the initial state of the next plan.
    restart = getattr(scene.environment, "restart", None)
    return views.walk(project, scene, restart(end) if callable(restart) else end, ())


def _say(project: Project, said: UtteranceForm) -> dict[str, Any]:
    """Return the agent's response to an utterance, and store it.

    The agent acts, asks, answers or declines.
    """
    scene, text = project.setting.scene(said.scene), check_text(said.text)
    start = project.read_state(scene, said.start)
    if project.follower is None:
        return {"trained": False}  # not an error: the page offers to demonstrate something
    before = list(map(check_text, said.before))
    turn = project.say(
        scene, start, text, before=before, choice=said.choice, language=said.language
    )
    view = views.turn_view(project, scene, turn, start)
    view["before"] = [*(before if turn.replies else ()), text] if turn.kind == "ask" else []
    if project.writes:
        try:
            project.store.answered(
                scene.name, text, project.write_state(scene.name, start),
                [each["json"] for each in view["actions"]], turn.confidence, turn.kind == "act",
                project.learnt_revision,
            )  # fmt: skip
        except ProjectError as error:  # return the response even if it cannot be stored
            view["note"] = f"This response could not be saved. {error}"
    return view


def _explain(project: Project, question: QuestionForm) -> dict[str, Any]:
    """Return an explanation of the plan for a text."""
    scene, text = project.setting.scene(question.scene), check_text(question.text)
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


def _reasons(project: Project, wish: Wish) -> dict[str, Any]:
    """Return the reasons for each step of the plan for a text."""
    scene, text = project.setting.scene(wish.scene), check_text(wish.text)
    start = project.read_state(scene, wish.start)
    follower = project.follower
    if follower is None:
        return {"steps": [], "remembered": None, "words": [], "unexplained": []}
    plan = project.follow(scene, start, text)
    with project.answering:
        told = reasons(follower, scene, plan)
    if told["remembered"] is not None and plan.remembered is not None:
        told["built_in"] = project.is_given(plan.remembered.shown.name)
    return told


def _use(project: Project) -> dict[str, Any]:
    """Return the folder of the project, and an example text and state for client code."""
    scene = project.setting.scenes[0]
    said = [each.text for each in project.setting.examples]
    said += [each.text for each in project.store.page("", 0, 1)[1]]
    return {
        "folder": str(project.folder.resolve()),
        "text": (*said, "go")[0],
        "state": project.write_state(scene.name, scene.start),
        "world": typed(project.setting.source),
    }


# ---- teaching -------------------------------------------------------------------------------


def _teach(project: Project, shown: Demonstrated) -> dict[str, Any]:
    """Store a demonstration and start training on it."""
    added = project.teach(
        Record(shown.scene, shown.text, shown.start, tuple(shown.actions), origin=shown.origin)
    )
    return {"demonstration": views.record_view(project, added), "revision": project.store.revision}


def _undo(project: Project) -> dict[str, Any]:
    """Undo the last change to the demonstrations; return its description."""
    return {"undone": project.undo(), "revision": project.store.revision}


def _listed(
    project: Project,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """Return the demonstrations that contain the search text, newest first."""
    total, found = project.store.page(search, offset, limit)
    return {
        "total": total,
        "demonstrations": [views.record_view(project, each) for each in found],
    }


def _shown(project: Project, number: int) -> dict[str, Any]:
    """Return the demonstration with the given number."""
    return views.record_view(project, project.store.record(number))


def _change(project: Project, number: int, change: ChangeForm) -> dict[str, Any]:
    """Change fields of a demonstration; return the changed demonstration."""
    return views.record_view(project, project.edit(number, change.fields()))


def _delete(project: Project, number: int) -> dict[str, Any]:
    """Delete the demonstration with the given number."""
    project.remove(number)
    return {"revision": project.store.revision}


def _import(
    project: Project, data: Annotated[bytes, Body(media_type="application/x-ndjson")]
) -> dict[str, Any]:
    """Import the valid lines of a JSON Lines file; return their number and problems."""
    project.check_writes()
    records, refused = import_lines(project, data)
    fresh = project.take_in(records)
    told = [{"line": line, "problem": problem} for line, problem in list(refused.items())[:TOLD]]
    return {
        "imported": fresh,
        "known": len(records) - fresh,
        "refused": told,
        "refused_in_all": len(refused),
        "revision": project.store.revision,
    }


def _export(project: Project) -> Response:
    """Return a download of the world, the pupil and all demonstrations as JSON Lines."""
    named = f"{project.store.get(PUPIL) or project.setting.title}.jsonl"
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(named, safe='')}"}
    text = "".join(export_lines(project))
    return Response(text, media_type="application/x-ndjson", headers=headers)


# ---- weights --------------------------------------------------------------------------------


def _model(project: Project, revision: int | None) -> Follower:
    found = project.follower if revision is None else project.model(revision)
    if found is None:
        raise NotFittedError("There is no trained model yet. Add a demonstration first.")
    return found


def _words(project: Project, model: Annotated[Revision, Query()] = None) -> dict[str, Any]:
    """Return the learnt words with their strongest features, and the learnt lexicon."""
    if model is None and project.follower is None:
        return {"words": [], "weights": 0, "lexicon": []}
    follower = _model(project, model)
    return {
        "words": views.words_of(follower)[:2000],
        "weights": len(follower.theta_),
        "lexicon": follower.lexicon_.table().splitlines()[:2000],
    }


def _weights(
    project: Project,
    word: Annotated[str, Query(max_length=100)],
    model: Annotated[Revision, Query()] = None,
) -> dict[str, Any]:
    """Return the weights of a word's features, strongest first."""
    follower = _model(project, model)
    return {"word": word, "weights": views.weights_of(follower, word.strip().lower())}
