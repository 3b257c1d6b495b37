"""One's own world in the commands: trained, evaluated, tuned and followed like a task."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console

from groundling.cli.common import check_writable, print_json
from groundling.cli.progress import progress
from groundling.cli.running import check_settings, read_values
from groundling.data.codec import Json
from groundling.data.own import OwnWorld, folds, open_world
from groundling.data.records import Demonstrations
from groundling.data.worlds import KnownWorld
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    GroundlingWarning,
    ModelFileError,
    SearchError,
    SettingError,
    WorldError,
)
from groundling.explain.explanation import Plan
from groundling.files import write_atomically
from groundling.follower import Follower
from groundling.judging import checked, is_right
from groundling.learning.checkpoints import states_in
from groundling.learning.choosing import Choice, choose
from groundling.modelfolder import is_model, read_note
from groundling.overlay.settings import Overlay
from groundling.tasks.base import Scene
from groundling.tasks.models import CHECKPOINTS, Note, load_trained
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, Demonstration, State, shorten

__all__ = [
    "OwnScene",
    "diagnose_own",
    "evaluate_own",
    "evaluate_parts",
    "load_any",
    "own_scene",
    "train_own",
    "tune_own",
]

_FORMAT = "groundling-own-1"
_SHOWN = 5  # records that were left out, as they are listed
_WRONG = 10  # demonstrations that are followed otherwise, as they are listed


def train_own(
    world: str, files: Sequence[str], out: Path, console: Console, *,
    parser: str, seed: int, again: bool, skip_bad: bool, settings: Sequence[str] = (),
    cluster: str | None = None, memory: str | None = None,
) -> None:  # fmt: skip
    """Train a follower in a world of one's own and save it; `settings` change what is chosen."""
    if settings and (cluster is not None or memory is not None):
        raise SettingError(
            "--setting cannot be given with --memory or --cluster. Leave it out, or use "
            "Follower(…).fit(…, memory=…) in Python."
        )
    check_settings(settings)
    if not again and is_model(out):
        raise SettingError(
            f"{out} holds a model already. Give another folder with --out, or --again to replace "
            "it."
        )
    out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be written is told now
    shown: Sequence[Demonstration] | Demonstrations
    checkpoints = None
    if cluster is None and memory is None:
        shown = _shown(world, files, console, skip_bad=skip_bad)
    else:  # read in parts, again and again, with what is bad left out each time
        own = open_world(world, files, skip_bad=skip_bad, check=skip_bad)
        if own.demonstrations is None:
            raise SettingError("--memory and --cluster need files of demonstrations. Name some.")
        shown, skip_bad = own.demonstrations, False
        checkpoints = out / CHECKPOINTS  # where the same command goes on
    began = perf_counter()
    with progress(console, "learning") as report, _told(console):
        follower = Follower(parser=parser, seed=seed)
        choices: Sequence[Choice] = ()
        if settings:
            follower, choices = _changed(follower, list(shown), settings)
        follower.fit(
            shown, progress=report, skip_bad=skip_bad, cluster=cluster, memory=memory,
            checkpoint=checkpoints,
        )  # fmt: skip
    follower.save(out, note={"format": _FORMAT, "world": world})
    if checkpoints is not None:
        _clear(checkpoints)
    console.print(
        f"Learnt {follower.weight_count_:,} weights from {_count(shown):,} demonstrations in "
        f"{perf_counter() - began:.0f} s.",
        soft_wrap=True,
    )
    console.print("Chosen from the demonstrations:", soft_wrap=True)
    for choice in choices or follower.choices_:
        console.print(f"- {_as_typed(choice)}", soft_wrap=True, markup=False)
    for each in settings:
        console.print(f"- {each}: as you said.", soft_wrap=True, markup=False)
    console.print(
        f"The model is in {out}. Try: groundling follow {out} --world {world}",
        soft_wrap=True, markup=False,
    )  # fmt: skip


