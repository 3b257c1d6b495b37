"""Reader and writer of the puzzle corpus: boards, solutions and hints."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from groundling.corpora.markup import read_lines
from groundling.errors import CorpusError, WorldError
from groundling.limits import BOARD_LINES
from groundling.tasks.puzzles.board import (
    Board,
    Orientation,
    Strike,
    collapse,
    expand,
    strike,
    struck_cells,
)
from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState
from groundling.world import Demonstration
from groundling.world.environment import shorten

GAMES, SOLUTIONS, HINTS = "games.csv", "annotations.txt", "instructions.bgm"
_STRIKE = re.compile(r"([rc]):([0-9]{1,9})(?::([0-9]{1,9}):([0-9]{1,9}))?")


@dataclass(frozen=True)
class Puzzle:
    """A puzzle with its solution and hints.

    Parameters
    ----------
    number
        The number of the puzzle in its corpus.
    board, k
        The board, and the number of blocks that a strike removes.
    plan
        A solution, in which consecutive full strikes of one orientation are joined. Empty if
        unknown.
    text
        The hints, as words separated by spaces; empty if there are none.

    Examples
    --------
    >>> board, plan = Board.read(["##", "##"]), (Strike("row", (0, 1)),)
    >>> puzzle = Puzzle(number=1, board=board, k=2, plan=plan, text="the two rows .")
    >>> puzzle.is_usable, puzzle.hints
    (True, ('the two rows .',))
    """

    number: int
    board: Board
    k: int
    plan: tuple[Strike, ...] = ()
    text: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether the puzzle has both a solution and hints."""
        return bool(self.plan and self.text)

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints in the text, found by `split_hints`."""
        return split_hints(self.text)

    @property
    def start(self) -> PuzzleState:
        """Initial state of the puzzle."""
        return PuzzleState(self.board, self.k)

    def demonstration(self, environment: PuzzleEnvironment) -> Demonstration:
        """Return the hints and the solution as a demonstration."""
        return Demonstration(
            self.hints, environment, self.start, self.plan, name=f"puzzle {self.number}"
        )


@dataclass(frozen=True)
class PuzzleCorpus:
    """The puzzles of a corpus, ordered by number.

    >>> puzzle = Puzzle(number=7, board=Board.read(["##"]), k=2)
    >>> corpus = PuzzleCorpus((puzzle,))
    >>> corpus[7] is puzzle, len(corpus), corpus.usable
    (True, 1, ())
    """

    puzzles: tuple[Puzzle, ...]

    @property
    def usable(self) -> tuple[Puzzle, ...]:
        """Puzzles that have both a solution and hints."""
        return tuple(each for each in self.puzzles if each.is_usable)

    def __getitem__(self, number: int) -> Puzzle:
        for puzzle in self.puzzles:
            if puzzle.number == number:
                return puzzle
        raise CorpusError(
            f"The number of a puzzle must be one of {[each.number for each in self.puzzles]}; got "
            f"{number}."
        )

    def __iter__(self) -> Iterator[Puzzle]:
        return iter(self.puzzles)

    def __len__(self) -> int:
        return len(self.puzzles)


def split_hints(text: str) -> tuple[str, ...]:
    """Return the hints in a text, split at commas and at *then*.

    If *then* follows a comma, the text is split only at the comma.

    >>> split_hints("strike the row then the column , then both rows .")
    ('strike the row', 'the column', 'then both rows .')
    """
    return tuple(part.strip() for part in re.split(r" , | then ", text) if part.strip())


def read_corpus(folder: str | Path) -> PuzzleCorpus:
    """Return the puzzles in a corpus folder.

    The files of a corpus are `games.csv`, `annotations.txt` and `instructions.bgm`.

    Raises `CorpusError`, with the line number, for ragged boards, strikes against the rules,
    incomplete solutions, and hints without a puzzle.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_corpus([Puzzle(1, Board.read(["##"]), 2, text="the row .")], folder)
    ...     read_corpus(folder)[1].hints
    ('the row .',)
    """
    where = Path(folder)
    games = dict(_read_games(where / GAMES))
    plans = dict(_read_solutions(where / SOLUTIONS, games))
    texts = dict(_read_hints(where / HINTS, games))
    return PuzzleCorpus(
        tuple(
            Puzzle(number, board, k, plans.get(number, ()), texts.get(number, ""))
            for number, (board, k) in sorted(games.items())
        )
    )


def _paragraphs(path: Path) -> Iterator[list[tuple[int, str]]]:
    """Yield the paragraphs of a file as lists of numbered lines."""
    if not path.exists():
        raise CorpusError(
            f"{path} does not exist: a puzzle corpus is a folder with {GAMES}, {SOLUTIONS} and "
            f"{HINTS}. Pass the path of this folder."
        )
    lines = ((number, line.strip()) for number, line in enumerate(read_lines(path), 1))
    for has_words, block in groupby(lines, key=lambda each: bool(each[1])):
        if has_words:
            yield list(block)


def _number(path: Path, line: int, text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise CorpusError(
            f"{path}, line {line}: {what} must be a whole number; got {shorten(text)}."
        )
    return int(text)


def _of_puzzle(path: Path, line: int, text: str, games: Collection[int], seen: set[int]) -> int:
    """Return a puzzle's number; raise an error if it is unknown or in `seen`."""
    number = _number(path, line, text, "the number of a puzzle")
    if number not in games or number in seen:
        wrong = "is a duplicate" if number in seen else f"is not in {GAMES}"
        raise CorpusError(
            f"{path}, line {line}: puzzle {number} {wrong}. Remove or renumber this entry."
        )
    seen.add(number)
    return number


