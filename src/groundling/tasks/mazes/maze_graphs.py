"""Grounding graphs of mazes: an action and the view after it."""

from __future__ import annotations

from collections.abc import Iterable

from groundling.tasks.mazes.actions import MazeAction, MazeState
from groundling.tasks.mazes.maze import DIRECTIONS, SIDES, Maze, Position
from groundling.world.graph import GroundingGraph, LabelValue

_Labels = dict[str, "LabelValue | Iterable[str | float]"]
_TURN_NAMES = {90: "rotate-right", 180: "rotate-around", 270: "rotate-left"}
_PREFIXES = {"rotate": "t:", "face": "t:", "move": "m:", "stay": "s:"}


def paper_graph(maze: Maze, action: MazeAction, after: MazeState) -> GroundingGraph:
    """Return the graph of the paper's Figure 2d, labelled as in the authors' program.

    The graph has an event, the place after it, and the neighbours of that place. Directions are not
    distinguished, and equal neighbours (such as blank walls) share one node.

    >>> from groundling.tasks.mazes import move
    >>> maze = Maze("Two", {(0, 0): "", (1, 0): "lamp"}, [((0, 0), (1, 0), "wood", "fish")])
    >>> print(paper_graph(maze, move(1), MazeState((1, 0), 90)))
    event*: constant, distance=1, move
    here: facing-wall, has-item, item=lamp
    neighbour 1: floor=wood, wall=fish
    neighbour 2: wall
    event -> here: after
    here -> neighbour 1: edge
    here -> neighbour 2: edge
    """
    event: _Labels = {"constant": True, action.kind: True}
    if action.kind != "stay":
        amount = "distance" if action.kind == "move" else "angle"
        event[f"{amount}={action.amount}"] = True
    position, orientation, _ = after
    here = _item(maze, position)
    if orientation is not None and maze.hall(position, orientation) is None:
        here["facing-wall"] = True
    neighbours: list[_Labels] = []
    for direction in DIRECTIONS:
        hall = maze.hall(position, direction)
        labels: _Labels = {"wall": True}
        if hall:
            beyond = maze.ahead(position, direction)[0]
            labels = {"floor": hall.floor, "wall": hall.wall} | _item(maze, beyond)
        if labels not in neighbours:
            neighbours.append(labels)
    neighbours.sort(key=lambda labels: sorted(map(str, labels.items())))  # fix the order
    nodes: dict[str, _Labels] = {"event": event, "here": here}
    edges = [("event", "here", "after")]
    for number, labels in enumerate(neighbours, 1):
        nodes[f"neighbour {number}"] = labels
        edges.append(("here", f"neighbour {number}", "edge"))
    return GroundingGraph(nodes, edges, roles=nodes)


def _item(maze: Maze, position: Position) -> _Labels:
    item = maze.item(position)
    return {"has-item": True, "item": item} if item else {}


def rich_graph(
    maze: Maze, before: MazeState, action: MazeAction, after: MazeState, *, by_action: bool = True
) -> GroundingGraph:
    """Return the graph of an action, with its destination as seen by the agent.

    The nodes are:

    - `event`: the kind of action, the turn and the distance;
    - `here`: the item at the destination;
    - `front`, `left`, `right` and `back`: whether there is a hall, its floor, wall and adjacent
      item, and values visible further away;
    - `path`, for a move: the halls and items passed;
    - `around`, if the orientation stays unknown: all halls.

    The action `face` has no angle, because its direction is absolute. Distant things are
    described by values, which words must match, and not by indicators. An indicator can be joined
    with any word, so the model would memorise the mazes. Indicators for the shape of a place are
    added only after `stay`, where there is nothing else to describe. With `by_action`, labels of
    places have a prefix for the kind of action (see `MazeEnvironment`).

    >>> from groundling.tasks.mazes import rotate
    >>> maze = Maze("Two", {(0, 0): "", (1, 0): "lamp"}, [((0, 0), (1, 0), "wood", "fish")])
    >>> graph = rich_graph(maze, MazeState((0, 0), 0), rotate(90), MazeState((0, 0), 90))
    >>> [str(label) for label in graph.labels("event")]
    ['rotate', 'rotate-right']
    >>> [str(label) for label in graph.labels("front")]
    ['t:end:item=lamp', 't:floor=wood', 't:hall-length=1', 't:item=lamp', 't:open',
     't:sees:item=lamp', 't:wall=fish']
    """
    still = action.kind == "stay"
    prefix = _PREFIXES[action.kind] if by_action else ""
    position, orientation, _ = after

    def part(labels: _Labels) -> _Labels:
        return {prefix + label: value for label, value in labels.items()}

    here = _here(maze, position) | (_junction(maze, position) if still else {})
    nodes: dict[str, _Labels] = {"event": _event(action), "here": part(here)}
    edges = [("event", "here", "to")]
    if orientation is None:
        around = _merge(_view(maze, position, each, still) for each in DIRECTIONS)
        nodes["around"] = part(around)
        edges.append(("here", "around", "around"))
    else:
        for side, turn in SIDES.items():
            nodes[side] = part(_view(maze, position, (orientation + turn) % 360, still))
            edges.append(("here", side, side))
        if action.kind == "move":
            nodes["path"] = part(_path(maze, before.position, orientation, action.amount))
            edges.append(("event", "path", "along"))
    return GroundingGraph(nodes, edges, roles=nodes)


