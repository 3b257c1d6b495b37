"""Settings of the overlay; the paper's model is one combination of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundling.settings import Settings, idle_setting, setting


@dataclass(frozen=True, repr=False)
class Overlay(Settings):
    """Settings for aligning words with the graph of a whole plan.

    The states of the recursion are pairs (action j, node k). The chart entry of a word at a state
    is a product: the score of the word at that state and, for each dependent of the word, the sum
    over the states that the dependent may have. These states are the neighbours of the node in the
    same action and, if the link between the words is free, the entry nodes of other actions.

    Parameters
    ----------
    skeleton
        The parent of a word: its head (`tree`), the preceding word (`chain`), or none (`bag`).
    unit
        The span of text that is aligned with one action. Links inside a unit are bound; links
        between units are free and follow the order of the text.
    nodes
        `graph`: each word aligns with one node. `flat`: each action is one node with the labels
        of all its nodes, prefixed with the node's name (`front.floor`). `both`: each node has its
        own labels and the flat ones.
    adjacency
        `hard`: dependents align only with neighbours. `soft`: they align with any node; for
        nodes that are not neighbours, the relation "far" is scored.
    neighbours
        Which nodes are neighbours: the target of a relation (`given`), its source (`reversed`),
        the node itself (`self`), nodes two relations away (`two-step`).
    entry
        Where the root of a unit enters an action: at the graph's `root`, or at `any` node.
    relations
        Whether to add relations between the things of a graph and all other things that the
        environment's `things` returns (see `Scene.relations`).
    edge_scores, action_scores
        Which potentials have weights: dependencies × relations, and ψ(y).

    Examples
    --------
    >>> Overlay().nodes, Overlay.flat().nodes
    ('graph', 'flat')
    >>> Overlay(skeleton="three")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Overlay.skeleton must be one of 'tree', 'chain', 'bag'; got
    'three'. Did you mean 'tree'?
    >>> Overlay(nodes="flat", adjacency="soft")
    Traceback (most recent call last):
        ...
    groundling.errors.IdleSettingError: Overlay.adjacency has no effect with nodes='flat', which
    makes each action a single node. Leave it out, or use nodes='graph'.
    """

    skeleton: Literal["tree", "chain", "bag"] = "tree"
    unit: Literal["sentence", "clause", "mention", "word"] = "sentence"
    nodes: Literal["graph", "flat", "both"] = "graph"
    adjacency: Literal["hard", "soft"] = "hard"
    neighbours: tuple[Literal["given", "reversed", "self", "two-step"], ...] = (
        "given", "reversed", "self",
    )  # fmt: skip
    entry: Literal["root", "any"] = "root"
    relations: bool = False
    edge_scores: bool = True
    action_scores: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.changed():
            if self.nodes == "flat" and name in ("adjacency", "neighbours", "entry", "relations"):
                raise idle_setting(
                    f"Overlay.{name}",
                    "with nodes='flat', which makes each action a single node",
                    "Leave it out, or use nodes='graph'.",
                )
            if self.skeleton == "bag" and name in ("adjacency", "neighbours", "edge_scores"):
                raise idle_setting(
                    f"Overlay.{name}",
                    "with skeleton='bag', which removes the links between words",
                    "Leave it out, or use skeleton='tree'.",
                )

    @classmethod
    def flat(cls) -> Overlay:
        """Return the preset for mazes: dependency tree, word units, flat actions."""
        return cls(unit="word", nodes="flat")

    @classmethod
    def bag(cls) -> Overlay:
        """Return the paper's ablation without graphs: bag of words × bag of labels."""
        return cls(skeleton="bag", nodes="flat")


@dataclass(frozen=True, repr=False)
class PlanTerms(Settings):
    """Additional potentials of a whole plan; none by default."""

    plan_scores: bool = False
    plan_words: bool = False
    advance_scores: bool = False
    skip: float = setting(0.0, least=0.0)
