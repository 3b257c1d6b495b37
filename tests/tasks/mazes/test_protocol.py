"""Presets, the protocol of single sentences, the error report and tables."""

import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from groundling import Demonstration, Instruction
from groundling.errors import SettingError
from groundling.tasks.mazes import (
    MazeState,
    face,
    generate_mazes,
    generate_routes,
    load_sail,
    write_corpus,
)
from groundling.tasks.mazes import errors as errors_module
from groundling.tasks.mazes.errors import ErrorReport, breakdown, sentence_type
from groundling.tasks.mazes.metrics import sentence_row
from groundling.tasks.mazes.presets import PRESETS, hand_lexicon
from groundling.tasks.mazes.protocol import (
    judge,
    leave_out,
    prepare_sentences,
    training_sentences,
)

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Path(tmp_path_factory.mktemp("corpus"))
    write_corpus(made, generate_routes(generate_mazes(4, 2, size=4, halls=5), 30, seed=2))
    return made


@pytest.fixture(scope="module")
def sail(folder):
    return load_sail(folder)


def chained(name, variant="full"):
    """Return settings without the parser, which takes long to load."""
    return replace(PRESETS.select(name, variant), parser="chain")


@pytest.fixture(scope="module")
def trials(sail):
    sentences = prepare_sentences(chained("best"), sail)
    return {name: leave_out(chained("best"), sentences, name) for name in sentences}


@pytest.fixture(scope="module")
def answers(trials):
    return [answer for done in trials.values() for answer in done.answers]


# ---- presets ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["paper", "best"])
def test_presets_rows_differ_from_the_full_one(name):
    rows = {row: PRESETS.select(name, row) for row in PRESETS.variants_of(name)}
    assert rows["full"] is PRESETS.presets[name]
    others = [each for row, each in rows.items() if row != "full"]
    assert all(each != rows["full"] for each in others)


def test_presets_reflex_agent_does_not_plan():
    assert not PRESETS.select("paper", "no planning").search.planning


def test_presets_no_lexicon_row_has_no_hand_made_words():
    assert PRESETS.select("best", "no lexicon").features.lexicon == "learn"
    assert PRESETS.select("best", "string match only").features.first_lexicon().given == {}


def test_presets_hand_lexicon_is_short_enough_to_read():
    assert 20 < len(hand_lexicon().given) <= 80


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


def test_leave_out_is_trained_on_the_other_maps_only(sail, monkeypatch):
    chosen = chained("best")
    sentences = prepare_sentences(chosen, sail)
    seen = []

    class Watcher:
        def fit(self, shown, progress=None, check=True):
            seen.extend(shown)
            raise KeyboardInterrupt

    monkeypatch.setattr(type(chosen), "follower", lambda self, **_: Watcher())
    left_out = next(iter(sentences))
    with pytest.raises(KeyboardInterrupt):
        leave_out(chosen, sentences, left_out)
    assert seen
    assert not {id(each) for each in seen} & {id(each) for each in sentences[left_out]}


def test_leave_out_counts_an_answer_right_by_position_and_orientation(trials):
    for name, done in trials.items():
        for answer in done.answers:
            state = answer.demonstration.start
            for action in answer.demonstration.actions:
                state = answer.demonstration.environment.step(state, action)
            same = (answer.plan.end.position, answer.plan.end.orientation) == state[:2]
            assert answer.right == same
        assert judge(name, done).accuracy > 0.4


def test_training_sentences_of_paper_are_no_longer_than_its_plans(sail):
    paper = chained("paper")
    sentences = prepare_sentences(paper, sail)
    left_out = next(iter(sentences))
    rest = [each for name, found in sentences.items() if name != left_out for each in found]
    short = replace(paper, search=replace(paper.search, max_length=1))
    assert any(len(each.actions) > 1 for each in rest)
    assert training_sentences(short, sentences, left_out) == [
        each for each in rest if len(each.actions) <= 1
    ]
    assert training_sentences(replace(short, train_within_limit=False), sentences, left_out) == rest


def test_sentence_row_reports_macro_and_micro(trials, answers):
    outcomes = [judge(name, done) for name, done in trials.items()]
    row = sentence_row("full", outcomes, PRESETS.select("paper", "no planning").published)
    maps = [row.metrics[each] for each in trials]
    assert row.metrics["macro"] == pytest.approx(sum(maps) / len(maps))
    assert row.metrics["micro"] == sum(answer.right for answer in answers) / len(answers)
    assert row.interval[0] <= row.metrics["macro"] <= row.interval[1]
    assert row.published == {"macro": 0.589}
    assert row.seconds["train"] > 0


# ---- errors -----------------------------------------------------------------------------


def test_sentence_type_reads_the_parse():
    state = Instruction(
        ("this", "is", "it"), (2, 2, -1), ("nsubj", "cop", "root"), ("PRON", "AUX", "PRON")
    )
    go = Instruction(("go",), (-1,), ("root",), ("VERB",))
    assert sentence_type([state]) == "declarative"
    assert sentence_type([state, go]) == "imperative"
    assert sentence_type([Instruction.chain("two steps")]) == "fragment"


def test_breakdown_counts_every_answer_once_in_each_grouping(answers):
    for groups in breakdown(answers).values():
        assert sum(total for _, total in groups.values()) == len(answers)
        assert sum(right for right, _ in groups.values()) == sum(a.right for a in answers)


def test_error_report_shows_the_most_confident_errors_first(answers):
    found = [answer.plan.confidence for answer in ErrorReport("test", answers).errors()]
    assert found
    assert found == sorted(found, reverse=True)


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_error_report_page_is_well_formed_and_self_contained(answers, tmp_path):
    page = ErrorReport("best <b>", answers, most=1).save(tmp_path)
    checker = Checker()
    checker.feed(page.read_text())
    assert checker.open == []
    assert len(checker.links) == 1
    assert all(link.startswith("data:image/png") for link in checker.links)
    assert "best <b>: errors" in checker.text
    answer = ErrorReport("", answers).errors()[0]
    assert ", ".join(map(str, answer.demonstration.actions)) in checker.text
    assert (tmp_path / "errors.md").read_text().startswith("best <b>: ")


def test_error_report_escapes_what_people_wrote(trials):
    done = next(iter(trials.values()))
    chosen = done.follower
    world = done.answers[0].demonstration.environment
    start = MazeState(world.maze.positions[0], None)
    text = Instruction(("<script>", "&"), (-1, 0), ("root", "next"))
    plan = chosen.follow(text, world, start)
    shown = Demonstration((text,), world, start, (face(0),), name="<i>")
    wrong = replace(done.answers[0], demonstration=shown, plan=plan, right=False)
    page = ErrorReport("t", [wrong], pictures=False).html()
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page


def test_error_report_command_writes_the_page(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(PRESETS.presets, "paper", chained("paper"))
    errors_module.main([str(folder), str(tmp_path), "--preset", "paper", "--most", "1",
                        "--no-pictures"])  # fmt: skip
    assert (tmp_path / "errors.html").exists()
    assert "written to" in capsys.readouterr().out


# ---- the real corpus --------------------------------------------------------------------


@pytest.mark.corpora
@pytest.mark.skipif("GROUNDLING_CORPORA" not in os.environ, reason="GROUNDLING_CORPORA is not set")
def test_paper_preset_on_the_map_grid():
    real = load_sail(Path(os.environ["GROUNDLING_CORPORA"]) / "sail")
    chosen = PRESETS.select("paper")
    done = leave_out(chosen, prepare_sentences(chosen, real), "Grid")
    assert judge("Grid", done).accuracy > 0.55
