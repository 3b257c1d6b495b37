"""Server-sent events, which any thread can publish to all open pages."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

from groundling.errors import ProjectError

WAITING = 200  # maximum number of queued events per page; when exceeded, the oldest are dropped
PAGES = 200
PULSE = 15.0  # seconds between keep-alive messages, which detect closed pages


class Events:
    r"""Stream of server-sent events for any number of listeners.

    >>> import asyncio
    >>> async def listen():
    ...     events = Events()
    ...     stream = events.listen()
    ...     first = await anext(stream)
    ...     events.publish("learnt", {"known": 3})
    ...     second = await anext(stream)
    ...     await stream.aclose()
    ...     return first, second
    >>> asyncio.run(listen())
    (': open\n\n', 'event: learnt\ndata: {"known": 3}\n\n')
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}

    def publish(self, kind: str, data: Any) -> None:
        """Send an event to all listeners; any thread may call this method."""
        self._send(f"event: {kind}\ndata: {json.dumps(data)}\n\n")

    def close(self) -> None:
        """End the streams of all listeners."""
        self._send(None)

    def _send(self, message: str | None) -> None:
        with self._lock:
            listeners = list(self._listeners.items())
        for queue, loop in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_put, queue, message)

    def check_room(self) -> None:
        """Raise `ProjectError` if too many pages are open."""
        if len(self._listeners) >= PAGES:
            raise ProjectError(
                f"The project has reached its limit of {PAGES} open pages. Close some of them."
            )

    async def listen(self) -> AsyncIterator[str]:
        """Yield events as they arrive, with keep-alive messages in between."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(WAITING)
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield ": open\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), PULSE)
                except TimeoutError:
                    message = ": alive\n\n"
                if message is None:
                    return
                yield message
        finally:
            with self._lock:
                del self._listeners[queue]


def _put(queue: asyncio.Queue[str | None], message: str | None) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(message)
