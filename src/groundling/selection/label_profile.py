"""The labels that all training worlds have; a world without them is different."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from groundling.errors import GroundlingError
from groundling.models.learnt import Learnt
from groundling.selection.constants import A_FEW, SAMPLED_STARTS
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State

Place: TypeAlias = tuple[CachedEnvironment, State]
"""An environment and a start state."""


@dataclass(frozen=True)
class UsualLabels:
    """The names of the labels that at least one action has at every training start.

    Parameters
    ----------
    values
        Labels with a value that occur in most graphs. A world that lacks one of them counts as
        different.
    indicators
        Labels without a value. One of them may be missing because no such action is possible, so a
        world counts as different only if several are missing.

    Examples
    --------
    >>> class Lamp:
    ...     def __init__(self, **more): self.more = more
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"lamp": {action: True, **self.more}})
    >>> from groundling import GroundingGraph
    >>> usual = UsualLabels.of([(CachedEnvironment(Lamp(colour="red")), "off")])
    >>> usual
    UsualLabels(values=('colour',), indicators=('off', 'on'))
    >>> usual.missing([(CachedEnvironment(Lamp()), "on")])
    ('colour',)
    >>> usual.missing([(CachedEnvironment(Lamp(colour="blue")), "on")])
    ()
    """

    values: tuple[str, ...] = ()
    indicators: tuple[str, ...] = ()

    @classmethod
    def of(cls, places: Iterable[Place]) -> UsualLabels:
        """Return the labels that all given (environment, start) pairs have."""
        count = 0
        often: Counter[str] = Counter()
        common: set[str] | None = None
        valued: set[str] = set()
        for world, state in _some(places):
            here: set[str] = set()
            for action in world.some_actions(state):
                labels = [e for each in world.ground(state, action).node_labels for e in each]
                names = {each.name for each in labels}
                valued |= {each.name for each in labels if each.value is not None}
                often.update(names)
                here |= names
                count += 1
            common = here if common is None else common & here
        found = sorted(common or ())
        return cls(
            tuple(each for each in found if each in valued and 2 * often[each] >= count),
            tuple(each for each in found if each not in valued),
        )

    def missing(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Return the usual labels that are missing; a few missing indicators are ignored."""
        some = _some(places)
        if not some or not (self.values or self.indicators):
            return ()
        here = {
            label.name
            for world, state in some
            for action in world.some_actions(state)
            for labels in world.ground(state, action).node_labels
            for label in labels
        }
        values = [each for each in self.values if each not in here]
        indicators = [each for each in self.indicators if each not in here]
        if len(indicators) < max(A_FEW, len(self.indicators) / A_FEW):
            indicators = []
        return (*values, *indicators) if here else ()


def _some(places: Iterable[Place]) -> list[Place]:
    """Return a sample of distinct (environment, start) pairs."""
    # Labels that depend on the text may be missing only because the text is another one.
    found = {
        (id(world), state): (world, state)
        for world, state in places
        if not world.labels_follow_text and world.actions(state)
    }
    listed = list(found.values())
    return listed[:: max(1, len(listed) // (2 * SAMPLED_STARTS))][: 2 * SAMPLED_STARTS]


def usual_labels(learnt: Learnt) -> UsualLabels:
    """Return the labels that all training worlds of a fitted or loaded model have."""
    shown = [each for each in learnt.examples if each.shown is not None]
    if not shown:
        return UsualLabels(*learnt.usual)
    try:
        return UsualLabels.of((each.world, each.trajectory.start) for each in shown)
    except GroundlingError:  # the world has changed since training, but saving must still work
        return UsualLabels()
