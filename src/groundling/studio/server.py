"""Start of a server: its address, token, target and project folder."""

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
from groundling.errors import DemonstrationError, SettingError
from groundling.files import read_plain
from groundling.limits import IMPORT_BYTES
from groundling.studio.exchange import Brought, read_brought
from groundling.studio.gallery import GALLERY

PORT = 8090


class Address:
    """Address to which a server is bound, with the access token.

    Parameters
    ----------
    host, port
        The address; `port` defaults to the first free port from 8090.
    token
        The access token. If other machines can reach `host`, a token is required; by default, it
        is then generated.

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
            raise SettingError(
                f"The token must have at least 8 characters; got {len(token)}. Use a longer one."
            )
        self.socket = _bind(host, port)
        self.port = int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """URL to open, with the token if there is one."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        if self.host in ("0.0.0.0", "::"):
            shown = socket.gethostname()
        return f"http://{shown}:{self.port}/" + (
            f"?token={quote(self.token, safe='')}" if self.token else ""
        )

    def join(self, code: str) -> str:
        """Return the short URL at which pupils join a class."""
        shown = self.host
        if self.host in ("0.0.0.0", "::"):
            shown = _network_address()
        return f"http://{shown}:{self.port}/j/{code}"

    def close(self) -> None:
        """Release the port."""
        self.socket.close()


def class_code() -> str:
    """Return a random short class code without characters that are easily confused.

    >>> len(class_code())
    6
    """
    return "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(6))


def _network_address() -> str:
    """Return this machine's address on the local network, without sending anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        try:
            found.connect(("10.255.255.255", 1))
            return str(found.getsockname()[0])
        except OSError:
            return socket.gethostname()


def is_local(host: str) -> bool:
    """Return whether only this machine can reach an address.

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
        f"Port {port} of {host} cannot be used: {problem}. Choose another one with --port."
    )


def make_server(app: ASGIApp) -> Any:
    """Return a server for an application, with limits on connections.

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
    """Serve an application until it is stopped; call `ready` when it accepts requests."""
    from groundling.errors import ConvergenceWarning

    # No convergence warnings: training that stops early continues with the next demonstration.
    # The filter is set for the whole process, because changing it in a thread is not safe.
    warnings.simplefilter("ignore", ConvergenceWarning)

    # Switch threads more often, so that training does not delay responses.
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
    """Open a URL in the browser, if there is one."""
    with suppress(webbrowser.Error):
        webbrowser.open(url)


def read_target(target: str | None, world: str | None = None) -> dict[str, Any]:
    """Return the source that a command-line argument names, such as a model or a world.

    >>> read_target(None)
    {'kind': 'gallery', 'name': 'kitchen'}
    >>> read_target("groundling.studio.kitchen:Kitchen")["kind"]
    'world'
    >>> read_target("nowhere")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The target must be a model folder, a world such as
    my_world.py:Kitchen or yard.json, or the name of a gallery world; got 'nowhere'.
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
            raise SettingError(
                f"The argument {target!r} and --world {world!r} both specify a world. "
                "Pass only one "
                "of them. To combine --world with an argument, pass the folder of a model."
            )
        return {"kind": "world", "world": _whole(target)}
    raise SettingError(
        "The target must be a model folder, a world such as my_world.py:Kitchen or yard.json, or "
        f"the name of a gallery world; got {target!r}."
    )


def read_exported(path: str) -> tuple[Brought, bytes]:
    """Return the header and the content of a file that was exported from the studio."""
    data = read_plain(Path(path), IMPORT_BYTES, DemonstrationError, links=True)
    brought = read_brought(data)
    if brought is None:
        raise SettingError(
            f"{path} must start with the world that its examples belong to, as written by “Export” "
            "in the studio. Open the world instead, and import the file on the Examples page."
        )
    return brought, data


def _whole(world: str) -> str:
    """Return the name of a world, with the absolute path of its file."""
    if world.endswith(".json"):
        return str(Path(world).resolve())
    place, colon, rest = world.partition(":")
    return f"{Path(place).resolve()}:{rest}" if colon and place.endswith(".py") else world


def is_project(folder: Path) -> bool:
    """Return whether a folder contains a studio project.

    >>> is_project(Path("nowhere"))
    False
    """
    from groundling.studio.store import FILE

    return (folder / FILE).is_file()


def project_folder(source: Mapping[str, Any]) -> Path:
    """Return the default project folder of a source.

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
