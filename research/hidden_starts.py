"""Unknown orientations as hidden variables: `python -m research.hidden_starts Grid Jelly`.

If the initial orientation is unknown, the first action of a plan does not turn to a direction but
selects the orientation at the start: one of four poses, each with its own view. The model sums over
these poses. The script trains on one map and follows every second route of another.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from groundling import Demonstration, Follower, GroundingGraph
from groundling.tasks.mazes.actions import MazeAction, MazeState, face, rotate
from groundling.tasks.mazes.corpus import load_sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import DIRECTIONS
from groundling.tasks.mazes.maze_graphs import rich_graph
from groundling.tasks.mazes.maze_presets import PRESETS, MazePreset
from groundling.world.composition import compose
from research.maze_routes import (
    POWERS,
    RouteData,
    act_at_once,
    add_negative_starts,
    forecast,
    prepare_routes,
    read_routes,
)

__all__ = ["HiddenStart", "main", "measure", "sum_poses"]

HIDDEN = "hidden"


class HiddenStart(MazeEnvironment):
    """Maze in which `face` selects the orientation at the start.

    >>> from groundling.tasks.mazes import Maze
    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> world = HiddenStart(maze)
    >>> world.actions(world.step(world.start((0, 0)), face(90)))
    (move(1), rotate(90), rotate(180), rotate(270))
    """

    def actions(self, state: MazeState) -> tuple[MazeAction, ...]:
        """Return the possible actions in a state."""
        if state.last == HIDDEN:
            return super().actions(state._replace(last="start"))[:-1]
        return super().actions(state)

    def step(self, state: MazeState, action: MazeAction) -> MazeState:
        """Return the state after an action."""
        after = super().step(state, action)
        return after._replace(last=HIDDEN) if action.kind == "face" else after

    def ground(self, state: MazeState, action: MazeAction, next_state: MazeState) -> GroundingGraph:
        """Return the grounding graph of an action; a hidden pose has labels of the view."""
        if action.kind != "face":
            return super().ground(state, action, next_state)
        seen = rich_graph(self.maze, state, action, next_state, by_action=False)
        nodes: dict[str, dict[str, list[str | float] | bool]] = {}
        for node in seen.node_names:
            labels = nodes.setdefault(node, {})
            for label in seen.labels(node):
                values = labels.setdefault(f"h:{label.name}", label.value is None or [])
                if isinstance(values, list) and label.value is not None:
                    values.append(label.value)
        return GroundingGraph(nodes, seen.edges, roles=seen.roles)

    def mirrored(self) -> MazeEnvironment:
        """Return the environment with left and right exchanged."""
        if self._mirrored is None:
            self._mirrored = HiddenStart(self.maze.mirrored(), self.shape, swaps=self.swaps)
            self._mirrored._mirrored = self
        return self._mirrored


def sum_poses(demonstration: Demonstration) -> Demonstration:
    """Return a demonstration whose plan is correct from each hidden pose.

    >>> from groundling.tasks.mazes import Maze
    >>> world = HiddenStart(Maze("One", {(0, 0): ""}, []))
    >>> shown = Demonstration("look north", world, world.start((0, 0)), (face(0),))
    >>> sum_poses(shown).also
    ((face(90), rotate(270)), (face(180), rotate(180)), (face(270), rotate(90)))
    """
    first, *rest = demonstration.actions
    if first.kind != "face":
        return demonstration
    also = tuple(
        (face(pose), rotate((first.amount - pose) % 360), *rest)
        for pose in DIRECTIONS
        if pose != first.amount
    )
    return replace(demonstration, also=also)


def hide(data: RouteData) -> RouteData:
    """Return the training data with unknown orientations as hidden poses."""
    world = HiddenStart(data.sentences[0].environment.maze)  # type: ignore[attr-defined]
    return RouteData(
        [replace(each, environment=world) for each in data.sentences],
        [replace(each, environment=world) for each in data.dropped],
        [replace(each, environment=world) for each in data.paragraphs],
    )


def train(chosen: MazePreset, data: RouteData, hidden: bool) -> Follower:
    """Return a follower trained like the row of `routes` with composed demonstrations."""
    shown: Sequence[Demonstration] = [*data.sentences, *data.dropped]
    longer = compose(shown, weight=0.5, max_length=chosen.search.longest, parser=chosen.parser)
    shown = [*add_negative_starts(shown, misread=6, elsewhere=3, alone=0.5), *longer]
    if hidden:
        shown = [sum_poses(each) for each in shown]
    wanted = replace(chosen, learning=replace(chosen.learning, composed=0.0))
    return wanted.follower(seed=0).fit(shown, check=False)


def measure(
    chosen: MazePreset, one: RouteData, two: RouteData, *, hidden: bool
) -> dict[str, float]:
    """Return the accuracies on another map: sentences, and every second route."""
    if hidden:
        one, two = hide(one), hide(two)
    began = time.process_time()
    follower = train(chosen, one, hidden)
    found = {"seconds to train": time.process_time() - began}
    for name, unknown in (("known", False), ("unknown", True)):
        some = [each for each in two.sentences if (each.start.orientation is None) == unknown]
        found[f"single sentences, {name} start"] = follower.score(some)
    routes = two.paragraphs[::2]
    ends = [state.position for state in act_at_once(follower, routes)]
    found["at once"] = sum(a == b.end for a, b in zip(ends, routes, strict=True)) / len(routes)
    right = dict.fromkeys(POWERS, 0)
    for route, arcs in zip(routes, read_routes(follower, routes, beam=30), strict=True):
        for power in POWERS:
            right[power] += next(iter(forecast(arcs, power))) == route.end
    return found | {f"evidence {power}": count / len(routes) for power, count in right.items()}


def main() -> None:
    """Measure a pair of maps with and without hidden poses."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("learnt", help="training map: Grid, Jelly or L")
    parser.add_argument("followed", help="test map")
    given = parser.parse_args()
    chosen = PRESETS.select("best", "tree")
    data = prepare_routes(chosen, load_sail(Path(os.environ["GROUNDLING_CORPORA"]) / "sail"))
    for hidden in (False, True):
        found = measure(chosen, data[given.learnt], data[given.followed], hidden=hidden)
        print(json.dumps({"hidden": hidden, **{k: round(v, 3) for k, v in found.items()}}))


if __name__ == "__main__":
    main()
