"""Agent that acts with the simulator's own actions, planned in a `GymWorld`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from groundling.errors import GroundlingError, WorldError
from groundling.gym.agent import ActReport, BaseAgent, Run
from groundling.language.sentences import split_sentences
from groundling.plan import Plan

if TYPE_CHECKING:
    from groundling.gym.simulator import GymWorld, Situation

_SURPRISES = 25  # maximum number of surprises before the agent gives up
_ASKED = 0.5  # minimum probability that a sentence aligns with actions


class MoveAgent(BaseAgent):
    """Agent for Gymnasium environments that plans with the actions of a `GymWorld`.

    The agent plans, acts and observes. If the environment is not in the expected state, the agent
    follows the remaining sentences from the current state.

    Parameters
    ----------
    follower
        A fitted follower.
    world
        The world in which the follower was trained, or a similar one. It must have its own copy
        of the environment.
    threshold
        Minimum confidence to act. Defaults to the follower's `Search.threshold`, or 0.5 if the
        follower has none.

    Examples
    --------
    >>> import gymnasium
    >>> from groundling import Demonstration, Follower, GroundingGraph, Search, TransducerModel, gym
    >>> def ground(before, action, after):
    ...     return GroundingGraph({"event": {("left", "down", "right", "up")[action]: True}})
    >>> make = lambda: gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> world = gym.GymWorld(make(), ground, key=lambda env, observation: int(env.unwrapped.s))
    >>> start = world.reset(seed=0)
    >>> shown = [Demonstration(f"go {name}", world, start, (number,))
    ...          for number, name in enumerate(("left", "down", "right", "up"))]
    >>> model = TransducerModel(unaligned_cost=2, fertility_cost=2)
    >>> follower = Follower(
    ...     model=model, parser="chain", search=Search(max_length=8, beam=3)).fit(shown)
    >>> env = make()
    >>> _ = env.reset(seed=0)
    >>> print(world.agent(follower).act("Go right. Go right. Go down.", env), env.unwrapped.s)
    Done: Go right; Go right; Go down. 6
    """

    world: GymWorld

    def act(
        self,
        text: str,
        env: Any,
        observation: Any = None,
        info: Mapping[str, Any] | None = None,
        *,
        start: Situation | None = None,
    ) -> ActReport:
        """Carry out an instruction in an environment, and return a report.

        `env` must have been reset with a seed. It must have the same class as the world's
        simulator, because the world calls `key` and `get_state` on it. If `env` has moved since the
        reset, pass its last `observation` and `info`; worlds that replay actions do not support
        this. If `env` has another class, pass as `start` the state of the world that corresponds to
        the current state of `env`.
        """
        # Split as in `fit`, with full stops.
        parts = split_sentences(text, self.follower.learnt_.fitted.encoder.reader.language)
        if not parts:
            return ActReport("not understood", "The text is empty.")
        state = self.world.enter(env, observation, info) if start is None else start
        run = Run(env, state, state, parts)
        try:
            while run.surprises <= _SURPRISES:
                report = self._attempt(run)
                if report is not None:
                    return report
        except WorldError as error:  # the simulator cannot continue
            return run.report("executor failed", f"I cannot continue: {error}")
        return run.report(
            "executor failed",
            f"The environment was in an unexpected state more than {_SURPRISES} times.",
        )

    def _attempt(self, run: Run) -> ActReport | None:
        """Plan and carry out the remaining text; return a report.

        Returns None if the environment is in an unexpected state.
        """
        try:
            plan = self.follower.follow(run.left, self.world, run.scene)
        except GroundlingError as error:
            if isinstance(error, WorldError):
                raise
            return run.report("not understood", f"I found no plan: {error}")
        run.plan = plan
        if plan.confidence < self.threshold:
            return run.not_understood(plan, self.threshold)
        done_after = _ends(plan, len(run.left))
        sentences = list(run.left)
        for number, action in enumerate(plan.actions):
            surprised = self._move(run, action)
            finished = [s for s, end in zip(sentences, done_after, strict=True) if end == number]
            if surprised and not run.over:
                run.surprises += 1
                return None
            for sentence in finished:
                run.left.remove(sentence)
                run.done.append(sentence)
            if run.over:
                break
        return run.end(self.world.rewards)

    def _move(self, run: Run, action: Any) -> bool:
        """Carry out an action; return whether the new state differs from the expected one."""
        expected = self.world.step(run.scene, action)
        made = []
        for move in self.world.moves(run.scene, action):
            answer = run.env.step(move)
            run.count(answer)
            made.append(move)
            if run.over:
                break
        real: Situation = self.world.arrive(run.env, run.scene, made, answer)
        run.scene = real
        return real != expected


def _ends(plan: Plan, count: int) -> list[int]:
    """Return the index of the last action that aligns with each sentence."""
    last = len(plan.actions) - 1
    shares = plan.explain().sentence_shares()
    if len(shares) != count or last < 0:
        return [last] * count
    # A sentence that aligns with no action gets -1 and never counts as done. A sentence that
    # only shares actions with other sentences counts as done at the end.
    found = [last if share >= _ASKED else -1 for share in shares.sum(axis=1).tolist()]
    for number, sentence in enumerate(shares.argmax(axis=0).tolist()):
        found[sentence] = number
    return found
