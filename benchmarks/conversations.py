"""Accuracy of conversations in four generated worlds: `python -m benchmarks.conversations`.

In each of four worlds (see `benchmarks.conversation_worlds`), a follower is trained on 300
conversations of five sentences and tested on 200 others. *sentences* is the share of sentences
that are right from the true state before them; *conversations* is the share of conversations whose
final state is right. The first row uses the whole memory; each other row leaves out one mechanism,
and the last row has no memory. *times* compares processor times with and without a memory, with the
same settings, in one run.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.conversation_worlds import WORLDS, Interaction, interactions
from groundling import Conversation, Demonstration, Follower, MemoryEnvironment
from groundling.conversation import align_conversations
from groundling.errors import SearchError
from groundling.files import write_atomically

__all__ = ["ROWS", "main", "measure", "ratios"]

ROWS: dict[str, dict[str, Any]] = {
    "all": {},
    "only the last step": {"steps": 1},
    "no order of what was said": {"referents": False},
    "order by a first alignment": {"aligned": True},
    "a beam of 4": {"beam": 4},
    "no memory": {"plain": True},
}
"""Settings that each row changes."""


class Stays:
    """Environment without a memory, in which doing nothing is an action."""

    def __init__(self, environment: Any) -> None:
        self.environment = environment
        if hasattr(environment, "things"):
            self.things = environment.things

    def actions(self, state: Any) -> tuple[Any, ...]:
        """Return the actions of the environment, and the action of doing nothing."""
        return (*self.environment.actions(state), "stay")

    def step(self, state: Any, action: Any) -> Any:
        """Return the state after an action."""
        return state if action == "stay" else self.environment.step(state, action)

    def ground(self, state: Any, action: Any, after: Any) -> Any:
        """Return the graph of an action; the graph of doing nothing has no things."""
        from groundling import GroundingGraph

        if action == "stay":
            return GroundingGraph({"event": {"stay": True}})
        return self.environment.ground(state, action, after)


class Talk(NamedTuple):
    """A conversation, with its demonstrations and its final state."""

    world: Any
    told: Interaction
    shown: list[Demonstration]
    end: Any


def _talk(told: Interaction, name: str, settings: dict[str, Any]) -> Talk:
    end = told.start
    for _, actions in told.turns:
        for action in actions:
            end = told.world.step(end, action)
    if "plain" not in settings:
        kept = {key: settings[key] for key in ("steps", "referents") if key in settings}
        world = MemoryEnvironment(told.world, stay=told.world.idle, **kept)
        return Talk(world, told, world.converse(told.start, told.turns, name=name), end)
    plain = Stays(told.world)
    shown, state = [], told.start
    for text, actions in told.turns:
        done = tuple(actions) or ("stay",)
        shown.append(Demonstration(text, plain, state, done, group=name))
        for action in done:
            state = plain.step(state, action)
    return Talk(plain, told, shown, end)


def _talks(kind: str, count: int, seed: int, settings: dict[str, Any]) -> list[Talk]:
    told = interactions(kind, count, seed)
    return [_talk(each, f"talk {number}", settings) for number, each in enumerate(told)]


def _fitted(talks: Iterable[Talk], follower: Follower | None = None) -> Follower:
    shown = [each for talk in talks for each in talk.shown]
    return (follower or Follower()).fit(shown, check=False)


def _is_right(follower: Follower, talk: Talk, beam: int) -> bool:
    try:
        return bool(_end(follower, talk, beam) == talk.end)
    except SearchError:  # an earlier mistake has led to a state in which the sentence is impossible
        return False


def _end(follower: Follower, talk: Talk, beam: int) -> Any:
    if isinstance(talk.world, Stays):
        state = talk.told.start
        for text, _ in talk.told.turns:
            state = follower.follow(text, talk.world, state).end
        return state
    conversation = Conversation(follower, talk.world, talk.told.start, beam=beam)
    for text, _ in talk.told.turns:
        conversation.say(text)
    return conversation.state


def measure(
    kind: str, settings: dict[str, Any], learn: int = 300, test: int = 200, seed: int = 1
) -> dict[str, float]:
    """Train on conversations; return the shares of right sentences and conversations.

    >>> sorted(measure("shelf", {}, learn=4, test=2))
    ['conversations', 'sentences']
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        follower = _fitted(talks := _talks(kind, learn, seed, settings))
        if "aligned" in settings:
            shown = [each for talk in talks for each in talk.shown]
            follower = Follower().fit(align_conversations(follower, shown), check=False)
        talks = _talks(kind, test, seed + 1000, settings)
        right = sum(_is_right(follower, each, settings.get("beam", 1)) for each in talks)
        sentences = follower.score([each for talk in talks for each in talk.shown])
    return {"sentences": round(sentences, 4), "conversations": round(right / test, 4)}


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def ratios(kind: str, learn: int = 60, test: int = 60, rounds: int = 3) -> dict[str, float]:
    """Return how many times as long training and following take with a memory as without.

    Both use the settings that were chosen with a memory; the fastest of several rounds counts.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = _fitted(_talks(kind, learn, 1, {})).chosen()
        found: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, how in (("memory", {}), ("plain", {"plain": True})):
                talks, tests = _talks(kind, learn, 1, how), _talks(kind, test, 2, how)
                follower = Follower(**settings.get_params(deep=False))
                found.setdefault(f"fit {name}", []).append(
                    _seconds(lambda f=follower, t=talks: _fitted(t, f))
                )
                asked = [each for talk in tests for each in talk.shown]
                found.setdefault(f"follow {name}", []).append(
                    _seconds(lambda f=follower, a=asked: [
                        f.follow(each.instructions, each.environment, each.start) for each in a
                    ])
                )  # fmt: skip
    return {
        what: round(min(found[f"{what} memory"]) / min(found[f"{what} plain"]), 3)
        for what in ("fit", "follow")
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows of each world; with `--json`, also write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=ROWS)
    parser.add_argument("--learn", type=int, default=300)
    parser.add_argument("--test", type=int, default=200)
    parser.add_argument("--no-times", action="store_true", help="measure accuracy only")
    parser.add_argument("--json", type=Path, help="such as results/conversations.json")
    chosen = parser.parse_args(arguments)
    found: dict[str, Any] = {"learn": chosen.learn, "test": chosen.test, "rows": {}, "times": {}}
    for row in chosen.rows:
        found["rows"][row] = {}
        for kind in chosen.worlds:
            figures = measure(kind, ROWS[row], chosen.learn, chosen.test)
            found["rows"][row][kind] = figures
            shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            print(f"{row}: {kind}: {shown}", flush=True)
    for kind in [] if chosen.no_times else chosen.worlds:
        found["times"][kind] = ratios(kind)
        print(f"times with a memory: {kind}: {found['times'][kind]}", flush=True)
    if chosen.json:
        write_atomically(chosen.json, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
