"""Problem documents (RFC 9457), in which all errors are reported."""

from __future__ import annotations

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from groundling.errors import GroundlingError, NotFittedError, ProjectError
from groundling.studio.store import DiskFullError

TITLES = {
    400: "Bad request", 401: "Token required", 403: "Forbidden", 404: "Not found",
    405: "Method not allowed", 408: "Request timeout", 409: "Conflict", 413: "Too large",
    422: "Invalid request", 429: "Too many requests", 500: "Internal error", 503: "Timeout",
    507: "Disk full",
}  # fmt: skip
LONGEST = 1000  # maximum number of characters in `detail`
_log = logging.getLogger("groundling.studio")


class BusyError(GroundlingError):
    """Error for a request that exceeds a limit or takes too long."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def problem(status: int, detail: str, kind: str = "about:blank") -> Response:
    """Return a response with a problem document.

    >>> problem(404, "There is no such page.").body
    b'{"type":"about:blank","title":"Not found","status":404,"detail":"There is no such page."}'
    """
    title = TITLES.get(status, "Error")
    # Texts from users may contain unpaired surrogates, which UTF-8 cannot encode.
    said = " ".join(detail.encode("utf-8", "replace").decode("utf-8").split())
    said = said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"
    return JSONResponse(
        {"type": kind, "title": title, "status": status, "detail": said},
        status_code=status,
        media_type="application/problem+json",
        headers={"retry-after": "2"} if status in (409, 429) else None,
    )


def install_problems(app: FastAPI) -> None:
    """Install handlers that return problem documents for all errors."""

    @app.exception_handler(GroundlingError)
    async def of_library(request: Request, error: GroundlingError) -> Response:
        status = 422
        if isinstance(error, BusyError):
            status = error.status
        elif isinstance(error, NotFittedError):
            status = 409
        elif isinstance(error, ProjectError):
            status = 507 if isinstance(error, DiskFullError) else 409
        kind = f"urn:groundling:{type(error).__name__}"
        return problem(status, str(error), kind)

    @app.exception_handler(RequestValidationError)
    async def of_form(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(each) for each in first.get("loc", ())[1:])
        said = str(first.get("msg", "The request is invalid")).removeprefix("Value error, ")
        if first.get("type") == "json_invalid":
            return problem(400, f"The body must be JSON: {said.rstrip('.')}, at byte {where}.")
        return problem(422, f"{f'{where}: ' if where else ''}{said.rstrip('.')}.")

    @app.exception_handler(HTTPException)
    async def of_web(request: Request, error: HTTPException) -> Response:
        answer = problem(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def of_ours(request: Request, error: Exception) -> Response:
        _log.exception("%s %s", request.method, request.url.path, exc_info=error)
        return problem(500, f"{type(error).__name__}: internal error; nothing was changed.")
