"""A text adventure as a Gymnasium world: `python examples/text_adventure.py`.

Rooms, doors, keys, chests and things have names of several words, some of which are shared.
Commands and observations are texts. Quests are in English and do not mention the paths and doors
between rooms, which `route` finds.
"""

import random
import re
import string
from collections import deque
from typing import NamedTuple

import gymnasium

from groundling import Demonstration, Follower, GroundingGraph
from groundling.gym import GymWorld

ROOMS = ("hall", "north hall", "wine cellar", "cellar", "garden", "winter garden", "bed room",
         "store room")  # fmt: skip
KINDS = ("oak", "soap scented", "rusty iron", "iron", "winter", "bed")
SMALL = ("apple", "lamp", "garden lamp", "wine glass", "glass", "book", "bed book", "oak leaf")
LOCKED, CLOSED, OPEN = range(3)
HELD = "you"
SAID = {
    "go": ("Go to the {}", "Walk to the {}", "Head for the {}"),
    "take": ("Take the {}", "Pick up the {}", "Grab the {}", "Get hold of the {}"),
    "take from": ("Take the {} from the {}", "Get the {} out of the {}"),
    "put": ("Put the {} into the {}", "Place the {} in the {}", "Insert the {} into the {}"),
    "drop": ("Drop the {}", "Put the {} down", "Leave the {} on the floor"),
    "open": ("Open the {}", "Make sure that the {} is open"),
    "close": ("Close the {}", "Shut the {}", "Make sure that the {} is closed"),
    "unlock": ("Unlock the {} with the {}", "Make sure that the {} is unlocked with the {}"),
    "lock": ("Lock the {} with the {}", "Make sure that the {} is locked with the {}"),
}
BEFORE = ("", "", "Then ", "After that, ", "Next, ", "Now ")
WELCOME = ("Welcome!", "Hello there.", "Hey, great that you are here!", "Here is your quest.")
THANKS = ("Alright, thanks!", "That's it.", "Good luck!", "You are done then.")
COMMAND = re.compile(
    r"(take|put|drop|open|close|unlock|lock|go to) (.+?)(?: (from|into|with) (.+))?"
)


class State(NamedTuple):
    """Your room, the place of each thing, and the state of each door and chest."""

    room: str
    places: tuple[tuple[str, str], ...]
    stand: tuple[tuple[str, int], ...]


