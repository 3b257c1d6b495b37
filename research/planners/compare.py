"""Compare the planner with plain searches, with and without hints: nodes and seconds.

`python -m research.planners.compare --out results.json` prints and saves a table for each size of
board, with the number of boards after which each puzzle was solved. The limit of a search is a
number of boards, not of seconds, so that the results do not depend on the machine. With `--stress`,
only the planner runs, on boards of every kind and with a time limit.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from groundling.files import write_atomically
from groundling.tasks.puzzles.board import Board
from groundling.tasks.puzzles.corpus import Puzzle, read_corpus
from groundling.tasks.puzzles.generator import generate_puzzle
from groundling.tasks.puzzles.planner import Planner, SearchBudget, Verdict, is_winnable
from research.planners.searches import beam_search, depth_first, read_hints, widening_beam

__all__ = ["compare", "main", "spoil", "stress", "summarise"]

_PLACES = ("corpus", "out")  # do not store the path of the folder
Search = Callable[[Puzzle, SearchBudget], Verdict]


def _beam(width: int | None, reads: bool) -> Search:
    def run(puzzle: Puzzle, budget: SearchBudget) -> Verdict:
        guide = read_hints(puzzle.hints) if reads else None
        if width is None:
            return widening_beam(puzzle.board, puzzle.k, budget, guide=guide)
        return beam_search(puzzle.board, puzzle.k, budget, width=width, guide=guide)

    return run


def _searches(widths: Iterable[int]) -> dict[str, Search]:
    searches: dict[str, Search] = {
        "planner": lambda puzzle, budget: Planner().solve(puzzle.board, puzzle.k, budget),
        "depth-first": lambda puzzle, budget: depth_first(puzzle.board, puzzle.k, budget),
    }
    for width in (*widths, None):
        name = "widening beam" if width is None else f"beam {width}"
        searches[name] = _beam(width, reads=False)
        searches[f"{name} with hints"] = _beam(width, reads=True)
    return searches


def compare(
    puzzles: Iterable[Puzzle], budget: SearchBudget, *, widths: Sequence[int] = (10,)
) -> list[dict[str, Any]]:
    """Return one record for each run of a search on a puzzle.

    >>> runs = compare([generate_puzzle(3, 3, 2, seed=1)], SearchBudget(nodes=1000), widths=[9])
    >>> sorted({run["status"] for run in runs}), len(runs)
    (['solved'], 6)
    """
    is_winnable(Board(1, 1, 1), 1)  # a first call, so that the times do not include compilation
    runs = []
    for puzzle in puzzles:
        for name, search in _searches(widths).items():
            began = time.process_time()
            verdict = search(puzzle, budget)
            seconds = time.process_time() - began
            runs.append(
                {
                    "search": name,
                    "puzzle": puzzle.number,
                    "size": f"{puzzle.board.height}×{puzzle.board.width}",
                    "k": puzzle.k,
                    "status": verdict.status,
                    "nodes": verdict.nodes,
                    "seconds": round(seconds, 5),
                }
            )
    return runs


def summarise(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the share solved and median boards and seconds, for each size and search.

    `solved after` lists the boards expanded for each puzzle that was solved.

    >>> runs = [{"search": "beam", "size": "3×3", "status": "solved", "nodes": 9, "seconds": 0.1}]
    >>> summarise(runs)[0]["solved"], summarise(runs)[0]["solved after"]
    (1.0, [9])
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["size"], run["search"]), []).append(run)
    rows = []
    for (size, name), group in groups.items():
        solved = [run["nodes"] for run in group if run["status"] == "solved"]
        rows.append(
            {
                "size": size,
                "search": name,
                "puzzles": len(group),
                "solved": len(solved) / len(group),
                "median nodes": statistics.median(run["nodes"] for run in group),
                "median seconds": statistics.median(run["seconds"] for run in group),
                "most seconds": max(run["seconds"] for run in group),
                "solved after": sorted(solved),
            }
        )
    return rows


def spoil(board: Board, rng: random.Random, moved: int = 2) -> Board:
    """Return a board with a few blocks moved to holes, which often has no solution.

    >>> board = Board.read(["##", ".."])
    >>> spoil(board, random.Random(0)).blocks
    2
    """
    cells = board.cells
    for _ in range(moved):
        places = range(board.height * board.width)
        blocks = [place for place in places if cells >> place & 1]
        holes = [place for place in places if not cells >> place & 1]
        if blocks and holes:
            cells ^= 1 << rng.choice(blocks) | 1 << rng.choice(holes)
    return Board(board.height, board.width, cells)


def stress(
    sides: Iterable[int], each: int, budget: SearchBudget, seed: int = 0
) -> list[dict[str, Any]]:
    """Return counts of the planner's verdicts on solvable and changed boards of many kinds.

    >>> rows = stress([4], each=1, budget=SearchBudget(nodes=1000))
    >>> sum(row["budget exhausted"] for row in rows)
    0
    """
    is_winnable(Board(1, 1, 1), 1)
    rows = []
    for side in sides:
        for k in range(2, side + 1):
            for kind in ("solvable", "spoiled"):
                verdicts, seconds = [], []
                for number in range(each):
                    rng = random.Random(f"{seed} {side} {k} {number}")
                    board = generate_puzzle(
                        *(side, side, k), seed=rng.randrange(2**32), density=rng.uniform(0.3, 1.0)
                    ).board
                    if kind == "spoiled":
                        board = spoil(board, rng)
                    began = time.process_time()
                    verdicts.append(Planner().solve(board, k, budget))
                    seconds.append(time.process_time() - began)
                counts = {
                    status: sum(verdict.status == status for verdict in verdicts)
                    for status in ("solved", "unsolvable", "budget exhausted")
                }
                rows.append(
                    {
                        "side": side,
                        "k": k,
                        "kind": kind,
                        **counts,
                        "most nodes": max(verdict.nodes for verdict in verdicts),
                        "most seconds": round(max(seconds), 4),
                    }
                )
    return rows


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sides", type=int, nargs="+", default=[4, 6, 8, 10, 12])
    parser.add_argument("--each", type=int, default=10, help="number of puzzles of each size")
    parser.add_argument("--corpus", help="folder of a corpus, whose puzzles are compared too")
    parser.add_argument("--widths", type=int, nargs="+", default=[10], help="widths of the beams")
    parser.add_argument("--nodes", type=int, default=10_000, help="boards to expand in a run")
    parser.add_argument("--stress", type=int, default=0, help="boards of each kind to test")
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit with --stress")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", help="a JSON file for the results")
    settings = parser.parse_args(arguments)
    puzzles = []
    for side in settings.sides:
        for number in range(settings.each):
            rng = random.Random(f"{settings.seed} {side} {number}")
            k = rng.randint(2, max(2, 2 * side // 3))
            seed = rng.randrange(2**32)
            puzzles.append(generate_puzzle(side, side, k, seed=seed, number=number + 1))
    limit = SearchBudget(settings.nodes, seconds=None)
    runs = compare(puzzles, limit, widths=settings.widths)
    if settings.corpus:
        usable = read_corpus(settings.corpus).usable
        known = compare(usable, limit, widths=settings.widths)
        runs += [{**run, "size": "corpus"} for run in known]
    table = summarise(runs)
    print(
        f"{'boards':8}{'search':26}{'solved':>8}{'median nodes':>14}{'median s':>11}{'most s':>9}"
    )
    for row in table:
        print(
            f"{row['size']:8}{row['search']:26}{row['solved']:8.0%}{row['median nodes']:14,.0f}"
            f"{row['median seconds']:11.4f}{row['most seconds']:9.3f}"
        )
    tested = []
    if settings.stress:
        budget = SearchBudget(seconds=settings.seconds)
        tested = stress(settings.sides, settings.stress, budget, settings.seed)
    for line in tested:
        print(
            f"{line['side']}×{line['side']} k={line['k']} {line['kind']}: {line['solved']} solved, "
            f"{line['unsolvable']} unsolvable, {line['budget exhausted']} out of budget; at most "
            f"{line['most nodes']:,} nodes, {line['most seconds']:.2f} s"
        )
    megabytes = _peak_memory()
    print(f"peak memory {megabytes} MB")
    if settings.out:
        results = {
            "settings": {
                name: value for name, value in vars(settings).items() if name not in _PLACES
            },
            "summary": table,
            "stress": tested,
            "peak memory, MB": megabytes,
        }
        write_atomically(Path(settings.out), _compact(results))


def _compact(results: dict[str, Any]) -> str:
    """Return results as JSON with a line for each row."""
    parts = []
    for name, value in results.items():
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value)
            parts.append(f'"{name}": [\n  {rows}\n ]')
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
