"""XML of strangers: read without entities, of a sensible size and depth only."""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder  # only to build; parsing is defusedxml's

from defusedxml.ElementTree import DefusedXMLParser

from groundling.errors import CorpusError

__all__ = ["MOST_BYTES", "parse_xml"]

MOST_BYTES = 8_000_000
"""The largest file of a corpus that is read; theirs have less than one million."""
MOST_ELEMENTS = 50_000
MOST_ATTRIBUTES = 100_000
MOST_DEPTH = 100


def parse_xml(content: bytes, where: str, *, dtd: bool = False) -> Element:
    """Return the root of a document.

    Raises what its parser raises (`ParseError`, `DefusedXmlException`, `LookupError`), and
    `CorpusError` where it is too large or nested too deep. With `dtd`, a document may name
    its type; entities are refused in any case.

    >>> parse_xml(b"<maze><hall/></maze>", "maze.xml")[0].tag
    'hall'
    >>> parse_xml(b"<a>" * 200, "deep.xml")
    Traceback (most recent call last):
        ...
    groundling.errors.CorpusError: deep.xml is nested more than 100 elements deep, which no file of
    this corpus is. Check what it is.
    """
    if len(content) > MOST_BYTES:
        raise CorpusError(
            f"{where} has more than {MOST_BYTES:,} bytes, which no file of this corpus has. Check "
            "what it is."
        )
    # Counting marks is fast, and enough to see that nobody wrote this by hand.
    if content.count(b"=") > MOST_ATTRIBUTES or content.count(b"<") > 3 * MOST_ELEMENTS:
        raise CorpusError(
            f"{where} has more elements or attributes than any file of this corpus. Check what it "
            "is."
        )
    parser = DefusedXMLParser(
        target=_Builder(where), forbid_dtd=not dtd, forbid_entities=True, forbid_external=True
    )
    parser.feed(content)
    root: Element = parser.close()
    return root


class _Builder(TreeBuilder):
    """Builds the tree, and gives up when there is too much of it."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self.depth = 0
        self.count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.depth += 1
        self.count += 1
        if self.depth > MOST_DEPTH:
            raise CorpusError(
                f"{self.where} is nested more than {MOST_DEPTH} elements deep, which no file of "
                "this corpus is. Check what it is."
            )
        if self.count > MOST_ELEMENTS:
            raise CorpusError(
                f"{self.where} has more than {MOST_ELEMENTS:,} elements, which no file of this "
                "corpus has. Check what it is."
            )
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)
