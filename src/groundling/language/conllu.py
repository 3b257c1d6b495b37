"""Reading and writing of dependency trees in the CoNLL-U format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from groundling.errors import ParseError
from groundling.files import read_plain
from groundling.language.instruction import Instruction
from groundling.limits import TREEBANK_BYTES

_COLUMNS = 10


def read_conllu(path: str | PathLike[str]) -> list[Instruction]:
    """Read sentences from a CoNLL-U file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_conllu([Instruction.chain("turn left")], Path(folder) / "a.conllu")
    ...     read_conllu(Path(folder) / "a.conllu")[0].tokens
    ('turn', 'left')
    """
    place = Path(path)
    try:
        content = read_plain(place, TREEBANK_BYTES, ParseError, links=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(
            f"{place} must be UTF-8 text; byte {error.start} is invalid. Save the file as UTF-8."
        ) from error
    return list(parse_conllu(content, source=str(place)))


def parse_conllu(content: str, *, source: str = "<text>") -> Iterator[Instruction]:
    r"""Yield the sentences of a string in CoNLL-U format.

    Multiword tokens (contractions) are represented by their words. Empty nodes, which belong to
    enhanced dependencies, are dropped.

    >>> rows = "1\tturn\t_\tVERB\t_\t_\t0\troot\t_\t_\n2\tleft\t_\tADV\t_\t_\t1\tadvmod\t_\t_\n"
    >>> [sentence] = parse_conllu(rows)
    >>> sentence.heads, sentence.relations, sentence.tags
    ((-1, 0), ('root', 'advmod'), ('VERB', 'ADV'))
    """
    rows: list[tuple[int, list[str]]] = []
    text = name = ""
    count = 0
    for number, line in enumerate([*content.split("\n"), ""], start=1):
        line = line.rstrip("\r")
        if line.startswith("#") and not rows:
            key, _, value = line[1:].partition("=")
            if key.strip() == "text":
                text = value.strip()
            elif key.strip() == "sent_id":
                name = value.strip()
        elif line.strip():
            rows.append((number, line.split("\t")))
        else:
            if rows:
                count += 1
                yield _build(rows, text, f"{source}, sentence {name or count}")
            rows, text, name = [], "", ""


def _build(rows: list[tuple[int, list[str]]], text: str, where: str) -> Instruction:
    tokens: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    tags: list[str] = []
    for number, cells in rows:
        here = f"{where}, line {number}"
        if len(cells) != _COLUMNS:
            raise ParseError(
                f"{here}: a row must have {_COLUMNS} columns; got {len(cells)}. "
                "Separate columns with single tabs."
            )
        if "-" in cells[0] or "." in cells[0]:
            continue
        if cells[0] != str(len(tokens) + 1):
            raise ParseError(
                f"{here}: the word number must be {len(tokens) + 1}; got {cells[0]!r}. "
                "Number the words of a sentence 1, 2, 3 …"
            )
        if not cells[6].isascii() or not cells[6].isdigit():
            raise ParseError(
                f"{here}: the head must be a word number, or 0 for the root; got {cells[6]!r}."
            )
        tokens.append(cells[1])
        heads.append(int(cells[6]) - 1)
        relations.append(cells[7])
        tags.append("" if cells[3] == "_" else cells[3])
    try:
        return Instruction(tuple(tokens), tuple(heads), tuple(relations), tuple(tags), text)
    except ValueError as error:
        raise ParseError(f"{where}, line {rows[0][0]}: {error}") from error


def to_conllu(instructions: Iterable[Instruction]) -> str:
    """Return sentences in CoNLL-U format.

    >>> print(to_conllu([Instruction.chain("turn left")]).replace(chr(9), " "))
    # text = turn left
    1 turn _ _ _ _ 0 root _ _
    2 left _ _ _ _ 1 next _ _
    """
    blocks = []
    for instruction in instructions:
        lines = [f"# text = {' '.join(instruction.text.split())}"]
        for position, token in enumerate(instruction.tokens):
            if not token or any(each in token for each in "\t\r\n"):
                raise ParseError(
                    f"Words in CoNLL-U must not be empty or contain tabs or line breaks; got "
                    f"{token!r}, word {position} of {instruction.text!r}."
                )
            tag = instruction.tags[position] or "_"
            head, relation = instruction.heads[position] + 1, instruction.relations[position]
            lines.append(f"{position + 1}\t{token}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) + ("\n" if blocks else "")


def write_conllu(instructions: Iterable[Instruction], path: str | PathLike[str]) -> None:
    """Write sentences to a CoNLL-U file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_conllu([Instruction.chain("turn left")], Path(folder) / "a.conllu")
    ...     (Path(folder) / "a.conllu").read_text(encoding="utf-8").splitlines()[0]
    '# text = turn left'
    """
    Path(path).write_text(to_conllu(instructions), encoding="utf-8", newline="\n")
