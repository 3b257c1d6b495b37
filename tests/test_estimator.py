"""scikit-learn's habits: parameters by name, clones, and searches over parameters."""

import inspect

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Demonstration,
    Ensemble,
    Features,
    Follower,
    Learning,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import NotFittedError, SettingError
from groundling.language import ChainParser
from tests.worlds import Line, line_demonstrations

TEXT = ("go left", Line(), 2)


def make(**settings):
    chosen = {"search": Search(max_length=2), "parser": "chain"} | settings
    return Follower(**chosen)


# ---- parameters -----------------------------------------------------------------------------


def test_estimator_keeps_what_the_constructor_was_given():
    settings = {
        "model": DecisionModel(restarts=3),
        "overlay": Overlay.flat(),
        "features": Features(slots=("item",)),
        "learning": Learning(l2=3.0),
        "search": Search(max_length=2),
        "parser": ChainParser(),
        "seed": 4,
        "threads": 2,
    }
    follower = Follower(**settings)
    assert follower.get_params(deep=False) == settings
    for name, value in settings.items():
        assert getattr(follower, name) is value


def test_estimator_deep_parameters_are_those_of_the_groups():
    given = {"model": PlanModel(), "overlay": Overlay(), "features": Features()}
    found = make(learning=Learning(l2=3.0), **given).get_params(deep=True)
    assert found["learning__l2"] == 3.0
    assert found["model__skip"] == 0.0
    assert found["search__max_length"] == 2
    assert found["overlay__skeleton"] == "tree"
    assert found["features__words"] == ("word", "string")
    assert make().get_params(deep=True)["model"] == "auto"
    assert not any("__" in name for name in make().get_params(deep=False))
    assert make().get_params() == make().get_params(deep=True)


def test_estimator_set_params_changes_groups_from_inside():
    follower = make(learning=Learning(l1=0.5))
    changed = follower.set_params(learning__l2=2.0, learning__rounds=3, seed=5, model__skip=1.0)
    assert changed is follower
    assert follower.learning == Learning(l1=0.5, l2=2.0, rounds=3)
    assert follower.model == PlanModel(skip=1.0)
    assert follower.seed == 5


def test_estimator_set_params_leaves_out_what_has_no_effect_any_more():
    rich = Features(words=("word", "head"), compound_weight=0.7)
    follower = make(features=rich).set_params(features__words=("word",))
    assert follower.features == Features(words=("word",))
    with pytest.raises(SettingError, match=r"Features\.compound_weight has no effect"):
        follower.set_params(features__words=("tag",), features__compound_weight=0.5)


def test_estimator_set_params_changes_a_group_and_then_its_inside():
    follower = make().set_params(learning__l2=2.0, learning=Learning(iterations=7))
    assert follower.learning == Learning(l2=2.0, iterations=7)
    follower.set_params(model=DecisionModel(), model__restarts=4)
    assert follower.model == DecisionModel(restarts=4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"serch": 1}, "Follower has no setting 'serch'. Did you mean 'search'"),
        ({"learning__l3": 1}, "Learning has no setting 'l3'. Known: 'augment'"),
        ({"learning__iteration": 1}, "no setting 'iteration'. Did you mean 'iterations'"),
        ({"lerning__l2": 1}, "Follower has no setting 'lerning__l2'. Did you mean 'learning__l2'"),
        ({"seed__x": 1}, "Follower has no setting 'seed__x'"),
        ({"fit__x": 1}, "Follower has no setting 'fit__x'"),
        ({"fit": 1}, "Follower has no setting 'fit'"),
        ({"overlay": "flat", "overlay__unit": "word"}, "Follower has no setting 'overlay__unit'"),
        ({"learning__l2": -1}, "Learning.l2 must be >= 0"),
        ({"search__min_length": 9}, "must be <= max_length"),
        ({"threads": 0}, "Follower.threads must be >= 1"),
    ],
)
def test_estimator_set_params_changes_all_or_nothing(settings, words):
    follower = make()
    before = follower.get_params()
    with pytest.raises(SettingError, match=words):
        follower.set_params(**({"seed": 9, "overlay__unit": "word"} | settings))
    assert follower.get_params() == before


def test_estimator_shows_what_was_changed():
    assert repr(Follower()) == "Follower()"
    assert repr(Follower(seed=4)) == "Follower(seed=4)"
    follower = Follower(learning=Learning(l2=2), search=Search(max_length=2))
    assert repr(follower) == "Follower(learning=Learning(l2=2.0), search=Search(max_length=2))"
    ensemble = Follower(model=Ensemble([Member(Overlay.flat())], TransducerModel()))
    assert repr(ensemble) == (
        "Follower(model=Ensemble(members=(Member(overlay=Overlay(unit='word', nodes='flat')),), "
        "model=TransducerModel()))"
    )


