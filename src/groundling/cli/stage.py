"""A trained model in its scene, for commands that follow instructions."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from groundling.agent import Agent, Turn
from groundling.checks.registry import missing_labels
from groundling.cli.common import check_writable, find_source, whole
from groundling.errors import (
    CorpusError,
    GroundlingError,
    InstructionError,
    SettingError,
    did_you_mean,
)
from groundling.explain.prose import caused_by
from groundling.follower import Follower
from groundling.limits import IMPORT_BYTES
from groundling.plan import Plan
from groundling.svg import check_format, write_picture
from groundling.tasks.benchmark import Scene, Source
from groundling.tasks.jobs import load_corpus
from groundling.tasks.model_notes import Note, load_trained
from groundling.tasks.task_registry import get_task


@dataclass(frozen=True)
class Stage:
    """A trained follower and the scene in which it acts."""

    follower: Follower
    note: Note
    scene: Scene
    length: int | None

    def follow(self, said: Sequence[str]) -> list[Plan]:
        """Return one plan for each instruction; each starts where the previous one ended."""
        return self.scene.follow(self.follower, said, self.length)

    def draw(self, plans: Sequence[Plan], said: Sequence[str], file: Path) -> None:
        """Draw the plans into a file, with a caption that shows the words for each action."""
        name = getattr(self.scene.environment, "name_action", str)
        steps = [
            f"{name(action)}  ← {caused_by(step)}"
            for plan in plans
            for action, step in zip(plan.actions, plan.explain().steps, strict=True)
        ]
        captions = [f"{number}. {each}" for number, each in enumerate(steps, 1)]
        write_picture(self.scene.draw(plans), file, f"“{' '.join(said)}”", captions)


def set_stage(
    model: Path,
    console: Console,
    *,
    where: str | None = None,
    start: str | None = None,
    length: int | None = None,
    world: str | None = None,
    shown: Sequence[str] = (),
    parser: str | None = None,
    corpora: Path | None = None,
    sample: bool = False,
) -> Stage:
    """Load a model and set up its scene."""
    follower, note = load_trained(model, world=world, parser=parser)
    task = get_task(note.task)
    source: Source = tuple(shown)
    if world is None:
        # A model of the generated sample acts in the sample unless --corpora is given.
        at_home = note.sample and corpora is None and not sample
        why = "which the model was trained on" if at_home else "--sample"
        source = find_source(task, None, corpora, sample or at_home, console, why=why)
        if source is None and not note.sample and not sample:
            raise CorpusError(
                f"The model in {model} was trained on the corpora, which were not found. Run "
                "`groundling corpora fetch`, pass their folder with --corpora, or pass --sample."
            )
        if where is None and (source is None) == note.sample and note.left_out:
            where = note.left_out.split(",")[0]
    chosen = task.presets.select(note.preset, note.variant)
    scene = task.scene(load_corpus(note.task, source), chosen, where, start)
    console.print(f"{scene.name}: {scene.describe()}")
    if world is not None:
        for each in missing_labels(follower.learnt_, [(scene.environment, scene.start)]):
            console.print(f"Warning: {each}")
    return Stage(follower, note, scene, length)


def instructions(lines: Sequence[str] | None, file: Path | None) -> list[str] | None:
    """Return the instructions given as arguments, in a file or through a pipe.

    Returns None if they are to be read from the terminal.
    """
    if lines and file is not None:
        raise SettingError("--file must not be combined with instructions. Remove one of them.")
    given = list(lines or ())
    if not given:
        if file is None and (sys.stdin is None or sys.stdin.closed):
            raise InstructionError(
                "The command requires an instruction; got none. Pass one in quotes, or --file."
            )
        if file is None and sys.stdin.isatty():
            return None
        where = "Standard input" if file is None else str(file)
        try:
            with nullcontext(sys.stdin) if file is None else file.open(encoding="utf-8") as stream:
                text = stream.read(IMPORT_BYTES.most + 1)
            IMPORT_BYTES.check(len(text), InstructionError, where)
        except UnicodeDecodeError:
            raise InstructionError(f"{where} must be UTF-8 text. Save it as UTF-8.") from None
        except OSError as error:
            raise InstructionError(
                f"{where} cannot be read: {error.strerror}. Check the path."
            ) from None
        given = text.splitlines()
    said = [whole(line).strip() for line in given if re.search(r"\w", line)]
    if not said:
        raise InstructionError(
            "The instructions must have at least one word; got none. Enter an instruction."
        )
    return said


def show(console: Console, plans: Sequence[Plan], before: Sequence[str] = ()) -> list[str]:
    """Print and return the actions of plans; mark those that differ from `before`."""
    number = 0
    actions: list[str] = []
    for plan in plans:
        for action in map(str, plan.actions):
            new = bool(before) and (number >= len(before) or before[number] != action)
            number += 1
            actions.append(action)
            line = f"{number:>3}. {action}"
            console.print(Text(f"{line}  +" if new else line, "bold" if new else ""))
        sure = f"confidence {plan.confidence:.2f}"
        if not plan.understood:
            sure = f"not understood; best guess, {sure}"
        console.print(Text(f"     ({sure})", "dim"))
    return actions


def converse(stage: Stage, console: Console) -> tuple[list[str], list[Plan]]:
    """Read instructions from the terminal, reply to each, and return texts and plans.

    No clarification questions are asked if the number of actions is given or if the class of the
    scene overrides `follow`.
    """
    console.print("Type an instruction and press Enter; press Enter on an empty line to stop.")
    said: list[str] = []
    before: list[str] = []
    plans: list[Plan] = []
    talks = stage.length is None and type(stage.scene).follow is Scene.follow
    agent = Agent(stage.follower, stage.scene.environment, stage.scene.start)
    while True:
        try:
            line = whole(input("> ")).strip()
        except UnicodeDecodeError:
            console.print("The instruction must be UTF-8 text. Please rephrase it.")
            continue
        except EOFError:
            console.print()
            break
        if not line:
            break
        try:
            turns = _talk(agent, stage.scene, line) if talks else None
            plans = plans if talks else stage.follow([*said, line])
        except GroundlingError as error:
            console.print(f"{error} Please rephrase it.")
            continue
        if turns == []:
            console.print("The instruction must have at least one word. Please rephrase it.")
        for turn in turns or ():
            if turn.kind == "act" and turn.plan is not None:
                plans = [*plans, turn.plan]
            else:
                console.print(turn.text)
        if turns is None or any(turn.kind == "act" for turn in turns):
            said.append(line)
            before = show(console, plans, before)
    return said, plans


def _talk(agent: Agent, scene: Scene, line: str) -> list[Turn]:
    """Pass the sentences of a line to an agent until it does not act on one of them."""
    if agent.asking:
        return [agent.say(line)]
    turns: list[Turn] = []
    for text in scene.read([line]):
        plain = line if isinstance(text, str) else " ".join(map(str, text))
        turns.append(agent.say(plain, text))
        if turns[-1].kind != "act":
            break
    return turns


def drawable(file: Path) -> Path:
    """Return the path of a picture; raise an error if no picture can be written to it.

    >>> drawable(Path("way.gif"))
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The name of a picture must end in .png, .svg or .pdf; got
    way.gif.
    """
    check_writable(file)
    check_format(file)
    return file


def as_dict(stage: Stage, said: Sequence[str], plans: Sequence[Plan]) -> dict[str, Any]:
    """Return instructions and plans as data for JSON."""
    write = stage.scene.action_to_json
    return {
        "task": stage.note.task,
        "preset": stage.note.preset,
        "where": stage.scene.name,
        "instructions": list(said),
        "actions": [write(action) for plan in plans for action in plan.actions],
        "plans": [
            {
                "actions": [write(action) for action in plan.actions],
                "confidence": plan.confidence,
                "probability": plan.probability,
                "understood": plan.understood,
                "alternatives": [
                    {"actions": [write(a) for a in other.actions], "probability": other.probability}
                    for other in plan.alternatives[:3]
                ],
            }
            for plan in plans
        ],
    }


def count_weights(follower: Follower) -> int:
    """Return the number of weights of a follower, over all members of an ensemble."""
    members = range(len(follower.learnt_.fitted.members))
    return sum(len(follower.weights(most=sys.maxsize, member=each)) for each in members)


def weights_of(
    follower: Follower, word: str, member: int = 0
) -> tuple[list[tuple[str, float]], list[str]]:
    """Return the weights of a word's features, strongest first, and the word's slots.

    An empty word selects the features of all words. A word that is matched with values has no
    weights of its own: the weights are those of its slots. For other words, the list of slots is
    empty.
    """
    found = follower.weights(most=sys.maxsize, member=member)
    if not word:
        return found, []
    chosen = _about(found, word.lower())
    if chosen:
        return chosen, []
    encoder = follower.learnt_.fitted.encoder
    senses = encoder.reader.sense(encoder.reader.language.fold(word), encoder.values)
    kinds = list(dict.fromkeys(f"‹{kind}›" for kind, _ in senses))
    chosen = [each for each in found if any(kind in _left(each[0]) for kind in kinds)]
    if chosen:
        return chosen, kinds
    known = {m[1] for name, _ in found if (m := re.match(r"word=(\S+)", name))}
    raise SettingError(f"The model has no weight for {word!r}.{did_you_mean(word, known)}")


def _about(found: list[tuple[str, float]], word: str) -> list[tuple[str, float]]:
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return [each for each in found if whole.search(_left(each[0]))]


def _left(name: str) -> str:
    """Return the part of a feature name that stands for the text."""
    return name.partition(" ∧ ")[0] if " ∧ " in name else ""