class Adventure(gymnasium.Env):
    """Each seed is a house and a quest; `info` describes the house."""

    action_space = observation_space = gymnasium.spaces.Text(1000, charset=string.printable)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        dice = random.Random(int(self.np_random.integers(1 << 30)))
        self.rooms = dice.sample(ROOMS, dice.randint(4, 7))
        kinds = dice.sample(KINDS, 4)
        # room behind each door, or behind the word "way"
        self.exits = {room: {} for room in self.rooms}
        self.doors, stand = {}, {}
        for number, room in enumerate(self.rooms[1:], 1):
            other = self.rooms[dice.randrange(number)]
            door = f"{kinds[number]} door" if number < len(kinds) else f"way to {room}"
            self.doors[door] = (other, room)
            stand[door] = dice.choice((CLOSED, OPEN)) if number < len(kinds) else OPEN
        self.chests = {}
        places = {}
        for kind in kinds[:2]:
            chest = f"{kind} {dice.choice(('chest', 'locker'))}"
            self.chests[chest] = dice.choice(self.rooms)
            stand[chest] = dice.choice((LOCKED, LOCKED, CLOSED, OPEN))
            places[f"{kind} key"] = dice.choice(self.rooms)
        for thing in dice.sample(SMALL, 4):
            places[thing] = dice.choice((*self.rooms, *self.chests))
        self.state = self.begin = State(
            dice.choice(self.rooms), tuple(sorted(places.items())), tuple(sorted(stand.items()))
        )
        self.quest, self.text = self._quest(dice)
        return self._look(), self._info()

    def _quest(self, dice):
        """Return a quest as commands and as text, without changing the state."""
        wanted, commands, told = dice.randint(3, 14), [], []
        seen = {self.state}
        while len(commands) < wanted:
            new = []
            for command in wishes(self._info()):
                ways = route(self._info(), command)
                if ways and self._after(ways)[-1] not in seen:
                    new += [command] * (1 if command.startswith("go to") else 3)
            if not new:
                break
            command = dice.choice(new)
            passed = self._after(route(self._info(), command))
            self.state = passed[-1]
            seen.update(passed)
            commands.append(command)
            said = dice.choice(SAID[key_of(command)]).format(*named(command))
            first = dice.choice(BEFORE)
            told.append(f"{first}{said[0].lower() + said[1:] if first else said}.")
        self.goal, self.state = self.state, self.begin
        greeting = [dice.choice(WELCOME)] if dice.random() < 0.6 else []
        thanks = [dice.choice(THANKS)] if dice.random() < 0.6 else []
        return commands, " ".join([*greeting, *told, *thanks])

    def _after(self, commands):
        """Return the state after each command, without changing the current state."""
        before, passed = self.state, []
        for command in commands:
            self.state = self._done(command)
            passed.append(self.state)
        self.state = before
        return passed

    def step(self, command):
        self.state = self._done(command)
        won = self.state == self.goal
        return self._look(), float(won), won, False, self._info()

    def _done(self, command):
        """Return the state after a command; invalid commands change nothing."""
        room, places, stand = self.state.room, dict(self.state.places), dict(self.state.stand)
        if command.startswith("go through "):
            door = command.removeprefix("go through ")
            one, two = self.doors.get(door, ("", ""))
            if room in (one, two) and stand[door] == OPEN:
                room = two if room == one else one
            return State(room, *self.state[1:])
        verb, thing, _, other = COMMAND.fullmatch(command).groups()
        near = self.chests.get(thing) == room or room in self.doors.get(thing, ())
        if verb == "take" and places[thing] == (other or room) and self._reaches(other):
            places[thing] = HELD
        elif verb == "drop" and places[thing] == HELD:
            places[thing] = room
        elif verb == "put" and places[thing] == HELD and self._reaches(other):
            places[thing] = other
        elif verb == "open" and near and stand[thing] == CLOSED:
            stand[thing] = OPEN
        elif verb == "close" and near and stand[thing] == OPEN:
            stand[thing] = CLOSED
        elif verb in ("lock", "unlock") and near and places[other] == HELD:
            turned = (CLOSED, LOCKED) if verb == "lock" else (LOCKED, CLOSED)
            if stand[thing] == turned[0] and other == key_for(thing):
                stand[thing] = turned[1]
        return State(room, tuple(sorted(places.items())), tuple(sorted(stand.items())))

    def _reaches(self, chest):
        stand = dict(self.state.stand)
        return chest is None or (self.chests[chest] == self.state.room and stand[chest] == OPEN)

    def _look(self):
        here = [thing for thing, place in self.state.places if place == self.state.room]
        held = [thing for thing, place in self.state.places if place == HELD]
        ways = [door for door, ends in self.doors.items() if self.state.room in ends]
        return (
            f"You are in the {self.state.room}. Here: {', '.join(here) or 'nothing'}. "
            f"You hold: {', '.join(held) or 'nothing'}. Ways: {', '.join(ways)}."
        )

    def _info(self):
        return {"state": self.state, "doors": self.doors, "chests": self.chests}


# ---- requests, and the steps that they do not mention ---------------------------------------


def key_of(command):
    """Return the key of a command in `SAID`."""
    verb, _, relation, _ = COMMAND.fullmatch(command).groups()
    return "take from" if relation == "from" else verb.split()[0]


def key_for(chest):
    """Return the name of the key of a chest, such as soap scented key."""
    return f"{chest.rsplit(' ', 1)[0]} key"


