"""`groundling serve`: a trained follower behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import DebugOption, make_console, plainly
from groundling.cli.studio import (
    HostOption,
    PortOption,
    TokenOption,
    WorldOption,
    confirm,
    need_server,
)


def serve(
    model: Annotated[
        Path,
        typer.Argument(
            help="Folder of a trained model, or a project of the studio.", metavar="MODEL"
        ),
    ],
    world: WorldOption = None,
    teach: Annotated[
        bool, typer.Option("--teach", help="Let clients teach it with /v1/teach.")
    ] = False,
    demonstrations: Annotated[
        list[Path] | None,
        typer.Option(
            help="With --teach and --world: a file of what the model learnt from; may be repeated."
        ),
    ] = None,
    port: PortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = None,
    waiting: Annotated[
        int, typer.Option(min=0, max=10_000, help="Requests that may wait; more are refused.")
    ] = 64,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=3600, help="How long a request may take.")
    ] = 20.0,
    debug: DebugOption = False,
) -> None:
    """Serve a trained model to programs: /v1/follow, /v1/explain, /v1/model, /v1/health."""
    with plainly(debug, "Nothing was changed."):
        need_server()
        from groundling.errors import SettingError
        from groundling.studio.project import Project
        from groundling.studio.rate_limit import RateLimit
        from groundling.studio.scenes import open_setting
        from groundling.studio.served import Served, ServedProject
        from groundling.studio.server import Address, is_project, read_target, run
        from groundling.studio.service import make_service

        console = make_console()
        project = is_project(model)
        if project and demonstrations:
            raise SettingError("A project keeps its demonstrations. Leave --demonstrations out.")
        if not model.is_dir():
            raise SettingError(f"There is no folder {model}. Give that of a model or a project.")
        source = read_target(str(model), world)
        if demonstrations and not teach:
            raise SettingError(
                "--demonstrations has no effect without --teach: they are what a model learns from "
                "again when it is taught. Add --teach, or leave them out."
            )
        source["demonstrations"] = [str(each) for each in demonstrations or ()]
        served: Served
        if project:
            named = read_target(None, world) if world is not None else None
            served = ServedProject(Project(model, named, confirm=confirm))
        else:
            served = Served(open_setting(source))
        address = Address(host, port, token)
        limit = RateLimit(waiting=waiting, seconds=seconds)

        def ready(url: str) -> None:
            console.print(f"Serving {model} at {url}")
            if address.token:
                console.print(f"Token: {address.token}")

        app = make_service(served, teach=teach, token=address.token, limit=limit)
        run(app, address, ready=ready)
