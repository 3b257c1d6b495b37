"""`groundling train`, `follow`, `explain`, `diagnose` and `weights`: models and what they do."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.common import (
    ClusterOption,
    CorporaOption,
    DebugOption,
    FilesArgument,
    FoldsOption,
    JsonOption,
    MemoryOption,
    ParserOption,
    PresetOption,
    SampleOption,
    SettingOption,
    SkipBadOption,
    TaskArgument,
    check_preset,
    find_source,
    folder_option,
    list_demonstrations,
    make_console,
    plainly,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console


ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Folder that `groundling train` wrote.")
]
LinesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[INSTRUCTION]...", help="What to do; each in quotes."),
]
FileOption = Annotated[
    Path | None, typer.Option("--file", "-f", help="Read instructions from a file, one a line.")
]
WhereOption = Annotated[
    str | None, typer.Option(help="Map or puzzle; by default one that was left out of training.")
]
StartOption = Annotated[
    str | None, typer.Option(help="Where to start; mazes: 3,4,north; your own: JSON or a name.")
]
LengthOption = Annotated[
    int | None, typer.Option(min=1, max=100, help="The number of actions, if it is known.")
]
WorldOption = Annotated[
    str | None, typer.Option("--world", help="Your own world, such as my_world.py:Kitchen.")
]
ShownOption = Annotated[
    list[str] | None,
    typer.Option("--demonstrations", help="Of your own world: begin where the first one does."),
]


def train(
    task: TaskArgument,
    files: FilesArgument = None,
    preset: PresetOption = None,
    out: Annotated[Path, folder_option("--out", "-o", help="Folder for the model.")] = Path(
        "model"
    ),
    row: Annotated[
        str, typer.Option(help="A row of the tables: the preset with a part taken away.")
    ] = "full",
    left_out: Annotated[
        str | None,
        typer.Option(
            "--leave-out", help="Map, maps or puzzles not to learn from, such as 12,13; or none."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For everything random.")] = 0,
    again: Annotated[bool, typer.Option("--again", help="Replace a model that is there.")] = False,
    parser: ParserOption = None,
    skip_bad: SkipBadOption = False,
    setting: SettingOption = None,
    cluster: ClusterOption = None,
    memory: MemoryOption = None,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Train a model of a task, or in your own world, and save it.

    Stopped, the same command resumes the training.
    """
    with plainly(debug, "No model was written; the same command resumes."):
        from time import perf_counter

        from groundling.cli.job_progress import read_changes
        from groundling.cli.progress import progress
        from groundling.cli.stage import count_weights
        from groundling.data.own import names_world, open_world
        from groundling.errors import SettingError
        from groundling.modelfolder import is_model
        from groundling.tasks.jobs import load_corpus
        from groundling.tasks.model_notes import Note
        from groundling.tasks.model_notes import train as learn
        from groundling.tasks.task_registry import get_task

        asked = get_task(task)
        preset = check_preset(asked, preset, row)
        changes = read_changes(setting or ())
        own, large = names_world(task), cluster is not None or memory is not None
        if setting and large:
            raise SettingError(
                "--setting cannot be given with --memory or --cluster. Leave it out, or use "
                "Follower(…).fit(…, memory=…) in Python."
            )
        console = make_console()
        corpus, shown, source = None, None, None
        if own and large:  # read in parts, again and again, with what is bad left out each time
            shown = open_world(task, files or (), skip_bad=skip_bad, check=skip_bad).demonstrations
            if shown is None:
                raise SettingError(
                    "--memory and --cluster need files of demonstrations. Name some."
                )
        else:
            source = find_source(asked, files, corpora, sample, console, skip_bad=skip_bad)
            corpus = load_corpus(task, source)
        if not again and is_model(out):
            raise SettingError(
                f"{out} holds a model already. Give another folder with --out, or --again to "
                "replace it."
            )
        out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be written is told now
        began = perf_counter()
        note = Note(task, preset, row, source is None and not own, seed=seed)
        auto = asked.presets.select(preset, row).auto
        choices: list[Any] = []
        with progress(console, "learning") as report, warnings_told(console, convergence=auto):
            follower, note, count = learn(
                note, corpus, out, left_out=left_out, progress=report,
                resumed=lambda: console.print("Resuming a training that was stopped."),
                changes=((("parser", parser),) if parser else ()) + changes,
                cluster=cluster, memory=memory, shown=shown, tell=choices.extend,
            )  # fmt: skip
        apart = "" if own else f"; left out: {note.left_out or 'nothing'}"
        console.print(
            f"Learnt {count_weights(follower):,} weights from {count:,} demonstrations in "
            f"{perf_counter() - began:.0f} s{apart}.",
        )
        if auto:
            _show_choices(console, choices, setting or ())
        where = f" --world {task}" if own else ""
        console.print(f"The model is in {out}. Try: groundling follow {out}{where}")


def _show_choices(console: Console, choices: Iterable[Any], settings: Iterable[str]) -> None:
    """Say what was chosen from the demonstrations, and how to change it here."""
    console.print("Chosen from the demonstrations:")
    for each in choices:
        name = each.what.lower()
        change = name if "." in name else f"{name}.NAME"
        console.print(
            f"- {each.what} = {each.chosen}: {each.why}. To change it: --setting {change}=…",
        )
    for text in settings:
        console.print(f"- {text}: as you said.")


