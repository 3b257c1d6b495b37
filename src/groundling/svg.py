"""SVG drawings: building and sanitising them, and writing them to files.

An environment draws itself with its method `draw(state)` or `draw(state, way)`, where `way` is the
list of states from the start to `state`. PNG and PDF files are rendered from the same SVG.
"""

from __future__ import annotations

import inspect
import io
import re
import textwrap
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from groundling.errors import GroundlingError, SettingError, WorldError
from groundling.files import write_atomically
from groundling.world.environment import Environment, State, class_name

SPACE = "http://www.w3.org/2000/svg"
LIMIT, DEPTH = 2_000_000, 100  # characters in a drawing, and levels of nesting
_words = str.split
_ELEMENTS = frozenset(
    _words(
        "svg g path rect circle ellipse line polyline polygon text tspan title desc defs marker "
        "linearGradient radialGradient stop clipPath use symbol"
    )
)
_ATTRIBUTES = frozenset(
    _words(
        "id class viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points transform fill "
        "stroke stroke-width stroke-linecap stroke-linejoin stroke-dasharray stroke-opacity "
        "fill-opacity fill-rule opacity font-size font-weight font-style font-family text-anchor "
        "dominant-baseline dx dy rotate offset stop-color stop-opacity gradientUnits "
        "gradientTransform clip-path marker-start marker-mid marker-end markerWidth markerHeight "
        "orient refX refY preserveAspectRatio visibility role aria-label aria-hidden data-action "
        "paint-order vector-effect letter-spacing href"
    )
)
# A backslash or a comment could hide `url(` from this pattern but not from a browser.
_OUTSIDE = re.compile(
    r"url\s*\(\s*['\"]?\s*(?!#)|javascript:|data:|expression\s*\(|\\|/\*", re.IGNORECASE
)
_NAMED = "drawn-"  # prefix of ids, to avoid clashes with those of the page


FORMATS = (".png", ".svg", ".pdf")
"""File endings of pictures."""
# Style sheet of drawings that are not part of a web page.
STYLE = (files("groundling") / "svg.css").read_text(encoding="utf-8")
_WIDTH, _MARGIN, _HEAD, _LINE = 900.0, 24.0, 20.0, 15.0  # of a framed drawing, in pixels


