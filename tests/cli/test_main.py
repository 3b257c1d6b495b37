"""The command line: quick help, honest exit codes, a demo that runs anywhere."""

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import groundling
from groundling.cli import common
from groundling.cli import demo as demo_module
from groundling.cli.main import app
from groundling.cli.progress import progress
from groundling.learning.rounds import Progress
from groundling.tasks.mazes.maze_demo import demo_world

PNG = b"\x89PNG\r\n\x1a\n"
SMALL = ["--parser", "chain", "--demonstrations", "15", "--held-out", "2"]
runner = CliRunner()


def size_of(file: Path) -> tuple[int, int]:
    data = file.read_bytes()
    assert data.startswith(PNG)
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_version():
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"groundling {groundling.__version__}"


def test_help_names_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_main_imports_nothing_heavy_itself():
    # The package is entered without its __init__, whose imports are not the command line's.
    folder = str(Path(groundling.__file__).parent)
    code = (
        "import sys, types\n"
        "package = sys.modules['groundling'] = types.ModuleType('groundling')\n"
        f"package.__path__ = [{folder!r}]\n"
        "import groundling.cli.main\n"
        "print([m for m in ('numpy', 'numba', 'scipy', 'matplotlib', 'spacy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_is_written_without_panels_which_take_long_to_load():
    code = (
        "import sys\n"
        "from groundling.cli.main import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "print([m for m in ('rich.markdown', 'pygments', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage:" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "deep" / "er"
    first = runner.invoke(app, ["demo", "--out", str(out), *SMALL])
    second = runner.invoke(app, ["demo", "--out", str(out), *SMALL])
    return out, first, second


def test_demo_tells_what_it_does_without_a_terminal(ran):
    _, result, _ = ran
    assert result.exit_code == 0, result.output
    assert "this demo are generated" in result.output
    assert "learning …" in result.output
    assert "What it learnt" in result.output
    assert "In the unseen maze" in result.output
    assert "words on nodes:" in result.output
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output


def test_demo_writes_pictures_of_the_expected_size(ran):
    out, _, _ = ran
    for name in ("plain", "implicit-turn", "foreign"):
        assert size_of(out / f"{name}-words.png")[0] >= 1800
        assert size_of(out / f"{name}-maze.png")[0] >= 600


def test_demo_loads_the_model_of_an_earlier_run(ran):
    _, first, second = ran
    assert second.exit_code == 0
    assert "Loaded the model of an earlier run" in second.output
    assert second.output.split("What it learnt")[1] == first.output.split("What it learnt")[1]


def test_demo_trains_again_when_the_model_is_broken_or_another(ran, tmp_path):
    out, _, _ = ran
    note = tmp_path / "model.json"
    world = demo_world(15, 1)

    def train():
        console = Console(file=io.StringIO(), width=200)
        demo_module._trained(world, tmp_path / "model", "chain", 15, False, console)
        return console.file.getvalue()

    note.write_text((out / "model.json").read_text())
    assert "does not match this demo; training a new one" in train()
    note.write_text('{"version": "0"}')
    assert "Learnt" in train()
    assert "Loaded" in train()


@pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")
def test_demo_follower_adds_the_turn_that_nobody_mentions():
    world = demo_world(100, 1)
    request = next(each for each in world.requests if each.name == "implicit-turn")
    follower = world.follower("default").fit(world.training)
    why = follower.follow(request.text, world.unseen, request.start).explain()
    assert [(step.action, step.asked) for step in why.steps] == [
        ("rotate(90)", False),
        ("move(3)", True),
        ("rotate(270)", True),
        ("move(1)", True),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--parser", "chian"], 1, "Did you mean 'chain'?"),
        (["--demonstrations", "1"], 2, "--demonstrations"),
        (["--colour"], 2, "No such option"),
    ],
)
def test_demo_refuses_bad_options_in_one_sentence(arguments, code, message, tmp_path):
    result = runner.invoke(app, ["demo", "--out", str(tmp_path), *arguments])
    assert result.exit_code == code
    assert message in result.output
    assert "Traceback" not in result.output


def test_demo_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    result = runner.invoke(app, ["demo", "--out", str(tmp_path / "file"), *SMALL])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert "--out" in result.output


def test_demo_stops_quietly_when_interrupted(tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module.Follower, "fit", interrupt)
    result = runner.invoke(app, ["demo", "--out", str(tmp_path / "new"), *SMALL])
    assert result.exit_code == 130
    assert "Stopped." in result.output
    assert not list((tmp_path / "new").iterdir())


def test_demo_shows_errors_whole_when_asked(tmp_path):
    result = runner.invoke(app, ["demo", "--out", str(tmp_path), "--parser", "chian", "--debug"])
    assert isinstance(result.exception, groundling.errors.SettingError)


def test_progress_draws_a_bar_on_a_terminal():
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100)
    with progress(console, "learning") as report:
        report(Progress("training", 5, 10, 2.5))
        report(Progress("training", 10, 10, 1.25))
    assert "learning: training" in file.getvalue()
    assert "10/10" in file.getvalue()


def test_progress_keeps_plain_lines_few():
    file = io.StringIO()
    with progress(Console(file=file, width=100), "learning") as report:
        for step in range(1, 101):
            report(Progress("training", step, 100, 1.0))
    assert len(file.getvalue().splitlines()) < 10
    assert file.getvalue().splitlines()[-1] == "learning: training 100/100, loss 1.00"


@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md"])
def test_pages_name_commands_that_exist(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)groundling ([a-z]+)", text, re.MULTILINE))
    assert {"train", "follow", "reproduce"} <= named
    for command in named:
        assert runner.invoke(app, [command, "--help"]).exit_code == 0, command
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help"}
    known = "".join(runner.invoke(app, [each, "--help"]).output for each in sorted(named))
    known += "".join(
        runner.invoke(app, ["corpora", each, "--help"]).output for each in ("fetch", "check")
    )
    assert {each for each in options if each not in known} == set()


def test_options_are_described_and_named_in_the_docstring_of_their_command():
    @common.command()
    def light(lamp: Annotated[str, typer.Argument()], lit: bool = False, how_long: int = 3):
        """Light a lamp.

        Parameters
        ----------
        lamp
            The name
            of the lamp.
        lit, -l
            Begin with a lit lamp.
        how_long, --minutes, -m
            How long it burns.
        """
        print(lamp, lit, how_long)

    lamps = typer.Typer(rich_markup_mode=None)
    lamps.command()(light)
    shown = " ".join(runner.invoke(lamps, ["--help"]).output.split())
    for text in ("Light a lamp. Arguments", "The name of the lamp.", "How long it burns."):
        assert text in shown
    assert re.search("-l, --lit +Begin with a lit lamp|--lit, -l +Begin with a lit lamp", shown)
    assert {"--minutes", "-m"} <= {*shown.replace(",", "").split()}
    for text in ("Parameters", "--no-lit", "--how-long"):
        assert text not in shown
    assert runner.invoke(lamps, ["hall", "-l", "-m", "5"]).output == "hall True 5\n"
