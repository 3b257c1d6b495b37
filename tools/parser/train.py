"""Train or evaluate the shipped parser: `python -m tools.parser.train --help`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.errors import CorpusError, GroundlingError, SettingError
from groundling.language.attachment import attach_clauses
from groundling.language.conllu import read_conllu
from groundling.language.instruction import Instruction
from groundling.language.spacy_parser import SHIPPED_PIPELINE, SPACY_VERSIONS
from tools.parser.clauses import attachment_scores, clause_instructions
from tools.parser.model_card import LICENCE, write_card
from tools.parser.scoring import parse_words, score_parses, sentences_per_second
from tools.parser.templates import template_instructions
from tools.parser.training import TrainingSettings, train, without_case

if TYPE_CHECKING:
    from spacy.language import Language

_CLAUSES = 500

__all__ = ["evaluate", "held_back", "main", "own_treebank"]


def own_treebank(part: str) -> list[Instruction]:
    """Return a part of the project's own annotated instructions.

    Parameters
    ----------
    part
        `"train"`, `"dev"` (for model selection) or `"test"` (held out).

    Examples
    --------
    >>> len(own_treebank("test")) >= 60
    True
    """
    return read_conllu(Path(__file__).parent / "treebank" / f"{part}.conllu")


def held_back(treebanks: Path, part: str = "test") -> dict[str, list[Instruction]]:
    """Return test sets: the general treebank, also in lower case, and our own instructions."""
    general = _general(treebanks, part)
    return {
        "ewt": general,
        "ewt lower-cased": list(map(without_case, general)),
        "instructions": own_treebank(part),
    }


def evaluate(language: Language, treebanks: Path, part: str = "test") -> dict[str, Any]:
    """Return the scores of a pipeline on held-out sentences, including `attach_clauses`.

    The set `clauses` is generated; its `attachment` has the share of right modifiers, by the
    pipeline alone and with `attach_clauses`.
    """
    sets = held_back(treebanks, part) | {"clauses": clause_instructions(_CLAUSES)}
    results: dict[str, Any] = {}
    for name, gold in sets.items():
        parsed = parse_words(language, gold)
        repaired = list(map(attach_clauses, parsed))
        results[name] = score_parses(gold, repaired).as_dict()
        if name == "clauses":
            before, after = (attachment_scores(gold, each) for each in (parsed, repaired))
            results[name]["attachment"] = {kind: [before[kind], after[kind]] for kind in after}
    results["sentences per processor second"] = sentences_per_second(language, sets["ewt"])
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.parser.train",
        description="Train the parser on UD English EWT and on instructions, or evaluate it.",
    )
    parser.add_argument(
        "--treebanks", type=Path, required=True, help="folder with en_ewt-ud-*.conllu"
    )
    parser.add_argument("--out", type=Path, help="folder for the trained pipeline")
    parser.add_argument(
        "--checkpoint", type=Path, help="folder to resume from (default: OUT.training)"
    )
    parser.add_argument(
        "--evaluate",
        nargs="?",
        const=SHIPPED_PIPELINE,
        type=Path,
        metavar="PIPELINE",
        help="score a pipeline (default: the shipped one) on the test parts",
    )
    parser.add_argument("--json", type=Path, help="write the scores to this file, too")
    settings = TrainingSettings()
    for name, value in asdict(settings).items():
        if name != "rows":
            flag = "--" + name.replace("_", "-")
            parser.add_argument(flag, type=type(value), default=value, help=f"default: {value}")
    options = parser.parse_args(arguments)
    try:
        if options.evaluate is not None:
            _run_evaluation(options)
        elif options.out is not None:
            _run_training(options)
        else:
            parser.error("pass --out to train, or --evaluate")
    except GroundlingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run_training(options: argparse.Namespace) -> None:
    import spacy

    if options.out.exists() and not (options.out / "meta.json").is_file():
        raise SettingError(
            f"{str(options.out)!r} exists and holds no pipeline that could be replaced. "
            "Give a new folder as --out."
        )
    names = [name for name in asdict(TrainingSettings()) if name != "rows"]
    settings = TrainingSettings(**{name: getattr(options, name) for name in names})
    sentences = _general(options.treebanks, "train")
    general = sentences + [
        lowered for each in sentences if (lowered := without_case(each)).tokens != each.tokens
    ]
    own = own_treebank("train")
    original = _general(options.treebanks, "dev")[::2]
    without = list(map(without_case, original))
    instructions = own_treebank("dev")

    def mixed(epoch: int) -> list[Instruction]:
        invented = template_instructions(settings.templates, seed=settings.seed * 1000 + epoch)
        return general + invented + own * settings.copies

    def score(language: Language) -> dict[str, float]:
        found = {
            name: score_parses(gold, parse_words(language, gold))
            for name, gold in (("ewt", original), ("lower", without), ("own", instructions))
        }
        total = (found["ewt"].labelled + found["lower"].labelled) / 4 + found["own"].heads / 2
        return {
            "las": found["ewt"].labelled,
            "lower": found["lower"].labelled,
            "own uas": found["own"].heads,
            "own las": found["own"].labelled,
            "own root": found["own"].roots,
            "total": total,
        }

    folder = options.checkpoint or options.out.with_name(options.out.name + ".training")
    language = train(settings, general, mixed, folder, score=score, report=_say)
    language.meta.update(
        spacy_version=SPACY_VERSIONS,
        name="groundling",
        version=metadata.version("groundling"),
        description="Tags and dependency trees for English instructions",
        author="The Groundling developers",
        license=LICENCE,
        sources=[{"name": "UD English EWT", "license": LICENCE}],
    )
    shutil.rmtree(options.out, ignore_errors=True)
    language.to_disk(options.out)
    _prune(options.out, language)
    results = evaluate(spacy.load(options.out), options.treebanks)
    data = {
        "UD English EWT, train": len(sentences),
        "the same in lower case without final punctuation": len(general) - len(sentences),
        "our own annotated instructions, train": len(own),
        "invented instructions for each epoch of the second stage": settings.templates,
    }
    write_card(options.out, settings, data, results, date.today())
    _report(results, options.json)


def _run_evaluation(options: argparse.Namespace) -> None:
    import spacy

    try:
        language = spacy.load(options.evaluate)
    except OSError as error:
        raise CorpusError(f"There is no pipeline in {str(options.evaluate)!r}: {error}") from error
    results = evaluate(language, options.treebanks)
    files = [each for each in Path(options.evaluate).rglob("*") if each.is_file()]
    results["megabytes"] = sum(each.stat().st_size for each in files) / 1e6
    results["spacy"] = metadata.version("spacy")
    _report(results, options.json)


def _report(results: dict[str, Any], target: Path | None) -> None:
    for name, scores in results.items():
        if isinstance(scores, dict):
            _say(
                f"{name:18} {scores['sentences']:5} sentences  UPOS {100 * scores['tags']:.1f}  "
                f"UAS {100 * scores['heads']:.1f}  LAS {100 * scores['labelled']:.1f}  "
                f"root {100 * scores['roots']:.1f}"
            )
        elif isinstance(scores, float):
            _say(f"{name}: {scores:.1f}")
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        plain = json.loads(
            json.dumps(results), parse_float=lambda written: round(float(written), 4)
        )
        target.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


def _general(folder: Path, part: str) -> list[Instruction]:
    path = folder / f"en_ewt-ud-{part}.conllu"
    if not path.is_file():
        raise CorpusError(
            f"There is no {path.name} in {str(folder)!r}. Download UD English EWT from "
            "https://universaldependencies.org and give its folder as --treebanks."
        )
    return read_conllu(path)


def _prune(folder: Path, language: Language) -> None:
    """Delete the strings seen in training, which the network does not need: it hashes words."""
    labels: set[str] = set()
    for name in ("tagger", "parser"):
        labels.update(language.get_pipe(name).labels)  # type: ignore[attr-defined]
    labels.update(label.partition("||")[2] for label in list(labels) if "||" in label)
    path = folder / "vocab" / "strings.json"
    kept = sorted(labels | {each.partition("||")[0] for each in labels} | {"ROOT", "dep"})
    path.write_text(json.dumps(kept), encoding="utf-8")


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
