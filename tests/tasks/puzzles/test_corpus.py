"""The three files of a puzzle corpus."""

import os
from pathlib import Path

import pytest

from groundling.errors import CorpusError
from groundling.tasks.puzzles.board import Board, Strike
from groundling.tasks.puzzles.corpus import (
    Puzzle,
    PuzzleCorpus,
    read_corpus,
    split_hints,
    write_corpus,
)
from groundling.tasks.puzzles.environment import PuzzleEnvironment
from groundling.world import CachedEnvironment

GAMES = "1\n:2\n# # .\n. # # \n\n2\n:2\n# #\n"
SOLUTIONS = "1\nr:0:0:1\nr:1\n\n2\n"
HINTS = "# 1\n@ 1\nremove remove_both both both_rows rows rows_. .\n"


def folder(path, games=GAMES, solutions=SOLUTIONS, hints=HINTS):
    (path / "games.csv").write_text(games)
    (path / "annotations.txt").write_text(solutions)
    (path / "instructions.bgm").write_text(hints)
    return path


def test_read_corpus_boards_plans_and_words(tmp_path):
    corpus = read_corpus(folder(tmp_path))
    assert len(corpus) == 2
    assert corpus[1] == Puzzle(
        1, Board.read(["##.", ".##"]), 2, (Strike("row", (0, 1)),), "remove both rows ."
    )
    assert [each.number for each in corpus.usable] == [1]
    assert not corpus[2].is_usable


def test_read_corpus_part_whose_ends_are_holes(tmp_path):
    games = "1\n:2\n# . # # # .\n"
    corpus = read_corpus(folder(tmp_path, games, "1\nr:0:3:5\nr:0:0:2\n", ""))
    assert corpus[1].plan == (Strike("row", (0,), 3, 4), Strike("row", (0,)))


def test_puzzle_demonstration_can_be_carried_out(tmp_path):
    demonstration = read_corpus(folder(tmp_path))[1].demonstration(PuzzleEnvironment())
    trace = CachedEnvironment(demonstration.environment).trace(
        demonstration.start, demonstration.actions
    )
    assert demonstration.environment.is_goal(trace.states[-1])
    assert demonstration.instructions == ("remove both rows .",)


def test_split_hints_at_commas_and_then():
    text = "go for a row , then a column then another row , and a column ."
    assert split_hints(text) == ("go for a row", "then a column", "another row", "and a column .")


def test_write_corpus_round_trip(tmp_path):
    puzzles = (
        Puzzle(3, Board.read(["##.", ".##"]), 2, (Strike("row", (0, 1)),), "both rows , please ."),
        Puzzle(4, Board.read(["#.##"]), 2, (Strike("row", (0,), 2, 3),), ""),
        Puzzle(9, Board.read(["###"]), 3),
    )
    solved = (puzzles[0], puzzles[2])
    write_corpus(solved, tmp_path / "new")
    assert read_corpus(tmp_path / "new") == PuzzleCorpus(solved)


