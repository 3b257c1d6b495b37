"""Mazes as the command line sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from groundling.errors import SettingError, did_you_mean
from groundling.evaluation.report import Row
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.language.languages import ENGLISH
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.tasks.base import Fold, Outcome, Scene, Task, TrainingSet, sample_count
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.corpus import Sail, load_sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.files import write_corpus
from groundling.tasks.mazes.generator import generate_mazes, generate_routes
from groundling.tasks.mazes.maze import COMPASS
from groundling.tasks.mazes.metrics import MapOutcome, RouteOutcome, route_row, sentence_row
from groundling.tasks.mazes.picture import save_picture
from groundling.tasks.mazes.plans import Pose, poses_of
from groundling.tasks.mazes.presets import PRESETS, Preset
from groundling.tasks.mazes.protocol import (
    judge,
    leave_out,
    prepare_sentences,
    training_sentences,
)
from groundling.tasks.mazes.route_presets import EVIDENCE, ROUTES, RoutePreset, with_routes
from groundling.tasks.mazes.route_protocol import leave_out_routes
from groundling.tasks.mazes.route_training import prepare_routes

__all__ = ["MazeScene", "MazeTask"]

# About how many seconds a map takes.
_SECONDS = {"paper": 8.0, "best": 12.0, "auto": 30.0, ROUTES: 60.0}


class MazeTask(Task[Sail, Preset]):
    """Single sentences in mazes, and whole routes, one map left out at a time."""

    name = "mazes"
    about = (
        "Route instructions in mazes (SAIL corpus): a sentence is right if the agent ends in "
        "the right place and looks in the right direction. Macro is the mean over maps, micro "
        "over sentences."
    )
    metrics = ("micro", "macro")
    presets = with_routes(PRESETS)
    corpus = "sail"
    tables_only = (ROUTES,)

    def load(self, folder: Path | None, size: float | None = None) -> Sail:
        """Read SAIL, or generate three mazes with routes."""
        if folder is not None:
            return load_sail(folder / self.corpus)
        routes = generate_routes(generate_mazes(1, 3), sample_count(240, 6, size), seed=2)
        with TemporaryDirectory() as made:
            write_corpus(Path(made), routes)
            return load_sail(made)

    def training_set(self, corpus: Sail, chosen: Preset, left_out: str | None) -> TrainingSet:
        """Return the sentences of all maps but one, by default the last."""
        name = self._map(corpus, left_out)
        sentences = prepare_sentences(chosen, corpus)
        return TrainingSet(training_sentences(chosen, sentences, name), name)

    def folds(self, corpus: Sail, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the maps."""
        cost = _SECONDS[preset] * (6.0 if variant in ("no lexicon", "opaque names") else 1.0)
        return [Fold(name, cost) for name in corpus.mazes]

    def evaluate_fold(
        self, corpus: Sail, preset: str, variants: Sequence[str], fold: str
    ) -> dict[str, Outcome]:
        """Leave one map out."""
        chosen = {name: self.presets.select(preset, name) for name in variants}
        first = chosen[variants[0]]
        if isinstance(first, RoutePreset):
            done = leave_out_routes(first, prepare_routes(first, corpus), fold, first.training)
            return {
                name: done.judge(cast(RoutePreset, each).reading).to_dict()
                for name, each in chosen.items()
            }
        return {
            name: judge(fold, leave_out(each, prepare_sentences(each, corpus), fold)).to_dict()
            for name, each in chosen.items()
        }

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the maps together."""
        chosen = self.presets.select(preset, variant)
        if not isinstance(chosen, RoutePreset):
            found = [MapOutcome.from_dict(each) for each in outcomes]
            return sentence_row(variant, found, chosen.published)
        routes = [RouteOutcome.from_dict(each) for each in outcomes]
        powers = ", ".join(f"{each.maze} {each.power:g}" for each in routes)
        note = f"weight of evidence: {powers}" if chosen.reading == EVIDENCE else ""
        return route_row(variant, routes, note)

    def condition(self, corpus: Sail, preset: str, quick: bool) -> str:
        """Say how the figures come about."""
        if preset == ROUTES:
            return "whole routes, final position, one map left out"
        return "single sentences, one map left out"

    def shown_metrics(self, preset: str) -> tuple[str, ...]:
        """Return the metrics that a table shows; intervals of routes are of the micro mean."""
        return ("macro", "micro") if preset == ROUTES else self.metrics

    def tuning_folds(self, corpus: Sail) -> list[str]:
        """Return all pairs of maps, one to learn from and another to follow.

        Every map is for test once; pairs without it can choose settings for that test.
        """
        if len(corpus.mazes) < 3:
            raise SettingError("Tuning leaves out two maps at a time; it needs three or more.")
        return [f"{one} → {two}" for one, two in permutations(corpus.mazes, 2)]

    def try_out(self, corpus: Sail, chosen: Preset, fold: str) -> float:
        """Learn from one map, and return the share of right answers on another."""
        one, two = fold.split(" → ")
        pair = Sail({name: corpus.mazes[name] for name in (one, two)}, corpus.report)
        return judge(two, leave_out(chosen, prepare_sentences(chosen, pair), two)).accuracy

    def _map(self, corpus: Sail, name: str | None) -> str:
        if name is None:
            return list(corpus.mazes)[-1]
        known = {each.lower(): each for each in corpus.mazes}
        if name.lower() not in known:
            raise SettingError(f"There is no map {name!r}.{did_you_mean(name, corpus.mazes)}")
        return known[name.lower()]

    def scene(
        self, corpus: Sail, chosen: Preset, where: str | None, start: str | None
    ) -> MazeScene:
        """Return a map and a start in it; by default where its first sentence was said."""
        name = self._map(corpus, where)
        found = corpus.mazes[name]
        world = chosen.world(found.environment.maze)
        if start is None:
            known = [d.start for d in found.sentences if cast(Any, d.start).orientation is not None]
            state = cast(MazeState, (known or [d.start for d in found.sentences])[0])
        else:
            state = world.start(*_pose(start))
        return MazeScene(name, chosen, world, state)


class MazeScene(Scene):
    """A maze; each sentence is acted on before the next is read."""

    def __init__(self, name: str, chosen: Preset, world: MazeEnvironment, start: MazeState) -> None:
        self.name = f"map {name}"
        self.chosen = chosen
        self.world = world
        self.start = start

    def describe(self) -> str:
        """Return where the agent stands."""
        return self.world.describe(self.start)

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Follow sentence by sentence, each from where the one before ended."""
        state, plans = self.start, []
        for line in lines:
            for sentence in load_parser(self.chosen.parser).parse(line):
                parts = [sentence]
                if self.chosen.split_commands:
                    parts = split_commands(sentence, ENGLISH)
                plan = follower.follow(parts, self.world, state, length=length)
                state = self.world.restart(cast(MazeState, plan.end))
                plans.append(plan)
        return plans

    def draw(self, plans: Sequence[Plan], file: Path, title: str = "") -> None:
        """Draw the maze with the way that was followed."""
        pose = Pose(self.start.position, self.start.orientation)
        actions: Any = [action for plan in plans for action in plan.actions]
        way = poses_of(self.world.maze, pose, actions)
        save_picture(file, self.world.maze, path=way, names=("followed", ""), title=title)


def _pose(text: str) -> tuple[tuple[int, int], int | None]:
    """Read a start.

    >>> _pose("3,4,west"), _pose("3,4")
    (((3, 4), 270), ((3, 4), None))
    """
    found = re.fullmatch(r"\(?\s*(-?\d{1,4})\s*,\s*(-?\d{1,4})\s*\)?\s*(?:,?\s*(\w+))?", text)
    facing = {**{name: angle for angle, name in COMPASS.items()}, "unknown": None, "": None}
    facing |= {str(angle): angle for angle in COMPASS}
    if not found or (found[3] or "") not in facing:
        raise SettingError(
            f"{text!r} is no start. Write X,Y,DIRECTION, such as 3,4,north; the direction is "
            "north, east, south, west or unknown."
        )
    return (int(found[1]), int(found[2])), facing[found[3] or ""]
