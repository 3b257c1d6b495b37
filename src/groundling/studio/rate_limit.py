"""Limit on concurrent requests: a thread pool with a bounded queue."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from groundling.studio.problems import BusyError

Result = TypeVar("Result")


class RateLimit:
    """Thread pool with a bounded queue and a timeout for each call.

    Parameters
    ----------
    workers
        Number of worker threads.
    waiting
        Maximum number of waiting calls.
    seconds
        Timeout in seconds, including the waiting time. Python cannot stop a thread, so a call
        that times out counts as running until it ends.

    Examples
    --------
    >>> import asyncio
    >>> limit = RateLimit(workers=1, waiting=0)
    >>> asyncio.run(limit.run(lambda: 3))
    3
    >>> limit.close()
    """

    def __init__(
        self, workers: int | None = None, waiting: int = 64, seconds: float = 20.0
    ) -> None:
        count = workers or min(4, os.cpu_count() or 1)
        self.bound = count + waiting
        self.seconds = seconds
        self.busy = 0
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="groundling")

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in a worker thread, and return its result."""
        if self.busy >= self.bound:
            raise BusyError(429, "Too many requests are waiting. Try again in a moment.")
        self.busy += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work, *arguments)
        future.add_done_callback(lambda _: _tell(loop, self._done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError:
            raise BusyError(
                503, f"The request took longer than {self.seconds:g} seconds. Send a shorter text."
            ) from None

    def _done(self) -> None:
        self.busy -= 1

    def close(self) -> None:
        """Shut down the thread pool."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _tell(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
    if loop.is_closed():
        done()
    else:
        loop.call_soon_threadsafe(done)
