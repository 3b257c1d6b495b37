"""The environment: plan spaces, dead ends, graphs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import SettingError, WorldError
from groundling.language.instruction import Instruction
from groundling.tasks.puzzles.board import Board, Strike, collapse, each_strike, strike
from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState, offered_sizes
from groundling.world import CachedEnvironment, Demonstration, Environment
from tools.corpus_files import expand


def state_of(*rows, k=2, last=None):
    return PuzzleState(Board.read(rows), k, last)


def labels(graph, node="event"):
    return {str(label) for label in graph.labels(node)}


def ground(environment, state, action):
    return environment.ground(state, action, environment.step(state, action))


def test_environment_follows_the_protocol():
    assert isinstance(PuzzleEnvironment(), Environment)


def test_original_space_strikes_one_line_or_all():
    state = state_of("##...", "..##.", ".#..#", "....#")
    lines = [a.lines for a in PuzzleEnvironment("original").actions(state) if a.is_full]
    assert lines == [(0,), (1,), (2,), (0, 1, 2), (1,), (4,), (1, 4)]


def test_subset_space_strikes_any_lines_together():
    state = state_of("##...", "..##.", ".#..#", "....#")
    rows = [a.lines for a in PuzzleEnvironment().actions(state) if a.orientation == "row"]
    assert rows == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def test_full_strikes_of_one_orientation_do_not_follow_each_other():
    state = state_of("##", "##", last=Strike("row", (7,)))
    assert {a.orientation for a in PuzzleEnvironment().actions(state)} == {"column"}
    assert {a.orientation for a in PuzzleEnvironment("original").actions(state)} == {
        "row",
        "column",
    }


def test_partial_strikes_may_follow_each_other():
    state = state_of("####", "....", last=Strike("row", (1,)))
    assert {a.kind for a in PuzzleEnvironment().actions(state)} == {"partial"}


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 11).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))), st.data())
def test_subset_space_reaches_every_set_of_lines_in_one_way(case, data):
    lines, size = case
    chosen = set(data.draw(st.permutations(range(lines)))[:size])
    environment = PuzzleEnvironment()
    # each row can be struck whole, no column can: two blocks to a row, each in its own column
    board = Board(lines, 2 * lines, sum(3 << (2 * row * lines + 2 * row) for row in range(lines)))

    def ways(state, left):
        if not left:
            return 1
        return sum(
            ways(environment.step(state, action), left - set(action.lines))
            for action in environment.actions(state)
            if set(action.lines) <= left
        )

    assert ways(PuzzleState(board, 2), chosen) == 1


def test_offered_sizes_always_include_one_and_all():
    for lines in range(1, 20):
        assert offered_sizes(lines)[0] == 1
        assert offered_sizes(lines)[-1] == lines


def winning_plan_exists(environment, state, memory):
    if environment.is_goal(state):
        return True
    if state not in memory:
        memory[state] = any(
            winning_plan_exists(environment, environment.step(state, action), memory)
            for action in environment.actions(state)
        )
    return memory[state]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["original", "subsets"]), st.integers(2, 3), st.data())
def test_dead_end_agrees_with_search_through_the_plan_space(space, k, data):
    height, width = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 4))
    cells = data.draw(st.integers(0, 2 ** (height * width) - 1))
    while cells.bit_count() % k or cells.bit_count() > 12:
        cells &= cells - 1
    board = Board(height, width, cells)
    environment = PuzzleEnvironment(space)
    start = PuzzleState(board, k)
    for state in (start, *(environment.step(start, a) for a in environment.actions(start))):
        found = winning_plan_exists(environment, state, {})
        assert environment.is_dead_end(state) == (not found)


def test_winning_only_drops_lost_actions():
    state = state_of(".#.", "###")
    free, kept = PuzzleEnvironment(), PuzzleEnvironment(winning_only=True)
    assert len(free.actions(state)) > len(kept.actions(state)) > 0
    for action in free.actions(state):
        dead = free.is_dead_end(free.step(state, action))
        assert (action in kept.actions(state)) == (not dead)


def test_step_against_the_rules():
    with pytest.raises(WorldError):
        PuzzleEnvironment().step(state_of("###"), Strike("row", (0,)))


def test_goal_and_terminal_are_the_empty_board():
    environment = PuzzleEnvironment()
    done = environment.step(state_of("##"), Strike("row", (0,)))
    assert environment.is_goal(done)
    assert environment.is_terminal(done)
    assert CachedEnvironment(environment).actions(done) == ()
    assert environment.describe(done) == "The board is empty."
    assert environment.describe(state_of("##")) == "2 blocks on 1 × 2, 2 in a strike: ##"


def test_without_a_goal_plans_may_end_anywhere():
    free = CachedEnvironment(PuzzleEnvironment(goal=False))
    assert CachedEnvironment(PuzzleEnvironment()).has_goal
    assert not free.has_goal
    assert free.is_goal(state_of("##"))
    assert free.actions(free.step(state_of("##"), Strike("row", (0,)))) == ()


def test_unknown_settings():
    with pytest.raises(SettingError, match="Did you mean 'subsets'"):
        PuzzleEnvironment("subset")
    with pytest.raises(SettingError, match="shape"):
        PuzzleEnvironment(shape="round")


def test_paper_shape_has_one_node():
    environment = PuzzleEnvironment("original", shape="paper")
    graph = ground(environment, state_of("###", ".#."), Strike("row", (0,), 0, 1))
    assert len(graph) == 1
    assert labels(graph) == {"type=partial", "orientation=row", "isLoss"}


def test_event_labels_outcomes():
    environment = PuzzleEnvironment()
    state = state_of(".#.", "###")
    lost = labels(ground(environment, state, Strike("row", (1,), 0, 1)))
    assert {"loss", "dead_end", "first"} <= lost
    row = environment.step(state, Strike("column", (1,)))
    won = labels(ground(environment, row, Strike("row", (1,))))
    assert "win" in won
    assert not won & {"loss", "dead_end", "first"}


def test_event_labels_of_several_lines():
    state = state_of("##...", "..##.", ".#..#", "#...#")
    environment = PuzzleEnvironment()
    some = ground(environment, state, Strike("row", (0, 1)))
    assert {"count=2", "number=plural", "some", "all.side=top", "type=multi"} <= labels(some)
    ends = ground(environment, state, Strike("row", (0, 3)))
    assert "all.side=ends" in labels(ends)
    every = ground(environment, state, Strike("row", (0, 1, 2, 3)))
    assert {"all", "count=4"} <= labels(every)
    assert [name for name in some.node_names if name.startswith("line")] == ["line 1", "line 2"]
    assert not any(name.startswith("line") for name in every.node_names)


def test_line_labels_count_from_both_ends():
    state = state_of("#....", "##...", ".....", "..##.", ".#...")
    line = labels(ground(PuzzleEnvironment(), state, Strike("row", (3,))), "line 1")
    assert {
        "all.from_top=4",
        "all.from_bottom=2",
        "filled.from_top=3",
        "filled.from_bottom=2",
    } <= line
    assert {"strikable.from_top=2", "strikable.from_bottom=1", "strikable.side=bottom"} <= line
    assert {"blocks=2", "alike.side=bottom"} <= line


@pytest.mark.parametrize(
    ("first", "last", "side"), [(0, 1, "left"), (1, 2, "middle"), (2, 3, "right")]
)
def test_part_labels_name_the_side(first, last, side):
    graph = ground(PuzzleEnvironment(), state_of("####"), Strike("row", (0,), first, last))
    assert {f"side={side}", f"from_left={first + 1}", "of=4", "blocks=2"} <= labels(graph, "part")


def test_part_labels_of_a_column_are_top_and_bottom():
    state = state_of("#", "#", "#")
    graph = ground(PuzzleEnvironment(), state, Strike("column", (0,), 0, 1))
    assert {"side=top", "from_bottom=2"} <= labels(graph, "part")


def test_history_next_row_up():
    state = state_of("####", "....", "####", "####", last=Strike("row", (3,), 0, 1))
    environment = PuzzleEnvironment()
    above = labels(ground(environment, state, Strike("row", (2,), 0, 1)), "before")
    assert {"next", "adjacent", "way=up", "orientation=same", "like", "type=partial"} <= above
    further = labels(ground(environment, state, Strike("row", (0,), 0, 1)), "before")
    assert "way=up" in further
    assert not further & {"next", "adjacent"}
    again = labels(ground(environment, state, Strike("row", (3,), 0, 1)), "before")
    assert "again" in again
    column = labels(ground(environment, state, Strike("column", (0,), 0, 2)), "before")
    assert "orientation=other" in column


def test_history_next_skips_lines_that_cannot_be_struck():
    state = state_of("###", "#..", "###", last=Strike("row", (2,), 0, 1))
    graph = ground(PuzzleEnvironment(), state, Strike("row", (0,), 0, 1))
    assert {"next", "other", "way=up"} <= labels(graph, "before")
    assert "adjacent" not in labels(graph, "before")


def test_history_the_other_one():
    last = Strike("column", (0,), 0, 1)
    state = state_of("#.#", "..#", "..#", last=last)
    graph = ground(PuzzleEnvironment(), state, Strike("column", (2,), 0, 1))
    assert {"other", "way=right", "next"} <= labels(graph, "before")


def test_label_plan_counts_kinds():
    environment = PuzzleEnvironment()
    start = state_of(".#.", "###")
    plan = (Strike("column", (1,)), Strike("row", (1,)))
    trace = CachedEnvironment(environment).trace(start, plan)
    found = environment.label_plan(start, plan, trace.states)
    assert found == {
        "win": True,
        "length": 2,
        "partial": 0,
        "single": 2,
        "multi": 0,
        "turns": 1,
    }


def test_mirror_swaps_rows_and_columns_and_words():
    environment = PuzzleEnvironment()
    plan = (Strike("column", (1,)), Strike("row", (1,)))
    shown = Demonstration(
        ["The far-left column", Instruction.chain("the top-right row")],
        environment,
        state_of(".#.", "###"),
        plan,
        name="one",
    )
    (mirrored,) = environment.mirror(shown)
    assert str(mirrored.instructions[0]) == "The far-top row"
    assert mirrored.instructions[1].tokens == ("the", "bottom-left", "column")
    assert mirrored.weight == 0.5
    assert mirrored.name == "one transposed"
    trace = CachedEnvironment(environment).trace(mirrored.start, mirrored.actions)
    assert environment.is_goal(trace.states[-1])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**12 - 1), st.data())
def test_any_order_of_strikes_collapses_into_the_subset_space(cells, data):
    """Whatever single strikes people make, the collapsed plan is made of offered actions."""
    board, k, strikes = Board(3, 4, cells), 2, []
    while legal := list(each_strike(board, k)):
        strikes.append(data.draw(st.sampled_from(legal)))
        board = strike(board, k, strikes[-1])
    plan = collapse(strikes)
    trace = CachedEnvironment(PuzzleEnvironment()).trace(PuzzleState(Board(3, 4, cells), k), plan)
    assert trace.states[-1].board == board
    assert len(expand(plan)) == len(strikes)


def test_state_strikes_at_least_one_block():
    with pytest.raises(WorldError, match="must be >= 1; got 0"):
        PuzzleState(Board.read(["##"]), 0)
