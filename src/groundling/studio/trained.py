"""Settings of the studio for models that `groundling train` trained for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundling.errors import ModelFileError
from groundling.studio.benchmark_worlds import named_scenes, read_lines
from groundling.studio.scenes import Setting, StudioExample
from groundling.world.environment import Demonstration

SCENES = 8  # maximum number of corpus parts that are offered as scenes


def task_setting(folder: Path, source: Mapping[str, Any]) -> Setting:
    """Return a setting for a trained model, with the held-out parts of its corpus.

    >>> task_setting(Path("nowhere"), {})
    Traceback (most recent call last):
        ...
    groundling.errors.ModelFileError: nowhere contains no trained model. Run
    `groundling train TASK --out nowhere` to train one.
    """
    from groundling.corpora import Place, find_corpora
    from groundling.tasks.benchmark import demonstrations
    from groundling.tasks.model_notes import load_trained
    from groundling.tasks.task_registry import get_task

    follower, note = load_trained(folder)
    task = get_task(note.task)
    chosen = task.presets.select(note.preset, note.variant)
    place = Place(None, "the model's own") if note.sample else find_corpora(None, task.corpus)
    if place.folder is None and not note.sample:
        raise ModelFileError(
            f"The model in {folder} requires the corpora on which it was trained, but "
            "they were not found. Run `groundling corpora fetch`."
        )
    corpus = task.load(place.folder)
    left_out = tuple(filter(None, note.left_out.split(",")))
    parts: tuple[str | None, ...] = left_out or task.showcase or (None,)
    found = {
        scene.name: scene
        for scene in (task.scene(corpus, chosen, part, None) for part in parts[:SCENES])
    }

    def base() -> Sequence[Demonstration]:
        return demonstrations(task.prepare(corpus, chosen), left_out)

    return Setting(
        title=f"{note.task}, {note.preset}",
        source=source,
        scenes=tuple(named_scenes(found)),
        make=lambda: chosen.follower(seed=note.seed),
        base=base,
        trained=follower,
        examples=tuple(
            StudioExample(text, name) for name, each in found.items() for text in each.examples
        )[:3],
        read=read_lines(found),
    )
