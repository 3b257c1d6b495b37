"""Maps as the command line sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from groundling.errors import InstructionError, SettingError, did_you_mean
from groundling.evaluation.report import Row
from groundling.follower import Follower
from groundling.inference.plan import Plan
from groundling.language.parser import load_parser
from groundling.tasks.catalogue import Lesson, Outcome, Scene, Task, sample_count
from groundling.tasks.maps import protocol
from groundling.tasks.maps.corpus import FOLLOWER, GIVER, Corpus, Dialogue, Utterance, load_corpus
from groundling.tasks.maps.environment import MapEnvironment
from groundling.tasks.maps.generator import generate_corpus
from groundling.tasks.maps.landscape import visited_landmarks
from groundling.tasks.maps.mapfile import MapSheet
from groundling.tasks.maps.metrics import PathScore
from groundling.tasks.maps.names import NameMatcher
from groundling.tasks.maps.picture import draw_map
from groundling.tasks.maps.presets import Preset, preset, row_names
from groundling.tasks.maps.reading import read_mentions, read_sentences

__all__ = ["TASK", "MapScene", "MapTask"]

_SECONDS = {"paper": 45.0, "best": 35.0}


class MapTask(Task):
    """Dialogues about maps; the last quarter of the maps is for test."""

    name = "maps"
    about = (
        "Dialogues about maps (HCRC map task): the moves from landmark to landmark, compared "
        "with those along the drawn route."
    )
    corpus = "hcrc"
    metrics = ("precision", "recall", "f1")

    def load(self, folder: Path | None, size: float | None = None) -> Corpus:
        """Read the HCRC corpus, or generate maps with dialogues."""
        if folder is not None:
            return load_corpus(folder / self.corpus)
        return generate_corpus(maps=sample_count(8, 4, size), dialogues=2, seed=1)

    def preset(self, name: str, row: str = "full") -> Preset:
        """Return the settings of a row."""
        return preset(name, row)

    def rows(self, preset: str) -> tuple[str, ...]:
        """Return the names of the rows of a preset."""
        self.preset(preset)
        return row_names(preset)

    def groups(self, preset: str, rows: Sequence[str]) -> list[tuple[str, ...]]:
        """Return rows together that differ only in how they search."""
        found: list[list[str]] = []
        for row in rows:
            for group in found:
                one, other = self.preset(preset, group[0]), self.preset(preset, row)
                if replace(one, search=other.search, published=other.published) == other:
                    group.append(row)
                    break
            else:
                found.append([row])
        return [tuple(group) for group in found]

    def parts(self, corpus: Corpus, preset: str, row: str, quick: bool) -> list[tuple[str, float]]:
        """Return the seeds; where no chance is involved, there is one."""
        chance = self.preset(preset, row).learning.alignment == "viterbi"
        return [
            (f"seed {seed}", _SECONDS[preset]) for seed in range(5 if chance and not quick else 1)
        ]

    def run(
        self, corpus: Corpus, preset: str, rows: Sequence[str], part: str
    ) -> dict[str, Outcome]:
        """Learn once with a seed, and follow as each row wants it."""
        train, test = corpus.split()
        first = self.preset(preset, rows[0])
        done = protocol.run(first, corpus, train, test, seed=int(part.removeprefix("seed ")))
        found = {rows[0]: _outcome(done)}
        for row in rows[1:]:
            chosen = self.preset(preset, row)
            done.follower.search = chosen.search
            found[row] = _outcome(protocol.follow(done.follower, chosen, corpus, test))
        return found

    def row(self, preset: str, row: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the seeds together."""
        nothing = cast(Any, None)
        runs = [
            protocol.Run(
                nothing,
                tuple(
                    protocol.Answer(
                        cast(Any, SimpleNamespace(map=number)), nothing, nothing, PathScore(*score)
                    )
                    for number, *score in each["answers"]
                ),
                0.0,
                0.0,
            )
            for each in outcomes
        ]
        return protocol.table_row(row, self.preset(preset, row), runs)

    def condition(self, corpus: Corpus, preset: str, quick: bool) -> str:
        """Say how the figures come about."""
        _, test = corpus.split()
        who = "giver and follower" if preset == "best" else "giver"
        return f"{len(test)} dialogues about maps not trained on; lines of the {who}"

    def lesson(self, corpus: Corpus, chosen: Preset, left_out: str | None) -> Lesson:
        """Return the dialogues about all maps but some, by default the last quarter."""
        wanted = None if left_out is None else [_number(corpus, each) for each in _listed(left_out)]
        train, test = corpus.split(wanted)
        shown = protocol.prepare(chosen, corpus, train)
        return Lesson(shown, ",".join(sorted({str(each.map) for each in test}, key=int)))

    def scene(
        self, corpus: Corpus, chosen: Preset, where: str | None, start: str | None
    ) -> MapScene:
        """Return a map, by default the last one."""
        if start is not None:
            raise SettingError("The way on a map begins at its start; leave --start out.")
        number = max(corpus.maps) if where is None else _number(corpus, where)
        return MapScene(corpus.maps[number], chosen)

    def inner_parts(self, corpus: Corpus) -> list[str]:
        """Return four shares of the maps to train on."""
        train, _ = corpus.split()
        shares = protocol.folds({each.map for each in train})
        return [",".join(map(str, share)) for share in shares if share]

    def try_out(self, corpus: Corpus, chosen: Preset, part: str) -> float:
        """Return F1 on a share of the maps to train on."""
        left_out = {int(number) for number in part.split(",")}
        train, _ = corpus.split()
        done = protocol.run(
            chosen,
            corpus,
            [each for each in train if each.map not in left_out],
            [each for each in train if each.map in left_out],
        )
        return done.score.f1


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


def _outcome(done: protocol.Run) -> Outcome:
    return {
        "answers": [
            [a.dialogue.map, a.score.correct, a.score.predicted, a.score.reference]
            for a in done.answers
        ]
    }


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _number(corpus: Corpus, text: str) -> int:
    shown = text.strip().removeprefix("map").strip()
    if not shown.isdecimal() or int(shown) not in corpus.maps:
        raise SettingError(f"There is no map {text!r}.{did_you_mean(shown, corpus.maps)}")
    return int(shown)


TASK = MapTask()
