"""Agents that carry out instructions in Gymnasium environments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundling.errors import GroundlingError, SettingError, WorldError
from groundling.follower import Follower
from groundling.gym.episode import Episode, MacroAction
from groundling.gym.objects import ObjectWorld
from groundling.plan import Plan

UNDERSTOOD = 0.5  # default minimum confidence to act
_ASKED = 0.5  # minimum probability that a part of the text aligns with a choice
_MOST_MOVES = 100_000  # limit on moves per macro-action
_LOOKS = 200  # limit on exploration rounds per instruction


@dataclass(frozen=True)
class ActReport:
    """Report on an agent's attempt to carry out an instruction.

    Parameters
    ----------
    ending
        How the attempt ended:

        - `success`: the environment rewarded the instruction or ended the episode with a reward,
          even if some parts were not carried out; or everything was carried out in a world whose
          `rewards` is False;
        - `misunderstood`: everything was carried out, but the environment gave no reward;
        - `partly understood`: some parts of the text had no matching action;
        - `not understood`: there was no plan with enough confidence, so the agent stopped;
        - `executor failed`: a macro-action could not be carried out;
        - `out of time`: the episode ended before everything was done.
    sentence
        The result as a sentence.
    reward, moves
        Total reward and number of moves.
    plan
        The last plan, if there is one.
    done, left
        Parts of the text that were carried out, and remaining parts.
    surprises
        Number of times that the environment was in an unexpected state, so that the agent
        replanned.
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
        """Whether the instruction was carried out; true if `ending` is `success`."""
        return self.ending == "success"

    def __str__(self) -> str:
        return self.sentence


@dataclass
class Run:
    """Progress of an agent in carrying out an instruction."""

    env: Any
    scene: Any
    start: Any
    left: list[str]
    done: list[str] = field(default_factory=list)
    reward: float = 0.0
    moves: int = 0
    surprises: int = 0
    looks: int = 0
    failed: bool = False  # terminated, not truncated
    over: bool = False
    won: bool = False  # terminated with a reward
    plan: Plan | None = None
    # labels that each part of the text named
    meant: dict[Any, set[Any]] = field(default_factory=dict)

    def count(self, answer: tuple[Any, ...]) -> None:
        """Add the result of `env.step` to the totals."""
        _, reward, terminated, truncated, _ = answer
        self.moves += 1
        self.reward += float(reward)
        self.over, self.failed = bool(terminated or truncated), bool(terminated)
        self.won = self.failed and float(reward) > 0

    def end(self, rewards: bool) -> ActReport:
        """Return the final report; with `rewards`, only a reward counts as success."""
        if self.won or (self.reward > 0 if rewards else not self.left):
            done = f"Done: {'; '.join(map(_bare, self.done))}."
            left = f" Not needed: {'; '.join(map(_bare, self.left))}." if self.left else ""
            return self.report("success", done + left)
        if self.left and self.over and not (rewards and self.failed):
            return self.report("out of time", "The episode ended before everything was done.")
        planned = "" if self.plan is None else f" ({', '.join(map(str, self.plan.actions))})"
        if self.left and not self.over:
            return self.report(
                "partly understood",
                f"I carried out the parts I understood{planned}, but found no action for: "
                f"{'; '.join(map(_bare, self.left))}.",
            )
        return self.report(
            "misunderstood",
            f"I carried out everything I understood{planned}, but the environment gave no reward.",
        )

    def not_understood(self, plan: Plan, threshold: float) -> ActReport:
        """Return the report of a plan whose confidence is below the threshold."""
        guess = ", ".join(map(str, plan.actions))
        return self.report(
            "not understood",
            f"I do not understand (confidence {plan.confidence:.2f}, below {threshold:g}); my "
            f"best guess is {guess}. To carry out such guesses, pass a lower threshold=…",
        )

    def report(self, ending: str, sentence: str) -> ActReport:
        """Return a report with the given ending and the totals so far."""
        return ActReport(
            ending, sentence, self.reward, self.moves, self.plan, tuple(map(_bare, self.done)),
            tuple(map(_bare, self.left)), self.surprises,
        )  # fmt: skip


def _bare(part: str) -> str:
    return part.strip(" .!?;")


