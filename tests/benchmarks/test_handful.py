"""A handful of demonstrations: what is learnt from it, and how the figures are made."""

from random import Random

import pytest

from benchmarks.handful import KINDS, WORLDS, asked, main, measure, shown
from groundling.world.cached_environment import CachedEnvironment


@pytest.mark.parametrize("name", WORLDS)
def test_handful_requests_are_possible_and_in_known_phrasings(name):
    demonstrations, known = shown(name, 10, Random(1))
    assert len({each.instructions for each in demonstrations}) == 10
    for kind in KINDS:
        for each in asked(name, kind, known, Random(2)):
            assert each.text
            if each.actions is not None:
                CachedEnvironment(each.world).trace(each.start, each.actions)
            assert (each.actions is None) == (kind == "absent")


@pytest.mark.parametrize("name", ["house", "turtle", "zoo"])
def test_handful_of_ten_is_enough(name):
    errors: list[str] = []
    row = measure(name, 10, 0, errors)
    assert row["same"]["agent"] == 1.0, errors
    assert row["new names"] == {"agent": 1.0, "right": 1.0, "wrong act": 0.0}, errors
    assert row["polite"]["right"] == 1.0, errors
    assert row["absent"]["agent"] == 1.0, errors


def test_handful_prints_and_writes(tmp_path, capsys):
    main(["zoo", "--counts", "5", "--draws", "1", "--json", str(tmp_path / "found.json")])
    assert "zoo" in capsys.readouterr().out
    assert '"new names"' in (tmp_path / "found.json").read_text("utf-8")
