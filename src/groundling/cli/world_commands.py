"""`groundling new` and `check`: a world of one's own, begun and examined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import (
    DebugOption,
    folder_option,
    make_console,
    plainly,
    say_skipped,
)

_SHOWN = 20  # bad records that are listed


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it, such as my_world.")],
    out: Annotated[Path, folder_option("--out", "-o", help="Folder for the files.")] = Path("."),
    debug: DebugOption = False,
) -> None:
    """Begin a world of your own: a file to change, demonstrations, and a test that passes."""
    with plainly(debug):
        import keyword
        import sys

        from groundling.cli.skeleton import skeleton
        from groundling.errors import SettingError
        from groundling.files import write_atomically

        module = name.removesuffix(".py")
        if (
            not (module.isidentifier() and module[0].isalpha())
            or keyword.iskeyword(module)
            or not module.isascii()
            or module in sys.stdlib_module_names
            or module == "groundling"
        ):
            raise SettingError(
                f"{name!r} cannot be the name of a world: take letters, digits and _, and no name "
                "that Python has already, such as my_world."
            )
        kind, files = skeleton(module)
        there = [each for each in files if (out / each).exists()]
        if there:
            raise SettingError(
                f"{out / there[0]} is there already, and is left as it is. Take another name, or "
                "another folder with --out."
            )
        out.mkdir(parents=True, exist_ok=True)
        for each, content in files.items():
            write_atomically(out / each, content)
        world = f"{out / module}.py:{kind}"
        console = make_console()
        console.print(
            f"Wrote {', '.join(str(out / each) for each in files)}.\n"
            f"Try: groundling check {world} {out / 'demonstrations.jsonl'}"
        )  # fmt: skip


def check(
    world: Annotated[
        str, typer.Argument(metavar="WORLD", help="Such as my_world.py:Kitchen; JSON may follow.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DEMONSTRATIONS]...", help="JSON Lines or Parquet; *.jsonl too."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(help="The state to begin in, JSON or a name in starts; else the world's."),
    ] = None,
    states: Annotated[int, typer.Option(min=1, help="How many states to look at, at most.")] = 200,
    debug: DebugOption = False,
) -> None:
    """Examine a world of your own, and whether demonstrations fit it."""
    with plainly(debug):
        import json

        from groundling.data.own import open_world
        from groundling.errors import DemonstrationError, WorldError
        from groundling.world.environment_checks import check_environment

        console = make_console()
        own = open_world(world, files or (), skip_bad=True, check=True)
        known, begin = own.begin(start)
        try:
            report = check_environment(known.environment, begin, states=states)
        except WorldError as error:
            console.print(str(error))  # a list of what is wrong, a line each
            raise typer.Exit(1) from None
        console.print(str(report))
        known.codec.check(begin, *known.environment.actions(begin))
        console.print(
            f"It begins in: {json.dumps(known.codec.state_to_json(begin), ensure_ascii=False)}",
        )
        offered = known.codec.actions_to_json(known.environment.actions(begin))
        console.print(
            f"Actions there: {', '.join(json.dumps(e, ensure_ascii=False) for e in offered[:5])}",
        )
        if own.demonstrations is None:
            return
        count, lengths, groups, problem = 0, set(), set(), ""
        try:
            for each in own.demonstrations:
                count += 1
                lengths.add(len(each.actions))
                groups.add(each.group)
        except DemonstrationError as error:
            if not own.demonstrations.skipped:
                raise
            problem = str(error)
        if count:
            lasting = f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else f"{max(lengths)}"
            in_groups = f", in {len(groups - {''}):,} groups" if groups - {""} else ""
            console.print(
                f"{count:,} demonstrations can be carried out: {lasting} actions{in_groups}.",
            )
        if say_skipped(console, own.demonstrations, "cannot be used", _SHOWN):
            raise typer.Exit(1)
        if problem:
            raise DemonstrationError(problem)
        if not count:
            raise DemonstrationError(f"There is no demonstration in {', '.join(files or ())}.")
