"""A task as another package would write it: lamps that are lit and put out when told."""

from dataclasses import replace

from groundling import Demonstration, Features, GroundingGraph, Learning, Overlay, Search
from groundling.svg import Canvas
from groundling.tasks.benchmark import Case, Task
from groundling.tasks.presets import Preset, Presets

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

    def draw(self, lit):
        canvas = Canvas(0, 0, 60, 20)
        for place, lamp in enumerate(COLOURS):
            canvas.add("circle", cx=10 + 20 * place, cy=10, r=8, fill=lamp,
                       opacity=1 if lamp in lit else 0.2)  # fmt: skip
        return str(canvas)


BEST = Preset(
    overlay=Overlay(),
    features=Features(),
    learning=Learning(iterations=8),
    search=Search(max_length=1),
    parser="chain",
    published={"right": 0.5},
)
ROWS = {"full": BEST, "no words": replace(BEST, features=Features(words=()))}


class LampTask(Task[list[Demonstration], Preset]):
    """Lamps; the lamp of a colour is held out at a time."""

    name = "lamps"
    about = "Lamps: right is the share of requests that were carried out."
    metrics = ("right",)
    presets = Presets("lamps", {"best": ROWS})
    part = "lamp"

    def load(self, source, size=None):
        world, dark, lit = Lamps(), frozenset(), frozenset(COLOURS)
        told = [(f"light the {lamp} lamp", dark, ("light", lamp)) for lamp in COLOURS]
        told += [(f"put out the {lamp} one", lit, ("douse", lamp)) for lamp in COLOURS]
        return [Demonstration(text, world, start, (action,)) for text, start, action in told]

    def prepare(self, corpus, chosen):
        return [Case(each, each.actions[0][1]) for each in corpus]

    def judge(self, case, plan):
        return {"right": float(plan is not None and plan.actions == case.demonstration.actions)}

    def read(self, chosen, environment, lines):
        return [line.lower() for line in lines]
