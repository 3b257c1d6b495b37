"""Base of the studio and the service: routes, health, errors and security."""

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

STATIC = Path(__file__).parent / "static"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in (
        (400, "The body is not JSON."),
        (401, "The token is missing or wrong."),
        (403, "Cross-site request, or disabled endpoint."),
        (408, "Receiving the request timed out."),
        (409, "The request conflicts with the current state; see `detail`."),
        (413, "The body is too large."),
        (422, "Invalid request; see `detail`."),
        (429, "Too many requests are waiting."),
        (503, "Processing the request timed out."),
        (507, "The disk is full."),
    )
}


class Web:
    """FastAPI application whose endpoints run in a thread pool with a bounded queue.

    Parameters
    ----------
    title, summary
        Title and summary of the API.
    page
        Name of the file in `static` that is served at `/`.
    limit
        Limit on running and waiting requests.
    learning
        Function that returns whether training is running, for `/v1/health`.
    start, stop
        Functions that are called when the server starts and stops.

    Examples
    --------
    >>> from starlette.testclient import TestClient
    >>> web = Web("Twice", "index.html", RateLimit(), learning=lambda: False)
    >>> def twice(number: int) -> int: return number * 2
    >>> web.add("GET", "/twice", twice)
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

        # FastAPI's own documentation pages load scripts from other hosts.
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
            """Return the server status.

            The request requires no token and never waits in the queue.
            """
            return Health(waiting=limit.busy, learning=learning())

    def serve_file(self, path: str, name: str) -> None:
        """Serve a file from the folder `static` at a path."""

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
        find: Callable[[str], Any] | None = None,
    ) -> None:
        """Add an endpoint that runs in a worker thread.

        The parameters of `work` are those of the request. With `find`, the first one is
        `find(name)`, where `name` is part of the path. `checks` runs before the body is read and
        may raise an error to reject the request.
        """
        from fastapi import Depends

        signature, kind = inspect.signature(work, eval_str=True), inspect.Parameter.KEYWORD_ONLY
        parameters = [each.replace(kind=kind) for each in signature.parameters.values()]
        if find is not None:
            parameters[0] = inspect.Parameter("name", kind, annotation=str)

        def answer(given: dict[str, Any]) -> Any:
            return work(**given) if find is None else work(find(given.pop("name")), **given)

        async def endpoint(**given: Any) -> Any:
            return await self.limit.run(answer, given)

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
        """Return the application, wrapped in the security middleware."""
        return Security(self.app, token=token, larger=larger, open_paths=("/v1/health",), code=code)
