"""Evaluation on BabyAI: success on unseen seeds, by number of demonstrations."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from groundling.follower import Follower
from groundling.gym.agent import ActReport, Agent, carry_out
from groundling.gym.babyai_levels import BabyAI, Said, babyai, levels
from groundling.gym.episode import Episode, MacroAction, in_doing_order
from groundling.world.environment import Demonstration

COUNTS = (5, 10, 25, 50, 100)
SEEDS = 200
QUICK_SEEDS = 50
PARTIAL_SEEDS = 50  # exploration takes many moves
DRAWS = 3
TOGETHER = 500  # number of demonstrations per level, for the follower of all levels
FIRST_TEST = 1_000_000  # first test seed; smaller seeds are for training

QUICK_LEVELS = (
    "GoToLocal", "GoToObjMaze", "GoToSeqS5R2", "OpenDoorLoc", "OpenDoorsOrderN4", "PickupLoc",
    "PickupDist", "PutNextLocal", "UnlockPickupDist", "BlockedUnlockPickup", "SynthS5R2",
    "MiniBossLevel",
)  # fmt: skip
"""A dozen levels that cover all verbs, places, sequences, keys and obstacles."""


def training_seeds(draw: int, count: int) -> range:
    """Return the training seeds of one draw; no two draws have a seed in common.

    >>> list(training_seeds(1, 2))
    [100000, 100001]
    """
    return range(draw * 100_000, draw * 100_000 + count)


@dataclass
class _Episode:
    """An unseen episode: its text, its environment and its mission as macro-actions."""

    seed: int
    text: str
    scene: Any
    said: list[Said]
    episode: Episode


class Exam:
    """Unseen episodes of a level, in which followers are graded.

    In each episode, a plan is carried out only once. All followers share the scenes, missions and
    graphs.
    """

    def __init__(self, level: str, seeds: int) -> None:
        self.world: BabyAI = babyai(level)
        self.env = self.world.make()
        self.cases = []
        for seed in range(FIRST_TEST, FIRST_TEST + seeds):
            text, scene = self.world.reset(self.env, seed)
            episode = self.world.episode(scene, self.world.read(text))
            said = self.world.mission(self.env)
            self.cases.append(_Episode(seed, text, scene, said, episode))
        self._known: dict[tuple[Any, ...], ActReport] = {}

    def carry_out(self, case: _Episode, actions: tuple[MacroAction, ...]) -> ActReport:
        """Carry out macro-actions in an episode; return the report."""
        key = (case.seed, *((each.verb, each.things) for each in actions))
        if key not in self._known:
            self.world.reset(self.env, case.seed)
            self._known[key] = carry_out(self.world, self.env, actions)
        return self._known[key]

    def grade(
        self, follower: Follower, wanted: Callable[[_Episode], bool] | None = None
    ) -> list[int]:
        """Return the success (0 or 1) of a follower in each episode that `wanted` accepts."""
        cases = [each for each in self.cases if wanted is None or wanted(each)]
        plans = follower.follow_many((e.episode.parts, e.episode, ()) for e in cases)
        return [
            int(self.carry_out(case, case.episode.macro_actions(plan.actions)).success)
            for case, plan in zip(cases, plans, strict=True)
        ]

    def grade_random(self, seed: int) -> list[int]:
        """Return the success (0 or 1) of a random plan in each episode.

        The plan has at least as many choices as the text has parts.
        """
        dice = random.Random(seed)
        found = []
        for case in self.cases:
            # Choose among all things, not only the mentioned ones.
            episode = self.world.episode(case.scene)
            plan = random_plan(episode, dice, len(case.episode.parts))
            found.append(int(self.carry_out(case, episode.macro_actions(plan)).success))
        return found

    def grade_oracle(self) -> tuple[list[int], str]:
        """Return the success (0 or 1) of each mission's plan, and the commonest failure."""
        found, why = [], Counter[str]()
        for case in self.cases:
            said = in_doing_order(case.said, lambda each: each[2])
            actions = tuple(self.world.macro(verb, things) for verb, things, _ in said)
            done = self.carry_out(case, actions)
            found.append(int(done.success))
            if not done.success:
                why[f"{done.ending}: {done.sentence}"] += 1
        return found, why.most_common(1)[0][0] if why else ""

    def close(self) -> None:
        """Close the environment that all episodes share."""
        self.env.close()


def random_plan(episode: Episode, dice: random.Random, length: int) -> tuple[Any, ...]:
    """Return a random complete plan with at least `length` choices."""
    plan: tuple[Any, ...] = ()
    while len(plan) < length or not episode.is_goal(plan):
        plan = (*plan, dice.choice(episode.actions(plan)))
    return plan


def evaluate_level(
    level: str, draws: int, counts: Sequence[int], seeds: int, *, others: bool = True
) -> dict[str, Any]:
    """Return the success (0 or 1) in each episode, for each number of demonstrations.

    Each draw of demonstrations adds a result for each episode: a follower is trained on the
    smallest number of demonstrations, graded, taught further ones, and graded again. With `others`,
    the result also contains the success of random plans and of the missions' own plans.
    """
    found: dict[str, Any] = {f"{count} demonstrations": [] for count in counts}
    with closing(Exam(level, seeds)) as exam:
        for draw in range(draws if counts else 0):
            shown = exam.world.record(training_seeds(draw, max(counts)))
            follower, known = exam.world.follower(), 0
            for count in sorted(counts):
                if known:
                    follower.teach(shown[known:count])
                else:
                    follower.fit(shown[:count], check=False)
                known = count
                found[f"{count} demonstrations"] += exam.grade(follower)
        if others:
            found["random plan"] = exam.grade_random(seed=0)
            found["oracle"], found["why"] = exam.grade_oracle()
    return found


def evaluate_partial(level: str, count: int, seeds: int) -> list[int]:
    """Return the success (0 or 1) of an agent with a partial view in each episode.

    The agent is trained on demonstrations with the full view.
    """
    full, world = babyai(level), babyai(level, view="partial")
    agent = Agent(full.follower().fit(full.record(training_seeds(0, count)), check=False), world)
    found = []
    with closing(world.make()) as env:
        for seed in range(FIRST_TEST, FIRST_TEST + seeds):
            text, _ = world.reset(env, seed)
            found.append(int(agent.act(text, env).success))
    return found


def record_mixed(count: int, names: Sequence[str] = ()) -> list[Demonstration]:
    """Return demonstrations of several levels; by default, of all levels."""
    names = names or levels()
    shares = [count // len(names) + (place < count % len(names)) for place in range(len(names))]
    return [
        each
        for name, share in zip(names, shares, strict=True)
        for each in babyai(name).record(training_seeds(0, share))
    ]


def held_out(said: Sequence[Said], world: BabyAI, scene: Any) -> bool:
    """Return whether a mission has a held-out combination of verb, colour and kind.

    One in five combinations is held out. A hash of the combination's name decides which.
    """
    things = scene.layout.things
    for verb, arguments, _ in said:
        for role, chosen in enumerate(arguments):
            named = {things[each][:2] for each in chosen}
            for kind, colour in named:
                name = f"{verb} {role} {colour} {kind}".encode()
                if hashlib.blake2b(name, digest_size=2).digest()[0] % 5 == 0:
                    return True
    return False
