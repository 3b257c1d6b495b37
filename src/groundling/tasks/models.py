"""Trained models that know their task: a follower's folder with a note beside its files."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from groundling.errors import ModelFileError, SettingError
from groundling.files import write_atomically
from groundling.follower import Follower
from groundling.learning.training import ProgressCallback
from groundling.tasks.presets import FULL
from groundling.tasks.registry import get_task, task_names

__all__ = ["CHECKPOINTS", "Note", "load_trained", "train"]

NOTE = "task.json"
CHECKPOINTS = "checkpoints"
_FORMAT = "groundling-task-1"


@dataclass(frozen=True)
class Note:
    """What a model was trained for: its task, preset and variant, on which data."""

    task: str
    preset: str
    variant: str = FULL
    sample: bool = False
    left_out: str = ""
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the note as it is kept, where a variant is called a row.

        >>> Note.from_dict(Note("mazes", "best", "tree").to_dict())
        Note(task='mazes', preset='best', variant='tree', sample=False, left_out='', seed=0)
        """
        content = asdict(self)
        row = content.pop("variant")
        return {"format": _FORMAT, **content, "row": row}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Note:
        """Return a note that was kept."""
        content = dict(content)
        if content.pop("format") != _FORMAT:
            raise ValueError("another format")
        return cls(variant=content.pop("row", FULL), **content)


def train(
    note: Note,
    corpus: Any,
    out: str | Path,
    *,
    left_out: str | None = None,
    progress: ProgressCallback | None = None,
) -> tuple[Follower, Note, int]:
    """Train a preset and save it; return the follower, the note, and on how much it learnt.

    What an interrupted training has reached lies in the folder `checkpoints`; the same
    call goes on from there. The model appears only when it is whole.
    """
    out = Path(out)
    task = get_task(note.task)
    chosen = task.presets.select(note.preset, note.variant)
    training_set = task.training_set(corpus, chosen, left_out)
    note = replace(note, left_out=training_set.left_out)
    out.mkdir(parents=True, exist_ok=True)
    checkpoints = out / CHECKPOINTS
    follower: Follower = chosen.follower(seed=note.seed)
    try:
        follower.fit(training_set.demonstrations, progress=progress, checkpoint=checkpoints)
    except ModelFileError:
        # What lies there is of another training, or broken: begin anew.
        shutil.rmtree(checkpoints)
        follower.fit(training_set.demonstrations, progress=progress, checkpoint=checkpoints)
    content = json.dumps(note.to_dict(), indent=1)
    write_atomically(out / NOTE, content + "\n")
    follower.save(out)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return follower, note, len(training_set.demonstrations)


def load_trained(folder: str | Path) -> tuple[Follower, Note]:
    """Load a model that `train` wrote.

    >>> load_trained("nowhere")
    Traceback (most recent call last):
        ...
    groundling.errors.ModelFileError: nowhere holds no trained model. Type
    `groundling train TASK --out nowhere` to make one.
    """
    folder = Path(folder)
    path = folder / NOTE
    if not path.is_file():
        if (folder / CHECKPOINTS).is_dir():
            raise ModelFileError(
                f"The training of {folder} is not finished. Type the same `groundling train` "
                "again; it goes on where it stopped."
            )
        if (folder / "manifest.json").is_file():
            raise ModelFileError(
                f"The model in {folder} does not say which task it is for: it was not made by "
                "`groundling train`. Use Follower.load in Python."
            )
        raise ModelFileError(
            f"{folder} holds no trained model. Type `groundling train TASK --out {folder}` to "
            "make one."
        )
    try:
        note = Note.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(f"{path} cannot be read ({error}). Train the model again.") from error
    if note.task not in task_names():
        raise ModelFileError(
            f"The model in {folder} is of the task {note.task!r}, which no installed package "
            "offers. Install the package that it was trained with."
        )
    try:
        get_task(note.task).presets.select(note.preset, note.variant)
    except SettingError as error:
        raise ModelFileError(f"{path} cannot be read ({error}). Train the model again.") from error
    return Follower.load(folder), note
