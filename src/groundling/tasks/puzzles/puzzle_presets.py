"""Presets of the `puzzles` task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files

from groundling.tasks.presets import Preset, read_presets
from groundling.tasks.puzzles.environment import PuzzleEnvironment


@dataclass(frozen=True, kw_only=True)
class PuzzlePreset(Preset):
    """Settings of a follower and its environment, with published scores.

    With `winning_only`, the follower chooses only among actions that are not proven to lose, but
    training uses all actions. With `length_told`, the follower knows the number of actions.
    `split_hyphens` splits words such as *far-left*. With `any_order`, ties between plans are broken
    by random orders of the actions, and scores are means over these orders.
    """

    parser: str = "chain:english"
    winning_only: bool = False
    length_told: bool = False
    split_hyphens: bool = True
    any_order: bool = False

    def in_order(self, order: int) -> PuzzlePreset:
        """Return the preset with actions in a random order; `order` is the random seed."""
        return replace(self, environment={**self.environment, "order": order})

    def world(self) -> PuzzleEnvironment:
        """Return the environment in which this preset is trained."""
        return PuzzleEnvironment(**self.environment)

    def world_to_follow_in(self, world: PuzzleEnvironment) -> PuzzleEnvironment:
        """Return an environment for following hints, with the planner of another one."""
        if not self.winning_only:
            return world
        return PuzzleEnvironment(**self.environment, winning_only=True, planner=world.planner)


PRESETS = read_presets("puzzles", PuzzlePreset, files("groundling.tasks.puzzles"))
