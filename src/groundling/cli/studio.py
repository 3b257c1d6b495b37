"""`groundling studio`: teach an agent in the browser."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from groundling.cli.common import DebugOption, make_console, plainly

HostOption = Annotated[
    str, typer.Option(help="Address to listen on; any but this machine's own needs a token.")
]
PortOption = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port; by default the first free one from 8090 on."),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        envvar="GROUNDLING_TOKEN", help="What must be shown; made up away from this machine."
    ),
]
WorldOption = Annotated[
    str | None,
    typer.Option(help="The world a model acts in, such as my_world.py:Kitchen."),
]


def need_server() -> None:
    """Say what to install if the server's libraries are missing."""
    from importlib.util import find_spec

    from groundling.errors import SettingError

    missing = [name for name in ("fastapi", "uvicorn", "prometheus_client") if not find_spec(name)]
    if missing:
        raise SettingError(
            f"{' and '.join(missing)} cannot be found. Type: pip install 'groundling[studio]'"
        )


def studio(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL | WORLD]",
            help="A model's folder, a world (my_world.py:Kitchen, yard.json), or one of the "
            "gallery (home, maze, warehouse); else the kitchen.",
        ),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps what is taught; else one of its own."),
    ] = None,
    world: WorldOption = None,
    port: PortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = None,
    classroom: Annotated[
        bool,
        typer.Option("--class", help="Let pupils on the local network join by a short address."),
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    debug: DebugOption = False,
) -> None:
    """Open the studio: say something, see what the agent does and why, show what you meant."""
    with plainly(debug, "All that was taught is kept in the project."):
        need_server()
        from groundling.studio.app import make_studio
        from groundling.studio.open_projects import OpenProjects
        from groundling.studio.server import (
            Address,
            class_code,
            open_page,
            project_folder,
            read_target,
            run,
        )
        from groundling.studio.store import FILE

        console = make_console()
        # A project that is there already knows what it was made from.
        reopened = target is None and world is None and project is not None
        known = reopened and project is not None and (project / FILE).is_file()
        source = None if known else read_target(target, world)
        folder = (
            project
            if project is not None
            else project_folder(source or {"kind": "gallery", "name": "kitchen"})
        )
        if classroom and host == "127.0.0.1":
            host = "0.0.0.0"
        address = Address(host, port, token)
        code = class_code() if classroom else None
        try:
            projects = OpenProjects(folder, source, confirm=confirm)
        except BaseException:
            address.close()
            raise

        def ready(url: str) -> None:
            console.print(f"The studio is open at {url}")
            if code is not None:
                console.print(f"Pupils join at {address.join(code)}")
            console.print(f"What you teach is kept in {folder}. Ctrl-C ends.")
            if not projects.get("main").writes:
                console.print(
                    "Another process has this project open and learns in it; this one only answers "
                    "until that ends."
                )
            if not no_browser:
                open_page(url)

        joined = None if code is None else address.join(code)
        app = make_studio(projects, token=address.token, code=code, join_address=joined)
        run(app, address, ready=ready)


def confirm(source: Mapping[str, Any]) -> bool:
    """Ask in the terminal whether to open what a project's file names; elsewhere, do not."""
    from groundling.studio.scenes import named

    if not _is_terminal():
        return False
    # What a file holds is shown without characters that could hide some of it.
    shown = named(source).encode("unicode_escape").decode("ascii")
    typer.echo(f"The project's file names {shown}. Opening it may run code of its world.")
    return typer.confirm("Do you trust it?", default=False)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
