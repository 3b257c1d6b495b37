"""The screenshots of `docs/studio.md`: `python docs/make_screenshots.py [FOLDER]`.

Opens the studio with a project of its own, says and shows a few things in Chromium, and takes
four pictures. It needs `groundling[studio]`, Playwright, and Debian's Chromium.
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
SAID = "Follow the blue hall to the end. Turn left and go to the barstool."
# Ten sentences for the lesson, each with the thing and the place it is about.
LESSON = (
    ("geh zum Tisch", "", "table"), ("nimm die rote Tasse", "red cup", ""),
    ("lauf zum Regal", "", "shelf"), ("nimm die blaue Tasse", "blue cup", ""),
    ("bring die rote Schale zum Tisch", "red bowl", "table"), ("geh zum Becken", "", "sink"),
    ("bring die blaue Tasse zum Regal", "blue cup", "shelf"),
    ("nimm die rote Schale", "red bowl", ""),
    ("bring die rote Tasse zum Becken", "red cup", "sink"),
    ("stell die blaue Tasse auf den Tisch", "blue cup", "table"),
)  # fmt: skip
ABOUT = "(name) => fetch(`/api/projects/${name}`).then((answer) => answer.json())"
TEACH = """async ([name, body]) => {
  const answer = await fetch(`/api/projects/${name}/teach`, {
    method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body)});
  if (!answer.ok) throw new Error(await answer.text());
}"""


def start(folder: str) -> tuple[subprocess.Popen[str], str]:
    """Start the studio with a project of its own."""
    command = [sys.executable, "-m", "groundling.cli.main", "studio", "--no-browser",
               "--port", "0", "--project", folder]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise RuntimeError("The studio did not start.")


def lesson() -> list[dict[str, Any]]:
    """Return the demonstrations of the lesson, each in another kitchen."""
    from groundling.studio.scenes import lesson_setting

    found: list[dict[str, Any]] = []
    scenes = iter(lesson_setting().scenes)
    for text, thing, place in LESSON:
        actions: list[str] = []
        while not actions:  # in some kitchens there is nothing to do
            scene = next(scenes)
            state: Any = scene.start
            wanted = [dict(state.lying)[thing], thing, place] if thing else [place]
            here = state.at
            for each in wanted:
                if each and each == thing:
                    actions.append(f"take the {thing}")
                elif each and each != here:
                    actions.append(f"go to the {each}")
                    here = each
            if thing and place:
                actions.append(f"put down the {thing}")
        found.append({"scene": scene.name, "text": text, "actions": actions})
    return found


def wait(page: Any, project: str) -> None:
    """Wait until a project has learnt all that it was taught."""
    while True:
        about = page.evaluate(ABOUT, project)
        if about["learnt"] == about["revision"]:
            return
        page.wait_for_timeout(200)


def take(address: str, folder: Path) -> None:
    """Go through the pages and take the pictures."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def visit(path: str, size: tuple[int, int], theme: str = "light") -> Any:
            page = browser.new_page(
                viewport={"width": size[0], "height": size[1]}, color_scheme=theme,
                reduced_motion="reduce",
            )  # fmt: skip
            page.set_default_timeout(300_000)
            page.goto(f"{address}#/{path}")
            page.locator(".page h1").wait_for(state="attached")
            return page

        page = visit("", (1280, 1230))
        wait(page, "main")
        page.get_by_label("Scene").select_option("New maze, in the west")
        page.wait_for_timeout(500)
        page.locator(".talk textarea").fill(SAID)
        page.get_by_role("button", name="Follow", exact=True).click()
        page.locator(".why .word").first.wait_for()
        page.locator(".why .act").first.click()
        page.mouse.move(0, 0)
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "studio-teach.png")

        page = visit("", (1280, 860), "dark")
        page.locator(".talk textarea").fill("Bring me a cup of tea.")
        page.get_by_role("button", name="Follow", exact=True).click()
        page.locator(".ask").wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "studio-ask.png")

        page = visit("inside", (1280, 760))
        page.locator(".words button").filter(has_text="left").first.click()
        page.locator(".meaning h3").filter(has_text="left").wait_for()
        page.mouse.move(0, 0)
        page.screenshot(path=folder / "studio-inside.png")

        page = visit("lesson", (1080, 1180))
        page.locator(".graph .token").first.wait_for()
        name = page.evaluate("localStorage.getItem('lesson')")
        for body in lesson():
            page.evaluate(TEACH, [name, body])
            wait(page, name)
        page.reload()
        page.get_by_label("Scene").select_option("Kitchen 1")
        page.wait_for_timeout(500)
        page.locator(".talk textarea").fill("bring die rote Schale zum Becken")
        page.get_by_role("button", name="Follow", exact=True).click()
        page.locator(".why .word").first.wait_for()
        page.locator("#chapter-3").scroll_into_view_if_needed()
        page.evaluate("document.getElementById('chapter-3').parentElement.scrollIntoView()")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "studio-lesson.png")
        browser.close()


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as project:
        process, address = start(project)
        try:
            take(address, folder)
        finally:
            process.terminate()
            process.wait(timeout=30)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
