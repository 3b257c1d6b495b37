"""MkDocs hooks that add the notes of research/ to the site.

Links in pages work in the repository; the hooks rewrite them for the site.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown"]

NOTES = Path(__file__).parents[1] / "research"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files with every note added as a page below research/."""
    for note in sorted(NOTES.glob("*.md")):
        text = note.read_text(encoding="utf-8").replace("](../docs/", "](../")
        name = "index.md" if note.name == "README.md" else note.name
        files.append(File.generated(config, f"research/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the text of a page with links to notes rewritten."""
    return markdown.replace("](../research/README.md", "](research/index.md").replace(
        "](../research/", "](research/"
    )