class BaseAgent:
    """Base class of agents, with a follower, its world, and a threshold.

    The threshold is the minimum confidence to act. It defaults to the follower's
    `Search.threshold`, or 0.5 if the follower has none.
    """

    world: Any

    def __init__(self, follower: Follower, world: Any, threshold: float | None = None) -> None:
        self.follower = follower
        self.world = world
        if threshold is None:
            threshold = follower.threshold or UNDERSTOOD
        elif isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
            raise SettingError(f"`threshold` must be a number; got {threshold!r}.")
        if not 0 <= threshold <= 1:
            raise SettingError(f"`threshold` must be between 0 and 1; got {threshold!r}.")
        self.threshold = float(threshold)

    @staticmethod
    def _begin(env: Any, scene: Any, parts: Sequence[str]) -> Run | ActReport:
        """Return a new `Run`, or the final report if the text is empty."""
        if not parts:
            return ActReport("not understood", "The text is empty.")
        return Run(env, scene, scene, list(parts))


class BrokenWorldError(WorldError):
    """Error for an invalid return value of a world's method; agents do not catch it."""


class _Hands:
    """Executor of macro-actions, which plans the moves again if a scene is unexpected."""

    def __init__(self, world: ObjectWorld) -> None:
        self.world = world

    def carry_out(self, run: Run, action: MacroAction) -> None:
        while True:
            surprised = False
            for move in self._moves(run, action):
                surprised = self.move(run, move)
                if run.over:
                    return
                if surprised:
                    break
            if not surprised and self.world.achieved(run.scene, action):
                return
            run.surprises += 1
            if run.surprises > self.world.surprises:
                raise GroundlingError(
                    f"The environment was in an unexpected state {run.surprises} times; at most "
                    f"{self.world.surprises} are allowed. Start a new episode, or increase "
                    f"{type(self.world).__name__}.surprises."
                )

    def try_out(self, run: Run, action: MacroAction) -> ActReport | None:
        """Carry out a macro-action; return None, or the final report if it is impossible."""
        try:
            self.carry_out(run, action)
        except BrokenWorldError:
            raise
        except GroundlingError as error:
            return run.report("executor failed", f"I cannot {action}: {error}")
        return None

    def _moves(self, run: Run, action: MacroAction) -> Iterator[Any]:
        """Yield the moves of a macro-action; raise an error for invalid moves."""
        moves = self.world.moves(run.scene, action)
        method = f"{type(self.world).__name__}.moves"
        if isinstance(moves, (str, bytes)) or not isinstance(moves, Iterable):
            raise BrokenWorldError(
                f"{method} must return a list of the environment's actions, which may be empty; "
                f"got {moves!r} for {str(action)!r}."
            )
        space: Any = getattr(run.env, "action_space", None)
        for number, move in enumerate(moves):
            if hasattr(space, "n") and hasattr(space, "contains") and not space.contains(move):
                raise BrokenWorldError(
                    f"{method} must return moves in the environment's action space {space}; got "
                    f"{move!r} for {str(action)!r}."
                )
            if number >= _MOST_MOVES:
                raise BrokenWorldError(
                    f"{method} must return at most {_MOST_MOVES:,} moves; got more for "
                    f"{str(action)!r}. Raise GroundlingError if the action is impossible."
                )
            yield move

    def move(self, run: Run, move: Any) -> bool:
        """Make one move; return whether the new scene differs from the expected one."""
        expected = self.world.predict(run.scene, move)
        run.count(run.env.step(move))
        run.scene = self.world.after(run.env, run.scene, move)
        return expected is not None and self.world.differs(expected, run.scene)


