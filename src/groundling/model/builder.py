"""The workbench: from worlds, texts and plans to the problems that the overlay scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from groundling.features.labels import NUMBER, NodeLabeller
from groundling.features.reading import LabelledWord, Reader
from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.language.units import split_units
from groundling.model.blocks import Block
from groundling.model.encoding import Candidate, Encoding, Problem, encode
from groundling.model.forest import Forest, UnitSplitter, joined_forest, separate_forest
from groundling.model.graphs import LaidOutGraph, NodeContent, Spelled, lay_out, spell_plan
from groundling.model.settings import Overlay
from groundling.world.environment import Action, Environment, State, World
from groundling.world.graph import GroundingGraph, Label

__all__ = ["Builder", "Course", "Courses", "Passage"]

_REMEMBERED_GRAPHS = 500_000
_REMEMBERED_WORLDS = 1_000


@dataclass(frozen=True)
class Course:
    """A plan as the model sees it: what is done, the states it passes, its laid-out graphs."""

    actions: tuple[Action, ...]
    states: tuple[State, ...]
    graphs: tuple[LaidOutGraph, ...]
    plan: NodeContent | None = None

    def candidate(self, gold: bool = False, pins: tuple[int, ...] | None = None) -> Candidate:
        """Return the plan as one that a problem may choose."""
        if not gold and pins is None:
            return self._plain
        return Candidate(self.graphs, self.plan, gold=gold, pins=pins)

    @cached_property
    def _plain(self) -> Candidate:
        return Candidate(self.graphs, self.plan)


class Courses(list[Course]):
    """All plans from a start; encoded once for the many texts that may mean them."""

    @cached_property
    def block(self) -> Block:
        """The plans as a block of candidates, none of them right."""
        return Block([course.candidate() for course in self])


@dataclass(frozen=True)
class Passage:
    """A text as the model sees it: its instructions, their skeleton, the labels of words."""

    instructions: tuple[Instruction, ...]
    forest: Forest
    words: tuple[LabelledWord, ...]

    def word(self, place: int) -> str:
        """Return the word at a place of the forest."""
        return self.instructions[self.forest.sentence[place]].tokens[self.forest.position[place]]


class Builder:
    """Builds problems, remembering every world and graph it has seen.

    `values` are the values of each kind known from training; those of a problem's own
    graphs are added when its words are looked up, so that new names work.
    """

    def __init__(
        self,
        reader: Reader,
        overlay: Overlay,
        nodes: NodeLabeller,
        split: UnitSplitter = split_units,
    ) -> None:
        self.reader = reader
        self.overlay = overlay
        self.nodes = nodes
        self.split = split
        self.values: dict[str, set[str]] = {kind: set() for kind in nodes.slots}
        if "equal" in nodes.numbers:
            self.values[NUMBER] = set()
        self._worlds: dict[int, World] = {}
        self._graphs: dict[GroundingGraph, LaidOutGraph] = {}
        self._spelled: dict[tuple[str, tuple[Label, ...]], Spelled] = {}

    def world(self, environment: Environment | World) -> World:
        """Return the remembered world of an environment."""
        # A World holds its environment, so its identity cannot be reused while we hold it.
        known = self._worlds.get(id(environment))
        if known is None:
            known = environment if isinstance(environment, World) else World(environment)
            if len(self._worlds) >= _REMEMBERED_WORLDS:
                self._worlds.clear()
            self._worlds[id(environment)] = known
        return known

    def lay_out(self, graph: GroundingGraph) -> LaidOutGraph:
        """Return a graph as the overlay walks it."""
        found = self._graphs.get(graph)
        if found is None:
            if len(self._graphs) >= _REMEMBERED_GRAPHS:
                self._graphs.clear()
                self._spelled.clear()
            laid_out = lay_out(graph, self.overlay, self.nodes, self._spelled)
            found = self._graphs[graph] = laid_out
        return found

    def ground(self, world: World, state: State, action: Action) -> LaidOutGraph:
        """Return the laid-out graph of an action in a state."""
        return self.lay_out(world.ground(state, action))

    def course(self, world: World, states: Sequence[State], actions: Sequence[Action]) -> Course:
        """Return a plan that is known to be possible."""
        graphs = tuple(
            self.ground(world, state, action)
            for state, action in zip(states, actions, strict=False)
        )
        return Course(tuple(actions), tuple(states), graphs, self.plan(world, states, actions))

    def plan(
        self, world: World, states: Sequence[State], actions: Sequence[Action]
    ) -> NodeContent | None:
        """Return the labels of a whole plan, if plans are scored."""
        if not self.overlay.plan_scores:
            return None
        labels = world.label_plan(states[0], actions, states)
        return spell_plan(len(actions), labels, self.nodes)

    def learn_values(self, graphs: Iterable[LaidOutGraph]) -> None:
        """Remember the values that occur in training."""
        for graph in graphs:
            for kind, value in graph.values:
                if kind in self.values:
                    self.values[kind].add(value)

    def passage(
        self,
        instructions: Sequence[Instruction],
        graphs: Iterable[LaidOutGraph] = (),
        *,
        separate: bool = False,
    ) -> Passage:
        """Return a text with its skeleton and labels; `graphs` are those it may be about."""
        make = separate_forest if separate else joined_forest
        forest = make(instructions, self.overlay, self.split)
        values = self._values_with(graphs)
        labelled = [self.reader.label(instruction, values) for instruction in instructions]
        words = tuple(labelled[s][p] for s, p in zip(forest.sentence, forest.position, strict=True))
        return Passage(tuple(instructions), forest, words)

    def by_new_values(self, graphs: Sequence[LaidOutGraph]) -> list[list[LaidOutGraph]]:
        """Sort graphs by the values they hold that training never saw."""
        if not self.reader.lexicon.string_match:
            return [list(graphs)]  # no word is looked up among them
        sorts: dict[tuple[tuple[str, str], ...], list[LaidOutGraph]] = {}
        for graph in graphs:
            new = tuple(
                pair
                for pair in graph.values
                if pair[0] in self.values and pair[1] not in self.values[pair[0]]
            )
            sorts.setdefault(new, []).append(graph)
        return list(sorts.values())

    def _values_with(self, graphs: Iterable[LaidOutGraph]) -> Mapping[str, set[str]]:
        new: dict[str, set[str]] = {}
        for graph in graphs:
            for kind, value in graph.values:
                if kind in self.values and value not in self.values[kind]:
                    new.setdefault(kind, set()).add(value)
        if not new:
            return self.values
        return {kind: known | new.get(kind, set()) for kind, known in self.values.items()}

    def encode(
        self,
        problems: Sequence[Problem],
        space: FeatureSpace,
        *,
        grow: bool = False,
        min_word_count: int = 1,
    ) -> Encoding:
        """Encode problems as the settings of the overlay ask."""
        return encode(
            problems,
            space,
            grow=grow,
            min_word_count=min_word_count,
            edge_scores=self.overlay.edge_scores,
            action_scores=self.overlay.action_scores,
            advance_scores=self.overlay.advance_scores,
            plan_words=self.overlay.plan_words,
        )
