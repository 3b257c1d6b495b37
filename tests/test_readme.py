"""The README's example runs as printed."""

import contextlib
import io
import re
import runpy
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_readme_example_prints_what_it_says():
    text = README.read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```\n(.*?)```", text, re.DOTALL).groups()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == printed


def test_readme_dialogue_is_what_the_example_prints():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(README.parent / "examples" / "dialogue.py"), run_name="__main__")
    page = README.parent / "docs" / "dialogue.md"
    for text in (README.read_text(encoding="utf-8"), page.read_text(encoding="utf-8")):
        assert f"```\n{out.getvalue()}```" in text


def test_readme_example_is_short():
    [code] = blocks("python")
    assert len(code.splitlines()) <= 25


def test_readme_commands_are_in_the_makefile():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