class Agent(BaseAgent):
    """Agent that plans, acts, observes, and replans if a scene is unexpected.

    Parameters
    ----------
    follower
        A fitted follower.
    world
        The world in which the follower was trained.
    threshold
        Minimum confidence to act. Defaults to the follower's `Search.threshold`, or 0.5 if the
        follower has none.

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

    world: ObjectWorld

    def __init__(
        self, follower: Follower, world: ObjectWorld, threshold: float | None = None
    ) -> None:
        super().__init__(follower, world, threshold)
        self._hands = _Hands(world)

    def plan(self, text: str | Sequence[str], scene: Any, start: Any = None) -> Plan:
        """Return the plan for a text, or for a list of its parts, in a scene."""
        parts = self.world.read(text) if isinstance(text, str) else tuple(text)
        return self.follower.follow(parts, self.world.episode(scene, parts, start), ())

    def act(self, text: str, env: Any) -> ActReport:
        """Carry out an instruction in an environment, and return a report.

        The environment must just have been reset.
        """
        run = self._begin(env, self.world.begin(env), self.world.read(text))
        if isinstance(run, ActReport):
            return run
        for _ in range(len(run.left) + _LOOKS + self.world.surprises):
            report = self._attempt(run)
            if report is not None:
                return report
        return run.report("executor failed", "I replanned too often without making progress.")

    def _attempt(self, run: Run) -> ActReport | None:
        """Plan and carry out the rest of the text; return the final report.

        Returns None if the agent must plan again.
        """
        episode = self.world.episode(run.scene, run.left, run.start)
        plan, trouble = None, ""
        try:
            plan = self.follower.follow(tuple(run.left), episode, ())
        except WorldError as error:
            trouble = f"I found no plan: {error}"
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
        asked = _asked(plan, len(run.left))
        lost = _lost(run, episode, plan, asked)
        if lost:
            return run.report("executor failed", f"I cannot continue: {lost}")
        return self._do(run, episode, plan, asked)

    def _do(
        self, run: Run, episode: Episode, plan: Plan, asked: Sequence[set[int]]
    ) -> ActReport | None:
        """Carry out a plan; return the final report, or None if the agent must plan again."""
        said = tuple(run.left)
        waiting = episode.in_order(plan.actions)
        open_parts = {part for each in asked for part in each}
        while waiting:
            action, _ = waiting.pop(0)
            if failed := self._hands.try_out(run, action):
                return failed
            if run.over and run.reward <= 0:
                return run.end(self.world.rewards)
            still = {part for _, where in waiting for place in where for part in asked[place]}
            run.done += [said[part] for part in sorted(open_parts - still)]
            open_parts = still
            unasked = set(range(len(said))).difference(*asked)
            run.left[:] = [said[part] for part in sorted(still | unasked)]
            if run.over:
                return run.end(self.world.rewards)
            if waiting and not self._is_possible(run, [each for each, _ in waiting]):
                run.surprises += 1
                return None
        return run.end(self.world.rewards)

    def _is_possible(self, run: Run, actions: Sequence[MacroAction]) -> bool:
        """Return whether the objects of all remaining actions still exist."""
        known = self.world.episode(run.scene, run.left, run.start)
        there = {thing for things, _ in known.groups(()) for thing in things}
        return all(there & set(things) for action in actions for things in action.things)


def _asked(plan: Plan, parts: int) -> list[set[int]]:
    """Return, for each action, the indices of the text parts that align with it."""
    if parts == len(plan.actions):
        return [{part} for part in range(parts)]
    shares = plan.explain().sentence_shares()  # parts × choices
    return [{p for p, share in enumerate(column) if share >= _ASKED} for column in shares.T]


def _lost(run: Run, episode: Episode, plan: Plan, asked: Sequence[set[int]]) -> str:
    """Return a clause that says which objects named in the text are gone, or ""."""
    slots = episode.world.slots
    choices: Sequence[Any] = plan.actions
    for choice, places in zip(choices, asked, strict=True):
        for part in (run.left[place] for place in sorted(places)):
            named = episode.named(choice.things, part)
            meant = {each for each in named if each.name in slots}
            before = run.meant.setdefault((part, choice.role), meant)
            if before - meant:
                gone = ", ".join(sorted(str(each.value) for each in before - meant))
                return f"no object is {gone} any longer, as needed for {part!r}."
    return ""


def carry_out(world: ObjectWorld, env: Any, actions: Sequence[MacroAction]) -> ActReport:
    """Carry out macro-actions in an environment, and return a report.

    The environment must just have been reset.

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
        if failed := hands.try_out(run, action):
            return failed
        if run.over and run.reward <= 0:
            break
        run.done.append(run.left.pop(0))
        if run.over:
            break
    return run.end(world.rewards)
