"""The `geoqa` task: questions about maps, one map held out at a time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from groundling.dialogue.questions import Answerer
from groundling.evaluation.report import Row, bootstrap
from groundling.language.parser import language_of, load_parser
from groundling.tasks.benchmark import Case, Fold, Outcome, Task, median_seconds, sample_count
from groundling.tasks.geoqa.corpus import Evidence, GeoMap, generate_maps, load_maps
from groundling.tasks.presets import Preset, Presets


@dataclass(frozen=True, kw_only=True)
class GeoQAPreset(Preset):
    """Preset for GeoQA; `evidence` selects where the labels of places come from."""

    parser: str = "chain:english"
    evidence: Evidence = "gold"


class GeoQATask(Task[list[GeoMap], GeoQAPreset]):
    """Questions about maps: the answer must be exactly the right set of places."""

    name = "geoqa"
    about = (
        "Questions about maps (GeoQA): a question is correct if its answer is exactly the right "
        "set of places; one map is held out at a time."
    )
    metrics = ("exact",)
    presets = Presets(
        "geoqa",
        {
            "best": {
                "gold relations": GeoQAPreset(),
                "raw evidence": GeoQAPreset(evidence="raw", published={"exact": 0.543}),
            }
        },
        "gold relations",
    )
    corpus = "geoqa"
    part = "map"
    tables_only = ("best",)

    def load(self, source: Path | None, size: float | None = None) -> list[GeoMap]:
        """Return the maps in a folder, or a generated sample if `source` is None."""
        if source is not None:
            return load_maps(source / self.corpus)
        return generate_maps(sample_count(6, 3, size))

    def prepare(self, corpus: list[GeoMap], chosen: GeoQAPreset) -> list[Case]:
        """Return the questions about all maps as cases."""
        return [
            Case(shown, each.name)
            for each in corpus
            for shown in each.demonstrations(chosen.evidence)
        ]

    def parts(self, corpus: list[GeoMap]) -> list[str]:
        """Return the names of the maps."""
        return [each.name for each in corpus]

    def folds(self, corpus: list[GeoMap], preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return one fold for each map; the fold holds out this map."""
        cost = 6.0 if variant == "raw evidence" else 1.0
        folds = [Fold(each.name, (each.name,), seconds=cost) for each in corpus]
        return folds[:2] if quick else folds

    def evaluate(
        self, corpus: list[GeoMap], chosen: Mapping[str, GeoQAPreset], fold: Fold
    ) -> dict[str, Outcome]:
        """Train on all maps but one; return the scores on the held-out map's questions."""
        found = {}
        for variant, each in chosen.items():
            cases = self.prepare(corpus, each)
            shown = [c.demonstration for c in cases if c.part not in fold.held_out]
            began = time.process_time()
            answerer = Answerer.learn(shown, language_of(load_parser(each.parser)))
            learnt = time.process_time()
            scores = []
            for case in cases:
                if case.part in fold.held_out:
                    asked = case.demonstration
                    text = str(asked.instructions)
                    answer = answerer.answer(text, asked.environment, asked.start)
                    exact = frozenset(answer.things) == asked.answer
                    scores.append((case.part, {"exact": float(exact)}))
            seconds = [learnt - began, time.process_time() - learnt]
            found[variant] = {"scores": scores, "seconds": seconds}
        return found

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row: the share of questions with exactly the right answer."""
        scores = [score["exact"] for outcome in outcomes for _, score in outcome["scores"]]
        published = self.presets.select(preset, variant).published
        return Row(
            variant,
            {"exact": fmean(scores), "questions": len(scores)},
            bootstrap(scores, fmean),
            published=published,
            seconds=median_seconds(outcomes),
        )

    def condition(self, corpus: list[GeoMap], preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        return f"{len(corpus)} maps, one left out; exact sets"
