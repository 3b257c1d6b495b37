"""The encoder: converts worlds, texts and plans to instances of the overlay."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

import numpy as np

from groundling.cache import Cache, CacheBudget, Sightings
from groundling.features.feature_tables import JoinedLabels
from groundling.features.labels import LABEL, NUMBER, NodeLabeller
from groundling.features.lexicon import Lexicon
from groundling.features.name_index import LayeredValues
from groundling.features.reader import LabelledWord, Reader
from groundling.features.restriction import restrict_ranks
from groundling.features.space import FeatureSpace
from groundling.features.spans import EDIT, PART, Span, SpanIndex
from groundling.language.instruction import Instruction
from groundling.language.literals import Literal, read_literals
from groundling.language.units import split_units
from groundling.overlay.batch import Reals
from groundling.overlay.batch_builder import Instance, LatestArrays, Scored, encode
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph, LaidOutTable, Layouts, NodeContent, spell_plan
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay, PlanTerms
from groundling.overlay.skeletons import (
    Skeleton,
    UnitSplitter,
    joined_skeleton,
    separate_skeleton,
)
from groundling.world.cached_environment import CachedEnvironment, EnvironmentCache
from groundling.world.environment import Action, Environment, State
from groundling.world.graph import GroundingGraph
from groundling.world.relations import Scene
from groundling.world.sets import Mention, TextValues
from groundling.world.trajectory import Trajectory

__all__ = ["Encoder", "LabelledText"]

_Graphs = Cache[tuple[CachedEnvironment, int, State], dict[Action, LaidOutGraph]]
_STATE_BYTES, _KEY_BYTES = 500, 100  # cache overhead per state, and per graph
_LATEST = 3_000_000  # bytes for cached candidate arrays, which are cheap to rebuild
_NO_VALUES: tuple[None, None, Mapping[str, Collection[str]]] = (None, None, {})
_SHARED = frozenset({"plan spaces"})  # search caches independent of texts and weights
_BOUND = 500  # maximum cached worlds whose open values are filled from a text


@dataclass(frozen=True)
class LabelledText:
    """A text as the model sees it: instructions, skeleton and word labels."""

    instructions: tuple[Instruction, ...]
    skeleton: Skeleton
    words: tuple[LabelledWord, ...]

    def word(self, place: int) -> str:
        """Return the word at an index of the skeleton."""
        instruction = self.instructions[self.skeleton.sentence[place]]
        return instruction.tokens[self.skeleton.position[place]]

    def by_word(self, rows: Reals) -> Reals:
        """Return rows of skeleton words as rows of all words in text order; 0 for dropped words."""
        first = np.cumsum([0, *map(len, self.instructions)])
        found = np.zeros((int(first[-1]), rows.shape[1]))
        found[first[[*self.skeleton.sentence]] + self.skeleton.position] = rows
        return found

    def order(self) -> list[int]:
        """Return the skeleton's indices in text order."""
        order: list[int] = np.lexsort((self.skeleton.position, self.skeleton.sentence)).tolist()
        return order


class SizedMemory(Protocol):
    """A cache of search results that is stored with an encoder."""

    @property
    def bytes(self) -> int:
        """Size in bytes, excluding objects that the encoder's budget already counts."""


