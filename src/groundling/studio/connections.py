"""Connections that nobody can use up: time limits for headers, and a bound on those that idle."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from groundling.limits import CONNECTIONS, IDLE_CONNECTIONS

__all__ = ["BoundedProtocol"]

HEADERS = 10.0  # seconds in which the headers of a request must be there


class BoundedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with limits on those who do not ask for anything.

    A connection idles while no request of it is in work: its headers are not there yet, or its
    last answer is given. Idle connections are closed after a while, and the oldest at once when
    there are too many; whoever sends a whole request is answered.
    """

    limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count a new connection as idle."""
        super().connection_made(transport)
        others = self.connections
        if len(others) > CONNECTIONS.most and not self._close_oldest():
            transport.abort()
            return
        self._begin_to_idle()
        if len(_idle(others)) > IDLE_CONNECTIONS.most:
            self._close_oldest()

    def data_received(self, data: bytes) -> None:
        """Take in what was sent; a whole request ends idling."""
        try:
            super().data_received(data)
        except Exception:  # of broken requests that h11 cannot even refuse
            self.transport.abort()
        if self.cycle is not None and not self.cycle.response_complete:
            self._end_idling()

    def on_response_complete(self) -> None:
        """Begin to idle again when the answer is given."""
        super().on_response_complete()
        if self.cycle is None or self.cycle.response_complete:
            self._begin_to_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._end_idling()
        super().connection_lost(exc)

    def _begin_to_idle(self) -> None:
        self._end_idling()
        self.limit = self.loop.call_later(HEADERS, self._expire)

    def _end_idling(self) -> None:
        if self.limit is not None:
            self.limit.cancel()
            self.limit = None

    def _expire(self) -> None:
        self.limit = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _close_oldest(self) -> bool:
        """Close the connection that has idled longest, other than this; tell whether there is."""
        idle = [each for each in _idle(self.connections) if each is not self]
        if not idle:
            return False
        oldest = min(idle, key=lambda each: each.limit.when())
        oldest._expire_now()
        return True

    def _expire_now(self) -> None:
        self._end_idling()
        self.connections.discard(self)
        self._expire()


def _idle(connections: Any) -> list[Any]:
    return [each for each in connections if getattr(each, "limit", None) is not None]
