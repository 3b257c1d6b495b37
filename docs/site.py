"""Lets the site show the notes of research/, which stand beside docs/ in the repository.

Links are written so that they work in the repository; here they are turned to the places that
pages have on the site.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown"]

NOTES = Path(__file__).parents[1] / "research"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every note, as a page below research/."""
    for note in sorted(NOTES.glob("*.md")):
        text = note.read_text(encoding="utf-8").replace("](../docs/", "](../")
        name = "index.md" if note.name == "README.md" else note.name
        files.append(File.generated(config, f"research/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links from pages to notes."""
    return markdown.replace("](../research/README.md", "](research/index.md").replace(
        "](../research/", "](research/"
    )
