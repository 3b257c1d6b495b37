"""A map as an environment whose actions go from landmark to landmark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from groundling.errors import SettingError, check_known
from groundling.tasks.maps.geometry import Geometry, Sight
from groundling.tasks.maps.landscape import SIDES, Landscape, MapStep, visited_landmarks
from groundling.world import GroundingGraph
from groundling.world.graph import Labels

_SHAPES = ("paper", "rich")


class MapState(NamedTuple):
    """State of the agent: its landmark, the landmark's side, and the path so far.

    `visited` are the landmarks visited, including the current one, and `previous` is the landmark
    before the current one. Both are empty if the environment does not need a history, so that
    equal places are equal states.
    """

    landmark: str
    side: str = ""
    visited: frozenset[str] = frozenset()
    previous: str | None = None


class Go(NamedTuple):
    """Action of going to a landmark and, in the shape `paper`, to one of its sides.

    >>> print(Go("old mill", "North"))
    go to the north of old mill
    """

    landmark: str
    side: str = ""

    def __str__(self) -> str:
        return f"go to {f'the {self.side.lower()} of ' if self.side else ''}{self.landmark}"


class MapEnvironment:
    """Environment of a map, in which the agent can go from any landmark to any other.

    Parameters
    ----------
    landscape
        The landmarks.
    shape
        Which actions and graphs the environment has. With `"paper"`, as in the authors' program,
        actions go to any side of any landmark, including the current one. The graph has the
        `name` of both places, the `side` of the destination, and `same-landmark` or
        `other-landmark`. It also has the distance between the points on these sides
        (`Landscape.point`), in bins of 50 pixels (`dist=0`, …), or `dist=zero` if the agent stays.
        With `"rich"`, actions go to landmarks. The graph has the names and positions (in units of
        100 pixels) of both landmarks, and labels for the geometry of the move and the history of
        the path (see `Geometry.labels`). It also has the unique key of each landmark as the label
        `landmark`. For some kinds of moves, the target has a second such label, for example
        `near.landmark` for a short move.
    revisits
        Whether the agent may return to a landmark. Defaults to True for `"paper"` and False for
        `"rich"`. Moving to another side of the current landmark is not a revisit.
    bin
        The width of a distance bin, in pixels.

    Examples
    --------
    >>> from groundling.tasks.maps import Landmark
    >>> landscape = Landscape((Landmark("start", 50, 50), Landmark("old mill", 50, 250)))
    >>> environment = MapEnvironment(landscape)
    >>> state, action = environment.start, Go("old mill", "North")
    >>> print(environment.ground(state, action, environment.step(state, action)))
    event*: dist=3, go, other-landmark
    from: from, name=start
    to: name=old mill, side=North, to
    event -> from: from
    event -> to: to
    >>> rich = MapEnvironment(landscape, shape="rich")
    >>> rich.actions(rich.start)
    (Go(landmark='old mill', side=''),)
    >>> rich.describe(rich.step(rich.start, Go("old mill")))
    'at old mill, 2 of 2 landmarks visited'
    """

    def __init__(
        self,
        landscape: Landscape,
        shape: Literal["paper", "rich"] = "paper",
        revisits: bool | None = None,
        bin: float = 50.0,  # noqa: A002 - the word that everybody uses
    ) -> None:
        check_known(shape, _SHAPES, "There is no shape")
        if not bin > 0:
            raise SettingError(f"`bin` must be > 0; got {bin}.")
        self.landscape = landscape
        self.shape = shape
        self.revisits = shape == "paper" if revisits is None else revisits
        self.bin = bin
        self._remembers = shape == "rich" or not self.revisits
        self.geometry = Geometry(landscape)
        sides = SIDES if shape == "paper" else ("",)
        self._graphs: dict[Sight, GroundingGraph] = {}
        self._everywhere = tuple(Go(key, side) for key in landscape.keys for side in sides)

    @property
    def start(self) -> MapState:
        """Initial state: at the start, without a side."""
        start = self.landscape.start
        return MapState(start, visited=frozenset((start,)) if self._remembers else frozenset())

    def actions(self, state: MapState) -> tuple[Go, ...]:
        """Return the possible actions in a state."""
        possible = set(self.landscape.keys).difference(() if self.revisits else state.visited)
        if self.shape == "paper":  # another side of the current landmark
            possible.add(state.landmark)
        else:
            possible.discard(state.landmark)
        return tuple(go for go in self._everywhere if go.landmark in possible)

    def step(self, state: MapState, action: Go) -> MapState:
        """Return the state after an action."""
        self.landscape.place(action.landmark)  # raises an error for an unknown landmark
        visited = state.visited | {action.landmark} if self._remembers else frozenset[str]()
        previous = state.landmark if self.shape == "rich" else None
        return MapState(action.landmark, action.side, visited, previous)

    def ground(self, state: MapState, action: Go, next_state: MapState) -> GroundingGraph:
        """Return the grounding graph of going from one place to another."""
        if self.shape == "rich":
            sight = self.geometry.sight(
                state.landmark, next_state.landmark, state.visited, state.previous
            )
            if sight not in self._graphs:
                self._graphs[sight] = self._rich(sight)
            return self._graphs[sight]
        here, there = self.landscape[state.landmark], self.landscape[next_state.landmark]
        distance = math.dist(
            self.landscape.point(state.landmark, state.side),
            self.landscape.point(next_state.landmark, next_state.side),
        )
        event: dict[str, bool | float] = {
            "go": True,
            f"dist={int(distance // self.bin) if distance else 'zero'}": True,
            f"{'same' if here.key == there.key else 'other'}-landmark": True,
        }
        target: dict[str, bool | str | float] = {"to": True, "name": there.name}
        if next_state.side:
            target[f"side={next_state.side}"] = True
        return self._graph(event, {"from": True, "name": here.name}, target)

    def _rich(self, sight: Sight) -> GroundingGraph:
        here, there = self.landscape[sight.here], self.landscape[sight.there]
        labels = self.geometry.labels_of(sight)
        places: list[dict[str, bool | str | float]] = [
            {"name": each.name, "landmark": each.key, "x": each.x / 100.0, "y": each.y / 100.0}
            for each in (here, there)
        ]
        # Repeat the landmark for moves with a property, so that mentions can have a different
        # weight for them.
        for name in ("nearest", "far", "near", "back", "namesake-nearer"):
            if name in labels:
                places[1][f"{name}.landmark"] = there.key
        if sight.between:
            places[1]["behind.landmark"] = there.key
        places[0]["from"] = places[1]["to"] = True
        event: dict[str, bool | float] = {"go": True}
        event.update(labels)
        return self._graph(event, *places)

    @staticmethod
    def _graph(event: Labels, origin: Labels, target: Labels) -> GroundingGraph:
        return GroundingGraph(
            nodes={"event": event, "from": origin, "to": target},
            edges=[("event", "from", "from"), ("event", "to", "to")],
            roles=("event", "from", "to"),
        )

    @property
    def follower_settings(self) -> Mapping[str, Any]:
        """Recommended follower settings for dialogues about maps, with the shape `rich`."""
        from groundling.tasks.maps.map_presets import DECLARED

        return DECLARED if self.shape == "rich" else {}

    def outcome(self, state: MapState) -> str:
        """Return the landmark of a state, without the side."""
        return state.landmark

    def plan(self, steps: Iterable[MapStep]) -> tuple[Go, ...]:
        """Return the actions that follow a reference path.

        With the shape `paper`, every (landmark, side) pair of the path is an action, including the
        sides of the start. With the shape `rich`, every landmark after the start is an action.
        Without `revisits`, later visits to a landmark are left out.

        >>> from groundling.tasks.maps import Landmark
        >>> landscape = Landscape((Landmark("start", 50, 50), Landmark("old mill", 50, 250)))
        >>> path = [MapStep("start", "South"), MapStep("old mill", "East")]
        >>> MapEnvironment(landscape).plan(path)[-1]
        Go(landmark='old mill', side='East')
        >>> MapEnvironment(landscape, shape="rich").plan(path)
        (Go(landmark='old mill', side=''),)
        """
        kept: list[MapStep] = []
        visited = {self.landscape.start}
        here = self.landscape.start
        for step in steps:
            self.landscape.place(step.landmark)  # raises an error for an unknown landmark
            if not self.revisits and step.landmark != here and step.landmark in visited:
                continue
            here = step.landmark
            visited.add(here)
            if kept[-1:] != [step]:
                kept.append(step)
        if self.shape == "paper":
            return tuple(Go(*step) for step in kept)
        visits = visited_landmarks(kept)
        return tuple(Go(key) for key in visits[visits[:1] == (self.landscape.start,) :])

    def describe(self, state: MapState) -> str:
        """Return a one-line description of a state."""
        side = f" ({state.side.lower()} side)" if state.side else ""
        seen = f", {len(state.visited)} of {len(self.landscape)} landmarks visited"
        return f"at {state.landmark}{side}{seen if state.visited else ''}"

    def draw(self, state: MapState, way: Sequence[MapState] = ()) -> str:
        """Return an SVG drawing of the landmarks and of the path between them."""
        from groundling.tasks.maps.map_drawing import draw_map

        return draw_map(self.landscape, way or [state], possible=self.actions(state))

    def __repr__(self) -> str:
        return f"MapEnvironment({self.landscape.name or 'landscape'!r}, shape={self.shape!r})"
