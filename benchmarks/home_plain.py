"""Smart-home sentences in a plain environment: `python -m benchmarks.home_plain`.

The environment is one that a new user would write: each verb applied to each entity and to each
kind of entity in a place, labels copied from the home, and open values. A fifth of the groups of
English sentences of the corpus is held out, and `Follower()` has default settings. Sentences that
change nothing (questions, timers, lists) or are ambiguous are left out, and their number is
reported.

Verbs, *maximum* and *minimum* are indicators, as docs/labels.md advises (until November 2026 they
were string values, or had names that nobody says). Several actions may change the same entities,
such as the lights of a floor and of its only room with lights. The demonstration is the action that
the sentence describes (before, it was the first one); any of them is right in the test. Sentences
about one home share an environment.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from groundling import Demonstration, Features, Follower, GroundingGraph, OpenValue
from groundling.files import write_atomically
from groundling.home.catalogue import VERBS
from groundling.home.corpus import HomeExample, read_corpus, split
from groundling.home.environment import EVERYTHING, HomeWorld

__all__ = ["PlainHome", "demonstrations", "main", "measure"]

_OPEN = {
    "percentage": OpenValue("percentage", low=0, high=100),
    "degree": OpenValue("number", low=-30, high=120, unit="degree"),
    "colour": OpenValue("colour"),
    "kelvin": OpenValue("number", low=100),
    "number": OpenValue("number"),
}
_ENDS = {"most": ("maximum", 100.0), "least": ("minimum", 1.0)}


class Act(NamedTuple):
    """An action: a verb, the entities, their description, and a value."""

    verb: str
    ids: tuple[str, ...]
    kind: str = ""
    where: str = ""
    value: Any = None


class PlainHome:
    """A home whose actions apply a verb to an entity, or to a kind of entity in a place."""

    open_values = ("number", "percentage", "colour")

    def __init__(self, world: HomeWorld, here: str = "") -> None:
        self.world, self.home, self.here = world, world.home, here

    @cached_property
    def _offered(self) -> tuple[Act, ...]:
        found: list[Act] = []
        for entity in self.home.entities:
            found += self._verbs((entity.id,))
        for (kind, where), ids in self.world.groups.items():
            found += self._verbs(ids, kind, where)
        for where in dict.fromkeys(where for _, where in self.world.groups):
            groups = (self.world.groups.get((kind, where), ()) for kind in EVERYTHING)
            if ids := tuple(dict.fromkeys(id_ for each in groups for id_ in each)):
                found += self._verbs(ids, "everything", where)
        return tuple(found)

    def _verbs(self, ids: tuple[str, ...], kind: str = "", where: str = "") -> Iterable[Act]:
        domains = dict.fromkeys(self.home.entity_of[each].domain for each in ids)
        offered = [VERBS.get(domain, ()) for domain in domains]
        shared = set.intersection(*({verb.name for verb in verbs} for verbs in offered))
        for verb in offered[0]:
            if verb.name not in shared:
                continue
            if not verb.value or verb.by:
                yield Act(verb.name, ids, kind, where)
            if verb.value in _OPEN:
                yield Act(verb.name, ids, kind, where, _OPEN[verb.value])
            if verb.ends:
                yield from (Act(verb.name, ids, kind, where, end) for end in _ENDS)

    def actions(self, state: tuple[Any, ...]) -> tuple[Act, ...]:
        """Return the possible actions; there are none after the first action."""
        return () if state else self._offered

    def step(self, state: tuple[Any, ...], action: Act) -> tuple[Any, ...]:
        """Return the state after an action: its verb, entities and value."""
        _, value = _ENDS.get(action.value, ("", action.value))
        return (action.verb, frozenset(action.ids), value)

    def ground(self, state: Any, action: Act, after: Any) -> GroundingGraph:
        """Return the graph of an action, with labels copied from the home."""
        nodes: dict[str, dict[str, Any]] = {"event": {action.verb: True}, "thing": {}}
        thing, where = nodes["thing"], action.where
        if action.kind:
            domain, _, device = action.kind.partition(":")
            thing["domain"], thing["class"] = domain.replace("_", " "), device or None
            thing["all of a kind"] = True
        else:
            entity = self.home.entity_of[action.ids[0]]
            thing["name"] = (entity.name, *entity.aliases)
            thing["domain"] = entity.domain.replace("_", " ")
            thing["class"] = entity.device_class.replace("_", " ") or None
            where = f"area:{entity.area}" if entity.area else ""
        nodes["place"] = self._place(where, bool(action.kind))
        edges = [("event", "thing", "of"), ("thing", "place", "in")]
        if action.value is not None:
            end = _ENDS.get(action.value)
            nodes["value"] = {end[0]: True} if end else {f"{action.verb} to": action.value}
            edges.append(("event", "value", "to"))
        return GroundingGraph(nodes, edges, roles=nodes)

    def _place(self, where: str, group: bool) -> dict[str, Any]:
        sort, _, id_ = where.partition(":")
        if not id_:
            return {"everywhere": group}
        known = self.home.area_of[id_] if sort == "area" else self.home.floor_of[id_]
        return {sort: (known.name, *known.aliases), "here": id_ == self.here}


@cache
def _home(world: HomeWorld, here: str) -> PlainHome:
    """Return the environment of a home and a speaker's area; texts share it, so it is fast."""
    return PlainHome(world, here)


