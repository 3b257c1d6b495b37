"""Measure the shipped parser with the lowest and the newest supported spaCy.

Run `python -m tools.parser.versions --treebanks FOLDER --out results/parser-versions.json` from
the root of the repository. Each version is installed with the package in a temporary environment,
which takes minutes and requires a network connection.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from groundling.errors import GroundlingError, SettingError
from groundling.files import write_atomically
from groundling.language.spacy_parser import SPACY_VERSIONS

__all__ = ["agreement", "lowest_and_newest", "main", "measure"]

ROOT = Path(__file__).parents[2]
Run = Callable[[Sequence[str]], str]
# Tokenises and parses every test sentence of the treebanks; prints a line for each.
_PARSES = """
import sys
from pathlib import Path
from groundling.language import ShippedParser
from tools.parser.scoring import parse_words
from tools.parser.train import held_back
language = ShippedParser().language
for name, gold in held_back(Path(sys.argv[1])).items():
    for each, found in zip(gold, parse_words(language, gold), strict=True):
        cut = [token.text for token in language.tokenizer(each.text)]
        print(name, ascii(cut), *found.heads, *found.relations, *found.tags)
"""


def lowest_and_newest(listed: str, wanted: str = SPACY_VERSIONS) -> tuple[str, str]:
    r"""Return the lowest and the newest version in a range that `pip index versions` lists.

    >>> lowest_and_newest("spacy (3.9.0)\nAvailable versions: 3.9.0, 3.8.11, 3.8.2, 3.7.5")
    ('3.8.2', '3.8.11')
    """
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    found = re.search(r"^Available versions: (.+)$", listed, re.MULTILINE)
    every = [Version(each) for each in found[1].split(", ")] if found else []
    admitted = sorted(SpecifierSet(wanted).filter(every))
    if not admitted:
        raise SettingError(f"The package index lists no spaCy {wanted}. Check `pip config list`.")
    return str(admitted[0]), str(admitted[-1])


def agreement(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of sentences with the same parse.

    >>> agreement(["ewt -1 0 root obj"], ["ewt -1 0 root obj"])
    1.0
    """
    same = [one == other for one, other in zip(first, second, strict=True)]
    return sum(same) / len(same)


def measure(version: str, treebanks: Path, run: Run) -> tuple[dict[str, Any], list[str]]:
    """Return the scores of the shipped pipeline with a version of spaCy, and all parses."""
    with tempfile.TemporaryDirectory() as place:
        run([sys.executable, "-m", "venv", place])
        python = str(Path(place) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        scores = Path(place) / "scores.json"
        run([python, "-m", "pip", "install", "--quiet", str(ROOT), f"spacy=={version}"])
        run([python, "-m", "tools.parser.train", "--treebanks", str(treebanks), "--evaluate",
             "--json", str(scores)])  # fmt: skip
        parses = run([python, "-c", _PARSES, str(treebanks)]).splitlines()
        packages = json.loads(run([python, "-m", "pip", "list", "--format", "json"]))
        used = {each["name"]: each["version"] for each in packages}
        found = json.loads(scores.read_text(encoding="utf-8"))
        del found["sentences per processor second"]  # speed depends on the load of the machine
        found["thinc"], found["numpy"] = used["thinc"], used["numpy"]
        found["python"] = ".".join(map(str, sys.version_info[:3]))
        return found, parses


def main(arguments: Sequence[str] | None = None, run: Run | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--treebanks", type=Path, required=True, help="with en_ewt-ud-test.conllu")
    parser.add_argument("--out", type=Path, help="a JSON file for the scores")
    settings = parser.parse_args(arguments)
    run = run or _run
    try:
        listed = run([sys.executable, "-m", "pip", "index", "versions", "spacy"])
        measured = {
            version: measure(version, settings.treebanks, run)
            for version in lowest_and_newest(listed)
        }
    except GroundlingError as error:
        print(error, file=sys.stderr)
        return 1
    results: dict[str, Any] = {version: scores for version, (scores, _) in measured.items()}
    lowest, newest = (parses for _, parses in measured.values())
    results["same parses"] = agreement(lowest, newest)
    _report(results)
    if settings.out is not None:
        write_atomically(settings.out, json.dumps(results, indent=2) + "\n")
    return 0


def _report(results: Mapping[str, Any]) -> None:
    for version, scores in results.items():
        if isinstance(scores, dict):
            shown = ", ".join(
                f"{name} {100 * each['labelled']:.1f}"
                for name, each in scores.items()
                if isinstance(each, dict)
            )
            print(f"spaCy {version}: LAS {shown}")
    print(f"same parses: {results['same parses']:.2%}")


def _run(command: Sequence[str]) -> str:
    # Packages on the path of this process must not hide those of the environment.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SettingError(f"`{' '.join(command[1:4])}` failed: {last}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