def test_estimator_has_learnt_nothing_before_fit():
    for name in ("theta_", "feature_names_", "lexicon_", "loss_", "temperature_"):
        assert not hasattr(make(), name)


def test_estimator_shows_itself_in_a_notebook():
    follower = make(parser="chain")
    assert "Not fitted yet." in follower._repr_html_()
    assert "Follower(search=Search(max_length=2), parser=&#x27;chain&#x27;)" in (
        follower._repr_html_()
    )
    follower.fit(line_demonstrations())
    shown = follower._repr_html_()
    assert f"{len(follower.theta_)} weights, loss {follower.learnt_.loss:.3f}" in shown
    name, weight = follower.weights(most=1)[0]
    assert f"<tr><td>{weight:+.2f}</td><td>{name}</td></tr>" in shown
    assert shown.count("<tr>") == 10


def test_estimator_in_a_notebook_does_no_harm():
    shown = [
        Demonstration("<script>alert(1)</script>", Line(), 1, ("left",)),
        Demonstration("right", Line(), 1, ("right",)),
    ]
    html = make(features=Features(words=("word",))).fit(shown)._repr_html_()
    assert "<script>" not in html


# ---- with scikit-learn ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [PlanModel(skip=1.0), DecisionModel(restarts=2), TransducerModel(length_bonus=0.5),
     Ensemble([Member(Overlay.flat())])],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_estimator_is_cloned_by_scikit_learn(model):
    base = pytest.importorskip("sklearn.base")
    follower = make(model=model, overlay=Overlay(unit="word"), seed=3).fit(line_demonstrations())
    copy = base.clone(follower)
    assert copy is not follower
    assert copy.get_params() == follower.get_params()
    assert not hasattr(copy, "theta_")
    assert copy.fit(line_demonstrations()).theta_.tobytes() == follower.theta_.tobytes()


def test_estimator_tells_scikit_learn_whether_it_is_fitted():
    validation = pytest.importorskip("sklearn.utils.validation")
    sklearn_errors = pytest.importorskip("sklearn.exceptions")
    with pytest.raises(sklearn_errors.NotFittedError):
        validation.check_is_fitted(make())
    validation.check_is_fitted(make().fit(line_demonstrations()))
    with pytest.raises(NotFittedError):
        make().follow(*TEXT)


def shown():
    """Demonstrations in two lines, each a group."""
    found = []
    for group, world in enumerate((Line(4), Line(6), Line(8))):
        found += [(group, each) for each in line_demonstrations(world)]
    groups, demonstrations = zip(*found, strict=True)
    return list(demonstrations), np.array(groups)


def test_estimator_parameters_are_searched_by_scikit_learn():
    selection = pytest.importorskip("sklearn.model_selection")
    demonstrations, groups = shown()
    grid = {
        "learning__l2": [0.1, 1e6],
        "model": [PlanModel(skip=1.0), TransducerModel()],
    }
    follower = make(overlay=Overlay(unit="word"), features=Features(words=("word",)))
    search = selection.GridSearchCV(
        follower, grid, cv=selection.GroupKFold(3), refit=True, error_score="raise"
    )
    search.fit(demonstrations, groups=groups)
    assert search.best_params_["learning__l2"] == 0.1
    assert search.best_score_ > 0.7
    assert search.best_estimator_.follow(*TEXT).actions == ("left",)
    assert search.score(demonstrations) == search.best_estimator_.score(demonstrations)
    # What was searched with learnt nothing itself.
    assert not hasattr(follower, "theta_")
    # Each score is that of a follower trained by hand on the same folds.
    [train, test] = next(selection.GroupKFold(3).split(demonstrations, groups=groups))
    assert not set(groups[train]) & set(groups[test])
    chosen = make(overlay=Overlay(unit="word"), features=Features(words=("word",))).set_params(
        **search.cv_results_["params"][0]
    )
    chosen.fit([demonstrations[place] for place in train])
    assert search.cv_results_["split0_test_score"][0] == chosen.score(
        [demonstrations[place] for place in test]
    )


def test_estimator_is_cross_validated_by_scikit_learn():
    selection = pytest.importorskip("sklearn.model_selection")
    demonstrations, groups = shown()
    follower = make(overlay=Overlay(unit="word"), features=Features(words=("word",)))
    scores = selection.cross_val_score(
        follower, demonstrations, groups=groups, cv=selection.LeaveOneGroupOut()
    )
    assert len(scores) == 3
    assert scores.min() > 0.5


def test_estimator_misspelt_settings_are_told_with_a_hint():
    with pytest.raises(
        SettingError, match=r"Follower has no setting 'serch'\. Did you mean 'search'"
    ):
        Follower(serch=Search())
    assert "search" in inspect.signature(Follower).parameters