def _read_games(path: Path) -> Iterator[tuple[int, tuple[Board, int]]]:
    seen: set[int] = set()
    for block in _paragraphs(path):
        line, text = block[0]
        number = _number(path, line, text, "the number of a puzzle")
        if number in seen:
            raise CorpusError(
                f"{path}, line {line}: the numbers of puzzles must be unique; got "
                f"{number} twice. Remove one puzzle."
            )
        seen.add(number)
        if len(block) < 3 or not block[1][1].startswith(":"):
            raise CorpusError(
                f"{path}, line {line}: the number of puzzle {number} must be followed by a "
                "line such as ':3' (the number of blocks in a strike) and by the rows of the board."
            )
        k = _number(path, block[1][0], block[1][1][1:], "the number of blocks in a strike")
        rows = [text for _, text in block[2:]]
        widths = ["".join(row.split()) for row in rows]
        where = f"{path}, line {line}: the board of puzzle {number}"
        BOARD_LINES.check(max(len(rows), len(widths[0])), CorpusError, where)
        for at, row in zip(block[2:], widths, strict=True):
            if len(row) != len(widths[0]) or set(row) - {"#", "."}:
                raise CorpusError(
                    f"{path}, line {at[0]}: a row of puzzle {number} must have "
                    f"{len(widths[0])} marks, '#' for a block and '.' for a hole; got "
                    f"{shorten(at[1])}."
                )
        board = Board.read(rows)
        if not 1 <= k <= max(board.height, board.width):
            raise CorpusError(
                f"{path}, line {block[1][0]}: the number of blocks in a strike of puzzle {number} "
                f"must be from 1 to {max(board.height, board.width)}; got {k}."
            )
        yield number, (board, k)
    if not seen:
        raise CorpusError(
            f"{path} must contain at least one puzzle; got none. Download the corpus again."
        )


def _read_solutions(
    path: Path, games: dict[int, tuple[Board, int]]
) -> Iterator[tuple[int, tuple[Strike, ...]]]:
    seen: set[int] = set()
    for block in _paragraphs(path):
        line, text = block[0]
        number = _of_puzzle(path, line, text, games, seen)
        if len(block) == 1:
            continue  # a puzzle without a solution
        board, k = games[number]
        strikes = []
        for at, written in block[1:]:
            try:
                action = _read_strike(board, k, written)
                board = strike(board, k, action)
            except WorldError as error:
                raise CorpusError(
                    f"{path}, line {at}: the strike {shorten(written)} of puzzle {number} must "
                    f"follow the rules. {error} Correct the strike, or the board in {GAMES}."
                ) from None
            strikes.append(action)
        if board.cells:
            raise CorpusError(
                f"{path}, line {block[-1][0]}: the solution of puzzle {number} must leave no "
                f"blocks on the board; got {board.blocks}. Add the missing strikes, or remove "
                "the solution."
            )
        yield number, collapse(strikes)


