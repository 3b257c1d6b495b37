"""Fitting with bounded memory, as users do it."""

from dataclasses import fields

import numpy as np
import pytest

from groundling import Follower
from groundling.errors import DemonstrationError, SettingError
from groundling.scale.sharded_fit import parse_memory
from tests.scale.making import shown, trainer_of

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


def follower():
    settings = trainer_of()
    return Follower(**{each.name: getattr(settings, each.name) for each in fields(settings)})


def test_fitting_with_memory_follows_saves_and_teaches_like_any_other(tmp_path):
    given = shown()
    wanted, found = follower().fit(given), follower().fit(given, memory="1GB")
    np.testing.assert_allclose(found.theta_, wanted.theta_, rtol=0, atol=1e-9)
    asked = [(each.instructions, each.environment, each.start) for each in given[:5]]
    plans = [plan.actions for plan in found.follow_many(asked)]
    assert plans == [plan.actions for plan in wanted.follow_many(asked)]
    again = Follower.load(found.save(tmp_path / "model"))
    assert [plan.actions for plan in again.follow_many(asked)] == plans
    assert found.calibrate(given).temperature_ == pytest.approx(
        wanted.calibrate(given).temperature_
    )
    # It holds no demonstrations; those that it had learnt from must be given again.
    assert found.demonstrations_ == ()
    with pytest.raises(DemonstrationError, match="known="):
        found.teach(given[:1])
    assert found.teach(given[:1], known=given).follow(*asked[0]).actions


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("4GB", 4 * 10**9), ("1.5 GiB", 3 * 2**29), ("200mb", 2 * 10**8), (10**9, 10**9)],
)
def test_fitting_reads_amounts_of_memory(given, bytes_):
    assert parse_memory(given) == bytes_


@pytest.mark.parametrize("given", ["", "much", "-4GB", "4XB", "1kB", 7])
def test_fitting_refuses_amounts_of_memory_that_make_no_sense(given):
    with pytest.raises(SettingError, match="memory"):
        follower().fit(shown(), memory=given)


def test_fitting_with_memory_chooses_what_is_left_open_as_ever(recwarn):
    given = shown()
    wanted, found = Follower().fit(given), Follower().fit(given, memory="1GB")
    chosen, usual = (
        [each for each in follower.choices_ if each.what != "Learning.recall"]
        for follower in (found, wanted)
    )
    assert chosen == usual
    assert found.learnt_.memory.strength == 0  # it keeps no demonstrations to remember
    assert len(found.choices_) > 2
    np.testing.assert_allclose(found.theta_, wanted.theta_, rtol=0, atol=1e-9)


def test_fitting_with_memory_leaves_bad_demonstrations_to_those_who_read_them():
    with pytest.raises(SettingError, match=r"Skip bad records when reading"):
        follower().fit(shown(), memory="1GB", skip_bad=True)
