"""Landmark mentions, their context, and the work that it takes to find them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from rapidfuzz import fuzz

from groundling.tasks.maps import mentions
from groundling.tasks.maps.corpus import DialogueLine, load_corpus
from groundling.tasks.maps.generator import generate_dialogue, generate_map
from groundling.tasks.maps.landscape import Landmark, Landscape
from groundling.tasks.maps.mentions import NameMatcher, TextUnits, read_units

LANDSCAPE = Landscape(
    (
        Landmark("start", 0, 0),
        Landmark("old windmill", 100, 0),
        Landmark("old barn", 200, 0),
        Landmark("gate of dawn", 300, 0),
        Landmark("old barn", 400, 0, copy=2),
        Landmark("inn", 500, 0),
    )
)


def read(*lines: str, **options: Any) -> TextUnits:
    """Lines such as `g: go on`."""
    said = [DialogueLine(*line.split(": ", 1)) for line in lines]
    return read_units(said, LANDSCAPE, **options)


def spoken(units: TextUnits) -> list[str]:
    return [str(unit.instruction) for unit in units if not unit.silent]


@pytest.mark.parametrize(
    ("token", "word", "score"),
    [
        ("windmill", "windmill", 1.0),
        ("Windmill", "windmill", 1.0),
        ("windmill's", "windmill", 0.9),
        ("windmills", "windmill", 0.9),
        ("windmil", "windmill", 0.9),  # similar
        ("windscreen", "windmill", 0),  # only four letters in common
        ("windmobile", "windmill", 0.9),  # same five letters
        ("inns", "inn", 0.9),  # plural of a short word
        ("in", "inn", 0),
        ("barm", "barn", 0),  # 75 percent alike
        ("bairn", "barn", 0.9),  # 89 percent
        ("ofs", "of", 0),
    ],
)
def test_matcher_takes_words_for_name_words(token: str, word: str, score: float) -> None:
    assert NameMatcher(LANDSCAPE).scores(token).get(word, 0) == score


def test_matcher_without_similar_words_keeps_plurals_and_prefixes() -> None:
    strict = NameMatcher(LANDSCAPE, threshold=101)
    assert strict.scores("bairn") == {}
    assert strict.scores("barns") == {"barn": 0.9}


def test_matcher_weighs_words_by_how_few_names_have_them() -> None:
    matcher = NameMatcher(LANDSCAPE)
    old, windmill = matcher.match({"old": 1.0}), matcher.match({"windmill": 1.0})
    # "old" is in two different names, so it makes up a third of each
    assert old[1] == pytest.approx(1 / 3)
    assert windmill[1] == pytest.approx(2 / 3)
    assert old[2] == old[4] == pytest.approx(1 / 3)
    assert matcher.match({"gate": 1.0, "dawn": 1.0})[3] == pytest.approx(1)  # without "of"
    assert matcher.full({"gate": 0.9, "dawn": 1.0}).tolist() == [False] * 3 + [True] + [False] * 2


def test_mention_is_a_longest_run_of_name_words() -> None:
    units = read("g: from the old windmill old barn to the barn")
    assert spoken(units) == ["old windmill old barn", "barn"]
    assert (units[0].utterance, units[0].first, units[0].last) == (0, 2, 6)
    assert units[0].instruction.heads == (-1, 0, 1, 2)


def test_mention_has_link_words_inside_only() -> None:
    assert spoken(read("g: left of gate of dawn of it")) == ["gate of dawn"]
    assert spoken(read("g: of of of the")) == []


def test_units_are_mentions_and_silent_giver_lines_in_order() -> None:
    units = read(
        "g: go up a bit", "f: where to", "g: okay", "f: the barn", "g: the inn", "g: that's it"
    )
    assert [(u.speaker, u.silent, str(u.instruction)) for u in units] == [
        ("g", True, "go up a bit"),
        ("f", False, "barn"),
        ("g", False, "inn"),
        ("g", True, "that's it"),
    ]
    assert [unit.utterance for unit in units] == [0, 3, 4, 5]


def test_units_of_the_giver_alone() -> None:
    units = read("f: the barn", "g: the inn", speakers=("g",))
    assert [(unit.speaker, unit.utterance) for unit in units] == [("g", 1)]


def test_units_of_almost_nothing() -> None:
    units = read("g: okay", "f: what now")
    assert len(units) == 0
    assert units.match.shape == (0, 6)
    assert len(read("g: okay then")) == 1


def test_unit_labels_tell_who_speaks_and_what_came_before() -> None:
    units = read("g: now go Past the barn", "f: not the inn")
    assert {"giver", "motion", "before=go", "before=past", "before=the"} <= set(units[0].labels)
    assert "before=now" in units[0].labels
    assert {"follower", "negation", "before=not"} <= set(units[1].labels)
    assert "silent" not in units[0].labels
    far = read("g: one two three four five barn")
    assert "before=one" not in far[0].labels


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("have you got a barn", "question"),
        ("do you see the barn", "question"),
        ("you don't want the barn", "negation"),
        ("heading for the barn", "motion"),
        ("stop at the barn", "ending"),
    ],
)
def test_unit_labels_have_cues(text: str, label: str) -> None:
    assert label in read(f"g: {text}")[0].labels
    assert label not in read("g: i have the barn")[0].labels


def test_unit_labels_add_up_direction_words_by_family() -> None:
    labels = read("g: north and east then up above the barn")[0].labels
    assert (labels["compass-north"], labels["compass-east"]) == (1, 1)
    assert (labels["page-north"], labels["place-north"]) == (1, 1)
    assert "page-east" not in labels
    mixed = read("g: down down up to the left of the barn")[0].labels
    assert mixed["page-north"] == pytest.approx(-1 / 3)
    assert mixed["page-east"] == -1
    assert "page-north" not in read("g: up then down to the barn")[0].labels


def test_unit_labels_remember_the_directions_of_six_utterances() -> None:
    lines = ["g: go south", *["f: right then"] * 5, "g: the barn", "g: the inn"]
    units = read(*lines)
    assert "recent-compass-north" not in units[0].labels
    assert units[1].labels["recent-compass-north"] == -1
    assert "recent-compass-north" not in units[2].labels
    assert units[2].labels["recent-page-east"] == 1  # the follower's "right" counts as well


def test_unit_labels_say_how_much_has_passed() -> None:
    units = read("g: the barn", "g: go on", "g: the inn", "g: and stop")
    assert [unit.labels["passed"] for unit in units] == [0, 0.25, 0.5, 0.75]


def test_landmark_labels_count_mentions() -> None:
    units = read(*["g: the inn"] * 7, "f: the old barn")
    assert {"mention=1", "left=5+", "best", "full"} <= set(units.labels(0, "inn"))
    assert "mention=2" in units.labels(1, "inn")
    assert not any(name.startswith("left") for name in units.labels(2, "inn"))  # four are left
    assert {"mention=3+", "left=1-2"} <= set(units.labels(4, "inn"))
    assert "left=0" in units.labels(6, "inn")
    assert units.labels(0, "gate of dawn") == {"never": True}
    # both barns are the best match of the last unit
    assert units.labels(7, "old barn") == units.labels(7, "old barn 2")
    assert {"follower-match", "mention=1"} <= set(units.labels(7, "old barn 2"))
    assert units.labels(7, "inn")["lately"] == 1
    assert units.labels(0, "inn")["share"] == pytest.approx(7 / 9)
    assert "match" not in units.labels(7, "inn")


def test_landmark_arrays_equal_their_definition() -> None:
    sheet = generate_map(seed=6)
    units = read_units(generate_dialogue(sheet, seed=2).utterances, sheet.landscape)
    size = len(units)
    assert units.match.shape == (size, len(sheet.landscape))
    for t in range(size):
        for place in range(len(sheet.landscape)):
            row = units.match[t]
            assert units.best[t, place] == (row[place] > 0 and row[place] == row.max())
            assert units.earlier[t, place] == units.best[:t, place].sum()
            assert units.later[t, place] == units.best[t + 1 :, place].sum()
            after, before = units.match[t + 1 : t + 5, place], units.match[max(0, t - 4) : t, place]
            assert units.soon[t, place] == after.max(initial=0)
            assert units.lately[t, place] == before.max(initial=0)


def test_match_finds_the_route_of_a_generated_dialogue() -> None:
    sheet = generate_map(seed=8)
    units = read_units(generate_dialogue(sheet, seed=8).utterances, sheet.landscape)
    for step in sheet.steps[1:]:
        if step.landmark != "start":
            assert units.total[sheet.landscape.place(step.landmark)] > 0


def work_of(said: Sequence[DialogueLine], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return how many bytecodes reading the units runs, and how many strings it compares."""
    codes = comparisons = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal codes
        if frame.f_code.co_filename != mentions.__file__:
            return None
        frame.f_trace_opcodes = True
        codes += event == "opcode"
        return count

    def ratio(*arguments: Any, **options: Any) -> float:
        nonlocal comparisons
        comparisons += 1
        return fuzz.ratio(*arguments, **options)

    monkeypatch.setattr(mentions, "fuzz", SimpleNamespace(ratio=ratio))
    outer = sys.gettrace()
    sys.settrace(count)
    try:
        read_units(said, SHEET.landscape)
    finally:
        sys.settrace(outer)
    return codes, comparisons


