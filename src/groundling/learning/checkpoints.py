"""Checkpoints: what training has reached, in a folder that a later run can go on from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from groundling.errors import ModelFileError
from groundling.files import write_atomically
from groundling.overlay.batch import Reals

__all__ = ["Checkpoint", "states_in"]


@dataclass
class Checkpoint:
    """A folder of training states, each written whole or not at all.

    Parameters
    ----------
    folder
        Where the states go; made when needed.
    every
        After how many L-BFGS iterations a state is written.
    fingerprint
        What the training is of (settings and data); states of another one are refused.
    """

    folder: Path
    every: int = 25
    fingerprint: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)

    def save(self, key: str, loss: float, theta: Reals, done: bool) -> None:
        """Write the state that training has reached."""
        self.folder.mkdir(parents=True, exist_ok=True)
        note = {"loss": repr(loss), "done": json.dumps(done), "fingerprint": self.fingerprint}
        write_atomically(self._path(key), save({"theta": theta}, metadata=note))

    def load(self, key: str, width: int) -> tuple[float, Reals, bool] | None:
        """Return a state of the given width that was written, or nothing."""
        path = self._path(key)
        if not path.exists():
            return None
        data = path.read_bytes()
        try:
            theta = load(data)["theta"]
            size = int.from_bytes(data[:8], "little")
            note = json.loads(data[8 : 8 + size])["__metadata__"]
            loss, done = float(note["loss"]), bool(json.loads(note["done"]))
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"The checkpoint {path} is broken ({error}). Delete it to train that part again."
            ) from error
        # The environment is no part of the fingerprint, but it decides how many weights there are.
        if note.get("fingerprint") != self.fingerprint or theta.shape != (width,):
            raise ModelFileError(
                f"The checkpoint {path} is of another training (other data or settings). "
                "Give another folder, or delete this one."
            )
        return loss, np.ascontiguousarray(theta, dtype=np.float64), done

    def _path(self, key: str) -> Path:
        return self.folder / f"state-{key}.safetensors"


def states_in(folder: Path) -> list[Path]:
    """Return the states of trainings in a folder and in those of further members; nothing else.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Checkpoint(Path(folder)).save("1", 2.5, np.zeros(3), done=False)
    ...     (Path(folder) / "state-of-mine.safetensors").write_text("my own")
    ...     [path.name for path in states_in(Path(folder))]
    6
    ['state-1.safetensors']
    """
    found = sorted(
        [*folder.glob("state-*.safetensors"), *folder.glob("[0-9]*/state-*.safetensors")]
    )
    return [path for path in found if _is_state(path)]


def _is_state(path: Path) -> bool:
    """Tell whether a file carries our mark."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            note = json.loads(file.read(min(size, 1_000_000)))["__metadata__"]
        return not path.is_symlink() and {"loss", "done", "fingerprint"} <= set(note)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
