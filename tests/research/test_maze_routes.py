"""Whole routes: the forward recursion against all ways through, cuts, and the protocol."""

from dataclasses import fields, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import SettingError
from groundling.evaluation.report import Report
from groundling.tasks.mazes import STAY, generate_mazes, generate_routes, load_sail
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.maze_presets import PRESETS, MazePreset
from research.maze_routes import (
    COMPOSED,
    EVIDENCE,
    NEAR,
    READINGS,
    ROUTES,
    TRAINING,
    Arcs,
    RouteTraining,
    _smoothest,
    act_at_once,
    add_negative_starts,
    best_way,
    forecast,
    leave_out_routes,
    main,
    plans_within,
    prepare_routes,
    read_routes,
    route_row,
    segment,
    train_routes,
    with_routes,
)
from tools.corpus_files import write_mazes

CHOSEN = replace(
    PRESETS.select("best", "tree"), parser="chain"
)  # loading a parser takes longer than the test

TWO_MEMBERS = with_routes(PRESETS).select(ROUTES, f"{COMPOSED}, two members: {EVIDENCE}")

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def sail(tmp_path_factory):
    folder = Path(tmp_path_factory.mktemp("corpus"))
    write_mazes(folder, generate_routes(generate_mazes(4, 2, size=4, halls=5), 24, seed=2))
    return load_sail(folder)


@pytest.fixture(scope="module")
def data(sail):
    return prepare_routes(CHOSEN, sail)


@pytest.fixture(scope="module")
def follower(data):
    return train_routes(CHOSEN, list(data.values()), RouteTraining(dropped=True))