def demonstration(example: HomeExample) -> Demonstration | str:
    """Return an example as a demonstration, or the reason for leaving it out."""
    command, target = example.command, example.command.target
    if command.is_question:
        return "questions"
    if not target.ids or target.ids[0] not in example.world.home.entity_of:
        return "timers, lists and others"
    if target.choice:
        return "ambiguous"
    home = _home(example.world, example.situation.here)
    wanted, described = (command.verb, frozenset(target.ids)), (target.kind, target.where)
    end = command.source if command.source in _ENDS else None
    found: list[Act] = []
    for act in home.actions(()):
        named = bool(act.kind) == (target.by in ("kind", "everything"))
        if not named or (act.verb, frozenset(act.ids)) != wanted:
            continue
        fixed = act.value == (end or command.value)
        is_open = isinstance(act.value, OpenValue) and not end and act.value.accepts(command.value)
        if fixed or is_open:
            found.append(act if fixed else act._replace(value=command.value))
    if not found:
        return "not offered"
    # Several descriptions may fit the same entities; the sentence has one of them.
    shown = next((each for each in found if (each.kind, each.where) == described), found[0])
    return Demonstration(example.text, home, (), (shown,), group=example.group)


def demonstrations(
    seed: int = 1, corpora: Path | None = None
) -> tuple[list[Demonstration], list[Demonstration], Counter[str]]:
    """Return training and held-out demonstrations, and counts of left-out sentences by reason."""
    left_out: Counter[str] = Counter()
    made: list[list[Demonstration]] = []
    for part in split(read_corpus(corpora, "en").examples, seed=seed):
        found = [demonstration(each) for each in part]
        left_out.update(each for each in found if isinstance(each, str))
        made.append([each for each in found if not isinstance(each, str)])
    return made[0], made[1], left_out


def measure(
    training: Sequence[Demonstration], test: Sequence[Demonstration], features: Features | None
) -> tuple[Follower, dict[str, float]]:
    """Return a trained `Follower()` and its figures."""
    began = time.process_time()
    follower = Follower() if features is None else Follower(features=features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        follower.fit(training, check=False)
        fitted = time.process_time()
        exact = follower.score(test)
    return follower, {
        "exact": round(exact, 4),
        "fit": round(fitted - began, 1),
        "milliseconds": round(1000 * (time.process_time() - fitted) / len(test), 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the share of right sentences; with `--wrong`, also list the wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs="*", type=int, default=[1])
    parser.add_argument("--inside", action="store_true", help="Split the training sentences again.")
    parser.add_argument("--wrong", action="store_true", help="List the sentences that are wrong.")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    report: dict[str, Any] = {}
    for seed in chosen.seeds:
        training, test, left_out = demonstrations(seed, chosen.corpora)
        if chosen.inside:
            groups = sorted({each.group for each in training})[::5]
            test = [each for each in training if each.group in groups]
            training = [each for each in training if each.group not in groups]
        follower, row = measure(training, test, None)
        sizes = {"training": len(training), "held out": len(test), "left out": dict(left_out)}
        report[f"seed {seed}"] = row | sizes
        print(f"seed {seed}:", report[f"seed {seed}"], flush=True)
        for each in test if chosen.wrong else ():
            plan = follower.follow(each.instructions, each.environment, each.start)
            if plan.end != each.environment.step((), each.actions[0]):
                print(f"  {each.instructions}: {plan} instead of {each.actions[0]}")
    if chosen.json:
        write_atomically(chosen.json, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
