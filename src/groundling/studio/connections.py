"""Timeouts and a maximum number for connections that wait for their clients."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from groundling.limits import CONNECTIONS, IDLE_CONNECTIONS

HEADERS = 10.0  # timeout in seconds for the headers of a request
STALLED = 40.0  # timeout in seconds for a client that sends no body or does not read its response


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP protocol, with limits on connections that wait for their clients.

    A connection waits for its client while it has no request in progress, while the body of a
    request is incomplete, and while the client does not read a response. Waiting connections are
    closed after a timeout. If there are too many, the connection whose timeout expires next is
    closed immediately. A client that sends its whole request and reads the response is never cut
    off.
    """

    limit: asyncio.TimerHandle | None = None
    _waits_for: tuple[str, Any] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register a new connection, which waits for its first request."""
        super().connection_made(transport)
        others = self.connections
        if len(others) > CONNECTIONS.most and not self._close_oldest():
            transport.abort()
            return
        self._update()
        if len(_waiting(others)) > IDLE_CONNECTIONS.most:
            self._close_oldest()

    def data_received(self, data: bytes) -> None:
        """Process received data, and update whether the connection waits."""
        try:
            super().data_received(data)
        except Exception:  # a malformed request for which h11 cannot send an error response
            self.transport.abort()
        self._update()

    def pause_writing(self) -> None:
        """Pause the response, and mark the connection as waiting for its client."""
        super().pause_writing()
        self._update()

    def resume_writing(self) -> None:
        """Continue the response, and update whether the connection waits."""
        super().resume_writing()
        self._update()

    def on_response_complete(self) -> None:
        """Finish a response, and mark the connection as waiting for the next request."""
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout of a closed connection."""
        self._end_waiting()
        super().connection_lost(exc)

    def _update(self) -> None:
        """Restart or stop the timeout if the connection now waits for something else."""
        request = self.cycle
        if request is None or request.response_complete:
            waits_for, seconds = "request", HEADERS
        elif self.flow.write_paused:
            waits_for, seconds = "reading", STALLED
        elif request.more_body:
            waits_for, seconds = "body", STALLED
        else:
            self._end_waiting()
            return
        if self._waits_for != (waits_for, request):
            self._end_waiting()
            self._waits_for = (waits_for, request)
            self.limit = self.loop.call_later(seconds, self._expire)

    def _end_waiting(self) -> None:
        self._waits_for = None
        if self.limit is not None:
            self.limit.cancel()
            self.limit = None

    def _expire(self) -> None:
        self.limit = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _close_oldest(self) -> bool:
        """Close the waiting connection, other than this one, whose timeout expires first.

        Returns False if no other connection is waiting.
        """
        waiting = [each for each in _waiting(self.connections) if each is not self]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda each: each.limit.when())
        oldest._expire_now()
        return True

    def _expire_now(self) -> None:
        self._end_waiting()
        self.connections.discard(self)
        self._expire()


def _waiting(connections: Any) -> list[Any]:
    return [each for each in connections if getattr(each, "limit", None) is not None]
