"""Short commands in a rich scene: `python examples/table.py`."""

import random

from groundling import Demonstration, Follower, GroundingGraph

THINGS = ("mug", "bowl", "plate", "lamp", "book", "clock", "vase", "radio", "candle", "kettle")
COLOURS = ("red", "blue", "green", "white", "black")
VERBS = {"take": ("take", "grab", "pick up"), "push": ("push", "shove"), "hide": ("hide", "cover")}


class Table:
    """Things in a row; the state is the last action."""

    def __init__(self, *things):
        self.things = things  # pairs (thing, colour)

    def actions(self, done):
        return [(verb, place) for verb in VERBS for place in range(len(self.things))]

    def step(self, done, action):
        return action

    def ground(self, done, action, after):
        verb, place = action
        nodes, edges = {"event": {verb: True}}, [("event", "object", "of")]
        for name, where in (("object", place), ("left", place - 1), ("right", place + 1)):
            if 0 <= where < len(self.things):
                thing, colour = self.things[where]
                nodes[name] = {"thing": thing, "colour": colour}
                if name != "object":
                    edges.append(("object", name, name))  # its neighbours
        return GroundingGraph(nodes, edges)


def demonstrate(dice, things=THINGS, colours=COLOURS):
    """Generate a command that fits exactly one thing."""
    while True:
        table = Table(*((dice.choice(things), dice.choice(colours)) for _ in range(6)))
        place, verb = dice.randrange(6), dice.choice(sorted(VERBS))
        thing, colour = table.things[place]
        said = dice.choice(VERBS[verb])
        if sum(thing == other for other, _ in table.things) == 1:
            text = f"{said} the {thing}"
        elif table.things.count((thing, colour)) == 1:
            text = f"{said} the {colour} {thing}"
        elif place and table.things.count(table.things[place - 1]) == 1:
            beside, its_colour = table.things[place - 1]
            text = f"{said} the {thing} to the right of the {its_colour} {beside}"
        else:
            continue
        return Demonstration(text, table, None, [(verb, place)])


def main():
    """Train on 150 commands; follow others about unseen things and colours."""
    dice = random.Random(0)
    follower = Follower().fit([demonstrate(dice) for _ in range(150)])
    print(follower.choices_)
    print(f"{follower.score([demonstrate(dice) for _ in range(100)]):.0%} of 100 right")
    new = [demonstrate(dice, ("fork", "ladder", "drum"), ("pink", "grey")) for _ in range(100)]
    print(f"{follower.score(new):.0%} of 100 right with names that it never saw")
    print(follower.diagnose(new[:20]))


if __name__ == "__main__":
    main()