@contextmanager
def warnings_told(console: Console, *, convergence: bool = True) -> Iterator[None]:
    """Print warnings as sentences; presets say how long to train, so that they may not converge."""
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


def follow(
    model: ModelArgument,
    lines: LinesArgument = None,
    file: FileOption = None,
    where: WhereOption = None,
    start: StartOption = None,
    length: LengthOption = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the way into a file (PNG, SVG or PDF).")
    ] = None,
    world: WorldOption = None,
    shown: ShownOption = None,
    parser: ParserOption = None,
    as_json: JsonOption = False,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Follow instructions: given here, in a file, or typed one by one."""
    with plainly(debug):
        from groundling.cli import stage

        console = make_console(errors=as_json)
        if picture is not None:
            stage.drawable(picture)
        place = stage.set_stage(
            model, console, where=where, start=start, length=length, world=world,
            shown=shown or (), parser=parser, corpora=corpora, sample=sample,
        )  # fmt: skip
        said = stage.instructions(lines, file)
        if said is None:
            said, plans = stage.converse(place, console)
        else:
            plans = place.follow(said)
            if not as_json:
                stage.show(console, plans)
        if picture is not None and plans:
            place.draw(plans, said, picture)
        if as_json:
            print_json(stage.as_dict(place, said, plans))


def explain(
    model: ModelArgument,
    lines: LinesArgument = None,
    file: FileOption = None,
    where: WhereOption = None,
    start: StartOption = None,
    length: LengthOption = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the explanation into a file (PNG, SVG or PDF).")
    ] = None,
    world: WorldOption = None,
    shown: ShownOption = None,
    parser: ParserOption = None,
    as_json: JsonOption = False,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Follow instructions and say why: which words caused which action, by which weights."""
    with plainly(debug):
        from groundling.cli import stage
        from groundling.errors import InstructionError

        console = make_console(errors=as_json)
        if figure is not None:
            stage.drawable(figure)
        place = stage.set_stage(
            model, console, where=where, start=start, length=length, world=world,
            shown=shown or (), parser=parser, corpora=corpora, sample=sample,
        )  # fmt: skip
        said = stage.instructions(lines, file)
        if said is None:
            raise InstructionError(
                f'There is nothing to explain. Type: groundling explain {model} "your instruction"'
            )
        explained = [plan.explain() for plan in place.follow(said)]
        for number, why in enumerate(explained, 1):
            if not as_json:
                # Side by side does not fit into a narrow terminal; plain text wraps.
                console.print(why if console.width >= 80 else str(why), soft_wrap=False)
            if figure is not None:
                many = f"-{number}" if len(explained) > 1 else ""
                drawn = stage.drawable(figure.with_stem(f"{figure.stem}{many}"))
                why.save(drawn)
                console.print(f"The figure is in {drawn}.")
        if as_json:
            print_json([why.to_dict() for why in explained])


def diagnose(
    world: Annotated[
        str, typer.Argument(metavar="WORLD", help="Your own world, such as my_world.py:Kitchen.")
    ],
    files: Annotated[
        list[str],
        typer.Argument(metavar="DEMONSTRATIONS...", help="JSON Lines or Parquet files."),
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="Folder that `groundling train` wrote.")
    ] = Path("model"),
    parser: ParserOption = None,
    skip_bad: SkipBadOption = False,
    every: Annotated[
        bool, typer.Option("--all", help="Tell of all that go wrong, not only of the first ten.")
    ] = False,
    folds: FoldsOption = None,
    debug: DebugOption = False,
) -> None:
    """Say what cannot work in your own world, and why demonstrations are not followed."""
    with plainly(debug):
        from groundling.follower import Follower
        from groundling.tasks.task_registry import get_task

        console = make_console()
        follower = Follower.load(model, parser=parser)
        shown = list_demonstrations(get_task(world), files, console, skip_bad=skip_bad)
        found = follower.diagnose(shown, parts=folds)
        console.print(found.summary(None) if every else found.summary(rest="with --all"))


def weights(
    model: ModelArgument,
    word: Annotated[str, typer.Option("--word", "-w", help="Only features of this word.")] = "",
    most: Annotated[int, typer.Option("--most", "-n", min=1, help="How many to show.")] = 20,
    member: Annotated[
        int, typer.Option("--member", min=0, help="The weights of this member of an ensemble.")
    ] = 0,
    parser: ParserOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show what was learnt: the strongest weights, as in the paper's Table 2."""
    with plainly(debug):
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
                f"“{word}” is matched by its spelling or a lexicon, as all words for "
                f"{' or '.join(kinds)} are; what was learnt is about these.",
            )
        table = Table(box=None, pad_edge=False)
        table.add_column("weight", justify="right")
        table.add_column("feature", overflow="fold")
        for name, weight in found:
            table.add_row(f"{weight:+.2f}", Text(name))
        console.print(table, soft_wrap=False)