def test_write_corpus_refuses_underscores(tmp_path):
    with pytest.raises(CorpusError, match="underscore"):
        write_corpus([Puzzle(1, Board.read(["##"]), 2, (), "a_b")], tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("games", "1\n:2\n# #\n#\n", r"games.csv, line 4: .* 2 marks"),
        ("games", "1\n:2\n# x\n", r"games.csv, line 3"),
        ("games", "1\n:0\n# #\n", r"games.csv, line 2: .* from 1 to 2; got 0"),
        ("games", "1\n:3\n# #\n", r"games.csv, line 2: .* from 1 to 2; got 3"),
        ("games", "1\n:-1\n# #\n", r"games.csv, line 2: .* got '-1'"),
        ("games", "one\n:2\n# #\n", r"games.csv, line 1: .* got 'one'"),
        (
            "games",
            "1\n# #\n# #\n",
            r"games.csv, line 1: the number of puzzle 1 must be followed by",
        ),
        ("games", "1\n:2\n# #\n\n1\n:2\n# #\n", r"games.csv, line 5: .* must be unique"),
        ("games", "", "must contain at least one puzzle"),
        (
            "games",
            "1\n:2\n" + "#" * 201 + "\n",
            r"line 1: .* at most 200 rows or columns; got 201",
        ),
        ("solutions", "1\nr:" + "9" * 5000 + "\n", r"annotations.txt, line 2: .{,120} must follow"),
        ("solutions", "1\nr:٣\n", r"annotations.txt, line 2: .* must be r:LINE"),
        ("solutions", "1\nr:0\n", r"annotations.txt, line 2: .* no blocks on the board; got 2"),
        ("solutions", "1\nr:0\nr:0\n", r"annotations.txt, line 3: .* must follow the rules"),
        ("solutions", "1\nr:7\n", r"annotations.txt, line 2: .* from 0 to 1; got 7"),
        ("solutions", "1\nrow 1\n", r"annotations.txt, line 2: .* must be r:LINE"),
        ("solutions", "1\nr:0:2:2\n", r"annotations.txt, line 2: .* got 0"),
        ("solutions", "5\nr:0\n", r"annotations.txt, line 1: puzzle 5 is not in games.csv"),
        ("solutions", "2\nr:0\n\n2\nr:0\n", r"annotations.txt, line 4: .* duplicate"),
        ("hints", "# 8\n@ 8\na a_row row\n", r"instructions.bgm, line 1: puzzle 8 is not in"),
        ("hints", "# 1\n@ 2\na a_row row\n", r"instructions.bgm, line 1: hints must start"),
        ("hints", "# 1\n@ 1\n", r"instructions.bgm, line 1: .* must have hints"),
        ("hints", "# 1\n@ 1\na a_row the\n", r"instructions.bgm, line 3: .* between 'a' and 'the'"),
        ("hints", "# 1\n@ 1\na a_row\n", r"instructions.bgm, line 3: .* must end with a word"),
        ("hints", "# 1\n@ 1\na\n\n# 1\n@ 1\na\n", r"instructions.bgm, line 5: .* duplicate"),
    ],
)
def test_read_corpus_bad_files(tmp_path, name, text, message):
    with pytest.raises(CorpusError, match=message):
        read_corpus(folder(tmp_path, **{name: text}))


def test_read_corpus_missing_file(tmp_path):
    with pytest.raises(CorpusError, match="does not exist"):
        read_corpus(tmp_path)


def test_read_corpus_binary_file(tmp_path):
    folder(tmp_path)
    (tmp_path / "games.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CorpusError, match="UTF-8"):
        read_corpus(tmp_path)


def test_read_corpus_file_with_a_byte_order_mark(tmp_path):
    folder(tmp_path)
    games = tmp_path / "games.csv"
    before = read_corpus(tmp_path)
    games.write_text("\ufeff" + games.read_text())
    assert read_corpus(tmp_path) == before


def test_read_corpus_of_a_file(tmp_path):
    (tmp_path / "file").write_text("1")
    with pytest.raises(CorpusError, match="file"):
        read_corpus(tmp_path / "file")


def test_corpus_unknown_number():
    with pytest.raises(CorpusError, match="got 3"):
        PuzzleCorpus(())[3]


@pytest.mark.corpora
def test_real_corpus(tmp_path):
    corpora = os.environ.get("GROUNDLING_CORPORA")
    if not corpora:
        pytest.skip("set GROUNDLING_CORPORA to the folder with the corpora")
    corpus = read_corpus(Path(corpora) / "crossblock" / "data")
    assert (len(corpus), len(corpus.usable)) == (50, 46)
    assert sum(len(each.hints) == len(each.plan) for each in corpus.usable) == 42
    unreachable = {"original": [], "subsets": []}
    for space, missing in unreachable.items():
        environment = PuzzleEnvironment(space)
        for puzzle in corpus.usable:
            state = puzzle.start
            for action in puzzle.plan:
                if action not in environment.actions(state):
                    missing.append(puzzle.number)
                    break
                assert not environment.is_dead_end(state)
                state = environment.step(state, action)
    assert unreachable == {"original": [22, 44, 47], "subsets": []}
    write_corpus(corpus, tmp_path)
    assert read_corpus(tmp_path) == corpus
