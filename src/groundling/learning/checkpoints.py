"""Checkpoints: a folder of training states from which a later run resumes."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from groundling.errors import ModelFileError, StorageWarning
from groundling.files import open_plain, read_plain, write_atomically
from groundling.limits import CHECKPOINT_BYTES
from groundling.overlay.batch import Reals
from groundling.world.reprs import said

_SEGMENT = 64_000_000  # approximate size of the gradients kept in memory, in bytes


@dataclass
class Checkpoint:
    """A folder of training states; each state is written atomically.

    If the folder cannot be written to, a `StorageWarning` is emitted, and nothing more is written.

    Parameters
    ----------
    folder
        Folder of the states, which is created on first use.
    every
        Number of L-BFGS iterations between states.
    fingerprint
        Checksum of settings and data. States with another fingerprint raise an error.
    """

    folder: Path
    every: int = 25
    fingerprint: str = field(default="", repr=False)
    _failed: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)

    def save(self, key: str, loss: float, theta: Reals, done: bool) -> bool:
        """Write the current state; return whether this succeeded."""
        return self._write(key, {"theta": theta}, loss, done)

    def load(self, key: str, width: int) -> tuple[float, Reals, bool] | None:
        """Return the saved state, or None if there is none.

        Raises an error if θ does not have the given width.
        """
        found = self._read(key)
        if found is None:
            return None
        arrays, loss, done = found
        theta = arrays.get("theta")
        # The environment is not part of the fingerprint, but determines the number of weights.
        if theta is None or theta.shape != (width,):
            raise self._of_another(key)
        return loss, np.ascontiguousarray(theta, dtype=np.float64), done

    def _write(self, key: str, arrays: dict[str, NDArray[Any]], loss: float, done: bool) -> bool:
        """Write arrays; return whether this succeeded."""
        if self._failed:
            return False
        note = {"loss": repr(loss), "done": json.dumps(done), "fingerprint": self.fingerprint}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(key), save(arrays, metadata=note))
        except OSError as error:
            self._failed = True
            warnings.warn(
                f"Checkpoints cannot be written to {self.folder} "
                f"({error.strerror or error}). Training continues without checkpoints, and "
                "earlier ones are kept. Free some disk space, or choose another folder.",
                StorageWarning,
                stacklevel=2,
            )
        return not self._failed

    def _read(self, key: str) -> tuple[dict[str, NDArray[Any]], float, bool] | None:
        path = self._path(key)
        if not path.exists():
            return None
        data = read_plain(path, CHECKPOINT_BYTES, ModelFileError)
        try:
            arrays = load(data)
            size = int.from_bytes(data[:8], "little")
            note = json.loads(data[8 : 8 + size])["__metadata__"]
            loss, done = float(note["loss"]), bool(json.loads(note["done"]))
        except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ModelFileError(
                f"The checkpoint {path} is damaged ({said(error)}). Delete the file to repeat this "
                "part of the training."
            ) from error
        if note.get("fingerprint") != self.fingerprint:
            raise self._of_another(key)
        return arrays, loss, done

    def _of_another(self, key: str) -> ModelFileError:
        return ModelFileError(
            f"The checkpoint {self._path(key)} belongs to another training run, with other data "
            "or settings. Choose another folder, or delete this checkpoint."
        )

    def _path(self, key: str) -> Path:
        return self.folder / f"state-{key}.safetensors"


class Recorder:
    """An objective that records its evaluations, so that training can be resumed.

    L-BFGS depends only on the losses and gradients that it receives. Given the same values again,
    it reaches the same state to the last bit, so interruptions and checkpoints do not change the
    result. In the example, the second recorder reads both losses from the checkpoint.

    Parameters
    ----------
    checkpoint
        The checkpoint in which evaluations are stored, several in a file.
    key
        Prefix of the file names.
    loss
        The objective.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> asked = []
    >>> def loss(theta):
    ...     asked.append(theta)
    ...     return float(theta @ theta), 2 * theta
    >>> with TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         recorder = Recorder(Checkpoint(Path(folder), every=1), "0", loss)
    ...         found = [recorder.loss(np.ones(3)), recorder.loss(np.zeros(3))]
    ...         recorder.iterated()
    >>> found[0], len(asked)
    ((3.0, array([2., 2., 2.])), 2)
    """

    def __init__(
        self, checkpoint: Checkpoint, key: str, loss: Callable[[Reals], tuple[float, Reals]]
    ) -> None:
        self._checkpoint = checkpoint
        self._key = key
        self._loss = loss
        self._number = 0  # of the file for the evaluations in memory
        self._evaluations: list[_Evaluation] = []
        self._waiting: list[_Evaluation] | None = self._read(0)
        self._iterations = 0

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss and its gradient; a recorded evaluation of the same θ is reused."""
        mark = hashlib.blake2b(theta.tobytes(), digest_size=16).digest()
        if self._waiting is not None:
            if self._waiting and len(self._evaluations) == len(self._waiting):
                self._next()
            if self._waiting and self._waiting[len(self._evaluations)].mark == mark:
                kept = self._waiting[len(self._evaluations)]
                self._evaluations.append(kept)
                return kept.loss, kept.gradient.copy()
            # The recording ends here, or rounding differs: from now on, evaluate.
            self._waiting = None
        value, gradient = self._loss(theta)
        self._evaluations.append(_Evaluation(mark, value, gradient.copy()))
        if gradient.nbytes * len(self._evaluations) > _SEGMENT:
            self._save()
        return value, gradient

    def iterated(self) -> None:
        """Count an iteration; write evaluations every `checkpoint.every` iterations."""
        self._iterations += 1
        if self._waiting is None and self._iterations >= self._checkpoint.every:
            self._save()

    def forget(self) -> None:
        """Delete the recorded evaluations; call it when the trained weights are stored."""
        for number in itertools.count():
            path = self._checkpoint._path(f"{self._key}.{number}")
            if not path.exists():
                return
            path.unlink()

    def _next(self) -> None:
        self._number += 1
        self._evaluations = []
        self._waiting = self._read(self._number)

    def _read(self, number: int) -> list[_Evaluation]:
        found = self._checkpoint._read(f"{self._key}.{number}")
        if found is None:
            return []
        marks, losses, gradients = (found[0].get(name) for name in ("marks", "losses", "gradients"))
        if (
            marks is None or losses is None or gradients is None
            or marks.ndim != 2 or losses.ndim != 1 or gradients.ndim != 2
            or not len(marks) == len(losses) == len(gradients)
        ):  # fmt: skip
            raise self._checkpoint._of_another(f"{self._key}.{number}")
        return [
            _Evaluation(marks[place].tobytes(), float(losses[place]), gradients[place])
            for place in range(len(marks))
        ]

    def _save(self) -> None:
        evaluations, self._iterations = self._evaluations, 0
        if not evaluations:
            return
        arrays = {
            "marks": np.array([[*each.mark] for each in evaluations], np.uint8),
            "losses": np.array([each.loss for each in evaluations]),
            "gradients": np.array([each.gradient for each in evaluations]),
        }
        self._checkpoint._write(f"{self._key}.{self._number}", arrays, math.nan, False)
        self._number += 1
        self._evaluations = []


class _Evaluation(NamedTuple):
    """The loss and gradient of an objective at one θ; `mark` is the digest of this θ."""

    mark: bytes
    loss: float
    gradient: Reals


def states_in(folder: Path) -> list[Path]:
    """Return the checkpoint files in a folder, including those of ensemble members.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     saved = Checkpoint(Path(folder)).save("1", 2.5, np.zeros(3), done=False)
    ...     _ = (Path(folder) / "state-of-mine.safetensors").write_text("my own")
    ...     [path.name for path in states_in(Path(folder))]
    ['state-1.safetensors']
    """
    found = sorted(
        [*folder.glob("state-*.safetensors"), *folder.glob("[0-9]*/state-*.safetensors")]
    )
    return [path for path in found if _is_state(path)]


def _is_state(path: Path) -> bool:
    """Return whether a file is a checkpoint written by Groundling."""
    try:
        with open_plain(path) as file:
            size = int.from_bytes(file.read(8), "little")
            note = json.loads(file.read(min(size, 1_000_000)))["__metadata__"]
        return not path.is_symlink() and {"loss", "done", "fingerprint"} <= set(note)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
