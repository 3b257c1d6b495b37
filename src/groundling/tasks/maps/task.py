"""Maps as the command line sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from groundling.errors import InstructionError, SettingError, did_you_mean
from groundling.evaluation.report import Row
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.language.parser import load_parser
from groundling.tasks.base import Fold, Outcome, Scene, Task, TrainingSet, sample_count
from groundling.tasks.maps.corpus import FOLLOWER, GIVER, Corpus, Dialogue, Utterance, load_corpus
from groundling.tasks.maps.environment import MapEnvironment
from groundling.tasks.maps.generator import generate_corpus
from groundling.tasks.maps.landscape import visited_landmarks
from groundling.tasks.maps.mapfile import MapSheet
from groundling.tasks.maps.metrics import RunOutcome, run_row
from groundling.tasks.maps.names import NameMatcher
from groundling.tasks.maps.picture import draw_map
from groundling.tasks.maps.presets import PRESETS, Preset
from groundling.tasks.maps.protocol import (
    deal_maps,
    follow,
    judge,
    learn_and_follow,
    prepare,
    split,
)
from groundling.tasks.maps.reading import read_mentions, read_sentences

__all__ = ["MapScene", "MapTask"]

# About how many seconds a seed takes.
_SECONDS = {"paper": 45.0, "best": 35.0, "auto": 60.0}


class MapTask(Task[Corpus, Preset]):
    """Dialogues about maps; the last quarter of the maps is for test."""

    name = "maps"
    about = (
        "Dialogues about maps (HCRC map task): the moves from landmark to landmark, compared "
        "with those along the drawn route."
    )
    metrics = ("precision", "recall", "f1")
    presets = PRESETS
    corpus = "hcrc"

    def load(self, folder: Path | None, size: float | None = None) -> Corpus:
        """Read the HCRC corpus, or generate maps with dialogues."""
        if folder is not None:
            return load_corpus(folder / self.corpus)
        return generate_corpus(maps=sample_count(8, 4, size), dialogues=2, seed=1)

    def training_set(self, corpus: Corpus, chosen: Preset, left_out: str | None) -> TrainingSet:
        """Return the dialogues about all maps but some, by default the last quarter."""
        wanted = None if left_out is None else [_number(corpus, each) for each in _listed(left_out)]
        train, test = corpus.split(wanted)
        apart = sorted({str(each.map) for each in test}, key=int)
        return TrainingSet(prepare(chosen, corpus, train), ",".join(apart))

    def folds(self, corpus: Corpus, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the seeds."""
        split(corpus)  # complains of a corpus that is too small
        seeds = 1 if quick else self.presets.select(preset, variant).seeds
        return [Fold(f"seed {seed}", _SECONDS[preset]) for seed in range(seeds)]

    def evaluate_fold(
        self, corpus: Corpus, preset: str, variants: Sequence[str], fold: str
    ) -> dict[str, Outcome]:
        """Learn once with a seed, and follow as each variant wants it."""
        train, test = split(corpus)
        first = self.presets.select(preset, variants[0])
        seed = int(fold.removeprefix("seed "))
        done = learn_and_follow(first, corpus, train, test, seed=seed)
        found = {variants[0]: judge(done).to_dict()}
        for variant in variants[1:]:
            chosen = self.presets.select(preset, variant)
            other = follow(done.follower.with_search(chosen.search), chosen, corpus, test)
            other = replace(other, seconds=other.seconds._replace(train=done.seconds.train))
            found[variant] = judge(other).to_dict()
        return found

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the seeds together."""
        runs = [RunOutcome.from_dict(each) for each in outcomes]
        return run_row(variant, runs, self.presets.select(preset, variant).published)

    def condition(self, corpus: Corpus, preset: str, quick: bool) -> str:
        """Say how the figures come about."""
        _, test = split(corpus)
        names = {GIVER: "giver", FOLLOWER: "follower"}
        who = " and ".join(names[each] for each in self.presets.select(preset).speakers)
        return f"{len(test)} dialogues about maps not trained on; lines of the {who}"

    def tuning_folds(self, corpus: Corpus) -> list[str]:
        """Return four shares of the maps to train on."""
        train, _ = corpus.split()
        shares = deal_maps({each.map for each in train})
        return [",".join(map(str, share)) for share in shares if share]

    def try_out(self, corpus: Corpus, chosen: Preset, fold: str) -> float:
        """Return F1 on a share of the maps to train on."""
        left_out = {int(number) for number in fold.split(",")}
        train, _ = corpus.split()
        done = learn_and_follow(
            chosen,
            corpus,
            [each for each in train if each.map not in left_out],
            [each for each in train if each.map in left_out],
        )
        return judge(done).total.f1

    def scene(
        self, corpus: Corpus, chosen: Preset, where: str | None, start: str | None
    ) -> MapScene:
        """Return a map, by default the last one."""
        if start is not None:
            raise SettingError("The way on a map begins at its start; leave --start out.")
        number = max(corpus.maps) if where is None else _number(corpus, where)
        return MapScene(corpus.maps[number], chosen)


class MapScene(Scene):
    """A map; all that was said is read before the way is chosen."""

    def __init__(self, sheet: MapSheet, chosen: Preset) -> None:
        self.name = f"map {sheet.number}"
        self.sheet = sheet
        self.chosen = chosen
        self.world = MapEnvironment(sheet.landscape, **chosen.environment)

    def describe(self) -> str:
        """Return what is on the map."""
        return f"at the start; landmarks: {', '.join(self.sheet.landscape.keys)}"

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Follow a talk; lines may begin with `g:` (giver, the default) or `f:` (follower)."""
        talk = Dialogue("typed", self.sheet.number, tuple(map(_utterance, lines)))
        if not talk.giver:
            raise InstructionError("Nobody says where to go: there is no line of the giver.")
        if self.chosen.units == "sentences":
            text = read_sentences(talk, load_parser(self.chosen.parser))
        else:
            matcher = NameMatcher(self.sheet.landscape, fuzzy=self.chosen.fuzzy)
            text = read_mentions(
                talk, self.sheet.landscape, speakers=self.chosen.speakers, matcher=matcher
            )
        return [follower.follow(text, self.world, self.world.start, length=length)]

    def draw(self, plans: Sequence[Plan], file: Path, title: str = "") -> None:
        """Draw the map with the way that was followed beside the true one."""
        [plan] = plans
        keys = visited_landmarks(cast(Any, plan.states))
        draw_map(self.sheet, keys).savefig(file)


def _utterance(line: str) -> Utterance:
    """Read a line of a talk.

    >>> _utterance("f: past the mill?"), _utterance("go south").speaker
    (Utterance(speaker='f', text='past the mill?'), 'g')
    """
    speaker, mark, words = line.partition(":")
    if mark and speaker.strip() in (GIVER, FOLLOWER) and words.strip():
        return Utterance(speaker.strip(), words.strip())
    return Utterance(GIVER, line.strip())


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _number(corpus: Corpus, text: str) -> int:
    shown = text.strip().removeprefix("map").strip()
    if not shown.isdecimal() or int(shown) not in corpus.maps:
        raise SettingError(f"There is no map {text!r}.{did_you_mean(shown, corpus.maps)}")
    return int(shown)
