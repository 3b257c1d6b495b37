"""Grounding graphs of strikes: the event, its lines, its part, and the strike before."""

from __future__ import annotations

from functools import lru_cache

from groundling.tasks.puzzles.board import Board, Orientation, Strike
from groundling.world.graph import GroundingGraph, LabelValue

__all__ = ["ground_fully", "ground_like_paper"]

ENDS: dict[Orientation, tuple[str, str]] = {"row": ("top", "bottom"), "column": ("left", "right")}
WAYS: dict[Orientation, tuple[str, str]] = {"row": ("up", "down"), "column": ("left", "right")}
MOST_LINES = 2  # people name up to two lines one by one; of more they say how many

_Labels = dict[str, "LabelValue | list[str] | list[float]"]


@lru_cache(maxsize=4096)
def ground_like_paper(action: Strike, lost: bool) -> GroundingGraph:
    """Return one node with what the paper's authors used: type, orientation and loss.

    >>> print(ground_like_paper(Strike("row", (1, 2)), lost=False))
    event*: orientation=row, type=multi
    """
    return GroundingGraph(
        {"event": {"type": action.kind, "orientation": action.orientation, "isLoss": lost}}
    )


@lru_cache(maxsize=4096)
def _orderings(board: Board, k: int, orientation: Orientation) -> dict[str, tuple[int, ...]]:
    """Return the lines that people count: all, those with blocks, and those one can strike."""
    counts = board.counts[orientation]
    return {
        "all": tuple(range(len(counts))),
        "filled": tuple(line for line, n in enumerate(counts) if n),
        "strikable": tuple(line for line, n in enumerate(counts) if n >= k),
    }


@lru_cache(maxsize=16384)
def _line_labels(board: Board, k: int, orientation: Orientation, line: int) -> _Labels:
    """Return where a line lies among all lines of several kinds, and how many blocks it has."""
    counts = board.counts[orientation]
    start, end = ENDS[orientation]
    alike = tuple(other for other, n in enumerate(counts) if n == counts[line])
    labels: _Labels = {"orientation": orientation, "blocks": counts[line], "line": line + 1}
    for name, lines in {**_orderings(board, k, orientation), "alike": alike}.items():
        if line not in lines:
            continue
        place, size = lines.index(line), len(lines)
        labels[f"{name}.from_{start}"] = place + 1
        labels[f"{name}.from_{end}"] = size - place
        labels[f"{name}.side"] = _side((place,), size, start, end)
        if name != "all":
            labels[f"{name}.only"] = size == 1
    return labels


def _side(places: tuple[int, ...], size: int, start: str, end: str) -> str | None:
    """Name where a run of places lies among `size`: at an end, in the middle, at both ends."""
    first, last = places[0], places[-1]
    if size == len(places):
        return None
    if last - first + 1 == len(places):
        if first == 0:
            return start
        if last == size - 1:
            return end
        return "middle" if abs(first - (size - 1 - last)) <= 1 else None
    return "ends" if first == 0 and last == size - 1 and len(places) == 2 else None


def ground_fully(
    board: Board,
    k: int,
    last: Strike | None,
    action: Strike,
    after: Board,
    lost: bool,
    dead: bool,
) -> GroundingGraph:
    """Return the graph of a strike, with labels that words for numbers and sides can match.

    Nodes are the event, each of up to two lines it strikes (from the top or the left), the
    part of the line when it does not strike all of it, and the strike before. `filled.from_left=2`
    counts the columns that have blocks from the left; `all`, `strikable` and `alike`
    (with as many blocks) count others.

    >>> board = Board.read(["###", "##.", "#.."])
    >>> row = Strike("row", (1,))
    >>> graph = ground_fully(board, 2, None, row, board, lost=False, dead=True)
    >>> print(*graph.labels("event"), sep=", ")
    all.side=middle, blocks=2, count=1, dead_end, filled.side=middle, first, number=singular, only,
    orientation=row, strikable.side=bottom, type=single
    """
    orientation, lines = action.orientation, action.lines
    counts = board.counts[orientation]
    start, end = ENDS[orientation]
    rivals = tuple(line for line, n in enumerate(counts) if (n == k if action.is_full else n > k))
    event: _Labels = {
        "type": action.kind,
        "orientation": orientation,
        "count": len(lines),
        "number": "singular" if len(lines) == 1 else "plural",
        "blocks": k,
        "of": None if action.is_full else counts[lines[0]],
        "all": len(lines) == len(rivals) > 1,
        "only": len(lines) == len(rivals) == 1,
        "some": len(lines) < len(rivals),
        "win": not after.cells,
        "loss": lost,
        "dead_end": dead,
        "first": last is None,
    }
    for name, among in (*_orderings(board, k, orientation).items(), ("alike", rivals)):
        if all(line in among for line in lines):
            places = tuple(among.index(line) for line in lines)
            event[f"{name}.side"] = _side(places, len(among), start, end)
    nodes: dict[str, _Labels] = {"event": event}
    edges: list[tuple[str, str, str]] = []
    named = lines if len(lines) <= MOST_LINES else ()
    for number, line in enumerate(named, 1):
        name = f"line {number}"
        nodes[name] = _line_labels(board, k, orientation, line)
        edges.append(("event", name, "strikes"))
        if number > 1:
            edges.append((f"line {number - 1}", name, "and"))
    if not action.is_full:
        nodes["part"] = _part_labels(board, k, action)
        edges += [("event", "part", "takes"), ("part", "line 1", "of")]
    if last is not None:
        nodes["before"] = _history_labels(last, action, rivals)
        edges.append(("event", "before", "after"))
        if named:
            edges.append(("line 1", "before", "beside"))
    return GroundingGraph(nodes, edges)


def _part_labels(board: Board, k: int, action: Strike) -> _Labels:
    """Return which blocks of its line a partial strike takes, counted among the blocks."""
    across: Orientation = "column" if action.orientation == "row" else "row"
    start, end = ENDS[across]
    places = board.places(action.orientation, action.lines[0])
    first = places.index(action.first) if action.first is not None else 0
    return {
        "blocks": k,
        "of": len(places),
        "side": _side(tuple(range(first, first + k)), len(places), start, end),
        f"from_{start}": first + 1,
        f"from_{end}": len(places) - first - k + 1,
    }


def _history_labels(last: Strike, action: Strike, rivals: tuple[int, ...]) -> _Labels:
    """Return how a strike relates to the one before: other line, next line, which way."""
    labels: _Labels = {
        "type": last.kind,
        "orientation": "same" if last.orientation == action.orientation else "other",
        "like": last.kind == action.kind and last.orientation == action.orientation,
    }
    if last.orientation != action.orientation:
        return labels
    labels["again"] = action.lines == last.lines
    if action.lines == last.lines:
        return labels
    backward, forward = WAYS[action.orientation]
    ahead = action.lines[0] > last.lines[-1]
    behind = action.lines[-1] < last.lines[0]
    labels["way"] = forward if ahead else backward if behind else None
    # the nearest line, in that direction, that could be struck in the same manner
    if ahead:
        between = [line for line in rivals if last.lines[-1] < line < action.lines[0]]
    else:
        between = [line for line in rivals if action.lines[-1] < line < last.lines[0]]
    labels["next"] = (ahead or behind) and not between
    labels["adjacent"] = (ahead and action.lines[0] - last.lines[-1] == 1) or (
        behind and last.lines[0] - action.lines[-1] == 1
    )
    labels["other"] = len(action.lines) == 1 and not set(rivals) - set(action.lines + last.lines)
    return labels
