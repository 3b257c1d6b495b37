"""Alignment of a scanned map with the route drawn on it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.errors import CorpusError
from groundling.files import read_plain
from groundling.limits import CORPUS_BYTES, SCAN_PIXELS
from groundling.tasks.maps.landscape import Point

_REACH = 12  # pixels; ink further away has no effect

# Rounds of a grid search: range and step of the scale, then of the offset in pixels.
_ROUNDS = ((0.2, 0.02, 64.0, 8.0), (0.02, 0.005, 10.0, 2.0), (0.004, 0.001, 2.0, 0.5))


@dataclass(frozen=True)
class Placement:
    """Scale and offset that align a scan with a map.

    The point (x, y) of the map is at scale · (x, y) + (east, south) in the scan. `distance` is the
    mean distance of the route from the nearest ink, in pixels of the scan.

    >>> Placement(scale=0.5, east=10, south=20, distance=1).extent(width=100, height=200)
    (-20.0, 180.0, -40.0, 360.0)
    """

    scale: float
    east: float
    south: float
    distance: float

    def extent(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Return the west, east, north and south edges of a scan in the map's pixels."""
        west, north = -self.east / self.scale, -self.south / self.scale
        return west, west + width / self.scale, north, north + height / self.scale


def read_scan(path: str | Path) -> npt.NDArray[np.float64]:
    """Return an image as an array [row, column] of brightness between 0 and 1."""
    from PIL import Image

    try:
        content = read_plain(Path(path), CORPUS_BYTES, CorpusError, links=True)
        with Image.open(io.BytesIO(content), formats=("GIF", "PNG")) as image:
            SCAN_PIXELS.check(image.width * image.height, CorpusError, str(path))
            return np.asarray(image.convert("L"), dtype=float) / 255.0
    except CorpusError:
        raise
    except Exception as error:  # decoders raise many kinds of errors
        raise CorpusError(
            f"{path} must be a GIF or PNG image of the map: {str(error)[:200]}. Choose another "
            "image."
        ) from error


def place_scan(ink: npt.ArrayLike, route: Sequence[Point]) -> Placement:
    """Return the scale and offset at which a route best matches the ink of a scan.

    Parameters
    ----------
    ink
        [row, column] array: whether a pixel of the scan is dark.
    route
        The points of the drawn line, in the map's pixels.

    Examples
    --------
    >>> ink = np.zeros((300, 300), dtype=bool)
    >>> ink[40:200, 50] = ink[200, 50:250] = ink[100:200, 250] = True
    >>> route = [(40.0, y) for y in range(30, 190, 5)] + [(x, 190.0) for x in range(40, 240, 5)]
    >>> route += [(240.0, y) for y in range(190, 90, -5)]
    >>> found = place_scan(ink, route)
    >>> round(found.scale, 2), round(found.east), round(found.south)
    (1.0, 10, 10)
    """
    from scipy.ndimage import distance_transform_edt

    away = np.minimum(distance_transform_edt(~np.asarray(ink, dtype=bool)), _REACH)
    away = np.pad(away, _REACH, constant_values=_REACH)
    points = np.asarray(route, dtype=float)[:: max(1, len(route) // 60)]
    best = Placement(1.0, 0.0, 0.0, np.inf)
    for wide, fine, span, stride in _ROUNDS:
        centre = best
        steps = np.arange(-span, span + stride, stride)
        offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        for scale in centre.scale + np.arange(-wide, wide + fine, fine):
            # scale around the middle of the route, so that the offset grid need not move
            shift = (centre.scale - scale) * points.mean(axis=0) + (centre.east, centre.south)
            # [offset, point, (column, row)]
            cells = np.rint(scale * points + (offsets + shift)[:, None, :]).astype(int) + _REACH
            cells = np.clip(cells, 0, (away.shape[1] - 1, away.shape[0] - 1))
            costs = away[cells[..., 1], cells[..., 0]].mean(axis=1)
            low = int(costs.argmin())
            if costs[low] < best.distance:
                east, south = offsets[low] + shift
                best = Placement(float(scale), float(east), float(south), float(costs[low]))
    return best
