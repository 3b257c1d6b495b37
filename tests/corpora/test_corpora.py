"""The corpora: found in order, checked file by file, fetched safely from archives and servers."""

import hashlib
import io
import os
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from groundling.corpora import (
    archive,
    check,
    checksums,
    download,
    fetch,
    find_corpora,
    manifest,
    places,
)
from groundling.errors import CorpusError

FILES = {
    "sail/data/one.xml": b"<one/>",
    "hcrc/landmarks/0g.xml": b"<map/>" * 500,
    "crossblock/data/games.csv": os.urandom(50_000),
}


@pytest.fixture(autouse=True)
def small_manifest(monkeypatch):
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    for module in (checksums, archive, download):
        monkeypatch.setattr(module, "manifest", lambda: sums)


def make_tar(path: Path, files=FILES, top="instructions-master/data/", extra=()):
    with tarfile.open(path, "w:gz") as made:
        for name, data in [("README.md", b"# no data"), *files.items()]:
            member = tarfile.TarInfo(top + name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
        for member in extra:
            made.addfile(member)
    return path


def make_zip(path: Path, files=FILES):
    with zipfile.ZipFile(path, "w") as made:
        for name, data in files.items():
            made.writestr(f"instructions-master/data/{name}", data)
    return path


def names_in(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_manifest_lists_the_three_corpora():
    assert {name.split("/")[0] for name in manifest()} == {"sail", "hcrc", "crossblock"}
    assert len(manifest()) > 100


# ---- where they are -----------------------------------------------------------------------


def test_places_come_in_order(tmp_path, monkeypatch):
    given, named, own = (tmp_path / name for name in ("given", "named", "own"))
    for folder in (given, named, own):
        (folder / "sail").mkdir(parents=True)
    monkeypatch.setattr(places, "data_folder", lambda: own)
    environment = {"GROUNDLING_CORPORA": str(named)}
    assert find_corpora(given, "sail", environment).folder == given
    assert find_corpora(None, "sail", environment).folder == named
    assert find_corpora(None, "sail", {}).folder == own
    assert find_corpora(None, "hcrc", {}).folder is None


def test_places_that_were_named_must_hold_the_corpus(tmp_path):
    with pytest.raises(CorpusError, match=r"has no folder hcrc.*corpora fetch"):
        find_corpora(tmp_path, "hcrc", {})
    with pytest.raises(CorpusError, match="from GROUNDLING_CORPORA"):
        find_corpora(None, "sail", {"GROUNDLING_CORPORA": str(tmp_path / "no")})


# ---- archives -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_fetch_takes_only_what_is_needed_from_an_archive(make, tmp_path):
    assert fetch(tmp_path / "into", str(make(tmp_path / "archive")))
    assert names_in(tmp_path / "into") == set(FILES)
    assert check(tmp_path / "into").good
    assert not fetch(tmp_path / "into", "nowhere")  # all is there already


def test_fetch_takes_a_folder(tmp_path):
    for name, data in FILES.items():
        path = tmp_path / "clone" / "data" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    fetch(tmp_path / "into", str(tmp_path / "clone"))
    assert check(tmp_path / "into").good


def test_fetch_mends_a_broken_corpus(tmp_path):
    source = str(make_tar(tmp_path / "archive"))
    fetch(tmp_path / "into", source)
    (tmp_path / "into" / "sail" / "data" / "one.xml").write_text("edited")
    assert check(tmp_path / "into").changed == ("sail/data/one.xml",)
    assert fetch(tmp_path / "into", source)
    assert check(tmp_path / "into").good


def refused(tmp_path, source, match):
    with pytest.raises(CorpusError, match=match):
        fetch(tmp_path / "into", str(source))
    assert names_in(tmp_path / "into") == set()
    assert names_in(tmp_path) <= {source.name, "into"}


def test_fetch_does_not_lose_what_is_not_of_the_corpora(tmp_path):
    into = tmp_path / "into"
    note = into / "sail" / "my notes.txt"
    note.parent.mkdir(parents=True)
    note.write_text("mine")
    with pytest.raises(CorpusError, match=r"my notes\.txt.*would be lost"):
        fetch(into, str(make_tar(tmp_path / "a.tar.gz")))
    assert names_in(into) == {"sail/my notes.txt"}


def test_fetch_refuses_files_with_another_sum(tmp_path):
    changed = {**FILES, "sail/data/one.xml": b"<two/>"}
    refused(tmp_path, make_tar(tmp_path / "archive", changed), "SHA-256")


def test_fetch_refuses_archives_that_lack_files(tmp_path):
    few = dict(list(FILES.items())[:2])
    refused(tmp_path, make_zip(tmp_path / "archive", few), "all 3 files of the corpora")


def test_fetch_never_uses_paths_of_the_archive(tmp_path):
    outside = {"../../escaped.txt": b"out", "/tmp/escaped.txt": b"out"}
    make_tar(tmp_path / "archive", {**outside, **FILES}, top="instructions-master/data/")
    fetch(tmp_path / "into", str(tmp_path / "archive"))
    assert names_in(tmp_path) == {"archive", *(f"into/{name}" for name in FILES)}


def test_fetch_refuses_links(tmp_path):
    link = tarfile.TarInfo("x/data/sail/data/one.xml")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    few = {name: data for name, data in FILES.items() if not name.startswith("sail")}
    refused(tmp_path, make_tar(tmp_path / "archive", few, extra=[link]), "must be a regular file")


def test_fetch_refuses_a_file_twice(tmp_path):
    again = tarfile.TarInfo("x/data/sail/data/one.xml")
    refused(tmp_path, make_tar(tmp_path / "archive", extra=[again]), "only once")


def test_fetch_refuses_what_is_far_too_large(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDLING_LIMIT_CORPUS_BYTES", "10_000")
    refused(tmp_path, make_zip(tmp_path / "archive"), "at most 10,000 bytes; got 10,001")
    monkeypatch.delenv("GROUNDLING_LIMIT_CORPUS_BYTES")
    monkeypatch.setenv("GROUNDLING_LIMIT_ARCHIVE_BYTES", "20_000")
    (tmp_path / "archive").unlink()
    refused(tmp_path, make_tar(tmp_path / "archive"), "at most 20,000 bytes when it is unpacked")
    monkeypatch.delenv("GROUNDLING_LIMIT_ARCHIVE_BYTES")
    monkeypatch.setenv("GROUNDLING_LIMIT_ARCHIVE_FILES", "2")
    refused(tmp_path, tmp_path / "archive", "at most 2 files; got 3")


@pytest.mark.parametrize("size", [100, 30_000])
def test_fetch_refuses_archives_cut_short(tmp_path, size):
    path = make_tar(tmp_path / "archive")
    path.write_bytes(path.read_bytes()[:size])
    refused(tmp_path, path, "broken or incomplete")


def test_fetch_refuses_what_is_no_archive(tmp_path):
    (tmp_path / "page").write_text("<!DOCTYPE html>")
    refused(tmp_path, tmp_path / "page", "must be a .tar.gz or .zip")
    with pytest.raises(CorpusError, match="does not exist"):
        fetch(tmp_path / "into", str(tmp_path / "nothing"))


# ---- servers ------------------------------------------------------------------------------


class Server:
    """A server of one file that notes what was asked of it."""

    def __init__(self, data: bytes, *, ranges=True, cut=()):
        self.data, self.ranges, self.cut = data, ranges, list(cut)
        self.asked: list[str] = []
        self.etag = '"one"'
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path != "/archive":
                    self.send_error(404)
                    return
                wanted = self.headers.get("Range", "")
                server.asked.append(wanted)
                first = 0
                if wanted and server.ranges and self.headers.get("If-Range") == server.etag:
                    first = int(wanted.removeprefix("bytes=").removesuffix("-"))
                body = server.data[first:]
                self.send_response(206 if first else 200)
                if first:
                    last = len(server.data) - 1
                    self.send_header("Content-Range", f"bytes {first}-{last}/{len(server.data)}")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", server.etag)
                self.end_headers()
                self.wfile.write(body[: server.cut.pop(0)] if server.cut else body)
                self.close_connection = True

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/archive"

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def data(tmp_path):
    return make_tar(tmp_path / "archive").read_bytes()


def test_fetch_downloads(tmp_path, data):
    told = []
    with Server(data) as server:
        assert fetch(tmp_path / "into", server.url, tell=lambda *each: told.append(each))
    assert names_in(tmp_path / "into") == set(FILES)
    assert told[-1] == (len(data), len(data))


def test_fetch_goes_on_after_a_transfer_that_was_cut(tmp_path, data):
    with Server(data, cut=[20_000]) as server:
        fetch(tmp_path / "into", server.url)
    assert server.asked == ["", "bytes=20000-"]
    assert check(tmp_path / "into").good


def test_fetch_starts_over_where_the_server_knows_no_ranges(tmp_path, data):
    with Server(data, ranges=False, cut=[20_000]) as server:
        fetch(tmp_path / "into", server.url)
    assert len(server.asked) == 2
    assert check(tmp_path / "into").good


def test_fetch_goes_on_in_a_later_run(tmp_path, data):
    with Server(data, cut=[9000] * 3) as server:
        with pytest.raises(CorpusError, match=r"got only .*again to resume"):
            fetch(tmp_path / "into", server.url)
        assert names_in(tmp_path / "into") == {".download.part", ".download.json"}
        server.asked.clear()
        fetch(tmp_path / "into", server.url)
        assert server.asked == ["bytes=27000-"]
    assert names_in(tmp_path / "into") == set(FILES)


def test_fetch_starts_over_when_the_file_has_changed(tmp_path, data):
    with Server(data, cut=[9000]) as server:
        server.etag = '"other"'
        part = tmp_path / "part"
        part.write_bytes(b"old")
        part.with_suffix(".json").write_text(f'{{"url": "{server.url}", "etag": "one"}}')
        assert download.download(server.url, part).read_bytes() == data


def test_fetch_forgets_what_is_complete_but_wrong(tmp_path):
    with Server(b"<html>no archive</html>") as server, pytest.raises(CorpusError, match="must be"):
        fetch(tmp_path / "into", server.url)
    assert names_in(tmp_path / "into") == set()


def test_fetch_says_what_the_server_said(tmp_path):
    with Server(b"") as server, pytest.raises(CorpusError, match="404"):
        fetch(tmp_path / "into", server.url + "s")


def test_fetch_stops_at_a_limit(tmp_path, data, monkeypatch):
    monkeypatch.setenv("GROUNDLING_LIMIT_DOWNLOAD_BYTES", "1000")
    with Server(data) as server, pytest.raises(CorpusError, match="at most 1,000 bytes; got"):
        fetch(tmp_path / "into", server.url)


@pytest.mark.corpora
def test_check_finds_the_real_corpora_whole(monkeypatch):
    folder = os.environ.get("GROUNDLING_CORPORA")
    if not folder:
        pytest.skip("set GROUNDLING_CORPORA to the folder of the corpora")
    monkeypatch.undo()
    assert check(folder).good
