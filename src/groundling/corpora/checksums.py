"""The manifest: the files of the corpora and their SHA-256 checksums."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class CorpusSource(NamedTuple):
    """A corpus: its folder, its origin and its licence."""

    folder: str
    origin: str
    terms: str


_FREE = "free for research, no licence file"
CORPORA = (
    CorpusSource("sail", "MacMahon et al. 2006, segmented by Chen and Mooney 2011", _FREE),
    CorpusSource("hcrc", "HCRC Map Task Corpus, Anderson et al. 1991", "CC BY-NC-SA"),
    CorpusSource("crossblock", "Branavan et al. 2009", _FREE),
)


@cache
def manifest() -> MappingProxyType[str, str]:
    """Return the SHA-256 checksum of every corpus file, by relative path.

    >>> len(manifest()["sail/data/Paragraph.xml"])
    64
    """
    text = (files("groundling.corpora") / "MANIFEST.sha256").read_text(encoding="utf-8")
    lines = (line.split(maxsplit=1) for line in text.splitlines() if line.strip())
    return MappingProxyType({name: checksum for checksum, name in lines})


@dataclass(frozen=True)
class FileCheck:
    """The result of a check: the relative paths of intact, missing and changed files."""

    whole: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether every file exists and has the checksum in the manifest."""
        return not self.missing and not self.changed


def check(folder: str | Path, corpus: str = "") -> FileCheck:
    """Compare the files of all corpora, or of one `corpus`, with the manifest.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = check(folder, "sail")
    >>> len(found.missing), found.changed, found.good
    (6, (), False)
    """
    groups: dict[str, list[str]] = {"whole": [], "missing": [], "changed": []}
    for name, wanted in manifest().items():
        if not name.startswith(f"{corpus}/" if corpus else ""):
            continue
        path = Path(folder) / name
        if not path.is_file():
            groups["missing"].append(name)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
            groups["changed"].append(name)
        else:
            groups["whole"].append(name)
    return FileCheck(*(tuple(group) for group in groups.values()))