def _changed(
    follower: Follower, shown: Sequence[Demonstration], settings: Sequence[str]
) -> tuple[Follower, list[Choice]]:
    """Return a follower with what would be chosen and the changes, and the choices that stay."""
    trainer, choices = choose(follower.get_params(deep=False), shown)
    chosen = Follower(**{each.name: getattr(trainer, each.name) for each in fields(trainer)})
    known = chosen.get_params()
    changes: dict[str, Any] = {}
    for name, *values in (change for each in settings for change in read_values(each)):
        inner = name.replace(".", "__", 1)
        changes[inner] = tuple(values) if isinstance(known.get(inner), tuple) else values[0]
    said = {name.replace("__", ".").lower() for name in changes}
    return chosen.set_params(**changes), [e for e in choices if e.what.lower() not in said]


def _as_typed(choice: Choice) -> Choice:
    """Return a choice with the way to change it on the command line, where there is one."""
    inside = re.fullmatch(
        r"follower\.chosen\(\)\.set_params\((\w+?)__(\w+)='?([^,']+)'?\)", choice.change
    )
    if inside:
        return replace(choice, change=f"--setting {inside[1]}.{inside[2]}={inside[3]}")
    settings = [each.name for each in fields(Overlay)]
    if choice.what == "overlay":
        told = f"--setting overlay.{settings[0]}=…, also {', '.join(settings[1:])}"
        return replace(choice, change=told)
    if choice.what == "model":
        told = (
            "--setting model.NAME=… for what it has; another model with Follower(model=…) in Python"
        )
        return replace(choice, change=told)
    return choice


def diagnose_own(
    world: str, files: Sequence[str], console: Console, model: Path, *,
    parser: str | None, skip_bad: bool, every: bool = False, parts: int | None = None,
) -> None:  # fmt: skip
    """Say what cannot work, and of each demonstration that goes wrong why."""
    follower = Follower.load(model, parser=parser)
    shown = _shown(world, files, console, skip_bad=skip_bad)
    found = follower.diagnose(shown, parts=parts)
    told = found.summary(None) if every else found.summary(rest="with --all")
    console.print(told, soft_wrap=True, markup=False)


def _clear(checkpoints: Path) -> None:
    """Delete the states of a training that is done, and their folders if nothing else is there."""
    for state in states_in(checkpoints):
        state.unlink()
    for folder in (*checkpoints.glob("[0-9]*"), checkpoints):
        with suppress(OSError):
            folder.rmdir()


def _count(shown: Sequence[Demonstration] | Demonstrations) -> int:
    try:
        return len(shown)
    except TypeError:  # what is bad is left out while reading
        return sum(1 for _ in shown)


def evaluate_parts(
    world: str, files: Sequence[str], console: Console, *,
    parser: str | None, parts: int, skip_bad: bool, json_file: Path | None,
) -> None:  # fmt: skip
    """Learn from all parts of the demonstrations but one, and follow that one."""
    check_writable(json_file)
    own = _opened(world, files, skip_bad=skip_bad)
    shown = _listed(own, console)
    right = 0.0
    tested: list[dict[str, Any]] = []
    wrong: list[_Wrong] = []
    for number, (learn, test) in enumerate(folds(shown, parts), 1):
        title = f"part {number}"
        with progress(console, title) as report, warnings.catch_warnings():
            warnings.simplefilter("ignore", GroundlingWarning)
            follower = Follower(parser=parser or "default").fit(learn, progress=report, check=False)
            share, missed = _judge(follower, test)
        right += share * len(test)
        wrong += missed
        tested.append({"part": number, "count": len(test), "right": share})
        console.print(f"{title}: {share:.0%} of {len(test)} demonstrations end as demonstrated.")
    mean = right / len(shown)
    console.print(f"All together: {mean:.0%} of {len(shown)}.", soft_wrap=True, markup=False)
    _tell(own, console, (world, mean, len(shown)), tested, wrong, json_file)


