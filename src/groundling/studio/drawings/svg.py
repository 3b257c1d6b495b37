"""SVG that is safe to show: built from elements, or cleaned of all that could run or fetch."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from groundling.errors import WorldError

__all__ = ["Canvas", "clean"]

SPACE = "http://www.w3.org/2000/svg"
LIMIT, DEPTH = 2_000_000, 100  # characters of a drawing, and how deep its groups may be
_words = str.split  # lists read better as text
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
# A backslash or a comment could spell `url(` in a way that only a browser reads.
_OUTSIDE = re.compile(
    r"url\s*\(\s*['\"]?\s*(?!#)|javascript:|data:|expression\s*\(|\\|/\*", re.IGNORECASE
)
_NAMED = "drawn-"  # what a drawing names is never taken for an element of the page


class Canvas:
    """A drawing in the making: elements one after another, all text escaped.

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

    def add(self, name: str, parent: Element | None = None, /, **attributes: Any) -> Element:
        """Add an element; `class_` and `stroke_width` are written `class` and `stroke-width`."""
        return SubElement(
            self.root if parent is None else parent,
            name,
            {
                key.rstrip("_").replace("_", "-"): _number(value)
                for key, value in attributes.items()
                if value is not None
            },
        )

    def text(
        self, x: float, y: float, words: str, parent: Element | None = None, /, **attributes: Any
    ) -> Element:
        """Add a line of text."""
        element = self.add("text", parent, x=x, y=y, **attributes)
        element.text = words
        return element

    def __str__(self) -> str:
        return tostring(self.root, encoding="unicode")


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def clean(drawing: object, whose: str) -> str:
    """Return SVG with only shapes and text; scripts, links and styles of other places go.

    What stands in `style` becomes attributes, since the page allows no styles in its text.

    >>> clean('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script>'
    ...       '<rect width="3" style="fill: red; background: url(http://x)"/></svg>', "Yard.draw")
    '<svg xmlns="http://www.w3.org/2000/svg"><rect width="3" fill="red" /></svg>'
    >>> clean("<b>bold</b>", "Yard.draw")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Yard.draw returned no SVG but <b>. Return text that begins
    with <svg xmlns="http://www.w3.org/2000/svg" viewBox="…">.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    if not isinstance(drawing, str):
        raise WorldError(f"{whose} returned a {type(drawing).__name__}; return SVG as text.")
    if len(drawing) > LIMIT:
        raise WorldError(f"{whose} returned {len(drawing):,} characters; draw less than {LIMIT:,}.")
    try:
        found = fromstring(drawing)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise WorldError(f"{whose} returned no SVG that can be read: {error}.") from error
    if _local(found.tag) != "svg":
        raise WorldError(
            f"{whose} returned no SVG but <{_local(found.tag)}>. Return text that begins with "
            f'<svg xmlns="{SPACE}" viewBox="…">.'
        )
    root = Element("svg", {"xmlns": SPACE, **_attributes(found)})
    waiting = [(found, root, 1)]
    while waiting:
        source, target, depth = waiting.pop()
        if depth > DEPTH:
            raise WorldError(f"{whose} nests its elements more than {DEPTH} deep.")
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
