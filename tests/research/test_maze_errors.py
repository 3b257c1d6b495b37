"""The page of errors in mazes."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from groundling import Demonstration, Features, Follower, Instruction, Overlay, PlanModel
from groundling.tasks.mazes import face, generate_mazes, generate_routes
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.task import MazeTask
from research.maze_errors import (
    Answer,
    ErrorReport,
    breakdown,
    follow_all,
    main,
    sentence_type,
)
from tools.corpus_files import write_mazes

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("corpus")
    write_mazes(made, generate_routes(generate_mazes(4, 2, size=4, halls=5), 30, seed=2))
    return made


@pytest.fixture(scope="module", autouse=True)
def chained():
    """Spare the parser, which takes long to load."""
    presets = MazeTask.presets.rows
    with pytest.MonkeyPatch.context() as patch:
        for name in ("paper", "best"):
            rows = {row: replace(each, parser="chain") for row, each in presets[name].items()}
            patch.setitem(presets, name, rows)
        yield


@pytest.fixture(scope="module")
def answers(folder):
    return follow_all(folder)


def test_sentence_type_reads_the_parse():
    state = Instruction(
        ("this", "is", "it"), (2, 2, -1), ("nsubj", "cop", "root"), ("PRON", "AUX", "PRON")
    )
    go = Instruction(("go",), (-1,), ("root",), ("VERB",))
    assert sentence_type([state]) == "declarative"
    assert sentence_type([state, go]) == "imperative"
    assert sentence_type([Instruction.chain("two steps")]) == "fragment"


def test_breakdown_counts_every_answer_once_in_each_grouping(answers):
    for groups in breakdown(answers).values():
        assert sum(total for _, total in groups.values()) == len(answers)
        assert sum(right for right, _ in groups.values()) == sum(a.right for a in answers)


def test_error_report_shows_the_most_confident_errors_first(answers):
    found = [answer.plan.confidence for answer in ErrorReport("test", answers).errors()]
    assert found
    assert found == sorted(found, reverse=True)


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_error_report_page_is_well_formed_and_self_contained(answers, tmp_path):
    page = ErrorReport("best <b>", answers, most=1).save(tmp_path)
    checker = Checker()
    checker.feed(page.read_text())
    assert checker.open == []
    assert checker.links == []
    assert page.read_text().count("<svg") == 2
    assert "best <b>: errors" in checker.text
    answer = ErrorReport("", answers).errors()[0]
    assert ", ".join(map(str, answer.demonstration.actions)) in checker.text
    assert (tmp_path / "errors.md").read_text().startswith("best <b>: ")


def test_error_report_escapes_what_people_wrote(answers):
    world = answers[0].demonstration.environment
    start = MazeState(world.maze.positions[0], None)
    text = Instruction(("<script>", "&"), (-1, 0), ("root", "next"))
    shown = Demonstration((text,), world, start, (face(0),), name="<i>")
    follower = Follower(parser="chain", model=PlanModel(), overlay=Overlay(), features=Features())
    plan = follower.fit([shown], check=False).follow(text, world, start)
    wrong = Answer(shown, plan, right=False)
    page = ErrorReport("t", [wrong], pictures=False).html()
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page


def test_error_report_command_writes_the_page(folder, tmp_path, capsys):
    main([str(folder), str(tmp_path), "--preset", "paper", "--most", "1",
                        "--no-pictures"])  # fmt: skip
    assert (tmp_path / "errors.html").exists()
    assert "written to" in capsys.readouterr().out
