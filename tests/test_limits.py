import gzip
import http.server
import io
import json
import random
import tarfile
import threading
import warnings
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest

from groundling import Follower, GroundingGraph, GroundlingError, Lexicon
from groundling.corpora.archive import read_source
from groundling.corpora.download import download
from groundling.corpora.markup import parse_xml
from groundling.data import Demonstrations
from groundling.data.codec import Codec
from groundling.data.scene_world import SceneWorld
from groundling.errors import ConvergenceWarning, LimitError, SettingError
from groundling.evaluation.report import Report
from groundling.examples import Lamp, lamp_demonstrations
from groundling.features.synonyms import WordVectors
from groundling.home import read_home
from groundling.home.generated import generated_home
from groundling.home.home import teach_phrase
from groundling.language import load_parser, read_conllu
from groundling.language.languages import Language
from groundling.learning.checkpoints import Checkpoint
from groundling.limits import IMPORT_BYTES, LIMITS, TEXT_WORDS, Limit
from groundling.studio.store import Record
from groundling.tasks.maps.scan import read_scan
from groundling.tasks.puzzles.corpus import read_corpus
from groundling.world.cached_environment import CachedEnvironment
from tests.promises.making import demonstrations, make_follower
from tests.promises.requests import WORLD
from tests.worlds import Line


def test_limits_are_raised_and_lowered_by_a_variable(monkeypatch):
    assert LIMITS["text_words"] is TEXT_WORDS
    monkeypatch.setenv(TEXT_WORDS.variable, "12_000")
    TEXT_WORDS.check(12_000, SettingError)
    monkeypatch.setenv(TEXT_WORDS.variable, "3")
    with pytest.raises(SettingError, match=r"at most 3 words; got 4. Set GROUNDLING_LIMIT_TEXT_W"):
        TEXT_WORDS.check(4, SettingError)
    with pytest.raises(LimitError, match=r"or set GROUNDLING_LIMIT_TEXT_WORDS"):
        load_parser("chain").parse("one two three four")


@pytest.mark.parametrize("given", ["", "many", "0", "-3", "1e6"])
def test_limits_refuse_what_is_no_number(monkeypatch, given):
    limit = Limit("shoes", 2, "shoes")
    monkeypatch.setenv("GROUNDLING_LIMIT_SHOES", given)
    with pytest.raises(SettingError, match="GROUNDLING_LIMIT_SHOES must be a whole number >= 1"):
        limit.check(2, SettingError)


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_limits_name_themselves_and_how_to_raise_them(limit):
    with pytest.raises(SettingError, match=rf"at most .* {limit.what}.*{limit.variable}"):
        limit.check(limit.default + 1, SettingError, "The file")


def test_limits_are_all_on_the_page():
    page = (Path(__file__).parents[1] / "docs" / "reliability.md").read_text(encoding="utf-8")
    for limit in LIMITS.values():
        assert f"| `{limit.name}` | {limit.default:,} {limit.what} |" in page
        assert limit.variable == f"GROUNDLING_LIMIT_{limit.name.upper()}"


# ---- every limit is used --------------------------------------------------------------------

GOOD = {"text": "go left", "start": 1, "actions": ["left"]}
KITCHEN = {"world": "Kitchen 1", "start": {"KitchenState": {"at": "sink", "holds": "", "lying": {
    "$set": []}}}, "text": "zum Tisch", "actions": ["go to the table"]}  # fmt: skip


def file(folder, name, content):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_lines(folder, content, name="shown.jsonl"):
    path = file(folder, name, content)
    return list(Demonstrations.read(path, worlds=Line(3)))


def read_parquet(folder):
    from pyarrow import parquet, table

    columns = {"text": ["go left"] * 400, "start": ["2"] * 400, "actions": [["left"]] * 400}
    parquet.write_table(table(columns), folder / "shown.parquet")
    return list(Demonstrations.read(folder / "shown.parquet", worlds=Line(3)))


