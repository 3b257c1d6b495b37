"""A conversation about lamps, with references: `python examples/conversation.py`."""

import random

from groundling import (
    Conversation,
    Features,
    Follower,
    GroundingGraph,
    Learning,
    MemoryEnvironment,
    Search,
)


class Lamps:
    """Lamps of different colours; a state is the set of lit ones."""

    def __init__(self, *colours):
        self.colours = colours

    def actions(self, lit):
        return [("off" if colour in lit else "on", colour) for colour in self.colours]

    def step(self, lit, action):
        return lit ^ {action[1]}

    def ground(self, lit, action, after):
        switch, colour = action
        nodes = {"event": {switch: True}, "lamp": {"colour": colour}}
        return GroundingGraph(nodes, [("event", "lamp", "object")])


def talk(dice, lamps, turns=5):
    """Generate a conversation: pairs of a text and its actions."""
    lit, last, said = frozenset(), None, []
    for _ in range(turns):
        ways = []
        for switch, colour in lamps.actions(lit):
            verb = dice.choice(["switch", "turn"])
            ways.append((f"{verb} {switch} the {colour} lamp", (switch, colour)))
            if last is None:
                continue
            if colour == last[1]:
                ways += [(f"{verb} it {switch}", (switch, colour))] * 2
                ways += [(dice.choice(["and back", "take that back"]), (switch, colour))] * 2
            elif switch == last[0]:
                ways.append((f"the same with the {colour} one", (switch, colour)))
                if len(lamps.colours) == 2:
                    ways.append(
                        (dice.choice(["now the other one", "the other one too"]), (switch, colour))
                    )
        text, action = dice.choice(ways)
        said.append((text, [action]))
        lit, last = lamps.step(lit, action), action
    return said


def train(seed=1, conversations=80):
    """Train on conversations about two or three lamps each."""
    dice, shown = random.Random(seed), []
    for number in range(conversations):
        colours = dice.sample(["red", "blue", "green", "white", "yellow"], dice.choice([2, 3]))
        lamps = MemoryEnvironment(Lamps(*colours))
        said = talk(dice, lamps.environment)
        shown += lamps.converse(frozenset(), said, name=f"talk {number}")
    return Follower(
        features=Features(slots=("colour",)),
        learning=Learning(l2=0.1, tolerance=1e-4),
        search=Search(max_length=1),
        parser="chain:english",
    ).fit(shown)


def main():
    """Train, then talk about two lamps whose colours were never demonstrated."""
    talking = Conversation(train(), Lamps("purple", "orange"), frozenset())
    for text in (
        "turn on the purple lamp",
        "now the other one",
        "switch it off",
        "and back",
        "turn off the purple lamp",
        "the same with the orange one",
    ):
        plan = talking.say(text)
        print(f"{text:30} {plan.actions[0]}  lit: {', '.join(sorted(talking.state)) or 'none'}")


if __name__ == "__main__":
    main()
