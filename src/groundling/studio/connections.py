"""Bounded connections: a timeout for headers and a limit on idle connections."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from groundling.limits import CONNECTIONS, IDLE_CONNECTIONS

__all__ = ["BoundedProtocol"]

HEADERS = 10.0  # seconds; timeout for the headers of a request


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with limits on idle connections.

    A connection is idle while it has no request in progress: its headers are incomplete, or its
    last response is complete. Idle connections are closed after a timeout, and the oldest one is
    closed immediately if there are too many. Complete requests always get a response.
    """

    limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register a new connection as idle."""
        super().connection_made(transport)
        others = self.connections
        if len(others) > CONNECTIONS.most and not self._close_oldest():
            transport.abort()
            return
        self._begin_to_idle()
        if len(_idle(others)) > IDLE_CONNECTIONS.most:
            self._close_oldest()

    def data_received(self, data: bytes) -> None:
        """Process received data; a complete request header ends the idle state."""
        try:
            super().data_received(data)
        except Exception:  # malformed requests for which h11 cannot send an error response
            self.transport.abort()
        if self.cycle is not None and not self.cycle.response_complete:
            self._end_idling()

    def on_response_complete(self) -> None:
        """Mark the connection as idle after a response."""
        super().on_response_complete()
        if self.cycle is None or self.cycle.response_complete:
            self._begin_to_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove a closed connection."""
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
        """Close the oldest other idle connection; return False if there is none."""
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