def saved(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        follower = make_follower().fit(demonstrations())
    follower.save(folder / "model")
    return folder / "model"


def checkpoint(folder):
    Checkpoint(folder, 1, "mine").save("0", 1.5, np.arange(3.0), False)
    return Checkpoint(folder, fingerprint="mine").load("0", 3)


def trace(**methods):
    line = Line(4, {1: "lamp"})
    for name, method in methods.items():
        setattr(line, name, method)
    world = CachedEnvironment(line)
    return world.actions(1), world.extra_length(1)


def xml(content):
    return parse_xml(content, "maze.xml")


def tar(folder):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in ("one", "other"):
            member = tarfile.TarInfo(name)
            member.size = 20_000
            archive.addfile(member, io.BytesIO(b"x" * 20_000))
    return list(read_source(file(folder, "all.tar.gz", made.getvalue())))


def home(folder, text="entities: [{id: light.a, name: Lamp}, {id: light.b, name: Lamp}]"):
    pytest.importorskip("yaml", reason="needs groundling[home]")
    return read_home(file(folder, "home.yaml", text))


def vectors(folder):
    return WordVectors(file(folder, "a.vec", "2 2\nsofa 1 0\nlamp 0 1\n")).nearest("sofa", {"lamp"})


def teach_two(folder):
    home(folder)
    return teach_phrase(folder / "home.yaml", "movie time", ["a", "b"])


def sampled(rules):
    from groundling.home.corpus import parse_template
    from groundling.home.templates import Block, Sampler

    pytest.importorskip("hassil", reason="needs groundling[home]")
    parse_template(rules["a"])
    block = Block("the block", "HassTurnOn", ("<a>",))
    return Sampler(random.Random(0), generated_home(1), block, rules, {}).sentence()


def studio(folder, work):
    pytest.importorskip("fastapi", reason="needs groundling[studio]")
    from groundling.studio.project import Project

    project = Project(folder / "project", {"kind": "lesson"})
    try:
        return work(project)
    finally:
        project.close()


def imported(project):
    from groundling.studio.exchange import import_lines

    return import_lines(project, b"\n".join([json.dumps(KITCHEN).encode()] * 3))


def asked(body, limit, path="/"):
    from starlette.testclient import TestClient

    from groundling.studio.security import Security
    from tests.studio.test_security import echo

    guard = Security(echo, larger={"/import": limit})
    told = TestClient(guard, base_url="http://127.0.0.1").post(path, content=body)
    assert told.status_code == 413
    raise GroundlingError(told.json()["detail"])


def download_of(folder):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 5_000)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        download(f"http://127.0.0.1:{server.server_port}/all.tar.gz", folder / "all.tar.gz")
    finally:
        server.shutdown()
        server.server_close()


def said(work):
    pytest.importorskip("fastapi", reason="needs groundling[studio]")
    from groundling.studio import texts

    return work(texts)


def agent():
    from groundling.agent import Agent

    return Agent(Follower(parser="chain").fit(lamp_demonstrations()), Lamp(), "off")


def sessions(talked=0, made=[]):  # noqa: B006 - one for all
    found = pytest.importorskip("groundling.studio.sessions", reason="needs groundling[studio]")
    if not made or talked:
        made[:] = [found.Sessions()]
    name = made[0].begin(agent) if talked else ""
    for _ in range(talked):
        made[0].get(name).say("light the lamp")
    return made[0]


MANY = {f"n{number}": {"a": True} for number in range(101)}
BOARD = {"games.csv": "1\n:2\n# #\n# #\n# #\n", "annotations.txt": "1\nr:0\nr:1\n",
         "instructions.bgm": "# 1\n@ 1\nclear clear_a a a_row row\n"}  # fmt: skip


def scan(folder):
    from PIL import Image

    Image.new("L", (2, 2)).save(folder / "scan.png")
    return read_scan(folder / "scan.png")


def board(folder):
    for name, text in BOARD.items():
        file(folder, name, text)
    return read_corpus(folder)


