"""What stands before every request: who may ask, how much, from where."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundling.studio.problems import problem

__all__ = ["Guard"]

COOKIE = "groundling"
OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]", "testserver")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Refuses requests from other pages, without the token, or of too many bytes.

    Parameters
    ----------
    app
        What is guarded.
    token
        What must be shown with every request: as `Authorization: Bearer …`, or once as
        `?token=…` in the browser, which then keeps it in a cookie. Without, none is needed.
    body
        How many bytes a request may have, and how many at some paths.
    hosts
        Under which names we are reached when no token is needed: pages of other sites must
        not reach us under a name of theirs.
    open_paths
        What needs no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None = None,
        body: int = 256_000,
        larger: Mapping[str, int] | None = None,
        hosts: Iterable[str] = OWN_HOSTS,
        open_paths: Iterable[str] = (),
    ) -> None:
        self.app = app
        self.token = token
        self.body = body
        self.larger = dict(larger or {})
        self.hosts = frozenset(hosts)
        self.open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                # What was asked for may differ the next time; static files are asked about.
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        headers = Headers(scope=scope)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await problem(*refused)(scope, receive, sending)
            return
        shown = self._shown_in_address(scope)
        if shown is not None:
            await _settle(shown, scope, receive, sending)
            return
        limit = self._limit(scope["path"])
        size = headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > limit:
            await problem(413, _too_large(limit))(scope, receive, sending)
            return
        await self.app(scope, _counted(receive, limit), sending)

    def _limit(self, path: str) -> int:
        return next((n for end, n in self.larger.items() if path.endswith(end)), self.body)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self.token is None:
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if name.lower() not in self.hosts:
                return 403, f"This server is not reached as {host[:80]!r}; open it as 127.0.0.1."
        # Following a link from elsewhere opens the page, and nothing else.
        followed = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not followed:
            return 403, "Requests from other pages are refused."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "Requests from other pages are refused."
        if self.token is None or scope["path"] in self.open_paths:
            return None
        if self._knows(headers) or self._shown_in_address(scope) is not None:
            return None
        return 401, "This server needs its token: open the address that it printed when it began."

    def _knows(self, headers: Headers) -> bool:
        scheme, _, said = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(said.strip()):
            return True
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return kept is not None and self._is_token(kept.value)

    def _is_token(self, said: str) -> bool:
        return self.token is not None and hmac.compare_digest(said.encode(), self.token.encode())

    def _shown_in_address(self, scope: Scope) -> str | None:
        """Return the token if the address of a page shows the right one."""
        if self.token is None or scope["method"] != "GET" or scope["path"] != "/":
            return None
        said = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return said if self._is_token(said) else None


async def _settle(token: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Put the token into a cookie and take it out of the address."""
    from starlette.responses import RedirectResponse

    answer = RedirectResponse("/", status_code=303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", max_age=30 * 86400)
    await answer(scope, receive, send)


def _counted(receive: Receive, limit: int) -> Receive:
    """Return a stream that ends with an error once there are too many bytes."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return counting


def _too_large(limit: int) -> str:
    return f"The request is too large; send at most {limit:,} bytes."
