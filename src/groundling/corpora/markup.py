"""Reading of untrusted corpus files: UTF-8 text, and XML without entities."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, TreeBuilder  # defusedxml does the parsing

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from groundling.errors import CorpusError
from groundling.files import read_plain
from groundling.limits import CORPUS_BYTES, XML_ATTRIBUTES, XML_DEPTH, XML_ELEMENTS


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 text file; raise `CorpusError` if it cannot be read."""
    content = read_plain(path, CORPUS_BYTES, CorpusError, links=True)
    try:
        text = content.decode("utf-8-sig")
        place, problem = text.find("\0"), "found a zero byte"
    except UnicodeDecodeError as error:
        text, place = content.decode("latin-1"), error.start
        problem = f"the byte 0x{content[place]:02x} is not UTF-8"
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise CorpusError(
            f"{path}, line {line}, must be UTF-8 text: {problem}. Save the file as UTF-8."
        )
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def read_xml(path: Path, *, dtd: bool = False) -> Element:
    """Return the root of an XML file (see `parse_xml`), or raise `CorpusError`."""
    try:
        return parse_xml(
            read_plain(path, CORPUS_BYTES, CorpusError, links=True), str(path), dtd=dtd
        )
    except CorpusError:
        raise
    except ParseError as error:
        line, column = error.position
        raise CorpusError(
            f"{path}, line {line}, column {column + 1}: the XML must be well-formed "
            f"({str(error).partition(':')[0]}). Download the file again, or save it as UTF-8."
        ) from error
    except DefusedXmlException as error:
        raise CorpusError(
            f"{path} must not declare a document type or entities, which can be used for "
            "attacks. Remove the declaration if you trust the file."
        ) from error
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise CorpusError(
            f"{path}, line 1: {error}. Save the file as UTF-8 and declare that encoding."
        ) from error


def parse_xml(content: bytes, where: str, *, dtd: bool = False) -> Element:
    """Return the root element of an XML document.

    A document that is too large or nested too deeply raises `CorpusError`. The errors of the XML
    parser (`ParseError`, `DefusedXmlException`, `LookupError`) are not converted. With `dtd`, a
    document may declare its type; entities are always rejected.

    >>> parse_xml(b"<maze><hall/></maze>", "maze.xml")[0].tag
    'hall'
    >>> parse_xml(b"<a>" * 200, "deep.xml")
    Traceback (most recent call last):
        ...
    groundling.errors.CorpusError: deep.xml must have at most 100 levels of nested elements; got
    101. Set GROUNDLING_LIMIT_XML_DEPTH to raise the limit.
    """
    CORPUS_BYTES.check(len(content), CorpusError, where)
    # Counting characters first is a fast way to check the limit.
    XML_ATTRIBUTES.check(content.count(b"="), CorpusError, where)
    XML_ELEMENTS.check(content.count(b"<") // 3, CorpusError, where)
    parser = DefusedXMLParser(
        target=_Builder(where), forbid_dtd=not dtd, forbid_entities=True, forbid_external=True
    )
    parser.feed(content)
    root: Element = parser.close()
    return root


class _Builder(TreeBuilder):
    """A tree builder that rejects too many elements, and elements nested too deeply."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self.depth = 0
        self.count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.depth += 1
        self.count += 1
        XML_DEPTH.check(self.depth, CorpusError, self.where)
        XML_ELEMENTS.check(self.count, CorpusError, self.where)
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)
