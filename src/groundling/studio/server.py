"""Starting the servers: which address, which token, which folder."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.types import ASGIApp

from groundling.data.own import names_world
from groundling.errors import SettingError
from groundling.studio.gallery import GALLERY

__all__ = [
    "Address",
    "class_code",
    "is_project",
    "make_server",
    "project_folder",
    "read_target",
    "run",
]

PORT = 8090


class Address:
    """Where a server listens, and what it asks for.

    Parameters
    ----------
    host, port
        The address; without a port the first free one from 8090 on.
    token
        What must be shown. Away from this machine there always is one: if none is given, it
        is made up.

    Examples
    --------
    >>> address = Address("127.0.0.1", None)
    >>> address.token is None, address.url.startswith("http://127.0.0.1:")
    (True, True)
    >>> address.close()
    """

    def __init__(self, host: str, port: int | None, token: str | None = None) -> None:
        self.host = host
        self.token = token or (None if is_local(host) else secrets.token_urlsafe(18))
        if token is not None and len(token) < 8:
            raise SettingError("The token is too short; give at least 8 characters.")
        self.socket = _bind(host, port)
        self.port = int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        if self.host in ("0.0.0.0", "::"):
            shown = socket.gethostname()
        return f"http://{shown}:{self.port}/" + (
            f"?token={quote(self.token, safe='')}" if self.token else ""
        )

    def join(self, code: str) -> str:
        """Return the short address at which pupils join a class."""
        shown = self.host
        if self.host in ("0.0.0.0", "::"):
            shown = _network_address()
        return f"http://{shown}:{self.port}/j/{code}"

    def close(self) -> None:
        """Let the port go."""
        self.socket.close()


def class_code() -> str:
    """Make up the short code of a class, of letters that are not taken for others.

    >>> len(class_code())
    6
    """
    return "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(6))


def _network_address() -> str:
    """Return this machine's address on the local network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        try:
            found.connect(("10.255.255.255", 1))
            return str(found.getsockname()[0])
        except OSError:
            return socket.gethostname()


def is_local(host: str) -> bool:
    """Tell whether only this machine reaches an address.

    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    problem = ""
    for each in [port] if port is not None else [*range(PORT, PORT + 20), 0]:
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, each))
        except OSError as error:
            bound.close()
            problem = error.strerror or str(error)
        else:
            return bound
    raise SettingError(
        f"Port {port} of {host} cannot be used: {problem}. Give another one with --port."
    )


def make_server(app: ASGIApp) -> Any:
    """Return a server for an application, with limits on what clients may hold.

    >>> make_server(lambda scope, receive, send: None).started
    False
    """
    import uvicorn

    from groundling.studio.connections import BoundedProtocol

    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            lifespan="on",
        )
    )


def run(app: ASGIApp, address: Address, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve an application until it is stopped; `ready` is called once it answers."""
    from groundling.errors import ConvergenceWarning

    # Learning may stop a little before the very minimum: the next click goes on. This is set for
    # the whole process, because filters are not safe to change in the threads that learn.
    warnings.simplefilter("ignore", ConvergenceWarning)

    # Threads that compute hand over more often, so that whoever asks is answered soon.
    sys.setswitchinterval(0.001)
    server = make_server(app)
    if ready is not None:
        told = ready

        def watch() -> None:
            while not server.started and not server.should_exit:
                threading.Event().wait(0.02)
            if server.started:
                told(address.url)

        threading.Thread(target=watch, daemon=True).start()
    server.run(sockets=[address.socket])


def open_page(url: str) -> None:
    """Open the browser; where there is none, the address that was printed has to do."""
    with suppress(webbrowser.Error):
        webbrowser.open(url)


def read_target(target: str | None, world: str | None = None) -> dict[str, Any]:
    """Return what a word on the command line opens: a model's folder, or a world.

    >>> read_target(None)
    {'kind': 'gallery', 'name': 'kitchen'}
    >>> read_target("groundling.studio.kitchen:Kitchen")["kind"]
    'world'
    >>> read_target("nowhere")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is neither a folder nor a world 'nowhere'. Give a
    model's folder, a file and a class such as my_world.py:Kitchen, or a world as JSON.
    """
    if target is None:
        if world is not None:
            return {"kind": "world", "world": _whole(world)}
        return {"kind": "gallery", "name": "kitchen"}
    if target in GALLERY:
        return {"kind": "gallery", "name": target}
    if Path(target).is_dir():
        found = {"kind": "model", "model": str(Path(target).resolve())}
        return {**found, "world": _whole(world)} if world else found
    if names_world(target):
        if world is not None:
            raise SettingError("Two worlds are named. Give one, or a model's folder before it.")
        return {"kind": "world", "world": _whole(target)}
    raise SettingError(
        f"There is neither a folder nor a world {target!r}. Give a model's folder, a file and a "
        "class such as my_world.py:Kitchen, or a world as JSON."
    )


def _whole(world: str) -> str:
    """Return the name of a world with the whole path of its file."""
    if world.endswith(".json"):
        return str(Path(world).resolve())
    place, colon, rest = world.partition(":")
    return f"{Path(place).resolve()}:{rest}" if colon and place.endswith(".py") else world


def is_project(folder: Path) -> bool:
    """Tell whether a folder holds a project of the studio.

    >>> is_project(Path("nowhere"))
    False
    """
    from groundling.studio.store import FILE

    return (folder / FILE).is_file()


def project_folder(source: Mapping[str, Any]) -> Path:
    """Return where a project is kept if nobody says: one folder for each thing opened.

    >>> project_folder({"kind": "gallery", "name": "kitchen"}).name
    'kitchen'
    """
    from platformdirs import user_data_path

    name = str(source.get("name", source["kind"]))
    if source["kind"] not in ("demo", "lesson", "gallery"):
        named = str(source.get("world") or source.get("model"))
        digest = hashlib.sha256(repr(sorted(source.items())).encode()).hexdigest()[:8]
        tail = named.partition("{")[0].replace("\\", "/").rpartition("/")[2].rpartition(":")[2]
        name = f"{tail or 'world'}-{digest}"
    return user_data_path("groundling", appauthor=False) / "studio" / name
