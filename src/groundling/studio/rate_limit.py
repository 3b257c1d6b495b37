"""A limit on concurrent work: a bounded queue in front of a few threads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from groundling.studio.problems import BusyError

__all__ = ["RateLimit"]

Result = TypeVar("Result")


class RateLimit:
    """Runs work in a few threads; more than can wait is refused, and so is waiting too long.

    Parameters
    ----------
    workers
        How many pieces of work run at once.
    waiting
        How many may wait beyond those.
    seconds
        How long a piece of work may take, waiting included. Python cannot stop a thread:
        work that takes longer keeps its place until it ends, so the bound holds.

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
        """Run work in a thread and return what it gives."""
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
                503, f"This took longer than {self.seconds:g} seconds. Say less at once."
            ) from None

    def _done(self) -> None:
        self.busy -= 1

    def close(self) -> None:
        """Let go of the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _tell(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
    if loop.is_closed():
        done()
    else:
        loop.call_soon_threadsafe(done)
