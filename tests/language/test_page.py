"""The page about other languages runs, and the core knows no English."""

import contextlib
import io
import re
from pathlib import Path

import groundling
from groundling import Demonstration, Follower, Search
from groundling.language import ChainParser, Language, language_of
from tests.worlds import Line

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "languages.md").read_text(encoding="utf-8")
SOURCE = Path(groundling.__file__).parent
CORE = ("features", "overlay", "inference", "models", "learning")
WORDS = ("the", "an", "and", "then", "you", "two", "second", "twice", "will")


def test_page_of_languages_prints_what_its_code_prints():
    [(code, text)] = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "languages.md", "exec"), {})
    assert printed.getvalue() == text


def test_languages_core_holds_no_english_words():
    pattern = re.compile(rf"""["'](?:{"|".join(WORDS)})["']""")
    for room in CORE:
        for path in (SOURCE / room).rglob("*.py"):
            code = re.sub(r'"""(.|\n)*?"""', "", path.read_text(encoding="utf-8"))
            assert not pattern.search(code), path


def test_languages_of_ones_own_are_kept_in_model_files(tmp_path):
    language = Language("elvish", numerals={"tad": 2}, cased=False)
    world = Line()
    shown = [Demonstration("go left", world, 2, ("left",))]
    follower = Follower(parser=ChainParser(language=language), search=Search(max_length=1))
    loaded = Follower.load(follower.fit(shown).save(tmp_path / "model"))
    assert language_of(loaded.parser) == language
    assert loaded.follow("go left", world, 2).actions == ("left",)
