"""Evaluation of whole routes: one map left out, followed at once or after reading first.

`groundling evaluate mazes --preset routes` evaluates all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.tasks.benchmark import Outcome
from groundling.tasks.mazes.maze_presets import MazePreset
from groundling.tasks.mazes.route_presets import AT_ONCE, EVIDENCE, READ_FIRST, RoutePreset
from groundling.tasks.mazes.route_trainer import RouteData, Training, train_routes
from groundling.tasks.mazes.routes import act_at_once, forecast, read_routes

POWERS = (0.0, 0.2, 0.5, 0.7, 1.0, 1.3)
_BEAM = 20  # states that are kept while the weight of evidence is chosen


def route_row(name: str, chosen: RoutePreset, outcomes: Sequence[Outcome]) -> Row:
    """Put the maps together.

    >>> scores = [("A", {"right": 1.0, "meant": 1.0}), ("A", {"right": 0.0, "meant": 1.0})]
    >>> done = {"maze": "A", "scores": scores, "power": 0.5, "sentences": 0.7}
    >>> found = route_row("single sentences: at once", RoutePreset(), [done])
    >>> found.metrics["micro"], found.metrics["micro, attribute end"]
    (0.5, 1.0)
    """
    every = [score for each in outcomes for _, score in each["scores"]]
    rights = [score["right"] for score in every]
    per_map = {
        each["maze"]: _share([score["right"] for _, score in each["scores"]]) for each in outcomes
    }
    metrics = {
        "macro": _share(list(per_map.values())),
        "micro": _share(rights),
        **per_map,
        "micro, attribute end": _share([score["meant"] for score in every]),
        "single sentences, macro": _share([each["sentences"] for each in outcomes]),
    }
    powers = ", ".join(f"{each['maze']} {each['power']:g}" for each in outcomes)
    note = f"weight of evidence: {powers}" if chosen.reading == EVIDENCE else ""
    return Row(name, metrics, bootstrap(rights, _share), note=note)


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def choose_power(chosen: MazePreset, data: dict[str, RouteData], training: Training) -> float:
    """Choose the weight of evidence inside the training maps.

    Each of them is left out in turn and its routes are read by a follower trained on the
    others. A few hundred routes cannot tell neighbouring weights apart, so each weight is judged
    by the share of right ends together with its neighbours'.
    """
    right = dict.fromkeys(POWERS, 0)
    for left_out, held_out in data.items():
        others = [each for name, each in data.items() if name != left_out]
        follower = train_routes(chosen, others, training)
        read = read_routes(follower, held_out.paragraphs, beam=_BEAM)
        for route, arcs in zip(held_out.paragraphs, read, strict=True):
            for power in POWERS:
                right[power] += next(iter(forecast(arcs, power))) == route.end
    count = sum(len(each.paragraphs) for each in data.values())
    return _smoothest({power: found / count for power, found in right.items()})


def _smoothest(tried: dict[float, float]) -> float:
    """Return the weight with the best mean of its own share and its neighbours'."""
    shares = list(tried.values())
    padded = [shares[0], *shares, shares[-1]]
    means = [sum(padded[place : place + 3]) for place in range(len(shares))]
    return list(tried)[means.index(max(means))]


def leave_out_routes(
    chosen: MazePreset, data: dict[str, RouteData], left_out: str, training: Training
) -> dict[str, Outcome]:
    """Train on all maps but one and follow the routes of that one, in each way of reading."""
    if len(data) < 3:
        raise SettingError(
            f"Routes are evaluated on three maps or more, not on {len(data)}: one is left out, and "
            "one of the others to choose the weight of evidence."
        )
    inside = {name: each for name, each in data.items() if name != left_out}
    power = choose_power(chosen, inside, training)
    follower = train_routes(chosen, list(inside.values()), training)
    routes = data[left_out].paragraphs
    read = list(read_routes(follower, routes))
    ends = {
        AT_ONCE: [state.position for state in act_at_once(follower, routes)],
        READ_FIRST: [next(iter(forecast(arcs))) for arcs in read],
        EVIDENCE: [next(iter(forecast(arcs, power))) for arcs in read],
    }
    sentences = follower.score(data[left_out].sentences)
    found: dict[str, Outcome] = {}
    for reading, reached in ends.items():
        scores = [
            (left_out, {
                "right": float(end == route.end),
                "meant": float(end == (route.destination or route.end)),
            })
            for end, route in zip(reached, routes, strict=True)
        ]  # fmt: skip
        found[reading] = {
            "maze": left_out, "scores": scores, "power": power, "sentences": sentences
        }  # fmt: skip
    return found
