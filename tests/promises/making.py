"""The followers of these tests: the only place that knows how they are set up."""

from groundling import (
    DecisionModel,
    Features,
    Follower,
    Learning,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from tests.worlds import Line, line_demonstrations

TEXTS = ("go left", "go right then left", "please move right", "left then unknown")
KINDS = ("plans", "viterbi", "lattice")


def make_follower(kind="plans", **settings):
    """Return an untrained follower of one of the three kinds of model."""
    model, learning = {
        "plans": (PlanModel(skip=1.0), Learning(l2=0.1, iterations=30, tolerance=1e-5)),
        "viterbi": (DecisionModel(), Learning(iterations=30, rounds=2)),
        "lattice": (TransducerModel(), Learning(iterations=30)),
    }[kind]
    chosen = {
        "model": model,
        "overlay": Overlay(unit="word", neighbours=("given", "self")),
        "features": Features(slots=("item",)),
        "learning": learning,
        "search": Search(max_length=3, decode="outcome"),
        "parser": "chain",
        "seed": 7,
    } | settings
    return Follower(**chosen)


def demonstrations():
    """Return what they learn from."""
    return line_demonstrations(Line(4, {1: "lamp", 2: "sofa"}))


def requests():
    """Return what they are asked, in a world that they did not see."""
    world = Line(6, {3: "sofa", 4: "fountain"})
    return [(text, world, start) for text in TEXTS for start in (1, 3)]


def answer(plan):
    """Return all of a plan that can be compared to the last bit."""
    return plan.actions, plan.states, plan.log_probability, plan.confidence
