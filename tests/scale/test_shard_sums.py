"""Sums whose order shards decide, whoever adds them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.scale.shard_sums import Total, TreeSum


def totals(count):
    random = np.random.default_rng(count)
    return [
        Total(float(random.normal()), random.normal(size=3) * 10.0 ** random.integers(-9, 9), 0.1)
        for _ in range(count)
    ]


def twin(parts):
    """Add neighbours, then neighbours of these, until one is left."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


@settings(deadline=None)
@given(st.integers(1, 40), st.randoms(use_true_random=False), st.integers(1, 5))
def test_summing_is_the_same_to_the_last_bit_however_shards_are_spread(count, random, workers):
    parts = totals(count)
    order = list(range(count))
    random.shuffle(order)
    sums = [TreeSum(count) for _ in range(workers)]
    for shard in order:
        random.choice(sums).add((0, shard), parts[shard])
    whole = TreeSum(count)
    for each in random.sample(sums, workers):
        whole.update(each.parts)
    wanted = twin(parts)
    assert whole.whole is not None
    assert (whole.whole.loss, whole.whole.weight) == (wanted.loss, wanted.weight)
    assert whole.whole.gradient.tobytes() == wanted.gradient.tobytes()


@settings(deadline=None)
@given(st.integers(2, 40), st.data())
def test_summing_misses_no_shard_in_silence(count, data):
    missing = data.draw(st.integers(0, count - 1))
    found = TreeSum(count)
    for shard, total in enumerate(totals(count)):
        if shard != missing:
            found.add((0, shard), total)
    assert found.whole is None


def test_summing_of_neighbours_keeps_few_parts():
    found = TreeSum(1000)
    for shard, total in enumerate(totals(600)):
        found.add((0, shard), total)
        assert len(found.parts) <= 10
