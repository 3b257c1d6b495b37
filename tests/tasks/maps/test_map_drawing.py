"""Pictures of maps, and where a scan lies behind them."""

import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import CorpusError
from groundling.tasks.maps.corpus import load_corpus
from groundling.tasks.maps.environment import MapState
from groundling.tasks.maps.generator import generate_map
from groundling.tasks.maps.landscape import Point, visited_landmarks
from groundling.tasks.maps.map_drawing import draw_map
from groundling.tasks.maps.scan import place_scan, read_scan

SHEET = generate_map(3, seed=5)
TRUTH = visited_landmarks(SHEET.steps)


def way(*keys: str) -> list[MapState]:
    return [MapState(key) for key in keys]


def sketch(route: tuple[Point, ...], scale: float, east: float, south: float) -> np.ndarray:
    """Draw a dotted line on white paper, with a blot beside it."""
    paper = np.ones((900, 660))
    paper[700:740, 500:560] = 0
    for x, y in route:
        column, row = round(scale * x + east), round(scale * y + south)
        paper[row - 1 : row + 2, column - 1 : column + 2] = 0
    return paper


def test_drawing_shows_every_landmark_and_the_route() -> None:
    drawing = draw_map(SHEET.landscape, way(*TRUTH), route=SHEET.route, truth=TRUTH)
    for key in SHEET.landscape.keys:
        assert f">{key}</text>" in drawing
    assert drawing.count('class="route"') == 1
    assert "wrong" not in drawing


def test_drawing_has_one_line_for_each_move_and_marks_wrong_ones() -> None:
    drawing = draw_map(SHEET.landscape, way(*TRUTH[:3], TRUTH[5]), truth=TRUTH)
    assert drawing.count('class="way"') == 2
    assert drawing.count('class="way wrong"') == 1
    assert "wrong" not in draw_map(SHEET.landscape, way(*TRUTH[:3], TRUTH[5]))


def test_drawing_a_move_twice_is_right_once() -> None:
    there_and_back = way(TRUTH[0], TRUTH[1], TRUTH[0], TRUTH[1])
    drawing = draw_map(SHEET.landscape, there_and_back, truth=TRUTH)
    assert drawing.count('class="way"') == 1
    assert drawing.count('class="way wrong"') == 2


def test_drawing_puts_the_scan_where_the_route_is(tmp_path: Path) -> None:
    from PIL import Image

    paper = sketch(SHEET.route, 0.886, -20, 12)
    Image.fromarray((255 * paper).astype(np.uint8)).save(tmp_path / "map3g.gif")
    drawing = draw_map(
        SHEET.landscape, way(TRUTH[0]), route=SHEET.route, scan=tmp_path / "map3g.gif"
    )
    [image] = re.findall(r"<image [^>]*>", drawing)
    x, y, width, height = (
        float(re.search(rf' {name}="([^"]*)"', image)[1]) for name in ("x", "y", "width", "height")
    )
    assert x == pytest.approx(20 / 0.886, abs=4)
    assert y == pytest.approx(-12 / 0.886, abs=4)
    assert width == pytest.approx(660 / 0.886, rel=0.01)
    assert height == pytest.approx(900 / 0.886, rel=0.01)
    assert 'href="data:image/png;base64,' in image


def test_drawing_refuses_a_broken_scan(tmp_path: Path) -> None:
    (tmp_path / "map.gif").write_bytes(b"GIF89a but no more")
    with pytest.raises(CorpusError, match=r"map\.gif must be a GIF or PNG image"):
        draw_map(SHEET.landscape, way(TRUTH[0]), route=SHEET.route, scan=tmp_path / "map.gif")
    with pytest.raises(CorpusError, match=r"nothing\.gif cannot be read"):
        read_scan(tmp_path / "nothing.gif")


@pytest.mark.parametrize(("scale", "east", "south"), [(0.886, -20, 12), (0.8, 45, 60), (0.9, 0, 0)])
def test_scan_is_found_within_two_pixels(scale: float, east: float, south: float) -> None:
    place = place_scan(sketch(SHEET.route, scale, east, south) < 0.5, SHEET.route)
    for x, y in SHEET.route:
        found = (place.scale * x + place.east, place.scale * y + place.south)
        assert math.dist(found, (scale * x + east, scale * y + south)) < 2.5
    assert place.distance < 1


def test_scan_of_blank_paper_is_no_place() -> None:
    assert place_scan(np.zeros((90, 60)), SHEET.route).distance == 12


@pytest.mark.corpora
@pytest.mark.skipif("GROUNDLING_CORPORA" not in os.environ, reason="set GROUNDLING_CORPORA")
def test_every_hcrc_scan_is_found() -> None:
    corpus = load_corpus(Path(os.environ["GROUNDLING_CORPORA"], "hcrc"))
    for number, sheet in corpus.maps.items():
        path = corpus.image(number)
        assert path is not None
        place = place_scan(read_scan(path) < 0.5, sheet.route)
        assert place.distance < 1.5
        assert place.scale == pytest.approx(0.885, abs=0.005)
