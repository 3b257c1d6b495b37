"""Threads agree to the last bit, and a fork knows what its parent knew."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

from tests.promises.making import answer, make_follower, requests
from tests.promises.soaking import note, rounds
from tests.worlds import Line


def test_threads_agree_to_the_last_bit(follower):
    wanted = [answer(follower.follow(*each)) for each in requests()]

    def ask(number):
        # Worlds of their own and shared ones, in another order in each thread.
        asked = list(enumerate(requests() if number % 2 else shared))
        asked = asked[number % len(asked) :] + asked[: number % len(asked)]
        return all(answer(follower.follow(*each)) == wanted[place] for place, each in asked)

    shared = requests()
    count = 0
    with ThreadPoolExecutor(8) as pool:
        for _ in rounds(0.02, least=1):
            assert all(pool.map(ask, range(16)))
            count += 16 * len(shared)
    note(**{"requests from eight threads that agree": count})


def test_threads_may_learn_beside_each_other(followers):
    from tests.promises.making import demonstrations

    with ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda _: make_follower().fit(demonstrations()), range(4)))
    for each in fitted:
        assert each.theta_.tobytes() == followers["plans"].theta_.tobytes()


def test_forks_answer_as_their_parent_does(follower):
    asked = requests()[:3]
    wanted = [answer(follower.follow(*each)) for each in asked]
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            found = [answer(follower.follow(*each)) for each in asked]
            os.write(writes, json.dumps(found == wanted).encode())
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        assert told.read() == "true"
    os.waitpid(child, 0)


def test_threads_see_no_worlds_of_others(followers):
    follower = followers["plans"]

    def ask(size):
        return answer(follower.follow("go right", Line(size, {1: f"item {size}"}), size - 2))

    alone = [ask(size) for size in range(2, 40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(2, 40))) == alone
