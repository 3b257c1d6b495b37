"""The table of promises names tests that exist, and every file here stands in a table."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ROWS = re.findall(r"^\| (\d+) \| (.+?) \| (.+) \|$", (HERE / "README.md").read_text(), re.MULTILINE)


def test_promises_are_numbered():
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 35))


@pytest.mark.parametrize(("number", "tests"), [(number, tests) for number, _, tests in ROWS])
def test_promises_have_tests(number, tests):
    named = re.findall(r"`([^`]+)`", tests)
    assert named, number
    for each in named:
        file, _, function = each.partition("::")
        path = ROOT / file if file.startswith("tests/") else HERE / file
        assert path.is_file(), each
        text = path.read_text(encoding="utf-8")
        assert re.search(rf"^def {function}\(" if function else r"^def test_", text, re.MULTILINE)


def test_promises_are_all_on_the_page():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    known = (HERE / "README.md").read_text(encoding="utf-8") + page
    files = {each.stem for each in HERE.glob("test_*.py")}
    assert sorted(each for each in files if each not in known) == []
