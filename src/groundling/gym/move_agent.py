"""Acting in the simulator's own actions: what a `GymWorld` plans, a running environment does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from groundling.errors import GroundlingError, WorldError
from groundling.gym.agent import ActReport, BaseAgent, Run
from groundling.language.sentences import split_sentences
from groundling.plan import Plan

if TYPE_CHECKING:
    from groundling.gym.simulator import GymWorld, Situation

__all__ = ["MoveAgent"]

_SURPRISES = 25  # after so many it gives up
_ASKED = 0.5  # of a sentence must lie on actions, if it asked for any


class MoveAgent(BaseAgent):
    """A follower that acts in a Gymnasium environment by the actions of a `GymWorld`.

    It plans, acts and watches. Where the environment is not in the state that was expected, it
    follows what is left of the text, sentence by sentence, from where it is.

    Parameters
    ----------
    follower
        A fitted follower.
    world
        The world it was trained in, or one like it. It simulates in an environment of its own.
    threshold
        Below this confidence nothing is done. By default the follower's own threshold
        (`Search.threshold`), or 0.5 if it has none.

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
        """Carry out an instruction in an environment that was reset by a seed.

        `env` must be of the same kind as the one that the world simulates in: the world's `key`,
        and `get_state` where it has one, are asked of it. An environment that was not reset just
        now is begun in by what was observed there last, with its `info`, unless the world
        replays. With `start`, a state of the world, nothing is asked before the first move: for
        simulators that are a twin of another kind.
        """
        # As `fit` reads it, full stops included.
        parts = split_sentences(text, self.follower.members_[0].encoder.reader.language)
        if not parts:
            return ActReport("not understood", "There is nothing to understand in an empty text.")
        state = self.world.enter(env, observation, info) if start is None else start
        run = Run(env, state, state, parts)
        try:
            while run.surprises <= _SURPRISES:
                report = self._attempt(run)
                if report is not None:
                    return report
        except WorldError as error:  # the simulation cannot go on from here
            return run.report("executor failed", f"I cannot go on: {error}")
        return run.report("executor failed", "The environment never does what is expected.")

    def _attempt(self, run: Run) -> ActReport | None:
        """Plan what is left and do it; nothing is returned if the environment went elsewhere."""
        try:
            plan = self.follower.follow(run.left, self.world, run.scene)
        except GroundlingError as error:
            if isinstance(error, WorldError):
                raise
            return run.report("not understood", f"I find no plan: {error}")
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
        """Do one action; tell whether the environment is not where it should be."""
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
    """Return after which action each sentence is done, as far as the plan can tell."""
    last = len(plan.actions) - 1
    shares = plan.explain().sentence_shares()
    if len(shares) != count or last < 0:
        return [last] * count
    # A sentence that no action is for is never done; one that shares all of its own is at last.
    found = [last if share >= _ASKED else -1 for share in shares.sum(axis=1).tolist()]
    for number, sentence in enumerate(shares.argmax(axis=0).tolist()):
        found[sentence] = number
    return found
