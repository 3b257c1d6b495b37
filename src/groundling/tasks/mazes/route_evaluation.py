"""Evaluation of whole routes: one map left out, followed at once or after reading first.

`groundling evaluate mazes --preset routes` evaluates all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.tasks.benchmark import Outcome
from groundling.tasks.mazes.maze import Position
from groundling.tasks.mazes.maze_presets import Preset
from groundling.tasks.mazes.route_presets import AT_ONCE, EVIDENCE, READ_FIRST, RoutePreset
from groundling.tasks.mazes.route_training import RouteData, Training, train_routes
from groundling.tasks.mazes.routes import Paragraph, act_at_once, forecast, read_routes

__all__ = ["RouteTrial", "choose_power", "leave_out_routes", "route_row"]

POWERS = (0.0, 0.2, 0.5, 0.7, 1.0, 1.3)


@dataclass(frozen=True)
class RouteTrial:
    """One map left out: where its routes were said to end, in each way of reading.

    `power` is the weight of evidence, chosen inside the training maps; `tried` holds the
    share of right ends there for each weight.
    """

    maze: str
    routes: Sequence[Paragraph]
    ends: Mapping[str, Sequence[Position]]
    power: float
    tried: Mapping[float, float]
    sentences: float

    def judge(self, reading: str) -> Outcome:
        """Return what tables are made of, for a way of reading."""
        ends = [
            (found, route.end, route.destination or route.end)
            for found, route in zip(self.ends[reading], self.routes, strict=True)
        ]
        scores = [
            (self.maze, {"right": float(found == end), "meant": float(found == meant)})
            for found, end, meant in ends
        ]
        return {
            "maze": self.maze, "scores": scores, "power": self.power, "sentences": self.sentences
        }  # fmt: skip


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


def choose_power(
    chosen: Preset,
    data: dict[str, RouteData],
    training: Training,
    *,
    beam: int | None = 20,
    seed: int = 0,
    threads: int = 1,
) -> tuple[float, dict[float, float]]:
    """Choose the weight of evidence inside the training maps.

    Each of them is left out in turn and its routes are read by a follower trained on the
    others. Returns the chosen weight and the share of right ends for each. A few hundred
    routes cannot tell neighbouring weights apart, so each is judged with its neighbours.
    """
    right = dict.fromkeys(POWERS, 0)
    count = 0
    for left_out, held_out in data.items():
        others = [each for name, each in data.items() if name != left_out]
        follower = train_routes(chosen, others, training, seed=seed, threads=threads)
        count += len(held_out.paragraphs)
        read = read_routes(follower, held_out.paragraphs, beam=beam)
        for route, arcs in zip(held_out.paragraphs, read, strict=True):
            for power in POWERS:
                right[power] += next(iter(forecast(arcs, power))) == route.end
    tried = {power: found / count for power, found in right.items()}
    return _smoothest(tried), tried


def _smoothest(tried: dict[float, float]) -> float:
    """Return the weight with the best mean of its own share and its neighbours'."""
    shares = list(tried.values())
    padded = [shares[0], *shares, shares[-1]]
    means = [sum(padded[place : place + 3]) for place in range(len(shares))]
    return list(tried)[means.index(max(means))]


def leave_out_routes(
    chosen: Preset,
    data: dict[str, RouteData],
    left_out: str,
    training: Training,
    *,
    beam: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> RouteTrial:
    """Train on all maps but one and follow the routes of that one, in each way of reading."""
    if len(data) < 3:
        raise SettingError(
            f"Routes are evaluated on three maps or more, not on {len(data)}: one is left out, and "
            "one of the others to choose the weight of evidence."
        )
    inside = {name: each for name, each in data.items() if name != left_out}
    power, tried = choose_power(chosen, inside, training, seed=seed, threads=threads)
    follower = train_routes(chosen, list(inside.values()), training, seed=seed, threads=threads)
    routes = data[left_out].paragraphs
    plain, evident = [], []
    for arcs in read_routes(follower, routes, beam=beam):
        plain.append(next(iter(forecast(arcs))))
        evident.append(next(iter(forecast(arcs, power))))
    at_once = [state.position for state in act_at_once(follower, routes)]
    return RouteTrial(
        left_out,
        routes,
        {AT_ONCE: at_once, READ_FIRST: plain, EVIDENCE: evident},
        power,
        tried,
        follower.score(data[left_out].sentences),
    )
