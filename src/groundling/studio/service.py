"""The service: a trained follower behind HTTP, for programs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundling.data.codec import Codec
from groundling.errors import DemonstrationError
from groundling.explain.explanation import Plan
from groundling.studio.forms import Actions, Json, Words
from groundling.studio.gate import Gate
from groundling.studio.guard import Guard
from groundling.studio.metrics import Metrics
from groundling.studio.problems import install_problems
from groundling.studio.serving import Served
from groundling.studio.views import check_text
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration

__all__ = ["make_service"]

STATIC = Path(__file__).parent / "static"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Request(_Form):
    """What to do, and where: the state in the environment's own JSON."""

    text: Annotated[Words, Field(description="One or several sentences.")]
    state: Annotated[Json, Field(description="The state it begins in; else the world's start.")] = (
        None
    )
    length: Annotated[
        int | None, Field(ge=1, le=100, description="The number of actions, if it is known.")
    ] = None


class Taught(_Form):
    """A text, where it was said, and what was meant."""

    text: Words
    state: Json = None
    actions: Annotated[Actions, Field(min_length=1)]
    weight: float = Field(1.0, gt=0, le=1000)


class Teaching(_Form):
    """Demonstrations to learn from."""

    demonstrations: Annotated[list[Taught], Field(min_length=1, max_length=1000)]


class Alternative(BaseModel):
    """A plan that was considered."""

    actions: list[Any]
    probability: float
    log_probability: float


class Answer(Alternative):
    """The plan, as the library gives it."""

    states: list[Any]
    confidence: float
    understood: bool
    alternatives: list[Alternative]


class Health(BaseModel):
    """Whether the service works, and how much it has to do."""

    status: str
    waiting: int
    learning: bool


class Problem(BaseModel):
    """What went wrong, in one sentence (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in (
        (400, "Not JSON."),
        (401, "The token is missing."),
        (403, "From another page, or switched off."),
        (413, "Too many bytes."),
        (422, "Cannot be done; the sentence says why."),
        (429, "Too many requests are waiting."),
        (503, "It took too long."),
    )
}


def make_service(
    served: Served,
    *,
    teach: bool = False,
    token: str | None = None,
    gate: Gate | None = None,
) -> ASGIApp:
    """Return the service as an application.

    Parameters
    ----------
    served
        The follower and the world it acts in.
    teach
        Whether `/v1/teach` may be used.
    token
        What every request must show, except for `/v1/health`.
    gate
        How many requests run and wait.
    """
    work = gate or Gate()
    metrics = Metrics(work)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        work.close()

    app = FastAPI(
        title="Groundling",
        summary="Follows plain-language instructions, and says why.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    install_problems(app)
    _add_asking(app, served, work, metrics)
    _add_teaching(app, served, work, teach)

    @app.get("/metrics", include_in_schema=False)
    async def measured() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(STATIC / "interface.html")

    guarded = Guard(app, token=token, open_paths=("/v1/health",))
    return _Counted(guarded, metrics)


def _add_asking(app: FastAPI, served: Served, gate: Gate, metrics: Metrics) -> None:
    @app.post("/v1/follow", responses=PROBLEMS)
    async def follow(request: Request) -> Answer:
        """Return the plan that a text asks for."""
        began = time.perf_counter()
        answer = await gate.run(_follow, served, request)
        metrics.followed(time.perf_counter() - began, answer.understood)
        return answer

    @app.post("/v1/explain", responses=PROBLEMS)
    async def explain(request: Request) -> dict[str, Any]:
        """Return the plan and why: causes, links of words to nodes, features, runners-up."""
        return await gate.run(_explain, served, request)

    @app.get("/v1/health")
    async def health() -> Health:
        """Tell that the service works; needs no token."""
        return Health(status="ok", waiting=gate.busy, learning=served.learning)

    @app.get("/v1/model", responses={401: PROBLEMS[401], 403: PROBLEMS[403]})
    async def model() -> dict[str, Any]:
        """Return what the model is: its settings and its size."""
        return served.about()


def _add_teaching(app: FastAPI, served: Served, gate: Gate, allowed: bool) -> None:
    def permit() -> None:  # before the body is looked at
        if not allowed:
            raise HTTPException(403, "Teaching is off. Start the server with --teach.")

    @app.post("/v1/teach", responses=PROBLEMS, dependencies=[Depends(permit)])
    async def teach(teaching: Teaching) -> dict[str, Any]:
        """Learn from demonstrations; answers change when it has learnt. Off unless asked for."""
        return await gate.run(_teach, served, teaching)


def _asked(served: Served, request: Request) -> Plan:
    text = check_text(request.text)
    state = served.state(request.state)
    return served.follow(text, state, request.length)


def _follow(served: Served, request: Request) -> Answer:
    plan = _asked(served, request)
    codec = served.codec
    return Answer(
        **_plain(codec, plan),
        states=[codec.state_to_json(each) for each in plan.states],
        confidence=plan.confidence,
        understood=plan.understood,
        alternatives=[Alternative(**_plain(codec, each)) for each in plan.alternatives],
    )


def _plain(codec: Codec, plan: Plan) -> dict[str, Any]:
    return {
        "actions": [codec.action_to_json(each) for each in plan.actions],
        "probability": plan.probability,
        "log_probability": plan.log_probability,
    }


def _explain(served: Served, request: Request) -> dict[str, Any]:
    plan = _asked(served, request)
    with served.answering:
        return plan.explain().to_dict()


def _teach(served: Served, teaching: Teaching) -> dict[str, Any]:
    shown = []
    for number, each in enumerate(teaching.demonstrations, 1):
        start = served.state(each.state)
        actions = tuple(map(served.codec.action_from_json, each.actions))
        where = f"Demonstration {number}"
        CachedEnvironment(served.environment).trace(start, actions, where)
        text = check_text(each.text)
        shown.append(
            Demonstration(text, served.environment, start, actions, each.weight, name=where)
        )
    if not shown:
        raise DemonstrationError("There are no demonstrations.")
    return served.teach(shown)


class _Counted:
    """Counts requests by path and status, whoever answers them."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        done: Callable[[], None] = lambda: self.metrics.answered(  # noqa: E731
            str(scope["path"]), status, time.perf_counter() - began
        )
        try:
            await self.app(scope, receive, sending)
        finally:
            done()
