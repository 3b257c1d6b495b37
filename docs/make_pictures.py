"""Pictures of “The idea in five pictures” and of the kitchen: `make pictures`."""

import random
import runpy
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from groundling import Follower
from groundling.cli.demo import run_demo
from groundling.explain import figure as drawing
from groundling.explain.explanation import Explanation
from groundling.explain.figure import (
    NodeBox,
    Sheet,
    arc_levels,
    choose_nodes,
    graph_arcs,
    place_nodes,
    place_words,
)
from groundling.svg import write_page

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
KITCHEN = runpy.run_path(str(ROOT / "examples" / "kitchen.py"))
SAID = "pick up the white fork and go to the stove"
WIDTH, RESOLUTION = 8.4, 170
SIZES, DRAWS = (1, 2, 4, 8, 15, 30, 60), 5


def draw_tree(why: Explanation) -> str:
    """Return an SVG of the instruction's dependency tree."""
    [instruction] = why.instructions
    height = 0.75 + drawing.LEVEL * max(arc_levels(instruction).values())
    sheet = Sheet(WIDTH, height)
    words = drawing.centred(place_words(instruction, drawing.WORD_SIZE), WIDTH)
    drawing.draw_tree(sheet, instruction, words, height)
    return str(sheet)


def draw_graphs(why: Explanation) -> str:
    """Return an SVG of the grounding graph of every action of the plan."""
    boxes = [
        NodeBox(j, name, tuple(str(label) for label in step.graph.labels(name)))
        for j, step in enumerate(why.steps)
        for name in step.graph.node_names
    ]
    nodes = place_nodes(boxes, drawing.SMALL, drawing.TINY)
    levels = max(arc.level for arc in graph_arcs(why, nodes))
    height = 0.75 + max(box.height for box in nodes) + drawing.LEVEL * levels
    sheet = Sheet(WIDTH, height)
    drawing.draw_nodes(sheet, why, nodes, (WIDTH - nodes[-1].right) / 2, height - 0.2)
    return str(sheet)


def draw_words(why: Explanation) -> str:
    """Return an SVG of the alignment of words with nodes."""
    [instruction] = why.instructions
    nodes = place_nodes(choose_nodes(why, 0), drawing.SMALL, drawing.TINY)
    height = drawing.panel_height(why, 0, nodes)
    sheet = Sheet(WIDTH, height)
    words = place_words(instruction, drawing.WORD_SIZE)
    drawing.draw_panel(sheet, why, 0, words, nodes, WIDTH, height)
    return str(sheet)


def draw_actions(why: Explanation) -> str:
    """Return an SVG of the alignment of clauses with actions."""
    sheet = Sheet(WIDTH, 2.0)
    drawing.draw_strip(sheet, why, drawing.strip_rows(why, WIDTH), WIDTH, 2.0)
    return str(sheet)


def draw_learning(follower: Follower) -> Figure:
    """Return a figure of the strongest weights, and of accuracy by number of demonstrations."""
    figure = Figure(figsize=(WIDTH, 3.3), facecolor=drawing.PAPER, layout="constrained")
    weights, curve = figure.subplots(1, 2, width_ratios=(1.25, 1))
    chosen = [
        (name, weight)
        for name, weight in follower.weights("word=", most=60)
        if name.startswith("word=") and weight > 0
    ][:10]
    for place, (name, weight) in enumerate(chosen):
        word, label = name.removeprefix("word=").split(" ∧ ")
        kind = word.strip("‹›")
        said = f"a {kind}’s name → that {kind}" if label.endswith("~") else f"“{word}” → {label}"
        weights.barh(place, weight, color=drawing.COLORS[0], height=0.66)
        weights.text(weight + 0.15, place, f"{weight:.1f}", va="center", fontsize=8)
        weights.text(-0.15, place, said, va="center", ha="right", fontsize=8.5)
    weights.invert_yaxis()
    weights.set_yticks([])
    weights.set_title("strongest weights of words", fontsize=9.5, loc="left")
    shares = [[learn(size, draw) for draw in range(DRAWS)] for size in SIZES]
    means = [sum(each) / len(each) for each in shares]
    curve.fill_between(SIZES, [min(e) for e in shares], [max(e) for e in shares], alpha=0.2,
                       color=drawing.COLORS[1], linewidth=0)  # fmt: skip
    curve.plot(SIZES, means, "o-", color=drawing.COLORS[1], markersize=4)
    curve.set_xscale("log")
    curve.set_xticks(SIZES, [str(size) for size in SIZES])
    curve.minorticks_off()
    curve.set_ylim(0, 1.03)
    curve.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25%", "50%", "75%", "100%"])
    curve.set_xlabel("demonstrations", fontsize=9)
    curve.set_title("right with names it never saw", fontsize=9.5, loc="left")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    for ax in (weights, curve):
        ax.set_facecolor(drawing.PAPER)
        ax.tick_params(labelsize=8)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    weights.spines["bottom"].set_visible(False)
    weights.set_xticks([])
    return figure


def learn(size: int, draw: int) -> float:
    """Return the accuracy after training on `size` demonstrations."""
    dice = random.Random(1000 * draw + size)
    follower = Follower(**MODEL.get_params(deep=False)).fit(world(dice, size, KNOWN))
    return follower.score(world(dice, 100, UNSEEN))


KNOWN = (("table", "sink", "shelf"), ("red cup", "blue cup", "red bowl"))
UNSEEN = (("stove", "counter", "drawer"), ("white plate", "grey plate", "white fork"))


def world(dice: random.Random, size: int, names: tuple) -> list:
    """Return demonstrations, each in a different kitchen."""
    kitchens = [KITCHEN["furnish"](dice, *names) for _ in range(size)]
    return [KITCHEN["demonstrate"](dice, *each) for each in kitchens]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        KITCHEN["main"](Path(folder))
        MODEL = Follower.load(Path(folder) / "model")
        (IMAGES / "kitchen.png").write_bytes((Path(folder) / "why.png").read_bytes())
        run_demo(Path(folder) / "demo")
        for part in ("maze", "words"):
            drawn = Path(folder) / "demo" / f"implicit-turn-{part}.png"
            (IMAGES / f"demo-{part}.png").write_bytes(drawn.read_bytes())
    places, things = UNSEEN
    start = KITCHEN["State"]("counter", "", frozenset(zip(things, places, strict=True)))
    why = MODEL.follow(SAID, KITCHEN["Kitchen"](*places), start).explain()
    pictures = {
        "tree": draw_tree(why),
        "graphs": draw_graphs(why),
        "words": draw_words(why),
        "actions": draw_actions(why),
    }
    for name, drawn in pictures.items():
        write_page(drawn, IMAGES / f"idea-{name}.png")
    draw_learning(MODEL).savefig(IMAGES / "idea-learning.png", dpi=RESOLUTION)
