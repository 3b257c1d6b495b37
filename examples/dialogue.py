"""An agent that acts, asks, answers and declines: `python examples/dialogue.py`."""

from groundling import Agent, Demonstration, Follower, GroundingGraph


class Kitchen:
    """Devices that can be switched on and off, each with a kind and a place."""

    def __init__(self, **devices):
        self.devices = {
            name.replace("_", " "): {"kind": kind, "place": place}
            for name, (kind, place) in devices.items()
        }

    def actions(self, on):
        return [("off" if name in on else "on", name) for name in self.devices]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        nodes = {"event": {action[0]: True}, "device": self.devices[action[1]]}
        return GroundingGraph(nodes, edges=[("event", "device", "object")])

    def things(self, on):  # questions are answered from these labels
        return {
            name: {**device, "on": name in on, "off": name not in on}
            for name, device in self.devices.items()
        }


OLD = Kitchen(
    sink_lamp=("lamp", "sink"), table_lamp=("lamp", "table"), oven=("oven", "corner"),
    fan=("fan", "window"),
)  # fmt: skip
NEW = Kitchen(
    stove_lamp=("lamp", "stove"), shelf_lamp=("lamp", "shelf"), oven=("oven", "wall"),
)  # fmt: skip
QUESTIONS = {
    "how many lamps are on?": 1, "how many lamps are there?": 2, "is the oven on?": True,
    "is the fan on?": False, "is the lamp at the table on?": False,
    "what is on?": {"sink lamp", "oven"}, "where is the oven?": "corner",
    "where is the fan?": "window",
}  # fmt: skip
SAID = (
    "switch on the lamp", "the one at the shelf", "how many lamps are on?", "where is the oven?",
    "switch on the oven at the wall", "what is on?", "switch off the toaster",
    "switch off the lamp", "switch on the lamp", "never mind",
)  # fmt: skip


def learn():
    """Train on eight commands and eight questions in one kitchen."""
    nothing, everything = frozenset(), frozenset(OLD.devices)
    shown = [
        Demonstration(f"switch {way} the {each['kind']} at the {each['place']}", OLD, state,
                      [(way, name)])
        for name, each in OLD.devices.items()
        for way, state in (("on", nothing), ("off", everything))
    ]  # fmt: skip
    some = frozenset({"sink lamp", "oven"})
    shown += [Demonstration(text, OLD, some, answer=told) for text, told in QUESTIONS.items()]
    return Follower().fit(shown, check=False)


def main():
    """Talk with the agent in an unseen kitchen."""
    agent = Agent(learn(), NEW, frozenset())
    for said in SAID:
        turn = agent.say(said)
        print(f"> {said}\n{turn.text}  ({turn.kind})")


if __name__ == "__main__":
    main()
