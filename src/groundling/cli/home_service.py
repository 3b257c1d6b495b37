"""HTTP service of a home: `groundling home serve`."""

from __future__ import annotations

from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.types import ASGIApp

from groundling.home.agent import HomeAgent
from groundling.studio.forms import Json, Words
from groundling.studio.rate_limit import RateLimit
from groundling.studio.web import Web


class HomeRequest(BaseModel):
    """Request body of `/v1/reply`; `states` override those of the home."""

    model_config = ConfigDict(extra="forbid")
    text: Words
    area: Annotated[str, Field(max_length=200)] | None = None
    states: dict[str, Json] | None = None


def make_home_service(
    agent: HomeAgent, *, token: str | None = None, limit: RateLimit | None = None
) -> ASGIApp:
    """Return the ASGI application that replies to texts in a home.

    Requests are independent of each other and change nothing in the home.
    """
    web = Web(
        "Groundling home",
        "interface.html",
        limit or RateLimit(),
        learning=lambda: False,
        summary="Replies to commands and questions in a home.",
    )
    turn = Lock()

    def reply(request: HomeRequest) -> dict[str, Any]:
        """Return the reply to a text: act, ask, answer or decline."""
        with turn:
            agent.forget()
            return agent.reply(request.text, area=request.area, states=request.states).to_dict()

    def home() -> dict[str, Any]:
        """Return the areas and the entities of the home with their initial states."""
        with turn:
            agent.forget()
            return agent.describe()

    web.add("POST", "/v1/reply", reply)
    web.add("GET", "/v1/home", home)
    web.serve_file("/docs", "interface.html")
    return web.guarded(token)