def named(command):
    """Return the names of things in a command."""
    _, thing, _, other = COMMAND.fullmatch(command).groups()
    return (thing, other) if other else (thing,)


def wishes(info):
    """Return all possible requests, including those for things in other rooms."""
    state, chests = info["state"], info["chests"]
    rooms = {room for ends in info["doors"].values() for room in ends}
    found = [f"go to {room}" for room in sorted(rooms) if room != state.room]
    held = [thing for thing, place in state.places if place == HELD]
    for thing, place in state.places:
        if place in chests:
            found.append(f"take {thing} from {place}")
        elif place != HELD:
            found.append(f"take {thing}")
    for thing in held:
        found += [f"drop {thing}", *(f"put {thing} into {chest}" for chest in sorted(chests))]
    for name, how in state.stand:
        if name in chests:
            found += {OPEN: [f"close {name}"], CLOSED: [f"open {name}"], LOCKED: []}[how]
            if key_for(name) in held and how != OPEN:
                verb = "lock" if how == CLOSED else "unlock"
                found.append(f"{verb} {name} with {key_for(name)}")
    return found


def route(info, command):
    """Return the commands that carry out a request, including paths and doors."""
    state, chests, doors = info["state"], info["chests"], info["doors"]
    places, stand = dict(state.places), dict(state.stand)
    verb, thing, _, other = COMMAND.fullmatch(command).groups()
    if verb in ("take", "put") and other and stand[other] != OPEN:
        return []
    if verb == "go to":
        goal = thing
    elif verb == "drop":
        goal = state.room
    else:
        goal = chests.get(other) or chests.get(thing) or places.get(thing)
    came, waiting = {state.room: ()}, deque([state.room])
    while waiting and goal not in came:
        room = waiting.popleft()
        for door, ends in doors.items():
            if room in ends and stand[door] != LOCKED:
                after = ends[1] if room == ends[0] else ends[0]
                if after not in came:
                    opening = (f"open {door}",) if stand[door] == CLOSED else ()
                    came[after] = (*came[room], *opening, f"go through {door}")
                    waiting.append(after)
    if goal not in came:
        return []
    return [*came[goal], *([] if verb == "go to" else [command])]


def ground(before, action, after):
    """Return the grounding graph of a command: a verb and one or two things."""
    verb, thing, relation, other = COMMAND.fullmatch(action).groups()
    nodes = {"event": {verb.split()[0]: True}, "object": {"name": thing}}
    edges = [("event", "object", "object")]
    if other:
        nodes["other"] = {"name": other}
        edges.append(("event", "other", relation))
    return GroundingGraph(nodes, edges)


def make_world():
    """Return the adventure as an environment whose actions are requests."""
    return GymWorld(
        Adventure(),
        ground,
        actions=lambda seen: wishes(seen.info),
        moves=lambda seen, action: route(seen.info, action),
        key=lambda env, observation: (env.unwrapped.begin, env.unwrapped.state),
        get_state=lambda env: dict(vars(env.unwrapped)),
        set_state=lambda env, kept: vars(env.unwrapped).update(kept),
        rewards=True,
    )


def demonstrate(world, seed):
    """Return the quest of a seed as a demonstration."""
    start = world.reset(seed=seed)
    quest = world.env.unwrapped
    return Demonstration(quest.text, world, start, quest.quest, name=f"quest {seed}")


def main(count=100, tests=50):
    """Train on some quests; carry out others in a second environment."""
    world = make_world()
    follower = Follower().fit([demonstrate(world, seed) for seed in range(count)])
    env, won = Adventure(), 0
    for seed in range(10_000, 10_000 + tests):
        env.reset(seed=seed)
        report = world.agent(follower, threshold=0).act(env.text, env)
        won += report.success
    print(f"{won} of {tests} quests won. {world.cost}.")


if __name__ == "__main__":
    main()
