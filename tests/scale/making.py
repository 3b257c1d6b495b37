"""Followers and demonstrations of these tests: small, and the same everywhere."""

from groundling import (
    DecisionModel,
    Ensemble,
    Features,
    Follower,
    Learning,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.learning.trainer import Trainer
from groundling.scale.sharded_fit import fit_at_scale
from groundling.world.environment import Demonstration
from tests.worlds import Line

ITEMS = Features(slots=("item",))
KINDS = {
    "plans": {"model": PlanModel(skip=1.0, plan_words=True, advance_scores=True)},
    "plans of frequent words": {
        "features": Features(
            slots=("item",), words=("word", "context"), min_word_count=3, min_count=2
        )
    },
    "decisions": {"model": DecisionModel(), "learning": Learning(iterations=15, rounds=3)},
    "readings": {
        "model": TransducerModel(),
        "features": Features(slots=("item",), words=("word", "string"), min_count=0),
    },
    "ensemble": {"model": Ensemble([Member(Overlay.flat(), ITEMS)])},
    "learnt lexicon": {"features": Features(slots=("item",), lexicon="learn")},
}


def trainer_of(kind="plans", **settings):
    """Return the settings of an untrained follower."""
    chosen = {
        "model": PlanModel(),
        "overlay": Overlay(),
        "features": ITEMS,
        "learning": Learning(iterations=15),
        "search": Search(max_length=2),
        "parser": "chain",
        "seed": 3,
    }
    return Trainer(**Follower(**(chosen | KINDS[kind] | settings)).get_params(deep=False))


def shown(count=30):
    """Return demonstrations in two worlds: short ways, more or less well described."""
    worlds = [Line(5, {1: "lamp", 2: "sofa"}), Line(6, {3: "lamp", 4: "chair"})]
    found = []
    for number in range(count):
        start, steps = 1 + number % 3, 1 + number % 2
        way = "left" if (number // 3) % 2 or start + steps > 4 else "right"
        steps = min(steps, start) if way == "left" else steps
        goal = worlds[number % 2].items.get(start + steps, "end") if way == "right" else "start"
        text = ("go", "walk", "please move", f"hop{number // 10}")[number % 4]
        found.append(
            Demonstration(
                f"{text} {way} to the {goal}",
                worlds[number % 2],
                start,
                (way,) * steps,
                weight=0.5 + number % 3,
                name=f"{number}",
            )
        )
    return found


def fit(kind="plans", demonstrations=None, size=7, **options):
    """Train in shards of a few demonstrations."""
    given = shown() if demonstrations is None else demonstrations
    options.setdefault("memory", "4GB")
    return fit_at_scale(trainer_of(kind), given, size=size, **options)