def _read_strike(board: Board, k: int, written: str) -> Strike:
    found = _STRIKE.fullmatch(written)
    if not found:
        raise WorldError(
            "A strike must be r:LINE for a row, c:LINE for a column, or r:LINE:FIRST:LAST "
            "or c:LINE:FIRST:LAST for part of a line; got {written!r:.40}."
        )
    orientation: Orientation = "row" if found[1] == "r" else "column"
    line = int(found[2])
    if line >= board.size(orientation):
        raise WorldError(
            f"The number of a {orientation} on this board must be from 0 to "
            f"{board.size(orientation) - 1}; got {line}."
        )
    if found[3] is None:
        return Strike(orientation, (line,))
    part = Strike(orientation, (line,), int(found[3]), int(found[4]))
    struck = struck_cells(board, part)
    if struck == board.cells & board.mask(orientation, line) and struck.bit_count() == k:
        return Strike(orientation, (line,))
    # the ends may be holes; only blocks are counted
    places = [p for p in board.places(orientation, line) if int(found[3]) <= p <= int(found[4])]
    return Strike(orientation, (line,), places[0], places[-1]) if places else part


def _read_hints(path: Path, games: dict[int, tuple[Board, int]]) -> Iterator[tuple[int, str]]:
    seen: set[int] = set()
    for block in _paragraphs(path):
        heads = [text for _, text in block[:2]]
        line = block[0][0]
        if len(heads) < 2 or heads[0][:2] != "# " or heads[1] != "@ " + heads[0][2:]:
            raise CorpusError(
                f"{path}, line {line}: hints must start with the lines '# number' and '@ number'; "
                f"got {shorten(heads)}."
            )
        number = _of_puzzle(path, line, heads[0][2:].strip(), games, seen)
        if len(block) == 2:
            raise CorpusError(
                f"{path}, line {line}: puzzle {number} must have hints after its heading; got "
                "none. Add them, or remove the heading."
            )
        yield number, " ".join(_unigrams(path, at, written) for at, written in block[2:])


def _unigrams(path: Path, line: int, written: str) -> str:
    """Return the words of a line that alternates words and pairs of words (`a a_b b`)."""
    tokens = written.split()
    words = tokens[0::2]
    for place, (left, right) in enumerate(pairwise(words)):
        if tokens[2 * place + 1] != f"{left}_{right}":
            raise CorpusError(
                f"{path}, line {line}: words and pairs must alternate, as in 'a a_b b'; got "
                f"{shorten(tokens[2 * place + 1])} between {shorten(left)} and {shorten(right)}."
            )
    if len(tokens) % 2 == 0:
        raise CorpusError(
            f"{path}, line {line}: the line must end with a word; got the pair "
            f"{shorten(tokens[-1])}."
        )
    return " ".join(words)


def write_corpus(puzzles: Iterable[Puzzle], folder: str | Path) -> None:
    """Write puzzles to a corpus folder, in the format of `read_corpus`."""
    chosen: Sequence[Puzzle] = sorted(puzzles, key=lambda each: each.number)
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    games, plans, texts = [], [], []
    for puzzle in chosen:
        games.append("\n".join((str(puzzle.number), f":{puzzle.k}", *puzzle.board.rows())))
        plans.append("\n".join((str(puzzle.number), *map(_write_strike, expand(puzzle.plan)))))
        if puzzle.text:
            words = puzzle.text.split()
            if any("_" in word for word in words):
                raise CorpusError(
                    f"The hints of puzzle {puzzle.number} must not contain underscores, "
                    "which mark pairs of words in the file. Replace them."
                )
            mixed = [words[0]]
            for left, right in pairwise(words):
                mixed += [f"{left}_{right}", right]
            texts.append(f"# {puzzle.number}\n@ {puzzle.number}\n{' '.join(mixed)}")
    for name, blocks in ((GAMES, games), (SOLUTIONS, plans), (HINTS, texts)):
        (where / name).write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _write_strike(action: Strike) -> str:
    letter, line = action.orientation[0], action.lines[0]
    part = "" if action.first is None else f":{action.first}:{action.last}"
    return f"{letter}:{line}{part}"
