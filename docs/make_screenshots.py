"""Screenshots of the studio for the pages: `python docs/make_screenshots.py [FOLDER]`.

The script opens the studio with a new project, gives and demonstrates a few requests in Chromium,
and takes seven screenshots. It also draws the pictures of the gallery (`studio/static/gallery`). It
requires `groundling[studio]`, Playwright, and Debian's Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent / "images"
GALLERY_IMAGES = Path(__file__).parents[1] / "src/groundling/studio/static/gallery"
ABOUT = "(name) => fetch(`/api/projects/${name}`).then((answer) => answer.json())"


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start the studio with a new project; return the process and the address."""
    command = [sys.executable, "-m", "groundling.cli.main", "studio", *arguments, "--no-browser",
               "--port", "0"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise RuntimeError("The studio did not start.")


def wait(page: Any, project: str) -> None:
    """Wait until a project has learnt all its demonstrations."""
    while True:
        about = page.evaluate(ABOUT, project)
        if about["learnt"] == about["revision"]:
            return
        page.wait_for_timeout(200)


def say(page: Any, text: str) -> Any:
    """Type a text; return its turn as soon as the studio has responded."""
    page.locator(".say textarea").fill(text)
    page.locator(".say textarea").press("Enter")
    turn = page.locator(".turn").last
    turn.locator(".turn-tools").wait_for()
    page.wait_for_timeout(1500)
    return turn


def take(address: str, folder: Path) -> None:
    """Visit the pages and take the screenshots."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def visit(path: str, size: tuple[int, int] = (1280, 800), theme: str = "light") -> Any:
            page = browser.new_page(
                viewport={"width": size[0], "height": size[1]}, color_scheme=theme,
                reduced_motion="reduce",
            )  # fmt: skip
            page.set_default_timeout(60_000)
            page.goto(f"{address}#/{path}")
            page.locator("#main[data-ready]").wait_for()
            wait(page, "main")
            page.wait_for_timeout(500)
            return page

        page = visit("")
        page.get_by_role("button", name="bring the red cup to the shelf").click()
        page.locator(".turn-tools").wait_for()
        page.get_by_role("button", name="Why?").click()
        page.locator(".why-short p").first.wait_for()
        page.locator(".bubble.mine").scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "studio-talk.png")

        page = visit("")
        say(page, "go to the shelf")
        say(page, "take the cup")
        page.screenshot(path=folder / "studio-ask.png")

        page = visit("", (390, 844))
        turn = say(page, "räum die Schüssel weg")
        turn.get_by_role("button", name="Show what you mean").click()
        page.locator(".acting").wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "studio-phone.png")

        page = visit("worlds", (1280, 850))
        page.locator(".gallery svg").nth(7).wait_for()
        page.screenshot(path=folder / "studio-worlds.png")
        page.locator("fieldset").first.evaluate("(each) => each.scrollIntoView()")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "studio-editor.png")

        page = visit("model", (1280, 820), "dark")
        page.locator(".words button").filter(has_text="“bring”").click()
        page.locator(".meaning h3").filter(has_text="“bring”").wait_for()
        page.screenshot(path=folder / "studio-model.png")
        browser.close()


def take_home(address: str, folder: Path) -> None:
    """Give a command in the home of the gallery, and take a screenshot of its floor plan."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": 1280, "height": 800}, color_scheme="light", reduced_motion="reduce"
        )
        page.set_default_timeout(60_000)
        page.goto(address)
        page.locator("#main[data-ready]").wait_for()
        wait(page, "main")
        say(page, "switch on the bedside lamp")
        page.screenshot(path=folder / "studio-home.png")
        browser.close()


def draw_gallery(folder: Path) -> None:
    """Draw the first scene of each world of the gallery."""
    from groundling.studio.gallery import GALLERY
    from groundling.studio.pictures import picture

    for name, each in GALLERY.items():
        scene = each.open().scenes[0]
        svg = picture(scene.environment, [scene.start]).svg
        (folder / f"{name}.svg").write_text(f"{svg}\n", encoding="utf-8")


def main(folder: Path) -> None:
    """Take all screenshots and draw the gallery."""
    folder.mkdir(parents=True, exist_ok=True)
    draw_gallery(GALLERY_IMAGES)
    for visit, arguments in ((take, ()), (take_home, ("home",))):
        with tempfile.TemporaryDirectory() as project:
            process, address = start(*arguments, "--project", project)
            try:
                visit(address, folder)
            finally:
                process.terminate()
                process.wait(timeout=30)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
