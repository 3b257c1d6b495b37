"""Plans are remembered within a bound in bytes, whatever their number from one start."""

import gc
import resource

from groundling import GroundingGraph, Search
from tests.promises.making import demonstrations, make_follower


class Wide:
    """Eleven actions everywhere: some fourteen thousand plans of up to four actions."""

    def actions(self, state):
        return tuple(range(11))

    def step(self, state, action):
        return (state * 11 + action) % 1000

    def ground(self, state, action, after):
        return GroundingGraph({"event": {f"act {action}": True}, "cell": {"number": after % 5}})


def megabytes():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def test_bounded_plan_memory_over_many_starts():
    follower = make_follower("plans").fit(demonstrations())
    follower.set_params(search=Search(max_length=4, budget=20_000))
    world = Wide()
    for start in range(4):
        follower.follow("go left", world, start)
    before = megabytes()
    for start in range(4, 24):
        follower.follow("go left", world, start)
    # Twenty starts more, of some twenty megabytes each if all were kept.
    assert megabytes() - before < 250