# For each limit: what it is set to, and what exceeds it then.
EXCEEDED = {
    "text_characters": (5, lambda folder: load_parser("chain").parse("one two")),
    "text_words": (1, lambda folder: load_parser("chain").parse("one two")),
    "plan_actions": (2, lambda folder: Codec(Line(3)).actions_from_json(["left"] * 3)),
    "equal_hashes": (3, lambda folder: Codec(Line(3)).state_from_json(
        {"$set": [k * (2**61 - 1) for k in range(9)]})),
    "line_bytes": (10, lambda folder: read_lines(folder, json.dumps(GOOD))),
    "empty_lines": (2, lambda folder: read_lines(folder, "\n" * 3 + json.dumps(GOOD))),
    "expansion": (3, lambda folder: read_lines(
        folder, gzip.compress((json.dumps(GOOD | {"note": "x" * 10**6}) + "\n").encode() * 20),
        "shown.jsonl.gz")),
    "footer_bytes": (10, read_parquet),
    "page_bytes": (10, read_parquet),
    "group_values": (100, read_parquet),
    "world_actions": (100, lambda folder: trace(actions=lambda state: range(101))),
    "extra_length": (3, lambda folder: trace(extra_length=lambda state: 4)),
    "graph_nodes": (100, lambda folder: GroundingGraph(MANY)),
    "graph_edges": (1_000, lambda folder: GroundingGraph(MANY, repeat(("n1", "n2", "to")))),
    "graph_labels": (100, lambda folder: GroundingGraph({"a": [f"l{n}" for n in range(101)]})),
    "label_characters": (100, lambda folder: GroundingGraph({"a": {"kind": "x" * 101}})),
    "manifest_bytes": (100, saved),
    "tables_bytes": (100, saved),
    "tables_values": (10, saved),
    "weights_bytes": (100, saved),
    "header_bytes": (10, lambda folder: Follower.load(saved(folder))),
    "setting_characters": (3, lambda folder: Follower.load(saved(folder))),
    "setting_entries": (3, lambda folder: Follower.load(saved(folder))),
    "checkpoint_bytes": (10, checkpoint),
    "corpus_bytes": (10, lambda folder: xml(b"<maze><hall/></maze>")),
    "xml_elements": (100, lambda folder: xml(b"<maze>" + b"<hall/>" * 101 + b"</maze>")),
    "xml_attributes": (1, lambda folder: xml(b"<maze a='1' b='2'/>")),
    "xml_depth": (10, lambda folder: xml(b"<a>" * 11 + b"</a>" * 11)),
    "scan_pixels": (3, scan),
    "board_lines": (2, board),
    "archive_bytes": (10_000, tar),
    "archive_files": (1, tar),
    "download_bytes": (100, download_of),
    "treebank_bytes": (3, lambda folder: read_conllu(file(folder, "a.conllu", "1\tgo"))),
    "lexicon_bytes": (3, lambda folder: Lexicon.read(file(folder, "words.txt", "a = b:c"))),
    "vector_size": (1, vectors),
    "phrase_texts": (1, teach_two),
    "scene_actions": (1, lambda folder: SceneWorld(WORLD)),
    "world_bytes": (3, lambda folder: SceneWorld.load(file(folder, "yard.json", "{    }"))),
    "language_bytes": (3, lambda folder: Language.read(file(folder, "elvish.json", "{    }"))),
    "result_bytes": (3, lambda folder: Report.read(file(folder, "report.json", "{    }"))),
    "yaml_bytes": (10, home),
    "yaml_values": (3, home),
    "yaml_depth": (2, home),
    "home_entities": (1, home),
    "home_names": (1, home),
    "name_characters": (1, home),
    "template_characters": (5, lambda folder: sampled({"a": "<b> <b>"})),
    "template_parts": (1_000, lambda folder: sampled(
        {"a": "<b> <b>", "b": "<c> <c> <c>", "c": "<d> <d> <d>", "d": "<e> <e> <e>",
         "e": "<f> <f> <f>", "f": "<g> <g>", "g": "x [y|z] x"})),
    "stored_bytes": (2_000, lambda folder: studio(folder, lambda project: project.store.add(
        [Record("Kitchen 1", "x" * 3_000, {}, ())], "it"))),
    "body_bytes": (10, lambda folder: asked(b"x" * 11, IMPORT_BYTES)),
    "import_bytes": (10, lambda folder: asked(b"x" * 11, IMPORT_BYTES, "/import")),
    "import_records": (2, lambda folder: studio(folder, imported)),
    "said_characters": (3, lambda folder: said(lambda texts: texts.check_text("go left"))),
    "said_sentences": (1, lambda folder: said(lambda texts: texts.check_text("Go. Stop."))),
    "said_actions": (1, lambda folder: said(lambda texts: texts.check_actions(2))),
    "sessions": (1, lambda folder: [sessions().begin(agent) for _ in range(2)]),
    "session_turns": (1, lambda folder: sessions(talked=2)),
}  # fmt: skip
# Those that tell nobody: a note that is too long is none of ours, connections are closed, and
# sessions forgotten.
SILENT = {"note_bytes", "vector_words", "connections", "idle_connections", "session_minutes"}


def test_limits_are_all_tried():
    assert {*EXCEEDED, *SILENT} == set(LIMITS)
    assert not SILENT & set(EXCEEDED)


@pytest.mark.parametrize("name", EXCEEDED)
def test_limits_are_named_by_what_exceeds_them(name, tmp_path, monkeypatch):
    most, work = EXCEEDED[name]
    monkeypatch.setenv(LIMITS[name].variable, str(most))
    with pytest.raises(GroundlingError, match=LIMITS[name].variable) as caught:
        work(tmp_path)
    assert f"{most:,}" in str(caught.value)


def test_limits_on_connections_are_those_of_the_table(monkeypatch):
    connections = pytest.importorskip("groundling.studio.connections")
    monkeypatch.setenv("GROUNDLING_LIMIT_IDLE_CONNECTIONS", "3")
    assert connections.IDLE_CONNECTIONS.most == 3
    assert connections.CONNECTIONS is LIMITS["connections"]
