"""Confidence: reliability, abstention and thresholds are as counted by hand."""

import random
from pathlib import Path

import numpy as np
import pytest

from groundling import Demonstration, Follower, Learning, Search
from groundling.errors import GroundlingError, SettingError
from groundling.evaluation.confidence import Judged, abstention, choose_threshold
from groundling.evaluation.report import fraction
from research.confidence.reliability import (
    at_threshold,
    calibration_error,
    cross_fit,
    deal,
    reliability,
)
from research.confidence.report import ConfidenceReport, measure
from tests.worlds import Line

ROOT = Path(__file__).parents[2]


def honest(size=4000, seed=0):
    """Return answers that are right as often as their confidence says."""
    dice = random.Random(seed)
    sure = [dice.random() for _ in range(size)]
    return [Judged(each, float(dice.random() < each)) for each in sure]


def test_reliability_of_honest_answers_lies_on_the_diagonal():
    found = reliability(honest())
    assert len(found) == 10
    assert sum(each.count for each in found) == 4000
    for each in found:
        assert each.low <= each.confidence <= each.high
        assert each.right == pytest.approx(each.confidence, abs=0.08)


def test_reliability_counts_a_confidence_of_one_in_the_last_bin():
    [only] = reliability([Judged(1.0, 1.0)], bins=4)
    assert (only.low, only.high, only.count) == (0.75, 1.0, 1)


def test_calibration_error_tells_boasting_from_honesty():
    boasting = [Judged(each.confidence**0.2, each.right) for each in honest()]
    assert calibration_error(honest()) < 0.03
    assert calibration_error(boasting) > 0.2


def test_abstention_gives_everything_in_the_end_and_the_surest_first():
    judged = honest(300)
    points = abstention(judged)
    assert points[-1].coverage == 1.0
    assert points[-1].right == pytest.approx(np.mean([each.right for each in judged]))
    assert [p.coverage for p in points] == sorted(p.coverage for p in points)
    assert [p.threshold for p in points] == sorted((p.threshold for p in points), reverse=True)
    for point in points[::25]:
        assert at_threshold(judged, point.threshold) == point


def test_threshold_is_the_lowest_that_reaches_the_wanted_share():
    judged = honest(500)
    threshold = choose_threshold(judged, 0.9)
    assert at_threshold(judged, threshold).right >= 0.9
    lower = [p for p in abstention(judged) if p.threshold < threshold]
    assert lower
    assert all(point.right < 0.9 for point in lower)


def test_threshold_is_nothing_where_nothing_is_right():
    judged = [Judged(0.9, 0.0), Judged(0.5, 0.0)]
    assert choose_threshold(judged, 0.5) is None
    assert at_threshold(judged, None).coverage == 0
    with pytest.raises(SettingError, match="between 0 and 1"):
        choose_threshold(judged, 90)
    with pytest.raises(GroundlingError, match="at least one answer"):
        abstention([])


def test_deal_keeps_groups_together_and_everything_once():
    items = [(letter, number) for number in range(3) for letter in "abcde"]
    parts = deal(items, lambda each: each[0], 3)
    assert sorted(each for _, part in parts for each in part) == sorted(items)
    for rest, part in parts:
        assert not {letter for letter, _ in rest} & {letter for letter, _ in part}
        assert len(rest) + len(part) == len(items)
    with pytest.raises(SettingError, match="5 groups out to 6 folds"):
        deal(items, lambda each: each[0], 6)


# ---- with a follower --------------------------------------------------------------------------


def told(number):
    way = ("left", "right")[number % 2]
    said = way if number % 5 else ("left", "right")[1 - number % 2]  # one in five is wrong
    return Demonstration(f"go {said}", Line(), 1 + number // 2 % 2, (way,), group=f"g{number // 5}")


ITEMS = [told(number) for number in range(20)]


def learn(items):
    return Follower(parser="chain", learning=Learning(l2=0.3), search=Search(max_length=1)).fit(
        items
    )


def judge(follower, items):
    plans = follower.follow_many((e.instructions, e.environment, e.start) for e in items)
    return [
        Judged(plan.confidence, float(plan.actions == each.actions))
        for each, plan in zip(items, plans, strict=True)
    ]


def test_cross_fit_judges_everything_by_followers_that_did_not_see_it():
    seen = []

    def watched(items):
        seen.append({each.group for each in items})
        return learn(items)

    def checked(follower, items):
        assert not seen[-1] & {each.group for each in items}
        return judge(follower, items)

    judged, temperature = cross_fit(
        ITEMS, watched, checked, group=lambda e: e.group, shown=lambda e: e, folds=2
    )
    assert len(judged) == len(ITEMS)
    assert len(seen) == 2
    assert temperature > 0


@pytest.fixture(scope="module")
def report():
    return measure(
        deal(ITEMS, lambda e: e.group, 2), learn, judge, group=lambda e: e.group,
        shown=lambda e: e, folds=2, wanted=0.5, bins=4, task="lines", right="share right",
    )  # fmt: skip


def test_measure_reports_held_out_answers(report):
    assert report.count == len(ITEMS)
    assert len(report.thresholds) == len(report.temperatures) == 2
    assert report.overall == pytest.approx(0.8)
    assert sum(each.count for each in report.bins) == len(ITEMS)
    assert 0 <= report.calibrated_error <= 1


def test_report_is_the_same_after_saving(report, tmp_path):
    report.save(tmp_path / "report.json")
    assert ConfidenceReport.load(tmp_path / "report.json") == report


def test_report_is_drawn_as_two_diagrams(report):
    figure = report.draw()
    assert len(figure.axes) == 2
    assert figure.axes[0].get_ylabel() == "share right"


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("results/confidence-*.json")), ids=lambda file: file.stem
)
def test_page_says_what_was_measured(file):
    measured = ConfidenceReport.load(file)
    page = (ROOT / "docs" / "confidence.md").read_text(encoding="utf-8")
    assert f"| {measured.task} | {measured.count} | {fraction(measured.overall)} |" in page
    assert (ROOT / "docs" / "images" / f"{file.stem}.png").exists()


def test_confidence_items_without_a_group_are_groups_by_themselves():
    items = [("a", 1), ("", 2), ("", 3), ("a", 4), (None, 5)]
    parts = deal(items, lambda each: each[0], 4)
    assert [part for _, part in parts] == [[items[0], items[3]], [items[1]], [items[2]], [items[4]]]