class Canvas:
    """An SVG drawing under construction; all text is escaped.

    >>> canvas = Canvas(0, 0, 20, 10)
    >>> _ = canvas.add("circle", cx=5, cy=5, r=2, fill="red")
    >>> _ = canvas.text(10, 5, "a < b", class_="name")
    >>> print(canvas)
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><circle cx="5" cy="5" r="2"
    fill="red" /><text x="10" y="5" class="name">a &lt; b</text></svg>
    """

    def __init__(self, x: float, y: float, width: float, height: float) -> None:
        box = " ".join(map(_number, (x, y, width, height)))
        self.root = Element("svg", {"xmlns": SPACE, "viewBox": box})

    def add(
        self, name: str, parent: Element | None = None, /, title: str = "", **attributes: Any
    ) -> Element:
        """Add an element; `class_` and `stroke_width` become `class` and `stroke-width`.

        The `title` is shown as a tooltip.
        """
        made = SubElement(
            self.root if parent is None else parent,
            name,
            {
                key.rstrip("_").replace("_", "-"): _number(value)
                for key, value in attributes.items()
                if value is not None
            },
        )
        if title:
            SubElement(made, "title").text = title
        return made

    def target(
        self, name: str, action: object, parent: Element | None = None, /, title: str = "",
        **attributes: Any,
    ) -> Element:  # fmt: skip
        """Add an element that carries out an action when it is clicked."""
        return self.add(
            name, parent, title or str(action), **attributes, class_="target",
            data_action=str(action),
        )  # fmt: skip

    def way(self, points: Sequence[tuple[float, float]]) -> None:
        """Draw a path through points, with a mark at its start."""
        line = " ".join(f"{x:g},{y:g}" for x, y in points)
        for kind in ("way-edge", "way") if len(set(points)) > 1 else ():
            self.add("polyline", class_=kind, points=line)
        x, y = points[0]
        self.add("circle", class_="origin", cx=x, cy=y, r=6)

    def text(
        self, x: float, y: float, words: str, parent: Element | None = None, /, **attributes: Any
    ) -> Element:
        """Add a line of text at a point; the text is escaped."""
        element = self.add("text", parent, x=x, y=y, **attributes)
        element.text = words
        return element

    def __str__(self) -> str:
        return tostring(self.root, encoding="unicode")


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def clean(drawing: object, whose: str) -> str:
    """Return SVG with shapes and text only, without scripts, links or styles.

    The rules in a `style` attribute become attributes, because pages forbid inline styles.

    >>> clean('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script>'
    ...       '<rect width="3" style="fill: red; background: url(http://x)"/></svg>', "Yard.draw")
    '<svg xmlns="http://www.w3.org/2000/svg"><rect width="3" fill="red" /></svg>'
    >>> clean("<b>bold</b>", "Yard.draw")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Yard.draw must return SVG that starts with
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="…">; got <b>.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    if not isinstance(drawing, str):
        raise WorldError(f"{whose} must return SVG as a string; got a {type(drawing).__name__}.")
    if len(drawing) > LIMIT:
        raise WorldError(
            f"{whose} must return at most {LIMIT:,} characters; got {len(drawing):,}. Draw fewer "
            "elements."
        )
    try:
        found = fromstring(drawing)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise WorldError(
            f"{whose} must return valid SVG; parsing failed: {error}. Correct the drawing."
        ) from error
    if _local(found.tag) != "svg":
        raise WorldError(
            f'{whose} must return SVG that starts with <svg xmlns="{SPACE}" viewBox="…">; got '
            f"<{_local(found.tag)}>."
        )
    root = Element("svg", {"xmlns": SPACE, **_attributes(found)})
    waiting = [(found, root, 1)]
    while waiting:
        source, target, depth = waiting.pop()
        if depth > DEPTH:
            raise WorldError(f"{whose} must nest elements at most {DEPTH} deep. Use fewer groups.")
        target.text = source.text
        for child in source:
            name = _local(child.tag)
            if name in _ELEMENTS:
                kept = SubElement(target, name, _attributes(child))
                kept.tail = child.tail
                waiting.append((child, kept, depth + 1))
    return tostring(root, encoding="unicode")


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def _attributes(element: Any) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in element.attrib.items():
        local = _local(name)
        if local == "style":
            for rule in str(value).split(";"):
                key, _, content = rule.partition(":")
                _keep(kept, key.strip(), content.strip())
        else:
            _keep(kept, local, str(value))
    return kept


def _keep(kept: dict[str, str], name: str, value: str) -> None:
    inside = name != "href" or value.startswith("#")
    plain = name in ("aria-label", "data-action")
    if name in _ATTRIBUTES and inside and (plain or not _OUTSIDE.search(value)):
        if name == "id":
            value = _NAMED + value
        elif name == "href":
            value = f"#{_NAMED}{value[1:]}"
        elif not plain:
            value = re.sub(r"(url\s*\(\s*['\"]?\s*#)", rf"\1{_NAMED}", value, flags=re.IGNORECASE)
        kept[name] = value


# ---- environments and files -------------------------------------------------------------------


def draw_way(environment: Environment, way: Sequence[State]) -> str:
    """Return the drawing of the last state, made by the environment's method `draw`.

    >>> class Lamp:
    ...     def draw(self, state):
    ...         return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{state}</text></svg>'
    >>> draw_way(Lamp(), ["off", "on"])
    '<svg xmlns="http://www.w3.org/2000/svg"><text>on</text></svg>'
    >>> draw_way(object(), [3])
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: object must have a method draw(state) that returns SVG. Add this
    method.
    """
    name, draw = class_name(environment), getattr(environment, "draw", None)
    if draw is None:
        raise WorldError(
            f"{name} must have a method draw(state) that returns SVG. Add this method."
        )
    try:
        whole = len(inspect.signature(draw).parameters) > 1
        return clean(draw(way[-1], tuple(way)) if whole else draw(way[-1]), f"{name}.draw")
    except GroundlingError:
        raise
    except Exception as error:
        raise WorldError(
            f"{name}.draw({way[-1]!r:.60}) raised {type(error).__name__}: {error}. Correct "
            "the method."
        ) from error


def framed(drawing: str, title: str = "", captions: Sequence[str] = ()) -> str:
    """Return a drawing in a frame, with a title above and captions below.

    >>> drawing = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"></svg>'
    >>> framed(drawing, "Go left", ["1. turn left"]).count("<text")
    2
    """
    from defusedxml.ElementTree import fromstring

    inner = fromstring(drawing)
    size = (inner.get("width", "300"), inner.get("height", "150"))
    box = inner.get("viewBox") or "0 0 " + " ".join(re.sub(r"[^\d.]", "", each) for each in size)
    _, _, wide, tall = map(float, box.split())
    scale = min((_WIDTH - 2 * _MARGIN) / wide, _WIDTH / tall)
    heads = textwrap.wrap(title, int(_WIDTH / (0.62 * _HEAD)))
    lines = [part for each in captions
             for part in textwrap.wrap(each, int(_WIDTH / (0.62 * _LINE)),
                                       subsequent_indent="   ")]  # fmt: skip
    top = _MARGIN + len(heads) * _HEAD * 1.4
    bottom = top + tall * scale + 1.5 * _MARGIN
    height = bottom + len(lines) * _LINE * 1.45
    page = Canvas(0, 0, _WIDTH, height)
    page.root.set("width", f"{_WIDTH:g}")
    page.root.set("height", f"{height:g}")
    page.add("style").text = STYLE
    page.add("rect", width=_WIDTH, height=height, fill="#fcfbf8")
    for number, text in enumerate(heads):
        page.text(_MARGIN, _MARGIN + (number + 0.7) * _HEAD * 1.4, text, font_size=_HEAD)
    for number, text in enumerate(lines):
        page.text(_MARGIN, bottom + (number + 0.5) * _LINE * 1.45, text, font_size=_LINE)
    marker = page.add("g")
    left = (_WIDTH - wide * scale) / 2
    place = f'x="{left:g}" y="{top:g}" width="{wide * scale:g}" height="{tall * scale:g}"'
    plain = re.sub(r'(<svg\b[^>]*?)\s(?:width|height)="[^"]*"', r"\1", drawing, count=2)
    if "viewBox" not in plain.partition(">")[0]:
        place += f' viewBox="{box}"'
    empty = tostring(marker, encoding="unicode")
    return str(page).replace(empty, plain.replace("<svg", f"<svg {place}", 1))


def write_picture(
    drawing: str, file: str | Path, title: str = "", captions: Sequence[str] = ()
) -> Path:
    """Write a drawing with a frame, a title and captions to a file; return its path.

    The ending of the name selects the format: SVG, PNG or PDF.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_picture('<svg viewBox="0 0 9 9"/>', Path(folder) / "way.svg", "A walk").name
    'way.svg'
    >>> write_picture('<svg viewBox="0 0 9 9"/>', "way.gif")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The name of a picture must end in .png, .svg or .pdf; got
    way.gif.
    """
    return write_page(framed(drawing, title, captions), file)


def font_files() -> tuple[str, str]:
    """Return the font files for pictures, regular and bold."""
    fonts = files("matplotlib") / "mpl-data" / "fonts" / "ttf"
    return str(fonts / "DejaVuSans.ttf"), str(fonts / "DejaVuSans-Bold.ttf")


def check_format(file: Path) -> str:
    """Return the file ending of a picture; raise `SettingError` if it is unknown."""
    kind = file.suffix.lower()
    if kind not in FORMATS:
        raise SettingError(f"The name of a picture must end in .png, .svg or .pdf; got {file}.")
    return kind


def write_page(page: str, file: str | Path) -> Path:
    """Write SVG without a frame to an SVG, PNG or PDF file."""
    file = Path(file)
    kind = check_format(file)
    if kind == ".svg":
        write_atomically(file, page)
        return file
    import resvg_py

    data = bytes(resvg_py.svg_to_bytes(svg_string=page, zoom=2, font_files=list(font_files())))
    if kind == ".pdf":
        from PIL import Image

        made = io.BytesIO()
        with Image.open(io.BytesIO(data)) as image:
            image.convert("RGB").save(made, "PDF", resolution=144)
        data = made.getvalue()
    write_atomically(file, data)
    return file
