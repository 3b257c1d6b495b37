"""BabyAI as a task of the command line."""

import pytest

from groundling.errors import SettingError

pytest.importorskip("minigrid")

from groundling.gym import exam as protocol
from groundling.gym.babyai_levels import levels
from groundling.gym.task import BabyAITask
from groundling.svg import write_picture
from groundling.tasks.benchmark import Fold, demonstrations

TASK = BabyAITask()

ROWS = [f"{count} demonstrations" for count in (5, 10, 25, 50, 100)] + ["random plan", "oracle"]


def evaluate(corpus, rows, fold):
    chosen = {row: TASK.presets.select("best", row) for row in rows}
    return TASK.evaluate(corpus, chosen, Fold(fold))


def test_task_has_the_rows_it_promises():
    assert list(TASK.presets.variants_of("best"))[:7] == ROWS
    assert "full" not in TASK.presets.variants_of("best")  # so that all rows are evaluated


def test_task_quick_folds_are_a_dozen_levels():
    folds = TASK.folds(levels(), "best", "50 demonstrations", quick=True)
    assert len(folds) == 12
    assert all(each.name.endswith(" 1 50 50") for each in folds)
    everything = TASK.folds(levels(), "best", "50 demonstrations", quick=False)
    assert [each.name for each in everything] == [f"{name} 3 200 100" for name in levels()]
    assert set(protocol.QUICK_LEVELS) <= set(levels())


def test_task_evaluates_a_level():
    done = evaluate(levels(), ROWS, "GoToLocal 2 6 10")
    rows = {name: TASK.make_row("best", name, [done[name]]) for name in ROWS}
    assert rows["oracle"].metrics == {"success": 1.0, "GoToLocal": 1.0}
    assert rows["10 demonstrations"].metrics["success"] >= 0.8
    assert rows["random plan"].metrics["success"] < rows["10 demonstrations"].metrics["success"]
    assert (rows["10 demonstrations"].seeds, rows["oracle"].seeds) == (2, 1)
    assert rows["100 demonstrations"].note == "not in the quick protocol"


def test_task_oracle_says_why_it_fails():
    done = evaluate(levels(), ["oracle"], "OpenDoorsOrderN4Debug 1 6 5")
    row = TASK.make_row("best", "oracle", [done["oracle"]])
    assert row.metrics["success"] < 1
    assert "OpenDoorsOrderN4Debug" in row.note


@pytest.mark.parametrize("level", ["OpenDoorsOrderN2", "PutNextLocalS5N3"])
def test_task_grades_episodes_as_if_each_were_followed_alone(level):
    exam = protocol.Exam(level, 60)
    follower = exam.world.follower().fit(exam.world.record(range(3)))
    each = [
        exam.carry_out(
            case,
            case.episode.macro_actions(
                follower.follow(case.episode.parts, case.episode, ()).actions
            ),
        ).success
        for case in exam.cases
    ]
    assert exam.grade(follower) == each
    exam.close()


def test_task_learns_as_if_each_number_of_demonstrations_were_learnt_afresh():
    exam = protocol.Exam("PickupLoc", 12)
    shown = exam.world.record(protocol.training_seeds(0, 10))
    afresh = exam.grade(exam.world.follower().fit(shown))
    exam.close()
    done = protocol.evaluate_level("PickupLoc", 1, (5, 10), 12, others=False)
    assert done["10 demonstrations"] == afresh


def test_task_draws_share_no_seeds():
    seen = [set(protocol.training_seeds(draw, 100)) for draw in range(protocol.DRAWS)]
    assert not set.intersection(*seen)
    assert max(map(max, seen)) < 1_000_000


def test_task_other_rows_run():
    partial = evaluate(levels(), ["partial view"], "GoToObjS4 1 3 50")
    assert partial["partial view"]["GoToObjS4"]["of"] == 3
    together = evaluate(
        ("GoToObjS4", "GoToLocalS5N2"), ["one follower for all levels"], "all 0-1 3"
    )
    assert together["one follower for all levels"]["GoToObjS4"]["successes"] == 3
    rows = ["combinations held out", "combinations shown"]
    apart = evaluate(levels(), rows, "ActionObjDoor 12")
    assert set(apart) == set(rows)


def test_task_scene_follows_and_draws(tmp_path):
    chosen = TASK.presets.select("best", "50 demonstrations")
    follower = chosen.follower().fit(protocol.record_mixed(24, ("GoToLocal", "PickupDist")))
    scene = TASK.scene(levels(), chosen, "GoToLocal", "7")
    plans = scene.follow(follower, scene.examples)
    assert plans[0].actions
    assert scene.examples[0] in scene.describe()
    write_picture(scene.draw(plans), tmp_path / "scene.png")
    assert (tmp_path / "scene.png").stat().st_size > 1000
    with pytest.raises(SettingError, match="no level 'GoToLocl'"):
        TASK.scene(levels(), chosen, "GoToLocl", None)
    with pytest.raises(SettingError, match="must be a seed"):
        TASK.scene(levels(), chosen, None, "here")


def test_task_measures_and_goes_on(tmp_path, capsys):
    from research.babyai_report import main

    asked = [str(tmp_path), "--rows", "5 demonstrations", "oracle", "--levels", "GoToObjS4"]
    main([*asked, "--seeds", "3", "--most", "5", "--picture", str(tmp_path / "success.png")])
    assert (tmp_path / "success.png").stat().st_size > 1000
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.glob("levels*.json")}
    main([*asked, "--seeds", "3", "--most", "5"])
    assert kept == {file: file.stat().st_mtime_ns for file in tmp_path.glob("levels*.json")}
    assert "| oracle | 1.000" in capsys.readouterr().out


def test_task_can_be_trained():
    chosen = TASK.presets.select("best")
    assert chosen.count == protocol.TOGETHER
    corpus = ("GoToObjS4", "GoToLocal")
    shown = demonstrations(TASK.prepare(corpus, chosen), TASK.find_parts(corpus, "GoToLocal"))
    assert {each.name.split()[0] for each in shown} == {"GoToObjS4"}
    with pytest.raises(SettingError, match="no preset 'bst'"):
        TASK.presets.select("bst")
