"""Sentences about a home, held out by group: `Follower()` against hand-made settings.

`python -m benchmarks.home --json FILE` reads the corpus below GROUNDLING_CORPORA, holds out 20 % of
the sentences of one language, trains on the rest (and on sentences made from templates, with
`--templates`), and writes the share whose outcome is exactly right. Questions, free text and
values that are not enumerated are left out of this figure; how many is part of the report.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from groundling import Demonstration, Features, Follower, Learning, Overlay, PlanModel, Search
from groundling.files import write_atomically
from groundling.home.corpus import HomeCorpus, read_corpus, split

__all__ = ["CONFIGURATIONS", "demonstrations", "main", "measure", "report"]

SLOTS = ("name", "area", "floor", "domain", "device_class")


def by_hand(names: Literal["words", "spans"] = "words") -> Follower:
    """Return settings chosen by hand on training sentences: every name is a slot."""
    return Follower(
        model=PlanModel(),
        overlay=Overlay(adjacency="soft", entry="any"),
        features=Features(
            words=("word", "first", "next", "head", "relation", "grandparent", "context", "verb"),
            slots=SLOTS,
            names=names,
            numbers=("equal",),
            joins=("conjunction", "slot", "value"),
        ),
        learning=Learning(l2=0.3),
        search=Search(max_length=1, decode="outcome"),
    )


def flat(names: Literal["words", "spans"] = "words") -> Follower:
    """Return settings that are cheap: words over all labels of an action at once."""
    return Follower(
        model=PlanModel(),
        overlay=Overlay.flat(),
        features=Features(
            words=("word",),
            slots=SLOTS,
            names=names,
            numbers=("equal",),
            joins=("conjunction", "slot", "value"),
        ),
        learning=Learning(l2=0.3),
        search=Search(max_length=1, decode="outcome"),
    )


CONFIGURATIONS: dict[str, Callable[[], Follower]] = {
    "auto": Follower,
    "by hand": by_hand,
    "by hand, spans": lambda: by_hand("spans"),
    "flat": flat,
    "flat, spans": lambda: flat("spans"),
}


def demonstrations(
    language: str = "en", seed: int = 0, templates: int = 0, corpora: Path | None = None
) -> tuple[list[Demonstration], list[Demonstration], HomeCorpus]:
    """Return training and held-out demonstrations of a language, and the corpus they are from."""
    corpus = read_corpus(corpora, language)
    training, held_out = split(corpus.demonstrations, seed=seed)
    if templates:
        from groundling.home.templates import expand_templates

        known = {str(each.instructions).lower() for each in held_out}
        made = expand_templates(corpora, language, count=templates, seed=seed)
        training += [each for each in made if str(each.instructions).lower() not in known]
    return training, held_out, corpus


def measure(
    follower: Follower, training: Sequence[Demonstration], held_out: Sequence[Demonstration]
) -> dict[str, float]:
    """Fit a follower and return the share of held-out sentences with exactly the right outcome."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        follower.fit(training, check=False)
        fitted = time.process_time()
        exact = follower.score(held_out)
    followed = time.process_time()
    return {
        "exact": round(exact, 4),
        "fit": round(fitted - began, 1),
        "milliseconds": round(1000 * (followed - fitted) / len(held_out), 1),
    }


def report(
    language: str,
    rows: Sequence[str],
    seeds: Sequence[int],
    templates: int = 0,
    corpora: Path | None = None,
) -> dict[str, Any]:
    """Return the figures of each configuration, the mean over seeds of the split."""
    made: dict[str, Any] = {"language": language, "seeds": list(seeds), "rows": {}}
    found: dict[str, list[Mapping[str, float]]] = {}
    for seed in seeds:
        training, held_out, corpus = demonstrations(language, seed, templates, corpora)
        for row in rows:
            found.setdefault(row, []).append(measure(CONFIGURATIONS[row](), training, held_out))
        made |= {
            "training": len(training),
            "held out": len(held_out),
            "left out": dict(corpus.left_out),
        }
    for row, figures in found.items():
        made["rows"][row] = {
            key: round(sum(each[key] for each in figures) / len(figures), 4) for key in figures[0]
        }
        made["rows"][row]["exact by seed"] = [each["exact"] for each in figures]
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a line for each configuration, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", default="en")
    parser.add_argument("--rows", nargs="*", default=["auto", "by hand"], choices=CONFIGURATIONS)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--templates", type=int, default=0, help="Sentences made from templates.")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    made = report(chosen.language, chosen.rows, chosen.seeds, chosen.templates, chosen.corpora)
    left_out = ", ".join(f"{count} {why}" for why, count in made["left out"].items())
    print(
        f"{made['language']}: {made['training']} to learn from, {made['held out']} held out; "
        f"left out: {left_out}"
    )
    for row, figures in made["rows"].items():
        print(
            f"{row}: exact {figures['exact']:.3f}, fit {figures['fit']:.0f} s, "
            f"{figures['milliseconds']:.0f} ms per sentence"
        )
    if chosen.json:
        write_atomically(chosen.json, json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