SHEET = generate_map(seed=3)
RAMBLE = generate_dialogue(SHEET, seed=3, utterances=2500).utterances


def test_work_grows_with_the_number_of_utterances_and_no_faster(monkeypatch) -> None:
    once, compared = work_of(RAMBLE, monkeypatch)
    twice, compared_twice = work_of(RAMBLE * 2, monkeypatch)
    assert 2 * len(RAMBLE) >= 5000
    assert 1.5 * once < twice < 2.01 * once  # words heard before cost less
    # every different word is compared once, however often it is said
    assert compared_twice == compared
    different = {word for each in RAMBLE for word in each.words}
    assert 0 < compared <= len(different) * len(NameMatcher(SHEET.landscape).words)


def test_work_grows_with_the_length_of_an_utterance_and_no_faster(monkeypatch) -> None:
    once, twice = (
        work_of([DialogueLine("g", "to the inn or " * size)], monkeypatch)[0]
        for size in (2000, 4000)
    )
    assert 1.9 * once < twice < 2.01 * once


def test_work_splits_every_utterance_once() -> None:
    class Counted(DialogueLine):
        split = 0

        @property
        def words(self) -> tuple[str, ...]:
            Counted.split += 1
            return super().words

    said = [Counted("g", "the inn and the inn and the inn"), Counted("g", "go on then")]
    assert len(read_units(said, LANDSCAPE)) == 4
    assert Counted.split == 2


@pytest.mark.corpora
@pytest.mark.skipif("GROUNDLING_CORPORA" not in os.environ, reason="set GROUNDLING_CORPORA")
def test_hcrc_dialogues_mention_nearly_every_landmark_of_their_routes() -> None:
    corpus = load_corpus(Path(os.environ["GROUNDLING_CORPORA"], "hcrc"))
    matchers = {number: NameMatcher(each.landscape) for number, each in corpus.maps.items()}
    units, route, missing = 0, 0, 0
    for dialogue in corpus.dialogues:
        landscape = corpus.sheet(dialogue).landscape
        read = read_units(dialogue.utterances, landscape, matcher=matchers[dialogue.map])
        units += len(read)
        visits = {step.landmark for step in corpus.steps(dialogue)} - {"start"}
        route += len(visits)
        missing += sum(not read.total[landscape.place(key)] for key in visits)
    assert 105 < units / 128 < 120
    assert missing / route < 0.05
