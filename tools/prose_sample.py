"""Random sample of docstrings, messages and paragraphs, for review by new readers.

Run `python -m tools.prose_sample --seed 1` from the root of the repository. The same seed selects
the same texts from the same files, so that a review can be repeated.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Passage", "docstrings", "main", "messages", "paragraphs", "sample"]

ROOT = Path(__file__).parents[1]
_RAISING = re.compile(r"(Error|Warning|Exit|Problem)$|^(warn|fail|refuse)")


@dataclass(frozen=True)
class Passage:
    """A text that people read, with its kind and its place in the source."""

    kind: str
    place: str
    text: str


def docstrings(source: str, name: str) -> Iterator[Passage]:
    r"""Yield the docstrings of a module, its classes and its functions.

    >>> [each.text for each in docstrings('def f():\n    "Return one."', "a.py")]
    ['Return one.']
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                line = getattr(node, "lineno", 1)
                yield Passage("docstring", f"{name}:{line}", text)


def messages(source: str, name: str) -> Iterator[Passage]:
    r"""Yield the texts that a module raises or warns with; values appear as `{…}`.

    >>> [each.text for each in messages('raise ValueError(f"Got {x} of 3 words.")', "a.py")]
    ['Got {x} of 3 words.']
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            texts = [_written(each) for each in node.args]
            longest = max((each for each in texts if each), key=len, default="")
            if _RAISING.search(called) and len(longest.split()) >= 3:
                yield Passage("message", f"{name}:{node.lineno}", longest)


def _written(node: ast.expr) -> str:
    """Return the text of a string expression, or an empty string for any other expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _written(node.left) + _written(node.right)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            f"{{{ast.unparse(each.value)}}}"
            if isinstance(each, ast.FormattedValue)
            else _written(each)
            for each in node.values
        )
    return ""


def paragraphs(page: str, name: str) -> Iterator[Passage]:
    r"""Yield the paragraphs of a Markdown page that are prose of at least fifteen words.

    >>> list(paragraphs("# Title\n\nToo short.\n", "a.md"))
    []
    """
    line = 1
    fenced = False
    for block in re.split(r"(\n\s*\n)", page):
        fence = block.count("```")
        prose = not fenced and not fence and not re.match(r"\s*(#|\||<|!|\[|>)", block)
        if prose and len(block.split()) >= 15:
            yield Passage("paragraph", f"{name}:{line}", block.strip())
        fenced ^= fence % 2 == 1
        line += block.count("\n")


@cache
def _all_passages(root: Path) -> list[list[Passage]]:
    found: list[list[Passage]] = [[], [], []]
    for path in sorted((root / "src").rglob("*.py")):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        found[0] += docstrings(source, name)
        found[1] += messages(source, name)
    for path in [
        root / "README.md",
        root / "CONTRIBUTING.md",
        *sorted((root / "docs").glob("*.md")),
    ]:
        found[2] += paragraphs(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())
    return found


def sample(root: Path, seed: int, counts: Sequence[int] = (40, 40, 10)) -> list[Passage]:
    """Return a random sample: `counts` of docstrings, messages and paragraphs."""
    draw, found = random.Random(seed), _all_passages(root)
    drawn = [
        draw.sample(each, min(count, len(each))) for each, count in zip(found, counts, strict=True)
    ]
    return [each for kind in drawn for each in kind]


def main() -> None:
    """Print a numbered sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    for number, each in enumerate(sample(ROOT, given.seed), 1):
        print(f"[{number}] {each.kind}, {each.place}")
        print(textwrap.indent(each.text, "    ") + "\n")


if __name__ == "__main__":
    main()
