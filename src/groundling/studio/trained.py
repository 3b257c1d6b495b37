"""Models that `groundling train` made, in the world of their task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from groundling.errors import ModelFileError
from groundling.features.reader import Text
from groundling.language.instruction import Instruction
from groundling.language.parser import load_parser
from groundling.modelfolder import is_model, read_note
from groundling.studio.worlds import Scene, Setting
from groundling.world.environment import Demonstration

__all__ = ["task_setting"]

SCENES = 8  # parts of the corpus that can be chosen


def task_setting(folder: Path, source: Mapping[str, Any]) -> Setting:
    """Return a trained model in the parts of its corpus that it did not learn from.

    >>> task_setting(Path("nowhere"), {})
    Traceback (most recent call last):
        ...
    groundling.errors.ModelFileError: nowhere holds no trained model. Type
    `groundling train TASK --out nowhere` to make one.
    """
    from groundling.corpora import Place, find_corpora
    from groundling.tasks.models import load_trained
    from groundling.tasks.registry import get_task

    if is_model(folder) and read_note(folder) is None:
        raise ModelFileError(
            f"The model in {folder} does not say in which world it acts. Name it with "
            "--world my_world.py:Kitchen."
        )
    follower, note = load_trained(folder)
    task = get_task(note.task)
    chosen = task.presets.select(note.preset, note.variant)
    place = Place(None, "the model's own") if note.sample else find_corpora(None, task.corpus)
    if place.folder is None and not note.sample:
        raise ModelFileError(
            f"The model in {folder} was trained on the corpora, and there are none here. Type "
            "`groundling corpora fetch`."
        )
    corpus = task.load(place.folder)
    parts: list[str | None] = [each for each in note.left_out.split(",") if each]
    parts = parts or list(getattr(task, "shown", ()))  # where all is generated, none is left out
    found: dict[str, Any] = {}
    for part in (parts or [None])[:SCENES]:
        scene = task.scene(corpus, chosen, part, None)
        found[scene.name] = scene
    scenes = tuple(Scene(name, *_place(each)) for name, each in found.items())

    def base() -> Sequence[Demonstration]:
        found: Sequence[Demonstration] = task.training_set(
            corpus, chosen, note.left_out or None
        ).demonstrations
        return found

    return Setting(
        title=f"{note.task}, {note.preset}",
        source=source,
        scenes=scenes,
        make=lambda: chosen.follower(seed=note.seed),
        base=base,
        trained=follower,
        examples=tuple(each.mission for each in found.values() if hasattr(each, "mission"))[:3],
        read=lambda scene, text: _reader(found[scene.name])(text),
    )


def _place(scene: Any) -> tuple[Any, Any]:
    """Return the environment of a task's scene and where it begins."""
    if hasattr(scene, "puzzle"):
        return scene.world, scene.puzzle.start
    if hasattr(scene, "mission"):
        return scene.world.episode(scene.start), ()
    return scene.world, scene.start if hasattr(scene, "start") else scene.world.start


def _reader(scene: Any) -> Callable[[str], Text]:
    """Return how a task's scene cuts what was typed before it is followed."""
    if hasattr(scene, "mission"):
        read: Callable[[str], Text] = scene.world.read
        return read
    chosen = scene.chosen
    if hasattr(scene, "puzzle"):
        from groundling.tasks.puzzles.corpus import split_hints

        def hints(text: str) -> Text:
            said = [each.replace("-", " ") if chosen.split_hyphens else each
                    for each in split_hints(text.replace(",", " , "))]  # fmt: skip
            return tuple(Instruction.chain(hint.lower()) for hint in said)

        return hints
    if hasattr(scene, "sheet"):
        return _talk_reader(scene)

    def commands(text: str) -> Text:
        from groundling.language.languages import ENGLISH
        from groundling.language.units import split_commands

        sentences = load_parser(chosen.parser).parse(text)
        if not chosen.split_commands:
            return sentences
        return tuple(part for sentence in sentences for part in split_commands(sentence, ENGLISH))

    return commands


def _talk_reader(scene: Any) -> Callable[[str], Text]:
    from groundling.tasks.maps.corpus import GIVER, Dialogue, Utterance
    from groundling.tasks.maps.names import NameMatcher
    from groundling.tasks.maps.reading import read_mentions, read_sentences

    chosen, sheet = scene.chosen, scene.sheet

    def talk(text: str) -> Text:
        lines = tuple(Utterance(GIVER, line.strip()) for line in text.splitlines() if line.strip())
        said = Dialogue("typed", sheet.number, lines)
        if chosen.units == "sentences":
            return read_sentences(said, load_parser(chosen.parser))
        matcher = NameMatcher(sheet.landscape, fuzzy=chosen.fuzzy)
        return read_mentions(said, sheet.landscape, speakers=chosen.speakers, matcher=matcher)

    return talk