def evaluate_own(
    world: str, files: Sequence[str], console: Console, model: Path, *,
    parser: str | None, skip_bad: bool, json_file: Path | None,
) -> None:  # fmt: skip
    """Follow all demonstrations with a model that was trained before."""
    check_writable(json_file)
    follower = Follower.load(model, parser=parser)
    own = _opened(world, files, skip_bad=skip_bad)
    shown = _listed(own, console)
    for each in follower.check_world((each.environment, each.start) for each in shown):
        console.print(f"Warning: {each}", soft_wrap=True, markup=False)
    right, wrong = _judge(follower, shown)
    console.print(f"{model}: {right:.0%} of {len(shown)}.", soft_wrap=True, markup=False)
    _tell(own, console, (world, right, len(shown)), [], wrong, json_file)


@dataclass(frozen=True)
class _Wrong:
    """A demonstration that is followed otherwise, and how; None, if no plan was found."""

    shown: Demonstration
    got: tuple[Action, ...] | None

    def __str__(self) -> str:
        text = self.shown.instructions
        said = " ".join(map(str, text)) if isinstance(text, (list, tuple)) else str(text)
        named = f" ({self.shown.name})" if self.shown.name else ""
        wanted, got = (", ".join(map(str, each)) for each in (self.shown.actions, self.got or ()))
        return f"“{said}”{named}: wanted {wanted}; got {got or 'no plan'}"

    def to_json(self, own: OwnWorld) -> dict[str, Json]:
        known = own.worlds.name_of(self.shown.environment)
        assert known is not None  # it was made here
        write = own.worlds.get(*known).codec.actions_to_json
        return {
            "name": self.shown.name, "text": self.shown.instructions,
            "wanted": write(self.shown.actions),
            "got": None if self.got is None else write(self.got),
        }  # fmt: skip


def _judge(follower: Follower, shown: Sequence[Demonstration]) -> tuple[float, list[_Wrong]]:
    """Return the share that is followed rightly, by weight as `score` has it, and the others."""
    asked = [(each.instructions, each.environment, each.start) for each in shown]
    wrong, right = [], 0.0
    for each, plan in zip(shown, follower.follow_many(asked, errors="return"), strict=True):
        if isinstance(plan, GroundlingError) and not isinstance(plan, SearchError):
            raise plan
        found = plan if isinstance(plan, Plan) else None
        if is_right(CachedEnvironment(each.environment), each, found):
            right += each.weight
        else:
            wrong.append(_Wrong(each, None if found is None else found.actions))
    return right / sum(each.weight for each in checked(shown)), wrong


