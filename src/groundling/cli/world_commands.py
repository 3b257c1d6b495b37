"""The commands `groundling new` and `groundling check`, for your own world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import FolderOption, command, make_console, say_skipped

_SHOWN = 20  # maximum number of invalid records to list


@command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME")], out: FolderOption = Path(".")
) -> None:
    """Create a small world to edit, with demonstrations and a test.

    Parameters
    ----------
    name
        Name of the world, such as my_world.
    out, -o
        Folder for the files.
    """
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
            "The name of a world must be a Python identifier that is not yet taken, such as "
            f"my_world; got {name!r}."
        )
    kind, files = skeleton(module)
    there = [each for each in files if (out / each).exists()]
    if there:
        raise SettingError(
            f"The file {out / there[0]} already exists; nothing was changed. Use another "
            "name, or another folder with --out."
        )
    out.mkdir(parents=True, exist_ok=True)
    for each, content in files.items():
        write_atomically(out / each, content)
    make_console().print(
        f"Created {', '.join(str(out / each) for each in files)}.\n"
        f"Try: groundling check {out / module}.py:{kind} {out / 'demonstrations.jsonl'}"
    )


@command()
def check(
    world: Annotated[str, typer.Argument(metavar="WORLD")],
    files: Annotated[list[str] | None, typer.Argument(metavar="[DEMONSTRATIONS]...")] = None,
    start: str | None = None,
    states: Annotated[int, typer.Option(min=1)] = 200,
) -> None:
    """Check your own world and the demonstrations in the given files.

    Parameters
    ----------
    world
        World, such as my_world.py:Kitchen, optionally with JSON arguments.
    files
        JSON Lines or Parquet files.
    start
        Initial state: JSON, or a name in the world's `starts`. Default: its initial_state().
    states
        Maximum number of states to visit.
    """
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
        console.print(str(error))  # a list of problems, one per line
        raise typer.Exit(1) from None
    console.print(str(report))
    known.codec.check(begin, *known.environment.actions(begin))
    state = json.dumps(known.codec.state_to_json(begin), ensure_ascii=False)
    offered = known.codec.actions_to_json(known.environment.actions(begin))
    console.print(
        f"Initial state: {state}\n"
        f"Actions there: {', '.join(json.dumps(e, ensure_ascii=False) for e in offered[:5])}"
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
        some = len(groups - {""})
        in_groups = f", in {some:,} group{'s' * (some != 1)}" if some else ""
        valid = "demonstration is valid" if count == 1 else "demonstrations are valid"
        actions = "action" if lengths == {1} else "actions"
        console.print(f"{count:,} {valid}: {lasting} {actions}{in_groups}.")
    if say_skipped(console, own.demonstrations, "are unusable", _SHOWN):
        raise typer.Exit(1)
    if problem:
        raise DemonstrationError(problem)
    if not count:
        raise DemonstrationError(
            "The files must contain at least one demonstration; got none in "
            f"{', '.join(files or ())}. Add a record."
        )
