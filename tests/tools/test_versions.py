"""The command that measures the parser with several versions of spaCy; nothing is installed."""

import json

import pytest

from groundling.errors import SettingError
from tools.parser.versions import ROOT, agreement, lowest_and_newest, main

LISTED = "spacy (3.9.1)\nAvailable versions: 3.9.1, 3.9.0, 3.8.11, 3.8.4, 3.8.2, 3.8.0, 3.7.5\n"
SCORES = {"ewt": {"labelled": 0.5}, "sentences per processor second": 9.0, "spacy": "3.8.2"}


class Machine:
    """Answers commands as a package index and two environments would."""

    def __init__(self, parses=("ewt -1 0", "ewt -1 0")):
        self.commands = []
        self.parses = list(parses)

    def __call__(self, command):
        self.commands.append(command)
        if "versions" in command:
            return LISTED
        if "--json" in command:
            with open(command[-1], "w", encoding="utf-8") as file:
                json.dump(SCORES, file)
        if "-c" in command:
            return self.parses.pop(0)
        if "list" in command:
            named = [{"name": name, "version": "1.0"} for name in ("thinc", "numpy")]
            return json.dumps(named)
        return ""


def test_versions_are_the_ends_of_the_admitted_range():
    assert lowest_and_newest(LISTED) == ("3.8.2", "3.8.11")
    assert lowest_and_newest(LISTED, ">=3.7,<3.8") == ("3.7.5", "3.7.5")


@pytest.mark.parametrize("listed", ["", LISTED.replace("3.8.", "3.6.")])
def test_versions_none_of_which_is_admitted_are_an_error(listed):
    with pytest.raises(SettingError, match="lists no spaCy"):
        lowest_and_newest(listed)


def test_versions_agree_where_parses_are_equal():
    assert agreement(["a", "b"], ["a", "c"]) == 0.5


def test_versions_command_measures_both_and_keeps_the_scores(tmp_path, capsys):
    out, machine = tmp_path / "versions.json", Machine()
    assert main(["--treebanks", "trees", "--out", str(out)], machine) == 0
    results = json.loads(out.read_text(encoding="utf-8"))
    assert list(results) == ["3.8.2", "3.8.11", "same parses"]
    assert results["same parses"] == 1.0
    assert results["3.8.2"]["thinc"] == "1.0"
    installed = [each for each in machine.commands if "install" in each]
    assert [each[-1] for each in installed] == ["spacy==3.8.2", "spacy==3.8.11"]
    assert all(str(ROOT) in each for each in installed)
    assert "same parses: 100.00%" in capsys.readouterr().out


def test_versions_command_says_what_failed(tmp_path, capsys):
    def broken(command):
        raise SettingError("`-m pip index` failed: no network")

    assert main(["--treebanks", "trees"], broken) == 1
    assert "no network" in capsys.readouterr().err
