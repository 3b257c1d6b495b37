"""Servers and a browser for the tests of the studio."""

import importlib.util
import json
import shutil
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from starlette.testclient import TestClient

from groundling.studio.app import make_studio
from groundling.studio.open_projects import OpenProjects
from groundling.studio.rate_limit import RateLimit


def pytest_collection_modifyitems(items):
    """Let followers in the background stop before the very minimum, as the commands do."""
    for each in items:
        if Path(__file__).parent in each.path.parents:
            each.add_marker(
                pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")
            )


class LocalClient(TestClient):
    """A client that reaches an application as this machine does."""

    def __init__(self, app, **options):
        super().__init__(app, **{"base_url": "http://127.0.0.1:8090", **options})


# No sandbox in containers; nothing in the background takes the processor from the page.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def serving(app):
    """Serve an application on a free port, in a thread."""
    from groundling.studio.server import make_server

    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """The address of a studio whose main project is an empty kitchen."""
    projects = OpenProjects(tmp_path_factory.mktemp("studio") / "project", {"kind": "lesson"})
    with serving(make_studio(projects, limit=RateLimit(seconds=120))) as address:
        yield address


@pytest.fixture
def room(studio):
    """Open worlds as new projects; returns the studio's address and the project's name."""

    def begin(**wanted):
        body = json.dumps(wanted or {"gallery": "empty-kitchen"}).encode()
        made = Request(f"{studio}/api/worlds", body, {"content-type": "application/json"})
        with urlopen(made) as answer:
            return studio, json.load(answer)["project"]

    return begin


@pytest.fixture(scope="module")  # Playwright holds the event loop for as long as it runs
def chromium():
    """A browser, or a reason why there is none."""
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Debian's Chromium is not installed (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Open pages; whatever the browser complains of fails the test."""
    complaints = []
    contexts = []

    def open_page(address, *, size=(1280, 900), theme="light", context=None):
        if context is None:
            context = chromium.new_context(
                viewport={"width": size[0], "height": size[1]}, color_scheme=theme,
                reduced_motion="reduce",
            )  # fmt: skip
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.goto(address)
        return page

    open_page.complaints = complaints
    yield open_page
    for each in contexts:
        each.close()
    assert complaints == []


@pytest.fixture
def small_world(tmp_path):
    """A file with a world that draws nothing."""
    file = Path(tmp_path) / "small_world.py"
    file.write_text(WORLD, encoding="utf-8")
    return file


WORLD = '''
from groundling import GroundingGraph

class Lamp:
    """A lamp; it has no picture."""
    start = "off"
    def actions(self, state): return ("on", "off")
    def step(self, state, action): return action
    def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
    def describe(self, state): return f"The lamp is {state}."

class Broken(Lamp):
    """A lamp whose picture fails."""
    def draw(self, state): raise RuntimeError("no <b>paint</b>")

class Lost(Lamp):
    """A lamp without an initial state."""
    start = property()
'''
