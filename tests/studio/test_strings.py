"""Sentences of the server in the language of the page."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from groundling.data import scene_world
from groundling.studio import (
    app,
    events,
    exchange,
    gallery,
    open_projects,
    project,
    rate_limit,
    store,
    texts,
)

STRINGS = Path(app.__file__).parent / "static" / "strings.js"
# Raised before a page is open, or only for a damaged or outdated file.
NEVER_SHOWN = re.compile(
    r"There is no project in|belongs to another world|may run code|The file project\.sqlite"
    r"|must be a regular file|made by a newer|tored d|in JSON|JSON (number|string) must"
    r"|must be a UTF-8 text file|>= 1|^\{}: \{}$|^Stored data"
)


def messages(module):
    """Yield the message of each error that a module raises, with {} for its values."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith(
            ("Error", "HTTPException", "kind")
        ):
            continue
        for given in node.args:
            parts = given.values if isinstance(given, ast.JoinedStr) else [given]
            said = "".join(
                each.value if isinstance(each, ast.Constant) and isinstance(each.value, str)
                else "{}" for each in parts
            )  # fmt: skip
            if " " in said:
                yield said


def table():
    """Return the English sentences of the server in the table of strings."""
    text = STRINGS.read_text(encoding="utf-8")
    rows = text.split("const PROBLEMS = [")[1].split("\n];")[0]
    return re.findall(r'^  \["(.*?)", "', rows, re.MULTILINE)


@pytest.mark.parametrize(
    "module",
    [app, events, exchange, gallery, open_projects, project, rate_limit, store, texts, scene_world],
)
def test_every_error_of_the_studio_is_in_the_table_of_strings(module):
    known = {re.sub(r"\{\d\}", "{}", each) for each in table()}
    found = [each for each in messages(module) if not NEVER_SHOWN.search(each)]
    assert found
    assert [each for each in found if each not in known] == []


def test_no_sentence_is_in_the_table_twice():
    listed = table()
    assert len(listed) > 50
    assert len(set(listed)) == len(listed)
