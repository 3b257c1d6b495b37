"""The labels of what could be done: which never vary, and which change their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter

from groundling.diagnosis.findings import Finding
from groundling.models.examples import Example
from groundling.world.environment import State
from groundling.world.graph import GroundingGraph, Label

__all__ = ["Offered", "constant_labels", "mixed_labels", "shown_labels"]


def shown_labels(example: Example) -> Iterator[Label]:
    """Yield the labels of the demonstrated actions."""
    for state, action in example.trajectory.decisions():
        for labels in example.world.ground(state, action).node_labels:
            yield from labels


def mixed_labels(learnt_from: Sequence[Example], offered: Offered) -> Iterator[Finding]:
    """Find labels that are a string here and a number there."""
    known: dict[str, dict[type, object]] = {}
    for (_, name), values in offered.values.items():
        for value in values:
            known.setdefault(name, {}).setdefault(type(value), value)
    for label in (label for each in learnt_from for label in shown_labels(each)):
        known.setdefault(label.name, {}).setdefault(type(label.value), label.value)
    for name, kinds in sorted(known.items()):
        if str in kinds and float in kinds:
            yield Finding(
                "mixed label",
                f"The label {name!r} is a string here, such as {kinds[str]!r}, and a number "
                f"there, such as {kinds[float]:g}: what words learn of the one says nothing of "
                "the other.",
                "A label keeps its kind; give the two different names.",
            )


class Offered:
    """The labels of all that could be done in the states that examples pass."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.values: dict[tuple[str, str], dict[object, None]] = {}  # by node and name
        self.having: Counter[tuple[str, str]] = Counter()  # in how many graphs they are
        self.count, self.differ, self.chosen_from = 0, False, 0
        seen: set[tuple[int, State]] = set()
        for each in examples:
            if getattr(each.demonstration.environment, "labels_follow_text", False):
                continue  # values that a text does not name are missing: the others look constant
            for state in each.trajectory.states[:-1]:
                if (id(each.world), state) not in seen:
                    seen.add((id(each.world), state))
                    self._look_at([each.world.ground(state, a) for a in each.world.actions(state)])

    def _look_at(self, shown: Sequence[GroundingGraph]) -> None:
        self.count += len(shown)
        self.chosen_from += len(shown) > 1
        self.differ |= len(set(shown)) > 1
        for graph in shown:
            for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
                for label in labels:
                    if label.value is not None:
                        self.values.setdefault((name, label.name), {})[label.value] = None
                        self.having[name, label.name] += 1


def constant_labels(offered: Offered) -> Iterator[Finding]:
    """Find labels with a value that is the same in all that could be done."""
    if offered.chosen_from and not offered.differ:
        yield Finding(
            "same graphs",
            "All actions of a state have the same grounding graph, so that nothing tells them "
            "apart.",
            "Let ground give labels that say what an action does and to what.",
        )
        return
    for (node, name), found in sorted(offered.values.items(), key=itemgetter(0)):
        # What only some actions have tells them from others. Ranks come all or none of them.
        everywhere = offered.having[node, name] == offered.count
        if len(found) == 1 and everywhere and offered.count >= 6 and ".rank" not in name:
            [value] = found
            yield Finding(
                "constant label",
                f"The label {name!r} of the node {node!r} is {value!r} in all that could be done, "
                "so that nothing can be learnt from it.",
                "Let it vary, or leave it out.",
            )
