"""Evaluate the rows of one table: `python -m research.maps_rows CORPORA OUT.json`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from groundling import __version__
from groundling.evaluation.report import Report
from groundling.models.base import Model
from groundling.models.transducer import TransducerModel
from groundling.tasks.benchmark import Fold
from groundling.tasks.maps.map_presets import PRESETS, MapPreset
from groundling.tasks.maps.task import MapTask
from research.maps_rows.best_reading import BestReading

__all__ = ["ROWS", "main"]

M = TypeVar("M", bound=Model)


def _as(kind: type[M], model: Model, **further: Any) -> M:
    known = {each.name: getattr(model, each.name) for each in fields(model)}
    return kind(**known, **further)


def best_reading() -> MapPreset:
    """Return the preset `best` with the best alignment of each plan instead of the sum."""
    given = PRESETS.select("best")
    assert isinstance(given.model, TransducerModel)
    return replace(given, model=_as(BestReading, given.model))


ROWS = {"best reading only": best_reading}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and follow as the task does; write the rows in the format of its tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpora", type=Path, help="the folder of the corpora")
    parser.add_argument("out", type=Path, help="JSON file for the report")
    parser.add_argument("--row", choices=list(ROWS), action="append", help="run only this row")
    settings = parser.parse_args(arguments)
    task = MapTask()
    corpus = task.load(settings.corpora)
    began, made = time.process_time(), []
    for name in settings.row or ROWS:
        chosen = ROWS[name]()
        test = task.held_out(corpus)
        folds = [Fold(f"seed {seed}", test, seed) for seed in range(chosen.seeds)]
        outcomes = [task.evaluate(corpus, {name: chosen}, fold)[name] for fold in folds]
        row = task.make_row("best", "full", outcomes)
        made.append(replace(row, name=name, published=chosen.published))
    condition = f"{len(corpus.split()[1])} dialogues about maps not trained on"
    report = Report("maps", "research", condition, made, time.process_time() - began, __version__)
    report.save(settings.out)
    print(report.markdown())


if __name__ == "__main__":
    main()
