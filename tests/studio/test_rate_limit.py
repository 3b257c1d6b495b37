"""The bounded queue."""

import asyncio
import threading

import pytest

from groundling.studio.problems import BusyError
from groundling.studio.rate_limit import RateLimit


def test_gate_refuses_more_than_can_wait_and_recovers():
    async def play():
        limit, go = RateLimit(workers=1, waiting=1), threading.Event()
        first = [asyncio.create_task(limit.run(go.wait)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError) as refused:
            await limit.run(lambda: None)
        assert refused.value.status == 429
        go.set()
        assert await asyncio.gather(*first) == [True, True]
        assert await limit.run(lambda: "free again") == "free again"
        assert limit.busy == 0
        limit.close()

    asyncio.run(play())


def test_gate_ends_waiting_that_takes_too_long_but_keeps_the_place():
    async def play():
        limit, go = RateLimit(workers=1, waiting=0, seconds=0.05), threading.Event()
        with pytest.raises(BusyError) as slow:
            await limit.run(go.wait)
        assert slow.value.status == 503
        with pytest.raises(BusyError) as full:  # the thread is still at it
            await limit.run(lambda: None)
        assert full.value.status == 429
        go.set()
        while limit.busy:
            await asyncio.sleep(0.01)
        limit.close()

    asyncio.run(play())


def test_gate_passes_errors_on():
    async def play():
        limit = RateLimit(workers=1)
        with pytest.raises(ZeroDivisionError):
            await limit.run(lambda: 1 / 0)
        await asyncio.sleep(0.01)
        assert limit.busy == 0
        limit.close()

    asyncio.run(play())
