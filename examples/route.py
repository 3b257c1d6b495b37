"""Long routes with too many plans to enumerate: `python examples/route.py`."""

import random

from groundling import Demonstration, Follower, GroundingGraph

PLACES = ("bakery", "church", "school", "park", "bank", "museum", "station", "market", "library")
OTHERS = ("harbour", "castle", "theatre", "garage", "hotel", "stadium", "chapel", "brewery", "zoo")
STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
CONNECTIVES = (". ", " and then ", ", then ")


class Town:
    """Places on a 3 × 3 grid; a state is the position and the set of visited positions."""

    def __init__(self, *places):
        self.places = {(n % 3, n // 3): place for n, place in enumerate(places)}

    def actions(self, state):
        (x, y), _ = state
        return [way for way, (dx, dy) in STEPS.items() if (x + dx, y + dy) in self.places]

    def step(self, state, way):
        ((x, y), been), (dx, dy) = state, STEPS[way]
        return (x + dx, y + dy), been | {(x, y)}

    def ground(self, state, way, after):
        nodes = {
            "event": {"way": way, "new" if after[0] not in state[1] else "back": True},
            "to": {"place": self.places[after[0]]},
        }
        return GroundingGraph(nodes, [("event", "to", "to")])


def demonstrate(dice, places):
    """Generate a random walk; the text gives the direction or the target of each step."""
    town = Town(*dice.sample(places, 9))
    state = start = (dice.choice(sorted(town.places)), frozenset())
    told, actions = [], []
    for _ in range(dice.randint(5, 9)):
        way = dice.choice(town.actions(state))
        state = town.step(state, way)
        place = town.places[state[0]]
        told.append(dice.choice((f"go {way}", f"walk to the {place}", f"go on to the {place}")))
        actions.append(way)
    text = told[0]
    for each in told[1:]:
        text += dice.choice(CONNECTIVES) + each
    return Demonstration(text, town, start, actions)


def main():
    """Train on 60 routes; follow others in towns with other names."""
    dice = random.Random(0)
    follower = Follower().fit([demonstrate(dice, PLACES) for _ in range(60)])
    print(follower.choices_)
    routes = [demonstrate(dice, OTHERS) for _ in range(50)]
    print(f"{follower.score(routes):.0%} of 50 routes end where they should")
    right = [follower.follow(e.instructions, e.environment, e.start).actions == e.actions
             for e in routes]  # fmt: skip
    print(f"{sum(right) / len(right):.0%} of 50 are right step by step")


if __name__ == "__main__":
    main()
