"""Four generated worlds for conversations, with a generator of sentences.

The worlds are tanks (amounts), guests (people), a shelf (order), and a wall with lamps, which is a
scene (see docs/scenes.md). A conversation has five sentences, many of them with *it*, *he*, *the
other one*, *the same again*, *undo that*, *step 2* or *the one you removed first*. The generator
decides to what such words refer; no graph contains it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from groundling import GroundingGraph

__all__ = ["WORLDS", "Guests", "Interaction", "Past", "Shelf", "Tanks", "Wall", "interactions"]

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
NUMBERS = ("zero", "one", "two", "three", "four")
STEPS = ("step {}", "step number {}", "the {} step")


class Past(NamedTuple):
    """A past sentence: the state before it, its action, and the things it named in order."""

    before: Any
    action: tuple[Any, ...]
    named: tuple[Any, ...]


class Said(NamedTuple):
    """A possible sentence: its text, the things that it names in order, and its weight."""

    text: str
    named: tuple[Any, ...] = ()
    weight: float = 1.0


class Interaction(NamedTuple):
    """A conversation: its initial state, and pairs of a text and its actions."""

    world: Any
    start: Any
    turns: list[tuple[str, list[tuple[Any, ...]]]]


def _places(number: int, count: int) -> list[str]:
    """Return the names of a place in a row."""
    return [ORDINALS[number], *(["last"] if number == count - 1 else [])]


def _step(dice: random.Random, number: int) -> str:
    """Return a phrase that refers to a step by its number."""
    form = dice.choice(STEPS)
    return form.format(ORDINALS[number - 1] if form.startswith("the") else number)


class Tanks:
    """Tanks in a row, which hold up to four litres; a state has (colour, litres) of each."""

    idle = False
    COLOURS = ("red", "green", "blue", "yellow", "brown", "white")

    def begin(self, dice: random.Random) -> tuple[tuple[str, int], ...]:
        """Return a random initial state, in which all colours differ."""
        colours = dice.sample(self.COLOURS, 4)
        return tuple((each, dice.choice((0, 1, 2, 3, 3, 4))) for each in colours)

    def actions(self, state: Any) -> tuple[tuple[Any, ...], ...]:
        """Return (drain, tank, litres) and (pour, from, to)."""
        found: list[tuple[Any, ...]] = []
        for tank, (_, litres) in enumerate(state):
            found += [("drain", tank, some) for some in range(1, litres + 1)]
            found += [
                ("pour", tank, to)
                for to, (_, there) in enumerate(state)
                if to != tank and litres and there + litres <= 4
            ]
        return tuple(found)

    def step(self, state: Any, action: tuple[Any, ...]) -> Any:
        """Return the state after an action; poured liquid takes the colour of the other tank."""
        verb, tank, more = action
        after = list(state)
        colour, litres = state[tank]
        if verb == "drain":
            after[tank] = (colour, litres - more)
        else:
            there, some = state[more]
            after[tank], after[more] = (colour, 0), (there if some else colour, some + litres)
        return tuple(after)

    def _tank(self, state: Any, tank: int) -> dict[str, Any]:
        colour, litres = state[tank]
        return {"place": _places(tank, len(state)), "colour": colour if litres else None}

    def ground(self, state: Any, action: tuple[Any, ...], after: Any) -> GroundingGraph:
        """Return the graph: the event, the tank, and the target of pouring."""
        verb, tank, more = action
        nodes: dict[str, Any] = {"event": {verb: True}, "tank": self._tank(state, tank)}
        edges = [("event", "tank", "from")]
        if verb == "drain":
            nodes["event"] = {verb: True, "litres": more, "all": more == state[tank][1]}
        else:
            nodes["to"] = self._tank(state, more)
            edges.append(("event", "to", "into"))
        return GroundingGraph(nodes, edges)

    def ways(
        self, dice: random.Random, past: Sequence[Past], state: Any, action: tuple[Any, ...]
    ) -> list[Said]:
        """Return ways to say an action here and now."""
        verb, tank, more = action
        found = []

        def name(number: int) -> str:
            colour, litres = state[number]
            same = [each for each in state if each[0] == colour and each[1]]
            if litres and len(same) == 1 and dice.random() < 0.6:
                return f"the {colour} {dice.choice(('one', 'tank'))}"
            return f"the {dice.choice(_places(number, len(state)))} {dice.choice(('one', 'tank'))}"

        litres = f"{NUMBERS[more]} litre{'s' * (more > 1)}" if verb == "drain" else ""
        everything = verb == "drain" and more == state[tank][1]
        if verb == "drain":
            found.append(Said(f"drain {litres} from {name(tank)}", (tank,)))
            if everything:
                found.append(Said(f"empty {name(tank)}", (tank,)))
        else:
            found.append(Said(f"pour {name(tank)} into {name(more)}", (tank, more)))
        for number, each in enumerate(past, 1):
            if verb != each.action[0]:
                continue
            step = _step(dice, number)
            if action == each.action and number < len(past):
                found.append(Said(f"{dice.choice(('repeat', 'do'))} {step} again", each.named, 2))
            elif verb == "drain" and tank != each.action[1] and more == each.action[2]:
                found.append(Said(f"do {step} with {name(tank)}", (tank,), 2))
        if not past:
            return found
        last = past[-1]
        focus = last.named[-1]
        if action == last.action:
            found.append(Said(dice.choice(("the same again", "once more", "again")), (tank,), 4))
        if tank == focus and verb == "drain":
            found.append(Said(f"drain {litres} from it", (tank,), 2))
            if everything:
                found.append(Said(dice.choice(("empty it", "drain all of it")), (tank,), 2))
            if last.action[0] == "drain" and action != last.action:
                found.append(Said(f"and {NUMBERS[more]} more", (tank,), 2))
        if verb == "pour" and tank == focus:
            found.append(Said(f"pour it into {name(more)}", (tank, more), 2))
        if verb == "pour" and more == focus and last.action[0] == "pour":
            found.append(Said(f"{name(tank)} too", (tank, more), 2))
        if verb == last.action[0] == "drain" and more == last.action[2] and tank != last.action[1]:
            found.append(Said(f"the same amount from {name(tank)}", (tank,), 2))
        if self.step(state, action) == last.before:
            found.append(Said(dice.choice(("pour it back", "undo that")), (tank, more), 4))
        return found


class Guests:
    """Guests who move and give each other things; a state has (room, thing) of each guest."""

    idle = True
    PEOPLE: ClassVar[dict[str, str]] = {
        "cook": "male", "pilot": "male", "butler": "male", "clown": "male", "nurse": "female",
        "singer": "female", "judge": "female", "painter": "female",
    }  # fmt: skip
    ROOMS = ("kitchen", "garden", "hall")
    THINGS = ("key", "letter", "ring", "map")

    def __init__(self, people: Sequence[str]) -> None:
        self.people = tuple(people)

    def begin(self, dice: random.Random) -> tuple[tuple[str, str], ...]:
        """Return a random initial state."""
        things = dice.sample(self.THINGS, 2)
        return tuple((dice.choice(self.ROOMS), each) for each in (*things, "", ""))

    def actions(self, state: Any) -> tuple[tuple[Any, ...], ...]:
        """Return (go, guest, room) and (give, guest, to whom)."""
        found: list[tuple[Any, ...]] = []
        for guest, (here, thing) in enumerate(state):
            found += [("go", guest, room) for room in self.ROOMS if room != here]
            found += [
                ("give", guest, other)
                for other, (there, held) in enumerate(state)
                if thing and other != guest and there == here and not held
            ]
        return tuple(found)

    def step(self, state: Any, action: tuple[Any, ...]) -> Any:
        """Return the state after an action."""
        verb, guest, more = action
        after = list(state)
        here, thing = state[guest]
        if verb == "go":
            after[guest] = (more, thing)
        else:
            after[guest], after[more] = (here, ""), (here, thing)
        return tuple(after)

    def _guest(self, guest: int) -> dict[str, Any]:
        name = self.people[guest]
        return {"who": name, "sex": self.PEOPLE[name]}

    def ground(self, state: Any, action: tuple[Any, ...], after: Any) -> GroundingGraph:
        """Return the graph: the event, the guest, and the room, or the thing and the receiver."""
        verb, guest, more = action
        nodes: dict[str, Any] = {"event": {verb: True}, "agent": self._guest(guest)}
        edges = [("event", "agent", "agent")]
        if verb == "go":
            nodes["room"] = {"room": more}
            edges.append(("event", "room", "to"))
        else:
            nodes |= {"to": self._guest(more), "thing": {"thing": state[guest][1]}}
            edges += [("event", "to", "recipient"), ("event", "thing", "object")]
        return GroundingGraph(nodes, edges)

    def ways(
        self, dice: random.Random, past: Sequence[Past], state: Any, action: tuple[Any, ...] | None
    ) -> list[Said]:
        """Return possible sentences for an action; None is the action of nobody."""
        if action is None:
            text = dice.choice(("nobody moves", "they all wait", "nothing happens"))
            return [Said(text, past[-1].named if past else ())]
        verb, guest, more = action
        who, found = f"the {self.people[guest]}", []
        last = past[-1] if past else None
        named = tuple(each for each in last.named if each is not None) if last else ()

        def sex(each: int) -> str:
            return self.PEOPLE[self.people[each]]

        def pronoun(each: int, form: int) -> str:
            """Return he or she (form 0), or him or her (form 1), if it is unambiguous."""
            alike = [other for other in named if sex(other) == sex(each)]
            if alike and alike[0] == each:
                return {"male": ("he", "him"), "female": ("she", "her")}[sex(each)][form]
            return ""

        he = pronoun(guest, 0)
        if verb == "go":
            goes = dice.choice(
                (f"goes to the {more}", f"walks to the {more}", f"enters the {more}")
            )
            found.append(Said(f"{who} {goes}", (guest,)))
            if he:
                found.append(Said(f"{he} {goes}", (guest,), 2 + 2 * len(named)))
            if last and last.action and last.action[0] == "go":
                if guest == last.action[1]:
                    found.append(Said(f"then to the {more}", (guest,), 2))
                elif more == last.action[2]:
                    text = dice.choice((f"so does {who}", f"{who} too", f"{who} does the same"))
                    found.append(Said(text, (guest,), 3))
            before = past[-2].named if len(past) > 1 else ()
            if last and last.action and before == (*last.named, guest):
                found.append(Said(f"the other one {goes}", (guest,), 3))
        else:
            to, thing = f"the {self.people[more]}", state[guest][1]
            both = (guest, more)
            found.append(Said(f"{who} gives {to} the {thing}", both, 2))
            found.append(Said(f"{who} hands the {thing} to {to}", both, 2))
            found.append(Said(f"{to} is given the {thing} by {who}", both[::-1], 3))
            if he:
                found.append(Said(f"{he} gives {to} the {thing}", both, 3))
                found.append(Said(f"{he} hands it to {to}", both, 2))
            if him := pronoun(more, 1):
                found.append(Said(f"{who} gives {him} the {thing}", both, 3))
            if he and him and sex(guest) != sex(more):
                found.append(Said(f"{he} gives {him} the {thing}", both, 3))
            if by := pronoun(guest, 1):
                found.append(Said(f"{to} is given the {thing} by {by}", both[::-1], 4))
        if last and last.action and self.step(state, action) == last.before:
            back = "it back" if verb == "give" else "back"
            verb_said = "gives" if verb == "give" else "goes"
            if he:
                found.append(Said(f"{he} {verb_said} {back}", (guest,), 3))
            found.append(Said(dice.choice(("undo that", "take that back")), (guest,), 2))
        for number, each in enumerate(past[:-1], 1):
            if each.action == action:
                found.append(Said(f"repeat {_step(dice, number)}", (guest,), 3))
            elif each.action and verb == "go" and each.action[0] == "go" and each.action[2] == more:
                found.append(Said(f"{who} does {_step(dice, number)}", (guest,), 2))
        return found


class Shelf:
    """Things in a row that are removed, inserted and swapped; a state is (row, removed)."""

    idle = False
    THINGS = ("cube", "cone", "ball", "ring", "star", "disc", "moon", "arch", "drum", "wedge")

    def begin(self, dice: random.Random) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return a random initial state with five things on the shelf."""
        return tuple(dice.sample(self.THINGS, 5)), frozenset()

    def actions(self, state: Any) -> tuple[tuple[Any, ...], ...]:
        """Return (remove, thing), (insert, thing, place) and (swap, thing, other)."""
        row, removed = state
        found: list[tuple[Any, ...]] = [("remove", each) for each in row] if len(row) > 2 else []
        found += [("insert", each, at) for each in sorted(removed) for at in range(len(row) + 1)]
        found += [("swap", one, two) for at, one in enumerate(row) for two in row[at + 1 :]]
        return tuple(found)

    def step(self, state: Any, action: tuple[Any, ...]) -> Any:
        """Return the state after an action."""
        row, removed = state
        verb, thing, *more = action
        if verb == "remove":
            return tuple(each for each in row if each != thing), removed | {thing}
        if verb == "insert":
            return (*row[: more[0]], thing, *row[more[0] :]), removed - {thing}
        turned = {thing: more[0], more[0]: thing}
        return tuple(turned.get(each, each) for each in row), removed

    def ground(self, state: Any, action: tuple[Any, ...], after: Any) -> GroundingGraph:
        """Return the graph: the event, the thing, and the other thing or the place."""
        row, _ = state
        verb, thing, *more = action

        def node(each: str) -> dict[str, Any]:
            place = _places(row.index(each), len(row)) if each in row else None
            return {"thing": each, "place": place}

        nodes: dict[str, Any] = {"event": {verb: True}, "object": node(thing)}
        edges = [("event", "object", "object")]
        if verb == "insert":
            nodes["goal"] = {"place": _places(more[0], len(row) + 1)}
            edges.append(("event", "goal", "at"))
        elif verb == "swap":
            nodes["other"] = node(more[0])
            edges.append(("event", "other", "with"))
        return GroundingGraph(nodes, edges)

    def ways(
        self, dice: random.Random, past: Sequence[Past], state: Any, action: tuple[Any, ...]
    ) -> list[Said]:
        """Return ways to say an action here and now."""
        row, _ = state
        verb, thing, *more = action
        found = []

        def name(each: str) -> str:
            if each in row and dice.random() < 0.5:
                return f"the {dice.choice(_places(row.index(each), len(row)))} one"
            return f"the {each}"

        verbs = {
            "remove": ("remove", "take away", "delete"),
            "insert": ("put", "insert", "place"),
            "swap": ("swap", "exchange"),
        }
        does = dice.choice(verbs[verb])
        at = (
            f"in the {dice.choice(_places(more[0], len(row) + 1))} place"
            if verb == "insert"
            else ""
        )
        if verb == "remove":
            found.append(Said(f"{does} {name(thing)}", (thing,), 2))
        elif verb == "insert":
            found.append(Said(f"{does} the {thing} {at}", (thing,), 0.3))
        else:
            found.append(Said(f"{does} {name(thing)} and {name(more[0])}", (thing, more[0]), 0.5))
        if not past:
            return found
        last = past[-1]
        if verb == "insert":
            taken = [each.action[1] for each in past if each.action[0] == "remove"]
            if len(taken) > 1 and taken[0] == thing != taken[-1]:
                found.append(Said(f"{does} the one you removed first {at}", (thing,), 2))
            if len(taken) > 1 and taken[-1] == thing != taken[0]:
                found.append(Said(f"{does} the one you removed last {at}", (thing,), 2))
            for number, each in enumerate(past, 1):
                if each.action == ("remove", thing):
                    step = _step(dice, number)
                    found.append(Said(f"{does} the one from {step} {at}", (thing,), 0.7))
        if last.named == (thing,):
            if verb == "insert":
                found.append(Said(f"{does} it {at}", (thing,), 1))
            elif verb == "remove":
                found.append(Said(f"{does} it", (thing,), 4))
        if verb == "swap" and last.named and len(last.named) == 1 and last.named[0] in action:
            other = action[1] if action[2] == last.named[0] else action[2]
            found.append(Said(f"{does} it with {name(other)}", (last.named[0], other), 3))
        if verb == "remove" and last.action[0] == "remove":
            found.append(
                Said(dice.choice((f"{name(thing)} too", f"and {name(thing)}")), (thing,), 3)
            )
        if verb == "swap" and len(last.named) == 2 and set(last.named) == {thing, more[0]}:
            found.append(Said(f"{does} them {dice.choice(('back', 'again'))}", (thing, more[0]), 6))
        if self.step(state, action) == last.before:
            found.append(Said(dice.choice(("undo that", "undo the last step")), last.named, 5))
            if verb == "insert":
                found.append(Said(f"{does} it back", (thing,), 5))
        for number, each in enumerate(past[:-1], 1):
            if each.action == action:
                found.append(Said(f"repeat {_step(dice, number)}", each.named, 4))
            elif verb == "remove" and each.action[0] == "remove":
                found.append(Said(f"do {_step(dice, number)} with {name(thing)}", (thing,), 2))
            if verb == "remove" and each.action[:2] == ("insert", thing):
                found.append(Said(f"{does} the one from {_step(dice, number)}", (thing,), 2))
        return found


