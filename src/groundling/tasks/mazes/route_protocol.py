"""The protocol of whole routes: one map left out, followed at once or after reading first.

`groundling evaluate mazes --preset routes` evaluates all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.tasks.mazes.maze import Position
from groundling.tasks.mazes.presets import Preset
from groundling.tasks.mazes.route_training import (
    RouteData,
    Training,
    train_routes,
)
from groundling.tasks.mazes.routes import Paragraph, act_at_once, forecast, read_routes

__all__ = ["RouteFold", "choose_power", "route_fold", "table_row"]

POWERS = (0.0, 0.2, 0.5, 0.7, 1.0, 1.3)


@dataclass(frozen=True)
class RouteFold:
    """One map left out: where its routes were said to end, in each way of reading.

    `power` is the weight of evidence, chosen inside the training maps; `tried` holds the
    share of right ends there for each weight.
    """

    maze: str
    routes: Sequence[Paragraph]
    at_once: Sequence[Position]
    plain: Sequence[Position]
    evident: Sequence[Position]
    power: float
    tried: dict[float, float]
    sentences: float


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


def route_fold(
    chosen: Preset,
    data: dict[str, RouteData],
    left_out: str,
    training: Training,
    *,
    beam: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> RouteFold:
    """Train on all maps but one and follow the routes of that one, in each way of reading.

    *At once*, each sentence is acted on before the next is read; *plain*, all states are kept
    until the text ends; *evident*, later sentences also speak against wrong earlier states.
    """
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
    return RouteFold(
        left_out,
        routes,
        [state.position for state in act_at_once(follower, routes)],
        plain,
        evident,
        power,
        tried,
        follower.score(data[left_out].sentences),
    )


def _share(fold: RouteFold, ends: Sequence[Position]) -> float:
    rights = [end == route.end for end, route in zip(ends, fold.routes, strict=True)]
    return sum(rights) / len(rights)


def table_row(
    name: str,
    folds: Sequence[RouteFold],
    ends: Sequence[Sequence[Position]],
    note: str = "",
) -> Row:
    """Put what was answered together into a row of the table."""
    per_map = {each.maze: _share(each, found) for each, found in zip(folds, ends, strict=True)}
    pairs = [
        (route, end)
        for each, found in zip(folds, ends, strict=True)
        for route, end in zip(each.routes, found, strict=True)
    ]
    rights = [end == route.end for route, end in pairs]
    meant = [end == (route.destination or route.end) for route, end in pairs]
    metrics = {
        "macro": sum(per_map.values()) / len(per_map),
        "micro": sum(rights) / len(rights),
        **per_map,
        "micro, attribute end": sum(meant) / len(meant),
        "single sentences, macro": sum(each.sentences for each in folds) / len(folds),
    }
    interval = bootstrap(rights, lambda drawn: sum(drawn) / len(drawn), draws=1000)
    return Row(name, metrics, interval, note=note)