def random_route(seed, sentences=3, states=4, arcs=7):
    random = np.random.default_rng(seed)
    places = [MazeState((n // 2, 0), 90 * (n % 2)) for n in range(states)]
    route, before = [], (places[0],)
    for _ in range(sentences):
        source = random.integers(0, len(before), arcs).astype(np.int32)
        source[: len(before)] = np.arange(len(before))[:arcs]
        target = random.integers(0, states, arcs).astype(np.int32)
        scores = random.normal(size=arcs) * 3
        route.append(Arcs(before, tuple(places), source, target, scores))
        before = tuple(places)
    return route


def ways(route):
    """All ways through a route, each a list of (arc, state before, state after)."""
    for chosen in product(*(range(len(arcs.scores)) for arcs in route)):
        state, steps = route[0].before[0], []
        for arcs, arc in zip(route, chosen, strict=True):
            if arcs.before[arcs.source[arc]] != state:
                break
            steps.append((arc, arcs.source[arc]))
            state = arcs.after[arcs.target[arc]]
        else:
            yield steps, state


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_forecast_sums_all_ways_through_a_route(seed, power):
    route = random_route(seed)
    totals = {}
    for steps, state in ways(route):
        chance = 1.0
        for (arc, source), arcs in zip(steps, route, strict=True):
            here = np.exp(arcs.scores[arcs.source == source])
            chance *= np.exp(arcs.scores[arc]) / here.sum() * here.sum() ** power
        totals[state.position] = totals.get(state.position, 0.0) + chance
    expected = {end: value / sum(totals.values()) for end, value in totals.items()}
    found = {end: value for end, value in forecast(route, power).items() if value > 0}
    assert found == pytest.approx(expected)
    assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("seed", range(6))
def test_best_way_is_the_best_of_all_ways_along_the_places(seed):
    route = random_route(seed, arcs=12)
    random = np.random.default_rng(seed)
    places = [route[0].before[0], *(route[0].after[n] for n in random.integers(0, 4, 4))]
    best = -np.inf
    for steps, _ in ways(route):
        chosen = zip(steps, route, strict=True)
        value = sum(float(arcs.weights(0.5)[arc]) for (arc, _), arcs in chosen)
        ends = [arcs.after[arcs.target[arc]] for (arc, _), arcs in zip(steps, route, strict=True)]
        for numbers in product(range(len(places)), repeat=len(ends)):
            follows = all(places[n] == end for n, end in zip(numbers, ends, strict=True))
            if follows and list(numbers) == sorted(numbers) and numbers[-1] == len(places) - 1:
                best = max(best, value)
    found = best_way(route, places, 0.5)
    if found is None:
        assert best == -np.inf
        return
    assert found[0] == 0
    assert found == sorted(found)
    value = 0.0
    for (one, two), arcs in zip(pairwise(found), route, strict=True):
        fits = [
            weight
            for source, target, weight in zip(
                arcs.source, arcs.target, arcs.weights(0.5), strict=True
            )
            if arcs.before[source] == places[one] and arcs.after[target] == places[two]
        ]
        value += max(fits)
    assert value == pytest.approx(best)


def test_act_at_once_carries_the_state_on(follower, data):
    route = next(iter(data.values())).paragraphs[0]
    (end,) = act_at_once(follower, [route])
    state = route.start
    for text in route.texts:
        plan = follower.follow(text, route.environment, state)
        state = route.environment.restart(plan.end)
    assert end == state


def test_read_routes_with_a_wide_beam_is_exact(follower, data):
    routes = next(iter(data.values())).paragraphs[:4]
    exact = [forecast(arcs, 0.5) for arcs in read_routes(follower, routes)]
    wide = [forecast(arcs, 0.5) for arcs in read_routes(follower, routes, beam=10_000)]
    for one, two in zip(exact, wide, strict=True):
        assert one == pytest.approx(two)


def test_read_routes_narrow_beam_keeps_that_many_states(follower, data):
    routes = next(iter(data.values())).paragraphs[:4]
    for route in read_routes(follower, routes, beam=2):
        assert all(len(arcs.before) <= 2 for arcs in route)
    with pytest.raises(SettingError, match="at least 1"):
        list(read_routes(follower, routes, beam=0))


def test_read_routes_find_the_end_of_routes_they_were_trained_on(follower, data):
    routes = [route for each in data.values() for route in each.paragraphs]
    read = read_routes(follower, routes)
    right = [
        next(iter(forecast(arcs))) == route.end for arcs, route in zip(read, routes, strict=True)
    ]
    assert sum(right) / len(right) > 0.8


def test_segment_parts_follow_each_other_along_the_way(follower, data):
    for route in next(iter(data.values())).paragraphs:
        for used in (None, follower):
            parts = segment(used, [route])
            assert len(parts) == len(route.texts)
            state = route.start
            for part in parts:
                assert part.start == state
                for action in part.actions:
                    state = route.environment.step(state, action)
                state = route.environment.restart(state)
            assert state.position == route.end


@pytest.fixture(scope="module")
def elsewhere(data):
    found = next(iter(data.values()))
    shown = found.sentences + found.dropped
    return shown, add_negative_starts(shown, misread=4, elsewhere=2)


def test_negative_starts_of_known_starts_are_ends_of_the_sentence_before(elsewhere):
    shown, made = elsewhere
    seen = 0
    for before, after in zip(shown, made, strict=True):
        assert before.start not in after.negative_starts
        assert len(set(after.negative_starts)) == len(after.negative_starts)
        if before.start.orientation is None or not after.negative_starts:
            continue
        seen += 1
        assert len(after.negative_starts) <= 4
        world = before.environment
        starts = [each.start for each in shown if each.group == before.group]
        assert any(
            {world.restart(end) for _, end in plans_within(world, start, 4)}
            >= set(after.negative_starts)
            for start in starts
        )
    assert seen


def test_negative_starts_of_unknown_starts_are_near_and_unknown(elsewhere):
    shown, made = elsewhere
    seen = 0
    for before, after in zip(shown, made, strict=True):
        if before.start.orientation is not None or before.actions == (STAY,):
            continue
        seen += 1
        x, y = before.start.position
        assert len(after.negative_starts) == 2
        for (other_x, other_y), orientation, _ in after.negative_starts:
            assert orientation is None
            assert 0 < abs(x - other_x) + abs(y - other_y) <= NEAR
    assert seen


def test_sentences_at_which_nothing_is_done_have_no_negative_starts(elsewhere):
    stays = [each for each in elsewhere[1] if each.actions == (STAY,)]
    assert stays
    assert not any(each.negative_starts for each in stays)


def test_negative_starts_share_the_weight_with_a_copy_without(elsewhere):
    shown, made = elsewhere
    halves = add_negative_starts(shown, misread=4, elsewhere=2, alone=0.25)
    assert len(halves) == len(shown) + sum(bool(each.negative_starts) for each in made)
    assert sum(each.weight for each in halves) == pytest.approx(len(shown))
    for one, two in pairwise(halves):
        if two.negative_starts:
            assert (one.weight, one.negative_starts, one.start) == (0.25, (), two.start)
            assert two.weight == 0.75


def test_mirrored_negative_starts_are_states_of_the_mirrored_maze(elsewhere):
    made = next(each for each in elsewhere[1] if each.negative_starts)
    (image,) = made.environment.mirror(made)
    assert all(state.position in image.environment.maze for state in image.negative_starts)
    (again,) = image.environment.mirror(image)
    assert again.negative_starts == made.negative_starts


@pytest.mark.parametrize(
    "training", [RouteTraining(misread=1, elsewhere=1, alone=0.5), RouteTraining(False, rounds=2)]
)
def test_train_routes_learns_to_find_ends(data, training):
    follower = train_routes(CHOSEN, list(data.values()), training)
    routes = next(iter(data.values())).paragraphs
    ends = [next(iter(forecast(arcs, 0.5))) for arcs in read_routes(follower, routes)]
    right = sum(end == route.end for end, route in zip(ends, routes, strict=True))
    assert right / len(routes) > 0.5


def test_two_members_are_the_models_of_best():
    best = PRESETS.select("best")
    for each in fields(MazePreset):
        assert getattr(TWO_MEMBERS, each.name) == getattr(best, each.name)


def test_two_members_find_plans_and_evidence_by_the_mean_of_their_scores(data):
    both = replace(TWO_MEMBERS, parser="chain")
    one = replace(both, model=both.model.model)
    (member,) = both.model.members
    two = replace(one, overlay=member.overlay, features=member.features)
    maps = list(data.values())
    routes = maps[0].paragraphs[:3]
    training = RouteTraining(dropped=True, misread=1, elsewhere=1, alone=0.5, composed=0.5)
    followers = [train_routes(each, maps, training) for each in (both, one, two)]
    together, *alone = (
        [arcs for route in read_routes(each, routes) for arcs in route] for each in followers
    )
    for arcs, first, second in zip(together, *alone, strict=True):
        mean = (first.scores + second.scores) / 2
        assert arcs.scores == pytest.approx(mean)
        # evidence is the sum over plans of exp(mean score), not the mean of two sums
        assert arcs.evidence() == pytest.approx(replace(first, scores=mean).evidence())
        assert not np.allclose(first.scores, second.scores)


def test_choose_power_judges_weights_with_their_neighbours():
    lucky = {0.0: 0.3, 0.2: 0.5, 0.5: 0.3, 0.7: 0.45, 1.0: 0.46, 1.3: 0.44}
    assert _smoothest(lucky) == 1.0


def test_routes_need_three_maps(data):
    with pytest.raises(SettingError, match="at least three maps; got 2"):
        leave_out_routes(CHOSEN, data, "Maze1", RouteTraining())


def test_routes_report_every_way_of_reading(tmp_path):
    write_mazes(tmp_path, generate_routes(generate_mazes(4, 3, size=4, halls=5), 24, seed=2))
    sail = load_sail(tmp_path)
    data = prepare_routes(CHOSEN, sail)
    trials = [leave_out_routes(CHOSEN, data, name, RouteTraining()) for name in sail.mazes]
    for reading in READINGS:
        chosen = with_routes(PRESETS).select(ROUTES, f"single sentences: {reading}")
        row = route_row(reading, chosen, [each[reading] for each in trials])
        maps = [row.metrics[name] for name in sail.mazes]
        assert row.metrics["macro"] == pytest.approx(sum(maps) / len(maps))
        assert row.interval[0] <= row.metrics["micro"] <= row.interval[1]


def test_routes_note_the_weight_of_evidence():
    presets = with_routes(PRESETS)
    scores = [["A", {"right": 1.0, "meant": 1.0}]]
    outcome = {"maze": "A", "power": 0.5, "sentences": 0.7, "scores": scores}
    notes = {
        reading: route_row(
            reading, presets.select(ROUTES, f"single sentences: {reading}"), [outcome]
        ).note
        for reading in READINGS
    }
    assert notes.pop(EVIDENCE) == "weight of evidence: A 0.5"
    assert set(notes.values()) == {""}


def test_routes_name_an_unknown_row():
    with pytest.raises(SettingError, match="Did you mean 'single sentences: at once'"):
        with_routes(PRESETS).select(ROUTES, "single sentence: at once")


def test_training_rows_are_told_apart():
    assert len(set(TRAINING.values())) == len(TRAINING)


def test_main_writes_the_rows(tmp_path):
    routes = generate_routes(generate_mazes(4, 3, size=4, halls=5), 24, seed=2)
    write_mazes(tmp_path / "sail", routes)
    rows = [f"single sentences: {reading}" for reading in READINGS[:2]]
    out = tmp_path / "routes.json"
    main([str(tmp_path / "sail"), str(out), "--jobs", "1", *(f"--row={row}" for row in rows)])
    report = Report.read(out)
    assert [row.name for row in report.rows] == rows
    assert all(0 < row.metrics["macro"] < 1 for row in report.rows)
