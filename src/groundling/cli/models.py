"""The commands `groundling train`, `follow`, `explain`, `diagnose` and `weights`."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.common import (
    ClusterOption,
    CorporaOption,
    FolderOption,
    FoldsOption,
    JsonOption,
    ParserOption,
    SampleOption,
    SkipBadOption,
    TaskOptions,
    check_preset,
    command,
    list_demonstrations,
    make_console,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from groundling.cli.stage import Stage


ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Folder of a model from `groundling train`.")
]


@dataclass
class SceneOptions:
    """Arguments and options that select a model, its scene and instructions.

    Parameters
    ----------
    lines
        Instructions, each in quotes.
    file, -f
        Read instructions from a file, one per line.
    where
        Part of the corpus to act in. Default: a held-out part.
    start
        Initial state: JSON, a name, or the notation of the task.
    length
        Number of actions of the plan, if it is known.
    world
        Your own world, such as my_world.py:Kitchen.
    shown, --demonstrations
        Files of demonstrations; the first one gives the initial state.
    """

    model: ModelArgument
    lines: Annotated[list[str] | None, typer.Argument(metavar="[INSTRUCTION]...")] = None
    file: Path | None = None
    where: str | None = None
    start: str | None = None
    length: Annotated[int | None, typer.Option(min=1, max=100)] = None
    world: str | None = None
    shown: list[str] | None = None
    parser: ParserOption = None
    as_json: JsonOption = False
    corpora: CorporaOption = None
    sample: SampleOption = False

    def open(self, console: Console, picture: Path | None) -> tuple[Stage, list[str] | None]:
        """Return the loaded model with its scene, and the instructions if there are any."""
        from groundling.cli import stage

        if picture is not None:
            stage.drawable(picture)
        place = stage.set_stage(
            self.model, console, where=self.where, start=self.start, length=self.length,
            world=self.world, shown=self.shown or (), parser=self.parser, corpora=self.corpora,
            sample=self.sample,
        )  # fmt: skip
        return place, stage.instructions(self.lines, self.file)


@command("No model was written; run the same command to resume.")
def train(
    data: TaskOptions,
    out: FolderOption = Path("model"),
    row: str = "full",
    left_out: str | None = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    again: bool = False,
    setting: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    cluster: ClusterOption = None,
    memory: str | None = None,
) -> None:
    """Train a model for a task or for your own world, and save it.

    Run the same command again to resume interrupted training.

    Parameters
    ----------
    out, -o
        Folder for the model.
    row
        Row of the results table to train, such as an ablation.
    left_out, --leave-out
        Parts of the data to hold out, such as 12,13; or none.
    seed
        Random seed.
    again
        Replace an existing model.
    setting, -s
        Change a setting, such as learning.l2=3; may be repeated.
    memory
        Maximum memory, such as 4GB; trains in shards.
    """
    from time import perf_counter

    from groundling.cli.progress import progress
    from groundling.cli.stage import count_weights
    from groundling.cli.typed_settings import read_changes
    from groundling.data.own import names_world, open_world
    from groundling.errors import SettingError
    from groundling.modelfolder import is_model
    from groundling.tasks.jobs import load_corpus
    from groundling.tasks.model_notes import Note
    from groundling.tasks.model_notes import train as learn
    from groundling.tasks.task_registry import get_task

    task, asked = data.task, get_task(data.task)
    preset = check_preset(asked, data.preset, row)
    changes = read_changes(setting or ())
    own, large = names_world(task), cluster is not None or memory is not None
    if setting and large:
        raise SettingError(
            "--setting must not be combined with --memory or --cluster. Remove --setting, or use "
            "Follower(…).fit(…, memory=…) in Python."
        )
    console = make_console()
    corpus, shown, source = None, None, None
    if own and large:  # the files are read in shards, several times
        own_world = open_world(task, data.files or (), skip_bad=data.skip_bad, check=data.skip_bad)
        shown = own_world.demonstrations
        if shown is None:
            raise SettingError(
                "--memory and --cluster can be used only with demonstration files; got "
                "none. Pass at least one."
            )
    else:
        source = data.find(console, asked)
        corpus = load_corpus(task, source)
    if not again and is_model(out):
        raise SettingError(
            f"The folder {out} already contains a model. Choose another folder with --out, or pass "
            "--again to replace the model."
        )
    out.mkdir(parents=True, exist_ok=True)  # raises an error early if it is not writable
    began = perf_counter()
    note = Note(task, preset, row, source is None and not own, seed=seed)
    auto = asked.presets.select(preset, row).auto
    choices: list[Any] = []
    with progress(console, "learning") as report, print_warnings(console, convergence=auto):
        follower, note, count = learn(
            note, corpus, out, left_out=left_out, progress=report,
            resumed=lambda: console.print("Resuming an interrupted training."),
            changes=data.changes + changes, cluster=cluster, memory=memory, shown=shown,
            tell=choices.extend,
        )  # fmt: skip
    held_out = "" if own else f"; held out: {note.left_out or 'nothing'}"
    console.print(
        f"Learnt {count_weights(follower):,} weights from {count:,} "
        f"demonstration{'s' * (count != 1)} in {perf_counter() - began:.0f} s{held_out}."
    )
    if auto:
        _show_choices(console, choices, setting or ())
    where = f" --world {task}" if own else ""
    console.print(f"The model is in {out}. Try: groundling follow {out}{where}")


def _show_choices(console: Console, choices: Iterable[Any], settings: Iterable[str]) -> None:
    """Print the settings that were chosen automatically, and how to change each."""
    console.print("Chosen from the demonstrations:")
    for each in choices:
        name = each.what.lower()
        change = name if "." in name else f"{name}.NAME"
        console.print(
            f"- {each.what} = {each.chosen}: {each.why}. To change it: --setting {change}=…"
        )
    for text in settings:
        console.print(f"- {text}: set by you.")


@contextmanager
def print_warnings(console: Console, *, convergence: bool = True) -> Iterator[None]:
    """Print warnings as sentences, with convergence warnings only if `convergence`."""
    import warnings

    from groundling.errors import ConvergenceWarning, GroundlingWarning

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    for each in heard:
        if not convergence and issubclass(each.category, ConvergenceWarning):
            continue
        if issubclass(each.category, GroundlingWarning):
            console.print(f"Warning: {each.message}")


@command()
def follow(options: SceneOptions, picture: Path | None = None) -> None:
    """Follow instructions given as arguments, in a file or on the terminal.

    Parameters
    ----------
    picture
        File for a picture of the actions (PNG, SVG or PDF).
    """
    from groundling.cli import stage

    console = make_console(errors=options.as_json)
    place, said = options.open(console, picture)
    if said is None:
        said, plans = stage.converse(place, console)
    else:
        plans = place.follow(said)
        if not options.as_json:
            stage.show(console, plans)
    if picture is not None and plans:
        place.draw(plans, said, picture)
    if options.as_json:
        print_json(stage.as_dict(place, said, plans))


@command()
def explain(options: SceneOptions, figure: Path | None = None) -> None:
    """Show which words of an instruction caused which action.

    Parameters
    ----------
    figure
        File for a picture of the explanation (PNG, SVG or PDF).
    """
    from groundling.errors import InstructionError

    console = make_console(errors=options.as_json)
    place, said = options.open(console, figure)
    if said is None:
        raise InstructionError(
            "`explain` must have an instruction; got none. Run: groundling explain "
            f'{options.model} "your instruction"'
        )
    explained = [plan.explain() for plan in place.follow(said)]
    for number, why in enumerate(explained, 1):
        if not options.as_json:
            # Two columns do not fit into a narrow terminal; plain text wraps.
            console.print(why if console.width >= 80 else str(why), soft_wrap=False)
        if figure is not None:
            many = f"-{number}" if len(explained) > 1 else ""
            drawn = why.save(figure.with_stem(f"{figure.stem}{many}"))
            console.print(f"The figure is in {drawn}.")
    if options.as_json:
        print_json([why.to_dict() for why in explained])


@command()
def diagnose(
    world: Annotated[str, typer.Argument(metavar="WORLD")],
    files: Annotated[list[str], typer.Argument(metavar="DEMONSTRATIONS...")],
    model: Path = Path("model"),
    parser: ParserOption = None,
    skip_bad: SkipBadOption = False,
    every: bool = False,
    folds: FoldsOption = None,
) -> None:
    """Report problems in a world and its demonstrations, and causes of wrong plans.

    Parameters
    ----------
    world
        Your own world, such as my_world.py:Kitchen.
    files
        JSON Lines or Parquet files.
    model, -m
        Folder of a model from `groundling train`.
    every, --all
        Report all mistakes, not only the first ten.
    """
    from groundling.follower import Follower
    from groundling.tasks.task_registry import get_task

    console = make_console()
    follower = Follower.load(model, parser=parser)
    shown = list_demonstrations(get_task(world), files, console, skip_bad=skip_bad)
    found = follower.diagnose(shown, parts=folds)
    console.print(found.summary(None) if every else found.summary(rest="with --all"))


@command()
def weights(
    model: ModelArgument,
    word: str = "",
    most: Annotated[int, typer.Option(min=1)] = 20,
    member: Annotated[int, typer.Option(min=0)] = 0,
    parser: ParserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the strongest weights, like Table 2 of the paper.

    Parameters
    ----------
    word, -w
        Show only features of this word.
    most, -n
        Number of weights to show.
    member
        Member of an ensemble, counted from 0.
    """
    from rich.table import Table
    from rich.text import Text

    from groundling.cli.stage import weights_of
    from groundling.follower import Follower

    found, kinds = weights_of(Follower.load(model, parser=parser), word, member)
    found = found[:most]
    if as_json:
        print_json([{"feature": name, "weight": weight} for name, weight in found])
        return
    console = make_console()
    if kinds:
        console.print(
            f"“{word}” is matched by its spelling or by the lexicon. Its weights are those of "
            f"{' or '.join(kinds)}, which all such words share."
        )
    table = Table(box=None, pad_edge=False)
    table.add_column("weight", justify="right")
    table.add_column("feature", overflow="fold")
    for name, weight in found:
        table.add_row(f"{weight:+.2f}", Text(name))
    console.print(table, soft_wrap=False)
