"""Small worlds and demonstrations that the tests of the core share."""

import math

import numpy as np

from groundling import Demonstration, Features, GroundingGraph, Instruction, Overlay, Search
from groundling.features.reader import Reader
from groundling.language import ChainParser
from groundling.models.base import TrainingData
from groundling.models.example import prepare
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import PlanTerms


class Line:
    """Cells in a row; the agent goes left or right, and sees what lies where it arrives."""

    def __init__(self, size=4, items=()):
        self.size = size
        self.items = dict(items)

    def actions(self, state):
        possible = {"left": state > 0, "right": state < self.size - 1}
        return tuple(name for name, ok in possible.items() if ok)

    def step(self, state, action):
        return state + (1 if action == "right" else -1)

    def ground(self, state, action, after):
        return GroundingGraph(
            {
                "event": {action: True},
                "cell": {"item": self.items.get(after), "end": after in (0, self.size - 1)},
            },
            [("event", "cell", "to")],
        )


class GoalLine(Line):
    """A line where plans must end at its right end."""

    def is_goal(self, state):
        return state == self.size - 1


def line_demonstrations(world=None):
    """Sentences that say each step in a word of its own."""
    world = world or Line()
    shown = [
        ("go left", 2, ("left",)),
        ("go right", 1, ("right",)),
        ("move right", 0, ("right",)),
        ("move left", 3, ("left",)),
        ("go right then left", 1, ("right", "left")),
        ("left then right", 2, ("left", "right")),
        ("right then right", 0, ("right", "right")),
    ]
    return [Demonstration(text, world, start, actions) for text, start, actions in shown]


class Blocks:
    """Blocks of two colours; an action puts one of them on another.

    Which colour belongs to which block is seen only in the graph: as bags, the labels of
    putting red on blue and blue on red are the same.
    """

    colours = ("red", "blue", "green")

    def actions(self, state):
        return tuple((a, b) for a in self.colours for b in self.colours if a != b)

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        moved, target = action
        return GroundingGraph(
            {"event": "put", "moved": {moved: True}, "target": {target: True}},
            [("event", "moved", "moves"), ("event", "target", "onto")],
        )


def put(moved, target):
    """Return the parsed sentence *put <moved> block onto <target> block*."""
    return Instruction(
        tokens=("put", moved, "block", "onto", target, "block"),
        heads=(-1, 2, 0, 5, 5, 0),
        relations=("root", "amod", "obj", "case", "amod", "obl"),
    )


def workbench(overlay=None, features=None, terms=PlanTerms()):
    """Return an encoder and an empty feature space."""
    features = features or Features(words=("word",), numbers=("real", "bins"))
    reader = Reader(ChainParser(), features.promote, features.labeller(), features.first_lexicon())
    return Encoder(reader, overlay or Overlay(), features.nodes(), terms), features.space()


def objective_of(model, overlay=None, shown=None, *, features=None, search=None, threads=1):
    """Return what a model minimises over demonstrations, and the features that it found."""
    encoder, space = workbench(overlay, features, model.terms())
    shown = shown or line_demonstrations(Line(4, {1: "lamp", 2: "sofa"}))
    data = TrainingData(
        encoder, space, prepare(encoder, shown), search or Search(max_length=3),
        np.random.default_rng(0), threads,
    )  # fmt: skip
    return model.objective(data).prepare(), space


def weights_for(space, seed=0, spread=1.0):
    """Return random weights for the features of a space."""
    return np.random.default_rng(seed).normal(size=len(space)) * spread


def slopes(function, theta, step=1e-5):
    """Return the gradient of a function by central differences of fourth order."""
    found = np.zeros_like(theta)
    for place in range(len(theta)):
        total = 0.0
        for times, weight in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
            moved = theta.copy()
            moved[place] += times * step
            total += weight * function(moved)
        found[place] = total / (12 * step)
    return found


def in_training(listen):
    """Return what listens to the steps of training only, not to what comes before."""
    return lambda report: None if math.isnan(report.loss) else listen(report)