def _tell(
    own: OwnWorld, console: Console, found: tuple[str, float, int], parts: list[dict[str, Any]],
    wrong: Sequence[_Wrong], json_file: Path | None,
) -> None:  # fmt: skip
    """Print what went wrong in an evaluation; print or write all of it as JSON if asked for."""
    if wrong:
        console.print(f"{len(wrong):,} end otherwise:", soft_wrap=True)
    for each in wrong[:_WRONG]:
        console.print(f"- {each}", soft_wrap=True, markup=False)
    if len(wrong) > _WRONG:
        console.print(f"- and {len(wrong) - _WRONG:,} more, all of them in --json")
    if json_file is None:
        return
    world, right, count = found
    missed = [each.to_json(own) for each in wrong]
    content = {"world": world, "right": right, "count": count, "parts": parts, "wrong": missed}
    if str(json_file) == "-":
        print_json(content)
    else:
        write_atomically(json_file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def tune_own(
    world: str, files: Sequence[str], console: Console, *,
    parser: str, seconds: float, out: Path | None, skip_bad: bool,
) -> None:  # fmt: skip
    """Compare configurations on the demonstrations; save the best if a folder is given."""
    shown = _shown(world, files, console, skip_bad=skip_bad)
    with _told(console):
        follower = Follower.tuned(
            shown, seconds, parser=parser,
            show=lambda table: console.print(table, markup=False, highlight=False),
        )  # fmt: skip
    if out is not None:
        follower.save(out, note={"format": _FORMAT, "world": world})
        console.print(f"The best one is in {out}.", soft_wrap=True, markup=False)


def load_any(folder: Path, parser: str | None = None) -> Follower:
    """Load a model of a task, or of a world of one's own."""
    if _own_note(folder) is not None or parser is not None:
        return Follower.load(folder, parser=parser)
    return load_trained(folder)[0]


def own_scene(
    folder: Path, world: str | None, files: Sequence[str], start: str | None, parser: str | None
) -> tuple[Follower, Note, OwnScene] | None:
    """Return a model of one's own world and where it acts; nothing if it is a task's.

    The world is never taken from the model: a model file runs no code.
    """
    note = _own_note(folder)
    if note is None and world is None:
        return None
    if world is None:
        raise SettingError(
            f"The model in {folder} was trained in a world of one's own. Name it with --world, "
            f"such as --world {str(note['world'])[:80]}."  # type: ignore[index]
        )
    own = open_world(world, files)
    known, state = own.begin(start, as_shown=True)
    if start is not None:
        _check_start(own, known, state)
    scene = OwnScene(world, known, state)
    return Follower.load(folder, parser=parser), Note(world, "own"), scene


def _check_start(own: OwnWorld, known: KnownWorld, state: State) -> None:
    """Complain of a start that is JSON, but no state of the world."""
    try:
        world = CachedEnvironment(known.environment)
        world.actions(state)
        world.describe(state)
    except WorldError as error:
        such = ""
        with suppress(GroundlingError):
            usual = known.codec.state_to_json(own.begin(as_shown=True)[1])
            such = f" Write it such as --start '{json.dumps(usual, ensure_ascii=False)}'."
        why = str(error).partition(" Run check_environment")[0]
        raise SettingError(
            f"--start is {shorten(state)}, which is no state of {known.codec.owner}: {why}{such}"
        ) from error


class OwnScene(Scene):
    """A world of one's own; each line is followed from where the one before ended."""

    def __init__(self, name: str, known: KnownWorld, start: State) -> None:
        self.name = name
        self.environment = known.environment
        self.codec = known.codec
        self.start = start

    def describe(self) -> str:
        """Return how it begins."""
        return CachedEnvironment(self.environment).describe(self.start)

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Follow line by line."""
        state, plans = self.start, []
        for line in lines:
            plan = follower.follow(line, self.environment, state, length=length)
            state = plan.end
            plans.append(plan)
        return plans

    def action_to_json(self, action: Action) -> Json:
        """Return an action as files of demonstrations and the service have it."""
        return self.codec.action_to_json(action)

    def draw(self, plans: Sequence[Plan], file: Path, title: str = "") -> None:
        """Worlds of one's own have no pictures on the command line."""
        raise SettingError(
            "A world of one's own cannot be drawn here. Leave --picture out; the studio draws "
            "what the world's draw method returns."
        )


def _own_note(folder: Path) -> dict[str, Any] | None:
    try:
        note = read_note(folder) if is_model(folder) else None
    except ModelFileError:
        return None
    return note if note is not None and note.get("format") == _FORMAT else None


def _shown(
    world: str, files: Sequence[str], console: Console, *, skip_bad: bool
) -> list[Demonstration]:
    return _listed(_opened(world, files, skip_bad=skip_bad), console)


def _opened(world: str, files: Sequence[str], *, skip_bad: bool) -> OwnWorld:
    if not files:
        raise DemonstrationError(
            f"There are no demonstrations. Type such as: groundling train {world} "
            "demonstrations.jsonl"
        )
    own = open_world(world, files, skip_bad=skip_bad, check=skip_bad)
    own.worlds.check()  # a wrong name is not the fault of the first record
    return own


def _listed(own: OwnWorld, console: Console) -> list[Demonstration]:
    """Return the demonstrations; say which are left out."""
    assert own.demonstrations is not None
    shown = list(own.demonstrations)
    bad = own.demonstrations.skipped_count
    if bad:
        console.print(f"{bad:,} records cannot be used and are left out:", soft_wrap=True)
        for record in own.demonstrations.skipped[:_SHOWN]:
            console.print(f"- {record}", soft_wrap=True, markup=False)
        if bad > _SHOWN:
            console.print(f"- and {bad - _SHOWN:,} more")
    return shown


@contextmanager
def _told(console: Console) -> Iterator[None]:
    """Print warnings as sentences."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    for each in heard:
        if issubclass(each.category, GroundlingWarning):
            console.print(f"Warning: {each.message}", soft_wrap=True, markup=False)
