"""Grounding graphs of strikes: event, lines, part, and previous strike."""

from __future__ import annotations

from functools import lru_cache

from groundling.tasks.puzzles.board import Board, Orientation, Strike
from groundling.world.graph import GroundingGraph, Label, LabelValue, labels_of

ENDS: dict[Orientation, tuple[str, str]] = {"row": ("top", "bottom"), "column": ("left", "right")}
WAYS: dict[Orientation, tuple[str, str]] = {"row": ("up", "down"), "column": ("left", "right")}
MOST_LINES = 2  # speakers name up to two lines individually and only count more lines

_Labels = dict[str, "LabelValue | list[str] | list[float]"]


@lru_cache(maxsize=4096)
def ground_like_paper(action: Strike, lost: bool) -> GroundingGraph:
    """Return the graph of the paper, which has a single node.

    Its labels are the type and the orientation of the strike and, if the strike loses the game,
    `isLoss`.

    >>> print(ground_like_paper(Strike("row", (1, 2)), lost=False))
    event*: orientation=row, type=multi
    """
    return GroundingGraph(
        {"event": {"type": action.kind, "orientation": action.orientation, "isLoss": lost}},
        roles=("event",),
    )


@lru_cache(maxsize=4096)
def _orderings(counts: tuple[int, ...], k: int) -> dict[str, tuple[int, ...]]:
    """Return the lines that people may count: all, filled ones, or strikable ones."""
    return {
        "all": tuple(range(len(counts))),
        "filled": tuple(line for line, n in enumerate(counts) if n),
        "strikable": tuple(line for line, n in enumerate(counts) if n >= k),
    }


@lru_cache(maxsize=16384)
def _line_labels(
    counts: tuple[int, ...], k: int, orientation: Orientation, line: int
) -> tuple[Label, ...]:
    """Return the labels of a line: its number in each way of counting, and its blocks."""
    start, end = ENDS[orientation]
    alike = tuple(other for other, n in enumerate(counts) if n == counts[line])
    labels: _Labels = {"orientation": orientation, "blocks": counts[line], "line": line + 1}
    for name, lines in {**_orderings(counts, k), "alike": alike}.items():
        if line not in lines:
            continue
        place, size = lines.index(line), len(lines)
        labels[f"{name}.from_{start}"] = place + 1
        labels[f"{name}.from_{end}"] = size - place
        labels[f"{name}.side"] = _side((place,), size, start, end)
        if name != "all":
            labels[f"{name}.only"] = size == 1
    return labels_of(labels)


def _side(places: tuple[int, ...], size: int, start: str, end: str) -> str | None:
    """Return where on a line positions are: at an end, in the middle, or at both ends."""
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


# Cached, because there are few distinct arguments.
@lru_cache(maxsize=16384)
def _event_labels(
    orientation: Orientation,
    count: int,
    k: int,
    of: int | None,
    candidates: int,
    facts: tuple[bool, bool, bool, bool],
    sides: tuple[str | None, ...],
) -> tuple[Label, ...]:
    win, lost, dead, first = facts
    labels: _Labels = {
        "type": "partial" if of is not None else "single" if count == 1 else "multi",
        "orientation": orientation,
        "count": count,
        "number": "singular" if count == 1 else "plural",
        "blocks": k,
        "of": of,
        "all": count == candidates > 1,
        "only": count == candidates == 1,
        "some": count < candidates,
        "win": win,
        "loss": lost,
        "dead_end": dead,
        "first": first,
    }
    for name, side in zip(("all", "filled", "strikable", "alike"), sides, strict=True):
        labels[f"{name}.side"] = side
    return labels_of(labels)


