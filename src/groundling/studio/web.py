"""The application of studio and service alike: routes, health, problems, and who may ask."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from groundling.limits import Limit
from groundling.studio.forms import Health, Problem
from groundling.studio.problems import install_problems
from groundling.studio.rate_limit import RateLimit
from groundling.studio.security import Security

__all__ = ["Web"]

STATIC = Path(__file__).parent / "static"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in (
        (400, "Not JSON."),
        (401, "The token is missing."),
        (403, "From another page, or switched off."),
        (408, "It was sent too slowly."),
        (409, "Not now; the sentence says why."),
        (413, "Too many bytes."),
        (422, "Cannot be done; the sentence says why."),
        (429, "Too many requests are waiting."),
        (503, "It took too long."),
        (507, "The disk is full."),
    )
}


class Web:
    """An application whose work is done in a few threads behind a bounded queue.

    Parameters
    ----------
    title, summary
        What the interface is called.
    page
        The file in `static` that is served at `/`.
    limit
        How many requests run and wait.
    learning
        Tells whether something is being learnt, for `/v1/health`.
    start, stop
        Called when the server begins and ends.

    Examples
    --------
    >>> from starlette.testclient import TestClient
    >>> web = Web("Twice", "index.html", RateLimit(), learning=lambda: False)
    >>> web.add("GET", "/twice", lambda number: number * 2, number=int)
    >>> with TestClient(web.guarded(), base_url="http://127.0.0.1") as client:
    ...     client.get("/twice", params={"number": 3}).json(), client.get("/v1/health").json()
    (6, {'status': 'ok', 'waiting': 0, 'learning': False})
    """

    def __init__(
        self,
        title: str,
        page: str,
        limit: RateLimit,
        *,
        learning: Callable[[], bool],
        summary: str | None = None,
        start: Callable[[], None] | None = None,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self.limit = limit

        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncIterator[None]:
            if start is not None:
                start()
            yield
            limit.close()
            if stop is not None:
                stop()

        # The page that FastAPI would serve for its interface loads scripts from other hosts.
        self.app = FastAPI(
            title=title, summary=summary, version="1", lifespan=lifespan, docs_url=None,
            redoc_url=None,
        )  # fmt: skip
        install_problems(self.app)
        self.app.mount("/static", StaticFiles(directory=STATIC), name="static")
        self.serve_file("/", page)
        self.serve_file("/favicon.ico", "icon.svg")

        @self.app.get("/v1/health")
        async def health() -> Health:
            """Tell that the server works; needs no token, and waits for nobody."""
            return Health(waiting=limit.busy, learning=learning())

    def serve_file(self, path: str, name: str) -> None:
        """Serve a file of `static` at a path."""

        async def file() -> FileResponse:
            return FileResponse(STATIC / name)

        self.app.get(path, include_in_schema=False)(file)

    def add(
        self,
        method: str,
        path: str,
        work: Callable[..., Any],
        *,
        status: int = 200,
        checks: Callable[[], None] | None = None,
        **kinds: Any,
    ) -> None:
        """Add a path whose work is done in a thread.

        The parameters of `work` are those of the request; `kinds` gives types to those that
        should not be read as they are annotated. `checks` may refuse before the body is read.
        """
        from fastapi import Depends

        signature = inspect.signature(work, eval_str=True)
        parameters = [
            each.replace(
                annotation=kinds.get(each.name, each.annotation),
                kind=inspect.Parameter.KEYWORD_ONLY,
            )
            for each in signature.parameters.values()
        ]

        async def endpoint(**given: Any) -> Any:
            return await self.limit.run(lambda: work(**given))

        endpoint.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        endpoint.__doc__ = work.__doc__
        endpoint.__name__ = getattr(work, "__name__", "endpoint").strip("_<>")
        self.app.add_api_route(
            path, endpoint, methods=[method], status_code=status, responses=PROBLEMS,
            dependencies=[Depends(checks)] if checks else None,
        )  # fmt: skip

    def guarded(
        self,
        token: str | None = None,
        larger: Mapping[str, Limit] | None = None,
        code: str | None = None,
    ) -> ASGIApp:
        """Return the application with what stands before it."""
        return Security(self.app, token=token, larger=larger, open_paths=("/v1/health",), code=code)
