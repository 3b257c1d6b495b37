"""Training and loading of models with a note on their task, for the command line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from groundling.data.own import names_world
from groundling.errors import ModelFileError, SettingError
from groundling.files import read_plain, write_atomically
from groundling.follower import Follower
from groundling.learning.checkpoints import states_in
from groundling.learning.rounds import ProgressCallback
from groundling.limits import NOTE_BYTES
from groundling.modelfolder import check_free, is_model, read_note
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.presets import FULL, with_changes
from groundling.tasks.task_registry import get_task, task_names
from groundling.world.environment import Demonstration

CHECKPOINTS = "checkpoints"
_MARK = "training.json"
_FORMAT = "groundling-task-1"


@dataclass(frozen=True)
class Note:
    """The task, preset and row of a model, and the data on which it was trained."""

    task: str
    preset: str
    variant: str = FULL
    sample: bool = False
    left_out: str = ""
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the note as JSON-ready data.

        >>> Note.from_dict(Note("mazes", "best", "tree").to_dict())
        Note(task='mazes', preset='best', variant='tree', sample=False, left_out='', seed=0)
        """
        content = asdict(self)
        row = content.pop("variant")
        return {"format": _FORMAT, **content, "row": row}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Note:
        """Return a note from the result of `to_dict`."""
        content = dict(content)
        if content.pop("format") != _FORMAT:
            raise ValueError("Unknown format.")
        note = cls(variant=content.pop("row", FULL), **content)
        for name, value in asdict(note).items():
            wanted = type(getattr(cls("", ""), name))
            if type(value) is not wanted:
                raise ValueError(
                    f"`{name}` must have the type {wanted.__name__}; got {str(value)[:60]!r}."
                )
        return note


def train(
    note: Note,
    corpus: Any,
    out: str | Path,
    *,
    left_out: str | None = None,
    changes: Iterable[tuple[str, Any]] = (),
    progress: ProgressCallback | None = None,
    resumed: Callable[[], None] = lambda: None,
    tell: Callable[[Sequence[Any]], None] = lambda choices: None,
    cluster: Any = None,
    memory: str | None = None,
    shown: Iterable[Demonstration] | None = None,
) -> tuple[Follower, Note, int]:
    """Train a preset and save the model; return it with its note and number of cases.

    The model is saved in the folder `out`, and checkpoints in its subfolder `checkpoints`. If
    training is interrupted, call the function again in the same way: it calls `resumed` and
    continues from the last checkpoint. The checkpoints are deleted when the model is saved. Pass
    the demonstrations as `shown` if they are too large for memory; they replace the corpus. `tell`
    is called with the settings that were chosen automatically.
    """
    out = Path(out)
    task = get_task(note.task)
    chosen = with_changes(task.presets.select(note.preset, note.variant), changes)
    if shown is None:
        apart = task.held_out(corpus) if left_out is None else task.find_parts(corpus, left_out)
        note = replace(note, left_out=",".join(apart))
        shown = demonstrations(task.prepare(corpus, chosen), apart)
    out.mkdir(parents=True, exist_ok=True)
    check_free(out)
    checkpoints = out / CHECKPOINTS
    if _begin(checkpoints, note):
        resumed()
    follower: Follower = chosen.fit(
        shown, seed=note.seed, tell=tell, progress=progress, checkpoint=checkpoints,
        check=chosen.auto, cluster=cluster, memory=memory,
    )  # fmt: skip
    follower.save(out, note=note.to_dict())
    _end(checkpoints)
    return follower, note, sum(1 for _ in shown)


def _begin(folder: Path, note: Note) -> bool:
    """Mark a folder as a training run's; return whether it resumes an earlier run.

    Raises `SettingError` if the folder contains anything else.
    """
    mark = folder / _MARK
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise SettingError(f"{folder} must be a folder. Choose another folder with --out.")
    found = _read_note(mark)
    if found == note:
        return True
    if found is not None:
        raise SettingError(
            f"{folder} has checkpoints of another training run ({found}). Finish that run, delete "
            "the checkpoints, or choose another folder with --out."
        )
    inside = [path for path in folder.rglob("*") if not path.is_dir()] if folder.exists() else []
    if set(inside) - set(states_in(folder)):
        raise SettingError(
            f"{folder} contains files that are not from a training run. Nothing was changed; "
            "choose another folder with --out."
        )
    folder.mkdir(exist_ok=True)
    write_atomically(mark, json.dumps(note.to_dict(), indent=1) + "\n")
    return bool(inside)  # checkpoints without a marker


def _end(folder: Path) -> None:
    """Delete the checkpoints of a training run; other files are kept."""
    for path in (*states_in(folder), folder / _MARK):
        path.unlink(missing_ok=True)
    for each in (*folder.glob("[0-9]*"), folder):
        with contextlib.suppress(OSError):
            each.rmdir()  # raises an error if the folder is not empty


def _read_note(path: Path) -> Note | None:
    """Return the note in a file, or None if the file is not a note."""
    try:
        return Note.from_dict(json.loads(read_plain(path, NOTE_BYTES, ModelFileError)))
    except (ModelFileError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def load_trained(
    folder: str | Path, *, world: str | None = None, parser: str | None = None
) -> tuple[Follower, Note]:
    """Return a model trained by `groundling train`, or any model whose `world` is given.

    For a model of a user's own world, `world` must be given, so that loading a model never runs
    code that the model names.

    >>> load_trained("nowhere")
    Traceback (most recent call last):
        ...
    groundling.errors.ModelFileError: nowhere contains no trained model. Run
    `groundling train TASK --out nowhere` to train one.
    """
    folder = Path(folder)
    note = read_model_note(folder)
    if world is not None:
        note = Note(world, get_task(world).presets.default)
    elif note is None:
        raise ModelFileError(
            f"The model in {folder} does not record its task, because it was not trained with "
            "`groundling train`. Pass its world with --world, or use Follower.load in Python."
        )
    elif names_world(note.task):
        raise SettingError(
            f"The model in {folder} was trained in a user's own world, so --world is required. Add "
            f"it, for example --world {note.task[:80]}."
        )
    elif note.task not in task_names():
        raise ModelFileError(
            f"The model in {folder} needs the task {note.task!r}, which is not installed. Install "
            "the package of this task."
        )
    try:
        get_task(note.task).presets.select(note.preset, note.variant)
    except SettingError as error:
        raise ModelFileError(
            f"The preset of the model in {folder} is unknown ({str(error).rstrip('.')}). Train the "
            "model again."
        ) from error
    return Follower.load(folder, parser=parser), note


def read_model_note(folder: Path) -> Note | None:
    """Return the note of a model, or None if `groundling train` did not train it."""
    if not is_model(folder):
        if (folder / CHECKPOINTS).is_dir():
            raise ModelFileError(
                f"The training run in {folder} is not finished. Run the same `groundling train` "
                "command again to resume it."
            )
        raise ModelFileError(
            f"{folder} contains no trained model. Run `groundling train TASK --out {folder}` to "
            "train one."
        )
    try:
        content = read_note(folder)
        return None if content is None else Note.from_dict(dict(content))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(
            f"The training note in {folder} cannot be read ({str(error)[:200].rstrip('.')}). Train "
            "the model again."
        ) from error
