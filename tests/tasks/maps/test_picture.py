"""Pictures of maps, and where a scan lies behind them."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from groundling.errors import CorpusError, SettingError, WorldError
from groundling.tasks.maps.corpus import load_corpus
from groundling.tasks.maps.environment import Go
from groundling.tasks.maps.generator import generate_map
from groundling.tasks.maps.landscape import Point, visited_landmarks
from groundling.tasks.maps.picture import Cause, draw_map
from groundling.tasks.maps.scan import place_scan, read_scan

SHEET = generate_map(3, seed=5)
TRUTH = visited_landmarks(SHEET.steps)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for part in (figure, *figure.axes) for text in part.texts]


def arrows(figure: Figure) -> list[FancyArrowPatch]:
    return [each for each in figure.axes[0].patches if isinstance(each, FancyArrowPatch)]


def sketch(route: tuple[Point, ...], scale: float, east: float, south: float) -> np.ndarray:
    """Draw a dotted line on white paper, with a blot beside it."""
    paper = np.ones((900, 660))
    paper[700:740, 500:560] = 0
    for x, y in route:
        column, row = round(scale * x + east), round(scale * y + south)
        paper[row - 1 : row + 2, column - 1 : column + 2] = 0
    return paper


def test_picture_shows_every_landmark_and_the_score() -> None:
    shown = texts(draw_map(SHEET, TRUTH))
    for key in SHEET.landscape.keys:
        assert key in shown
    assert "Map 3" in shown
    assert "P 1.000  R 1.000  F1 1.000" in shown


def test_picture_draws_one_arrow_for_each_move_and_wrong_ones_apart() -> None:
    figure = draw_map(SHEET, [TRUTH[0], TRUTH[1], TRUTH[1], TRUTH[2], TRUTH[5]])
    colors = [arrow.get_edgecolor() for arrow in arrows(figure)]
    assert len(colors) == 3  # the step to another side of the landmark is none
    assert colors[0] == colors[1] != colors[2]
    assert texts(figure).count("✓") == 2
    assert texts(figure).count("✗") == 1


def test_picture_without_a_prediction_has_no_arrows() -> None:
    assert arrows(draw_map(SHEET)) == []


def test_picture_takes_actions_and_a_title() -> None:
    shown = texts(draw_map(SHEET, [Go(TRUTH[0]), Go(TRUTH[1], "North")], title="My way"))
    assert "My way" in shown
    assert "Map 3" not in shown


def test_picture_marks_the_words_that_caused_a_step() -> None:
    cause = Cause(2, "go down to the kiln", {1: 0.5, 4: 2.0}, speaker="g")
    figure = draw_map(SHEET, TRUTH, cause=cause)
    marked = {text.get_text(): text.get_bbox_patch() for text in figure.texts}
    assert f"Step 2: {TRUTH[1]} → {TRUTH[2]}, said by the giver" in marked
    assert {word for word in cause.sentence.split() if marked[word] is not None} == {"down", "kiln"}
    assert marked["down"].get_facecolor()[3] < marked["kiln"].get_facecolor()[3] == 1
    plain = draw_map(SHEET, TRUTH)
    assert len(arrows(figure)) == len(arrows(plain)) + 1  # the step is underlaid


def test_picture_cuts_an_endless_sentence() -> None:
    figure = draw_map(SHEET, TRUTH, cause=Cause(1, "and on " * 500))
    height = figure.get_figheight()
    assert "…" in texts(figure)
    assert all(text.get_position()[1] * height > 0 for text in figure.texts)
    assert len(figure.texts) < 100


def test_picture_refuses_steps_and_landmarks_that_do_not_exist() -> None:
    with pytest.raises(SettingError, match=r"no step 2.* 1 steps"):
        draw_map(SHEET, TRUTH[:2], cause=Cause(2, "go on"))
    with pytest.raises(WorldError, match="'nowhere'"):
        draw_map(SHEET, ["start", "nowhere"])


def test_picture_is_written_and_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        draw_map(SHEET, TRUTH, cause=Cause(1, "go on", [1])).savefig(tmp_path / name)
    content = (tmp_path / "a.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert content == (tmp_path / "b.png").read_bytes()


def test_picture_names_hardly_overlap() -> None:
    figure = draw_map(SHEET, TRUTH)
    figure.canvas.draw()
    boxes = [
        text.get_window_extent()
        for text in figure.axes[0].texts
        if text.get_text() in SHEET.landscape
    ]
    assert len(boxes) == len(SHEET.landscape)
    clashes = sum(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
    assert clashes == 0


def test_picture_puts_the_scan_where_the_route_is(tmp_path: Path) -> None:
    from PIL import Image

    paper = sketch(SHEET.route, 0.886, -20, 12)
    Image.fromarray((255 * paper).astype(np.uint8)).save(tmp_path / "map3g.gif")
    (image,) = draw_map(SHEET, scan=tmp_path / "map3g.gif").axes[0].images
    west, east, south, north = image.get_extent()
    assert west == pytest.approx(20 / 0.886, abs=4)
    assert north == pytest.approx(-12 / 0.886, abs=4)
    assert east - west == pytest.approx(660 / 0.886, rel=0.01)
    assert south - north == pytest.approx(900 / 0.886, rel=0.01)


def test_picture_refuses_a_broken_scan(tmp_path: Path) -> None:
    (tmp_path / "map.gif").write_bytes(b"GIF89a but no more")
    with pytest.raises(CorpusError, match=r"map\.gif cannot be read as an image"):
        draw_map(SHEET, scan=tmp_path / "map.gif")
    with pytest.raises(CorpusError, match="none"):
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


def test_picture_loads_matplotlib_only_when_it_draws() -> None:
    code = "import sys, groundling.tasks.maps.picture; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
