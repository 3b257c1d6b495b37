"""Presets and the task of single sentences."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from groundling.errors import SettingError
from groundling.tasks.benchmark import Fold, follow_cases
from groundling.tasks.mazes import generate_mazes, generate_routes, load_sail
from groundling.tasks.mazes.maze_presets import PRESETS, prepare_sentences
from groundling.tasks.mazes.task import MazeTask
from tools.corpus_files import write_mazes

TASK = MazeTask()
pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Path(tmp_path_factory.mktemp("corpus"))
    write_mazes(made, generate_routes(generate_mazes(4, 2, size=4, halls=5), 30, seed=2))
    return made


@pytest.fixture(scope="module")
def sail(folder):
    return load_sail(folder)


def chained(name, variant="full"):
    """Return settings without the parser, which takes long to load."""
    return replace(PRESETS.select(name, variant), parser="chain")


@pytest.fixture(scope="module")
def outcomes(sail):
    chosen = {"full": chained("best")}
    return [TASK.evaluate(sail, chosen, Fold(name, (name,)))["full"] for name in sail.mazes]


# ---- presets ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["paper", "best"])
def test_presets_rows_differ_from_the_full_one(name):
    rows = {row: PRESETS.select(name, row) for row in PRESETS.variants_of(name)}
    assert rows["full"] is PRESETS.select(name)
    others = [each for row, each in rows.items() if row != "full"]
    assert all(each != rows["full"] for each in others)


def test_presets_reflex_agent_does_not_plan():
    assert not PRESETS.select("paper", "no planning").search.planning


def test_presets_no_lexicon_row_has_no_hand_made_words():
    assert PRESETS.select("best", "no lexicon").features.lexicon == "learn"
    assert PRESETS.select("best", "string match only").features.first_lexicon().given == {}


def test_presets_hand_lexicon_is_short_enough_to_read():
    assert 20 < len(PRESETS.select("best").features.lexicon.given) <= 80


def test_presets_unknown_name_is_an_error():
    with pytest.raises(SettingError, match="Did you mean 'paper'"):
        PRESETS.select("papre")


# ---- protocol ---------------------------------------------------------------------------


def test_prepare_sentences_published_start_knows_every_orientation(sail):
    chosen = chained("paper")
    prepared = prepare_sentences(chosen, sail)
    assert all(d.start.orientation is not None for each in prepared.values() for d in each)


def test_prepare_sentences_best_leaves_the_start_unknown(sail):
    prepared = prepare_sentences(chained("best"), sail)
    starts = [d.start for each in prepared.values() for d in each]
    assert any(start.orientation is None for start in starts)


def test_prepare_sentences_groups_sentences_of_a_paragraph(sail):
    prepared = prepare_sentences(chained("best"), sail)
    shown = next(iter(prepared.values()))
    assert all(each.name.startswith(each.group + "-") for each in shown)


def test_task_is_trained_on_the_other_maps_only(sail, monkeypatch):
    chosen = chained("best")
    cases = TASK.prepare(sail, chosen)
    seen = []

    def watch(self, shown, **options):
        seen.extend(shown)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(chosen), "fit", watch)
    left_out = TASK.parts(sail)[0]
    with pytest.raises(KeyboardInterrupt):
        TASK.fit(chosen, cases, Fold(left_out, (left_out,)))
    assert seen
    apart = {id(each.demonstration) for each in cases if each.part == left_out}
    assert not {id(each) for each in seen} & apart


def test_task_counts_an_answer_right_by_position_and_orientation(sail):
    cases = TASK.prepare(sail, chained("best"))
    name = TASK.parts(sail)[0]
    follower, _ = TASK.fit(chained("best"), cases, Fold(name, (name,)))
    test = [each for each in cases if each.part == name]
    rights = []
    for case, plan in zip(test, follow_cases(follower, test), strict=True):
        state = case.demonstration.start
        for action in case.demonstration.actions:
            state = case.demonstration.environment.step(state, action)
        rights.append((plan.end.position, plan.end.orientation) == state[:2])
        assert TASK.judge(case, plan) == {"right": float(rights[-1])}
    assert sum(rights) / len(rights) > 0.4


def test_task_learns_from_plans_of_paper_no_longer_than_it_finds(sail):
    paper = chained("paper")
    short = replace(paper, search=replace(paper.search, max_length=1))
    cases = TASK.prepare(sail, short)
    assert any(len(each.demonstration.actions) > 1 for each in cases)
    assert all(each.learnable == (len(each.demonstration.actions) <= 1) for each in cases)
    assert all(c.learnable for c in TASK.prepare(sail, replace(short, train_within_limit=False)))


def test_task_rows_have_macro_and_micro(outcomes):
    row = TASK.make_row("paper", "no planning", outcomes)
    rights = [score["right"] for each in outcomes for _, score in each["scores"]]
    maps = [row.metrics[each] for each in ("Maze1", "Maze2")]
    assert row.metrics["macro"] == pytest.approx(sum(maps) / len(maps))
    assert row.metrics["micro"] == sum(rights) / len(rights)
    assert row.interval[0] <= row.metrics["macro"] <= row.interval[1]
    assert row.published == {"macro": 0.589}
    assert row.seconds["train"] > 0


def test_task_reads_sentence_by_sentence(sail):
    scene = TASK.scene(sail, chained("best"), None, None)
    assert [len(text) for text in scene.read(["turn left. walk on", "stop"])] == [1, 1, 1]


# ---- the real corpus --------------------------------------------------------------------


@pytest.mark.corpora
@pytest.mark.skipif("GROUNDLING_CORPORA" not in os.environ, reason="GROUNDLING_CORPORA is not set")
def test_paper_preset_on_the_map_grid():
    real = load_sail(Path(os.environ["GROUNDLING_CORPORA"]) / "sail")
    chosen = {"full": PRESETS.select("paper")}
    done = TASK.evaluate(real, chosen, Fold("Grid", ("Grid",)))["full"]
    assert TASK.make_row("paper", "full", [done]).metrics["Grid"] > 0.55
