"""The two systems for puzzles, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files

from groundling.tasks.presets import Preset, read_presets
from groundling.tasks.puzzles.environment import PuzzleEnvironment


@dataclass(frozen=True, kw_only=True)
class PuzzlePreset(Preset):
    """A follower's settings, the environment they are for, and what was published for them.

    With `winning_only`, hints are followed among the actions that are not proven to lose;
    what is learnt from are all actions. `length_told` gives the follower the number of
    actions of the demonstrated plan, and `split_hyphens` reads words such as *far-left* apart.
    With `any_order`, many plans score the same: the order of the actions decides ties, so that
    figures are means over random orders.
    """

    parser: str = "chain:english"
    winning_only: bool = False
    length_told: bool = False
    split_hyphens: bool = True
    any_order: bool = False

    def in_order(self, order: int) -> PuzzlePreset:
        """Return the same with the actions in a random order, which a number names."""
        return replace(self, environment={**self.environment, "order": order})

    def world(self) -> PuzzleEnvironment:
        """Return the environment to learn in; it remembers what its planner has proven."""
        return PuzzleEnvironment(**self.environment)

    def world_to_follow_in(self, world: PuzzleEnvironment) -> PuzzleEnvironment:
        """Return the environment to follow hints in, with the same planner."""
        if not self.winning_only:
            return world
        return PuzzleEnvironment(**self.environment, winning_only=True, planner=world.planner)


PRESETS = read_presets("puzzles", PuzzlePreset, files("groundling.tasks.puzzles"))
