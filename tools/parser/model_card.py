"""Model card and licence notice of a trained pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from tools.parser.training import TrainingSettings

__all__ = ["LICENCE", "write_card"]

LICENCE = "CC BY-SA 4.0"
"""Licence of the weights; the code of the package has another licence."""

_NOTICE = f"""\
The trained weights in this folder are licensed under {LICENCE}:
https://creativecommons.org/licenses/by-sa/4.0/

They were trained on Universal Dependencies English EWT (UD_English-EWT), which is licensed
under CC BY-SA 4.0. Attribution: Natalia Silveira, Timothy Dozat, Marie-Catherine de Marneffe,
Samuel Bowman, Miriam Connor, John Bauer and Christopher D. Manning, "A Gold Standard Dependency
Corpus for English", LREC 2014, and the later maintainers of the treebank;
https://github.com/UniversalDependencies/UD_English-EWT. The treebank itself is not included.
Changes: the data was used, together with instructions written by the Groundling developers,
to estimate the parameters of a statistical model.

The code of Groundling is licensed under the MIT licence; see the LICENSE file of the package.
"""


def write_card(
    folder: Path,
    settings: TrainingSettings,
    data: Mapping[str, int],
    results: Mapping[str, Any],
    day: date,
) -> None:
    """Write `README.md` and `NOTICE` into the folder of a pipeline.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_card(Path(place), TrainingSettings(), {}, {}, date(2026, 1, 1))
    ...     (Path(place) / "README.md").read_text(encoding="utf-8").splitlines()[0]
    '# The parser shipped with Groundling'
    """
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    lines = [
        "# The parser shipped with Groundling",
        "",
        "A spaCy pipeline (tok2vec, tagger with universal tags, parser) for English instructions.",
        "",
        f"- Trained: {day.isoformat()}, by `python -m tools.parser.train`",
        f"- spaCy {_version('spacy')}, thinc {_version('thinc')}, NumPy {_version('numpy')}",
        f"- Size: {size / 1e6:.2f} MB",
        f"- Licence of the weights: {LICENCE}, see NOTICE; the code is under the MIT licence",
        f"- Settings: {', '.join(f'{name} {value}' for name, value in asdict(settings).items())}",
        "",
        "## Data",
        "",
        "| sentences | number |",
        "|---|---|",
        *(f"| {name} | {number} |" for name, number in data.items()),
        "",
        "During the second stage of training, the weights are evaluated on development data.",
        "The shipped weights have the best mean of two scores: labelled attachment (LAS) on EWT,",
        "averaged over original and lower-cased text, and unlabelled attachment (UAS) on our",
        "instructions.",
        "",
        "## Scores",
        "",
        "UPOS, UAS and LAS are percentages of words, including punctuation; root is the percentage",
        "of sentences whose root is right. The test data were not used for training or selection.",
        "",
        "| test set | sentences | UPOS | UAS | LAS | root |",
        "|---|---|---|---|---|---|",
    ]
    for name, scores in results.items():
        if isinstance(scores, Mapping):
            shares = (scores["tags"], scores["heads"], scores["labelled"], scores["roots"])
            cells = " | ".join(f"{100 * share:.1f}" for share in shares)
            lines.append(f"| {name} | {scores['sentences']} | {cells} |")
    if "sentences per processor second" in results:
        speed = results["sentences per processor second"]
        lines += ["", f"Speed: {speed:.0f} sentences of EWT test per second of processor time."]
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "NOTICE").write_text(_NOTICE, encoding="utf-8")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
