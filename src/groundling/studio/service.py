"""HTTP service of a trained follower."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import HTTPException, Path
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundling.data.codec import Codec
from groundling.errors import InstructionError
from groundling.plan import Plan
from groundling.studio.forms import (
    Alternative,
    AnswerForm,
    OfferedOption,
    RequestForm,
    SayForm,
    Spoken,
    Teaching,
)
from groundling.studio.metrics import Metrics
from groundling.studio.rate_limit import RateLimit
from groundling.studio.served import Served, ServedProject
from groundling.studio.teacher import understood
from groundling.studio.texts import check_actions, check_text
from groundling.studio.web import Web
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration


def make_service(
    served: Served,
    *,
    teach: bool = False,
    token: str | None = None,
    limit: RateLimit | None = None,
) -> ASGIApp:
    """Return the ASGI application of the service.

    Parameters
    ----------
    served
        The follower and its world.
    teach
        Whether `/v1/teach` is enabled.
    token
        Access token, required for every request except `/v1/health`.
    limit
        Limit on running and waiting requests.
    """
    web = Web(
        "Groundling",
        "interface.html",
        limit or RateLimit(),
        learning=lambda: served.learning,
        summary="Follows natural-language instructions and explains its plans.",
        start=served.begin,
        stop=served.close,
    )
    metrics = Metrics(web.limit)

    def follow(request: RequestForm) -> AnswerForm:
        """Return the plan for a text."""
        began = time.perf_counter()
        answer = _follow(served, request)
        metrics.followed(time.perf_counter() - began, answer.understood)
        return answer

    def explain(request: RequestForm) -> dict[str, Any]:
        """Return the plan for a text, with an explanation.

        The explanation has causes, alignments, features and alternatives.
        """
        plan = _asked(served, request)
        with served.answering:
            told = plan.explain().to_dict()
        return {**told, "understood": understood(served.follower, plan)}

    def say(said: SayForm) -> Spoken:
        """Return the agent's response in a session: it acts, asks, answers or declines."""
        return _say(served, said)

    def model() -> dict[str, Any]:
        """Return the settings, the number of weights and the world of the model."""
        return served.about()

    def learn(teaching: Teaching) -> Response:
        """Train on more demonstrations; the server must have been started with `--teach`.

        A project stores the demonstrations and trains in the background; the response is 202 with
        the path of the training status. For a model, the response is 200 when training has
        finished.
        """
        done = served.teach(_demonstrations(served, teaching))
        if "status" not in done:
            return JSONResponse(done)
        return JSONResponse(done, 202, {"location": done["status"]})

    def learnt(revision: Annotated[int, Path(ge=0, lt=2**53)]) -> dict[str, Any]:
        """Return the training status: whether a revision of the demonstrations is learnt."""
        if not isinstance(served, ServedProject):
            raise HTTPException(404, "Only projects have a training status; this is a model.")
        return served.progress(revision)

    def permit() -> None:  # called before the body is read
        if not teach:
            raise HTTPException(403, "Teaching is disabled. Start the server with --teach.")

    web.add("POST", "/v1/follow", follow)
    web.add("POST", "/v1/explain", explain)
    web.add("POST", "/v1/say", say)
    web.add("GET", "/v1/model", model)
    web.add("POST", "/v1/teach", learn, checks=permit)
    web.add("GET", "/v1/teach/{revision}", learnt)
    web.serve_file("/docs", "interface.html")

    @web.app.get("/metrics", include_in_schema=False)
    async def measured() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return _Counted(web.guarded(token), metrics)


def _asked(served: Served, request: RequestForm) -> Plan:
    text = check_text(request.text)
    return served.follow(text, served.state(request.state), request.length)


def _follow(served: Served, request: RequestForm) -> AnswerForm:
    plan, codec = _asked(served, request), served.codec
    return AnswerForm(
        **_plain(codec, plan),
        states=[codec.state_to_json(each) for each in plan.states],
        confidence=plan.confidence,
        understood=understood(served.follower, plan),
        alternatives=[Alternative(**_plain(codec, each)) for each in plan.alternatives],
    )


def _say(served: Served, said: SayForm) -> Spoken:
    if said.session is not None and said.state is not None:
        raise InstructionError("`state` must be omitted if `session` is given. Remove one of them.")
    session, agent, turn = served.say(check_text(said.text), said.session, said.state)
    codec, plan = served.codec, turn.plan if turn.kind == "act" else None
    answer = turn.answer
    return Spoken(
        session=session,
        kind=turn.kind,
        text=turn.text,
        confidence=turn.confidence,
        actions=[] if plan is None else [codec.action_to_json(each) for each in plan.actions],
        options=[
            OfferedOption(
                text=each.text,
                probability=each.probability,
                actions=[codec.action_to_json(action) for action in each.plan.actions],
            )
            for each in turn.options
        ],
        answer=sorted(map(str, answer)) if isinstance(answer, frozenset) else answer,
        reason=turn.reason,
        state=codec.state_to_json(agent.state),
    )


def _plain(codec: Codec, plan: Plan) -> dict[str, Any]:
    return {
        "actions": [codec.action_to_json(each) for each in plan.actions],
        "probability": plan.probability,
        "log_probability": plan.log_probability,
    }


def _demonstrations(served: Served, teaching: Teaching) -> list[Demonstration]:
    shown = []
    for number, each in enumerate(teaching.demonstrations, 1):
        where = f"Demonstration {number}"
        text = check_text(each.text)
        check_actions(len(each.actions))
        start = served.state(each.state)
        actions = tuple(map(served.codec.action_from_json, each.actions))
        CachedEnvironment(served.environment).trace(start, actions, where)
        shown.append(
            Demonstration(text, served.environment, start, actions, each.weight, name=where)
        )
    return shown


class _Counted:
    """Middleware that counts requests by path and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            self.metrics.answered(str(scope["path"]), status, time.perf_counter() - began)
