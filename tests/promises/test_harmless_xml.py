"""XML bombs, entities, endless nesting: refused, under a second and fifty megabytes."""

import os
import tracemalloc

import pytest

from groundling.errors import CorpusError
from groundling.tasks.maps.corpus import read_map
from groundling.tasks.mazes.maze_files import read_examples, read_maze

LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10)
)  # fmt: skip
HOSTILE = {
    "billion laughs": f'<?xml version="1.0"?><!DOCTYPE map [{LAUGHS}]><map>&l9;</map>',
    "quadratic": f'<!DOCTYPE map [<!ENTITY a "{"a" * 50_000}">]><map>{"&a;" * 20_000}</map>',
    "external": '<!DOCTYPE map [<!ENTITY e SYSTEM "file:///etc/passwd">]><map>&e;</map>',
    "parameter": '<!DOCTYPE map [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]><map/>',
    "dtd": '<!DOCTYPE map SYSTEM "http://127.0.0.1:9/map.dtd"><map name="a"/>',
    "deep": "<map>" * 200_000,
    "deep and closed": "<map>" * 200_000 + "</map>" * 200_000,
    "wide": "<map>" + "<node/>" * 1_100_000 + "</map>",
    "wide enough": "<map>" + "<node/>" * 52_000 + "</map>",
    "many attributes": "<map " + " ".join(f'a{n}="1"' for n in range(300_000)) + "/>",
    "large": "<map>" + "x" * 9_000_000 + "</map>",
    "unclosed": "<map",
    "nothing": "",
    "encoding": '<?xml version="1.0" encoding="x-none"?><map/>',
    "null": "<map>\0</map>",
}


def read_any(file):
    for read in (read_maze, read_examples, read_map):
        with pytest.raises(CorpusError) as caught:
            read(file)
        message = str(caught.value)
        assert len(message) < 1000
        assert "\n" not in message


@pytest.mark.parametrize("kind", HOSTILE)
def test_harmless_xml_is_refused_in_little_memory(kind, tmp_path):
    file = tmp_path / "7g.xml"
    file.write_text(HOSTILE[kind])
    tracemalloc.start()
    try:
        read_any(file)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_harmless_xml_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "7g.xml")
    read_any(tmp_path / "7g.xml")
