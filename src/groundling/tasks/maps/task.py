"""The `maps` task: dialogues about maps, tested on the last quarter of the maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any, cast

from groundling.errors import CorpusError, InstructionError, SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.features.reader import Text
from groundling.plan import Plan
from groundling.tasks.benchmark import (
    Case,
    Fold,
    Outcome,
    Scene,
    Score,
    Task,
    median_seconds,
    sample_count,
)
from groundling.tasks.maps.corpus import (
    FOLLOWER,
    GIVER,
    Dialogue,
    DialogueLine,
    MapCorpus,
    MapSheet,
    load_corpus,
)
from groundling.tasks.maps.environment import Go, MapEnvironment
from groundling.tasks.maps.generator import generate_corpus
from groundling.tasks.maps.landscape import visited_landmarks
from groundling.tasks.maps.map_drawing import draw_map
from groundling.tasks.maps.map_presets import PRESETS, MapPreset
from groundling.tasks.maps.mentions import NameMatcher, read_dialogue
from groundling.tasks.maps.path_score import PathScore, score_by_map, score_path
from groundling.world.environment import Demonstration, Environment

# Estimated seconds per seed.
_SECONDS = {"paper": 45.0, "best": 35.0, "auto": 60.0}


class MapTask(Task[MapCorpus, MapPreset]):
    """Dialogues about maps; the last quarter of the maps is held out for testing."""

    name = "maps"
    about = (
        "Dialogues about maps (HCRC map task): the moves from landmark to landmark, compared with "
        "the moves along the drawn route."
    )
    metrics = ("precision", "recall", "f1")
    presets = PRESETS
    corpus = "hcrc"
    part = "map"

    def load(self, source: Path | None, size: float | None = None) -> MapCorpus:
        """Return the HCRC corpus in a folder, or generated maps with dialogues."""
        if source is not None:
            return load_corpus(source / self.corpus)
        return generate_corpus(maps=sample_count(8, 4, size), dialogues=2, seed=1)

    def prepare(self, corpus: MapCorpus, chosen: MapPreset) -> list[Case]:
        """Return all dialogues as cases; those about the same map share an environment."""
        worlds = {
            number: MapEnvironment(sheet.landscape, **chosen.environment)
            for number, sheet in corpus.maps.items()
        }
        matchers: dict[int, NameMatcher] = {}
        cases = []
        for each in corpus.dialogues:
            world, steps = worlds[each.map], corpus.steps(each)
            if each.map not in matchers:
                matchers[each.map] = NameMatcher(world.landscape, fuzzy=chosen.fuzzy)
            text = read_dialogue(chosen, each, world.landscape, matchers[each.map])
            if not text:
                raise CorpusError(
                    f"The dialogue {each.name!r} must contain instructions of the giver; got none. "
                    "Correct the transcript, or remove the dialogue."
                )
            shown = Demonstration(
                text, world, world.start, world.plan(steps), name=each.name,
                group=f"map {each.map}",
            )  # fmt: skip
            cases.append(Case(shown, str(each.map), reference=tuple(s.landmark for s in steps)))
        return cases

    def parts(self, corpus: MapCorpus) -> list[str]:
        """Return the numbers of the maps."""
        return list(map(str, sorted(corpus.maps)))

    def held_out(self, corpus: MapCorpus) -> tuple[str, ...]:
        """Return the numbers of the last quarter of the maps, which are held out."""
        parts = self.parts(corpus)
        return tuple(parts[len(parts) - len(parts) // 4 :])

    def folds(self, corpus: MapCorpus, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return one fold for each seed, with the last quarter of the maps held out."""
        if not all(corpus.split()):
            raise CorpusError(
                "The corpus must have at least four maps, with dialogues about the last quarter of "
                "the maps, which is held out for testing, and about the others; got "
                f"{len(corpus.maps)}. Add maps or dialogues, or generate a sample."
            )
        seeds = 1 if quick else self.presets.select(preset, variant).seeds
        test, cost = self.held_out(corpus), _SECONDS[preset]
        return [Fold(f"seed {seed}", test, seed, seconds=cost) for seed in range(seeds)]

    def judge(self, case: Case, plan: Plan | None) -> Score:
        """Return the counts of predicted, reference and correct transitions of a plan."""
        world = cast(MapEnvironment, case.demonstration.environment)
        done = [each.landmark for each in plan.actions if isinstance(each, Go)] if plan else []
        start = world.landscape.start
        return asdict(score_path([start, *done], [start, *case.reference]))

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row of results: means over all seeds.

        The confidence interval of F1 is bootstrapped over the test dialogues.
        """
        runs = [[PathScore(**score) for _, score in each["scores"]] for each in outcomes]
        maps = [int(part) for part, _ in outcomes[0]["scores"]]
        totals = [_total(run) for run in runs]
        metrics = {name: mean(getattr(total, name) for total in totals) for name in self.metrics}
        if len(runs) > 1:
            metrics["f1 sd"] = stdev(total.f1 for total in totals)
        per_map = [score_by_map(run, maps) for run in runs]
        metrics |= {f"map {n}": mean(each[n].f1 for each in per_map) for n in per_map[0]}
        # Sum over seeds for each dialogue, so that seeds do not count as additional data.
        summed = [_total(each) for each in zip(*runs, strict=True)]
        interval = bootstrap(summed, lambda drawn: _total(drawn).f1, draws=2000)
        published = self.presets.select(preset, variant).published
        seconds = median_seconds(outcomes)
        return Row(variant, metrics, interval, len(runs), published, seconds=seconds)

    def condition(self, corpus: MapCorpus, preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        names = {GIVER: "giver", FOLLOWER: "follower"}
        who = " and ".join(names[each] for each in self.presets.select(preset).speakers)
        count = len(corpus.split()[1])
        return f"{count} dialogues about maps not trained on; lines of the {who}"

    def read(
        self, chosen: MapPreset, environment: Environment, lines: Sequence[str]
    ) -> Sequence[Text]:
        """Return typed lines as the text of one dialogue.

        Lines may start with `g:` (giver, the default) or `f:` (follower).
        """
        talk = Dialogue("typed", 0, tuple(map(_utterance, lines)))
        if not talk.giver:
            raise InstructionError(
                "All lines of the dialogue start with `f:` (follower), but only the giver gives "
                "instructions. Add a line that starts with `g:`."
            )
        return [read_dialogue(chosen, talk, cast(MapEnvironment, environment).landscape)]

    def scene(
        self, corpus: MapCorpus, chosen: MapPreset, where: str | None, start: str | None
    ) -> Scene:
        """Return the scene of a map; by default, the last map."""
        if start is not None:
            raise SettingError(
                "--start must not be used with maps, which have a fixed start. Remove --start."
            )
        [part] = self.find_parts(corpus, where or self.parts(corpus)[-1])
        sheet = corpus.maps[int(part)]
        world = MapEnvironment(sheet.landscape, **chosen.environment)
        made = self.make_scene(part, chosen, cast(Environment, world), world.start)
        return MapScene(**vars(made), sheet=sheet)


@dataclass
class MapScene(Scene):
    """Scene of a map, drawn with the true route and the predicted path."""

    sheet: MapSheet | None = None

    def describe(self) -> str:
        """Return a list of the landmarks, as text."""
        world = cast(MapEnvironment, self.environment)
        return f"at the start; landmarks: {', '.join(world.landscape.keys)}"

    def draw(self, plans: Sequence[Plan]) -> str:
        """Return an SVG drawing of the map with the true route and the predicted path."""
        [plan] = plans
        assert self.sheet is not None
        return draw_map(
            self.sheet.landscape, cast(Any, plan.states), route=self.sheet.route,
            truth=visited_landmarks(self.sheet.steps),
        )  # fmt: skip


def _total(scores: Sequence[PathScore]) -> PathScore:
    return sum(scores, PathScore())


def _utterance(line: str) -> DialogueLine:
    """Parse a typed line as an utterance.

    >>> _utterance("f: past the mill?"), _utterance("go south").speaker
    (DialogueLine(speaker='f', text='past the mill?'), 'g')
    """
    speaker, mark, words = line.partition(":")
    if mark and speaker.strip() in (GIVER, FOLLOWER) and words.strip():
        return DialogueLine(speaker.strip(), words.strip())
    return DialogueLine(GIVER, line.strip())
