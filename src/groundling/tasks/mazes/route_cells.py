"""Whole routes as parts of an evaluation: one map left out, all ways of reading at once."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from groundling.errors import SettingError, did_you_mean
from groundling.evaluation.report import Row
from groundling.tasks.mazes import route_protocol
from groundling.tasks.mazes.corpus import Sail
from groundling.tasks.mazes.route_training import TRAINING, prepare_routes, route_preset

__all__ = ["check_row", "route_groups", "route_row", "route_rows", "run_routes"]

READINGS = {"at once": "at_once", "read first": "plain", "read first, evidence": "evident"}


def route_rows() -> tuple[str, ...]:
    """Return the rows: what was learnt from, and how routes are read.

    >>> route_rows()[:2]
    ('single sentences: at once', 'single sentences: read first')
    """
    return tuple(f"{training}: {reading}" for training in TRAINING for reading in READINGS)


def check_row(row: str) -> None:
    """Complain of a row that does not exist."""
    if row not in route_rows():
        raise SettingError(f"Routes have no row {row!r}.{did_you_mean(row, route_rows())}")


def route_groups(rows: Sequence[str]) -> list[tuple[str, ...]]:
    """Return rows together that learn from the same.

    >>> [len(group) for group in route_groups(route_rows())]
    [3, 3, 3, 3]
    """
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.partition(": ")[0], []).append(row)
    return [tuple(group) for group in found.values()]


def run_routes(sail: Sail, rows: Sequence[str], left_out: str) -> dict[str, dict[str, Any]]:
    """Leave one map out, and follow its routes."""
    chosen = route_preset()
    data = prepare_routes(chosen, sail)
    training = TRAINING[rows[0].partition(": ")[0]]
    done = route_protocol.route_fold(chosen, data, left_out, training)
    return {
        row: {
            "maze": left_out,
            "power": done.power,
            "sentences": done.sentences,
            "routes": [
                [list(end), list(route.end), route.destination and list(route.destination)]
                for end, route in zip(
                    getattr(done, READINGS[row.partition(": ")[2]]), done.routes, strict=True
                )
            ],
        }
        for row in rows
    }


def route_row(row: str, outcomes: Sequence[dict[str, Any]]) -> Row:
    """Put the maps together.

    >>> outcome = {"maze": "A", "power": 0.5, "sentences": 0.7,
    ...            "routes": [[[0, 1], [0, 1], None], [[0, 1], [0, 2], [0, 1]]]}
    >>> found = route_row("single sentences: read first, evidence", [outcome])
    >>> found.metrics["micro"], found.metrics["micro, attribute end"], found.note
    (0.5, 1.0, 'weight of evidence: A 0.5')
    """
    folds: list[Any] = []
    ends = []
    for each in outcomes:
        routes = [
            SimpleNamespace(end=tuple(gold), destination=meant and tuple(meant))
            for _, gold, meant in each["routes"]
        ]
        folds.append(SimpleNamespace(maze=each["maze"], routes=routes, sentences=each["sentences"]))
        ends.append([tuple(end) for end, _, _ in each["routes"]])
    powers = ", ".join(f"{each['maze']} {each['power']:g}" for each in outcomes)
    note = f"weight of evidence: {powers}" if row.endswith("evidence") else ""
    return route_protocol.table_row(row, folds, ends, note)
