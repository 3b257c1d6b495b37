"""Accuracy with different labels, for docs/labels.md: `python -m benchmarks.labels`."""

import random
import re
from collections import Counter
from itertools import permutations

from examples import home as example
from groundling import (
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    MemoryEnvironment,
    Overlay,
    Search,
    TransducerModel,
)

NAMES = [*example.ROOMS, *sum(example.WORDS.values(), ()), "much", "every"]
COLOURS, SHAPES = ("red", "blue", "green", "white", "black"), ("cube", "ball", "cone")
KINDS = {
    "all": r"\ball |\bevery ",
    "left out": " and ",
    "change": "warm|cool|cold",
    "number": r"\d",
    "synonym": "light|shade|screen",
}
CHEAP = TransducerModel(unaligned_cost=2.3, fertility_cost=0.1, length_bonus=1)


class Home(example.Home):
    """The example's home with some of its labels, with or without actions for all rooms."""

    def __init__(self, *labels, several=False):
        super().__init__(rich=True)
        self.labels, self.several = labels, several

    def actions(self, state):
        """Return what can be done."""
        return [each for each in super().actions(state)
                if each[2] != "everywhere" or not self.several]  # fmt: skip

    def ground(self, state, action, after):
        """Return how an action looks."""
        graph = super().ground(state, action, after)
        of = {"words": (*example.WORDS, "heating"), "steps": ("more", "less", "step"),
              "all": ("everywhere",)}  # fmt: skip
        drop = {name for kind, names in of.items() if kind not in self.labels for name in names}
        nodes = {
            name: [label for label in labels if label.name not in drop]
            for name, labels in zip(graph.node_names, graph.node_labels, strict=True)
        }
        if self.several and action[1] != "heating":
            alike = [each for each in self.actions(state) if each[:2] == action[:2]]
            if "left" in self.labels:
                nodes["event"].append("some left" if len(alike) > 1 else "none left")
            if "next" in self.labels and alike[0] == action:
                nodes["event"].append("next")
        return GroundingGraph(nodes, graph.edges, graph.root, graph.roles)


def told(seed, several):
    """Return 120 training texts of the example, and 100 with new combinations of words."""
    dice, shown, new = random.Random(seed), [], []
    while len(shown) < 120 or len(new) < 100:
        text, state, actions = example.demonstrate(dice)
        if several and actions[0][2] == "everywhere":
            actions = [each for each in Home(several=True).actions(state)
                       if each[:2] == actions[0][:2]]  # fmt: skip
        place = sum(n for n, name in enumerate(NAMES) if name in text)
        (shown if place % 3 else new).append((text, state, actions))
    return shown[:120], new[:100]


def homes(name, world, model=None, *, beside=True):
    """Print how many texts of each kind are followed correctly, over two seeds.

    Without `beside`, values of slots are matched by spelling only.
    """
    right, asked = Counter(), Counter()
    several = getattr(world, "environment", world).several
    for seed in (0, 1):
        shown, new = (
            [
                Demonstration(text, world, begin(world, state), actions)
                for text, state, actions in each
            ]
            for each in told(seed, several)
        )
        follower = (Follower(model=model) if model else Follower()).fit(shown, check=False)
        if not beside:
            follower = follower.chosen().set_params(features__joins=("conjunction", "slot"))
            follower.fit(shown, check=False)
        for each in new:
            kind = next((k for k, v in KINDS.items() if re.search(v, each.instructions)), "plain")
            asked[kind] += 1
            right[kind] += round(follower.score([each]))
    shares = ", ".join(f"{kind} {right[kind]}/{asked[kind]}" for kind in sorted(asked))
    print(f"{name}: {sum(right.values())}/{sum(asked.values())} ({shares})", flush=True)


def begin(world, state):
    """Return a state, with an empty history if the world has a memory."""
    return world.begin(state) if isinstance(world, MemoryEnvironment) else state


class Row:
    """Things of different sizes in a row, one of which is taken."""

    def __init__(self, *labels):
        self.labels = labels
        if "things" in labels:
            self.things = self._things

    def _things(self, row):
        if row[0] == "taken":
            return {}
        return {f"thing {place}": {"shape": shape, "size": size, "x": place}
                for place, (shape, size) in enumerate(row)}  # fmt: skip

    def actions(self, row):
        """Return what can be done."""
        return () if row[0] == "taken" else tuple(range(len(row)))

    def step(self, row, place):
        """Return the state after an action."""
        return ("taken", place)

    def ground(self, row, place, after):
        """Return how an action looks."""
        shape, size = row[place]
        like = [other for kind, other in row if kind == shape]
        found = [name for name, best in (("largest", max), ("smallest", min))
                 if len(like) > 1 and size == best(like)]  # fmt: skip
        found += {0: ["left"], len(row) - 1: ["right"]}.get(place, [])
        thing = {"shape": shape}
        if "numbers" in self.labels:
            thing |= {"size": size, "x": place}
        if "values" in self.labels:
            thing["rank"] = found
        if "indicators" in self.labels:
            thing |= dict.fromkeys(found, True)
        name = f"thing {place}"
        return GroundingGraph({"event": {"take": True}, name: thing}, [("event", name, "of")])


