"""The `mazes` task: single sentences and whole routes, one map held out at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.features.reader import Text
from groundling.language.parser import load_parser
from groundling.plan import Plan
from groundling.tasks.benchmark import (
    Case,
    DemoWorld,
    Fold,
    Outcome,
    Scene,
    Task,
    by_part,
    median_seconds,
    sample_count,
)
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.corpus import Sail, load_sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import generate_mazes, generate_routes
from groundling.tasks.mazes.maze import COMPASS
from groundling.tasks.mazes.maze_demo import demo_world
from groundling.tasks.mazes.maze_drawing import draw_maze
from groundling.tasks.mazes.maze_files import write_corpus
from groundling.tasks.mazes.maze_presets import PRESETS, MazePreset, prepare_sentences, units
from groundling.tasks.mazes.routes import (
    ROUTES,
    RoutePreset,
    leave_out_routes,
    prepare_routes,
    route_row,
    with_routes,
)
from groundling.world.environment import Environment, State

# Estimated seconds per map.
_SECONDS = {"paper": 8.0, "best": 12.0, "auto": 30.0, ROUTES: 60.0}


class MazeTask(Task[Sail, MazePreset]):
    """Single sentences and whole routes in mazes, one map held out at a time."""

    name = "mazes"
    about = (
        "Route instructions in mazes (SAIL corpus): a sentence is correct if the agent ends in "
        "the right place and faces the right direction. Macro is the mean over maps, micro "
        "over sentences."
    )
    metrics = ("micro", "macro")
    presets = with_routes(PRESETS)
    corpus = "sail"
    part = "map"
    tables_only = (ROUTES,)

    def load(self, source: Path | None, size: float | None = None) -> Sail:
        """Return the SAIL corpus in a folder, or three generated mazes with routes."""
        if source is not None:
            return load_sail(source / self.corpus)
        routes = generate_routes(generate_mazes(1, 3), sample_count(240, 6, size), seed=2)
        with TemporaryDirectory() as made:
            write_corpus(Path(made), routes)
            return load_sail(made)

    def prepare(self, corpus: Sail, chosen: MazePreset) -> list[Case]:
        """Return the single sentences of all maps as cases."""
        longest = chosen.search.longest if chosen.train_within_limit else None
        return [
            Case(each, name, learnable=longest is None or len(each.actions) <= longest)
            for name, found in prepare_sentences(chosen, corpus).items()
            for each in found
        ]

    def parts(self, corpus: Sail) -> list[str]:
        """Return the names of the maps."""
        return list(corpus.mazes)

    def held_out(self, corpus: Sail) -> tuple[str, ...]:
        """Return the name of the last map, which training holds out by default."""
        return tuple(self.parts(corpus)[-1:])

    def folds(self, corpus: Sail, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return one fold for each map; the fold holds out this map."""
        cost = _SECONDS[preset] * (6.0 if variant in ("no lexicon", "opaque names") else 1.0)
        return [Fold(name, (name,), seconds=cost) for name in corpus.mazes]

    def evaluate(
        self, corpus: Sail, chosen: Mapping[str, MazePreset], fold: Fold
    ) -> dict[str, Outcome]:
        """Train without one map; return the outcomes on its sentences or its routes."""
        first, *_ = chosen.values()
        if not isinstance(first, RoutePreset):
            return super().evaluate(corpus, chosen, fold)
        done = leave_out_routes(first, prepare_routes(first, corpus), fold.name, first.training)
        return {name: done[cast(RoutePreset, each).reading] for name, each in chosen.items()}

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row of results: macro is the mean over maps, micro over sentences."""
        chosen = self.presets.select(preset, variant)
        if isinstance(chosen, RoutePreset):
            return route_row(variant, chosen, outcomes)
        rights = [(maze, score["right"]) for each in outcomes for maze, score in each["scores"]]
        per_map = by_map(rights)
        metrics = {
            "macro": _mean(per_map),
            "micro": sum(right for _, right in rights) / len(rights),
            **per_map,
        }
        interval = bootstrap(rights, lambda drawn: _mean(by_map(drawn)), draws=400)
        seconds = median_seconds(outcomes)
        return Row(variant, metrics, interval, published=chosen.published, seconds=seconds)

    def condition(self, corpus: Sail, preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        if preset == ROUTES:
            return "whole routes, final position, one map left out"
        return "single sentences, one map left out"

    def shown_metrics(self, preset: str) -> tuple[str, ...]:
        """Return the metrics in a table; the last one has a confidence interval."""
        return ("macro", "micro") if preset == ROUTES else self.metrics

    def tuning_folds(self, corpus: Sail) -> list[Fold]:
        """Return a fold for each pair of maps, one for training and another for testing.

        To choose settings for a test map, use the pairs without this map.
        """
        names = self.parts(corpus)
        if len(names) < 3:
            raise SettingError(
                "Tuning requires at least three maps: one for training, one for testing and one "
                f"held out; got {len(names)}. Add maps."
            )
        return [
            Fold(f"{one} → {two}", (two,), unused=tuple({*names} - {one, two}))
            for one, two in permutations(names, 2)
        ]

    def demo(self, demonstrations: int, held_out: int) -> DemoWorld:
        """Return the generated mazes of `groundling demo`."""
        return demo_world(demonstrations, held_out)

    def read(
        self, chosen: MazePreset, environment: Environment, lines: Sequence[str]
    ) -> Sequence[Text]:
        """Return the sentences in typed lines, each as a separate text."""
        parser = load_parser(chosen.parser)
        return [units(chosen, [sentence]) for line in lines for sentence in parser.parse(line)]

    def scene(
        self, corpus: Sail, chosen: MazePreset, where: str | None, start: str | None
    ) -> Scene:
        """Return the scene of a map, by default at the start of its first sentence."""
        [name] = self.find_parts(corpus, where or self.held_out(corpus)[0])
        found = corpus.mazes[name]
        world = chosen.world(found.environment.maze)
        if start is None:
            starts = [cast(MazeState, each.start) for each in found.sentences]
            known = [each for each in starts if each.orientation is not None]
            state = (known or starts)[0]
        else:
            state = world.start(*_pose(start))
        made = self.make_scene(name, chosen, world, state)
        return MazeScene(**vars(made))


class MazeScene(Scene):
    """Scene of a maze; each sentence starts in the final state of the previous one."""

    def restart(self, state: State) -> State:
        """Return a final state as the initial state of a new plan."""
        return cast(MazeEnvironment, self.environment).restart(cast(MazeState, state))

    def draw(self, plans: Sequence[Plan]) -> str:
        """Return an SVG drawing of the maze with the path and a legend."""
        way: Any = [self.start, *(state for plan in plans for state in plan.states[1:])]
        return draw_maze(cast(MazeEnvironment, self.environment), way[-1], way, legend=True)


def by_map(rights: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the accuracy on the sentences of each map.

    >>> by_map([("A", 1.0), ("B", 1.0), ("B", 0.0)])
    {'A': 1.0, 'B': 0.5}
    """
    return {maze: sum(each) / len(each) for maze, each in by_part(rights).items()}


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / len(shares)


def _pose(text: str) -> tuple[tuple[int, int], int | None]:
    """Return the position and the orientation in the argument of `--start`.

    >>> _pose("3,4,west"), _pose("3,4")
    (((3, 4), 270), ((3, 4), None))
    """
    found = re.fullmatch(r"\(?\s*(-?\d{1,4})\s*,\s*(-?\d{1,4})\s*\)?\s*(?:,?\s*(\w+))?", text)
    facing: dict[str, Any] = {**{name: angle for angle, name in COMPASS.items()}, "unknown": None}
    facing |= {"": None, **{str(angle): angle for angle in COMPASS}}
    if not found or (found[3] or "") not in facing:
        raise SettingError(
            "--start must be X,Y,DIRECTION, such as 3,4,north, with north, east, south, west or "
            f"unknown; got {text!r}."
        )
    return (int(found[1]), int(found[2])), facing[found[3] or ""]
