"""Memory stays flat, however many different things are asked (for long: `make soak`)."""

import gc
import resource

from groundling import Search
from groundling.cache import Cache, CacheBudget
from groundling.language import CachedParser, ChainParser, ParseCache, ShippedParser
from groundling.world.cached_environment import EnvironmentCache
from tests.promises.making import demonstrations, make_follower
from tests.promises.soaking import SECONDS, long_test, note
from tests.worlds import Line

REQUESTS = 100_000 if SECONDS else 1_000
WARM, DIFFERENT = 20_000, 20_000  # requests until all caches were filled a few times; after that


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


def test_flat_memory_keeps_half_of_what_was_cached_last():
    """Caches that were emptied at once would let memory swing, and forget what is in use."""
    budget = CacheBudget(100_000)
    cache, used = Cache(budget), []
    cache.put("often", "used", 1_000)
    for number in range(2_000):
        cache.put(number, number, 1_000)
        assert cache.get("often") == "used"
        used.append(budget.used)
    assert max(used) <= budget.most
    assert min(used[200:]) >= 0.4 * budget.most


def test_flat_memory_of_parses():
    cache = ParseCache(None, room=2_000_000)
    parser = CachedParser(ChainParser(), cache)
    for number in range(REQUESTS):
        parser.parse(f"go to room {number} and then to room {number + 1}")
    assert cache._memory.budget.used <= 2_000_000


@long_test
def test_flat_memory_over_different_requests():
    """Every request has new words, new things and a new world; caches of 5 MB are soon full."""
    search = Search(max_length=3, decode="outcome", memory=5)
    parser = CachedParser(ShippedParser(), ParseCache(None, room=1_000_000))
    follower = make_follower(search=search, parser=parser).fit(demonstrations())
    figures = []
    for number in range(WARM + DIFFERENT + 1):
        if number >= WARM and (number - WARM) % (DIFFERENT // 20) == 0:
            figures.append(megabytes())
        world = Line(4 + number % 5, {1: f"item{number}", 2: "sofa"})
        follower.follow(f"go right to number {number} then left", world, 1)
    note(**{"different requests": DIFFERENT, "warm requests": WARM,
            "different requests, MB": [round(each, 1) for each in figures]})  # fmt: skip
    assert figures[-1] - figures[0] <= 1.0, figures
