"""The worked example runs, is right, and is what its page prints."""

import contextlib
import io
import json
import re
import runpy
from pathlib import Path

import pytest

from groundling import Follower
from groundling.checks.registry import missing_labels

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "kitchen.py"
PAGE = (ROOT / "docs" / "your-environment.md").read_text(encoding="utf-8")
LABELS = (ROOT / "docs" / "labels.md").read_text(encoding="utf-8")


def without_decimals(text: str) -> str:
    """Blank out what may differ in the last place between machines."""
    return re.sub(r"[+-]?\d+\.\d+", "#", text)


@pytest.fixture(scope="module", autouse=True)
def at_home():
    """No start of these worlds is taken for another world than the one learnt in."""
    read = Follower._requests

    def checked(self, requests):
        for _, environment, start in requests:
            assert missing_labels(self.learnt_, [(environment, start)]) == ()
        return read(self, requests)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Follower, "_requests", checked)
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kitchen")
    names = runpy.run_path(str(SCRIPT))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names["main"](folder)
    return folder, names, printed.getvalue()


def test_example_is_under_a_hundred_lines():
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) < 100


def test_example_is_printed_whole_on_its_page():
    assert f"```python\n{SCRIPT.read_text(encoding='utf-8')}```" in PAGE


def test_example_prints_what_its_page_says(ran):
    printed = without_decimals(ran[2])
    shown = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 2
    for part in (part for block in shown for part in block.split("…\n")):
        assert without_decimals(part.strip()) in printed


def test_example_follows_instructions_with_names_it_never_saw(ran):
    folder, names, printed = ran
    share = int(re.search(r"(\d+)% of 60 right", printed)[1])
    assert share >= 95
    follower = Follower.load(folder / "model")
    kitchen = names["Kitchen"]("oven", "bench")
    start = names["State"]("bench", "", frozenset({("pink jug", "oven"), ("pink mug", "bench")}))
    plan = follower.follow("bring the pink jug to the bench", kitchen, start)
    assert plan.actions == (
        "go to the oven", "take the pink jug", "go to the bench", "put down the pink jug",
    )  # fmt: skip
    asked = [step.asked for step in plan.explain().steps]
    assert asked == [False, False, False, True]
    json.dumps(plan.explain().to_dict())


def test_example_draws_its_explanation(ran):
    assert (ran[0] / "why.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("table", {"of 100 right": 95, "with names that it never saw": 90}),
        ("route", {"of 50 routes end": 90, "of 50 are right step by step": 90}),
    ],
)
def test_worlds_of_different_kinds_are_short_shown_and_right(name, least):
    script = ROOT / "examples" / f"{name}.py"
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 100
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    assert f"```python\n{text}```" in page
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(script))["main"]()
    for words, share in least.items():
        [line] = [each for each in printed.getvalue().splitlines() if f"{words}" in each
                  and (words != "of 100 right" or each.endswith(words))]  # fmt: skip
        assert int(line.split("%")[0]) >= share


def test_conversations_are_at_home_where_they_learnt(capsys):
    runpy.run_path(str(ROOT / "examples" / "conversation.py"))["main"]()
    assert "the same with the orange one" in capsys.readouterr().out


def test_home_is_short_shown_and_better_with_each_step():
    script = ROOT / "examples" / "home.py"
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 100
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(script))["main"]()
    [page] = re.findall(r"```text\n(.*?)```", LABELS, re.DOTALL)
    shown, ran = (
        [(each.split(":")[0], int(re.search(r"(\d+)%", each)[1])) for each in part.splitlines()]
        for part in (page, printed.getvalue())
    )
    assert [name for name, _ in shown] == [name for name, _ in ran]
    for (_, said), (_, share) in zip(shown, ran, strict=True):
        assert abs(said - share) <= 4  # three texts of eighty, between machines
    plain, rich, remembering = (share for _, share in ran)
    assert plain <= rich + 1  # names and values are understood without rich labels, too
    assert rich + 5 <= remembering


def test_page_of_labels_prints_what_its_code_prints():
    [(code, text)] = re.findall(r"```python\n((?:(?!```).)*?)```\n```\n(.*?)```", LABELS, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "labels.md", "exec"), {})
    assert printed.getvalue() == text


def test_tour_is_kept_without_outputs():
    # `make docs` runs the notebook, and CI runs that.
    book = json.loads((ROOT / "docs" / "tour.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert code
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
