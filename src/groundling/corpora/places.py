"""Finding the corpora: an option, an environment variable, or the data folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from groundling.corpora.checksums import CORPORA
from groundling.errors import CorpusError

VARIABLE = "GROUNDLING_CORPORA"


@dataclass(frozen=True)
class Place:
    """The corpora folder (None for the generated sample), and why it was chosen.

    >>> print(Place(Path("corpora"), "--corpora"))
    corpora in corpora (from --corpora)
    >>> print(Place(None, "no corpora found"))
    generated sample (no corpora found)
    """

    folder: Path | None
    why: str

    def __str__(self) -> str:
        if self.folder is None:
            return f"generated sample ({self.why})"
        return f"corpora in {self.folder} (from {self.why})"


def data_folder() -> Path:
    """Return the folder in which the user's corpora are installed."""
    from platformdirs import user_data_path

    return user_data_path("groundling", appauthor=False) / "corpora"


def find_corpora(
    given: str | Path | None = None, corpus: str = "", environment: Mapping[str, str] | None = None
) -> Place:
    """Find the corpora: the argument, GROUNDLING_CORPORA, or the user's data folder.

    A folder that the argument or the variable names must exist and contain the `corpus`. The user's
    data folder is used only if it contains the `corpus`. If there is no folder, the generated
    sample is used.

    >>> find_corpora("nowhere")
    Traceback (most recent call last):
        ...
    groundling.errors.CorpusError: nowhere (from --corpora) must be a folder with the corpora, but
    it does not exist. Run `groundling corpora fetch --into nowhere`, or use --sample for the
    generated sample.
    """
    variables = os.environ if environment is None else environment
    named = (given, "--corpora") if given is not None else (variables.get(VARIABLE), VARIABLE)
    if named[0]:
        folder = Path(named[0])
        _must_hold(folder, corpus, named[1])
        return Place(folder, named[1])
    folder = data_folder()
    if (folder / corpus).is_dir() and folder.is_dir():
        return Place(folder, "your data folder")
    return Place(None, "no corpora found; `groundling corpora fetch` gets them")


def _must_hold(folder: Path, corpus: str, why: str) -> None:
    wanted = [corpus] if corpus else [each.folder for each in CORPORA]
    if not folder.is_dir():
        wrong = "it does not exist"
    elif not any((folder / each).is_dir() for each in wanted):
        wrong = f"it has no folder {' or '.join(wanted)}"
    else:
        return
    raise CorpusError(
        f"{folder} (from {why}) must be a folder with the corpora, but {wrong}. Run "
        f"`groundling corpora fetch --into {folder}`, or use --sample for the generated sample."
    )
