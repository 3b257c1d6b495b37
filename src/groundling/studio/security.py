"""Security middleware, which checks the host, origin, token and size of requests."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Iterable, Mapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, unquote, unquote_plus

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundling.errors import GroundlingError
from groundling.limits import BODY_BYTES, Limit
from groundling.studio.problems import problem

COOKIE, CLASS = "groundling", "groundling-class"
JOIN = "/j/"
GUESSES = 200  # maximum number of wrong class codes; then joining is disabled
OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]")
BODY_SECONDS = 30.0
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\s\[\]]+)(:[0-9]{1,5})?", re.ASCII)
TOKEN = "This server requires a token. Open the address that it printed at startup."
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
}


class Security:
    """ASGI middleware that rejects cross-site, unauthorised and oversized requests.

    Parameters
    ----------
    app
        The application to protect.
    token
        The token that every request must contain, in the header `Authorization: Bearer …`. A
        browser sends it once as `?token=…` and then in a cookie. If None, no token is required.
    body, larger
        Maximum size of a body in bytes, and a mapping from paths to larger limits.
    seconds
        Timeout for receiving the body.
    hosts
        Host names that are accepted if `token` is None; others are rejected, which prevents DNS
        rebinding.
    open_paths
        Paths that require no token.
    code
        The class code, which pupils send once as `/j/CODE` instead of the token. It gives access
        to the page and to every project whose name a pupil knows, except the main project. It
        has no effect if `token` is None.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None = None,
        body: Limit = BODY_BYTES,
        larger: Mapping[str, Limit] | None = None,
        hosts: Iterable[str] = OWN_HOSTS,
        open_paths: Iterable[str] = (),
        seconds: float = BODY_SECONDS,
        code: str | None = None,
    ) -> None:
        self.app = app
        self.token = token
        self.body = body
        self.larger = dict(larger or {})
        self.hosts = frozenset(hosts)
        self.open_paths = frozenset(open_paths)
        self.seconds = seconds
        self.code = code
        self._guesses = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or reject it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                # Responses must not be cached, and static files must be revalidated.
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        headers = Headers(scope=scope)
        refused = self._refusal(scope, headers)
        if refused is not None:
            opens = headers.get("sec-fetch-mode") == "navigate"
            answer = _page(*refused) if opens else problem(*refused)
            await answer(scope, receive, sending)
            return
        shown = self._shown_in_address(scope)
        if shown is not None:
            await _settle(COOKIE, shown, "/", scope, receive, sending)
            return
        if self.code is not None and scope["path"].startswith(JOIN):
            await self._join(scope, receive, sending)
            return
        limit = self._limit(scope["path"])
        size = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,18}", size) or int(size) > limit.most:
            await problem(413, _too_large(limit))(scope, receive, sending)
            return
        body = _Body(receive, limit, self.seconds)
        try:
            await self.app(scope, body, sending)
        # the error was raised outside the application's own handlers
        except HTTPException as error:
            await problem(error.status_code, str(error.detail))(scope, receive, sending)

    def _limit(self, path: str) -> Limit:
        return next((n for end, n in self.larger.items() if path.endswith(end)), self.body)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self.token is None:
            found = _HOST.fullmatch(host.lower())
            if found is None or found["name"] not in self.hosts:
                return 403, f"The host must be a local name such as 127.0.0.1; got {host[:80]!r}."
        # Links on other sites may open the page, but must not call the API.
        followed = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not followed:
            return 403, "Requests from other pages are refused."
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return 403, "Requests from other pages are refused."
        if self.token is None or scope["path"] in self.open_paths:
            return None
        if self._knows(headers) or self._shown_in_address(scope) is not None:
            return None
        if self.code is not None and (
            scope["path"].startswith(JOIN)
            or (_for_pupils(scope["path"]) and _same(_cookie(headers, CLASS), self.code))
        ):
            return None
        return 401, TOKEN

    def _knows(self, headers: Headers) -> bool:
        scheme, _, said = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(said.strip()):
            return True
        return self._is_token(_cookie(headers, COOKIE))

    async def _join(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a pupil who sends the class code; limit the number of wrong codes."""
        if self._guesses >= GUESSES:
            refused = problem(429, "Too many wrong class codes were tried. Restart the class.")
            await refused(scope, receive, send)
        elif self.code is not None and _same(scope["path"].removeprefix(JOIN), self.code):
            await _settle(CLASS, self.code, "/#/join", scope, receive, send)
        else:
            self._guesses += 1
            await problem(401, "The class code in this address is wrong.")(scope, receive, send)

    def _is_token(self, said: str) -> bool:
        if self.token is None:
            return False
        # Headers are decoded as Latin-1, so non-ASCII tokens are compared in both encodings.
        known = self.token.encode("utf-8", "surrogateescape")
        one = hmac.compare_digest(said.encode("utf-8", "surrogateescape"), known)
        return hmac.compare_digest(said.encode("latin-1", "replace"), known) or one

    def _shown_in_address(self, scope: Scope) -> str | None:
        """Return the token if the address of the page contains it, else None."""
        if self.token is None or scope["method"] != "GET" or scope["path"] != "/":
            return None
        for each in scope["query_string"].decode("latin-1").split("&"):
            name, _, value = each.partition("=")
            for said in (unquote(value), unquote_plus(value)) if name == "token" else ():
                if self._is_token(said):
                    return self.token
        return None


def _page(status: int, detail: str) -> Response:
    """Return an error as a web page, for people who open an address in the browser."""
    said = [detail]
    if status == 401:
        said = [
            "Open the address that the studio printed in its terminal. It ends with a token.",
            "Öffne die Adresse, die das Studio in seinem Terminal genannt hat. Sie endet mit "
            "einem Token.",
        ]
    text = "".join(f"<p>{escape(each)}</p>" for each in said)
    head = '<!doctype html><meta charset="utf-8"><title>Groundling Studio</title>'
    size = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return HTMLResponse(f"{head}{size}<h1>Groundling Studio</h1>{text}", status_code=status)


def _for_pupils(path: str) -> bool:
    """Return whether a pupil with the class code may request a path."""
    if path in ("/", "/favicon.ico", "/api/class/join") or path.startswith("/static/"):
        return True
    return path.startswith("/api/projects/") and not f"{path}/".startswith("/api/projects/main/")


def _cookie(headers: Headers, name: str) -> str:
    try:
        kept = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if kept is None else unquote(kept.value)


def _same(said: str, known: str) -> bool:
    return hmac.compare_digest(said.encode("utf-8", "replace"), known.encode())


async def _settle(
    cookie: str, token: str, page: str, scope: Scope, receive: Receive, send: Send
) -> None:
    """Store the token in a cookie, and redirect to the address without the token."""
    from starlette.responses import RedirectResponse

    answer = RedirectResponse(page, status_code=303)
    answer.set_cookie(
        cookie, quote(token, safe=""), httponly=True, samesite="strict", max_age=30 * 86400
    )
    await answer(scope, receive, send)


class _Body:
    """Request body with a size limit and a timeout."""

    def __init__(self, receive: Receive, limit: Limit, seconds: float) -> None:
        self.receive = receive
        self.limit = limit
        self.seen = 0
        self.whole = False
        self.ends = asyncio.get_running_loop().time() + seconds

    async def __call__(self) -> Message:
        """Return the next part of the body.

        After the last part, wait until the client disconnects.
        """
        if self.whole:
            return await self.receive()
        try:
            async with asyncio.timeout_at(self.ends):
                message = await self.receive()
        except TimeoutError:
            raise HTTPException(408, "Receiving the request timed out. Send it again.") from None
        self.seen += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        if self.seen > self.limit.most:
            raise HTTPException(413, _too_large(self.limit))
        return message


def _too_large(limit: Limit) -> str:
    return str(limit.exceeded("more", GroundlingError, "The request"))
