"""The `groundling serve` command: serve a trained follower over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import command, make_console
from groundling.cli.studio import (
    HostOption,
    PortOption,
    TokenOption,
    WorldOption,
    confirm,
    need_server,
)


@command("Nothing was changed.")
def serve(
    model: Annotated[Path, typer.Argument(metavar="MODEL")],
    world: WorldOption = None,
    teach: bool = False,
    demonstrations: list[Path] | None = None,
    port: PortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = None,
    waiting: Annotated[int, typer.Option(min=0, max=10_000)] = 64,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600)] = 20.0,
) -> None:
    """Serve a trained model or a project over HTTP.

    Parameters
    ----------
    model
        Folder of a trained model or of a studio project.
    teach
        Enable /v1/teach, so that clients can teach corrections.
    demonstrations
        File of training demonstrations, for --teach with --world; may be repeated.
    waiting
        Maximum number of waiting requests.
    seconds
        Timeout of a request in seconds.
    """
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
        raise SettingError(
            "--demonstrations must not be used with a project, which stores its own "
            "demonstrations. Remove --demonstrations."
        )
    if not model.is_dir():
        raise SettingError(
            f"MODEL must be the folder of a model or project; got {model}. Correct the path."
        )
    source = read_target(str(model), world)
    if demonstrations and not teach:
        raise SettingError(
            "--demonstrations can be used only with --teach: teaching retrains the model on them. "
            "Add --teach, or remove --demonstrations."
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
