"""Trained models that know their task: a follower's folder with a note beside its files."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from groundling.errors import GroundlingError, ModelFileError
from groundling.files import write_atomically
from groundling.follower import Follower
from groundling.learning.training import ProgressCallback
from groundling.tasks.catalogue import get_task

__all__ = ["CHECKPOINTS", "Note", "load_trained", "train"]

NOTE = "task.json"
CHECKPOINTS = "checkpoints"
_FORMAT = "groundling-task-1"


@dataclass(frozen=True)
class Note:
    """What a model was trained for: its task, preset and row, on which data."""

    task: str
    preset: str
    row: str = "full"
    sample: bool = False
    left_out: str = ""
    seed: int = 0


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
    chosen = task.preset(note.preset, note.row)
    lesson = task.lesson(corpus, chosen, left_out)
    note = Note(note.task, note.preset, note.row, note.sample, lesson.left_out, note.seed)
    out.mkdir(parents=True, exist_ok=True)
    checkpoints = out / CHECKPOINTS
    follower: Follower = chosen.follower(seed=note.seed)
    try:
        follower.fit(lesson.demonstrations, progress=progress, checkpoint=checkpoints)
    except ModelFileError:
        # What lies there is of another training, or broken: begin anew.
        shutil.rmtree(checkpoints)
        follower.fit(lesson.demonstrations, progress=progress, checkpoint=checkpoints)
    content = json.dumps({"format": _FORMAT, **asdict(note)}, indent=1)
    write_atomically(out / NOTE, content + "\n")
    follower.save(out)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return follower, note, len(lesson.demonstrations)


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
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != _FORMAT:
            raise ValueError("another format")
        note = Note(**content)
        get_task(note.task).preset(note.preset, note.row)
    except (GroundlingError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(f"{path} cannot be read ({error}). Train the model again.") from error
    return Follower.load(folder), note