class Lamp(NamedTuple):
    """A lamp on a wall: its colour, size, position and state."""

    colour: str
    size: int
    x: int
    y: int
    lit: bool = False


class Wall:
    """Lamps on a wall as a scene: no label says which is the biggest or left of another."""

    idle = False
    COLOURS = ("red", "blue", "green")
    SIDES: ClassVar[dict[str, Any]] = {
        "left of": lambda one, two: one.x < two.x,
        "right of": lambda one, two: one.x > two.x,
        "above": lambda one, two: one.y > two.y,
        "below": lambda one, two: one.y < two.y,
        "next to": lambda one, two: max(abs(one.x - two.x), abs(one.y - two.y)) == 1,
    }

    def begin(self, dice: random.Random) -> tuple[Lamp, ...]:
        """Return a random initial state: six lamps on a grid, some of them lit."""
        cells = dice.sample([(x, y) for x in range(3) for y in range(3)], 6)
        return tuple(
            Lamp(dice.choice(self.COLOURS), size, x, y, dice.random() < 0.3)
            for (x, y), size in zip(cells, dice.sample(range(1, 10), 6), strict=True)
        )

    def things(self, state: tuple[Lamp, ...]) -> dict[str, dict[str, Any]]:
        """Return the labels of each lamp."""
        return {
            f"lamp {number}": {"colour": each.colour, "size": each.size, "x": each.x, "y": each.y}
            for number, each in enumerate(state)
        }

    def actions(self, state: tuple[Lamp, ...]) -> tuple[tuple[Any, ...], ...]:
        """Return (light or douse, number)."""
        return tuple(("douse" if each.lit else "light", n) for n, each in enumerate(state))

    def step(self, state: tuple[Lamp, ...], action: tuple[Any, ...]) -> tuple[Lamp, ...]:
        """Return the state after an action."""
        lamp = state[action[1]]
        turned = lamp._replace(lit=not lamp.lit)
        return (*state[: action[1]], turned, *state[action[1] + 1 :])

    def ground(
        self, state: tuple[Lamp, ...], action: tuple[Any, ...], after: Any
    ) -> GroundingGraph:
        """Return the graph: the event and the lamp."""
        verb, number = action
        lamp = f"lamp {number}"
        nodes = {"event": {verb: True}, lamp: self.things(state)[lamp]}
        return GroundingGraph(nodes, [("event", lamp, "of")])

    def ways(
        self, dice: random.Random, past: Sequence[Past], state: Any, action: tuple[Any, ...]
    ) -> list[Said]:
        """Return ways to say an action here and now."""
        verb, number = action
        lamp, found = state[number], []
        does = dice.choice(
            {"light": ("light", "switch on"), "douse": ("douse", "switch off")}[verb]
        )
        like = [each for each in state if each.colour == lamp.colour]
        names = [f"the {lamp.colour} lamp"] if len(like) == 1 else []
        orders = {"biggest": lambda e: -e.size, "smallest": lambda e: e.size,
                  "leftmost": lambda e: e.x, "rightmost": lambda e: -e.x}  # fmt: skip
        for word, order in orders.items():
            for among, kind in ((state, "lamp"), (like, f"{lamp.colour} lamp")):
                best = sorted(among, key=order)
                if len(best) > 1 and best[0] == lamp and order(best[0]) < order(best[1]):
                    names.append(f"the {word} {kind}")
                    if among is like:
                        names.append(f"the {word} of the {lamp.colour} ones")
        found += [Said(f"{does} {name}", (number,), 1 / len(names)) for name in names]
        if not past:
            return found
        last = past[-1]
        other = state[last.action[1]]
        if number == last.action[1]:
            found.append(Said(f"{does} it", (number,), 2))
            found.append(Said(dice.choice(("undo that", "take that back")), (number,), 2))
        elif verb == last.action[0]:
            for side, holds in self.SIDES.items():
                if [each for each in state if each != other and holds(each, other)] == [lamp]:
                    found.append(Said(f"now the one {side} it", (number,), 2))
                    found.append(Said(f"{does} the lamp {side} it", (number,), 2))
            if lamp.colour == other.colour and len(like) == 2:
                text = dice.choice(("the other one", f"the other {lamp.colour} one"))
                found.append(Said(f"{text} too", (number,), 2))
            found += [Said(f"and {name}", (number,), 1 / len(names)) for name in names]
        done = [each.action[1] for each in past]
        for step, each in enumerate(past[:-1], 1):
            if each.action == action:
                found.append(Said(f"repeat {_step(dice, step)}", (number,), 3))
            elif each.action[1] == number and done.count(number) == 1:
                found.append(Said(f"{does} the lamp from {_step(dice, step)}", (number,), 1))
        lit = [each.action[1] for each in past if each.action[0] == "light"]
        if verb == "douse" and len(lit) > 1 and lit[0] == number != lit[-1]:
            found.append(Said(f"{does} the one you lit first", (number,), 3))
        return found


def _world(kind: str, dice: random.Random) -> Any:
    if kind == "guests":
        return Guests(dice.sample(sorted(Guests.PEOPLE), 4))
    return {"tanks": Tanks, "shelf": Shelf, "wall": Wall}[kind]()


WORLDS = ("tanks", "guests", "shelf", "wall")


def interactions(kind: str, count: int, seed: int, turns: int = 5) -> list[Interaction]:
    """Return generated conversations in one kind of world."""
    dice = random.Random(f"{kind} {seed}")
    found = []
    while len(found) < count:
        world = _world(kind, dice)
        start = state = world.begin(dice)
        past: list[Past] = []
        said = []
        while len(said) < turns:
            options = world.actions(state)
            if not options:
                break
            ways = [(each, way) for each in options for way in world.ways(dice, past, state, each)]
            if world.idle:
                ways += [(None, way) for way in world.ways(dice, past, state, None)]
            # All verbs are equally likely, whatever the number of their actions.
            action, way = dice.choices(ways, [way.weight for _, way in ways])[0]
            said.append((way.text, [] if action is None else [action]))
            past.append(Past(state, action or (), way.named))
            state = state if action is None else world.step(state, action)
        if len(said) == turns:
            found.append(Interaction(world, start, said))
    return found