def take(dice, world):
    """Return a request for the largest, smallest, leftmost or rightmost thing."""
    row = tuple((dice.choice(SHAPES), size) for size in dice.sample(range(1, 10), 5))
    place = dice.randrange(5)
    shape, size = row[place]
    like, says = [other for kind, other in row if kind == shape], []
    if len(like) > 1 and size == max(like):
        says += [f"take the biggest {shape}", f"the largest {shape} please"]
    if len(like) > 1 and size == min(like):
        says += [f"take the smallest {shape}", f"give me the tiniest {shape}"]
    says += {0: ["take the one on the left", "the leftmost one"],
             4: ["take the one on the right", "the rightmost one"]}.get(place, [])  # fmt: skip
    if not says:
        return take(dice, world)
    return Demonstration(dice.choice(says), world, row, [place])


class Pairs:
    """World in which a thing is put beside another; an edge may link the two."""

    def __init__(self, linked):
        self.linked = linked

    def actions(self, things):
        """Return what can be done."""
        return () if things[0] == "done" else tuple(permutations(range(len(things)), 2))

    def step(self, things, pair):
        """Return the state after an action."""
        return ("done", pair)

    def ground(self, things, pair, after):
        """Return how an action looks."""
        nodes = {"event": {"put": True}, "place": {"beside": True}}
        for name, which in zip(("object", "target"), pair, strict=True):
            nodes[name] = dict(zip(("colour", "shape"), things[which], strict=True))
        edges = [("event", "object", "of"), ("event", "place", "to"), ("place", "target", "near")]
        return GroundingGraph(nodes, edges + [("object", "target", "beside")] * self.linked)


def put(dice, world, *ways):
    """Return a request to put one thing beside another."""
    things = tuple(dice.sample([(c, s) for c in COLOURS[:3] for s in SHAPES], 4))
    pair = tuple(dice.sample(range(4), 2))
    text = dice.choice(ways).format(*(" ".join(things[each]) for each in pair))
    return Demonstration(text, world, things, [pair])


class Lamps:
    """Lamps of different colours; a state is the set of those that are lit."""

    def actions(self, lit):
        """Return what can be done."""
        return [("off" if colour in lit else "on", colour) for colour in COLOURS]

    def step(self, lit, action):
        """Return the state after an action."""
        return lit ^ {action[1]}

    def ground(self, lit, action, after):
        """Return how an action looks."""
        nodes = {"event": {action[0]: True}, "lamp": {"colour": action[1]}}
        return GroundingGraph(nodes, [("event", "lamp", "of")])


def switch(dice, world, cut):
    """Return a request to switch one to three lamps, as a text or a list of clauses."""
    lit = frozenset(colour for colour in COLOURS if dice.random() < 0.5)
    asked = dice.sample(world.actions(lit), dice.choice((1, 2, 3)))
    verbs = {"on": ("light", "kindle"), "off": ("darken", "kill")}
    said = [f"{dice.choice(verbs[way])} {colour}" for way, colour in asked]
    return Demonstration(said if cut else " and ".join(said), world, lit, asked)


def small(name, follower, demonstrate, shown=80):
    """Print how many of 100 texts are followed correctly, and the mean confidence."""
    dice = random.Random(0)
    follower.fit([demonstrate(dice) for _ in range(shown)], check=False)
    new = [demonstrate(dice) for _ in range(100)]
    sure = sum(plan.confidence for plan in follower.follow_many(
        [(each.instructions, each.environment, each.start) for each in new]))  # fmt: skip
    print(f"{name}: {follower.score(new):.2f}, confidence {sure / 100:.2f}", flush=True)


def main():
    """Print all figures."""
    for labels in (("numbers",), ("numbers", "things"), ("values",), ("values", "indicators")):
        small(f"row, {labels}", Follower(), lambda d, w=Row(*labels): take(d, w))
    ways = "put {} beside {}", "set {} by {}", "place the {} next to the {}"
    chosen = {"features": Features(words=("word",), slots=("colour", "shape")),
              "search": Search(max_length=1), "parser": "chain"}  # fmt: skip
    for linked in (False, True):
        for overlay in (Overlay(), Overlay(adjacency="soft"), Overlay.flat()):
            small(f"pairs, linked {linked}, {overlay}", Follower(overlay=overlay, **chosen),
                  lambda d, w=Pairs(linked): put(d, w, *ways), 60)  # fmt: skip
    for overlay in (Overlay(), Overlay(entry="any"), Overlay(entry="any", adjacency="soft")):
        small(f"pairs, no verb, {overlay}", Follower(overlay=overlay, **chosen),
              lambda d: put(d, Pairs(linked=True), "{} beside {} please"), 60)  # fmt: skip
    colour = Features(words=("word",), slots=("colour",))
    for cut in (False, True):
        for overlay in (Overlay(), Overlay(unit="word")):
            small(f"lamps, cut {cut}, {overlay}",
                  Follower(overlay=overlay, features=colour, parser="chain"),
                  lambda d, c=cut: switch(d, Lamps(), c), 60)  # fmt: skip
    homes("home, (), no words beside values", Home(), beside=False)
    for labels in ((), ("words",), ("words", "steps"), ("words", "steps", "all")):
        homes(f"home, {labels}", Home(*labels))
    homes("home, all labels, remembering", MemoryEnvironment(Home("words", "steps", "all")))
    for more in ((), ("left",), ("next",), ("left", "next")):
        for model in (None, CHEAP):
            world = MemoryEnvironment(Home("words", "steps", *more, several=True))
            homes(f"home, several actions, {more}, {model or 'chosen'}", world, model)


if __name__ == "__main__":
    main()
