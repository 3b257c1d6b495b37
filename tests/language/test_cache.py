import json
import os
import sqlite3

import pytest

from groundling.language import CachedParser, ChainParser, Instruction, ParseCache, cache_folder


class CountingParser(ChainParser):
    def __init__(self, name="counting@1"):
        self.name = name
        self.seen = []

    def parse_many(self, texts):
        texts = list(texts)
        self.seen += texts
        return super().parse_many(texts)


def test_cache_parses_each_text_once_and_keeps_the_order(tmp_path):
    parser = CountingParser()
    cached = CachedParser(parser, ParseCache(tmp_path))
    expected = ChainParser().parse_many(["go", "stop. wait", "go", ""])
    assert cached.parse_many(["go", "stop. wait", "go", ""]) == expected
    assert cached.parse_many(["", "go"]) == [expected[3], expected[0]]
    assert parser.seen == ["go", "stop. wait", ""]


def test_cache_lasts_on_disk(tmp_path):
    first = CachedParser(CountingParser(), ParseCache(tmp_path)).parse("turn left. 停！")
    again = CountingParser()
    assert CachedParser(again, ParseCache(tmp_path)).parse("turn left. 停！") == first
    assert again.seen == []


def test_cache_knows_parsers_apart(tmp_path):
    CachedParser(CountingParser("a@1"), ParseCache(tmp_path)).parse("go")
    other = CountingParser("a@2")
    CachedParser(other, ParseCache(tmp_path)).parse("go")
    assert other.seen == ["go"]


def test_cache_handles_many_texts(tmp_path):
    texts = [f"go to room {number}" for number in range(1200)]
    CachedParser(CountingParser(), ParseCache(tmp_path)).parse_many(texts)
    again = CountingParser()
    found = CachedParser(again, ParseCache(tmp_path, room=10_000)).parse_many(texts)
    assert found == ChainParser().parse_many(texts)
    assert again.seen == []


def test_cache_memory_is_bounded():
    cache = ParseCache(None, room=20_000)
    texts = [f"go to room {number}" for number in range(100)]
    for text in texts:
        CachedParser(ChainParser(), cache).parse(text)
    kept = cache.get("chain@2", texts)
    assert 0 < len(kept) < 20
    assert texts[-1] in kept
    assert texts[0] not in kept


def test_cache_file_that_is_no_database_is_replaced(tmp_path):
    (tmp_path / "parses.sqlite3").write_bytes(b"this is not a database at all" * 100)
    parser = CountingParser()
    assert CachedParser(parser, ParseCache(tmp_path)).parse("go")
    assert CachedParser(CountingParser(), ParseCache(tmp_path)).parse("go")
    again = CountingParser()
    CachedParser(again, ParseCache(tmp_path)).parse("go")
    assert again.seen == []


@pytest.mark.parametrize(
    "entry", ["", "null", "[[]]", '[[["a"],[0],["x"],[""],"a"]]', "[1]", "[[[],[],[],[],1]]"]
)
def test_cache_entry_that_is_broken_is_parsed_again(tmp_path, entry):
    CachedParser(CountingParser(), ParseCache(tmp_path)).parse("go")
    connection = sqlite3.connect(tmp_path / "parses.sqlite3")
    connection.execute("UPDATE parses SET parses = ?", [entry])
    connection.commit()
    connection.close()
    parser = CountingParser()
    assert CachedParser(parser, ParseCache(tmp_path)).parse("go") == ChainParser().parse("go")
    assert parser.seen == ["go"]


def test_cache_with_a_foreign_table_does_not_fail(tmp_path):
    connection = sqlite3.connect(tmp_path / "parses.sqlite3")
    connection.execute("CREATE TABLE parses (other TEXT)")
    connection.commit()
    connection.close()
    assert CachedParser(ChainParser(), ParseCache(tmp_path)).parse("go")


def test_cache_folder_that_is_a_file_does_not_fail(tmp_path):
    (tmp_path / "file").write_text("x")
    assert CachedParser(ChainParser(), ParseCache(tmp_path / "file")).parse("go")
    assert CachedParser(ChainParser(), ParseCache(tmp_path / "file" / "inside")).parse("go")


def test_cache_folder_that_is_read_only_does_not_fail(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        assert CachedParser(ChainParser(), ParseCache(folder)).parse("go")
    finally:
        folder.chmod(0o700)


def test_cache_that_is_locked_does_not_fail(tmp_path):
    CachedParser(ChainParser(), ParseCache(tmp_path)).parse("go")
    connection = sqlite3.connect(tmp_path / "parses.sqlite3", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        cache = ParseCache(tmp_path, patience=0.01)
        assert CachedParser(ChainParser(), cache).parse_many(["go", "stop"])
    finally:
        connection.close()


def test_cache_takes_half_characters(tmp_path):
    parser = CachedParser(ChainParser(), ParseCache(tmp_path))
    assert parser.parse("go \ud800")[0].tokens[0] == "go"


def test_cache_holds_plain_json(tmp_path):
    CachedParser(ChainParser(), ParseCache(tmp_path)).parse("go left")
    connection = sqlite3.connect(tmp_path / "parses.sqlite3")
    [(parser, written)] = connection.execute("SELECT parser, parses FROM parses")
    connection.close()
    assert parser == "chain@2"
    assert json.loads(written)[0][0] == ["go", "left"]


def test_cache_folder_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    monkeypatch.setenv("GROUNDLING_CACHE", "")
    assert cache_folder() is None
    monkeypatch.delenv("GROUNDLING_CACHE")
    assert cache_folder().name == "groundling"
    assert not os.path.exists(tmp_path / "here")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_cache_is_readable_by_its_owner_only(tmp_path):
    before = os.umask(0o022)
    try:
        cache = ParseCache(tmp_path / "new")
        cache.put("chain", {"my secret": [Instruction.chain("my secret")]})
        folder = tmp_path / "new"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert [each.stat().st_mode & 0o777 for each in folder.iterdir()] == [0o600]
        # One that an earlier version has left open to all is closed.
        (folder / "parses.sqlite3").chmod(0o644)
        cache.put("chain", {"another": [Instruction.chain("another")]})
        assert [each.stat().st_mode & 0o777 for each in folder.iterdir()] == [0o600]
        assert len(ParseCache(folder).get("chain", ["my secret", "another"])) == 2
    finally:
        os.umask(before)
