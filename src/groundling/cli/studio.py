"""The `groundling studio` command: teach an agent in the browser."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from groundling.cli.common import command, make_console

HostOption = Annotated[
    str, typer.Option(help="Host to listen on; any host other than this machine requires a token.")
]
PortOption = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port; defaults to the first free one from 8090."),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        envvar="GROUNDLING_TOKEN",
        help="Access token; by default, generated for hosts that require one.",
    ),
]
WorldOption = Annotated[
    str | None, typer.Option(help="World of the model, such as my_world.py:Kitchen.")
]


def need_server() -> None:
    """Raise `SettingError` if the packages that the server requires are not installed."""
    from importlib.util import find_spec

    from groundling.errors import SettingError

    missing = [name for name in ("fastapi", "uvicorn", "prometheus_client") if not find_spec(name)]
    if missing:
        raise SettingError(
            f"{' and '.join(missing)} must be installed. Run `pip install 'groundling[studio]'`."
        )


@command("All lessons are saved in the project.")
def studio(
    target: Annotated[str | None, typer.Argument(metavar="[MODEL | WORLD | FILE]")] = None,
    project: Path | None = None,
    world: WorldOption = None,
    port: PortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = None,
    classroom: bool = False,
    no_browser: bool = False,
) -> None:
    """Open the studio in the browser to give instructions and teach corrections.

    Parameters
    ----------
    target
        What to open: a model folder, a world (my_world.py:Kitchen, yard.json), a gallery world
        (home, maze, warehouse) or a file exported from the studio (mia.jsonl). Default: kitchen.
    project
        Project folder for your lessons. Default: a separate folder for each world.
    classroom, --class
        Let pupils join over the local network at a short address.
    no_browser
        Do not open a browser; only print the address.
    """
    need_server()
    from groundling.studio.app import make_studio
    from groundling.studio.open_projects import OpenProjects, take_home
    from groundling.studio.server import (
        Address,
        class_code,
        open_page,
        project_folder,
        read_exported,
        read_target,
        run,
    )
    from groundling.studio.store import FILE

    console = make_console()
    # An existing project stores what it opens.
    reopened = target is None and world is None and project is not None
    known = reopened and project is not None and (project / FILE).is_file()
    exported = read_exported(target) if target and target.endswith(".jsonl") else None
    if exported is not None:
        source: dict[str, Any] | None = exported[0].source
        named = {"kind": "world", "world": str(Path(str(target)).resolve())}
    else:
        source = None if known else read_target(target, world)
        named = source or {"kind": "gallery", "name": "kitchen"}
    folder = project if project is not None else project_folder(named)
    if classroom and host == "127.0.0.1":
        host = "0.0.0.0"
    address = Address(host, port, token)
    code = class_code() if classroom else None
    try:
        projects = OpenProjects(folder, source, confirm=confirm)
        if exported is not None and projects.get("main").writes:
            take_home(projects.get("main"), *exported)
    except BaseException:
        address.close()
        raise

    def ready(url: str) -> None:
        console.print(f"The studio is open at {url}")
        if code is not None:
            console.print(f"Pupils join at {address.join(code)}")
        console.print(f"Your lessons are saved in {folder}. Press Ctrl-C to stop.")
        if not projects.get("main").writes:
            console.print(
                "This project is open in another process, so it is read-only here until that "
                "process ends."
            )
        if not no_browser:
            open_page(url)

    joined = None if code is None else address.join(code)
    app = make_studio(projects, token=address.token, code=code, join_address=joined)
    run(app, address, ready=ready)


def confirm(source: Mapping[str, Any]) -> bool:
    """Ask in the terminal whether to trust a project's source, and return the answer.

    Without a terminal, returns False.
    """
    from groundling.studio.scenes import named

    if not _is_terminal():
        return False
    # Escape control characters, which could hide part of the name.
    shown = named(source).encode("unicode_escape").decode("ascii")
    typer.echo(f"The project opens {shown}. This may run the Python code of its world.")
    return typer.confirm("Do you trust it?", default=False)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
