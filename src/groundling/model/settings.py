"""The settings of the overlay: one recursion, of which the paper's model is one choice."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.errors import SettingError, did_you_mean

__all__ = ["Overlay"]

_CHOICES = {
    "skeleton": ("tree", "chain", "bag"),
    "unit": ("sentence", "clause", "mention", "word"),
    "nodes": ("graph", "flat", "both"),
    "adjacency": ("hard", "soft"),
    "entry": ("root", "any"),
}
_NEIGHBOURS = ("given", "reversed", "self", "two-step")


@dataclass(frozen=True)
class Overlay:
    """How the text is laid over the graph of the whole plan.

    The states of the recursion are (action j, node k). A word's chart entry at a state is
    its score there times, for each of its dependents, the sum over the states the
    dependent may take: a neighbour of the node within the action or, where the link
    between the two is free, an entry node of another action.

    Parameters
    ----------
    skeleton
        What a word hangs from: its head (`tree`), the word before it (`chain`), nothing
        (`bag`).
    unit
        The stretch of text that stays within one action: links inside a unit are bound,
        links between units are free, and follow the order of the text.
    nodes
        `graph`: each word aligns with one node; `flat`: each action is one node that has
        the labels of all (their names keep the node's, as in `front.floor`); `both`:
        each node has its own labels and the flat ones.
    adjacency
        `hard`: dependents align only with neighbours; `soft`: with any node, and the
        relation "far" is scored.
    neighbours
        Which nodes count as neighbours: those at the end of a relation (`given`), at its
        start (`reversed`), the node itself (`self`), those two relations away (`two-step`).
    null_node
        Whether every action also has a node for words that say nothing.
    entry
        Where the root of a unit enters an action: at the graph's `root`, or at `any` node.
    edge_scores, action_scores, plan_scores, plan_words, advance_scores
        Which potentials have weights: dependencies × relations; ψ(y); ψ(n) with the labels
        of the plan; words × labels of the plan; words × going on to another action.
    skip, skip_before, skip_after
        What each action costs that is passed over between two aligned words, before the
        first word, or after the last one.

    Examples
    --------
    >>> Overlay().nodes, Overlay.flat().nodes
    ('graph', 'flat')
    >>> Overlay(skeleton="three")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Overlay.skeleton cannot be 'three'. Did you mean 'tree'?
    """

    skeleton: str = "tree"
    unit: str = "sentence"
    nodes: str = "graph"
    adjacency: str = "hard"
    neighbours: tuple[str, ...] = ("given", "reversed", "self")
    null_node: bool = False
    entry: str = "root"
    edge_scores: bool = True
    action_scores: bool = True
    plan_scores: bool = True
    plan_words: bool = False
    advance_scores: bool = False
    skip: float = 0.0
    skip_before: float = 0.0
    skip_after: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", tuple(self.neighbours))
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise SettingError(
                    f"Overlay.{name} cannot be {value!r}.{did_you_mean(value, known)}"
                )
        for each in self.neighbours:
            if each not in _NEIGHBOURS:
                raise SettingError(
                    f"Overlay.neighbours cannot hold {each!r}.{did_you_mean(each, _NEIGHBOURS)}"
                )
        for name in ("skip", "skip_before", "skip_after"):
            if not 0 <= getattr(self, name) < 1e9:
                raise SettingError(
                    f"Overlay.{name} is a cost: 0 or more, not {getattr(self, name)}."
                )

    @classmethod
    def flat(cls) -> Overlay:
        """Return the setting that served best on mazes: words on the tree, flat actions."""
        return cls(
            unit="word",
            nodes="flat",
            entry="any",
            neighbours=("self",),
            plan_words=True,
            advance_scores=True,
            skip=2.0,
        )

    @classmethod
    def bag(cls) -> Overlay:
        """Return the paper's ablation without grounding graphs: bag of words × bag of labels."""
        return cls(skeleton="bag", nodes="flat", entry="any", neighbours=("self",))
