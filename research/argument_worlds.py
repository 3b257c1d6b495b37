"""Two generated worlds whose actions have several arguments: `python -m research.argument_worlds`.

In `calendar`, meetings are moved, shortened, cancelled or shared, and people can be guests or the
people to meet. In `files`, sets of files are moved, copied and deleted, and files are renamed to
free text. Names are new in the test. `Follower()` has default settings. Figures are the share of
plans that are exactly right, and of texts on which an agent acts, rightly or wrongly.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar

from groundling import (
    Agent,
    Demonstration,
    Follower,
    GroundingGraph,
    OpenSet,
    OpenValue,
    describe_set,
)
from groundling.errors import LearningWarning

TESTS = 100


class Calendar:
    """Meetings with a title, a person and a day."""

    open_values = ("time", "duration")
    DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
    VALUES: ClassVar = {
        "move": "day",
        "start": "time",
        "hold": "room",
        "invite": "guest",
        "remove": "guest",
        "shorten": "by",
        "extend": "by",
    }
    NAMES = (
        (("Budget Review", "Design Review", "Team Lunch", "Stand Up", "Sales Call"),
         ("Anna", "Boris", "Carla", "David"), ("Blue Room", "Red Room", "Main Hall")),
        (("Board Meeting", "Hiring Panel", "Team Dinner", "Project Kickoff", "Hiring Interview"),
         ("Emil", "Fatima", "Greta", "Hugo"), ("Green Room", "Attic", "Small Hall")),
    )  # fmt: skip

    def __init__(self, dice: random.Random, new: bool) -> None:
        titles, self.people, self.rooms = self.NAMES[new]
        self.meetings = [
            {"title": title, "person": dice.choice(self.people), "day": dice.choice(self.DAYS)}
            for title in dice.sample(titles, 4)
        ]

    def actions(self, state: Any) -> tuple[Any, ...]:
        """Return all actions on all meetings."""
        values: dict[str, Iterable[Any]] = {
            "move": self.DAYS, "hold": self.rooms, "invite": self.people, "remove": self.people,
            "start": [OpenValue("time")], "shorten": [OpenValue("duration")],
            "extend": [OpenValue("duration")],
        }  # fmt: skip
        meetings = range(len(self.meetings))
        cancel = [("cancel", meeting) for meeting in meetings]
        change = [(verb, n, e) for n in meetings for verb, each in values.items() for e in each]
        return (*cancel, *change)

    def step(self, state: Any, action: Any) -> Any:
        """Return all actions so far."""
        return (*state, action)

    def ground(self, state: Any, action: Any, after: Any) -> GroundingGraph:
        """Return the action, its meeting and its value."""
        nodes = {"event": {action[0]: True}, "meeting": self.meetings[action[1]]}
        edges = [("event", "meeting", "of")]
        if len(action) > 2:
            nodes["value"] = {self.VALUES[action[0]]: action[2]}
            edges.append(("event", "value", "to"))
        return GroundingGraph(nodes, edges)

    @classmethod
    def demonstration(cls, dice: random.Random, new: bool) -> Demonstration:
        """Return a random request with its action."""
        world = cls(dice, new)
        number, meeting = dice.choice(list(enumerate(world.meetings)))
        names = [f"the {meeting['title'].lower()}"]
        for label, said in (("person", "my meeting with"), ("day", "the meeting on")):
            if [each[label] for each in world.meetings].count(meeting[label]) == 1:
                names.append(f"{said} {meeting[label]}")
        name = dice.choice(names)
        day = dice.choice([each for each in cls.DAYS if each != meeting["day"]])
        guest = dice.choice([each for each in world.people if each != meeting["person"]])
        room, hour, minute = dice.choice(world.rooms), dice.randint(8, 18), dice.choice((0, 15, 45))
        amount = dice.choice((10, 15, 30, 60))
        span = "an hour" if amount == 60 else f"{amount} minutes"
        texts, action = dice.choice([
            ((f"cancel {name}", f"call off {name}", f"delete {name}"), ("cancel", number)),
            ((f"move {name} to {day}", f"push {name} to {day}"), ("move", number, day)),
            ((f"start {name} at {hour}:{minute:02}", f"move {name} to {hour}:{minute:02}"),
             ("start", number, f"{hour:02}:{minute:02}")),
            ((f"move {name} to the {room.lower()}", f"hold {name} in the {room.lower()}"),
             ("hold", number, room)),
            ((f"invite {guest} to {name}", f"add {guest} to {name}"), ("invite", number, guest)),
            ((f"take {guest} off {name}", f"remove {guest} from {name}"),
             ("remove", number, guest)),
            ((f"shorten {name} by {span}", f"make {name} {span} shorter"),
             ("shorten", number, 60.0 * amount)),
            ((f"extend {name} by {span}", f"make {name} {span} longer"),
             ("extend", number, 60.0 * amount)),
        ])  # fmt: skip
        return Demonstration(dice.choice(texts), world, (), (action,))


class Files:
    """Files in folders; the state has the name and the folder of each."""

    open_values = ("text", "set")
    NAMES = (
        (("report", "budget", "letter", "plan", "notes", "sunset", "invoice"),
         ("work", "private", "archive"), ("final", "draft two", "my best work", "version 3")),
        (("contract", "essay", "diary", "beach", "anthem", "receipt", "thesis"),
         ("school", "music", "old stuff"), ("summary", "chapter one", "copy 2", "second try")),
    )  # fmt: skip
    TYPES: ClassVar = {"txt": "text file", "pdf": "pdf", "png": "picture", "mp3": "song"}

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = folders

    def things(self, state: Any) -> dict[Hashable, Any]:
        """Return the files with their labels."""
        return {
            file: {"name": file.partition(".")[0], "file": file, "folder": folder,
                   "type": self.TYPES[file.partition(".")[2]]}
            for file, folder in state
        }  # fmt: skip

    def actions(self, state: Any) -> tuple[Any, ...]:
        """Return actions on sets of files, and names for each file."""
        return (
            *[(verb, OpenSet()) for verb in ("delete", "open", "print")],
            *[(verb, OpenSet(), each) for verb in ("move", "copy") for each in self.folders],
            *[("rename", file, OpenValue("text")) for file, _ in sorted(state)],
        )

    def step(self, state: Any, action: Any) -> Any:
        """Return the files after moving or deleting; other actions are marked in the state."""
        verb, what, *to = action
        if verb == "move":
            return frozenset((n, to[0] if n in what else folder) for n, folder in state)
        if verb == "delete":
            return frozenset(each for each in state if each[0] not in what)
        mark = "-".join([verb, *sorted(what if isinstance(what, frozenset) else [what]), *to])
        return state | {(mark.replace(".", "-") + ".txt", "log")}

    def ground(self, state: Any, action: Any, after: Any) -> GroundingGraph:
        """Return the action, its files, those left out, and the folder or name."""
        verb, what, *to = action
        things = self.things(state)
        labels, rest = (things[what], {}) if verb == "rename" else describe_set(things, what)
        nodes, edges = {"event": {verb: True}, "files": labels}, [("event", "files", "of")]
        if rest:
            nodes["rest"] = rest
            edges.append(("files", "rest", "without"))
        if to:
            nodes["to"] = {"new name" if verb == "rename" else "folder": to[0]}
            edges.append(("event", "to", "to"))
        return GroundingGraph(nodes, edges)

    @classmethod
    def demonstration(cls, dice: random.Random, new: bool) -> Demonstration:
        """Return a random request with its action."""
        stems, folders, free = cls.NAMES[new]
        chosen = dice.sample(stems, 6)
        state = frozenset(
            (f"{each}.{dice.choice(list(cls.TYPES))}", dice.choice(folders)) for each in chosen
        )
        world = cls(folders)
        file, folder = dice.choice(sorted(state))
        stem, _, suffix = file.partition(".")
        alike = {name for name, _ in state if name.endswith(suffix)}
        inside = {name for name, place in state if place == folder}
        kind = cls.TYPES[suffix]
        sets = [(f"the {stem}", {file}), (file, {file})]
        if len(alike) > 1:
            sets += [(f"all {kind}s", alike), (f"all {kind}s except the {stem}", alike - {file})]
        if len(inside) > 1:
            sets.append((f"everything in {folder}", inside))
        other = dice.choice([name for name, _ in sorted(state) if name != file])
        sets.append((f"the {stem} and the {other.partition('.')[0]}", {file, other}))
        said, meant = dice.choice(sets)
        files, to = frozenset(meant), dice.choice([each for each in folders if each != folder])
        name = dice.choice(free)
        texts, action = dice.choice([
            ((f"delete {said}", f"trash {said}"), ("delete", files)),
            ((f"open {said}", f"show me {said}"), ("open", files)),
            ((f"print {said}", f"put {said} on paper"), ("print", files)),
            ((f"move {said} to {to}", f"put {said} into the {to} folder"), ("move", files, to)),
            ((f"copy {said} to {to}", f"duplicate {said} in {to}"), ("copy", files, to)),
            ((f"rename the {stem} to {name}", f"call the {stem} {name}"), ("rename", file, name)),
        ])  # fmt: skip
        return Demonstration(dice.choice(texts), world, state, (action,))


def measure(world: Any, count: int, seed: int) -> dict[str, float]:
    """Return the shares of exact plans, and of acts that are right or wrong."""
    dice = random.Random(seed)
    shown = [world.demonstration(dice, new=False) for _ in range(count)]
    asked = [world.demonstration(dice, new=True) for _ in range(TESTS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LearningWarning)
        follower = Follower().fit(shown)
    plans = follower.follow_many([(e.instructions, e.environment, e.start) for e in asked])
    turns = [Agent(follower, e.environment, e.start).say(e.instructions) for e in asked]
    acts = [
        turn.plan.actions == tuple(each.actions)
        for turn, each in zip(turns, asked, strict=True)
        if turn.kind == "act" and turn.plan is not None
    ]
    exact = sum(p.actions == tuple(e.actions) for p, e in zip(plans, asked, strict=True))
    return {
        "exact": exact / TESTS,
        "acts right": sum(acts) / TESTS,
        "acts wrong": (len(acts) - sum(acts)) / TESTS,
    }


def main() -> None:
    """Print the figures of both worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=(40, 150))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    given = parser.parse_args()
    for world in (Calendar, Files):
        for count in given.counts:
            for seed in given.seeds:
                print(world.__name__, count, seed, measure(world, count, seed), flush=True)


if __name__ == "__main__":
    main()
