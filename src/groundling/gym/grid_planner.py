"""Planner for MiniGrid that turns macro-actions into moves."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from groundling.errors import GroundlingError
from groundling.gym.grid import CLOSED, GONE, INSIDE, LOCKED, OPEN, GridState, step

# Estimated number of moves to clear an obstacle.
_THROUGH = {"closed": 1, "thing": 12, "locked": 40}
_LIMIT = 2_000  # maximum number of moves per macro-action
_DEPTH = 12  # maximum nesting of obstacles behind obstacles
_OTHER = "Choose another action, or reset the environment."


class PlanningError(GroundlingError, RuntimeError):
    """Error for a macro-action for which the planner finds no moves."""


def moves_for(state: GridState, verb: str, *things: Collection[int]) -> tuple[str, ...]:
    """Return the simulator's moves that carry out a macro-action.

    Verbs are `go to`, `pick up`, `open` and `put`. Each argument is a set of acceptable things,
    given by their numbers; the nearest one is used.

    >>> from groundling.gym.grid import parse_grid
    >>> moves_for(parse_grid("######", "#> D #", "######"), "open", {0})
    ('forward', 'toggle')
    >>> moves_for(parse_grid("#####", "#>bk#", "#   #", "#####"), "pick up", {1})
    ('right', 'forward', 'left', 'forward', 'forward', 'left', 'pickup')
    """
    planner = GridPlanner(state)
    planner.carry_out(verb, *things)
    return tuple(planner.moves)


class GridPlanner:
    """Planner that turns macro-actions into moves by simulating them.

    `moves` are the moves planned so far, and `state` is the state after them.

    The planner clears obstacles. It opens doors, and fetches the key of a locked door, even from a
    box. It puts things that are in the way on cells where they block no path, and then picks up
    what it carried before.
    """

    def __init__(self, state: GridState) -> None:
        self.state = state
        self.moves: list[str] = []

    # ---- macro-actions ------------------------------------------------------------------

    def carry_out(self, verb: str, *things: Collection[int]) -> None:
        """Add the moves that carry out a macro-action to `moves`."""
        if verb == "go to":
            self.go_to(things[0])
        elif verb == "pick up":
            self.pick_up(things[0])
        elif verb == "open":
            self.open(things[0])
        elif verb == "put":
            self.put_next_to(*things)
        else:
            raise PlanningError(
                f"`verb` must be 'go to', 'pick up', 'open' or 'put'; got {verb!r}."
            )

    def go_to(self, things: Collection[int]) -> None:
        """Go to the nearest of several things and face it."""
        if self.state.carrying in things:
            self._face(self._droppable())
            self._do("drop")
        else:
            self._face(self._cells(things), things=things)
            # a move on the spot, because the simulator checks the mission only after a move
            if not self.moves:
                self._do("done")

    def pick_up(self, things: Collection[int]) -> None:
        """Pick up the nearest of several things, after emptying the hand."""
        if self.state.carrying in things:
            self._face(self._droppable())
            self._do("drop")
        self._fetch(things)

    def open(self, things: Collection[int]) -> None:
        """Open the nearest of several doors; if it is open already, close it first."""
        self._face(self._cells(things), things=things)
        door = self.state.at(self.state.front)
        if self.state.doors[door] == LOCKED:
            self._unlock(door, depth=0)
        else:
            if self.state.doors[door] == OPEN:
                self._do("toggle")
            self._do("toggle")

    def put_next_to(self, moved: Collection[int], fixed: Collection[int]) -> None:
        """Put one of the things `moved` on a cell next to one of the things `fixed`."""
        if self.state.carrying not in moved:
            self._fetch(moved)
        for _ in range(_DEPTH):  # the fixed thing may itself have to be moved
            beside = self._beside(set(fixed) - {self.state.carrying})
            free = {cell for cell in beside if self.state.is_free(cell) or cell == self.state.agent}
            try:
                self._face(free)
            except PlanningError:
                self._make_room(beside)
            if self.state.front in self._beside(fixed) and self.state.is_free(self.state.front):
                break
        self._do("drop")

    def look_at(self, cells: Collection[int]) -> None:
        """Face the nearest of several cells."""
        self._face(cells)

    # ---- steps of macro-actions ---------------------------------------------------------

    def _do(self, move: str) -> None:
        self.state = step(self.state, move)
        self.moves.append(move)
        if len(self.moves) > _LIMIT:
            raise PlanningError(
                f"A macro-action must consist of at most {_LIMIT} moves; got more. {_OTHER}"
            )

    def _cells(self, things: Iterable[int]) -> set[int]:
        return {self.state.places[each] for each in things if self.state.places[each] >= 0}

    def _beside(self, things: Iterable[int]) -> set[int]:
        walls = self.state.layout.walls
        return {
            cell + way
            for cell in self._cells(things)
            for way in self.state.layout.steps
            if 0 <= cell + way < len(walls) and not walls[cell + way]
        }

    def _droppable(self, avoid: Collection[int] = ()) -> set[int]:
        """Return the cells on which the carried thing would block no path."""
        reached, cuts = self._reach()
        free = {each for each in reached if self.state.is_free(each)}
        return free - cuts - set(avoid) or free

    def _reach(self) -> tuple[set[int], set[int]]:
        """Return the cells that can be reached, and those without which others cannot.

        Paths lead through free cells and closed doors. The second set consists of the articulation
        points of the first (Hopcroft and Tarjan, 1973).
        """
        state, steps = self.state, self.state.layout.steps
        walls, shut = state.layout.walls, self._obstacles()
        start = state.agent
        number = {start: 0}  # depth-first order
        back = {start: 0}  # the earliest cell reachable from its subtree
        cuts: set[int] = set()
        walk = [(start, iter(steps))]
        while walk:
            cell, ways = walk[-1]
            for way in ways:
                other = cell + way
                if other in number:
                    back[cell] = min(back[cell], number[other])
                elif not walls[other] and other not in shut:
                    number[other] = back[other] = len(number)
                    walk.append((other, iter(steps)))
                    break
            else:
                walk.pop()
                if walk:
                    before = walk[-1][0]
                    back[before] = min(back[before], back[cell])
                    if back[cell] >= number[before]:
                        cuts.add(before)
        return set(number), cuts

    def _obstacles(self) -> set[int]:
        """Return the cells that are blocked by locked doors or other things."""
        state = self.state
        return {
            place
            for place, thing, door in zip(
                state.places, state.layout.things, state.doors, strict=True
            )
            if (door == LOCKED if thing.kind == "door" else not state.can_enter(place))
            and place >= 0
        }

    def _put_down(self, avoid: Collection[int] = ()) -> int:
        """Put the carried thing where it blocks no path; return its number."""
        carried = self.state.carrying
        self._face(self._droppable(avoid), clear=False)
        self._do("drop")
        return carried

    def _fetch(self, things: Collection[int], depth: int = 0, closed: Collection[int] = ()) -> None:
        """Pick up the nearest of several things, taking a key out of its box first."""
        if self.state.carrying in things:
            return
        if not self._cells(things):
            boxes = [
                box
                for box, thing in enumerate(self.state.layout.things)
                if thing.contains in things and self.state.places[thing.contains] == INSIDE
            ]
            if not boxes:
                raise PlanningError(f"There is no {self._names(things)} left to pick up. {_OTHER}")
            self._face(self._cells(boxes), depth=depth, closed=closed, things=boxes)
            self._do("toggle")
        if self.state.carrying >= 0:
            way = self._way(self._cells(things), closed)
            self._put_down({cell for cell, _ in way or ()} | self._cells(things))
        self._face(self._cells(things), depth=depth, closed=closed, things=things)
        if self.state.carrying >= 0:  # a thing was picked up on the way
            held = self._put_down()
            if held not in things:
                self._face(self._cells(things), depth=depth, closed=closed, things=things)
        self._do("pickup")

    def _names(self, things: Iterable[int]) -> str:
        shown = {str(self.state.layout.things[each]) for each in things}
        return " or ".join(sorted(shown)) or "thing"

    def _unlock(self, door: int, depth: int, closed: Collection[int] = ()) -> None:
        """Fetch the key of a locked door and open the door."""
        colour = self.state.layout.things[door].colour
        keys = [
            number
            for number, thing in enumerate(self.state.layout.things)
            if (thing.kind, thing.colour) == ("key", colour) and self.state.places[number] != GONE
        ]
        if not keys:
            raise PlanningError(
                f"A locked {colour} door is in the way, and there is no {colour} key to open it. "
                f"{_OTHER}"
            )
        beyond = {*closed, door}
        self._fetch(keys, depth + 1, beyond)
        self._face(self._cells([door]), depth=depth + 1, closed=beyond)
        self._do("toggle")

    def _make_room(self, cells: Collection[int]) -> None:
        """Clear the nearest of several cells, and face it with the same thing in hand."""
        carried = self._put_down(cells)
        taken = [each for each in map(self.state.at, cells) if each >= 0]
        portable = [each for each in taken if self.state.layout.things[each].kind != "door"]
        if not portable:
            raise PlanningError(
                "The carried thing must be put down first, but there is no free cell for it. "
                f"{_OTHER}"
            )
        self._face(self._cells(portable), things=portable)
        cleared = self.state.front
        self._do("pickup")
        self._put_down(cells)
        self._fetch({carried})
        self._face({cleared})

    # ---- going --------------------------------------------------------------------------

    def _face(
        self,
        targets: Collection[int],
        *,
        depth: int = 0,
        closed: Collection[int] = (),
        clear: bool = True,
        things: Collection[int] = (),
    ) -> None:
        """Walk until the agent faces one of the target cells, clearing obstacles."""
        if depth > _DEPTH:
            raise PlanningError(
                f"Too many obstacles block each other, so the path cannot be cleared. {_OTHER}"
            )
        wanted = self.state.carrying
        for _ in range(4 * _DEPTH):
            if self.state.front in targets:
                return
            way = self._way(targets, closed, clear=clear)
            if way is None:
                what = f"the {self._names(things)}" if things else "the place"
                raise PlanningError(f"There is no path to {what}. {_OTHER}")
            obstacle = self._walk(way)
            if obstacle < 0:
                return
            if not clear:
                raise PlanningError(f"An obstacle that cannot be moved blocks the path. {_OTHER}")
            ahead = {cell for cell, _ in way} | set(targets)
            if self.state.layout.things[obstacle].kind == "door":
                self._unlock(obstacle, depth, closed)
                self._exchange(wanted, ahead, depth, closed)
            else:
                self._move_away(obstacle, ahead)
                self._exchange(wanted, ahead, depth, closed)
            targets = self._cells(things) or targets
        raise PlanningError(f"The obstacles on the path to the target cannot be cleared. {_OTHER}")

    def _exchange(
        self, wanted: int, avoid: Collection[int], depth: int, closed: Collection[int]
    ) -> None:
        """Put down the carried thing, and pick up the thing `wanted` again."""
        if self.state.carrying == wanted:
            return
        if self.state.carrying >= 0:
            self._put_down(avoid)
        if wanted >= 0:
            self._fetch({wanted}, depth + 1, closed)

    def _move_away(self, thing: int, avoid: Collection[int]) -> None:
        if self.state.carrying >= 0:
            self._put_down(avoid)
            self._face(self._cells([thing]), clear=False)
        self._do("pickup")
        self._put_down(avoid)

    def _walk(self, way: Sequence[tuple[int, int]]) -> int:
        """Walk along a path; return the number of a thing in the way, or -1 at the end."""
        for (cell, direction), (after, turned) in pairwise(way):
            if after == cell:
                self._do("right" if (direction + 1) % 4 == turned else "left")
                continue
            thing = self.state.at(after)
            if not self.state.can_enter(after):
                if self.state.layout.things[thing].kind != "door":
                    return thing
                if self.state.doors[thing] == LOCKED and not self._has_key(thing):
                    return thing
                self._do("toggle")
            self._do("forward")
        return -1

    def _has_key(self, door: int) -> bool:
        held, things = self.state.carrying, self.state.layout.things
        return held >= 0 and things[held][:2] == ("key", things[door].colour)

    def _way(
        self, targets: Collection[int], closed: Collection[int] = (), *, clear: bool = True
    ) -> list[tuple[int, int]] | None:
        """Return the cheapest path to face a target, as pairs of cell and direction."""
        state = self.state
        steps = state.layout.steps
        price: dict[int, int] = {}
        start = (state.agent, state.direction)
        best: dict[tuple[int, int], int] = {start: 0}
        before: dict[tuple[int, int], tuple[int, int]] = {}
        waiting = [(0, *start)]
        while waiting:
            cost, cell, direction = heapq.heappop(waiting)
            here = (cell, direction)
            if cost > best[here]:
                continue
            front = cell + steps[direction]
            if front in targets:
                way = [here]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if front not in price:
                price[front] = self._price(front, closed, clear)
            options = [(cell, (direction + 1) % 4, cost + 1), (cell, (direction + 3) % 4, cost + 1)]
            if price[front]:
                options.append((front, direction, cost + price[front]))
            for after, turned, total in options:
                if total < best.get((after, turned), 1 << 30):
                    best[after, turned] = total
                    before[after, turned] = here
                    heapq.heappush(waiting, (total, after, turned))
        return None

    def _price(self, cell: int, closed: Collection[int], clear: bool) -> int:
        """Return the cost of entering a cell, or 0 if entering is impossible."""
        state = self.state
        if state.layout.walls[cell]:
            return 0
        number = state.at(cell)
        if number < 0:
            return 1
        kind = state.layout.things[number].kind
        if kind == "lava" or number in closed:
            return 0
        if state.can_enter(cell):
            return 1
        if kind == "door":
            if state.doors[number] == CLOSED or self._has_key(number):
                return 1 + _THROUGH["closed"]
            return 1 + _THROUGH["locked"] if clear else 0
        return 1 + _THROUGH["thing"] if clear else 0
