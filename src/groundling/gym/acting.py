"""Acting: carry out instructions in a Gymnasium environment, and watch what happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundling.errors import GroundlingError, WorldError
from groundling.follower import Follower
from groundling.gym.objects import Episode, MacroAction, ObjectWorld
from groundling.inference.plan import Plan

__all__ = ["Agent", "Report", "Run", "carry_out"]

_LOOKS = 200  # how often it looks for what was named


@dataclass(frozen=True)
class Report:
    """What came of an instruction.

    Parameters
    ----------
    ending
        `success`: the environment rewarded it (or, if it gives no reward, all was carried out);
        `misunderstood`: all was carried out, and the environment did not reward it;
        `not understood`: the follower was not sure enough, and nothing was done;
        `executor failed`: a macro-action could not be carried out;
        `out of time`: the environment ended the episode.
    sentence
        The same for people.
    reward, moves
        What the environment gave in all, and how many moves were made.
    plan
        The last plan, if there is one.
    done, left
        Parts of the text that were carried out, and those that were not.
    surprises
        How often the environment was not as expected, so that moves were planned anew.
    """

    ending: str
    sentence: str
    reward: float = 0.0
    moves: int = 0
    plan: Plan | None = None
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    surprises: int = 0

    @property
    def success(self) -> bool:
        """Whether what was asked was done, as far as the environment can tell."""
        return self.ending == "success"

    def __str__(self) -> str:
        return self.sentence


@dataclass
class Run:
    """An instruction that is being carried out."""

    env: Any
    scene: Any
    start: Any
    left: list[str]
    done: list[str] = field(default_factory=list)
    reward: float = 0.0
    moves: int = 0
    surprises: int = 0
    looks: int = 0
    failed: bool = False  # ended by the environment, though not by its clock
    over: bool = False
    plan: Plan | None = None

    def count(self, answer: tuple[Any, ...]) -> None:
        """Count a move, by what the environment answered."""
        _, reward, terminated, truncated, _ = answer
        self.moves += 1
        self.reward += float(reward)
        self.over, self.failed = bool(terminated or truncated), bool(terminated)

    def end(self, rewards: bool) -> Report:
        """Return what came of it, now that nothing more will be done."""
        if self.reward > 0 if rewards else not self.left:
            return self.report("success", f"Done: {'; '.join(self.done)}.")
        if self.left and not (rewards and self.failed):
            return self.report("out of time", "The episode ended before all was done.")
        return self.report(
            "misunderstood", "I did all that I understood, and it was not what was meant."
        )

    def not_understood(self, plan: Plan, threshold: float) -> Report:
        """Return that the follower was not sure enough, with what it would have done."""
        guess = ", ".join(map(str, plan.actions))
        return self.report(
            "not understood",
            f"I do not understand (confidence {plan.confidence:.2f}, below {threshold:g}); my "
            f"best guess is {guess}.",
        )

    def report(self, ending: str, sentence: str) -> Report:
        """Return a report of how things stand."""
        return Report(
            ending, sentence, self.reward, self.moves, self.plan, tuple(self.done),
            tuple(self.left), self.surprises,
        )  # fmt: skip


class _Hands:
    """Makes the moves of macro-actions, and plans them anew when something is not as expected."""

    def __init__(self, world: ObjectWorld) -> None:
        self.world = world

    def carry_out(self, run: Run, action: MacroAction) -> None:
        """Make the moves of a macro-action."""
        while True:
            surprised = False
            for move in self.world.moves(run.scene, action):
                surprised = self.move(run, move)
                if run.over:
                    return
                if surprised:
                    break
            if not surprised and self.world.achieved(run.scene, action):
                return
            run.surprises += 1
            if run.surprises > self.world.surprises:
                raise GroundlingError("the environment never does what is expected")

    def move(self, run: Run, move: Any) -> bool:
        """Make one move; tell whether the scene is not what it should be."""
        expected = self.world.predict(run.scene, move)
        run.count(run.env.step(move))
        run.scene = self.world.after(run.env, run.scene, move)
        return expected is not None and self.world.differs(expected, run.scene)


class Agent:
    """A follower with hands: plans, acts, watches, and plans anew when things go otherwise.

    Parameters
    ----------
    follower
        A fitted follower.
    world
        The world it was trained in.
    threshold
        Below this confidence nothing is done. By default the follower's own threshold.

    Examples
    --------
    >>> from groundling import gym
    >>> level = gym.babyai("GoToLocal")
    >>> agent = gym.Agent(level.follower().fit(level.record(range(20))), level)
    >>> env = level.make()
    >>> text, _ = level.reset(env, seed=1000)
    >>> print(agent.act(text, env))
    Done: go to a green ball.
    """

    def __init__(
        self, follower: Follower, world: ObjectWorld, threshold: float | None = None
    ) -> None:
        self.follower = follower
        self.world = world
        self._hands = _Hands(world)
        self.threshold = follower.threshold if threshold is None else threshold

    def plan(self, text: str | Sequence[str], scene: Any, start: Any = None) -> Plan:
        """Return the plan for a text, or for parts of one, in a scene."""
        parts = self.world.read(text) if isinstance(text, str) else tuple(text)
        return self.follower.follow(parts, self.world.episode(scene, parts, start), ())

    def act(self, text: str, env: Any) -> Report:
        """Carry out an instruction in an environment that was reset."""
        scene = self.world.begin(env)
        parts = self.world.read(text)
        if not parts:
            return Report("not understood", "There is nothing to understand in an empty text.")
        run = Run(env, scene, scene, list(parts))
        for _ in range(len(parts) + _LOOKS + self.world.surprises):
            report = self._attempt(run)
            if report is not None:
                return report
        return run.report("executor failed", "I plan again and again and get nowhere.")

    def _attempt(self, run: Run) -> Report | None:
        """Plan what is left and carry it out; nothing is returned if that must be done again."""
        episode = self.world.episode(run.scene, run.left, run.start)
        plan, trouble = None, ""
        try:
            plan = self.follower.follow(tuple(run.left), episode, ())
        except WorldError as error:
            trouble = f"I find no plan: {error}"
        chosen: Any = () if plan is None else plan.actions
        looks = self.world.look(run.scene, run.left, chosen)
        if looks and run.looks < _LOOKS:
            run.looks += 1
            for move in looks:
                if self._hands.move(run, move) or run.over:
                    break
            return run.end(self.world.rewards) if run.over else None
        if plan is None:
            return run.report("not understood", trouble)
        run.plan = plan
        if plan.confidence < self.threshold:
            return run.not_understood(plan, self.threshold)
        parts = dict(self._parts_of(episode, plan, tuple(run.left)))
        for action in episode.macro_actions(plan.actions):
            try:
                self._hands.carry_out(run, action)
            except GroundlingError as error:
                return run.report("executor failed", f"I cannot {action}: {error}")
            if run.over and run.reward <= 0:
                return run.end(self.world.rewards)
            for part in parts.get(action, ()):
                if part in run.left:
                    run.left.remove(part)
                    run.done.append(part)
            if run.over:
                return run.end(self.world.rewards)
            known = self.world.episode(run.scene, run.left, run.start)
            if run.left and not _is_still_possible(known, episode, plan, action):
                run.surprises += 1
                return None
        run.left.clear()
        return run.end(self.world.rewards)

    def _parts_of(
        self, episode: Episode, plan: Plan, parts: tuple[str, ...]
    ) -> Iterator[tuple[MacroAction, tuple[str, ...]]]:
        """Yield each macro-action with the parts of the text that asked for it."""
        choices = plan.actions
        if len(parts) == len(choices):
            asked = [(part,) for part in parts]
        else:
            asked = [
                tuple(parts[cause["sentence"]] for cause in each["causes"][:1])
                for each in plan.explain().to_dict()["steps"]
            ]
        for action, (first, last) in episode.spans(choices):
            yield action, tuple(part for each in asked[first:last] for part in each)


def _is_still_possible(now: Episode, then: Episode, plan: Plan, done: MacroAction) -> bool:
    """Tell whether the objects of what is still to be done are all there."""
    there = {thing for things, _ in now.groups(()) for thing in things}
    actions = then.macro_actions(plan.actions)
    left = actions[actions.index(done) + 1 :]
    return all(there & set(things) for action in left for things in action.things)


def carry_out(world: ObjectWorld, env: Any, actions: Sequence[MacroAction]) -> Report:
    """Carry out macro-actions in an environment that was reset, whoever chose them.

    >>> from groundling import gym
    >>> level = gym.babyai("GoToRedBall")
    >>> env = level.make()
    >>> _, scene = level.reset(env, seed=0)
    >>> [ball] = [number for number, thing in enumerate(scene.layout.things)
    ...           if thing[:2] == ("ball", "red")]
    >>> carry_out(level, env, [level.macro("go to", [{ball}])]).ending
    'success'
    """
    scene = world.begin(env)
    run = Run(env, scene, scene, list(map(str, actions)))
    hands = _Hands(world)
    for action in actions:
        try:
            hands.carry_out(run, action)
        except GroundlingError as error:
            return run.report("executor failed", f"I cannot {action}: {error}")
        if run.over and run.reward <= 0:
            break
        run.done.append(run.left.pop(0))
        if run.over:
            break
    return run.end(world.rewards)
