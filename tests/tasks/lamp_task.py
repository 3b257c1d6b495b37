"""A task as another package would write it: lamps that are lit and put out when told."""

from dataclasses import replace
from pathlib import Path

from groundling import Demonstration, Features, GroundingGraph, Learning, Overlay, Search
from groundling.errors import SettingError
from groundling.evaluation.report import Row
from groundling.tasks.base import Fold, Scene, Task, TrainingSet
from groundling.tasks.presets import BasePreset, Presets

COLOURS = ("red", "green", "blue")


class Lamps:
    """Three lamps; an action is a verb and the lamp it is for."""

    def actions(self, lit):
        return [("douse" if lamp in lit else "light", lamp) for lamp in COLOURS]

    def step(self, lit, action):
        return lit ^ {action[1]}

    def ground(self, lit, action, after):
        verb, lamp = action
        nodes = {"event": {verb: True}, "lamp": {"colour": lamp}}
        return GroundingGraph(nodes, edges=[("event", "lamp", "object")])


BEST = BasePreset(
    overlay=Overlay(),
    features=Features(),
    learning=Learning(iterations=8),
    search=Search(max_length=1),
    parser="chain",
    published={"right": 0.5},
)
VARIANTS = {
    "best": {
        "full": lambda given: given,
        "no words": lambda given: replace(given, features=Features(words=())),
    }
}


class LampTask(Task[list[Demonstration], BasePreset]):
    """Lamps."""

    name = "lamps"
    about = "Lamps: right is the share of requests that were carried out."
    metrics = ("right",)
    presets = Presets("lamps", {"best": BEST}, VARIANTS)

    def load(self, folder, size=None):
        world, dark, lit = Lamps(), frozenset(), frozenset(COLOURS)
        told = [(f"light the {lamp} lamp", dark, ("light", lamp)) for lamp in COLOURS]
        told += [(f"put out the {lamp} one", lit, ("douse", lamp)) for lamp in COLOURS]
        return [Demonstration(text, world, start, (action,)) for text, start, action in told]

    def training_set(self, corpus, chosen, left_out):
        return TrainingSet(corpus, "")

    def folds(self, corpus, preset, variant, quick):
        return [Fold("even"), Fold("odd")]

    def _score(self, chosen, corpus, fold):
        parity = ("even", "odd").index(fold)
        follower = chosen.follower().fit(corpus)  # it is about the plumbing, not about the score
        return follower.score(corpus[parity::2])

    def evaluate_fold(self, corpus, preset, variants, fold):
        return {
            name: {"right": self._score(self.presets.select(preset, name), corpus, fold)}
            for name in variants
        }

    def make_row(self, preset, variant, outcomes):
        right = sum(each["right"] for each in outcomes) / len(outcomes)
        published = self.presets.select(preset, variant).published
        return Row(variant, {"right": right}, published=published)

    def condition(self, corpus, preset, quick):
        return f"{len(corpus)} requests"

    def tuning_folds(self, corpus):
        return ["even", "odd"]

    def try_out(self, corpus, chosen, fold):
        return self._score(chosen, corpus, fold)

    def scene(self, corpus, chosen, where, start):
        return LampScene(where or "hall", start or "dark")


class LampScene(Scene):
    """Lamps in some room, all lit or all dark."""

    def __init__(self, name, start):
        if start not in ("dark", "lit"):
            raise SettingError(f"Lamps are dark or lit, not {start!r}.")
        self.name = name
        self.start = start

    def describe(self):
        return self.start

    def follow(self, follower, lines, length=None):
        start = frozenset(COLOURS if self.start == "lit" else ())
        return [follower.follow(tuple(lines), Lamps(), start, length=length)]

    def draw(self, plans, file: Path, title=""):
        file.write_text(title)
