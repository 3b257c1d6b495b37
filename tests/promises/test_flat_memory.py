"""Memory stays flat, however many different things are asked (for long: `make soak`)."""

import gc
import resource

from groundling.cache import CacheBudget
from groundling.language import CachedParser, ChainParser, ParseCache
from groundling.world.cached_environment import EnvironmentCache
from tests.promises.making import make_follower
from tests.promises.soaking import SECONDS, long_test, note, rounds
from tests.worlds import Line

REQUESTS = 100_000 if SECONDS else 1_000


def megabytes():
    """Return how much memory this process has now."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def test_flat_memory_of_worlds():
    budget = CacheBudget(2_000_000)
    worlds = EnvironmentCache(budget)
    for number in range(REQUESTS):
        world = worlds.of(Line(4 + number % 7, {1: f"item {number}"}))
        for state in range(3):
            for action in world.actions(state):
                world.ground(state, action)
        assert budget.used <= budget.most


def test_flat_memory_of_parses():
    cache = ParseCache(None, room=2_000_000)
    parser = CachedParser(ChainParser(), cache)
    for number in range(REQUESTS):
        parser.parse(f"go to room {number} and then to room {number + 1}")
    assert cache._memory.budget.used <= 2_000_000


@long_test
def test_flat_memory_over_different_requests():
    from tests.promises.making import demonstrations

    follower = make_follower().fit(demonstrations())
    figures = []
    count = 0
    for number in rounds(0.45, most=REQUESTS):
        world = Line(4 + number % 5, {1: f"item{number % 5000}", 2: "sofa"})
        follower.follow(f"go right to number {number} then left", world, 1)
        count += 1
        if number % 1000 == 999:
            figures.append(megabytes())
    note(**{"different requests": count, "memory at the start, MB": round(figures[0]),
            "memory in the middle, MB": round(figures[len(figures) // 2]),
            "memory at the end, MB": round(figures[-1])})  # fmt: skip
    # Memories fill until their bounds; after half of the requests nothing grows any more.
    assert figures[-1] < figures[len(figures) // 2] * 1.25 + 20
