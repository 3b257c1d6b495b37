"""Scores of the mazes: right answers on maps that were left out, put together into rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from groundling.evaluation.report import Row, bootstrap
from groundling.tasks.mazes.maze import Position
from groundling.tasks.trials import Seconds, median_seconds

__all__ = ["MapOutcome", "RouteEnd", "RouteOutcome", "route_row", "sentence_row"]


@dataclass(frozen=True)
class MapOutcome:
    """Which sentences of a map were answered rightly, after training on the others.

    >>> found = MapOutcome("Grid", (True, False), Seconds(2.0, 0.5))
    >>> found.accuracy, MapOutcome.from_dict(found.to_dict()) == found
    (0.5, True)
    """

    maze: str
    right: tuple[bool, ...]
    seconds: Seconds

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return sum(self.right) / len(self.right)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MapOutcome:
        """Return an outcome that was kept as JSON."""
        right = tuple(map(bool, content["right"]))
        return cls(content["maze"], right, Seconds(*content["seconds"]))


def sentence_row(
    name: str, outcomes: Sequence[MapOutcome], published: Mapping[str, float] | None = None
) -> Row:
    """Put the maps together: macro is the mean over maps, micro over sentences.

    >>> maps = [("A", (True,)), ("B", (True, False, False, False))]
    >>> row = sentence_row("full", [MapOutcome(*each, Seconds(1.0, 1.0)) for each in maps])
    >>> row.metrics
    {'macro': 0.625, 'micro': 0.4, 'A': 1.0, 'B': 0.25}
    """
    per_map = {each.maze: each.accuracy for each in outcomes}
    rights = [(each.maze, right) for each in outcomes for right in each.right]

    def macro(items: Sequence[tuple[str, bool]]) -> float:
        by_map: dict[str, list[bool]] = {}
        for maze, right in items:
            by_map.setdefault(maze, []).append(right)
        return sum(sum(each) / len(each) for each in by_map.values()) / len(by_map)

    metrics = {
        "macro": sum(per_map.values()) / len(per_map),
        "micro": sum(right for _, right in rights) / len(rights),
        **per_map,
    }
    interval = bootstrap(rights, macro, draws=400)
    seconds = median_seconds([each.seconds for each in outcomes])
    return Row(name, metrics, interval, published=published or {}, seconds=seconds)


class RouteEnd(NamedTuple):
    """Where a route was said to end, where it ends, and where its speaker meant it to end."""

    found: Position
    end: Position
    destination: Position | None = None


@dataclass(frozen=True)
class RouteOutcome:
    """Where the routes of a map were said to end, after training on the other maps.

    `power` is the weight of evidence; `sentences` the share of right single sentences.

    >>> found = RouteOutcome("Grid", (RouteEnd((0, 1), (0, 2)),), 0.5, 0.7)
    >>> RouteOutcome.from_dict(found.to_dict()) == found
    True
    """

    maze: str
    routes: tuple[RouteEnd, ...]
    power: float
    sentences: float

    @property
    def accuracy(self) -> float:
        """The share of routes that end where they were said to."""
        return sum(each.found == each.end for each in self.routes) / len(self.routes)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RouteOutcome:
        """Return an outcome that was kept as JSON."""
        routes = tuple(
            RouteEnd(tuple(found), tuple(end), None if meant is None else tuple(meant))
            for found, end, meant in content["routes"]
        )
        return cls(content["maze"], routes, content["power"], content["sentences"])


def route_row(name: str, outcomes: Sequence[RouteOutcome], note: str = "") -> Row:
    """Put the maps together.

    >>> ends = (RouteEnd((0, 1), (0, 1)), RouteEnd((0, 1), (0, 2), (0, 1)))
    >>> found = route_row("single sentences: at once", [RouteOutcome("A", ends, 0.5, 0.7)])
    >>> found.metrics["micro"], found.metrics["micro, attribute end"]
    (0.5, 1.0)
    """
    per_map = {each.maze: each.accuracy for each in outcomes}
    routes = [route for each in outcomes for route in each.routes]
    rights = [each.found == each.end for each in routes]
    meant = [each.found == (each.destination or each.end) for each in routes]
    metrics = {
        "macro": sum(per_map.values()) / len(per_map),
        "micro": sum(rights) / len(rights),
        **per_map,
        "micro, attribute end": sum(meant) / len(meant),
        "single sentences, macro": sum(each.sentences for each in outcomes) / len(outcomes),
    }
    interval = bootstrap(rights, lambda drawn: sum(drawn) / len(drawn), draws=1000)
    return Row(name, metrics, interval, note=note)