class Encoder:
    """Builds instances from texts and plans, and caches worlds and graphs.

    `values` contains the values of each kind seen in training. To look up the words of an instance,
    the values in its own graphs are added, so that new names are understood. `budget` limits the
    total size of the caches of worlds, graphs and plans.
    """

    def __init__(
        self,
        reader: Reader,
        overlay: Overlay,
        nodes: NodeLabeller,
        terms: PlanTerms = PlanTerms(),
        split: UnitSplitter = split_units,
        budget: CacheBudget | None = None,
    ) -> None:
        self.reader = reader
        self.overlay = overlay
        self.nodes = nodes
        self.terms = terms
        self.split = split
        self.values: dict[str, set[str]] = {kind: set() for kind in nodes.slots}
        if "equal" in nodes.numbers:
            self.values[NUMBER] = set()
        self.memory: dict[str, SizedMemory] = {}  # search caches
        self.budget = CacheBudget() if budget is None else budget
        # Laid-out graphs are smaller than grounding graphs, so only they are cached.
        self.worlds = EnvironmentCache(self.budget, keep_graphs=False)
        self._graphs: _Graphs = Cache(self.budget)
        self._layouts = Layouts(overlay, nodes)
        self._joined: JoinedLabels | None = None
        self._latest: LatestArrays = Cache(CacheBudget(_LATEST))
        self._names: Cache[tuple[tuple[str, str], ...], SpanIndex] = Cache(self.budget)
        self._latest_values: tuple[object, object, Mapping[str, Collection[str]]] = _NO_VALUES
        self._bound: dict[Hashable, CachedEnvironment] = {}  # worlds with open values filled
        self._seen = Sightings()  # states in which requests were made

    def fork(self, lexicon: Lexicon | None = None) -> Encoder:
        """Return an encoder that shares cached worlds but has its own known values."""
        reader = replace(self.reader, lexicon=self.reader.lexicon if lexicon is None else lexicon)
        other = Encoder(reader, self.overlay, self.nodes, self.terms, self.split, self.budget)
        other.values = {kind: set(known) for kind, known in self.values.items()}
        other.worlds, other._graphs, other._layouts = self.worlds, self._graphs, self._layouts
        other.memory, other._bound = self.memory, self._bound
        return other

    def share(self, known: dict[Hashable, Encoder]) -> None:
        """Share environments with earlier encoders, and graphs and plans with equal settings."""
        first = next(iter(known.values()), self)
        if first is not self:
            self.budget, self.worlds, self._bound = first.budget, first.worlds, first._bound
            self._graphs, self._names = Cache(self.budget), Cache(self.budget)
        other = known.setdefault(self.kind, self)
        self._graphs, self._layouts = other._graphs, other._layouts
        self.memory |= {name: other.memory[name] for name in _SHARED & other.memory.keys()}

    @property
    def kind(self) -> Hashable:
        """The settings that laid-out graphs and plans depend on."""
        return self.overlay, self.nodes, self.terms

    def world(self, environment: Environment | CachedEnvironment) -> CachedEnvironment:
        """Return the environment with cached results."""
        return self.worlds.of(environment)

    def bind(
        self, environment: Environment | CachedEnvironment, text: Sequence[Instruction]
    ) -> CachedEnvironment:
        """Return the cached world of an environment, with open values filled from a text."""
        world = self.world(environment)
        if not world.open_values or world.is_bound:
            return world
        words = [word for instruction in text for word in instruction.tokens]
        literals = read_literals(words, self.reader.language)
        said = tuple(words) if {"text", "set"} & {*world.open_values} else ()
        key = (world, world.generation, said, tuple((e.type, e.value) for e in literals))
        found = self._bound.get(key)
        if found is None:
            if len(self._bound) >= _BOUND:
                self._bound.pop(next(iter(self._bound)))
            found = self._bound[key] = world.bound(self._text_values(words, literals))
        return found

    def _text_values(self, words: Sequence[str], literals: Sequence[Literal]) -> TextValues:
        language = self.reader.language
        folded = [language.fold(word) for word in words]

        def find(values: Mapping[str, Iterable[str]]) -> list[Mention]:
            spans = SpanIndex(values, language).find(folded)
            return [(span.kind, span.value, span.places) for span in spans]

        return TextValues(tuple(words), literals, find, language)

    def remembered(self) -> dict[str, int]:
        """Return the approximate size of the caches in bytes, by kind."""
        return {
            "worlds, graphs and plans": self.budget.used + self._latest.bytes,
            "labels": self._layouts.bytes + (0 if self._joined is None else self._joined.bytes),
            "scores": sum(each.bytes for each in list(self.memory.values())),
        }

    def empty(self) -> None:
        """Clear all caches."""
        self.worlds.forget_all()
        self._bound.clear()
        self.empty_plans()
        self.budget.count_again()

    def empty_plans(self) -> None:
        """Clear all caches but those of environments, which other encoders may share."""
        self._graphs.clear()
        self._layouts.clear()
        self._joined = None
        self._latest.clear()
        self._names.clear()
        self._latest_values = _NO_VALUES
        self.memory.clear()

    def begin(self, world: CachedEnvironment, start: State) -> None:
        """Begin a request; what is cached for new states is temporary.

        It is dropped at the next request about another state. What is cached for a state in which
        an earlier request was made is kept.
        """
        if not world.knows(start):
            lasts = self._seen.again((id(world), start))
            self.budget.begin(lasts=lasts)
            self._latest.budget.begin(lasts=lasts)
            self._layouts.begin()

    def forget(self, environment: Environment) -> None:
        """Drop the cached results of an environment that has changed."""
        self.worlds.forget(environment)
        self._latest.clear()
        self.memory.clear()
        self.budget.count_again()

    # ---- plans --------------------------------------------------------------------------

    def lay_out(self, graph: GroundingGraph, scene: Scene | None = None) -> LaidOutGraph:
        """Lay out a graph for the overlay, adding ranks and relations from a scene."""
        self._make_room()
        return self._layouts.lay_out(graph, scene)

    def _make_room(self) -> None:
        """Clear laid-out graphs if they exceed half of the budget."""
        if self._layouts.bytes > self.budget.most // 2:
            self._graphs.clear()  # these refer to laid-out nodes
            self._layouts.clear()

    def ground(self, world: CachedEnvironment, state: State, action: Action) -> LaidOutGraph:
        """Return the laid-out graph of an action in a state."""
        key = (world, world.generation, state)
        known = self._graphs.get(key)
        if known is None:
            known = {}
            self._graphs.put(key, known, _STATE_BYTES)
        found = known.get(action)
        if found is None:
            scene = world.scene(state) if world.has_things else None
            found = known[action] = self.lay_out(world.ground(state, action), scene)
            self._graphs.grow(_KEY_BYTES)
        return found

    def candidates(
        self, world: CachedEnvironment, trajectories: Iterable[Trajectory]
    ) -> Candidates:
        """Return trajectories as the candidates of a text."""
        return Candidates(
            (
                [self.ground(world, state, action) for state, action in each.decisions()],
                self._plan_labels(world, each),
            )
            for each in trajectories
        )

    def candidates_from(
        self, world: CachedEnvironment, start: State, plans: Sequence[Trajectory] = ()
    ) -> Candidates:
        """Return plans of one action, or all of them (see `CachedEnvironment.grounds_alone`)."""
        self._make_room()
        graphs = [world.ground(start, each.actions[0]) for each in plans]
        labels = None
        if self.terms.plan_scores:
            labels = self._layouts.share(spell_plan(1, {}, self.nodes))
        scene = world.scene(start) if world.has_things else None
        table = self._layouts.lay_out_many(graphs or world.ground_all(start), scene)
        return Candidates.of_table(table, labels)

    def _plan_labels(self, world: CachedEnvironment, trajectory: Trajectory) -> NodeContent | None:
        """Return the labels of a whole plan, or None if plans are not scored."""
        if not self.terms.plan_scores:
            return None
        labels = world.label_plan(trajectory.start, trajectory.actions, trajectory.states)
        return self._layouts.share(spell_plan(len(trajectory), labels, self.nodes))

    def learn_values(self, graphs: Iterable[LaidOutGraph]) -> None:
        """Add the values of training graphs to the known values."""
        self._latest_values = _NO_VALUES
        for kind, value in _values_in(graphs):
            if kind in self.values:
                self.values[kind].add(value)

    # ---- texts --------------------------------------------------------------------------

    def label(
        self,
        instructions: Sequence[Instruction],
        graphs: Collection[LaidOutGraph] = (),
        *,
        separate: bool = False,
    ) -> LabelledText:
        """Return a text with its skeleton and word labels, given the graphs of its candidates.

        With `separate`, every unit has its own skeleton, which is aligned with single actions.
        """
        names = self._names_of(graphs) if self.reader.spans and not separate else None
        values = self._values_with(graphs)
        labelled = [self.reader.label(each, values, names) for each in instructions]
        if self._layouts.has_ranks:
            pairs = zip(instructions, labelled, strict=True)
            labelled = [restrict_ranks(each, words) for each, words in pairs]
        if separate:
            skeleton = separate_skeleton(instructions, self.overlay, self.split)
        else:
            dropped = self._dropped(labelled)
            skeleton = joined_skeleton(instructions, self.overlay, self.split, dropped)
        places = zip(skeleton.sentence, skeleton.position, strict=True)
        words = tuple(labelled[sentence][position] for sentence, position in places)
        return LabelledText(tuple(instructions), skeleton, words)

    def _dropped(self, labelled: Sequence[Sequence[LabelledWord]]) -> frozenset[tuple[int, int]]:
        """Return the (sentence, position) pairs of words without labels; none if all have none."""
        if not self.reader.drops_new:
            return frozenset()
        places = ((s, p) for s, words in enumerate(labelled) for p in range(len(words)))
        found = frozenset((s, p) for s, p in places if not labelled[s][p])
        return found if len(found) < sum(map(len, labelled)) else frozenset()

    def by_new_values(
        self, graphs: Sequence[LaidOutGraph]
    ) -> dict[tuple[tuple[str, str], ...], list[LaidOutGraph]]:
        """Group graphs by the values in them that did not occur in training."""
        values = self.values if self.reader.lexicon.string_match else {}
        sorts: dict[tuple[tuple[str, str], ...], list[LaidOutGraph]] = {}
        for graph in graphs:
            new = tuple(p for p in graph.values if p[0] in values and p[1] not in values[p[0]])
            sorts.setdefault(new, []).append(graph)
        return sorts

    def _names_of(self, graphs: Collection[LaidOutGraph]) -> SpanIndex | None:
        """Return an index of the names in candidate graphs; None without graphs."""
        if not len(graphs):
            return None
        key = tuple(sorted([pair for pair in _values_in(graphs) if pair[0] in self.values]))
        found = self._names.get(key)
        if found is None:
            values: dict[str, list[str]] = {}
            for kind, value in key:
                values.setdefault(kind, []).append(value)
            found = SpanIndex(values, self.reader.language)
            self._names.put(key, found, 1000 + 500 * len(key))
        return found

    def names_in(self, words: Sequence[str], graphs: Collection[LaidOutGraph]) -> list[Span]:
        """Return the spans of words that are complete names in any of the graphs."""
        names = self._names_of(graphs)
        folded = [self.reader.language.fold(word) for word in words]
        found = [] if names is None else names.find(folded, self.reader.counts)
        return [span for span in found if span.way != PART and span.kind != LABEL]

    def explain_names(
        self, words: Sequence[str], graph: LaidOutGraph, places: Collection[int]
    ) -> list[str]:
        """Explain which of the words at `places` name a value or stand for another word."""
        reader, names = self.reader, self._names_of([graph]) or SpanIndex({})
        folded = [reader.language.fold(word) for word in words]
        read = [word if word in names else reader.read_as(word, names) for word in folded]
        said = [
            f"“{words[place]}” is read as “{other}”"
            for place, other in enumerate(read)
            if folded[place] != other and place in places
        ]
        for span in names.find(read, reader.counts):
            if span.kind == LABEL or not set(span.places) <= set(places):
                continue
            text = " ".join(words[place] for place in span.places)
            part = " in part" if span.way == PART else " with a typo" if span.way == EDIT else ""
            said.append(f"“{text}” names {span.kind}={span.value}{part}")
        return said

    def _values_with(self, graphs: Collection[LaidOutGraph]) -> Mapping[str, Collection[str]]:
        """Return the values known from training, and the values in some graphs.

        The latest result is cached, because consecutive texts often have the same graphs.
        """
        same, known, found = self._latest_values
        if same is graphs and known is self.values:
            return found
        new: dict[str, set[str]] = {}
        for kind, value in _values_in(graphs):
            if kind in self.values and value not in self.values[kind]:
                new.setdefault(kind, set()).add(value)
        found = LayeredValues(self.values, new) if new else self.values
        self._latest_values = graphs, self.values, found
        return found

    # ---- both ---------------------------------------------------------------------------

    def encode(
        self,
        instances: Sequence[Instance],
        space: FeatureSpace,
        *,
        grow: bool = False,
        min_word_count: int = 1,
        threads: int = 1,
    ) -> Scorer:
        """Encode instances according to the settings; `grow` also adds features to the space."""
        if not grow and (self._joined is None or not self._joined.fits(space)):
            self._joined = None if space.own else JoinedLabels(space)
        terms, edges = self.terms, self.overlay.edge_scores and self.overlay.skeleton != "bag"
        scored = Scored(edges, self.overlay.action_scores, terms.advance_scores, terms.plan_words)
        encoding = encode(
            instances,
            space,
            scored=scored,
            grow=grow,
            min_word_count=min_word_count,
            joined=self._joined,
            latest=self._latest,
        )
        return Scorer(encoding, skip=terms.skip, threads=threads)


def _values_in(graphs: Iterable[LaidOutGraph]) -> Iterable[tuple[str, str]]:
    if isinstance(graphs, LaidOutTable):
        return graphs.values
    return dict.fromkeys(chain.from_iterable(graph.values for graph in graphs))