def ground_fully(
    board: Board, k: int, last: Strike | None, action: Strike, after: Board, lost: bool, dead: bool
) -> GroundingGraph:
    """Return the graph of a strike, with labels for numbers, sides and history.

    The nodes are the event, up to two struck lines (from the top or the left), the part of the line
    for a partial strike, and the previous strike. A label such as `filled.from_left=2` means the
    second column from the left, counting only columns with blocks. `all` counts all lines,
    `strikable` those that can be struck, and `alike` those with the same number of blocks.

    >>> from groundling.tasks.puzzles.board import strike
    >>> board, row = Board.read(["###", "##.", "#.."]), Strike("row", (1,))
    >>> after = strike(board, 2, row)
    >>> graph = ground_fully(board, 2, None, row, after, lost=False, dead=True)
    >>> print(*graph.labels("event"), sep=", ")
    all.side=middle, blocks=2, count=1, dead_end, filled.side=middle, first, number=singular, only,
    orientation=row, strikable.side=bottom, type=single
    """
    orientation, lines = action.orientation, action.lines
    counts = board.counts[orientation]
    start, end = ENDS[orientation]
    candidates = tuple(
        line for line, n in enumerate(counts) if (n == k if action.is_full else n > k)
    )
    sides = []
    for among in (*_orderings(counts, k).values(), candidates):
        side = None
        if all(line in among for line in lines):
            side = _side(tuple(among.index(line) for line in lines), len(among), start, end)
        sides.append(side)
    of = None if action.is_full else counts[lines[0]]
    facts = (not after.cells, lost, dead, last is None)
    event = _event_labels(orientation, len(lines), k, of, len(candidates), facts, tuple(sides))
    nodes: dict[str, tuple[Label, ...]] = {"event": event}
    edges: list[tuple[str, str, str]] = []
    named = lines if len(lines) <= MOST_LINES else ()
    for number, line in enumerate(named, 1):
        name = f"line {number}"
        nodes[name] = _line_labels(counts, k, orientation, line)
        edges.append(("event", name, "strikes"))
        if number > 1:
            edges.append((f"line {number - 1}", name, "and"))
    if not action.is_full:
        places = board.places(orientation, lines[0])
        nodes["part"] = _part_labels(orientation, k, len(places), places.index(action.first))
        edges += [("event", "part", "takes"), ("part", "line 1", "of")]
    if last is not None:
        nodes["before"] = _history_labels(last, action, candidates)
        edges.append(("event", "before", "after"))
        if named:
            edges.append(("line 1", "before", "beside"))
    return GroundingGraph(nodes, edges, roles=nodes)


@lru_cache(maxsize=4096)
def _part_labels(orientation: Orientation, k: int, size: int, first: int) -> tuple[Label, ...]:
    """Return labels for the position of a partial strike, counted in blocks."""
    start, end = ENDS["column" if orientation == "row" else "row"]
    labels: _Labels = {
        "blocks": k,
        "of": size,
        "side": _side(tuple(range(first, first + k)), size, start, end),
        f"from_{start}": first + 1,
        f"from_{end}": size - first - k + 1,
    }
    return labels_of(labels)


@lru_cache(maxsize=16384)
def _history_labels(last: Strike, action: Strike, candidates: tuple[int, ...]) -> tuple[Label, ...]:
    """Return labels for the position of a strike relative to the previous strike."""
    labels: _Labels = {
        "type": last.kind,
        "orientation": "same" if last.orientation == action.orientation else "other",
        "like": last.kind == action.kind and last.orientation == action.orientation,
    }
    if last.orientation != action.orientation:
        return labels_of(labels)
    labels["again"] = action.lines == last.lines
    if action.lines == last.lines:
        return labels_of(labels)
    backward, forward = WAYS[action.orientation]
    ahead = action.lines[0] > last.lines[-1]
    behind = action.lines[-1] < last.lines[0]
    labels["way"] = forward if ahead else backward if behind else None
    # lines in between that could have been struck in the same way
    if ahead:
        between = [line for line in candidates if last.lines[-1] < line < action.lines[0]]
    else:
        between = [line for line in candidates if action.lines[-1] < line < last.lines[0]]
    labels["next"] = (ahead or behind) and not between
    labels["adjacent"] = (ahead and action.lines[0] - last.lines[-1] == 1) or (
        behind and last.lines[0] - action.lines[-1] == 1
    )
    labels["other"] = len(action.lines) == 1 and not set(candidates) - set(
        action.lines + last.lines
    )
    return labels_of(labels)
