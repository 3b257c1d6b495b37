"""`groundling train`, `follow`, `explain` and `weights`: models of the three tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import (
    ClusterOption,
    CorporaOption,
    DebugOption,
    FilesArgument,
    MemoryOption,
    ParserOption,
    PresetOption,
    SampleOption,
    SkipBadOption,
    TaskArgument,
    check_own_only,
    check_preset,
    check_task_only,
    find_place,
    folder_option,
    make_console,
    plainly,
    print_json,
)

__all__ = ["diagnose", "explain", "follow", "train", "weights"]

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
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def train(
    context: typer.Context,
    task: TaskArgument,
    files: FilesArgument = None,
    preset: PresetOption = "best",
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
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            "-s",
            metavar="NAME=VALUE",
            help="In your own world: change what is chosen, such as learning.l2=3; repeatable.",
        ),
    ] = None,
    cluster: ClusterOption = None,
    memory: MemoryOption = None,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Train a model of a task, or in your own world, and save it.

    Stopped, the training of a task goes on where it was.
    """
    with plainly(debug, "No model was written; the same command goes on where this stopped."):
        import warnings
        from time import perf_counter

        from groundling.data.own import names_world

        if names_world(task):
            from groundling.cli.own import train_own

            check_own_only(context, "preset", "row", "left_out", "corpora", "sample")
            train_own(
                task, files or (), out, make_console(), parser=parser or "default", seed=seed,
                again=again, skip_bad=skip_bad, settings=setting or (), cluster=cluster,
                memory=memory,
            )  # fmt: skip
            return
        check_task_only(files, parser, skip_bad, setting)
        from groundling.cli.progress import progress
        from groundling.cli.talking import count_weights
        from groundling.errors import ConvergenceWarning, SettingError
        from groundling.modelfolder import is_model
        from groundling.tasks.models import Note
        from groundling.tasks.models import train as learn
        from groundling.tasks.registry import get_task

        asked = get_task(task)
        check_preset(asked, preset, row)
        if not again and is_model(out):
            raise SettingError(
                f"{out} holds a model already. Give another folder with --out, or --again to "
                "replace it."
            )
        console = make_console()
        place = find_place(task, corpora, sample, console)
        out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be written is told now
        corpus = asked.load(place.folder)

        def resumed() -> None:
            console.print("Going on with a training that was stopped.")

        began = perf_counter()
        note = Note(task, preset, row, place.folder is None, seed=seed)
        with progress(console, "learning") as report, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # presets say how long to train
            follower, note, count = learn(
                note, corpus, out, left_out=left_out, progress=report, resumed=resumed,
                cluster=cluster, memory=memory,
            )  # fmt: skip
        console.print(
            f"Learnt {count_weights(follower):,} weights from {count:,} demonstrations in "
            f"{perf_counter() - began:.0f} s; left out: {note.left_out or 'nothing'}.",
            soft_wrap=True,
        )
        console.print(f"The model is in {out}. Try: groundling follow {out}", soft_wrap=True)


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
        from groundling.cli import talking

        console = make_console(errors=as_json)
        if picture is not None:
            talking.drawable(picture)
        stage = talking.set_own_stage(model, world, shown, start, parser, length, console)
        if stage is None:
            stage = talking.set_stage(model, where, start, corpora, sample, length, console)
        said = talking.instructions(lines, file)
        if said is None:
            said, plans = talking.converse(stage, console)
        else:
            plans = stage.follow(said)
            if not as_json:
                talking.show(console, plans)
        if picture is not None and plans:
            talking.draw(stage, plans, said, picture)
        if as_json:
            print_json(talking.as_dict(stage, said, plans))


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
        from groundling.cli import talking
        from groundling.errors import InstructionError

        console = make_console(errors=as_json)
        if figure is not None:
            talking.drawable(figure)
        stage = talking.set_own_stage(model, world, shown, start, parser, length, console)
        if stage is None:
            stage = talking.set_stage(model, where, start, corpora, sample, length, console)
        said = talking.instructions(lines, file)
        if said is None:
            raise InstructionError(
                f'There is nothing to explain. Type: groundling explain {model} "your instruction"'
            )
        explained = [plan.explain() for plan in stage.follow(said)]
        for number, why in enumerate(explained, 1):
            if not as_json:
                # Side by side does not fit into a narrow terminal; plain text wraps.
                console.print(why if console.width >= 80 else str(why), markup=False)
            if figure is not None:
                many = f"-{number}" if len(explained) > 1 else ""
                drawn = talking.drawable(figure.with_stem(f"{figure.stem}{many}"))
                why.save(drawn)
                console.print(f"The figure is in {drawn}.", soft_wrap=True, markup=False)
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
    parts: Annotated[
        int | None,
        typer.Option("--parts", min=2, help="Follow each of so many parts as learnt without it."),
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Say what cannot work in your own world, and why demonstrations are not followed."""
    with plainly(debug):
        from groundling.cli.own import diagnose_own

        diagnose_own(
            world, files, make_console(), model, parser=parser, skip_bad=skip_bad, every=every,
            parts=parts,
        )  # fmt: skip


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

        from groundling.cli.own import load_any
        from groundling.cli.talking import weights_of

        follower = load_any(model, parser)
        found, kinds = weights_of(follower, word, member)
        found = found[:most]
        if as_json:
            print_json([{"feature": name, "weight": weight} for name, weight in found])
            return
        console = make_console()
        if kinds:
            console.print(
                f"“{word}” is matched by its spelling or a lexicon, as all words for "
                f"{' or '.join(kinds)} are; what was learnt is about these.",
                soft_wrap=True, markup=False,
            )  # fmt: skip
        table = Table(box=None, pad_edge=False)
        table.add_column("weight", justify="right")
        table.add_column("feature", overflow="fold")
        for name, weight in found:
            table.add_row(f"{weight:+.2f}", Text(name))
        console.print(table)