def _event(action: MazeAction) -> _Labels:
    event: _Labels = {action.kind: True}
    if action.kind == "move":
        event["distance"] = action.amount
    elif action.kind == "rotate":
        event[_TURN_NAMES[action.amount]] = True
    return event


def _here(maze: Maze, position: Position) -> _Labels:
    halls = [maze.hall(position, each) for each in maze.exits(position)]
    return {
        "item": maze.item(position) or None,
        "floor": {hall.floor for hall in halls if hall},
        "halls": len(halls),
    }


def _view(maze: Maze, position: Position, direction: int, still: bool) -> _Labels:
    """Return the labels of a direction: the adjacent hall, and what is visible beyond."""
    hall = maze.hall(position, direction)
    if hall is None:
        return {"blocked": True}
    line = maze.ahead(position, direction)
    sides = ((direction + 90) % 360, (direction + 270) % 360)
    crossing = (maze.hall(place, side) for place in line for side in sides)
    return {
        "open": True,
        "floor": hall.floor,
        "wall": hall.wall,
        "item": maze.item(line[0]) or None,
        "sees:item": {maze.item(place) for place in line if maze.item(place)},
        "sees:floor": {each.floor for each in crossing if each},
        "hall-length": len(line),
        "end:item": maze.item(line[-1]) or None,
        "dead-end": still and len(maze.exits(line[-1])) == 1,
    }


def _junction(maze: Maze, position: Position) -> _Labels:
    exits = maze.exits(position)
    straight = len(exits) == 2 and (exits[1] - exits[0]) == 180
    return {
        "dead-end": len(exits) == 1,
        "corridor": straight,
        "corner": len(exits) == 2 and not straight,
        "intersection": len(exits) >= 3,
        "crossing": len(exits) == 4,
    }


def _path(maze: Maze, start: Position, direction: int, distance: int) -> _Labels:
    """Return the labels of a move: halls, items and side openings passed."""
    line = maze.ahead(start, direction)
    walked = (start, *line[:distance])
    halls = [hall for place in walked[:-1] if (hall := maze.hall(place, direction))]
    left, right = (direction + 270) % 360, (direction + 90) % 360
    ways = {
        "lefts": sum(maze.hall(place, left) is not None for place in walked[1:]),
        "rights": sum(maze.hall(place, right) is not None for place in walked[1:]),
        "intersections": sum(len(maze.exits(place)) >= 3 for place in walked[1:]),
    }
    item = maze.item(walked[-1])
    sides = [
        {hall.floor for side in (left, right) if (hall := maze.hall(place, side))}
        for place in walked[1:]
    ]
    beyond = [maze.item(place) for place in line[distance:] if maze.item(place)]
    return {
        **ways,
        "floor": {hall.floor for hall in halls},
        "wall": {hall.wall for hall in halls},
        "first:floor": halls[0].floor,
        "last:floor": halls[-1].floor,
        "passed:item": {maze.item(place) for place in walked[1:-1] if maze.item(place)},
        "first:item": item if item and item not in map(maze.item, walked[1:-1]) else None,
        "first-side:floor": sides[-1] - set().union(*sides[:-1]),
        "beyond:item": set(beyond),
    }


def _merge(views: Iterable[_Labels]) -> _Labels:
    merged: dict[str, set[str]] = {}
    for labels in views:
        for name, value in labels.items():
            if isinstance(value, str):
                merged.setdefault(name, set()).add(value)
            elif isinstance(value, set):
                merged.setdefault(name, set()).update(value)
    return dict(merged)
