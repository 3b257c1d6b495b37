"""Compiling ahead of time, and saying so."""

from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.compiler import COMPILING, announced, njit
from groundling.overlay.passes import pass_instances
from groundling.overlay.potentials import return_sets
from groundling.tasks.puzzles._search import search


def test_compiling_ahead_of_time_leaves_nothing_to_compile():
    runner = CliRunner()
    assert runner.invoke(app, ["compile"]).exit_code == 0
    again = runner.invoke(app, ["compile"])
    assert "already compiled" in again.output
    # Those that are needed seldom, too.
    found = " ".join(map(str, pass_instances.signatures))
    for part in ("ScaledPotentials", "LogPotentials", "GraphLayout", "FlatLayout"):
        assert part in found
    assert return_sets.signatures
    assert search.signatures


def test_compiling_announces_itself_once_and_only_when_it_happens():
    told = []

    @njit(cache=False)
    def twice(number):
        return 2 * number

    with announced(told.append):
        twice(1)
        twice(1.5)
    assert told == [COMPILING]
    with announced(told.append):
        twice(3)
    assert told == [COMPILING]
